#include "services/queue_simulation.hpp"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::inline services {
namespace {

/// The requests that wait or are still to come, read from their source in pieces.
class WaitingRequests {
 public:
  explicit WaitingRequests(RequestSource& source) : source_(source) {}

  /// Whether there is an i-th request (from 0) that is not yet taken.
  bool has(std::size_t i) {
    while (at_ + i >= times_.size() && !ended_) read();
    return at_ + i < times_.size();
  }
  /// The i-th, after has(i).
  Time arrival(std::size_t i) const { return times_[at_ + i]; }
  std::span<const Time> first(std::size_t count) const {
    return std::span(times_).subspan(at_, count);
  }
  void take(std::size_t count) { at_ += count; }

 private:
  static constexpr std::size_t kPiece = 4096;

  void read() {
    times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    const std::size_t before = times_.size();
    // As many as wait at least: moving them stays linear in the number of requests.
    const std::size_t wanted = std::max(kPiece, before);
    times_.resize(before + wanted);
    const std::size_t got = source_.next(std::span(times_).subspan(before));
    times_.resize(before + got);
    ended_ = got < wanted;
  }

  RequestSource& source_;
  std::vector<Time> times_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

/// When work ends under a stretch that changes; starts ascend from call to call.
class StretchedWork {
 public:
  explicit StretchedWork(const StepFunction& stretch) : stretch_(stretch) {
    for (const Step& step : stretch.steps()) {
      if (step.value > 0) continue;
      throw InputError("stretch by co-runners", "found 0, expected a factor above 0; correct it");
    }
  }

  Time end(Time start, double work_s) {
    const auto steps = stretch_.steps();
    while (stretch_.end_of(at_) <= start) ++at_;
    Time now = start;
    for (std::size_t i = at_;; ++i) {
      const double needed_s = work_s * steps[i].value;
      const Time step_end = stretch_.end_of(i);
      if (step_end == kNever || needed_s <= to_seconds(step_end - now)) {
        return later(now, from_seconds(needed_s));
      }
      work_s -= to_seconds(step_end - now) / steps[i].value;
      now = step_end;
    }
  }

 private:
  const StepFunction& stretch_;
  std::size_t at_ = 0;
};

}  // namespace

QueueResult simulate_queue(const ServiceQueue& queue, RequestSource& source,
                           const QueueSimulation& simulation) {
  check(queue);
  const auto largest = static_cast<std::size_t>(queue.batching.largest);
  const Duration longest_wait = queue.batching.longest_wait;
  WaitingRequests waiting(source);
  StretchedWork work(simulation.stretch);
  Rng rng(simulation.seed, Stream::kServiceTimes, simulation.entity);
  using Idle = std::pair<Time, std::size_t>;  // since when, which replica
  std::priority_queue<Idle, std::vector<Idle>, std::greater<>> replicas;
  for (int i = 0; i < queue.replicas; ++i) replicas.emplace(Time{0}, i);

  QueueResult result;
  result.replicas = queue.replicas;
  Time last_finish = simulation.from;
  while (waiting.has(0)) {
    const auto [idle_since, replica] = replicas.top();
    replicas.pop();
    // A batch is due when it is full, or its oldest request has waited long enough, or none follows.
    Time due = longest_wait == kNever ? kNever : later(waiting.arrival(0), longest_wait);
    if (waiting.has(largest - 1)) {
      due = std::min(due, waiting.arrival(largest - 1));
    } else if (due > idle_since) {
      std::size_t last = 0;
      while (waiting.has(last + 1)) ++last;
      due = std::min(due, waiting.arrival(last));
    }
    const Time start = std::max(idle_since, due);
    std::size_t size = 1;
    while (size < largest && waiting.has(size) && waiting.arrival(size) <= start) ++size;
    const double mean_s = queue.times.mean_s(static_cast<int>(size));
    const double work_s =
        queue.variation == ServiceVariation::kConstant ? mean_s : rng.exponential(mean_s);
    const Time finish = work.end(start, work_s);

    bool counts = false;
    for (const Time arrival : waiting.first(size)) {
      if (arrival < simulation.from || arrival >= simulation.until) continue;
      result.latency.add(finish - arrival);
      counts = true;
    }
    result.batches += counts ? 1 : 0;
    const Time busy_from = std::max(start, simulation.from);
    const Time busy_until = std::min(finish, simulation.until);
    if (busy_until > busy_from) result.busy += GpuTime(busy_until - busy_from);
    last_finish = std::max(last_finish, finish);
    if (simulation.on_batch) simulation.on_batch({start, finish, replica, waiting.first(size)});
    replicas.emplace(finish, replica);
    waiting.take(size);
  }
  result.span = (simulation.until == kNever ? last_finish : simulation.until) - simulation.from;
  return result;
}

}  // namespace corun::inline services
