// The policies beside each other: a table of metrics with differences to a baseline of the reader's choice, and the
// intervals of one metric as a figure.
import {axis, choice, ends, figure, seriesNames, tick, tooltip} from '../charts.js';
import {keyPicture} from '../keys.js';
import {capital, el, listed, metricName, metricShort, number, scaleOf, shown} from '../text.js';
import {colour, current, mark} from '../theme.js';
import {ratio} from './groups.js';
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
      const sign = !sure ? '' : good === ' better' ? '✓ ' : good === ' worse' ? '✗ ' : '';
      const range = difference[1] === null || difference[1] === difference[2] ? ''
        : `[${show(difference[1])}, ${show(difference[2])}]`;
      lines.push(el('span', {class: `difference${good}`,
        title: sure ? 'the interval of the paired difference excludes zero' : 'not significant: the interval includes zero'},
      el('b', {}, `${sign}${difference[0] > 0 ? '+' : ''}${show(difference[0])}`), ' ', el('b', {}, range),
      metric.unit === 's' ? [' ', el('b', {title: 'ratio of the means'}, ratio(interval[0], data.summary[base][m]?.[0]))] : null));
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
      const tags = [p === base ? 'baseline' : null, policy.bound ? 'a bound' : null].filter(Boolean);
      const shares = policy.coverage && data.kind !== 'live' && policy.shares
        ? el('span', {class: 'range', title: 'of the time in which its jobs shared a GPU'}, `${number(100 * policy.coverage.measured, 2)} % measured`) : null;
      return el('tr', {class: p === base ? 'base' : null},
        el('th', {scope: 'row', title: parametersText(policy)}, keyPicture(p), el('bdi', {}, names[p]),
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
  const several = data.source.replications >= 3;
  let zero = false;
  const range = () => {
    const {factor} = scaled();
    const all = rowsOf().flat().filter((x) => x !== null).map((x) => factor * x);
    return ends(Math.min(...all, ...(zero ? [0] : [])), Math.max(...all, ...(zero ? [0] : [])));
  };
  const forest = figure({
    id: 'intervals', title: several ? 'Means and 95 % intervals' : 'Means', height: 90 + 26 * data.policies.length, wide: true,
    caption: several ? 'A mark is the mean over replications, a line its 95 % interval. Overlapping lines do not mean that two policies are alike: the paired differences of the table decide.'
      : 'A mark is the mean. Fewer than three replications give no interval.',
    controls: [choice('Metric', options, shownMetric, (value) => { shownMetric = Number(value); forest.refresh(); }),
      tick('Axis from zero', zero, (on) => { zero = on; forest.refresh(); })],
    said: () => (range().min > 0 || range().max < 0 ? 'The axis does not begin at zero: distances between marks are differences, not ratios.' : null),
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
          {type: 'value', ...range()}),
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
            const children = [{type: 'path', shape: {pathData: mark(p), x: x - 6, y: y - 6, width: 12, height: 12}, style: {fill: colour(p)}}];
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
    several ? 'Each cell has the mean, its 95 % interval, and the paired difference to the baseline, of times also the ratio (×). ✓ better, ✗ worse than the baseline: the interval of the difference excludes zero. Without a mark the difference is not significant. “Measured”: share of the policy’s co-run time whose cost was measured.'
      : 'Each cell has the mean and the difference to the baseline. Fewer than three replications do not tell whether a difference is chance.',
    el('div', {class: 'controls'},
      choice('Baseline', data.policies.map((p, i) => [i, names[i]]), base, (value) => { base = Number(value); draw(); }),
      choice('Metrics', SET_NAMES, set, (value) => { set = value; draw(); })),
    body, bounds(data, names), forest, explained(data.policies, names));
}

// What the rows of policies that know the true costs mean.
function bounds(data, names) {
  const those = names.filter((_, p) => data.policies[p].bound);
  if (those.length === 0) return null;
  return el('p', {class: 'small', id: 'bounds'}, `${listed(those)}: ${those.length === 1 ? 'not a policy that a cluster can run. It reads' : 'not policies that a cluster can run. They read'} ` +
    'the true expected costs of co-runs from the simulation, which nobody knows beforehand. The values bound what a better belief could gain under the same objective, and are never counted as best.');
}

// A sentence about each policy, from the program's catalogue; null if it has none.
export function explained(list, names) {
  if (!list.some((policy) => policy.description)) return null;
  return el('div', {class: 'block', id: 'explained'}, el('h3', {}, 'What each policy does'),
    el('dl', {class: 'explained'}, list.flatMap((policy, p) => [el('dt', {}, keyPicture(p), el('bdi', {}, names[p])),
      el('dd', {}, policy.description ? `${capital(shown(policy.description, 400))}.` : 'A policy that this corun does not have.',
        policy.label === policy.name ? null : el('span', {class: 'range'}, ` Here: ${parametersText(policy)}`))])));
}

function parametersText(policy) {
  return `${shown(policy.name, 40)} ${shown(policy.parameters ?? '', 200)}`;
}
