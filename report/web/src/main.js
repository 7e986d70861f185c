// The page: sections from the data, the strip that is always in sight, theme and print.
import {prepareCharts} from './charts.js';
import {readData} from './data.js';
import {always} from './sections/always.js';
import {answer} from './sections/answer.js';
import {distributions} from './sections/distributions.js';
import {groups} from './sections/groups.js';
import {live} from './sections/live.js';
import {origin} from './sections/origin.js';
import {overTime} from './sections/over_time.js';
import {policies} from './sections/policies.js';
import {services} from './sections/services.js';
import {sharing} from './sections/sharing.js';
import {sweep} from './sections/sweep.js';
import {timeline} from './sections/timeline.js';
import {validation} from './sections/validation.js';
import {el, seedsOf, shown} from './text.js';
import {setPrinting, startTheme, switchTheme} from './theme.js';

const KINDS = {replay: 'Replay', live: 'Live run', sweep: 'Sweep', validation: 'Validation'};

function build(data) {
  const parts = data.kind === 'validation' ? [validation] : (data.kind === 'sweep' ? [sweep]
    : [answer, policies, live, timeline, overTime, services, distributions, groups, sharing]).concat(origin);
  const sections = parts.flatMap((part) => part(data)).filter(Boolean);
  const s = data.source;
  const title = `${KINDS[data.kind]} of ${shown(s.workload || s.file, 80)}`;
  const facts = [data.kind === 'validation' ? null : shown(s.file, 80), data.kind === 'live' ? `measured on ${shown(s.measured_on, 60)}` : seedsOf(data),
    `corun ${shown(s.corun, 30)}, commit ${shown(s.commit, 30)}`].filter((fact) => fact !== null);
  document.title = `${title} – corun report`;
  document.getElementById('top').append(
    el('div', {class: 'title'}, el('p', {class: 'brand'}, 'corun report'), el('h1', {}, el('bdi', {}, title)),
      el('p', {class: 'facts'}, facts.map((text) => el('bdi', {}, text)))),
    el('button', {type: 'button', id: 'theme', onclick: switchTheme, 'aria-label': 'Switch between light and dark'},
      'Light / dark'),
    el('nav', {'aria-label': 'Sections'}, sections.map((section) =>
      el('a', {href: `#${section.id}`}, section.dataset.short))));
  if (data.kind !== 'validation') document.getElementById('always').append(...always(data));
  document.getElementById('main').append(...sections);
}

startTheme();
try {
  build(readData(document));
} catch (error) {
  document.getElementById('main').append(el('p', {class: 'broken'}, `The data of this page cannot be read: ${error.message}`));
  throw error;
}

let printing = false;
function paper(on) {
  if (on === printing) return;
  printing = on;
  setPrinting(on);
  document.documentElement.classList.toggle('paper', on);
  prepareCharts(on);
}
addEventListener('beforeprint', () => paper(true));
addEventListener('afterprint', () => paper(false));
matchMedia('print').addEventListener('change', (event) => paper(event.matches));
