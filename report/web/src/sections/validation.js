// `corun validate`: simulated beside real runs. The data are those of --format json, with the jobs of each run:
//
// validation: {fit: [run], draws, seed, tau, tau_interval, tau_given, inverted, parameters, hints: [text],
//   runs: [{run, policy, given: "policy" | "allocation", limit, covered, mean_jct_s, makespan_s: {real, simulated, low, high},
//           mean_jct_error, makespan_error, job_error_median, job_error_p90, mean_jct_bias, kinds: [{kind, jobs, bias}],
//           jobs: [[real, simulated, low, high]]}],       completion times [s]; low and high: of 90 % of the draws
//   authors: [{run, mean_jct_error, ...}],                the simulation that came with the runs
//   enough: [{run, part, mean_jct_error, ...}]}           with parts of the model from the tested run itself
import {axis, choice, diagonal, ends, figure, look, plainTable, tooltip, upright} from '../charts.js';
import {count, duration, el, listed, number, shown, shownLines} from '../text.js';
import {colour} from '../theme.js';
import {section} from './section.js';

const per = (x, sign = false) => (x === null || x === undefined ? '–' : `${sign && x > 0 ? '+' : ''}${(100 * x).toFixed(1).replace('-', '−')} %`);
const errors = (row) => [per(row.mean_jct_bias, true), per(row.makespan_error), per(row.job_error_median), per(row.job_error_p90)];
const ERRORS = ['Mean completion time', 'Makespan', 'Median job', '90th percentile'];
const jobError = ([real, simulated]) => Math.abs(simulated / real - 1);
const table = (head, rows) => el('div', {class: 'scroll block'}, plainTable(head, rows, {class: 'stacked'}));

function means(runs, drawn) {
  const rows = runs.flatMap((run) => [['Mean completion time', run.mean_jct_s], ['Makespan', run.makespan_s]].map(([what, s]) =>
    [shown(run.run, 60), `the ${run.given}`, what, duration(s.real), duration(s.simulated),
      drawn ? `${duration(s.low)} to ${duration(s.high)}` : '–', per(s.simulated / s.real - 1, true)]));
  return [el('h3', {}, 'Means'), table(['Run', 'Given', 'What', 'Real', 'Simulated', '90 % of the draws', 'Error'], rows)];
}

function calibration(runs, names, drawn) {
  const [first] = runs;
  let at = 0;
  const jobs = () => runs[at].jobs;
  const node = figure({
    id: 'calibration', title: 'Each job: simulated beside real', height: 420, wide: true,
    caption: `A mark is a job. On the dashed line the simulation was right.${drawn ? ' A bar is its 90 % interval.' : ''}`,
    controls: [choice('Run', runs.map((_, i) => [i, names[i]]), at, (value) => { at = Number(value); node.refresh(); })],
    option() {
      const hours = jobs().map((job) => job.map((x) => (x === null ? null : x / 3600)));
      const range = ends(0, Math.max(...hours.flat()));
      return {
        grid: {left: 52, right: 20, top: 34, bottom: 46},
        tooltip: tooltip({trigger: 'item', formatter: ({value, seriesName}) =>
          (value && seriesName === 'jobs' ? `job ${value[2]}\nreal ${number(value[0])} h, simulated ${number(value[1])} h` : '')}),
        xAxis: axis('Real completion time [h]', {type: 'value', ...range}),
        yAxis: upright('Simulated completion time [h]', {type: 'value', ...range}),
        series: [diagonal(range),
          {type: 'line', name: 'intervals', silent: true, showSymbol: false, clip: true, connectNulls: false,
            lineStyle: {color: colour(0), width: 1, opacity: 0.45},
            data: drawn ? hours.flatMap(([real, , low, high]) => [[real, low], [real, high], [null, null]]) : []},
          {type: 'scatter', name: 'jobs', ...look(0), symbolSize: 7, itemStyle: {color: colour(0), opacity: 0.8},
            data: hours.map(([real, simulated], j) => [real, simulated, j])}],
      };
    },
    table: () => ({head: ['Job', 'Real', 'Simulated', 'Low', 'High', 'Error'],
      rows: jobs().map((job, j) => [String(j), ...job.map((x) => duration(x)), per(job[1] / job[0] - 1, true)])}),
  });
  return first ? node : null;
}

function distribution(runs, names) {
  const sorted = (run) => run.jobs.map(jobError).sort((a, b) => a - b);
  return figure({
    id: 'job-errors', title: 'Errors of jobs', height: 340, wide: true, lines: true, keys: names.map((name, i) => ({name, i})),
    caption: 'The share of jobs whose completion time is off by at most so much.',
    option() {
      const most = Math.max(0.01, ...runs.map((run) => sorted(run)[Math.ceil(0.98 * run.jobs.length) - 1]));
      return {
        grid: {left: 52, right: 20, top: 34, bottom: 46}, tooltip: tooltip({trigger: 'axis', valueFormatter: (x) => `${number(x)} %`}),
        xAxis: axis('|simulated / real − 1| [%]', {type: 'value', ...ends(0, 100 * most)}),
        yAxis: upright('Share of jobs [%]', {type: 'value', min: 0, max: 100, interval: 20}),
        series: runs.map((run, i) => ({type: 'line', name: names[i], ...look(i), showSymbol: false, step: 'end', clip: true,
          data: [[0, 0], ...sorted(run).map((error, j) => [100 * error, 100 * (j + 1) / run.jobs.length])]})),
      };
    },
    table: () => ({head: ['Run', 'Job', 'Error'], rows: runs.flatMap((run, i) => run.jobs.map((job, j) => [j, jobError(job)])
      .sort((a, b) => b[1] - a[1]).map(([j, error]) => [names[i], String(j), per(error)]))}),
  });
}

export function validation(data) {
  const v = data.validation;
  const drawn = v.draws > 0;
  const names = v.runs.map((run) => `${shown(run.run, 40)}, given the ${run.given}`);
  const lead = `${v.fit.length ? `Fitted on ${listed(v.fit.map((name) => shown(name, 60)))}. ` : ''}` +
    `An error is |simulated / real − 1|; that of the mean has its sign.${drawn ? ` Simulated values are medians over ${count(v.draws, 'draw')}.` : ''}`;
  const rows = v.runs.map((run) => [shown(run.run, 60), 'corun', `the ${run.given}`, ...errors(run), run.covered === null ? '–' : per(run.covered)])
    .concat(v.authors.map((run) => [shown(run.run, 60), 'its authors', 'the policy', ...errors(run), '–']));
  const order = v.tau === null ? null : el('p', {}, `Order of the policies by mean completion time, given the ${v.tau_given}: Kendall's tau ${number(v.tau)}` +
    `${v.tau_interval ? ` (${number(v.tau_interval[0])} to ${number(v.tau_interval[1])})` : ''}. ` +
    (v.inverted.length ? v.inverted.map((pair) => `${shown(pair.shorter, 60)} is really shorter than ${shown(pair.longer, 60)}, by ${per(pair.real_difference)}.`).join(' ') : 'No pair is inverted.'));
  const kinds = v.runs.flatMap((run) => run.kinds.map((kind) => [shown(run.run, 60), `the ${run.given}`, shown(kind.kind, 40), String(kind.jobs), per(kind.bias, true)]));
  return [
    section('errors', 'Errors', 'Held against real runs', lead,
      table(['Run', 'Simulated by', 'Given', ...ERRORS, 'Covered'], rows), order, ...means(v.runs, drawn),
      v.hints.length ? el('h3', {}, 'Hints') : null,
      v.hints.length ? el('ul', {class: 'gaps'}, v.hints.map((text) => el('li', {}, shownLines(text)))) : null),
    section('jobs', 'Jobs', 'Job by job', null, calibration(v.runs, names, drawn), distribution(v.runs, names),
      kinds.length ? el('h3', {}, 'Bias by kind of job') : null,
      kinds.length ? table(['Run', 'Given', 'Kind', 'Jobs', 'Mean of simulated / real − 1'], kinds) : null),
    v.enough.length ? section('enough', 'What would be enough', 'What would be enough',
      'The tested run again, with one part of the model from the tested run itself.',
      table(['Run', 'From the run itself', ...ERRORS], v.enough.map((row) => [shown(row.run, 60), row.part, ...errors(row)]))) : null,
    section('origin', 'Origin', 'Where the numbers come from', 'The same files, options and seed give the same bytes.',
      el('dl', {}, [['Runs', shown(data.source.file, 200)], ['Program', `corun ${data.source.corun}, commit ${data.source.commit}`], ['Seed', String(v.seed)]]
        .flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, el('bdi', {}, value))])),
      v.parameters ? el('h3', {}, 'Fitted parameters') : null,
      v.parameters ? el('pre', {tabindex: '0'}, shownLines(JSON.stringify(v.parameters, (_, x) => (typeof x === 'number' ? Number(x.toPrecision(4)) : x), 2))) : null),
  ];
}
