// The data of a report: what the program writes into the page, and how the page reads it.
//
// The program (report/report.hpp) writes one JSON object into
// <script type="application/json" id="data">. Numbers that are not known are null. Times are seconds, shares and
// slowdowns fractions. `Interval` is [mean, lo, hi]; lo and hi are null where there are too few replications.
// `Packed` is base64 of little-endian numbers, for columns that are long.
//
// {
//   format: 1,
//   kind: "replay" | "live" | "sweep" | "validation",
//   source: {file, sha256, corun, commit, config, workload, seed, replications, complete, inputs: [text], measured_on,
//            real_runs: whether the setting was held against a real run, or empty},
//   warnings: [text],                    notes that the run printed
//   reductions: [text],                  what this report leaves out or sums up
//   metrics: [{name, unit, description, better: -1 | 0 | 1, percent}],    better -1: less is better
//   policies: [{label, name, description, parameters, bound, shares, coverage: Coverage}],
//                                        description: of the catalogue, or empty; bound: knows the true costs; shares: two
//                                        jobs were on a GPU at once. A sweep's have label, name, description, bound
//   coverage: Coverage,                  of all policies; Coverage = {measured, modelled, extrapolated} or null
//   solo: {reference, measured, predicted, scaled, assumed} or null,      shares of job time by source of speed
//   unknown_memory_jobs: largest number in a run,
//
//   replay and live:
//   jobs: number per replication, gpus: number, gpu_types: [{type, count}],
//   summary: [policy][metric] Interval,
//   versus: [policy][other][metric] Interval of policy minus other, paired by replication, or null,
//   replicated: {isd: [policy][replication], ps: [policy][replication]},
//   curves: {jct_s | queue_s | isd: [policy] {n, x: [value], y: [share of jobs with at most x]}},
//   groups: null or {replications: of which they are,
//     tenths: [policy] [mean JCT of the tenth of its jobs that takes longest, of the others],
//     sets: [{by, kind: "gpus" | "length" | "column", names: [text], left_out: groups with less work,
//             jobs: [group] of replication 0, work: [group] share, jct_s: [policy][group] mean of finished jobs,
//             worst: [policy][group] share of the policy's worst tenth}]},
//   preemptions: null (none) or [policy] {times, jobs: share, most: of a job, lost_gpu_s, isd, isd_other},      a replication
//   sharing: null or {
//     clusters: number of profile clusters (0: jobs have none),
//     rows: pairs of jobs that ran together, left_out: rows that the results file dropped,
//     replications: of which it has co-runs,
//     groups: {by: "job" | "cluster", names: [text]},                     of the heat map
//     sets: [ {policy: index or -1 for all,
//              isd, speed: {n, bias, error, truth: [], belief: []},      bias, error: mean (absolute) belief - truth
//              isd_boxes, ps_boxes: [[a, b, n, least, q1, median, q3, most]],   a beside b, of clusters
//              pairs: [[a, b, co_runs, shared_s, isd, predicted_isd]]} ]  a beside b, of groups
//   },
//   over_time: null or [policy] {end: [s], start: s, busy: [], shared: [], util: [], queue: [], running: []},
//   services: absent (the run has none) or {names: [text], goal_s: [service], goal_share: [service],
//     within: [policy][service, then all of them] Interval of the share of requests within the goal,
//     over_time: [policy] null or [service] null or {start, end: [s], load: [requests/s], latency: [s, the largest], replicas: [],
//                sharing: [mean number of jobs on GPUs of replicas]},
//     sharers: [policy] null or [service] {jobs: number, longest: [[name, seconds]]}},
//   timeline: null or {
//     span: [s, s], gpus: {node: [], index: [], type: [of gpu_types], owner: [virtual cluster] or null}, names: [text] or null,
//     clusters: Packed i16 or null, submit: Packed f64 or null,
//     policies: [ null
//       | {mode: "bars", lane_gpu: [], lane_slot: [], lane_first: [] (one more than lanes),
//          start, end: Packed u32 [span / 2^32], job: Packed u32, kind: Packed u8, isd: Packed f32 by job}
//       | {mode: "density", bins, rows: [[first GPU, last GPU]], busy: Packed u8 [1/255] row by row} ]
//   },
//   live: {predicted: [policy][metric] value, jobs: [policy] {job: [name], isd: [[measured, predicted]], jct_s: ...}}
//
//   sweep: see sections/sweep.js
//   validation: see sections/validation.js; it has format, kind, source {file, corun, commit, seed} and validation alone
// }
//
// `kind` of a bar: what it was in bits 0-1 (run, probe, profile), how it ended in bits 2-4 (ENDS).

export const FORMAT = 1;
export const KINDS = ['run', 'probe', 'profiling'];
export const ENDS = ['finished', 'preempted', 'out of memory', 'given up', 'end of the record', 'stage ended'];

export function readData(document) {
  const data = JSON.parse(document.getElementById('data').textContent);
  if (data.format !== FORMAT) throw new Error(`data of format ${data.format}; this page reads ${FORMAT}`);
  return data;
}

const ARRAYS = {u8: Uint8Array, i16: Int16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array};

// The numbers of a Packed column; the type is one of ARRAYS.
export function unpack(text, type) {
  const bytes = atob(text);
  const buffer = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; ++i) buffer[i] = bytes.charCodeAt(i);
  return new ARRAYS[type](buffer.buffer);
}
