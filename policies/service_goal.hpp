#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/belief.hpp"
#include "sim/service_traffic.hpp"

/// Whether a job may run beside a replica of a service, by what was observed of the service and what is believed of the pair.
namespace corun::inline policies {

/// The latency [s] that the goal's share of the requests would have if the service's times became `stretch` times as long.
/// As in M/M/1, where a quantile of the latency is in proportion to s / (1 - u) for service time s and utilisation u:
/// latency x stretch x (1 - u) / (1 - u x stretch). Infinity where the service could not serve its load. A co-runner
/// stretches one of several replicas; this takes all of them.
inline double stretched_latency_s(const ServiceView& service, double stretch) {
  const double busy = service.busy * stretch;
  if (busy >= 1) return std::numeric_limits<double>::infinity();
  return service.latency_s * stretch * (1 - service.busy) / (1 - busy);
}

/// Whether the service, observed for an interval at least, would keep its goal with an ISD of `isd` + `margin` standard
/// errors; `sd` is that of a single co-run, of which the estimate is worth `co_runs`.
inline bool keeps_goal(const ServiceView& service, double isd, double sd, double co_runs,
                       double margin) {
  if (service.intervals == 0) return false;
  const double isd_at_most = isd + margin * sd / std::sqrt(co_runs);
  return stretched_latency_s(service, 1 + std::max(0.0, isd_at_most)) <= service.goal_s;
}

/// The same for the replica `b` of a believed pair.
inline bool keeps_goal_of_b(const ServiceView& service, const PairBelief& pair, double margin) {
  return keeps_goal(service, pair.isd_b, pair.sd_b, pair.co_runs, margin);
}

/// Standard errors by which policies that have no parameter for it are careful: one-sided 95 %.
inline constexpr double kGoalMargin = 1.645;

}  // namespace corun::inline policies
