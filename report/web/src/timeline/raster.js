// Fills pixels with bars. The cost is bounded by what is in sight: rows on the screen, and per row the bars in the
// visible time or the pixels, whichever are fewer.

// ABGR of a colour "#rrggbb", as ImageData stores it on little-endian machines.
export function abgr(hex) {
  const n = parseInt(hex.slice(1), 16);
  return (0xff000000 | ((n & 0xff) << 16) | (n & 0xff00) | (n >> 16)) >>> 0;
}

export function mix(a, b, share) {
  const part = (shift) => Math.round(((a >>> shift) & 0xff) * (1 - share) + ((b >>> shift) & 0xff) * share) << shift;
  return (0xff000000 | part(16) | part(8) | part(0)) >>> 0;
}

function fill(pixels, width, x0, x1, y0, y1, colour) {
  for (let y = y0; y < y1; ++y) pixels.fill(colour, y * width + x0, y * width + x1);
}

// One lane into the rows of pixels [y0, y1).
//   view     {from [ticks], perTick [pixels]}
//   palette  colours by bars.colour; an index from 128 on is a dimmed bar, which gives way to others
export function drawLane(bars, lane, view, area, y0, y1, palette, background) {
  const {pixels, width, left, right} = area;
  const {from, perTick} = view;
  const last = bars.first[lane + 1];
  const span = right - left;
  let i = bars.firstAfter(lane, from);
  while (i < last) {
    const a = (bars.start[i] - from) * perTick;
    if (a >= span) return;
    const b = (bars.end[i] - from) * perTick;
    if (b - a >= 2) {
      const x0 = Math.max(0, Math.round(a));
      const x1 = Math.min(span, Math.round(b) - (b - a > 4 ? 1 : 0));
      if (x1 > x0) fill(pixels, width, left + x0, left + x1, y0, y1, palette[bars.colour[i]]);
      ++i;
      continue;
    }
    // Bars narrower than two pixels share a pixel: its colour is that of the first bar that is not dimmed, its
    // strength the share of the pixel that is covered.
    const pixel = Math.max(0, Math.floor(a));
    const next = from + (pixel + 1) / perTick;
    let covered = 0;
    let colour = bars.colour[i];
    let seen = 0;
    while (i < last && bars.start[i] < next && (bars.end[i] - bars.start[i]) * perTick < 2 && seen < 16) {
      covered += (bars.end[i] - bars.start[i]) * perTick;
      if (colour >= 128) colour = bars.colour[i];
      ++i;
      ++seen;
    }
    if (i < last && seen === 16 && bars.end[i] <= next) {
      i = bars.firstAfter(lane, next, i);
      covered = 1;
    }
    if (pixel < span) {
      const strength = Math.min(1, Math.max(0.45, covered));
      fill(pixels, width, left + pixel, left + pixel + 1, y0, y1, mix(background, palette[colour], strength));
    }
  }
}

// A row of Density: shades of one colour. view: {from, to} as shares of the span.
export function drawDensity(density, row, view, area, y0, y1, shades) {
  const {pixels, width, left, right} = area;
  const base = row * density.bins;
  for (let x = left; x < right; ++x) {
    const a = view.from + (view.to - view.from) * (x - left) / (right - left);
    const b = view.from + (view.to - view.from) * (x + 1 - left) / (right - left);
    if (a < 0 || a >= 1) continue;
    const first = Math.floor(a * density.bins);
    const last = Math.max(first + 1, Math.min(density.bins, Math.ceil(b * density.bins)));
    let sum = 0;
    for (let bin = first; bin < last; ++bin) sum += density.values[base + bin];
    const shade = shades[Math.round(sum / (last - first))];
    for (let y = y0; y < y1; ++y) pixels[y * width + x] = shade;
  }
}
