#include "services/level_queue.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/base/math.hpp"

namespace corun::inline services {
namespace {

/// Steps per unit of a natural logarithm: values are rounded to 2 %.
constexpr double kStepsPerUnit = 50;
constexpr int kPieces = 8;  ///< of a span that is a fluid

int rounded_log(double value) {
  return static_cast<int>(std::lround(math::log(value) * kStepsPerUnit));
}
double value_of(int step) { return math::exp(step / kStepsPerUnit); }

ServiceQueue at_speed(const ServiceQueue& queue, int replicas, double speed) {
  std::vector<MeasuredBatch> times(queue.times.measured().begin(), queue.times.measured().end());
  for (MeasuredBatch& time : times) time.mean_s /= speed;
  return {ServiceTimes(std::move(times)), queue.variation, queue.batching, replicas};
}

}  // namespace

LevelQueue::LevelQueue(ServiceQueue queue, Spacing spacing, std::uint64_t seed,
                       std::uint64_t entity)
    : queue_(std::move(queue)), spacing_(spacing) {
  check(queue_);
  options_.seed = seed;
  options_.entity = entity;
  options_.most_sampled = 200'000;
}

std::uint64_t LevelQueue::whole(double requests) {
  rest_ += requests;
  const double down = std::floor(rest_);
  rest_ -= down;
  return static_cast<std::uint64_t>(down);
}

void LevelQueue::add_stationary(double requests, double per_s, int replicas, double speed,
                                Duration span, QueueResult& out) {
  const std::tuple key{replicas, rounded_log(per_s), rounded_log(speed)};
  auto at = laws_.find(key);
  if (at == laws_.end()) {
    const ServiceQueue queue = at_speed(queue_, replicas, value_of(std::get<2>(key)));
    const double rate =
        std::min(value_of(std::get<1>(key)), kMostStationary * capacity_per_s(queue));
    at = laws_.emplace(key, stationary_queue(queue, rate, spacing_, options_)).first;
  }
  const std::uint64_t count = whole(requests);
  out.add_scaled(at->second.result, span, count);
  methods_.at(static_cast<std::size_t>(at->second.method)) += count;
}

void LevelQueue::serve(Time from, Time to, double requests, int replicas, double speed,
                       QueueResult& out) {
  if (to <= from) return;
  const double seconds = to_seconds(to - from);
  const double capacity =
      replicas == 0 ? 0 : capacity_per_s(at_speed(queue_, replicas, speed)) * seconds;
  if (waiting_.empty() && requests <= capacity) {
    if (requests > 0) {
      const double per_s = std::min(requests, kMostStationary * capacity) / seconds;
      add_stationary(requests, per_s, replicas, speed, to - from, out);
    } else {
      out.span += to - from;
    }
    return;
  }
  const double batch_s = replicas == 0 ? 0 : queue_.times.mean_s(queue_.batching.largest) / speed;
  for (int p = 0; p < kPieces; ++p) {
    const Time begin = from + (to - from) * p / kPieces;
    const Time end = from + (to - from) * (p + 1) / kPieces;
    if (requests > 0) waiting_.push_back({begin, end, requests / kPieces});
    backlog_ += requests / kPieces;
    double left = capacity / kPieces;
    double busy_s = 0;
    while (left > 0 && !waiting_.empty()) {
      Cohort& first = waiting_.front();
      const double served = std::min(left, first.requests);
      // The served part arrived first; it is served in the middle of its share of this piece.
      const Time arrived =
          first.from + from_nanoseconds(served / first.requests / 2 *
                                        static_cast<double>((first.to - first.from).count()));
      const double done = 1 - (left - served / 2) / (capacity / kPieces);
      const Time at = begin + from_nanoseconds(done * static_cast<double>((end - begin).count()));
      const Duration waited = std::max(at - arrived, Duration{0});
      const std::uint64_t count = whole(served);
      if (count > 0) out.latency.add(waited + from_seconds(batch_s), count);
      methods_.at(static_cast<std::size_t>(Method::kFluid)) += count;
      out.batches += count / static_cast<std::uint64_t>(queue_.batching.largest);
      busy_s += served / capacity * seconds * replicas;
      left -= served;
      backlog_ = std::max(backlog_ - served, 0.0);
      first.from += from_nanoseconds(served / first.requests *
                                     static_cast<double>((first.to - first.from).count()));
      first.requests -= served;
      if (first.requests < 1e-9) waiting_.pop_front();
    }
    out.busy += GpuTime(from_seconds(busy_s));
  }
  if (waiting_.empty()) backlog_ = 0;
  out.span += to - from;
}

}  // namespace corun::inline services
