// Groups of jobs: completion times by number of GPUs, run time or a column of the log, whom the longest waits hit, and
// what preemption does. Whoever is served well by the mean may not be served at all.
import {choice, seriesNames} from '../charts.js';
import {keyPicture} from '../keys.js';
import {capital, count, el, number, percent, scale, shown} from '../text.js';
import {section} from './section.js';

const KINDS = {gpus: 'number of GPUs', length: 'run time alone'};

const times = (x) => `×${x < 10 ? x.toFixed(2) : number(x)}`;

// "×0.85": how often as long; nothing without both.
export const ratio = (value, base) => (value === null || value === undefined || !(base > 0) ? '' : times(value / base));

function table(id, label, head, rows) {
  return el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label},
    el('table', {class: 'policies', id}, el('thead', {}, el('tr', {}, head.map((cell) => el('th', {scope: 'col'}, cell)))),
      el('tbody', {}, rows.map(([first, ...cells]) => el('tr', {}, el('th', {scope: 'row'}, first), cells.map((cell) => el('td', {}, cell)))))));
}

export function groups(data) {
  const names = seriesNames(data.policies.map((p) => p.label));
  const sets = data.groups?.sets ?? [];
  const blocks = [sets.length ? completion() : null, data.preemptions ? preemptions() : null].filter(Boolean);
  if (blocks.length === 0) return null;
  const some = data.groups && data.groups.replications < data.source.replications;
  return section('groups', 'Groups', 'Whom the policies serve',
    `A mean hides who waits. ${some ? `Of the first ${data.groups.replications} replications.` : 'All replications.'}`, blocks);

  function heads() {
    return names.map((name, p) => [keyPicture(p), el('bdi', {}, name)]);
  }

  function completion() {
    let base = Math.max(0, data.policies.findIndex((p) => p.name === 'fcfs' || p.name === 'fifo'));
    let at = 0;
    const body = el('div', {class: 'blocks'});
    const nameOf = (set) => KINDS[set.kind] ?? shown(set.by, 40);

    function draw() {
      const set = sets[at];
      const {tenths} = data.groups;
      const most = Math.max(...set.jct_s.flat().filter((x) => x !== null), ...tenths.map(([worst]) => worst ?? 0), 0);
      const {factor, unit} = scale('s', false, most);
      const time = (value, of) => [el('span', {class: 'mean'}, value === null ? '–' : number(factor * value)),
        el('span', {class: 'range'}, of === undefined ? 'baseline' : ratio(value, of))];
      const row = (values) => values.map((value, p) => time(value, p === base ? undefined : values[base]));
      const jobs = set.jobs.reduce((a, b) => a + b, 0);
      const rows = set.names.map((name, g) => [el('bdi', {}, shown(name, 40)), number(set.jobs[g], 12), percent(set.work[g]),
        ...row(set.jct_s.map((values) => values[g]))]);
      const tenth = [['The worst tenth of each policy’s jobs', 0], ['The other nine tenths', 1]].map(([text, k]) =>
        [text, '', '', ...row(tenths.map((pair) => pair[k]))]);
      const members = set.names.map((name, g) => [el('bdi', {}, shown(name, 40)), jobs ? percent(set.jobs[g] / jobs) : '–',
        ...set.worst.map((values) => [el('span', {class: 'mean'}, percent(values[g])),
          el('span', {class: 'range'}, values[g] === null || !jobs || !set.jobs[g] ? '' : times(values[g] / (set.jobs[g] / jobs)))])]);
      body.replaceChildren(
        el('div', {class: 'block'}, el('h3', {}, `Mean completion time by ${nameOf(set)}`, unit ? ` [${unit}]` : ''),
          el('p', {class: 'small'}, `Of finished jobs. ×: ratio to the baseline. Work: share of the GPU time of all jobs alone.${
            set.left_out ? ` The ${set.names.length} groups with the most work of ${set.names.length + set.left_out}.` : ''}`),
          table('by-group', 'Completion time by group', [capital(nameOf(set)), 'Jobs', 'Work', ...heads()], rows.concat(tenth))),
        el('div', {class: 'block'}, el('h3', {}, 'Who is in the worst tenth'),
          el('p', {class: 'small'}, 'The tenth of each policy’s jobs that takes longest from submission to finish, by group. × above 1: more often than their number of jobs would have it.'),
          table('worst-tenth', 'The worst tenth by group', [capital(nameOf(set)), 'Of all jobs', ...heads()], members)));
    }
    draw();
    return el('div', {}, el('div', {class: 'controls'},
      choice('Groups by', sets.map((set, s) => [s, capital(nameOf(set))]), at, (value) => { at = Number(value); draw(); }),
      choice('Baseline', names.map((name, p) => [p, name]), base, (value) => { base = Number(value); draw(); })), body);
  }

  function preemptions() {
    const {factor, unit} = scale('s', false, Math.max(...data.preemptions.map((one) => one.lost_gpu_s ?? 0)));
    const rows = data.preemptions.map((one, p) => [[keyPicture(p), el('bdi', {}, names[p])], number(one.times), percent(one.jobs),
      number(one.most, 12), one.most ? `${number(factor * one.lost_gpu_s)} GPU ${unit}` : '–', percent(one.isd), percent(one.isd_other)]);
    const sharing = data.policies.some((policy, p) => policy.shares && data.preemptions[p].most > 0);
    return el('div', {class: 'block'}, el('h3', {}, 'Preemptions and their cost'),
      el('p', {class: 'small'}, 'Per replication. Cost: GPU time of the jobs that were preempted beyond the time of their work alone: saving, restoring and work that was lost.' +
        (sharing ? ' Of a policy that shares GPUs it has the slowdown by co-runners, too.' : '')),
      table('preemptions', 'Preemptions', ['Policy', 'Preemptions', 'Jobs preempted', 'Most of a job', 'Cost', 'ISD of these jobs', 'ISD of the others'], rows),
      el('p', {class: 'small'}, `${count(data.jobs, 'job')} a replication.`));
  }
}
