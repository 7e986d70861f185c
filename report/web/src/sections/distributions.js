// Distributions over jobs: completion time, queueing delay, slowdown.
import {axis, figure, look, seriesNames, tick, tooltip, upright} from '../charts.js';
import {duration, el, number, percent, scale} from '../text.js';
import {current} from '../theme.js';
import {section} from './section.js';

const WHAT = [
  ['jct_s', 'Job completion time', 'Share of jobs whose time from submission to finish is at most the value below.', 's', false],
  ['queue_s', 'Queueing delay', 'Share of jobs whose time from submission to first start is at most the value below.', 's', false],
  ['isd', 'Individual slowdown', 'Share of jobs whose ISD is at most the value below. ISD 100 %: twice the time alone.', '1', true],
];
const LEVELS = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1];

// The value below which a share of the jobs lies.
function quantile(curve, share) {
  if (!curve || curve.x.length === 0) return null;
  const at = curve.y.findIndex((y) => y >= share - 1e-12);
  return curve.x[at < 0 ? curve.x.length - 1 : at];
}

export function distributions(data) {
  const names = seriesNames(data.policies.map((p) => p.label));
  const figures = WHAT.filter(([key]) => data.curves[key]?.some((curve) => curve && curve.n > 0))
    .map(([key, title, caption, unit, share]) => {
      const curves = data.curves[key];
      let logarithmic = false;
      // Long tails would squeeze the rest: the axis is scaled by the 90th percentile.
      const most = Math.max(...curves.map((curve) => Math.abs(quantile(curve, 0.9) ?? 0)));
      const {factor, unit: shownUnit} = scale(unit, share, most);
      const least = key === 'isd' ? 0.001 : 1;
      const node = figure({
        id: `cdf-${key}`, title, caption, height: (width) => (width < 500 ? 280 : 320), keys: names.map((name, i) => ({name, i})), lines: true,
        controls: [tick('Logarithmic', false, (on) => { logarithmic = on; node.refresh(); })],
        option() {
          const t = current();
          return {
            grid: {left: 44, right: 18, top: 32, bottom: 44},
            tooltip: tooltip({trigger: 'axis', axisPointer: {type: 'line', lineStyle: {color: t.muted}}, order: 'valueAsc',
              formatter: (items) => tip(items)}),
            xAxis: axis(`${title} [${shownUnit}]${logarithmic ? `, at least ${number(factor * least)}` : ''}`,
              logarithmic ? {type: 'log', min: 'dataMin'} : {type: 'value', min: (range) => Math.min(0, range.min)}),
            yAxis: upright('Share of jobs', {min: 0, max: 1, axisLabel: {color: t.muted, fontSize: 11,
              formatter: (y) => `${Math.round(100 * y)} %`}}),
            dataZoom: [{type: 'inside', xAxisIndex: 0, zoomOnMouseWheel: 'ctrl', moveOnMouseMove: false, filterMode: 'none'}],
            series: curves.map((curve, p) => ({
              type: 'line', name: names[p], step: 'end', showSymbol: false, ...look(p), emphasis: {focus: 'series'},
              data: points(curve),
            })),
          };
        },
        table: () => ({
          head: ['Policy', 'Jobs', ...LEVELS.map((level) => (level === 1 ? 'largest' : `${Math.round(100 * level)} %`))],
          rows: curves.map((curve, p) => [names[p], number(curve?.n ?? 0, 12), ...LEVELS.map((level) => {
            const x = quantile(curve, level);
            return x === null ? '–' : `${number(factor * x)} ${shownUnit}`;
          })]),
        }),
      });
      function points(curve) {
        if (!curve || curve.n === 0) return [];
        const list = curve.x.map((x, i) => [factor * (logarithmic ? Math.max(x, least) : x), curve.y[i]]);
        list.unshift([logarithmic ? list[0][0] : Math.min(list[0][0], 0), 0]);
        return list;
      }
      function tip(items) {
        const x = items[0].axisValue / factor;
        const lines = curves.map((curve, p) => {
          if (!curve || curve.n === 0 || node.hiddenNames.has(names[p])) return null;
          let at = 0;
          while (at < curve.x.length && curve.x[at] <= x) ++at;
          return `${percent(at === 0 ? 0 : curve.y[at - 1])}  ${names[p]}`;
        }).filter(Boolean);
        return `at most ${share ? percent(x, 3) : duration(x)}\n${lines.join('\n')}`;
      }
      return node;
    });
  if (figures.length === 0) return null;
  return section('distributions', 'Distributions', 'Distributions over jobs',
    'All jobs of all replications. A curve further left is better.', el('div', {class: 'figures'}, figures));
}
