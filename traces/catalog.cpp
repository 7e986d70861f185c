#include "traces/catalog.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/elastic/pollux_jobs.hpp"
#include "traces/generated/drawn_jobs.hpp"
#include "traces/generated/pair_workload.hpp"
#include "traces/generated/solo_workload.hpp"
#include "traces/input_file.hpp"
#include "traces/job_csv.hpp"
#include "traces/logs/log_profiles.hpp"
#include "traces/paper_workloads.hpp"
#include "traces/public_formats/batsim.hpp"
#include "traces/public_formats/gavel_trace.hpp"
#include "traces/public_formats/helios.hpp"
#include "traces/public_formats/lucid_jobs.hpp"
#include "traces/public_formats/muri.hpp"
#include "traces/public_formats/openb.hpp"
#include "traces/public_formats/pai_2020.hpp"
#include "traces/public_formats/pai_simulator.hpp"
#include "traces/public_formats/philly.hpp"
#include "traces/public_formats/standard_workload.hpp"

namespace corun::inline traces {

namespace {

std::vector<TraceEntry> all_entries() {
  std::vector<TraceEntry> entries{
      {"jrs-queue", "the 24 measured jobs of the JRS paper (Table I), all submitted at 0", false,
       false, [](const TraceRequest&, WorkloadKeys& keys) { return jrs_queue_trace(keys); },
       nullptr, false, kPaperGpuType},
      {"jrs-resampled", "jobs drawn from all measured JRS jobs; `jobs` of them, Poisson at `load`",
       false, true,
       [](const TraceRequest& r, WorkloadKeys& keys) {
         std::optional<double> interarrival_s;
         if (r.load) interarrival_s = jrs_resampled_mean_solo_s() / (*r.load * r.gpus);
         return jrs_resampled_trace(keys, r.jobs, interarrival_s, r.seed);
       },
       nullptr, false, kPaperGpuType},
      {"pairs", "jobs drawn from the measured pairs of a table, from `path`; Poisson at `load`",
       true, true,
       [](const TraceRequest& r, WorkloadKeys&) {
         std::optional<double> interarrival_s;
         if (r.load) interarrival_s = drawn_mean_solo_s() / (*r.load * r.gpus);
         return pair_workload_trace(*r.pairs, r.jobs, interarrival_s, r.seed);
       }},
      {.name = "solo-table",
       .description =
           "jobs drawn from a table of solo times by GPU type, from `path`; Poisson at `load`",
       .reads_file = true,
       .generates = true,
       .make =
           [](const TraceRequest& r, WorkloadKeys&) {
             std::optional<double> interarrival_s;
             if (r.load) interarrival_s = drawn_mean_solo_s() / (*r.load * r.gpus);
             return solo_workload_trace(*r.solo, r.reference_type, r.jobs, interarrival_s, r.seed);
           },
       .draws_from_solo_table = true},
      {.name = "csv",
       .description = "corun's own job trace (docs/formats.md), from `path`",
       .reads_file = true,
       .make =
           [](const TraceRequest& r, WorkloadKeys& keys) {
             const LogProfile* known = profile_beside(r.path, r.columns);
             if (known != nullptr) return read_log(r.path, *known, keys, r.rules, r.columns);
             return read_job_csv(r.path, keys, r.columns, r.rules);
           },
       .looks_like = looks_like_job_csv,
       .takes_columns = true},
      {"lucid", "jobs in the form of Lucid's simulator, with what they train, from `path`", true,
       false,
       [](const TraceRequest& r, WorkloadKeys& keys) {
         return read_lucid_jobs(r.path, r.labels, keys, r.rules);
       },
       looks_like_lucid_jobs},
      {"gavel", "Gavel's traces, in steps, from `path`; their rates from `world.path`", true, false,
       [](const TraceRequest& r, WorkloadKeys&) {
         return read_gavel_trace(r.path, r.rates, r.rules);
       },
       looks_like_gavel_trace, true},
      {"pollux",
       "elastic jobs of Pollux' and Sia's simulators, from `path`; programs from "
       "`workload.programs`",
       true, false,
       [](const TraceRequest& r, WorkloadKeys& keys) {
         return read_pollux_jobs(r.path, r.part, keys, r.rules);
       }},
      {"helios", "SenseTime Helios, Venus: cluster_log.csv, from `path`", true, false,
       [](const TraceRequest& r, WorkloadKeys&) { return read_helios(r.path, r.rules); },
       looks_like_helios},
      {"philly", "Microsoft Philly: cluster_job_log (JSON), from `path`", true, false,
       [](const TraceRequest& r, WorkloadKeys&) { return read_philly(r.path, r.rules); },
       looks_like_philly},
      {"pai-2020", "Alibaba PAI 2020: pai_job_table.csv with the others beside it, from `path`",
       true, false,
       [](const TraceRequest& r, WorkloadKeys&) { return read_pai_2020(r.path, r.rules); },
       looks_like_pai_2020},
      {"pai-simulator", "the job CSV of Alibaba PAI's simulator, from `path`", true, false,
       [](const TraceRequest& r, WorkloadKeys&) { return read_pai_simulator(r.path, r.rules); },
       looks_like_pai_simulator},
      {"openb", "Alibaba GPU 2023: openb_pod_list_*.csv, shares of GPUs, from `path`", true, false,
       [](const TraceRequest& r, WorkloadKeys&) { return read_openb_pods(r.path, r.rules); },
       looks_like_openb_pods},
      {"muri", "Muri's job CSV, times in milliseconds, from `path`", true, false,
       [](const TraceRequest& r, WorkloadKeys& keys) { return read_muri(r.path, keys, r.rules); },
       looks_like_muri},
      {"batsim", "a workload of Batsim (JSON) with delay profiles, seconds, from `path`", true,
       false, [](const TraceRequest& r, WorkloadKeys&) { return read_batsim(r.path, r.rules); },
       looks_like_batsim},
      {"swf", "Standard Workload Format of the Parallel Workloads Archive, from `path`", true,
       false,
       [](const TraceRequest& r, WorkloadKeys&) { return read_standard_workload(r.path, r.rules); },
       looks_like_standard_workload},
  };
  for (const LogProfile& profile : log_profiles()) {
    const bool taken = std::ranges::any_of(
        entries, [&](const TraceEntry& entry) { return entry.name == profile.name; });
    if (taken) {
      throw InputError("log profile " + printable(profile.name),
                       "has the name of a format of corun, expected another; rename it");
    }
    entries.push_back(
        {.name = profile.name,
         .description = profile.title,
         .reads_file = true,
         .make =
             [&profile](const TraceRequest& r, WorkloadKeys& keys) {
               return read_log(r.path, profile, keys, r.rules, r.columns);
             },
         .looks_like = [&profile](const TraceHead& head) { return looks_like_log(head, profile); },
         .takes_columns = true});
  }
  return entries;
}

}  // namespace

std::span<const TraceEntry> trace_catalog() {
  static const std::vector<TraceEntry> entries = all_entries();
  return entries;
}

const TraceEntry* find_trace(std::string_view name) {
  for (const TraceEntry& entry : trace_catalog()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

const TraceEntry& recognise_trace(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_fifo(path, error) || std::filesystem::is_character_file(path, error)) {
    throw InputError(shown_path(path),
                     "can be read only once, and a format is known by reading how the file begins, "
                     "expected a regular file; name the format, or write it to a file first");
  }
  const TraceHead head{path, first_bytes(path, "a trace of jobs")};
  if (head.text.empty()) {
    throw InputError(shown_path(path) + ":1:1",
                     "the file is empty, expected a trace of jobs; write one");
  }
  std::string known;
  std::vector<const TraceEntry*> fitting;
  for (const TraceEntry& entry : trace_catalog()) {
    if (!entry.looks_like) continue;
    if (entry.looks_like(head)) fitting.push_back(&entry);
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  if (fitting.size() == 1) return *fitting.front();
  if (fitting.size() > 1) {
    std::string names;
    for (const TraceEntry* entry : fitting) {
      names += (names.empty()             ? ""
                : entry == fitting.back() ? " and "
                                          : ", ") +
               std::string(entry->name);
    }
    throw InputError(
        shown_path(path) + ":1:1",
        "fits the formats " + names + ", expected one; name it (--format-name, workload.source)");
  }
  throw InputError(shown_path(path) + ":1:1",
                   "begins with '" + printable(first_line(head.text)) +
                       "', expected a trace of jobs in one of the formats " + known +
                       "; name its format, or convert it");
}

}  // namespace corun::inline traces
