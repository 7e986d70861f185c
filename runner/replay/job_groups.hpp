#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/replay_result.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/replay/replay_view.hpp"
#include "support/json.hpp"

/// Completion times by groups of jobs: `corun replay --by`. The replications must have records of jobs.
namespace corun::inline runner {

/// How jobs are grouped: "gpus", the size of the gang; "length", quarters by run time alone; "worst", by policy the
/// tenth of the jobs with the longest completion times of each replication beside the others; else a column of the log
/// (Trace::carried).
struct JobGrouping {
  std::string by;
};

/// The grouping of --by. InputError at the flag if it is no such word and no column of the jobs.
JobGrouping job_grouping(const Experiment& experiment, const std::string& by);

/// Mean over replications of the mean JCT of a group's finished jobs.
struct GroupOfJobs {
  std::string name;
  std::size_t jobs = 0;       ///< of the first replication; of "worst" as all policies have them
  double work_share = 0;      ///< of the GPU time of all jobs alone
  std::vector<double> jct_s;  ///< by policy; NaN: none finished
};

/// Of `gpus` and `length` in ascending order, of a column the groups with the most work first.
std::vector<GroupOfJobs> groups_of_jobs(const ReplayResult& result, const JobGrouping& grouping);

/// A table of at most 20 groups: the mean JCT of each policy, with its ratio to the baseline's.
std::string groups_table(const Experiment& experiment, const ReplayResult& result,
                         const ReplayView& view, const JobGrouping& grouping);
Json groups_json(const Experiment& experiment, const ReplayResult& result,
                 const JobGrouping& grouping);

}  // namespace corun::inline runner
