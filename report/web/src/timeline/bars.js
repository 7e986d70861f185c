// The bars of a policy's timeline: times on GPUs of jobs, sorted so that what is in sight is found by binary search.
import {unpack} from '../data.js';

// A lane is a GPU's place for one job at a time: its bars do not overlap, so starts and ends both rise along it.
export class Bars {
  constructor(packed, timeline) {
    this.t0 = timeline.span[0];
    this.tick = (timeline.span[1] - timeline.span[0]) / 2 ** 32;
    this.start = unpack(packed.start, 'u32');
    this.end = unpack(packed.end, 'u32');
    this.job = unpack(packed.job, 'u32');
    this.kind = unpack(packed.kind, 'u8');
    this.isd = unpack(packed.isd, 'f32');
    this.first = packed.lane_first;
    this.laneGpu = packed.lane_gpu;
    this.count = this.start.length;
    this.lanesOf = new Map();
    packed.lane_gpu.forEach((gpu, lane) => {
      if (!this.lanesOf.has(gpu)) this.lanesOf.set(gpu, []);
      this.lanesOf.get(gpu).push(lane);
    });
    this.colour = new Uint8Array(this.count);
  }

  seconds(ticks) {
    return this.t0 + ticks * this.tick;
  }

  ticks(seconds) {
    return (seconds - this.t0) / this.tick;
  }

  // The first bar of the lane, from `from` on, that ends after `at` [ticks].
  firstAfter(lane, at, from = this.first[lane]) {
    let low = from;
    let high = this.first[lane + 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.end[middle] > at) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // The bars of a GPU that overlap an instant range [ticks], any lane.
  onGpu(gpu, from, to) {
    const found = [];
    for (const lane of this.lanesOf.get(gpu) ?? []) {
      for (let i = this.firstAfter(lane, from); i < this.first[lane + 1] && this.start[i] < to; ++i) found.push(i);
    }
    return found;
  }

  laneOf(bar) {
    let low = 0;
    let high = this.first.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.first[middle] <= bar) low = middle;
      else high = middle;
    }
    return low;
  }

  // Share of GPUs (0 to 1 and more where they are shared) with a bar in each of `bins` equal parts of the span.
  busy(bins, gpus) {
    const sums = new Float64Array(bins);
    const width = 2 ** 32 / bins;
    for (let i = 0; i < this.count; ++i) {
      const a = this.start[i] / width;
      const b = this.end[i] / width;
      for (let bin = Math.floor(a); bin < b && bin < bins; ++bin) sums[bin] += Math.min(b, bin + 1) - Math.max(a, bin);
    }
    return sums.map((x) => x / gpus);
  }
}

// Where there are too many bars for a page: how busy groups of GPUs are in equal parts of the span.
export class Density {
  constructor(packed) {
    this.bins = packed.bins;
    this.rows = packed.rows;
    this.values = unpack(packed.busy, 'u8');
    this.count = 0;
  }

  busy(bins) {
    const sums = new Float64Array(bins);
    for (let row = 0; row < this.rows.length; ++row) {
      for (let bin = 0; bin < bins; ++bin) {
        sums[bin] += this.values[row * this.bins + Math.floor(bin * this.bins / bins)] / 255;
      }
    }
    return sums.map((x) => x / this.rows.length);
  }
}
