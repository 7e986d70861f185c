#include "traces/catalog.hpp"

#include <array>

#include "traces/gavel_trace.hpp"
#include "traces/job_csv.hpp"
#include "traces/lucid_jobs.hpp"
#include "traces/pair_workload.hpp"
#include "traces/paper_workloads.hpp"

namespace corun {

std::span<const TraceEntry> trace_catalog() {
  static const std::array<TraceEntry, 6> catalog{{
      {"jrs-queue", "the 24 measured jobs of the JRS paper (Table I), all submitted at 0", false,
       false, [](const TraceRequest&, WorkloadKeys& keys) { return jrs_queue_trace(keys); }},
      {"jrs-resampled", "jobs drawn from all measured JRS jobs; `jobs` of them, Poisson at `load`",
       false, true,
       [](const TraceRequest& r, WorkloadKeys& keys) {
         std::optional<double> interarrival_s;
         if (r.load) interarrival_s = jrs_resampled_mean_solo_s() / (*r.load * r.gpus);
         return jrs_resampled_trace(keys, r.jobs, interarrival_s, r.seed);
       }},
      {"pairs", "jobs drawn from the measured pairs of a table, from `path`; Poisson at `load`",
       true, true,
       [](const TraceRequest& r, WorkloadKeys&) {
         std::optional<double> interarrival_s;
         if (r.load) interarrival_s = pair_workload_mean_solo_s() / (*r.load * r.gpus);
         return pair_workload_trace(*r.pairs, r.jobs, interarrival_s, r.seed);
       }},
      {"csv", "corun's own job trace (docs/formats.md), from `path`", true, false,
       [](const TraceRequest& r, WorkloadKeys& keys) { return read_job_csv(r.path, keys); }},
      {"lucid", "jobs in the form of Lucid's simulator (and Helios' with its columns), from `path`",
       true, false,
       [](const TraceRequest& r, WorkloadKeys& keys) {
         return read_lucid_jobs(r.path, r.labels, keys);
       }},
      {"gavel", "Gavel's traces, in steps, from `path`; their rates from `world.path`", true, false,
       [](const TraceRequest& r, WorkloadKeys&) { return read_gavel_trace(r.path, r.rates); },
       true},
  }};
  return catalog;
}

const TraceEntry* find_trace(std::string_view name) {
  for (const TraceEntry& entry : trace_catalog()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace corun
