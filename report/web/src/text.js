// Text of the page. Names come from files that others wrote: they reach the page only as text nodes, attributes and
// pixels of a canvas, and never as HTML.

// Characters that break lines, change the direction of text or cannot be seen.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

// A name as one line of visible text of at most `limit` characters.
export function shown(name, limit = 60) {
  const letters = Array.from(String(name).slice(0, 4 * limit));
  const cut = letters.length > limit ? letters.slice(0, limit - 1).join('') + '…' : letters.join('');
  return cut.replace(UNSEEN, (c) => '\\u' + c.codePointAt(0).toString(16).padStart(4, '0'));
}

// A longer text, on any number of lines.
export const shownLines = (text) => String(text).split('\n').map((line) => shown(line, 2000)).join('\n');

// A number stays on the line of its percent sign.
export const whole = (text) => text.replace(/(\d) %/g, '$1\u00a0%');

// A new element. Attributes that begin with "on" are listeners; children are nodes or text; null is left out.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(typeof child === 'string' && tag !== 'pre' ? whole(child) : child);
  }
  return node;
}

const isNumber = (x) => typeof x === 'number' && Number.isFinite(x);

// A number with about `digits` significant digits and thin spaces between thousands; '–' if there is none.
export function number(x, digits = 3) {
  if (!isNumber(x)) return '–';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1e15 || size < 1e-6) return x.toExponential(digits - 1).replace(/-/g, '−');
  const decimals = Number.isInteger(x) && size < 10 ** digits ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(size) + 1e-12));
  const text = x.toFixed(Math.min(decimals, 12));
  const [whole, part] = text.split('.');
  const grouped = whole.replace('-', '−').replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
  return part === undefined ? grouped : `${grouped}.${part}`;
}

// A round number, as of an axis: without zeros at its end.
export function plain(x) {
  const [whole, part] = String(Number(x.toPrecision(9))).replace('-', '−').split('.');
  return `${/e/.test(whole) ? whole : whole.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f')}${part === undefined ? '' : `.${part}`}`;
}

const TIMES = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's'], [1e-3, 'ms']];

// {factor, unit}: how to show values of this unit whose largest size is `most`.
export function scale(unit, percent, most) {
  if (percent) return {factor: 100, unit: '%'};
  if (unit === 's') {
    for (const [seconds, name] of TIMES) {
      if (most >= 3 * seconds || (name === 's' && most >= 1)) return {factor: 1 / seconds, unit: name};
    }
    return {factor: 1, unit: 's'};
  }
  return {factor: 1, unit: unit === '1' || unit === '' ? '' : unit};
}

export function scaleOf(metric, values) {
  const sizes = values.filter(isNumber).map(Math.abs);
  return scale(metric.unit, metric.percent, sizes.length ? Math.max(...sizes) : 0);
}

// A duration or instant in words: "3 h 12 min".
export function duration(seconds) {
  if (!isNumber(seconds)) return '–';
  const sign = seconds < 0 ? '−' : '';
  const size = Math.abs(seconds);
  if (size < 59.95) return `${sign}${number(size)} s`;
  // Two units; the smaller one is rounded, and left out if it is zero.
  for (const [large, small, below, name, rest] of [[60, 1, 3600, 'min', 's'], [3600, 60, 86400, 'h', 'min'], [86400, 3600, Infinity, 'd', 'h']]) {
    const parts = Math.round(size / small);
    if (parts * small >= below) continue;
    const left = parts % (large / small);
    return `${sign}${number(Math.floor(parts * small / large), 15)} ${name}${left ? ` ${left} ${rest}` : ''}`;
  }
  return '–';
}

export function percent(share, digits = 2) {
  if (!isNumber(share)) return '–';
  if (share > 0 && share < 0.001) return '< 0.1 %';
  return `${number(100 * share, share >= 0.9995 ? 3 : digits)} %`;
}

// "a, b and c"
export function listed(words) {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}

export const count = (n, noun) => `${number(n, 15)} ${noun}${n === 1 ? '' : 's'}`;

const NAMES = {
  jct_s: 'mean completion time', jct_p50_s: 'median completion time', jct_p95_s: '95th-percentile completion time',
  jct_p99_s: '99th-percentile completion time', queue_s: 'mean queueing delay', queue_p50_s: 'median queueing delay',
  queue_p95_s: '95th-percentile queueing delay', queue_p99_s: '99th-percentile queueing delay',
  isd: 'mean individual slowdown (ISD)', isd_max: 'largest ISD', ps: 'mean packing saving (PS)',
  ps_total: 'total packing saving', makespan_s: 'makespan', stretch: 'mean stretch', stretch_p50: 'median stretch',
  stretch_p95: '95th-percentile stretch', stretch_p99: '99th-percentile stretch', jain: "Jain's fairness of stretch",
  last_end_s: 'last end', gpu_util: 'GPU utilisation', mem_util: 'memory utilisation', occupancy: 'GPU occupancy',
  entropy_isd: 'entropy of ISD', entropy_ps: 'entropy of PS', oom: 'out-of-memory failures', failed: 'jobs given up',
  profiling_s: 'profiling time of a job', jobs: 'finished jobs', isd_reference: 'ISD against the reference GPU',
  rho: 'mean finish-time fairness (rho)', rho_max: 'largest finish-time fairness (rho)',
  rho_above_1: 'share of jobs with rho above 1',
};
const SHORT = {
  jct_s: 'Completion time', queue_s: 'Queueing delay', isd: 'ISD', ps: 'PS', makespan_s: 'Makespan',
  stretch: 'Stretch', jain: 'Fairness', gpu_util: 'GPU utilisation', oom: 'Out of memory', ps_total: 'PS, total',
  jct_p99_s: 'Completion, p99', queue_p99_s: 'Queueing, p99', jct_p95_s: 'Completion, p95',
  queue_p95_s: 'Queueing, p95', isd_max: 'ISD, largest', occupancy: 'Occupancy', failed: 'Given up',
  rho: 'Rho', rho_max: 'Rho, largest', rho_above_1: 'Rho above 1',
};
export const metricName = (metric) => NAMES[metric.name] ?? metric.name;
export const metricShort = (metric) => SHORT[metric.name] ?? metricName(metric);
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// "seeds 1 to 20", of the replications of a run or of each point of a sweep.
export function seedsOf(data) {
  const replications = data.kind === 'sweep' ? data.sweep.replications : data.source.replications;
  if (!(replications > 1)) return `seed ${data.source.seed}`;
  return `seeds ${data.source.seed} to ${BigInt(data.source.seed) + BigInt(replications - 1)}`;
}
