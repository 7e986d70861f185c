#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/knowledge/knowledge_base.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/base/nan.hpp"

/// Recommends the jobs of a queue that may run beside a service, by belief (docs/services.md).
///
/// The queueing law gives the largest ISD at which a service keeps its latency goal over its whole load: an ISD of x makes
/// all of its batches 1 + x times as long, on all replicas. The belief gives the distribution of the ISD that a replica
/// would have beside a job. So the goal is kept with the probability of an ISD that is not larger.
namespace corun::inline runner {

/// A job of the queue beside a replica of the service; NaN: it cannot share, or unknown.
struct BesideService {
  std::string job;
  double isd = kNaN;                               ///< expected ISD of the replica while both work
  PredictionInterval isd_interval = {kNaN, kNaN};  ///< 90 % interval of the next such co-run
  double within = kNaN;                            ///< share of requests within the goal at `isd`
  double job_isd = kNaN;  ///< expected ISD of the job, which is slowed while the replica works
  /// Of keeping the goal in the next such co-run; nothing if the belief knows no distribution, or the job cannot share.
  std::optional<double> probability;
  bool may_share = false;  ///< `probability` is as large as was asked for
  std::string reason;      ///< one line
};

struct ServiceRecommendation {
  std::string service;
  double goal_s = 0;
  double share = 0.99;      ///< of the requests that must be within the goal
  double load_per_s = 0;    ///< mean [requests/s]
  int replicas = 1;         ///< the most that the service has
  double within_alone = 1;  ///< share of requests within the goal without co-runners
  /// The largest ISD at which the goal is kept, to 0.001; nothing: it is not kept without co-runners either.
  std::optional<double> most_isd;
  std::vector<BesideService>
      jobs;  ///< most probable first, then least `job_isd`, then as in the queue
};

/// The most that `most_isd` is looked for.
inline constexpr double kMostIsdOfService = 15;

/// For each service of the experiment, by the belief of its first policy, which must be a Recommender
/// (std::bad_cast). `sure`: probability from which on a job may share. `progress(done, total)` is called as the work goes on;
/// `total` is the most that it can be.
std::vector<ServiceRecommendation> recommend_for_services(
    const Experiment& experiment, double sure,
    const std::function<void(std::size_t, std::size_t)>& progress = {});

}  // namespace corun::inline runner
