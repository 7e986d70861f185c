#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/replay_result.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/replay/replay_view.hpp"
#include "support/json.hpp"

/// Completion times by groups of jobs: `corun replay --by`. The replications must have records of jobs.
namespace corun::inline runner {

/// How jobs are grouped.
struct JobGrouping {
  enum class Kind : std::uint8_t {
    kGpus,    ///< by the size of the gang
    kLength,  ///< quarters by run time alone
    kWorst,  ///< the tenth of each policy's jobs with the longest JCT of a replication, and the others
    kColumn,  ///< by a column of the log (Trace::carried)
  };
  Kind kind{};
  std::string name;  ///< as in --by: gpus, length, worst or the column
};

/// Quarters of jobs by run time alone, the shortest first; equal times in the order of the list.
struct Quarters {
  std::vector<std::string> names;  ///< "10 to 40 s"; fewer than four for fewer jobs
  std::vector<std::size_t> of;     ///< by job
};
Quarters quarters_by_length(std::span<const double> work_s);

/// Which jobs are the tenth of a policy's finished jobs with the longest JCT, at least one. NaN: not finished.
std::vector<bool> worst_tenth(std::span<const double> jct_s);

/// The grouping of a name in --by. InputError at the flag if it is none of the words and no column of the jobs.
JobGrouping job_grouping(const Experiment& experiment, const std::string& name);

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
