#pragma once

#include "services/queue_simulation.hpp"

/// Services of the tests.
namespace corun::test {

/// One measured time for all batch sizes up to `largest`.
inline ServiceQueue queue_of(double mean_s, int replicas, ServiceVariation variation,
                             int largest = 1, Duration longest_wait = Duration{0}) {
  return {ServiceTimes({{largest, mean_s}}), variation, {largest, longest_wait}, replicas};
}

/// `per_s` Poisson requests until `end_s`, of which those after the first tenth count.
inline QueueResult served(const ServiceQueue& queue, double per_s, double end_s,
                          std::uint64_t seed = 1, Spacing spacing = Spacing::kPoisson) {
  LoadRequests requests(constant_load(per_s, from_seconds(end_s)), spacing, seed);
  QueueSimulation simulation{.seed = seed};
  simulation.from = from_seconds(end_s / 10);
  simulation.until = from_seconds(end_s);
  return simulate_queue(queue, requests, simulation);
}

}  // namespace corun::test
