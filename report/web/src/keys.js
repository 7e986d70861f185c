// What tells a policy from others on the page: its colour, its dashes and its mark, as a small picture beside its name.
import {el} from './text.js';
import {dash, mark, styleColour} from './theme.js';

const SVG = 'http://www.w3.org/2000/svg';

function drawn(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// The mark of policy i; with `line`, on a line with its dashes.
export function keyPicture(i, line) {
  const shape = drawn('path', {d: mark(i), transform: line ? 'translate(10.5 1.5) scale(.75)' : 'translate(1 0)'});
  shape.style.fill = styleColour(i);
  const picture = drawn('svg', {class: 'key', width: line ? 30 : 14, height: 12, viewBox: `0 0 ${line ? 30 : 14} 12`, 'aria-hidden': 'true'}, shape);
  if (!line) return picture;
  const dashes = dash(i);
  const stroke = drawn('path', {d: 'M0 6H30', 'stroke-width': 2, fill: 'none',
    ...(Array.isArray(dashes) ? {'stroke-dasharray': dashes.join(' ')} : {})});
  stroke.style.stroke = styleColour(i);
  picture.prepend(stroke);
  return picture;
}

// The legend of a figure: a button for each of `keys`, {name, i} of policy i, or {name, picture}, an element. A press
// hides it or shows it again.
//   pressed()             told after that; `hidden` of the result is the Set of names
//   over(name or null)    told when the pointer comes to one or leaves it
export function legendOf(keys, line, pressed, over) {
  const hidden = new Set();
  const node = el('div', {class: 'keys', role: 'group', 'aria-label': 'Legend: press a name to hide or show it'});
  node.append(...keys.map((key) => el('button', {type: 'button', 'aria-pressed': 'true',
    onclick: (event) => {
      if (!hidden.delete(key.name)) hidden.add(key.name);
      event.currentTarget.setAttribute('aria-pressed', hidden.has(key.name) ? 'false' : 'true');
      pressed();
    },
    onpointerenter: () => over(key.name), onpointerleave: () => over(null)},
  key.picture ?? keyPicture(key.i, line), el('bdi', {}, key.name))));
  return {node, hidden};
}
