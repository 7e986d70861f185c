// A live run: what the simulator predicted before the first job, beside what was measured.
import {axis, choice, diagonal, ends, figure, look, plainTable, seriesNames, tooltip, upright} from '../charts.js';
import {capital, el, metricName, number, scaleOf, shown} from '../text.js';
import {colour} from '../theme.js';
import {section} from './section.js';

const COMPARED = ['jct_s', 'queue_s', 'makespan_s', 'isd', 'ps', 'oom', 'failed'];

export function live(data) {
  if (!data.live) return null;
  const names = seriesNames(data.policies.map((p) => p.label));
  const rows = [];
  for (const name of COMPARED) {
    const m = data.metrics.findIndex((metric) => metric.name === name);
    if (m < 0) continue;
    data.policies.forEach((_, p) => {
      const measured = data.summary[p][m]?.[0];
      const predicted = data.live.predicted[p]?.[m];
      if (measured == null || predicted == null) return;
      const {factor, unit} = scaleOf(data.metrics[m], [measured, predicted]);
      rows.push([capital(metricName(data.metrics[m])), names[p], `${number(factor * measured)} ${unit}`,
        `${number(factor * predicted)} ${unit}`, `${measured > predicted ? '+' : ''}${number(factor * (measured - predicted))} ${unit}`]);
    });
  }
  let what = 'isd';
  const percentages = () => what === 'isd';
  const points = (p) => data.live.jobs[p]?.[what] ?? [];
  const scatter = figure({
    keys: names.map((name, i) => ({name, i})), id: 'live-jobs', title: 'Each job: measured beside predicted', height: 380, wide: true,
    caption: 'A point is a job. On the diagonal the prediction was right. The prediction decides freely: where it put a job beside another one, both figures differ for that reason, too.',
    controls: [choice('Shown', [['isd', 'ISD'], ['jct_s', 'Completion time']], what, (value) => { what = value; scatter.refresh(); })],
    option() {
      const k = percentages() ? 100 : 1;
      const all = data.policies.flatMap((_, p) => points(p).flat()).filter((x) => x !== null).map((x) => k * x);
      if (all.length === 0) return null;
      // Noise of a measurement alone does not widen the axis: such a point lies a little below its end.
      const [least, most] = [Math.min(...all), Math.max(...all)];
      const range = ends(least > -0.02 * most ? 0 : least, most);
      const unit = percentages() ? 'ISD [%]' : 'completion time [s]';
      return {
        grid: {left: 52, right: 20, top: 34, bottom: 46},
        tooltip: tooltip({trigger: 'item', formatter: ({seriesName, value}) =>
          (value ? `${shown(value[2])}\n${seriesName}\npredicted ${number(value[0])}, measured ${number(value[1])}` : '')}),
        xAxis: axis(`Predicted ${unit}`, {type: 'value', ...range}),
        yAxis: upright(`Measured ${unit}`, {type: 'value', ...range}),
        series: [diagonal(range), ...data.policies.map((_, p) => ({
          type: 'scatter', name: names[p], ...look(p), symbolSize: 8, clip: false, itemStyle: {color: colour(p), opacity: 0.75},
          data: points(p).map(([measured, predicted], i) => [k * predicted, k * measured, data.live.jobs[p].job[i]])
            .filter((_, i) => points(p)[i][0] !== null && points(p)[i][1] !== null),
        }))],
      };
    },
    table: () => ({head: ['Job', 'Policy', 'Measured', 'Predicted'],
      rows: data.policies.flatMap((_, p) => points(p).map(([measured, predicted], i) => [shown(data.live.jobs[p].job[i]), names[p],
        number(measured === null ? null : (percentages() ? 100 : 1) * measured), number(predicted === null ? null : (percentages() ? 100 : 1) * predicted)]))}),
  });
  return section('live', 'Predicted', 'Predicted before, measured after',
    'The simulator predicted every policy before the first job ran. The last column is measured less predicted.',
    el('div', {class: 'scroll block'}, plainTable(['Metric', 'Policy', 'Measured', 'Predicted', 'Difference'], rows)), scatter);
}
