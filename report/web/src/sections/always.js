// The strip that stays in sight: how much of the numbers was measured, profiles that are not the jobs' own, and warnings.
import {count, el, percent, shownLines, shown} from '../text.js';

const PARTS = [
  ['measured', 'measured', 'the cost of the co-run was measured'],
  ['modelled', 'modelled', 'an interference model within its fitted range'],
  ['extrapolated', 'extrapolated', 'a GPU type or a sharing mode that was not measured'],
];

// Every warning of the run, the gravest first: [text].
export function warningsOf(data) {
  const warnings = [...data.warnings];
  if (data.kind === 'sweep') warnings.push('The results file of a sweep has no notes: corun sweep printed those of its points.');
  if (!data.source.complete) warnings.unshift('The run was interrupted: the file has only what was finished.');
  return warnings;
}

// "4 of 24 profiles imputed", of the warnings about profiles that are not the jobs' own.
const imputed = (data) => data.warnings.filter((text) => text.includes('(imputed)')).map((text) => {
  const jobs = /^\d+ of \d+/.exec(text);
  return jobs ? `${jobs[0]} profiles imputed` : shown(text, 60);
});

function coverage(data) {
  const c = data.coverage;
  const total = c ? c.measured + c.modelled + c.extrapolated : 0;
  if (data.kind === 'live') return el('p', {class: 'coverage'}, el('b', {}, `Measured on ${shown(data.source.measured_on || 'a GPU')}`));
  if (!(total > 0)) return el('p', {class: 'coverage'}, el('b', {}, 'No job shared a GPU: nothing was measured or modelled.'));
  const bar = el('span', {class: 'bar', 'aria-hidden': 'true'});
  const words = [];
  for (const [key, text, why] of PARTS) {
    const part = el('i', {class: key});
    part.style.width = `${100 * c[key]}%`;
    bar.append(part);
    words.push(el('span', {class: 'part', title: why}, el('i', {class: `dot ${key}`}), `${percent(c[key])} ${text}`));
  }
  return el('p', {class: 'coverage'}, el('b', {}, 'Cost of co-runs'), bar, ...words);
}

export function always(data) {
  const node = coverage(data);
  node.append(...imputed(data).map((text) => el('span', {class: 'imputed', title: 'These jobs have no measured profile of their own: see the warnings'}, text)));
  const [warnings, reductions] = [warningsOf(data), data.reductions];
  const list = (texts) => el('ul', {}, texts.map((text) => el('li', {}, shownLines(text))));
  return [node, el('details', {class: 'warnings', id: 'warnings'},
    el('summary', {class: warnings.length + reductions.length ? 'some' : null},
      warnings.length + reductions.length ? `⚠ ${count(warnings.length + reductions.length, 'warning')}` : 'No warnings'),
    el('div', {class: 'panel'}, warnings.length ? list(warnings) : el('p', {}, 'The run printed no note.'),
      el('p', {class: 'small'}, reductions.length ? 'What this report leaves out or sums up:' : 'This report leaves nothing out.'),
      reductions.length ? list(reductions) : null))];
}
