// A report with made-up data, to work on the page without the program:
//
//   node fixture.mjs --page page.html --out report.html [--jobs 400] [--gpus 16] [--policies 9] [--hostile] [--live] [--owners]
//
// --hostile: names that try to be HTML, a formula, a terminal command or another direction of text. --live: as of a live
// run. --owners: GPUs belong to virtual clusters. The same arguments give the same bytes.
import {readFileSync, writeFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

export const HOSTILE = [
  '<script>alert(1)</script>', '</script><img src=x onerror=alert(2)>', '"quotes\' and `ticks`', '=cmd()',
  '\u202Egnp.tfel\u202C', 'two\nlines\r\nand a\ttab', '\u001b[31mred\u001b[0m\u0007', 'x'.repeat(10000), '{a|rich} {b}',
  '<!--', '&lt;b&gt;', '\u2028', '😀'.repeat(50), '', '-->', '@SUM(A1)',
];

function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const packed = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');

const METRICS = [
  ['isd', '1', -1, true], ['ps', '1', 1, true], ['ps_total', '1', 1, true], ['isd_max', '1', -1, true], ['jct_s', 's', -1, false],
  ['jct_p50_s', 's', -1, false], ['jct_p95_s', 's', -1, false], ['jct_p99_s', 's', -1, false], ['queue_s', 's', -1, false],
  ['queue_p95_s', 's', -1, false], ['stretch', '1', -1, false], ['jain', '1', 1, false], ['makespan_s', 's', -1, false],
  ['gpu_util', '1', 1, true], ['oom', '1', -1, false], ['failed', '1', -1, false],
];

export function fixture({jobs = 400, gpus = 16, policies = 9, hostile = false, live = false, owners = false} = {}) {
  const random = generator(7);
  const known = ['fcfs', 'random', 'kube-default', 'balance', 'min-slowdown', 'max-packing', 'opposites', 'exclusive', 'oracle'];
  const labels = Array.from({length: policies}, (_, p) => known[p] ?? `policy-${p}`);
  const name = (i) => (hostile ? HOSTILE[i % HOSTILE.length] : `train-${i}`);
  const runs = labels.map((label, p) => run(label, p));
  const last = Math.max(...runs.map((r) => r.last));
  const span = [0, last];
  const replications = live ? 1 : 40;
  const truth = METRICS.map(([key]) => (key.endsWith('_s') ? 4000 : key === 'oom' || key === 'failed' ? 3 : 0.3));
  const per = labels.map((_, p) => METRICS.map((_, m) => Array.from({length: replications},
    () => truth[m] * (1 + 0.08 * p * (m % 2 ? 1 : -0.4) + 0.05 * (random() - 0.5)))));
  const interval = (values) => {
    if (live) return [values[0], null, null];
    const mean = values.reduce((a, b) => a + b) / values.length;
    const sd = Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / (values.length - 1));
    const half = 2.09 * sd / Math.sqrt(values.length);
    return [mean, mean - half, mean + half];
  };

  function run(label, p) {
    const slots = label === 'exclusive' ? 1 : 2;
    const free = new Float64Array(gpus * slots);
    const lanes = Array.from({length: gpus * slots}, () => []);
    let last = 0;
    const isd = new Float32Array(jobs);
    for (let j = 0; j < jobs; ++j) {
      let lane = 0;
      for (let l = 1; l < free.length; ++l) if (free[l] < free[lane]) lane = l;
      const start = free[lane] + 20 * random();
      const end = start + 60 + 1500 * random() ** 3 * (1 + 0.05 * p);
      free[lane] = end;
      isd[j] = slots === 1 ? 0 : random() ** 2;
      lanes[lane].push([start, end, j, random() < 0.02 ? 2 : 0]);
      last = Math.max(last, end);
    }
    return {lanes, slots, last, isd};
  }

  const ticks = (seconds) => Math.min(2 ** 32 - 1, Math.round((seconds - span[0]) / (span[1] - span[0]) * 2 ** 32));
  const bars = runs.map(({lanes, slots, isd}) => {
    const all = lanes.flat();
    const first = [0];
    lanes.forEach((lane) => first.push(first[first.length - 1] + lane.length));
    return {
      mode: 'bars', lane_gpu: lanes.map((_, l) => Math.floor(l / slots)), lane_slot: lanes.map((_, l) => l % slots), lane_first: first,
      start: packed(Uint32Array.from(all, (b) => ticks(b[0]))), end: packed(Uint32Array.from(all, (b) => ticks(b[1]))),
      job: packed(Uint32Array.from(all, (b) => b[2])), kind: packed(Uint8Array.from(all, (b) => b[3] << 2)), isd: packed(isd),
    };
  });

  const curve = (scale, power) => labels.map((_, p) => {
    const x = Array.from({length: 300}, () => scale * (1 + 0.1 * p) * random() ** power).sort((a, b) => a - b);
    return {n: jobs * replications, x, y: x.map((_, i) => (i + 1) / 300)};
  });
  const clusters = 3;
  const box = (a, b, low) => {
    const five = Array.from({length: 5}, () => low + 0.6 * random()).sort((x, y) => x - y);
    return [a, b, 200 + 100 * a + b, ...five];
  };
  const set = (policy) => {
    const truthValues = Array.from({length: 400}, () => random() ** 2);
    const belief = truthValues.map((x) => Math.max(0, 0.8 * x + 0.1 + 0.2 * (random() - 0.5)));
    const ordered = [];
    const unordered = [];
    for (let a = 0; a < clusters; ++a) {
      for (let b = 0; b < clusters; ++b) {
        ordered.push(box(a, b, 0));
        if (b >= a) unordered.push(box(a, b, -0.2));
      }
    }
    return {policy, isd: {n: 400, bias: -0.02, error: 0.07, truth: truthValues, belief},
      speed: {n: 400, bias: 0.01, error: 0.05, truth: truthValues.map((x) => 1 / (1 + x)), belief: belief.map((x) => 1 / (1 + x))},
      isd_boxes: ordered, ps_boxes: unordered,
      pairs: ordered.map(([a, b, n]) => [a, b, n, 40 * n, 0.1 + 0.3 * random(), 0.1 + 0.3 * random()])};
  };

  const groupSet = (by, kind, names) => ({by, kind, names, left_out: kind === 'column' ? 3 : 0,
    jobs: names.map((_, g) => Math.round(jobs / (g + 2))), work: names.map(() => 1 / names.length),
    jct_s: labels.map((_, p) => names.map((_, g) => (g === 1 && p === 2 ? null : 1000 * (1 + g) * (1 + 0.1 * p)))),
    worst: labels.map(() => names.map(() => 1 / names.length))});
  return {
    format: 1, kind: live ? 'live' : 'replay',
    source: {file: hostile ? 'results <b>&"x".h5' : 'results.h5', sha256: '0'.repeat(64), corun: '0.1.0', commit: 'fixture',
      config: hostile ? `# </script>\nworkload:\n  path: "${HOSTILE[0]}"\n` : 'policies: [fcfs, random]\nreplications: 20\n', seed: '1', replications,
      workload: hostile ? HOSTILE[1] : 'made-up', complete: true, inputs: hostile ? ['sha256:00 </script><script>alert(3)</script>.csv'] : [], measured_on: live ? 'a made-up GPU' : ''},
    warnings: hostile ? ['note of </script><b>a file</b>\nwith lines', '24 of 24 jobs have no known memory demand']
      : ['24 of 24 jobs have no known memory demand: they cannot run out of memory'],
    reductions: ['Curves have 300 points each.'],
    metrics: METRICS.map(([key, unit, better, percent]) => ({name: key, unit, description: `made-up ${key}`, better, percent})),
    policies: labels.map((label) => ({label: hostile && label === 'random' ? HOSTILE[0] : label, name: label, description: `made-up policy ${label}`, parameters: '{}', bound: label === 'oracle',
      shares: label !== 'exclusive', coverage: {measured: 0.6, modelled: 0.3, extrapolated: 0.1}})),
    coverage: {measured: 0.6, modelled: 0.3, extrapolated: 0.1}, solo: null, unknown_memory_jobs: 3, jobs, gpus,
    gpu_types: [{type: 'V100-16GB', count: gpus}],
    summary: per.map((row) => row.map(interval)),
    versus: per.map((a, p) => per.map((b, q) => (p === q ? a.map(() => null)
      : a.map((values, m) => interval(values.map((x, r) => x - b[m][r])))))),
    replicated: {isd: per.map((row) => row[0]), ps: per.map((row) => row[1])},
    curves: {jct_s: curve(9000, 3), queue_s: curve(3000, 4), isd: curve(1, 2)},
    groups: {replications: Math.min(20, replications), tenths: labels.map((_, p) => [9000 + 100 * p, 1200]), sets: [
      groupSet('gpus', 'gpus', ['1 GPU', '2 GPUs', '8 GPUs']), groupSet('length', 'length', ['1 to 60 s', '60 to 600 s', '10 to 60 min', '1 to 9 h']),
      groupSet(hostile ? HOSTILE[0] : 'user', 'column', hostile ? HOSTILE.map((x) => x.slice(0, 64)) : ['ann', 'bob', 'eve'])]},
    preemptions: labels.map((_, p) => ({times: p, jobs: p / 20, most: p, lost_gpu_s: 900 * p, isd: p ? 0.4 : null, isd_other: 0.1})),
    sharing: {clusters, rows: 4000, left_out: 0, replications: Math.min(20, replications), groups: {by: 'cluster', names: ['0', '1', '2']}, sets: [set(-1), ...labels.map((_, p) => set(p))]},
    over_time: labels.map((_, p) => {
      const end = Array.from({length: 128}, (_, i) => (i + 1) * last / 128);
      const wave = (scale) => end.map((_, i) => Math.max(0, scale * (0.6 + 0.3 * Math.sin(i / 9 + p) + 0.1 * random())));
      return {start: 0, end, busy: wave(gpus), shared: wave(gpus / 2), util: wave(0.8), queue: wave(30), running: wave(2 * gpus)};
    }),
    services: {names: [hostile ? HOSTILE[0] : 'shop', hostile ? HOSTILE[4] : 'cameras'], goal_s: [0.025, 0.06], goal_share: [0.99, 0.95],
      within: labels.map(() => [0, 1, 2].map((s) => (live ? [0.99 - 0.01 * s, null, null] : [0.99 - 0.01 * s, 0.98 - 0.01 * s, 0.995 - 0.01 * s]))),
      over_time: labels.map(() => [0, 1].map((s) => {
        const end = Array.from({length: 60}, (_, i) => (i + 1) * last / 60);
        return {start: 0, end, load: end.map(() => 100 * random()), latency: end.map(() => 0.03 * random()), replicas: end.map(() => 1 + s), sharing: end.map(() => random())};
      })),
      sharers: labels.map(() => [0, 1].map(() => ({jobs: 2, longest: [[name(0).slice(0, 200), 5000], [name(1).slice(0, 200), 60]]})))},
    timeline: {span, gpus: {node: Array.from({length: gpus}, (_, g) => g >> 2), index: Array.from({length: gpus}, (_, g) => g % 4), type: Array(gpus).fill(0),
      owner: owners ? Array.from({length: gpus}, (_, g) => (hostile ? HOSTILE[g % 3] : `team-${g % 3}`)) : null},
      names: Array.from({length: jobs}, (_, j) => name(j).slice(0, 200)), clusters: packed(Int16Array.from({length: jobs}, (_, j) => j % clusters)),
      submit: packed(new Float64Array(jobs)), policies: bars},
    live: live ? {predicted: per.map((row) => row.map((values) => 1.1 * values[0])),
      jobs: labels.map(() => ({job: Array.from({length: 40}, (_, j) => name(j)), isd: Array.from({length: 40}, () => [random(), random()]),
        jct_s: Array.from({length: 40}, () => [4000 * random(), 4000 * random()])}))} : null,
  };
}

// JSON that may stand in a script element: no "<" that could end it.
export const embedded = (data) => JSON.stringify(data).replace(/</g, '\\u003c');

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const option = (key, fallback) => {
    const at = process.argv.indexOf(`--${key}`);
    return at < 0 ? fallback : process.argv[at + 1];
  };
  const data = fixture({jobs: Number(option('jobs', 400)), gpus: Number(option('gpus', 16)), policies: Number(option('policies', 9)),
    hostile: process.argv.includes('--hostile'), live: process.argv.includes('--live'), owners: process.argv.includes('--owners')});
  const page = readFileSync(option('page', 'page.html'), 'utf8');
  writeFileSync(option('out', 'report.html'), page.replace('@DATA@', () => embedded(data)));
}
