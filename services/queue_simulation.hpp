#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "services/arrivals.hpp"
#include "services/service_queue.hpp"
#include "services/step_function.hpp"

/// Exact event simulation of every request of a service.
namespace corun::inline services {

struct ServedBatch {
  Time start{0};
  Time finish{0};
  std::size_t replica = 0;
  std::span<const Time> arrivals;  ///< of its requests; valid during the call
};

struct QueueSimulation {
  std::uint64_t seed = 1;
  std::uint64_t entity = 0;  ///< tells services apart: each has its own draws
  /// Factor by which a batch takes longer than its measured time, above 0: what co-runners cost. When it changes, the
  /// rest of the work of a running batch changes its speed.
  StepFunction stretch{1.0};
  /// Requests that arrive within [from, until), and busy time within it, are counted. kNever: until the last batch ends.
  Time from{0};
  Time until = kNever;
  std::function<void(const ServedBatch&)> on_batch =
      {};  ///< called for each batch, in the order of starts
};

/// Serves all requests of `source`, counted or not. Time is proportional to the number of requests, times the logarithm
/// of the number of replicas; memory is that of the requests that wait. InputError as by check(), for a stretch of 0, and
/// if time would pass 292 years.
///
/// An instant's arrivals come before its starts. Replicas are equal and the queue is first come first served, so
/// batches start in the order of their requests, each on the replica that is idle first: this needs no queue of events.
QueueResult simulate_queue(const ServiceQueue& queue, RequestSource& source,
                           const QueueSimulation& simulation);

}  // namespace corun::inline services
