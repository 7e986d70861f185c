// Which job was on which GPU when: the timeline with its policy, filters, legend and hover.
import {choice, plainTable, seriesNames} from '../charts.js';
import {ENDS, KINDS, unpack} from '../data.js';
import {count, duration, el, number, percent, shown} from '../text.js';
import {SEQUENTIAL, current, onTheme} from '../theme.js';
import {Bars, Density} from '../timeline/bars.js';
import {TimelineCanvas} from '../timeline/canvas.js';
import {abgr, mix} from '../timeline/raster.js';
import {section} from './section.js';

const MODES = [['isd', 'slowdown (ISD)'], ['shared', 'alone or shared'], ['cluster', 'profile cluster'], ['end', 'how it ended']];
const MOST = 1;             // ISD of the last colour
const UNKNOWN = 120;
const DIM = 128;

export function timeline(data) {
  const source = data.timeline;
  if (!source || !source.policies.some(Boolean)) return null;
  const names = seriesNames(data.policies.map((p) => p.label));
  const clusters = source.clusters ? unpack(source.clusters, 'i16') : null;
  const submit = source.submit ? unpack(source.submit, 'f64') : null;
  const gpus = source.gpus;
  const jobName = (job) => (source.names ? shown(source.names[job], 60) : `job ${job}`);
  const several = new Set(gpus.node).size > 1 && gpus.index.some((i) => i > 0);
  const owner = (gpu) => (gpus.owner ? gpus.owner[gpu] : '');
  const gpuName = (gpu) => `GPU ${gpu}${several ? ` (node ${gpus.node[gpu]}, GPU ${gpus.index[gpu]} of it)` : ''}, ${shown(data.gpu_types[gpus.type[gpu]]?.type ?? '', 30)}` +
    (owner(gpu) ? `, virtual cluster ${shown(owner(gpu), 30)}` : '');
  const decoded = new Map();
  let policy = source.policies.findIndex(Boolean);
  let mode = 'isd';
  let jobFilter = '';
  let gpuFilter = '';

  const canvas = el('canvas', {tabindex: '0', role: 'application', 'aria-roledescription': 'timeline',
    'aria-label': 'Timeline of jobs on GPUs. Arrow keys move, plus and minus zoom, 0 shows all. The table below lists the jobs in sight.'});
  const overview = el('canvas', {class: 'overview', 'aria-hidden': 'true'});
  const tip = el('div', {class: 'tip', role: 'status', hidden: true});
  const host = el('div', {class: 'timeline'}, canvas, tip);
  const legend = el('div', {class: 'legend'});
  const state = el('p', {class: 'small', 'aria-live': 'polite'});
  const body = el('div', {class: 'scroll tall'});
  const details = el('details', {class: 'numbers', ontoggle: () => details.open && fill()}, el('summary', {}, 'Jobs in sight as a table'), body);

  const picture = new TimelineCanvas(host, canvas, {hovered, moved,
    rowLabel: (row) => {
      const now = bars();
      if (now instanceof Density) return now.rows[row][0] === now.rows[row][1] ? `${now.rows[row][0]}` : `${now.rows[row][0]}–${now.rows[row][1]}`;
      return several ? `${gpus.node[row]}.${gpus.index[row]}` : `GPU ${row}`;
    },
    barLabel: (bar) => jobName(bars().job[bar])});

  function bars() {
    if (!decoded.has(policy)) {
      const packed = source.policies[policy];
      decoded.set(policy, packed.mode === 'bars' ? new Bars(packed, source) : new Density(packed));
    }
    return decoded.get(policy);
  }

  // Colours: 0 to 119 of the mode, UNKNOWN, and the same dimmed from DIM on.
  function paint(now) {
    const t = current();
    const palette = new Uint32Array(256);
    const set = (i, hex) => {
      palette[i] = abgr(hex);
      palette[i + DIM] = mix(abgr(t.panel), abgr(hex), 0.16);
    };
    set(UNKNOWN, t.dark ? '#6b7785' : '#a3adb8');
    const ramp = SEQUENTIAL;
    if (now instanceof Density) {
      set(0, t.series[0]);
    } else if (mode === 'isd') {
      for (let i = 0; i < 64; ++i) set(i, rampAt(ramp, i / 63));
    } else {
      for (let i = 0; i < 120; ++i) set(i, t.series[i % t.series.length]);
    }
    return palette;
  }

  function recolour(now) {
    if (now instanceof Density) return -1;
    const wanted = matching();
    let found = 0;
    const t = current();
    const shared = mode === 'shared' ? sharedBars(now) : null;
    for (let i = 0; i < now.count; ++i) {
      const job = now.job[i];
      const end = now.kind[i] >> 2;
      let c = UNKNOWN;
      if (mode === 'isd') {
        const isd = now.isd[job];
        if (end === 0 && isd === isd) c = Math.max(0, Math.min(63, Math.round(63 * isd / MOST)));
      } else if (mode === 'shared') c = shared[i];
      else if (mode === 'cluster') c = clusters && clusters[job] >= 0 ? clusters[job] % t.series.length : UNKNOWN;
      else c = end === 0 ? 0 : end === 5 ? 2 : end === 4 ? UNKNOWN : end === 1 ? 4 : end === 2 ? 1 : 3;
      if (wanted && !wanted.has(job)) c += DIM;
      else ++found;
      now.colour[i] = c;
    }
    return wanted ? found : -1;
  }

  // Jobs that the filter names; null: no filter.
  function matching() {
    const text = jobFilter.trim().toLowerCase();
    if (!text) return null;
    const wanted = new Set();
    if (source.names) {
      source.names.forEach((name, job) => {
        if (shown(name, 200).toLowerCase().includes(text)) wanted.add(job);
      });
    } else if (/^\d+$/.test(text)) wanted.add(Number(text));
    return wanted;
  }

  // "0-3, 7" or part of the name of a type or virtual cluster.
  function rows() {
    const now = bars();
    if (now instanceof Density) return now.rows.map((_, row) => row);
    const all = gpus.node.map((_, gpu) => gpu);
    const text = gpuFilter.trim().toLowerCase();
    if (!text) return all;
    if (/^[\d\s,-]+$/.test(text)) {
      const kept = new Set();
      for (const part of text.split(',').map((p) => p.trim()).filter(Boolean)) {
        const [from, to] = part.split('-').map((p) => parseInt(p, 10));
        for (let gpu = from; gpu <= (Number.isNaN(to) || to === undefined ? from : Math.min(to, all.length - 1)); ++gpu) kept.add(gpu);
      }
      return all.filter((gpu) => kept.has(gpu));
    }
    return all.filter((gpu) => `${data.gpu_types[gpus.type[gpu]]?.type ?? ''}\n${shown(owner(gpu), 200)}`.toLowerCase().includes(text));
  }

  function show(keep) {
    const now = bars();
    const found = recolour(now);
    picture.show({bars: now, span: source.span, rows: rows(), palette: paint(now), keep});
    drawLegend(now);
    const words = now instanceof Density ? ['Too many jobs for single bars: shades say how busy groups of GPUs are.']
      : [`${count(now.count, 'bar')} on ${count(picture.rows.length, 'GPU')}.`];
    if (found >= 0) words.push(`${count(found, 'bar')} match${found === 1 ? 'es' : ''} the filter.`);
    state.replaceChildren(words.join(' '));
  }

  function drawLegend(now) {
    const t = current();
    const patch = (hex, text) => {
      const dot = el('i', {class: 'swatch'});
      dot.style.background = hex;
      return el('span', {}, dot, text);
    };
    const grey = t.dark ? '#6b7785' : '#a3adb8';
    const items = [];
    if (now instanceof Density) items.push(patch(t.series[0], 'all GPUs of the group busy'));
    else if (mode === 'isd') {
      const ramp = SEQUENTIAL;
      const strip = el('i', {class: 'ramp'});
      strip.style.background = `linear-gradient(90deg, ${ramp.join(', ')})`;
      items.push(el('span', {}, 'ISD 0 %', strip, '100 % and more'), patch(grey, 'none'));
    } else if (mode === 'shared') items.push(patch(t.series[0], 'alone'), patch(t.series[1], 'with another job, for a part at least'));
    else if (mode === 'cluster') {
      const used = clusters ? [...new Set(clusters)].filter((k) => k >= 0).sort((a, b) => a - b) : [];
      items.push(...used.slice(0, 12).map((k) => patch(t.series[k % t.series.length], `cluster ${k}`)), patch(grey, 'no profile'));
    } else {
      items.push(patch(t.series[0], 'finished'), patch(t.series[4], 'preempted'), patch(t.series[1], 'out of memory'), patch(t.series[3], 'given up'),
        patch(t.series[2], 'probe or profiling'), patch(grey, 'beyond the record'));
    }
    legend.replaceChildren(...items);
  }

  function hovered(at, x, y) {
    const now = bars();
    if (!at || (at.bar < 0 && !(now instanceof Density))) {
      tip.hidden = true;
      return;
    }
    const lines = now instanceof Density ? densityLines(now, at) : barLines(now, at.bar);
    if (!lines) {
      tip.hidden = true;
      return;
    }
    tip.replaceChildren(el('b', {}, el('bdi', {}, lines[0])), ...lines.slice(1).map((line) => el('div', {}, el('bdi', {}, line))));
    tip.hidden = false;
    const width = tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(x + 14, host.clientWidth - width - 4))}px`;
    tip.style.top = `${y + 18}px`;
  }

  function barLines(now, bar) {
    const job = now.job[bar];
    const gpu = now.laneGpu[now.laneOf(bar)];
    const start = now.seconds(now.start[bar]);
    const end = now.seconds(now.end[bar]);
    const kind = now.kind[bar];
    const isd = now.isd[job];
    const others = now.onGpu(gpu, now.start[bar], now.end[bar]).filter((i) => i !== bar).map((i) => jobName(now.job[i]));
    return [jobName(job), gpuName(gpu), `${duration(start)} to ${duration(end)}: ${duration(end - start)}`,
      `${KINDS[kind & 3]}, ${ENDS[kind >> 2]}${isd === isd ? `; ISD ${percent(isd, 3)}` : ''}`,
      submit && submit[job] === submit[job] ? `submitted ${duration(submit[job])}` : null,
      clusters && clusters[job] >= 0 ? `profile cluster ${clusters[job]}` : null,
      others.length ? `beside ${[...new Set(others)].slice(0, 4).join(', ')}${others.length > 4 ? ` and ${others.length - 4} more` : ''}` : 'alone']
      .filter(Boolean);
  }

  function densityLines(now, at) {
    if (at.row < 0) return null;
    const share = (at.time - source.span[0]) / (source.span[1] - source.span[0]);
    const bin = Math.min(now.bins - 1, Math.max(0, Math.floor(share * now.bins)));
    const row = picture.rows[at.row];
    const [from, to] = now.rows[row];
    return [from === to ? `GPU ${from}` : `GPUs ${from} to ${to}`, `at ${duration(at.time)}: ${percent(now.values[row * now.bins + bin] / 255)} busy`];
  }

  function moved() {
    drawOverview();
    if (details.open) fillSoon();
  }

  // The whole span, and the part that is in sight.
  function drawOverview() {
    const t = current();
    const now = bars();
    const ratio = picture.ratio;
    const width = picture.width;
    if (overview.width !== Math.round(width * ratio)) {
      overview.width = Math.round(width * ratio);
      overview.height = Math.round(30 * ratio);
      overview.style.width = `${width}px`;
    }
    const c = overview.getContext('2d');
    const left = picture.left;
    const bins = Math.max(10, Math.floor((width - left) / 2));
    if (now.busyBins !== bins) {
      now.busyBins = bins;
      now.busyShares = now.busy(bins, gpus.node.length);
    }
    const most = Math.max(1, ...now.busyShares);
    c.save();
    c.scale(ratio, ratio);
    c.clearRect(0, 0, width, 30);
    c.fillStyle = t.muted;
    c.globalAlpha = 0.55;
    now.busyShares.forEach((share, bin) => {
      const h = 26 * share / most;
      c.fillRect(left + bin * (width - left) / bins, 28 - h, (width - left) / bins, h);
    });
    const at = (seconds) => left + (seconds - source.span[0]) * (width - left) / (source.span[1] - source.span[0]);
    const [x0, x1] = [at(picture.view[0]), at(picture.view[1])];
    c.globalAlpha = 1;
    c.strokeStyle = t.series[0];
    c.lineWidth = 2;
    c.strokeRect(x0 + 1, 1, Math.max(3, x1 - x0 - 2), 28);
    c.restore();
  }
  const jump = (event) => {
    if (event.buttons !== 1) return;
    const x = event.clientX - overview.getBoundingClientRect().left;
    const share = (x - picture.left) / (picture.width - picture.left);
    const centre = source.span[0] + share * (source.span[1] - source.span[0]);
    const half = (picture.view[1] - picture.view[0]) / 2;
    picture.moveTo(centre - half, centre + half);
  };
  overview.addEventListener('pointerdown', jump);
  overview.addEventListener('pointermove', jump);

  let waiting = 0;
  function fillSoon() {
    clearTimeout(waiting);
    waiting = setTimeout(fill, 200);
  }

  function fill() {
    const now = bars();
    if (now instanceof Density) {
      body.replaceChildren(el('p', {}, 'There are no single jobs in this view.'));
      return;
    }
    const list = [];
    const [from, to] = picture.view.map((seconds) => now.ticks(seconds));
    for (const gpu of picture.rows) {
      for (const bar of now.onGpu(gpu, from, to)) {
        if (now.colour[bar] < DIM) list.push([bar, gpu]);
        if (list.length >= 500) break;
      }
    }
    list.length = Math.min(list.length, 500);
    list.sort((a, b) => now.start[a[0]] - now.start[b[0]]);
    body.replaceChildren(plainTable(['Job', 'GPU', 'Start', 'End', 'What', 'ISD'], list.map(([bar, gpu]) => [jobName(now.job[bar]), `${gpu}`,
      duration(now.seconds(now.start[bar])), duration(now.seconds(now.end[bar])), `${KINDS[now.kind[bar] & 3]}, ${ENDS[now.kind[bar] >> 2]}`,
      percent(Number.isNaN(now.isd[now.job[bar]]) ? null : now.isd[now.job[bar]], 3)])),
    list.length === 500 ? el('p', {class: 'small'}, 'The first 500; zoom in for others.') : '');
  }

  const button = (text, label, act) => el('button', {type: 'button', 'aria-label': label, title: label, onclick: act}, text);
  const field = (label, hint, changed) => {
    const input = el('input', {type: 'search', placeholder: hint, autocomplete: 'off', spellcheck: 'false', oninput: () => changed(input.value)});
    return el('label', {}, el('span', {}, label), input);
  };
  const modes = MODES.filter(([key]) => key !== 'cluster' || (clusters && clusters.some((k) => k >= 0)));
  const node = section('timeline', 'Timeline', 'Timeline of GPU occupancy',
    `${data.kind === 'live' ? 'As measured' : 'The first replication'}. A row is a GPU${several ? ', named NODE.GPU' : ''}; jobs that share it lie below each other. Drag to move; click, then turn the wheel, to zoom; or use the buttons and keys.`,
    el('div', {class: 'controls'},
      choice('Policy', data.policies.map((_, p) => [p, names[p]]).filter(([p]) => source.policies[p]), policy, (value) => {
        policy = Number(value);
        show(true);
      }),
      choice('Colour', modes, mode, (value) => {
        mode = value;
        show(true);
      }),
      field('Job', source.names ? 'part of a name' : 'number', (value) => {
        jobFilter = value;
        show(true);
      }),
      field('GPU', gpus.owner ? '0-3, type, cluster' : '0-3, 7 or a type', (value) => {
        gpuFilter = value;
        show(true);
      }),
      el('span', {class: 'buttons'}, button('+', 'Zoom in', () => picture.zoom(1.6)), button('−', 'Zoom out', () => picture.zoom(1 / 1.6)),
        button('All', 'Show all', () => picture.whole()))),
    legend, host, overview, state, details);
  node.classList.add('panel');
  new ResizeObserver(() => {
    if (host.clientWidth !== picture.width && !document.documentElement.classList.contains('paper')) picture.fit();
  }).observe(host);
  onTheme(() => {
    if (picture.bars) show(true);
  });
  addEventListener('beforeprint', () => picture.fit(680));
  addEventListener('afterprint', () => picture.fit());
  // After the node is in the page and has a width.
  queueMicrotask(() => show(false));
  return node;
}

function sharedBars(now) {
  const shared = new Uint8Array(now.count);
  for (const lanes of now.lanesOf.values()) {
    for (const lane of lanes) {
      for (const other of lanes) {
        if (other === lane) continue;
        let j = now.first[other];
        for (let i = now.first[lane]; i < now.first[lane + 1]; ++i) {
          while (j < now.first[other + 1] && now.end[j] <= now.start[i]) ++j;
          if (j < now.first[other + 1] && now.start[j] < now.end[i]) shared[i] = 1;
        }
      }
    }
  }
  return shared;
}

// A colour of the ramp at 0 to 1.
function rampAt(ramp, x) {
  const at = x * (ramp.length - 1);
  const i = Math.min(ramp.length - 2, Math.floor(at));
  const part = (n) => {
    const a = parseInt(ramp[i].slice(n, n + 2), 16);
    const b = parseInt(ramp[i + 1].slice(n, n + 2), 16);
    return Math.round(a + (b - a) * (at - i)).toString(16).padStart(2, '0');
  };
  return `#${part(1)}${part(3)}${part(5)}`;
}
