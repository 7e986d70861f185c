// Utilisation and the queue over time.
import {axis, ends, figure, look, seriesNames, tooltip, upright} from '../charts.js';
import {capital, duration, el, number, scale} from '../text.js';
import {current} from '../theme.js';
import {section} from './section.js';

const WHAT = [
  ['queue', 'Queue length', 'Jobs that wait, also to be profiled or probed.', 'jobs', 0],
  ['running', 'Running jobs', 'Jobs on GPUs.', 'jobs', 0],
  ['util', 'GPU utilisation', 'Mean over all GPUs; a gap: not known.', '%', 1],
  ['busy', 'Busy GPUs', 'GPUs with a job on them.', 'GPUs', 0],
  ['shared', 'Shared GPUs', 'GPUs with two jobs or more.', 'GPUs', 0],
];

export function overTime(data) {
  if (!data.over_time) return null;
  const names = seriesNames(data.policies.map((p) => p.label));
  const last = Math.max(...data.over_time.map((run) => (run ? run.end[run.end.length - 1] ?? 0 : 0)));
  const {factor, unit} = scale('s', false, last);
  const first = Math.min(...data.over_time.map((run) => (run ? run.start : Infinity)));
  const span = ends(first < 0.02 * last ? Math.min(0, factor * first) : factor * first, factor * last, 6);
  const figures = WHAT.filter(([key]) => data.over_time.some((run) => run && run[key].some((x) => x !== null)))
    .map(([key, title, caption, what, share]) => figure({
      id: `time-${key}`, title, caption, height: 274, keys: names.map((name, i) => ({name, i})), lines: true,
      option() {
        const times = share ? 100 : 1;
        return {
          grid: {left: 48, right: 18, top: 32, bottom: 44},
          tooltip: tooltip({trigger: 'axis', axisPointer: {type: 'line', lineStyle: {color: current().muted}},
            formatter: (items) => `${duration(items[0].axisValue / factor)}\n` + items.filter((item) => item.value[1] !== null)
              .map((item) => `${number(item.value[1])}  ${item.seriesName}`).join('\n')}),
          xAxis: axis(`Time since the start of the trace [${unit}]`, {type: 'value', ...span}),
          yAxis: upright(`${capital(what)}`, {type: 'value', min: 0, ...(share ? {} : {minInterval: 1})}),
          dataZoom: [{type: 'inside', xAxisIndex: 0, zoomOnMouseWheel: 'ctrl', moveOnMouseMove: false, filterMode: 'none'}],
          series: data.over_time.map((run, p) => ({
            type: 'line', name: names[p], step: 'start', showSymbol: false, connectNulls: false, ...look(p),
            lineStyle: {...look(p).lineStyle, width: 1.5}, emphasis: {focus: 'series'},
            data: run ? [[factor * run.start, run[key][0] === null ? null : times * run[key][0]],
              ...run.end.map((end, i) => [factor * end, run[key][i] === null ? null : times * run[key][i]])] : [],
          })),
        };
      },
      table: () => ({
        head: ['Policy', 'Mean', 'Largest'],
        rows: data.over_time.map((run, p) => [names[p], ...extremes(run, key, share)]),
      }),
    }));
  return section('time', 'Over time', 'Over time',
    `${data.kind === 'live' ? 'As measured' : 'Of the first replication'}, as means over equal slices of time. Ctrl and the wheel zoom.`, el('div', {class: 'figures'}, figures));
}

function extremes(run, key, share) {
  if (!run) return ['–', '–'];
  let sum = 0;
  let time = 0;
  let most = null;
  let from = run.start;
  run.end.forEach((end, i) => {
    const x = run[key][i];
    if (x !== null) {
      sum += x * (end - from);
      time += end - from;
      most = Math.max(most ?? x, x);
    }
    from = end;
  });
  const show = (x) => (x === null ? '–' : share ? `${number(100 * x)} %` : number(x));
  return [show(time > 0 ? sum / time : null), show(most)];
}
