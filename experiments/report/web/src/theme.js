// Light and dark. Colours of policies are those of Okabe and Ito (2008), which readers with any colour vision tell
// apart, without yellow, which is too pale on white. The eighth policy has the first colour again, with dashes.

const LIGHT = {
  dark: false, text: '#1c2430', muted: '#5a6675', line: '#d5dbe3', panel: '#ffffff', page: '#f4f6f9',
  series: ['#0072b2', '#d55e00', '#009e73', '#b65a94', '#c78500', '#2a93d0', '#3d3d3d'],
};
const DARK = {
  dark: true, text: '#e6ebf2', muted: '#9aa7b8', line: '#35404e', panel: '#171d26', page: '#0f141b',
  series: ['#3fa0e0', '#f07b3f', '#2bc59a', '#dc8fc0', '#e69f00', '#8fd0f7', '#d9d9d9'],
};
const DASHES = ['solid', [7, 4], [2, 3]];
const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'roundRect', 'pin', 'arrow'];

// From low to high: cividis-like, readable by all, and with rising lightness in print.
export const SEQUENTIAL = ['#00306f', '#2c4a6e', '#56646f', '#7b7d78', '#a39a76', '#cdb96b', '#f5dc4e'];
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
  for (const listener of listeners) listener(theme);
}

export const current = () => theme;
export const onPaper = () => printing;
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
export const dash = (i) => DASHES[Math.floor(i / theme.series.length) % DASHES.length];
export const symbol = (i) => SYMBOLS[i % SYMBOLS.length];
