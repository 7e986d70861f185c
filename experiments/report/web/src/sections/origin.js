// Where the numbers come from: program, seed, checksums, effective configuration.
import {count, el, number, shown, shownLines} from '../text.js';
import {section} from './section.js';

export function origin(data) {
  const s = data.source;
  const facts = [
    ['Results file', shown(s.file, 200)], ['SHA-256 of the file', s.sha256], ['Program', `corun ${s.corun}, commit ${s.commit}`],
    ['Seed of the first replication', number(Number(s.seed), 15)], ['Replications', `${count(s.replications, 'replication')}${s.complete ? '' : ', not all that were asked for'}`],
    s.measured_on ? ['Measured on', shown(s.measured_on, 200)] : null,
  ].filter(Boolean);
  return section('origin', 'Origin', 'Where the numbers come from',
    'The same configuration, inputs and seed give the same results, byte by byte. corun replay (or sweep) on the configuration below repeats the run.',
    el('dl', {}, facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, el('bdi', {}, value))])),
    el('h3', {}, 'Input files'),
    s.inputs.length ? el('ul', {class: 'sums'}, s.inputs.map((text) => el('li', {}, el('bdi', {}, shown(text, 1000)))))
      : el('p', {}, 'None: the data come with corun.'),
    el('h3', {}, 'Effective configuration'),
    el('pre', {tabindex: '0'}, shownLines(s.config)));
}
