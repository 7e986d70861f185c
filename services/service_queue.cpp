#include "services/service_queue.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/error.hpp"

namespace corun::inline services {

void check(const ServiceQueue& queue) {
  if (queue.replicas < 1 || queue.replicas > 1'000'000) {
    throw InputError("replicas", "found " + std::to_string(queue.replicas) +
                                     ", expected 1 to 1000000; correct it");
  }
  const auto& [largest, longest_wait] = queue.batching;
  if (largest < 1 || largest > queue.times.largest()) {
    throw InputError("largest batch",
                     "found " + std::to_string(largest) + ", expected 1 to " +
                         std::to_string(queue.times.largest()) +
                         ", the largest with a measured time; take a smaller one or measure it");
  }
  if (longest_wait < Duration::zero()) {
    throw InputError("longest wait of a batch", "found a time below 0, expected 0 or more");
  }
}

double capacity_per_s(const ServiceQueue& queue, double stretch) {
  const int batch = queue.batching.largest;
  return queue.replicas * batch / (queue.times.mean_s(batch) * stretch);
}

double QueueResult::utilisation() const {
  if (span <= Duration::zero()) return 0;
  return to_seconds(busy) / (to_seconds(span) * replicas);
}

double QueueResult::mean_batch() const {
  if (batches == 0) return 0;
  return static_cast<double>(latency.count()) / static_cast<double>(batches);
}

void QueueResult::add(const QueueResult& other) {
  latency.add(other.latency);
  span += other.span;
  busy += other.busy;
  batches += other.batches;
  replicas = std::max(replicas, other.replicas);
}

void QueueResult::add_scaled(const QueueResult& sample, Duration more, std::uint64_t requests) {
  latency.add_scaled(sample.latency, requests);
  span += more;
  busy += GpuTime(from_seconds(sample.utilisation() * sample.replicas * to_seconds(more)));
  if (sample.batches > 0) {
    batches += static_cast<std::uint64_t>(
        std::llround(static_cast<double>(requests) / sample.mean_batch()));
  }
  replicas = std::max(replicas, sample.replicas);
}

}  // namespace corun::inline services
