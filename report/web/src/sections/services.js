// Services: requests within the goal by policy; load, latency beside its goal, replicas and co-runners over time; who shared.
import {axis, choice, ends, figure, look, seriesNames, tooltip, upright} from '../charts.js';
import {keyPicture} from '../keys.js';
import {capital, count, duration, el, number, percent, scale, shown} from '../text.js';
import {current} from '../theme.js';
import {section} from './section.js';

const WHAT = [
  ['latency', 'Latency', (goal) => `Of the goal’s share of the requests (${percent(goal.share)}). Grey: the goal, ${number(1e3 * goal.s)} ms.`, 'ms', 1e3],
  ['load', 'Load', () => 'Requests that arrived.', 'requests/s', 1],
  ['replicas', 'Replicas', () => 'On GPUs.', 'replicas', 1],
  ['sharing', 'Co-runners', () => 'Jobs on the GPUs of its replicas.', 'jobs', 1],
];

export function services(data) {
  const all = data.services;
  if (!all) return null;
  const names = seriesNames(data.policies.map((p) => p.label));
  const drawn = all.over_time.find(Boolean)?.length ?? 0;
  const body = el('div', {class: 'figures'});
  const sharers = el('div', {class: 'block'});

  function draw(at) {
    const goal = {s: all.goal_s[at], share: all.goal_share[at]};
    const runs = all.over_time.map((of) => of?.[at] ?? null);
    body.replaceChildren(...WHAT.map(([key, title, caption, what, times]) =>
      overTime({key, title, caption: caption(goal), what, times, runs, names, goal: key === 'latency' ? times * goal.s : null})));
    const rows = all.sharers.map((of, p) => {
      const {jobs, longest} = of?.[at] ?? {jobs: 0, longest: []};
      return [[keyPicture(p), el('bdi', {}, names[p])], count(jobs, 'job'),
        longest.length ? longest.map(([name, seconds], i) => [i ? ', ' : '', el('bdi', {}, shown(name, 40)), ` (${duration(seconds)})`]).flat() : '–'];
    });
    sharers.replaceChildren(el('h3', {}, 'Who shared with its replicas'),
      el('p', {class: 'small'}, 'Of the first replication: jobs on GPUs of replicas, those that shared longest first.'),
      table('service-sharers', 'Who shared', ['Policy', 'Shared', 'Longest'], rows));
  }
  if (drawn > 0) draw(0);
  return section('services', 'Services', 'Services',
    'Requests that were answered within the latency goal of their service, and what happened over time.',
    el('div', {class: 'block'}, el('h3', {}, 'Requests within the goal'),
      el('p', {class: 'small'}, `Share of the requests that arrived; ${data.source.replications > 2 ? 'means over replications with their 95 % intervals' : 'means over replications'}.`),
      table('services-within', 'Requests within the goal', ['Service', 'Goal', ...names.map((name, p) => [keyPicture(p), el('bdi', {}, name)])], within())),
    drawn > 1 ? el('div', {class: 'controls'}, choice('Service', all.names.slice(0, drawn).map((name, s) => [s, shown(name, 40)]), 0,
      (value) => draw(Number(value)))) : null,
    drawn > 0 ? body : null, drawn > 0 ? sharers : null);

  function within() {
    const cell = ([mean, lo, hi]) => [el('span', {class: 'mean'}, precise(mean)),
      el('span', {class: 'range'}, lo === null ? '' : `${precise(lo)} to ${precise(hi)}`)];
    const rows = all.names.map((name, s) => [el('bdi', {}, shown(name, 40)), `${percent(all.goal_share[s])} within ${number(1e3 * all.goal_s[s])} ms`,
      ...all.within.map((of) => cell(of[s]))]);
    if (all.names.length > 1) rows.push(['All', '', ...all.within.map((of) => cell(of[all.names.length]))]);
    return rows;
  }
}

// Two digits after the point: goals are of 99 % and more.
const precise = (share) => (share === null ? '–' : `${(100 * share).toFixed(2)} %`);

function table(id, label, head, rows) {
  return el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label},
    el('table', {class: 'policies', id}, el('thead', {}, el('tr', {}, head.map((cell) => el('th', {scope: 'col'}, cell)))),
      el('tbody', {}, rows.map(([first, ...cells]) => el('tr', {}, el('th', {scope: 'row'}, first), cells.map((cell) => el('td', {}, cell)))))));
}

function overTime({key, title, caption, what, times, runs, names, goal}) {
  const known = runs.filter(Boolean);
  const last = Math.max(...known.map((run) => run.end[run.end.length - 1]));
  const first = Math.min(...known.map((run) => run.start));
  const {factor, unit} = scale('s', false, last);
  const span = ends(factor * first, factor * last, 6);
  return figure({
    id: `services-${key}`, title, caption, height: 274, keys: names.map((name, i) => ({name, i})), lines: true,
    option() {
      const goals = goal === null ? [] : [{type: 'line', silent: true, showSymbol: false, z: 1, tooltip: {show: false},
        lineStyle: {color: current().muted, type: 'dashed', width: 1}, data: [[span.min, goal], [span.max, goal]]}];
      return {
        grid: {left: 48, right: 18, top: 32, bottom: 44},
        tooltip: tooltip({trigger: 'axis', axisPointer: {type: 'line', lineStyle: {color: current().muted}},
          formatter: (items) => `${duration(items[0].axisValue / factor)}\n` + items.filter((item) => names.includes(item.seriesName) && item.value[1] !== null)
            .map((item) => `${number(item.value[1])}  ${item.seriesName}`).join('\n')}),
        xAxis: axis(`Time since the start of the trace [${unit}]`, {type: 'value', ...span}),
        yAxis: upright(what === 'ms' ? what : capital(what), {type: 'value', min: 0}),
        dataZoom: [{type: 'inside', xAxisIndex: 0, zoomOnMouseWheel: 'ctrl', moveOnMouseMove: false, filterMode: 'none'}],
        series: [...runs.map((run, p) => ({
          type: 'line', name: names[p], step: 'start', showSymbol: false, connectNulls: false, ...look(p),
          lineStyle: {...look(p).lineStyle, width: 1.5}, emphasis: {focus: 'series'},
          data: run ? [[factor * run.start, times * run[key][0]], ...run.end.map((end, i) => [factor * end, times * run[key][i]])] : [],
        })), ...goals],
      };
    },
    table: () => ({
      head: ['Policy', 'Mean', 'Largest'],
      rows: runs.map((run, p) => [names[p], ...(run ? extremes(run, key).map((x) => `${number(times * x)} ${what}`) : ['–', '–'])]),
    }),
  });
}

function extremes(run, key) {
  let sum = 0;
  let from = run.start;
  run.end.forEach((end, i) => {
    sum += run[key][i] * (end - from);
    from = end;
  });
  return [sum / (from - run.start), Math.max(...run[key])];
}
