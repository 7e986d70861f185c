// The strip that stays in sight: how much of the numbers was measured, and warnings.
import {count, el, percent, shownLines, shown} from '../text.js';

const PARTS = [
  ['measured', 'measured', 'the cost of the co-run was measured'],
  ['modelled', 'modelled', 'an interference model within its fitted range'],
  ['extrapolated', 'extrapolated', 'a GPU type or a sharing mode that was not measured'],
];

export function always(data) {
  const nodes = [];
  const c = data.coverage;
  const total = c ? c.measured + c.modelled + c.extrapolated : 0;
  if (data.kind === 'live') {
    nodes.push(el('p', {class: 'coverage'}, el('b', {}, `Measured on ${shown(data.source.measured_on || 'a GPU')}`)));
  } else if (total > 0) {
    const bar = el('span', {class: 'bar', 'aria-hidden': 'true'});
    const words = [];
    for (const [key, text, why] of PARTS) {
      const part = el('i', {class: key});
      part.style.width = `${100 * c[key]}%`;
      bar.append(part);
      words.push(el('span', {class: 'part', title: why}, el('i', {class: `dot ${key}`}), `${percent(c[key])} ${text}`));
    }
    nodes.push(el('p', {class: 'coverage'}, el('b', {}, 'Cost of co-runs'), bar, ...words));
  } else {
    nodes.push(el('p', {class: 'coverage'}, el('b', {}, 'No job shared a GPU: nothing was measured or modelled.')));
  }
  const warnings = [...data.warnings, ...data.reductions];
  if (!data.source.complete) warnings.unshift('The run was interrupted: the file has only what was finished.');
  nodes.push(el('details', {class: 'warnings', id: 'warnings'},
    el('summary', {class: warnings.length ? 'some' : null},
      warnings.length ? `⚠ ${count(warnings.length, 'warning')}` : 'No warnings'),
    warnings.length ? el('ul', {}, warnings.map((text) => el('li', {}, shownLines(text))))
      : el('p', {}, 'The run printed no note, and this report leaves nothing out.')));
  return nodes;
}
