// What the run says, in words: which policy is best on which metric, how sure that is, what was not measured.
import {plainTable} from '../charts.js';
import {capital, count, el, listed, metricName, number, percent, scaleOf, shown, shownLines} from '../text.js';
import {warningsOf} from './always.js';
import {section} from './section.js';

const ASKED = ['jct_s', 'jct_p95_s', 'queue_s', 'makespan_s', 'isd', 'ps', 'jain'];
const FEWEST = 3;
const WORDS = 'Individual slowdown (ISD): (time beside others − time alone) / time alone, of a job. Packing saving (PS): ' +
  '(sum of the times alone − time together) / sum of the times alone, of jobs that share a GPU. Stretch: completion time / time alone.';

const known = (interval) => interval && interval[0] !== null;
const bounded = (interval) => interval && interval[1] !== null && interval[2] !== null;

// The best of the policies that may be best in a metric, and how it compares with each other one:
// {metric, best, value, sure: [policy], open: [policy], equal: [policy]}.
export function bestOf(data, m) {
  const metric = data.metrics[m];
  const may = data.policies.map((_, p) => p).filter((p) => !data.policies[p].bound && known(data.summary[p][m]) &&
    (metric.name !== 'isd' || data.policies[p].shares));
  if (metric.better === 0 || may.length === 0) return null;
  const value = (p) => metric.better * data.summary[p][m][0];
  const best = may.reduce((a, b) => (value(b) > value(a) ? b : a));
  const result = {metric, best, value: data.summary[best][m], sure: [], open: [], equal: []};
  for (const p of may) {
    if (p === best) continue;
    const difference = data.versus[best][p][m];
    if (!known(difference)) result.open.push(p);
    else if (difference[0] === 0 && difference[1] === 0 && difference[2] === 0) result.equal.push(p);
    else if (bounded(difference) && (difference[1] > 0 || difference[2] < 0)) result.sure.push(p);
    else result.open.push(p);
  }
  return result;
}

// Groups of policies with the same values in every replication: [[policy]].
export function alike(data) {
  const groups = [];
  const same = (p, q) => data.versus[p][q].every((d, m) => d && d[0] === 0 && d[1] === 0 && d[2] === 0 ||
    !known(data.summary[p][m]) && !known(data.summary[q][m]));
  for (let p = 0; p < data.policies.length; ++p) {
    const group = groups.find(([q]) => same(p, q));
    if (group) group.push(p);
    else groups.push([p]);
  }
  return groups.filter((group) => group.length > 1);
}

function sureness(data, found) {
  const names = (list) => listed(list.map((p) => shown(data.policies[p].label, 30)));
  if (!bounded(found.value)) return `not known: fewer than ${FEWEST} replications give no interval`;
  const others = found.sure.length + found.open.length + found.equal.length;
  if (others === 0) return 'the only policy';
  const parts = [];
  if (found.sure.length === others) {
    parts.push(others === 1 ? `sure: the interval of the difference to ${names(found.sure)} excludes zero`
      : `sure: better than all ${others} others, and every interval of the difference excludes zero`);
  } else if (found.sure.length) {
    parts.push(`better than ${found.sure.length} of ${others} others (intervals exclude zero)`);
  }
  if (found.equal.length) parts.push(`the same as ${names(found.equal)}`);
  if (found.open.length) parts.push(`not significantly different from ${names(found.open)} (interval includes zero)`);
  return parts.join('; ');
}

// One sentence: the policy that is best, or as good as the best, in most metrics.
function advice(data, answers) {
  const held = data.policies.map(() => []);
  for (const found of answers) {
    for (const p of [found.best, ...found.equal, ...found.open]) held[p].push(found);
  }
  const alone = data.policies.map((_, p) => answers.filter((found) => found.best === p));
  const order = data.policies.map((_, p) => p).filter((p) => !data.policies[p].bound)
    .sort((a, b) => held[b].length - held[a].length || alone[b].length - alone[a].length);
  if (order.length < 2) return null;
  const name = (p) => shown(data.policies[p].label, 40);
  const names = (list) => listed(list.map((found) => metricName(found.metric)));
  if (!bounded(answers[0]?.value)) {
    return `${capital(names(alone[order[0]]) || 'most metrics')}: ${name(order[0])} had the best value in this one run. ` +
      'One or two replications do not tell whether that would hold again.';
  }
  const first = order[0];
  const rest = answers.filter((found) => !held[first].includes(found));
  const asMany = order.filter((p) => p !== first && held[p].length === held[first].length);
  if (rest.length === 0) return `${name(first)} is the best, or not significantly different from the best, in every metric below.`;
  return `No policy is best in everything. ${name(first)} is the best, or not significantly different from the best, in ` +
    `${held[first].length} of ${answers.length} metrics: ${names(held[first])}. It is beaten in ${names(rest)}. ` +
    asMany.map((p) => `${name(p)} is so in as many: ${names(held[p])}. `).join('') +
    'Choose by the metric that matters to you.';
}

// What no number of this report was measured for: [text].
export function unmeasured(data) {
  const lines = [];
  const c = data.coverage;
  const shares = c && c.measured + c.modelled + c.extrapolated > 0;
  if (data.kind === 'live') {
    lines.push('Every job ran on a GPU, once under each policy: there is no interval over repetitions, and another run may differ.');
  } else if (shares) {
    if (c.modelled > 0) {
      lines.push(`${percent(c.modelled)} of the time that jobs shared a GPU, an interference model gave the cost: these jobs were not measured together.`);
    }
    if (c.extrapolated > 0) {
      lines.push(`${percent(c.extrapolated)} of that time the cost is extrapolated: to a GPU type or a sharing mode that was not measured.`);
    }
    if (c.modelled + c.extrapolated === 0) lines.push('Every co-run of this run was measured on a real GPU.');
    const uneven = data.policies.filter((p) => p.coverage && p.shares && !p.bound &&
      Math.abs(p.coverage.measured - c.measured) > 0.2);
    if (uneven.length) {
      const least = uneven.reduce((a, b) => (b.coverage.measured < a.coverage.measured ? b : a));
      const most = uneven.reduce((a, b) => (b.coverage.measured > a.coverage.measured ? b : a));
      lines.push(`Policies differ in this: from ${percent(least.coverage.measured)} measured (${shown(least.label, 30)}) to ` +
        `${percent(most.coverage.measured)} (${shown(most.label, 30)}).`);
    }
  }
  lines.push(...assumedSpeeds(data));
  if (data.unknown_memory_jobs > 0) {
    lines.push(`${data.unknown_memory_jobs === data.jobs ? 'No job has' : `${count(data.unknown_memory_jobs, 'job')} have`} a known memory demand` +
      `${data.unknown_memory_jobs === data.jobs ? ':' : '; these'} jobs cannot run out of memory here, as they could on a machine.`);
  }
  if (data.kind !== 'live') {
    if (data.source.real_runs) lines.push(`${capital(shown(data.source.real_runs, 400))}.`);
    lines.push('All of this is a simulation: “sure” is about chance within it. The command “corun live run” measures a queue on a GPU box.');
  }
  return lines;
}

// Speeds of jobs alone on GPUs that were not measured: [text].
export function assumedSpeeds(data) {
  const lines = [];
  if (data.solo) {
    const words = {predicted: 'predicted by a model', scaled: 'scaled by the specifications of the GPU types',
      assumed: 'assumed to be that of the reference type'};
    for (const [key, text] of Object.entries(words)) {
      if (data.solo[key] > 0) lines.push(`${percent(data.solo[key])} of the jobs' time on GPUs, their speed alone there is ${text}.`);
    }
  }
  return lines;
}

// The warnings of a run and what the report sums up, open to every reader and on paper.
export function warned(data) {
  const list = (title, id, texts) => (texts.length === 0 ? []
    : [el('h3', {}, title), el('ul', {class: 'gaps', id}, texts.map((text) => el('li', {}, shownLines(text))))]);
  return [...list('Warnings', 'warned', warningsOf(data)), ...list('What this report leaves out or sums up', 'summed', data.reductions)];
}

export function answer(data) {
  const asked = ASKED.map((name) => data.metrics.findIndex((metric) => metric.name === name)).filter((m) => m >= 0);
  const answers = asked.map((m) => bestOf(data, m)).filter(Boolean);
  const what = [`${count(data.jobs, 'job')} on ${count(data.gpus, 'GPU')}`,
    `(${listed(data.gpu_types.map((t) => (data.gpu_types.length === 1 ? shown(t.type, 40) : `${t.count} ${shown(t.type, 40)}`)))})`,
    data.timeline?.gpus.owner ? `in ${count(new Set(data.timeline.gpus.owner).size, 'virtual cluster')}` : null,
    `under ${data.policies.length === 1 ? 'one policy' : `${data.policies.length} policies`},`,
    data.kind === 'live' ? 'each of which ran once.' : `${count(data.source.replications, 'replication')} each.`].filter(Boolean).join(' ');
  const bounds = data.policies.filter((p) => p.bound).map((p) => shown(p.label, 30));
  const idle = data.policies.filter((p) => !p.shares && !p.bound).map((p) => shown(p.label, 30));
  const told = data.kind !== 'live' && data.policies.some((p) => p.coverage && p.shares);
  const measuredShare = (p) => (p.coverage && p.shares ? percent(p.coverage.measured) : '–');
  const rows = answers.map((found) => {
    const {factor, unit} = scaleOf(found.metric, [found.value[0]]);
    const range = bounded(found.value) ? ` [${number(factor * found.value[1])}, ${number(factor * found.value[2])}]` : '';
    return [`${capital(metricName(found.metric))} (${found.metric.better < 0 ? 'less' : 'more'} is better)`,
      el('b', {}, el('bdi', {}, shown(data.policies[found.best].label, 40))), `${number(factor * found.value[0])}${range} ${unit}`,
      sureness(data, found), ...(told ? [measuredShare(data.policies[found.best])] : [])];
  });
  const notes = [];
  if (bounds.length) notes.push(`${listed(bounds)} ${bounds.length === 1 ? 'knows' : 'know'} the true expected co-run costs: an upper bound for beliefs with the same objective, not for every metric. Never named as best.`);
  if (idle.length) notes.push(`${listed(idle)} never ${idle.length === 1 ? 'shares' : 'share'} a GPU, which makes ISD zero: not counted as best in ISD.`);
  for (const group of alike(data)) {
    notes.push(`${listed(group.map((p) => shown(data.policies[p].label, 30)))} have the same values in every replication: they decided alike.`);
  }
  if (data.source.replications >= FEWEST) {
    notes.push('Brackets are 95 % intervals over replications. Differences are paired: both policies met the same arrivals, true costs and noise. ' +
      'Each interval is at 95 % alone: of twenty equal pairs about one looks decided.');
  }
  if (data.source.replications >= FEWEST && data.source.replications < 10) {
    notes.push('Fewer than ten replications: the intervals are approximate.');
  }
  const said = answers.length ? advice(data, answers) : null;
  return section('answer', 'Answer', 'What this run says', what,
    said ? el('p', {class: 'said'}, said) : null,
    answers.length ? el('div', {class: 'scroll'}, plainTable(['Metric', 'Best policy', 'Value', 'How sure', ...(told ? ['Its co-runs measured'] : [])], rows, {class: 'answers stacked'})) : null,
    el('p', {class: 'small'}, [...notes, WORDS].join(' ')),
    el('h3', {}, 'What was not measured'), el('ul', {class: 'gaps'}, unmeasured(data).map((text) => el('li', {}, text))), warned(data));
}
