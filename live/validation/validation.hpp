#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "live/run/run_files.hpp"
#include "runner/experiment/experiment.hpp"
#include "support/statistics/mean_interval.hpp"

/// Measurements compared with two simulations of the same run:
///   predicted   before the run; the policy decides freely. If its decisions in the run differ, because times
///               or its knowledge differ, jobs have other co-runners. This is part of the error.
///   replayed    after the run, with the recorded decisions (recorded_policy.hpp), in the same world with the
///               same draws (if all jobs finished: draws are keyed by a job's number among the replayed
///               ones). The rest is the error of the world.
///
/// A job counts if it finished and none of its co-runners ended badly: a world does not model the cost of an
/// incomplete run. Runs that ended badly are not replayed; the time until the next try is part of its delay.
namespace corun::live {

/// ISD = (J_c - J_a) / J_a, a fraction; JCT from submission to exit [s].
struct JobFigures {
  double isd = 0;
  double jct_s = 0;
};

struct ValidatedJob {
  JobId job{};
  GpuId gpu{};
  std::vector<JobId> co_runners;  ///< jobs that ran on its GPU at the same time
  JobFigures measured;
  std::optional<JobFigures> predicted;  ///< nullopt: it did not finish in the prediction
  JobFigures replayed;
};

/// Jobs on one GPU linked by overlap: one job alone, or a co-run. PS = (sum J_a - max J_c) / sum J_a (JRS
/// eq. 2), a fraction, if they started together; else from first start to last exit in place of max J_c.
struct ValidatedGroup {
  std::vector<JobId> jobs;  ///< in the order of the queue
  bool together = false;
  double measured_ps = 0;
  double replayed_ps = 0;
};

/// Measured minus simulated, over jobs (or groups): the mean, and the mean absolute value (`size`).
struct ValidationError {
  std::size_t count = 0;
  Interval mean;  ///< 95 % bootstrap
  Interval size;
};

/// One figure over the jobs (or groups) of a run: means, and errors where both values exist.
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
  std::size_t not_run = 0;  ///< jobs that were never started: the run was cut short
  std::size_t beside = 0;   ///< jobs that finished, but beside a run that ended badly
  Validated isd;
  Validated jct_s;
  /// `predicted` is the mean in prediction.csv. Its groups may differ from those of the run, so it has no
  /// error.
  Validated ps;
};

/// `rows` of read_run(), of a run of `queue`, which is the experiment's workload. `predicted_ps`: mean PS in
/// prediction.csv, a fraction. Throws PolicyError if the record has more jobs on a GPU than allowed.
PolicyValidation validate(const Experiment& experiment, const Trace& queue,
                          const std::string& label, const std::vector<JobsRow>& rows,
                          std::optional<double> predicted_ps);

}  // namespace corun::live
