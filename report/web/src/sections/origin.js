// Where the numbers come from: program, seed, checksums, effective configuration.
import {capital, el, seedsOf, shown, shownLines} from '../text.js';
import {section} from './section.js';

// A longer configuration, as of a sweep of many points, is cut on paper.
const PAPER_LINES = 150;

export function origin(data) {
  const s = data.source;
  const facts = [
    ['Results file', shown(s.file, 200)], ['SHA-256 of the file', s.sha256], ['Program', `corun ${s.corun}, commit ${s.commit}`],
    [data.kind === 'live' ? 'Seed of the prediction' : 'Seeds', `${capital(seedsOf(data))}${data.kind === 'live' ? '' : ', one a replication'}${s.complete ? '' : '; not all that were asked for'}`],
    data.kind === 'live' ? null : ['Date', 'Not kept, so that equal runs give equal bytes. The run file beside the results has it.'],
    s.measured_on ? ['Measured on', shown(s.measured_on, 200)] : null,
  ].filter(Boolean);
  const lines = s.config.split('\n').length;
  const repeats = data.kind === 'live' ? 'corun replay on the configuration below repeats the prediction, not the measurement.'
    : `The same configuration, inputs and seed give the same results, byte by byte. corun ${data.kind} on the configuration below repeats the run.`;
  return section('origin', 'Origin', 'Where the numbers come from', repeats,
    el('dl', {}, facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, el('bdi', {}, value))])),
    el('h3', {}, 'Input files'),
    s.inputs.length ? el('ul', {class: 'sums'}, s.inputs.map((text) => el('li', {}, el('bdi', {}, shown(text, 1000)))))
      : el('p', {}, 'None: the data come with corun.'),
    el('h3', {}, 'Effective configuration'),
    el('pre', {tabindex: '0', class: lines > PAPER_LINES ? 'long' : null}, shownLines(s.config)),
    lines > PAPER_LINES ? el('p', {class: 'small on-paper'}, `The page has all ${lines} lines of the configuration, paper the first.`) : null);
}
