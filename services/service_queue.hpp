#pragma once

#include <cstdint>
#include <optional>

#include "services/latency_record.hpp"
#include "services/service_times.hpp"
#include "sim/time.hpp"

/// A service as a queue, and what its requests experience.
namespace corun::inline services {

/// When a replica takes requests: as soon as it is idle and `largest` requests wait, or the oldest has waited
/// `longest_wait`. It then takes the oldest ones, `largest` at most. kNever: full batches only. After the last
/// arrival nothing is waited for.
struct Batching {
  int largest = 1;
  Duration longest_wait{0};
};

/// One queue, first come first served, in front of equal replicas. A batch occupies its replica until all of its
/// requests end together.
struct ServiceQueue {
  ServiceTimes times;
  ServiceVariation variation = ServiceVariation::kConstant;
  Batching batching = {};
  int replicas = 1;
};

/// InputError for less than 1 or more than 1e6 replicas, for batches larger than the largest measured one, and for a
/// wait below 0.
void check(const ServiceQueue& queue);

/// [requests/s] that the queue can serve if all batches are full and take `stretch` times as long.
double capacity_per_s(const ServiceQueue& queue, double stretch = 1);

/// What the requests of a span of time experienced.
struct QueueResult {
  LatencyRecord latency;      ///< from arrival to the end of the request's batch
  Duration span{0};           ///< in which they arrived, and in which busy time is counted
  GpuTime busy;               ///< of all replicas together, within the span
  std::uint64_t batches = 0;  ///< that served them
  int replicas = 1;

  double offered_per_s() const { return per_s(static_cast<double>(latency.count())); }
  double utilisation() const;  ///< mean share of time in which a replica is busy, 0 to 1
  double mean_batch() const;   ///< requests; 0 without batches
  /// Requests within the goal per second of the span.
  double goodput_per_s(Duration goal) const {
    return per_s(latency.share_within(goal) * static_cast<double>(latency.count()));
  }

  /// Adds the result of another span of the same service.
  void add(const QueueResult& other);
  /// Adds a span in which `requests` experience what those of `sample` do, and replicas are as busy.
  void add_scaled(const QueueResult& sample, Duration more, std::uint64_t requests);

 private:
  double per_s(double requests) const {
    return span > Duration::zero() ? requests / to_seconds(span) : 0;
  }
};

}  // namespace corun::inline services
