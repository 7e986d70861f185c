// A section of the page.
import {el} from '../text.js';

export function section(id, short, title, lead, ...children) {
  return el('section', {id, 'data-short': short, 'aria-labelledby': `${id}-title`},
    el('h2', {id: `${id}-title`}, title), lead ? el('p', {class: 'lead'}, lead) : null, ...children);
}
