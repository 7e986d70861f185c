// The timeline's canvas: which time and which GPUs are in sight, drawing, zoom, pan and hover. It knows nothing of
// policies and filters, which sections/timeline.js sets.
import {duration, number} from '../text.js';
import {current} from '../theme.js';
import {Density} from './bars.js';
import {abgr, drawDensity, drawLane, mix} from './raster.js';

const TOP = 26;          // axis [CSS pixels]
const LABEL_HEIGHT = 12;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000,
  864000, 2592000, 8640000, 31536000];

export class TimelineCanvas {
  // host: an element that holds the canvas; hovered(bar or null, x, y): told what is under the pointer.
  constructor(host, canvas, {hovered, moved, rowLabel, barLabel}) {
    Object.assign(this, {host, canvas, hovered, moved, rowLabel, barLabel});
    this.context = canvas.getContext('2d', {alpha: false});
    this.span = [0, 1];
    this.view = [0, 1];
    this.rows = [];        // indices of GPUs, or rows of a Density
    this.scroll = 0;       // [CSS pixels]
    this.bars = null;
    this.palette = new Uint32Array(256);
    this.marked = -1;
    this.width = 0;
    this.height = 0;
    this.pointers = new Map();
    this.asked = false;
    this.listen();
  }

  show({bars, span, rows, palette, keep}) {
    this.bars = bars;
    this.span = span;
    this.rows = rows;
    this.palette = palette;
    this.marked = -1;
    if (!keep) this.view = [...span];
    this.fit();
  }

  // Takes the width of its host (or `fixed`) and a height for its rows.
  fit(fixed) {
    const width = Math.floor(fixed ?? this.host.clientWidth);
    if (width <= 0) return;
    this.width = width;
    this.left = width < 500 ? 44 : 64;
    const rows = Math.max(1, this.rows.length);
    this.rowHeight = Math.max(3, Math.min(26, Math.floor(430 / rows)));
    this.height = TOP + Math.min(520, rows * this.rowHeight) + 2;
    this.ratio = Math.min(2, devicePixelRatio || 1);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.image = null;
    this.moveTo(this.view[0], this.view[1]);
    this.paint();
  }

  // ---- view ----------------------------------------------------------------------------------

  moveTo(from, to) {
    const whole = this.span[1] - this.span[0];
    const length = Math.min(whole, Math.max(to - from, whole * 1e-7, 1e-3));
    const begin = Math.min(Math.max(from, this.span[0]), this.span[1] - length);
    this.view = [begin, begin + length];
    const most = Math.max(0, this.rows.length * this.rowHeight - (this.height - TOP - 2));
    this.scroll = Math.min(Math.max(0, this.scroll), most);
    this.ask();
  }

  zoom(factor, x = (this.left + this.width) / 2) {
    const at = this.timeAt(x);
    this.moveTo(at - (at - this.view[0]) / factor, at + (this.view[1] - at) / factor);
  }

  pan(dx, dy) {
    this.scroll += dy;
    const seconds = dx * (this.view[1] - this.view[0]) / (this.width - this.left);
    this.moveTo(this.view[0] + seconds, this.view[1] + seconds);
  }

  whole() {
    this.scroll = 0;
    this.moveTo(...this.span);
  }

  timeAt(x) {
    return this.view[0] + (x - this.left) * (this.view[1] - this.view[0]) / (this.width - this.left);
  }

  xOf(seconds) {
    return this.left + (seconds - this.view[0]) * (this.width - this.left) / (this.view[1] - this.view[0]);
  }

  // ---- drawing -------------------------------------------------------------------------------

  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.paint();
    });
  }

  // Places of a GPU's lanes: [top, bottom) in device pixels of lane number `slot` of `slots`.
  band(row, slot, slots) {
    const top = TOP + row * this.rowHeight - this.scroll;
    const gap = this.rowHeight >= 8 ? 2 : this.rowHeight >= 4 ? 1 : 0;
    const height = this.rowHeight - gap;
    const low = TOP * this.ratio;
    const clamp = (y) => Math.max(low, Math.min(this.canvas.height, Math.round(y * this.ratio)));
    const a = top + height * slot / slots;
    const b = top + height * (slot + 1) / slots;
    const from = clamp(a);
    const to = Math.max(clamp(b), b * this.ratio > low && from < this.canvas.height ? from + 1 : from);
    return [from, Math.max(from, to - (slots > 1 && to - from > 5 ? 1 : 0))];
  }

  paint() {
    if (!this.bars || this.width === 0) return;
    const t = current();
    const {canvas, context, ratio} = this;
    if (!this.image) {
      this.image = context.createImageData(canvas.width, canvas.height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const background = abgr(t.panel);
    const stripe = mix(background, abgr(t.text), 0.045);
    this.pixels.fill(background);
    const area = {pixels: this.pixels, width: canvas.width, left: Math.round(this.left * ratio), right: canvas.width};
    const first = Math.max(0, Math.floor(this.scroll / this.rowHeight));
    const last = Math.min(this.rows.length, Math.ceil((this.scroll + this.height - TOP) / this.rowHeight));
    const labels = [];
    if (this.bars instanceof Density) this.paintDensity(first, last, area, background);
    else this.paintBars(first, last, area, stripe, labels);
    context.putImageData(this.image, 0, 0);
    context.save();
    context.scale(ratio, ratio);
    this.paintText(first, last, labels, t);
    context.restore();
    this.moved?.(this.view);
    if (!this.painted) {
      this.painted = true;
      performance.mark('timeline-drawn');
    }
  }

  paintBars(first, last, area, stripe, labels) {
    const from = this.bars.ticks(this.view[0]);
    const view = {from, perTick: (area.right - area.left) / (this.bars.ticks(this.view[1]) - from)};
    for (let row = first; row < last; ++row) {
      const lanes = this.bars.lanesOf.get(this.rows[row]) ?? [];
      const slots = Math.max(1, lanes.length);
      for (let slot = 0; slot < slots; ++slot) {
        const [y0, y1] = this.band(row, slot, slots);
        for (let y = y0; y < y1; ++y) area.pixels.fill(stripe, y * area.width + area.left, y * area.width + area.right);
        if (lanes.length === 0) continue;
        drawLane(this.bars, lanes[slot], view, area, y0, y1, this.palette, stripe);
        if ((y1 - y0) / this.ratio >= LABEL_HEIGHT - 2) this.findLabels(lanes[slot], view, y0, y1, labels);
      }
    }
  }

  // Bars that are wide enough for the name of their job.
  findLabels(lane, view, y0, y1, labels) {
    const least = 46 * this.ratio / view.perTick;
    const to = view.from + (this.width - this.left) * this.ratio / view.perTick;
    let looked = 0;
    for (let i = this.bars.firstAfter(lane, view.from); i < this.bars.first[lane + 1] && this.bars.start[i] < to; ++i) {
      if (this.bars.end[i] - this.bars.start[i] >= least && labels.length < 400) labels.push([i, y0, y1]);
      if (++looked > 400) return;
    }
  }

  paintDensity(first, last, area, background) {
    const whole = this.span[1] - this.span[0];
    const view = {from: (this.view[0] - this.span[0]) / whole, to: (this.view[1] - this.span[0]) / whole};
    const full = this.palette[0];
    if (this.shadesOf !== full + background) {
      this.shades = Uint32Array.from({length: 256}, (_, i) => mix(background, full, i === 0 ? 0 : 0.15 + 0.85 * i / 255));
      this.shadesOf = full + background;
    }
    for (let row = first; row < last; ++row) {
      const [y0, y1] = this.band(row, 0, 1);
      drawDensity(this.bars, this.rows[row], view, area, y0, y1, this.shades);
    }
  }

  paintText(first, last, labels, t) {
    const c = this.context;
    c.textBaseline = 'middle';
    c.font = '11px system-ui, sans-serif';
    // Names on bars, clipped to them.
    for (const [bar, y0, y1] of labels) {
      const x0 = Math.max(this.left, this.xOf(this.bars.seconds(this.bars.start[bar])));
      const x1 = Math.min(this.width, this.xOf(this.bars.seconds(this.bars.end[bar])));
      if (x1 - x0 < 40) continue;
      c.save();
      c.beginPath();
      c.rect(x0, y0 / this.ratio, x1 - x0 - 3, (y1 - y0) / this.ratio);
      c.clip();
      c.fillStyle = dark(this.palette[this.bars.colour[bar]]) ? '#ffffff' : '#10161e';
      c.fillText(this.barLabel(bar), x0 + 4, (y0 + y1) / 2 / this.ratio + 0.5);
      c.restore();
    }
    this.paintMark(t);
    // Names of the rows.
    c.fillStyle = t.muted;
    c.textAlign = 'right';
    const every = Math.ceil(11 / this.rowHeight);
    for (let row = Math.ceil(first / every) * every; row < last; row += every) {
      const y = TOP + (row + 0.5) * this.rowHeight - this.scroll;
      if (y > TOP + 5 && y < this.height) c.fillText(this.rowLabel(this.rows[row]), this.left - 6, y, this.left - 8);
    }
    // The axis.
    c.textAlign = 'center';
    c.strokeStyle = t.line;
    c.lineWidth = 1;
    const length = this.view[1] - this.view[0];
    const step = STEPS.find((s) => s >= length / ((this.width - this.left) / 90)) ?? STEPS[STEPS.length - 1];
    const fine = length / ((this.width - this.left) / 90) < 1 ? 10 ** Math.ceil(Math.log10(length / ((this.width - this.left) / 90))) : step;
    for (let k = Math.ceil(this.view[0] / fine); k * fine <= this.view[1]; ++k) {
      const x = Math.round(this.xOf(k * fine)) + 0.5;
      c.globalAlpha = 0.55;
      c.beginPath();
      c.moveTo(x, TOP - 5);
      c.lineTo(x, this.height);
      c.stroke();
      c.globalAlpha = 1;
      if (x > this.left + 14 && x < this.width - 18) c.fillText(fine < 1 ? `${number(k * fine, 6)} s` : duration(k * fine), x, 11);
    }
    c.textAlign = 'left';
  }

  paintMark(t) {
    if (this.marked < 0 || this.bars instanceof Density) return;
    const box = this.boxOf(this.marked);
    if (!box) return;
    this.context.strokeStyle = t.text;
    this.context.lineWidth = 2;
    this.context.strokeRect(box.x0, box.y0, Math.max(2, box.x1 - box.x0), box.y1 - box.y0);
  }

  boxOf(bar) {
    const lane = this.bars.laneOf(bar);
    const gpu = this.bars.laneGpu[lane];
    const row = this.rows.indexOf(gpu);
    if (row < 0) return null;
    const lanes = this.bars.lanesOf.get(gpu);
    const [y0, y1] = this.band(row, lanes.indexOf(lane), lanes.length);
    return {x0: Math.max(this.left, this.xOf(this.bars.seconds(this.bars.start[bar]))),
      x1: this.xOf(this.bars.seconds(this.bars.end[bar])), y0: y0 / this.ratio, y1: y1 / this.ratio};
  }

  // ---- pointer and keys ------------------------------------------------------------------------

  // The bar under a point, or one within three pixels of it; -1: none.
  barAt(x, y) {
    if (!this.bars || this.bars instanceof Density || x < this.left || y < TOP) return -1;
    const row = Math.floor((y - TOP + this.scroll) / this.rowHeight);
    if (row >= this.rows.length) return -1;
    const lanes = this.bars.lanesOf.get(this.rows[row]) ?? [];
    for (const reach of [0, 3]) {
      const from = this.bars.ticks(this.timeAt(x - reach));
      const to = this.bars.ticks(this.timeAt(x + reach));
      for (const [slot, lane] of lanes.entries()) {
        const [y0, y1] = this.band(row, slot, lanes.length);
        if (y * this.ratio < y0 - 1 || y * this.ratio > y1 + 1) continue;
        const bar = this.bars.firstAfter(lane, from);
        if (bar < this.bars.first[lane + 1] && this.bars.start[bar] <= to) return bar;
      }
    }
    return -1;
  }

  rowAt(y) {
    const row = Math.floor((y - TOP + this.scroll) / this.rowHeight);
    return y >= TOP && row < this.rows.length ? row : -1;
  }

  mark(bar) {
    if (bar === this.marked) return;
    this.marked = bar;
    this.ask();
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  listen() {
    const {canvas, pointers} = this;
    canvas.addEventListener('wheel', (event) => {
      const active = event.ctrlKey || event.metaKey || document.activeElement === canvas;
      if (!active && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX || event.deltaY, 0);
      else this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)), this.point(event)[0]);
    }, {passive: false});
    canvas.addEventListener('dblclick', (event) => this.zoom(2.5, this.point(event)[0]));
    canvas.addEventListener('pointerdown', (event) => {
      pointers.set(event.pointerId, this.point(event));
      if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
      canvas.classList.add('dragging');
    });
    const up = (event) => {
      pointers.delete(event.pointerId);
      if (pointers.size === 0) canvas.classList.remove('dragging');
    };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    canvas.addEventListener('pointerleave', () => {
      this.mark(-1);
      this.hovered(null);
    });
    canvas.addEventListener('pointermove', (event) => {
      const [x, y] = this.point(event);
      const before = pointers.get(event.pointerId);
      if (!before) {
        const bar = this.barAt(x, y);
        this.mark(bar);
        this.hovered({bar, row: this.rowAt(y), time: this.timeAt(x)}, x, y);
        return;
      }
      this.hovered(null);
      if (pointers.size === 2) {
        const [other] = [...pointers.entries()].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
        const apart = Math.abs(before[0] - other[0]);
        if (apart > 10) this.zoom(Math.abs(x - other[0]) / apart, (x + other[0]) / 2);
      } else {
        // A finger that moves up or down scrolls the page (touch-action: pan-y).
        this.pan(before[0] - x, event.pointerType === 'touch' ? 0 : before[1] - y);
      }
      pointers.set(event.pointerId, [x, y]);
    });
    canvas.addEventListener('keydown', (event) => {
      const wide = (this.width - this.left) / 5;
      const keys = {
        ArrowLeft: () => this.pan(-wide, 0), ArrowRight: () => this.pan(wide, 0), ArrowUp: () => this.pan(0, -40),
        ArrowDown: () => this.pan(0, 40), '+': () => this.zoom(1.6), '=': () => this.zoom(1.6), '-': () => this.zoom(1 / 1.6),
        0: () => this.whole(), Home: () => this.whole(), Escape: () => canvas.blur(),
      };
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}

const dark = (abgrColour) => 0.299 * (abgrColour & 0xff) + 0.587 * ((abgrColour >>> 8) & 0xff) + 0.114 * ((abgrColour >>> 16) & 0xff) < 150;
