// Light and dark, and how policies look. The nine colours of a theme begin with those of Okabe and Ito (2008); the others
// were chosen so that readers with any colour vision tell all nine apart. The tenth policy has the first colour again,
// with dashes and another mark: no two of 36 policies look the same.

const LIGHT = {
  dark: false, text: '#1c2430', muted: '#5a6675', line: '#d5dbe3', panel: '#ffffff', page: '#f4f6f9',
  series: ['#0072b2', '#d55e00', '#009e73', '#c774ab', '#262626', '#6f95f5', '#8a1022', '#2a1580', '#8f8f8f'],
};
const DARK = {
  dark: true, text: '#e6ebf2', muted: '#9aa7b8', line: '#35404e', panel: '#171d26', page: '#0f141b',
  series: ['#3fa0e0', '#f07b3f', '#2bc59a', '#e9a3cf', '#ffffff', '#6c5ce7', '#c8453b', '#f5e663', '#8a94a0'],
};
const DASHES = ['solid', [7, 4], [2, 3], [10, 3, 2, 3]];
// Marks of policies, as paths of a box of 12 by 12.
const MARKS = [
  'M6 .5A5.5 5.5 0 1 1 5.99 .5Z', 'M1.2 1.2H10.8V10.8H1.2Z', 'M6 .6L11.6 11H.4Z', 'M6 0L12 6L6 12L0 6Z', 'M.4 1H11.6L6 11.4Z',
  'M4.2 .5H7.8V4.2H11.5V7.8H7.8V11.5H4.2V7.8H.5V4.2H4.2Z', 'M.6 .6H11.4L7.2 6L11.4 11.4H.6L4.8 6Z',
  'M2.4 0L6 3.6L9.6 0L12 2.4L8.4 6L12 9.6L9.6 12L6 8.4L2.4 12L0 9.6L3.6 6L0 2.4Z', 'M6 0L7.6 4.2L12 4.5L8.6 7.3L9.7 11.7L6 9.2L2.3 11.7L3.4 7.3L0 4.5L4.4 4.2Z',
];

// From low to high in both themes: cividis-like, readable by all, and with rising lightness in print.
export const SEQUENTIAL = ['#264f92', '#476691', '#69798b', '#8c8d80', '#b2a26a', '#d4b44e', '#f2c72e'];
// Below, about and above zero.
export const DIVERGING = ['#0072b2', '#8fc1e3', '#f2f2f2', '#f0b08a', '#d55e00'];

const listeners = [];
let theme = LIGHT;
let printing = false;
let chosen = null;

function system() {
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

function apply() {
  const name = printing ? 'light' : (chosen ?? system());
  document.documentElement.dataset.theme = name;
  const next = name === 'dark' ? DARK : LIGHT;
  if (next === theme && apply.done) return;
  apply.done = true;
  theme = next;
  theme.series.forEach((hex, i) => document.documentElement.style.setProperty(`--series-${i}`, hex));
  for (const listener of listeners) listener(theme);
}

export const current = () => theme;
export const onTheme = (listener) => listeners.push(listener);

export function startTheme() {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
  apply();
}

export function switchTheme() {
  chosen = theme.dark ? 'light' : 'dark';
  apply();
}

// Paper is white.
export function setPrinting(on) {
  printing = on;
  apply();
}

export const colour = (i) => theme.series[i % theme.series.length];
// The same for an element of the page, in both themes.
export const styleColour = (i) => `var(--series-${i % theme.series.length})`;
export const dash = (i) => DASHES[Math.floor(i / theme.series.length) % DASHES.length];
export const mark = (i) => MARKS[(i + Math.floor(i / theme.series.length)) % MARKS.length];
export const symbol = (i) => `path://${mark(i)}`;
