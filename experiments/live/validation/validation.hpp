#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment/experiment.hpp"
#include "experiments/live/run/run_files.hpp"
#include "experiments/statistics/bootstrap.hpp"

/// What was measured beside what the simulator says of it, twice:
///   predicted   before the run, the policy free to decide. Where it decides otherwise in the run than it
///               did in the simulation, because the clock or its knowledge went another way, jobs have
///               other co-runners, and that is part of this error.
///   replayed    after it, with the decisions on record (recorded_policy.hpp), in the same world with the
///               same draws (where all jobs finished: draws go by a job's number among those replayed):
///               what is left is the error of the world.
///
/// A job counts when it finished and none of those beside it ended badly: what a run that was cut off
/// costs the others, no world says. Runs that ended badly are not replayed; the time until the next try is
/// part of its delay.
namespace corun::live {

/// ISD = (J_c - J_a) / J_a, a fraction; JCT from submission to exit [s].
struct JobFigures {
  double isd = 0;
  double jct_s = 0;
};

struct ValidatedJob {
  JobId job{};
  GpuId gpu{};
  std::vector<JobId> co_runners;  ///< who ran on its GPU while it did
  JobFigures measured;
  std::optional<JobFigures> predicted;  ///< none: the prediction did not finish it
  JobFigures replayed;
};

/// Jobs on one GPU linked by overlap: one job alone, or a co-run. PS = (sum J_a - max J_c) / sum J_a (JRS
/// eq. 2) where they were started together, else with the length of their whole time in place of max J_c.
struct ValidatedGroup {
  std::vector<JobId> jobs;  ///< in the order of the queue
  bool together = false;
  double measured_ps = 0;
  double replayed_ps = 0;
};

/// Measured minus said, over jobs (or groups): the mean, and the mean size.
struct ValidationError {
  std::size_t count = 0;
  Interval mean;  ///< 95 % bootstrap
  Interval size;
};

/// One figure over the jobs (or groups) of a run: means, and errors where there is something to compare.
struct Validated {
  std::optional<double> measured;
  std::optional<double> predicted;
  std::optional<double> replayed;
  std::optional<ValidationError> error_of_predicted;
  std::optional<ValidationError> error_of_replayed;
};

struct PolicyValidation {
  std::string label;
  std::vector<ValidatedJob> jobs;  ///< those that count, in the order of the queue
  std::vector<ValidatedGroup> groups;
  std::size_t failed = 0;   ///< jobs that did not finish
  std::size_t not_run = 0;  ///< jobs that never came to run: the run was cut short
  std::size_t beside = 0;   ///< jobs that finished, but beside a run that ended badly
  Validated isd;
  Validated jct_s;
  /// Predicted is the mean of prediction.csv: its groups need not be those of the run, so it has no error.
  Validated ps;
};

/// `rows` as read_run() gives them, of a run of `queue`, which is the experiment's workload.
/// `predicted_ps` is what prediction.csv says.
PolicyValidation validate(const Experiment& experiment, const Trace& queue,
                          const std::string& label, const std::vector<JobsRow>& rows,
                          std::optional<double> predicted_ps);

}  // namespace corun::live
