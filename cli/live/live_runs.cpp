#include "cli/live/live_runs.hpp"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "live/run/run_files.hpp"

namespace corun::live {

namespace {

std::vector<ComparedJob> compared(const PolicyValidation& policy, const Trace& queue, Given given) {
  std::vector<ComparedJob> jobs;
  for (const ValidatedJob& job : policy.jobs) {
    if (given == Given::kPolicy && !job.predicted) continue;
    const TraceJob& queued = queue.jobs[index(job.job)];
    jobs.push_back({queued.name, job.co_runners.empty() ? "alone" : "beside others",
                    to_seconds(queued.spec.submit), job.measured.jct_s,
                    given == Given::kPolicy ? job.predicted->jct_s : job.replayed.jct_s});
  }
  return jobs;
}

}  // namespace

bool is_live_directory(const std::string& directory) {
  std::error_code error;
  return std::filesystem::is_regular_file(directory + "/" + kReplayFile, error);
}

Validation as_validation(const RunValidation& run, const std::string& title, bool policy,
                         bool allocation) {
  std::vector<ValidatedRun> runs;
  for (const PolicyValidation& one : run.policies) {
    for (const Given given : {Given::kPolicy, Given::kAllocation}) {
      if (!(given == Given::kPolicy ? policy : allocation)) continue;
      const std::vector<ComparedJob> jobs = compared(one, *run.queue, given);
      if (!jobs.empty()) runs.push_back(compare_run("live/" + one.label, one.label, given, jobs));
    }
  }
  return compare_runs(title, std::move(runs));
}

}  // namespace corun::live
