// Co-runs: slowdown and saving by pair of profile clusters, who shared with whom, belief beside truth, ISD against PS.
import {axis, choice, diagonal, ends, figure, look, seriesNames, tick, tooltip, upright} from '../charts.js';
import {count, duration, el, listed, number, percent, shown} from '../text.js';
import {DIVERGING, SEQUENTIAL, colour, current} from '../theme.js';
import {alike} from './answer.js';
import {section} from './section.js';

const HEAT = {
  co_runs: {name: 'Co-runs', value: (pair) => pair[2], text: (x) => number(x, 12)},
  shared_s: {name: 'Time together', value: (pair) => pair[3], text: duration},
  isd: {name: 'True ISD', value: (pair) => pair[4], text: (x) => percent(x, 3), factor: 100},
  predicted: {name: 'Predicted ISD', value: (pair) => pair[5], text: (x) => percent(x, 3), factor: 100},
  error: {name: 'Predicted − true', value: (pair) => (pair[4] === null || pair[5] === null ? null : pair[5] - pair[4]),
    text: (x) => percent(x, 3), factor: 100, diverging: true},
};

function boxes(data, sets, names, key, title, caption, ordered) {
  let set = 0;
  const node = figure({
    id: `boxes-${key}`, title, caption, height: 330,
    controls: sets.length > 1 ? [choice('Policy', sets.map((s, i) => [i, s.policy < 0 ? 'all together' : names[s.policy]]), set,
      (value) => { set = Number(value); node.refresh(); })] : [],
    option() {
      const t = current();
      const rows = sets[set][key];
      if (rows.length === 0) return null;
      const labels = rows.map(([a, b]) => (ordered ? `${a} beside ${b}` : `${a} and ${b}`));
      return {
        grid: {left: 46, right: 16, top: 30, bottom: rows.length > 6 ? 76 : 48},
        tooltip: tooltip({trigger: 'item', formatter: ({dataIndex: i}) => {
          const [, , n, least, q1, median, q3, most] = rows[i];
          return `clusters ${labels[i]}: ${number(n, 12)} values\nlargest ${percent(most, 3)}\n75 % ${percent(q3, 3)}\n` +
            `median ${percent(median, 3)}\n25 % ${percent(q1, 3)}\nleast ${percent(least, 3)}`;
        }}),
        xAxis: axis(ordered ? 'Cluster of the job beside cluster of its co-runner' : 'Clusters of the two jobs',
          {type: 'category', data: labels, nameGap: rows.length > 6 ? 60 : 30,
            axisLabel: {color: t.muted, fontSize: 11, rotate: rows.length > 6 ? 55 : 0, interval: 0}}),
        yAxis: upright(key === 'isd_boxes' ? 'ISD [%]' : 'PS [%]', {type: 'value', scale: true}),
        series: [{type: 'boxplot', data: rows.map((row) => row.slice(3).map((x) => 100 * x)),
          itemStyle: {color: t.dark ? '#26405a' : '#cfe3f3', borderColor: colour(0), borderWidth: 1.5}}],
      };
    },
    table: () => ({head: ['Clusters', 'Values', 'Least', '25 %', 'Median', '75 %', 'Largest'],
      rows: sets[set][key].map(([a, b, n, ...five]) => [ordered ? `${a} beside ${b}` : `${a} and ${b}`, number(n, 12),
        ...five.map((x) => percent(x, 3))])}),
  });
  return node;
}

function heat(data, sets, names) {
  const groups = data.sharing.groups.names.map((name) => shown(name, 24));
  const by = data.sharing.groups.by === 'job' ? 'jobs' : 'profile clusters';
  let set = 0;
  let what = 'co_runs';
  const pairs = () => sets[set].pairs.map((pair) => [pair, HEAT[what].value(pair)]).filter(([, x]) => x !== null);
  const node = figure({
    id: 'heat', title: 'Who shared a GPU with whom', wide: groups.length > 12,
    caption: `Rows and columns are ${by}. ISD is that of the job of the row beside the one of the column. A crossed cell is off the scale: the two never shared${by === 'jobs' ? ', as a job with itself' : ''}, or no figure is known.`,
    height: (width) => Math.max(300, Math.min(640, 130 + groups.length * Math.max(14, Math.min(40, (width - 150) / groups.length)))),
    controls: [
      sets.length > 1 ? choice('Policy', sets.map((s, i) => [i, s.policy < 0 ? 'all together' : names[s.policy]]), set,
        (value) => { set = Number(value); node.refresh(); }) : null,
      choice('Shown', Object.entries(HEAT).map(([key, h]) => [key, h.name]), what, (value) => { what = value; node.refresh(); }),
    ].filter(Boolean),
    option(width) {
      const t = current();
      const h = HEAT[what];
      const cells = pairs();
      if (cells.length === 0) return null;
      const values = cells.map(([, x]) => x * (h.factor ?? 1));
      const size = Math.max(...values.map(Math.abs)) || 1;
      const left = Math.min(120, 0.25 * width);
      const known = new Set(cells.map(([[a, b]]) => a * groups.length + b));
      const absent = groups.flatMap((_, a) => groups.map((_, b) => [b, a])).filter(([b, a]) => !known.has(a * groups.length + b));
      return {
        grid: {left, right: 12, top: 8, bottom: groups.length > 5 ? 120 : 84},
        tooltip: tooltip({trigger: 'item', formatter: ({dataIndex: i, seriesIndex}) => {
          if (seriesIndex > 0) return '';
          const [[a, b, co, time, isd, predicted]] = cells[i];
          return `${groups[a]} beside ${groups[b]}\n${number(co, 12)} co-runs, ${duration(time)} together\n` +
            `true ISD ${percent(isd, 3)}, predicted ${percent(predicted, 3)}`;
        }}),
        xAxis: {type: 'category', data: groups, axisLabel: {color: t.muted, fontSize: 10, rotate: groups.length > 5 ? 60 : 0, width: 80,
          overflow: 'truncate', hideOverlap: true}, axisTick: {show: false}, axisLine: {show: false}, splitArea: {show: false}},
        yAxis: {type: 'category', data: groups, inverse: true, axisLabel: {color: t.muted, fontSize: 10, width: left - 10,
          overflow: 'truncate', hideOverlap: true}, axisTick: {show: false}, axisLine: {show: false}},
        visualMap: {type: 'continuous', seriesIndex: 0, min: h.diverging ? -size : Math.min(0, ...values), max: h.diverging ? size : Math.max(...values, 1e-9),
          calculable: false, dimension: 2, orient: 'horizontal', left: 'center', bottom: 0, itemHeight: Math.min(200, width / 3), itemWidth: 12,
          text: [`${number(h.diverging ? size : Math.max(...values))}${h.factor ? ' %' : what === 'shared_s' ? ' s' : ''}`,
            `${number(h.diverging ? -size : Math.min(0, ...values))}`],
          textStyle: {color: t.muted, fontSize: 11}, inRange: {color: h.diverging ? DIVERGING : SEQUENTIAL}},
        // Rectangles of our own: ECharts draws those of a heat map in steps, and paper would miss them.
        series: [{type: 'custom', data: cells.map(([[a, b]], i) => [b, a, values[i]]), encode: {x: 0, y: 1}, dimensions: ['column', 'row', 'value'],
          renderItem: (_, api) => filled(api, t)},
        {type: 'custom', silent: true, data: absent, renderItem: (_, api) => crossed(api, t.line)}],
      };
    },
    table: () => ({head: ['Row', 'Column', 'Co-runs', 'Together', 'True ISD of row', 'Predicted'],
      rows: sets[set].pairs.map(([a, b, co, time, isd, predicted]) => [groups[a], groups[b], number(co, 12), duration(time),
        percent(isd, 3), percent(predicted, 3)])}),
  });
  return node;
}

// A cell in the colour of its value.
function filled(api, t) {
  const [x, y] = api.coord([api.value(0), api.value(1)]);
  const [w, h] = api.size([1, 1]).map((length) => Math.max(1, length - 1));
  return {type: 'rect', shape: {x: x - w / 2, y: y - h / 2, width: w, height: h}, style: {fill: api.visual('color')},
    emphasis: {style: {stroke: t.text, lineWidth: 1.5}}};
}

// A cell without a value: its diagonals, in a colour that is none of the scale.
function crossed(api, stroke) {
  const [x, y] = api.coord([api.value(0), api.value(1)]);
  const [w, h] = api.size([1, 1]).map((length) => length / 2 - 1.5);
  const line = (dy) => ({type: 'line', shape: {x1: x - w, y1: y - dy, x2: x + w, y2: y + dy}, style: {stroke, lineWidth: 1}});
  return {type: 'group', children: [line(h), line(-h)]};
}

// Points of truth and belief; the diagonal is a belief that is right.
function calibration(data, sets, names) {
  const usable = (s, key) => s[key] && s[key].n > 0;
  const keys = ['isd', 'speed'].filter((key) => sets.some((s) => s.policy >= 0 && usable(s, key)));
  if (keys.length === 0) return null;
  const believers = sets.filter((s) => s.policy >= 0 && keys.some((k) => usable(s, k)));
  let key = keys[0];
  let only = (believers.find((s) => !data.policies[s.policy].bound) ?? believers[0]).policy;
  let whole = false;
  const label = () => (key === 'isd' ? 'ISD' : 'speed beside the others');
  const chosen = () => sets.filter((s) => s.policy >= 0 && usable(s, key) && (only === 'all' || s.policy === Number(only)));
  const values = () => chosen().flatMap((s) => [...s[key].truth, ...s[key].belief]).map((x) => 100 * x);
  // A few points far out would squeeze the others.
  const range = () => {
    const all = values().sort((x, y) => x - y);
    const at = (share) => all[Math.round(share * (all.length - 1))];
    const most = at(0.98);
    return ends(Math.min(0, at(0)), whole || at(1) < 1.5 * most ? at(1) : most);
  };
  const silent = data.policies.map((_, p) => p).filter((p) => !believers.some((s) => s.policy === p));
  const node = figure({
    id: 'calibration', title: 'Predicted beside true', height: 360, keys: believers.map((s) => ({name: names[s.policy], i: s.policy})),
    caption: 'A point is a job in a co-run: what the belief expected when it began, and what came. On the diagonal the belief was right; above it, too pessimistic in ISD.' +
      (silent.length ? ` Not here, because they expect nothing of a co-run or never share: ${listed(silent.map((p) => names[p]))}.` : ''),
    controls: [
      believers.length > 1 ? choice('Policy', [['all', 'all'], ...believers.map((s) => [s.policy, names[s.policy]])], only,
        (value) => { only = value; node.refresh(); }) : null,
      keys.length > 1 ? choice('Shown', [['isd', 'ISD'], ['speed', 'Speed']], key, (value) => { key = value; node.refresh(); }) : null,
      tick('All points', whole, (on) => { whole = on; node.refresh(); }),
    ].filter(Boolean),
    said() {
      const {max} = range();
      const points = chosen().flatMap((s) => s[key].truth.map((x, j) => 100 * Math.max(x, s[key].belief[j])));
      const beyond = points.filter((x) => x > max).length;
      return beyond ? `${count(beyond, 'point')} of ${number(points.length, 12)} lie${beyond === 1 ? 's' : ''} beyond the axes.` : null;
    },
    option() {
      const shownSets = chosen();
      if (values().length === 0) return null;
      const within = range();
      return {
        grid: {left: 50, right: 18, top: 34, bottom: 46},
        tooltip: tooltip({trigger: 'item', formatter: ({seriesName, value}) =>
          (value ? `${seriesName}\ntrue ${number(value[0])} %, predicted ${number(value[1])} %` : '')}),
        xAxis: axis(`True ${label()} [%]`, {type: 'value', ...within}),
        yAxis: upright(`Predicted ${label()} [%]`, {type: 'value', ...within}),
        series: [diagonal(within), ...shownSets.map((s) => ({
          type: 'scatter', name: names[s.policy], symbolSize: s[key].truth.length > 500 ? 5 : 7, clip: true, ...look(s.policy),
          itemStyle: {color: colour(s.policy), opacity: s[key].truth.length > 500 ? 0.35 : 0.6},
          data: s[key].truth.map((x, j) => [100 * x, 100 * s[key].belief[j]]),
        }))],
      };
    },
    table: () => ({head: ['Policy', 'Values', `Mean predicted less true ${label()}`, 'Mean size of the difference'],
      rows: sets.filter((s) => s.policy >= 0 && usable(s, key)).map((s) => [names[s.policy], number(s[key].n, 12),
        percent(s[key].bias, 3), percent(s[key].error, 3)])}),
  });
  return node;
}

function isdAgainstPs(data, names) {
  const at = (name) => data.metrics.findIndex((metric) => metric.name === name);
  const [isd, ps] = [at('isd'), at('ps')];
  const usable = data.policies.map((_, p) => p).filter((p) => data.summary[p][isd]?.[0] != null && data.summary[p][ps]?.[0] != null);
  if (usable.length === 0) return null;
  const equal = alike(data).map((group) => group.filter((p) => usable.includes(p))).filter((group) => group.length > 1);
  const dots = data.source.replications > 1 ? ' Small dots: its replications.' : '';
  return figure({
    id: 'isd-ps', title: 'Slowdown against saving', height: 360, keys: usable.map((p) => ({name: names[p], i: p})),
    caption: `Large marks: means of a policy.${dots} Better is down (less ISD) and right (more PS).` +
      equal.map((group) => ` ${listed(group.map((p) => names[p]))} have the same values: the last hides the others.`).join(''),
    option() {
      const t = current();
      const replicated = data.replicated;
      return {
        grid: {left: 50, right: 24, top: 34, bottom: 46},
        tooltip: tooltip({trigger: 'item', formatter: ({seriesName, value}) =>
          `${seriesName}\nPS ${number(value[0])} %, ISD ${number(value[1])} %`}),
        xAxis: axis('Mean packing saving, PS [%]', {type: 'value', scale: true}),
        yAxis: upright('Mean individual slowdown, ISD [%]', {type: 'value', scale: true}),
        series: usable.flatMap((p) => [
          {type: 'scatter', name: names[p], symbolSize: 3, z: 1, itemStyle: {color: colour(p), opacity: 0.35},
            data: replicated.isd[p].map((x, r) => [100 * replicated.ps[p][r], 100 * x])
              .filter((_, r) => replicated.isd[p][r] !== null && replicated.ps[p][r] !== null)},
          {type: 'scatter', name: names[p], symbolSize: 13, z: 3, ...look(p),
            itemStyle: {color: colour(p), borderColor: t.panel, borderWidth: 1.5},
            data: [[100 * data.summary[p][ps][0], 100 * data.summary[p][isd][0]]]},
        ]),
      };
    },
    table: () => ({head: ['Policy', 'Mean ISD', 'Mean PS'],
      rows: usable.map((p) => [names[p], percent(data.summary[p][isd][0], 3), percent(data.summary[p][ps][0], 3)])}),
  });
}

export function sharing(data) {
  const names = seriesNames(data.policies.map((p) => p.label));
  const figures = [isdAgainstPs(data, names)];
  const s = data.sharing;
  if (s) {
    const sets = s.sets.filter((set) => set.pairs.length > 0);
    if (sets.length) {
      figures.push(calibration(data, sets, names));
      if (s.clusters > 0) {
        const boxed = (key) => sets.filter((set) => set[key].length > 0);
        if (boxed('isd_boxes').length) {
          figures.push(boxes(data, boxed('isd_boxes'), names, 'isd_boxes', 'Slowdown by pair of clusters',
            'ISD of jobs that ran with one other job, by profile cluster of the job and of its co-runner. Box: quartiles; whiskers: extremes.', true));
        }
        if (boxed('ps_boxes').length) {
          figures.push(boxes(data, boxed('ps_boxes'), names, 'ps_boxes', 'Saving by pair of clusters',
            'Packing saving of two jobs that ran together, by their profile clusters. Below 0: one after the other would have been quicker.', false));
        }
      }
      figures.push(heat(data, sets, names));
    }
  }
  const kept = figures.filter(Boolean);
  if (kept.length === 0) return null;
  return section('sharing', 'Sharing', 'Sharing of GPUs',
    s ? (s.replications < data.source.replications
      ? `The co-runs below are those of the first ${number(s.replications, 12)} of ${count(data.source.replications, 'replication')}: results files keep no more. Slowdown against saving is of all.` : null)
      : 'The results file has no co-runs: no two jobs shared a GPU, it is of an older corun, or measure.details was off.',
    el('div', {class: 'figures'}, kept));
}
