// The policies beside each other: a table of metrics with differences to a baseline of the reader's choice, and the
// intervals of one metric as a figure.
import {axis, choice, figure, seriesNames, tooltip} from '../charts.js';
import {capital, el, metricName, metricShort, number, scaleOf, shown} from '../text.js';
import {colour, current} from '../theme.js';
import {section} from './section.js';

const SETS = {
  main: ['jct_s', 'queue_s', 'isd', 'ps', 'makespan_s', 'gpu_util'],
  tails: ['jct_p50_s', 'jct_p95_s', 'jct_p99_s', 'queue_p50_s', 'queue_p95_s', 'queue_p99_s'],
  fairness: ['stretch', 'stretch_p50', 'stretch_p95', 'stretch_p99', 'jain', 'isd_max', 'rho', 'rho_max', 'rho_above_1'],
  cluster: ['occupancy', 'gpu_util', 'mem_util', 'ps_total', 'last_end_s', 'isd_reference'],
  trouble: ['jobs', 'failed', 'oom', 'profiling_s', 'entropy_isd', 'entropy_ps'],
};
const SET_NAMES = [['main', 'Main'], ['tails', 'Percentiles'], ['fairness', 'Fairness'], ['cluster', 'Cluster'],
  ['trouble', 'Trouble and the rest']];

export function policies(data) {
  const names = seriesNames(data.policies.map((p) => p.label));
  const index = (name) => data.metrics.findIndex((metric) => metric.name === name);
  let set = 'main';
  let base = Math.max(0, data.policies.findIndex((p) => p.name === 'fcfs'));
  let shownMetric = index('jct_s');
  const body = el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of policies'});

  function cell(p, m) {
    const metric = data.metrics[m];
    const interval = data.summary[p][m];
    if (!interval || interval[0] === null) return el('td', {}, '–');
    const {factor} = scaleOf(metric, data.policies.map((_, q) => data.summary[q][m]?.[0]));
    const show = (x) => number(factor * x);
    const lines = [el('span', {class: 'mean'}, show(interval[0]))];
    if (interval[1] !== null) {
      lines.push(interval[1] === interval[2] ? el('span', {class: 'range', title: 'the same value in every replication'}, 'no spread')
        : el('span', {class: 'range'}, `[${show(interval[1])}, ${show(interval[2])}]`));
    }
    const difference = p === base ? null : data.versus[p][base][m];
    if (difference && difference[0] !== null) {
      const sure = difference[1] !== null && (difference[1] > 0 || difference[2] < 0);
      const good = metric.better === 0 || !sure ? '' : Math.sign(difference[0]) === metric.better ? ' better' : ' worse';
      const mark = !sure ? '' : good === ' better' ? '▲ ' : good === ' worse' ? '▼ ' : '';
      const range = difference[1] === null || difference[1] === difference[2] ? ''
        : ` [${show(difference[1])}, ${show(difference[2])}]`;
      const sign = difference[0] > 0 ? '+' : '';
      lines.push(el('span', {class: `difference${good}`,
        title: sure ? 'the interval of the paired difference excludes zero' : 'not significant: the interval includes zero'},
      `${mark}${sign}${show(difference[0])}${range}`));
    }
    return el('td', {}, lines);
  }

  function draw() {
    const chosen = SETS[set].map(index).filter((m) => m >= 0);
    const head = el('tr', {}, el('th', {scope: 'col'}, 'Policy'), chosen.map((m) => {
      const metric = data.metrics[m];
      const {unit} = scaleOf(metric, data.policies.map((_, p) => data.summary[p][m]?.[0]));
      const aim = metric.better < 0 ? 'less is better' : metric.better > 0 ? 'more is better' : '';
      return el('th', {scope: 'col', title: metric.description}, capital(metricShort(metric)), unit ? ` (${unit})` : '',
        el('span', {class: 'aim'}, aim));
    }));
    const rows = data.policies.map((policy, p) => {
      const dot = el('i', {class: 'key', 'aria-hidden': 'true'});
      dot.style.background = colour(p);
      const tags = [p === base ? 'baseline' : null, policy.bound ? 'knows the truth' : null].filter(Boolean);
      const shares = policy.coverage && data.kind !== 'live' && policy.shares
        ? el('span', {class: 'range'}, `${number(100 * policy.coverage.measured, 2)} % of its co-runs measured`) : null;
      return el('tr', {class: p === base ? 'base' : null},
        el('th', {scope: 'row', title: parametersText(policy)}, dot, el('bdi', {}, names[p]),
          tags.map((tag) => el('span', {class: 'tag'}, tag)), shares),
        chosen.map((m) => cell(p, m)));
    });
    body.replaceChildren(el('table', {class: 'policies'}, el('thead', {}, head), el('tbody', {}, rows)));
  }

  // The intervals of one metric.
  const options = data.metrics.map((metric, m) => [m, capital(metricName(metric))])
    .filter(([m]) => data.policies.some((_, p) => data.summary[p][m] && data.summary[p][m][0] !== null));
  const rowsOf = () => data.policies.map((_, p) => data.summary[p][shownMetric] ?? [null, null, null]);
  const scaled = () => scaleOf(data.metrics[shownMetric], rowsOf().flat());
  const forest = figure({
    id: 'intervals', title: 'Means and 95 % intervals', height: 90 + 26 * data.policies.length, wide: true,
    caption: 'A dot is the mean over replications, a line its 95 % interval. Overlapping lines do not mean that two policies are alike: the paired differences of the table decide.',
    controls: [choice('Metric', options, shownMetric, (value) => { shownMetric = Number(value); forest.refresh(); })],
    option(width) {
      const t = current();
      const {factor, unit} = scaled();
      const rows = rowsOf();
      const metric = data.metrics[shownMetric];
      return {
        grid: {left: Math.min(170, 0.3 * width), right: 24, top: 16, bottom: 48},
        tooltip: tooltip({trigger: 'item', formatter: ({dataIndex: p}) => {
          const [mean, lo, hi] = rows[p].map((x) => number(x === null ? null : factor * x, 4));
          return `${names[p]}\n${mean} ${unit}${rows[p][1] === null ? '' : `   95 % [${lo}, ${hi}]`}`;
        }}),
        xAxis: axis(`${capital(metricName(metric))}${unit ? ` [${unit}]` : ''}${metric.better < 0 ? ', less is better' : metric.better > 0 ? ', more is better' : ''}`,
          {type: 'value', scale: true}),
        yAxis: {type: 'category', data: names, inverse: true, axisTick: {show: false}, axisLine: {show: false},
          axisLabel: {color: t.text, fontSize: 12, width: Math.min(150, 0.27 * width), overflow: 'truncate'}},
        series: [{
          type: 'custom', data: rows.map((row, p) => [row[0] === null ? null : factor * row[0], p]),
          renderItem(_, api) {
            const p = api.value(1);
            const row = rows[p];
            if (row[0] === null) return null;
            const at = (x) => api.coord([factor * x, p]);
            const [x, y] = at(row[0]);
            const children = [{type: 'circle', shape: {cx: x, cy: y, r: 5}, style: {fill: colour(p)}}];
            if (row[1] !== null) {
              const [lo] = at(row[1]);
              const [hi] = at(row[2]);
              children.unshift(
                {type: 'line', shape: {x1: lo, y1: y, x2: hi, y2: y}, style: {stroke: colour(p), lineWidth: 2}},
                {type: 'line', shape: {x1: lo, y1: y - 5, x2: lo, y2: y + 5}, style: {stroke: colour(p), lineWidth: 2}},
                {type: 'line', shape: {x1: hi, y1: y - 5, x2: hi, y2: y + 5}, style: {stroke: colour(p), lineWidth: 2}});
            }
            return {type: 'group', children};
          },
        }],
      };
    },
    table() {
      const {factor, unit} = scaled();
      return {head: ['Policy', `Mean ${unit}`, 'From', 'To'], rows: rowsOf().map((row, p) => [names[p],
        ...row.map((x) => number(x === null ? null : factor * x, 5))])};
    },
  });

  draw();
  return section('policies', 'Policies', 'The policies beside each other',
    'Each cell has the mean, its 95 % interval, and the paired difference to the baseline. ▲ and ▼: the interval of the difference excludes zero, for the better or the worse.',
    el('div', {class: 'controls'},
      choice('Baseline', data.policies.map((p, i) => [i, names[i]]), base, (value) => { base = Number(value); draw(); }),
      choice('Metrics', SET_NAMES, set, (value) => { set = value; draw(); })),
    body, forest);
}

function parametersText(policy) {
  return `${shown(policy.name, 40)} ${shown(policy.parameters, 200)}`;
}
