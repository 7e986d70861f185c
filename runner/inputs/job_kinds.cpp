#include "runner/inputs/job_kinds.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/inputs/file_kind.hpp"
#include "runner/inputs/job_features.hpp"
#include "sim/error.hpp"
#include "traces/job_csv.hpp"
#include "traces/tables/profile_csv.hpp"

namespace corun::inline runner {

namespace {

Trace trace_of_profiles(const std::string& path, WorkloadKeys& keys) {
  const ProfileTable table = read_profile_csv(path);
  Trace trace;
  trace.source = table.source;
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    JobSpec job;
    job.work = std::chrono::seconds(1);  // no cost of a pair depends on it
    job.profile = table.profiles[i];
    trace.jobs.push_back({job, table.jobs[i], keys.of(table.jobs[i])});
  }
  return trace;
}

/// Sets the kinds of a trace's jobs.
void add_jobs(const Trace& trace, WorkloadKeys& keys, JobKinds& kinds) {
  std::unordered_map<WorkloadKey, std::uint32_t> kind_of;
  kinds.trace = without_jobs(trace);
  std::size_t left_out = 0;
  for (const TraceJob& job : trace.jobs) {
    if (job.spec.gpus != 1) {
      ++left_out;
      continue;
    }
    const WorkloadKey key = job.key == kUnknownWorkload ? keys.of(job.name) : job.key;
    const auto [at, is_new] = kind_of.emplace(key, static_cast<std::uint32_t>(kinds.names.size()));
    if (is_new) {
      kinds.names.push_back(keys.text(key));
      kinds.keys.push_back(key);
      kinds.trace.jobs.push_back(job);
    }
    kinds.jobs.push_back(at->second);
  }
  if (left_out > 0) {
    kinds.notes.push_back(
        fmt::format("{}: {} jobs of several GPUs are left out", kinds.source, left_out));
  }
}

}  // namespace

JobKinds read_job_kinds(const std::string& path, WorkloadKeys& keys) {
  check_kind(path, {FileKind::kJobs, FileKind::kProfiles, FileKind::kPairs},
             "a job trace, a table of profiles or a table of pairs");
  JobKinds kinds;
  const FileKind kind = kind_of_file(path).kind;
  if (kind == FileKind::kPairs) {
    kinds.table = read_measurements(path, keys);
    kinds.source = kinds.table.source;
    kinds.names = kinds.table.names;
    kinds.keys = kinds.table.speeds.jobs;
    for (std::size_t j = 0; j < kinds.names.size(); ++j) {
      kinds.jobs.push_back(static_cast<std::uint32_t>(j));
    }
    kinds.notes = kinds.table.notes;
    return kinds;
  }
  const Trace trace =
      kind == FileKind::kProfiles ? trace_of_profiles(path, keys) : read_job_csv(path, keys);
  kinds.source = trace.source;
  add_jobs(trace, keys, kinds);
  return kinds;
}

std::vector<double> kind_features(const JobKinds& kinds,
                                  const std::vector<SpeedTable::Feature>& wanted) {
  const bool is_table = !kinds.table.names.empty();
  std::vector<std::string> missing;
  if (!is_table) {
    missing = missing_features(kinds.trace, wanted);
  } else if (kinds.table.speeds.features != wanted) {
    for (const SpeedTable::Feature& feature : wanted) {
      if (std::ranges::find(kinds.table.speeds.features, feature) ==
          kinds.table.speeds.features.end()) {
        missing.push_back(feature.name);
      }
    }
  }
  if (!missing.empty() && missing.size() == wanted.size()) {
    throw InputError(kinds.source,
                     fmt::format("has no {}, which the model was fitted on; give jobs in the form "
                                 "of the table that the model was fitted on",
                                 fmt::join(missing, ", ")));
  }
  std::vector<double> values;
  for (std::size_t k = 0; k < kinds.names.size(); ++k) {
    if (!is_table) {
      const std::vector<double> of_job = features_of(
          kinds.trace, k, kinds.trace.jobs[k].spec.profile, wanted, ImputedProfiles::kUnknown);
      values.insert(values.end(), of_job.begin(), of_job.end());
      continue;
    }
    const SpeedTable& table = kinds.table.speeds;
    for (const SpeedTable::Feature& feature : wanted) {
      const auto at = std::ranges::find(table.features, feature) - table.features.begin();
      const bool is_there = at < std::ssize(table.features);
      values.push_back(is_there ? table.of(k)[at] : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return values;
}

}  // namespace corun::inline runner
