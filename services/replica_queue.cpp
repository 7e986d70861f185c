#include "services/replica_queue.hpp"

#include <algorithm>
#include <utility>

namespace corun::inline services {
namespace {

constexpr std::size_t kArrivalsAtOnce = 4096;

}  // namespace

ReplicaQueue::ReplicaQueue(ServiceQueue queue, std::unique_ptr<RequestSource> source, Time start,
                           std::uint64_t seed, std::uint64_t entity)
    : queue_(std::move(queue)),
      source_(std::move(source)),
      start_(start),
      now_(start),
      rng_(seed, Stream::kServiceTimes, entity),
      replicas_(static_cast<std::size_t>(queue_.replicas)) {
  check(queue_);
}

/// kNever: none is left.
Time ReplicaQueue::next_arrival() {
  if (at_ == piece_.size() && !ended_) {
    piece_.resize(kArrivalsAtOnce);
    const std::size_t got = source_->next(piece_);
    ended_ = got < piece_.size();
    piece_.resize(got);
    at_ = 0;
  }
  return at_ == piece_.size() ? kNever : later(start_, piece_[at_]);
}

void ReplicaQueue::set_speed(std::size_t number, double speed) {
  Replica& replica = replicas_[number];
  if (speed == replica.speed) return;
  if (replica.speed == 0) replica.idle_since = now_;
  if (!replica.batch.empty()) {
    replica.left_s -= to_seconds(now_ - replica.since) * replica.speed;
    replica.left_s = std::max(replica.left_s, 0.0);
    replica.since = now_;
    if (speed == 0) {
      waiting_.insert(waiting_.begin(), replica.batch.begin(), replica.batch.end());
      replica.batch.clear();
      replica.finish = kNever;
    } else {
      replica.finish = later(now_, from_seconds(replica.left_s / speed));
    }
  }
  replica.speed = speed;
}

void ReplicaQueue::start(Replica& replica) {
  const std::size_t size =
      std::min(waiting_.size(), static_cast<std::size_t>(queue_.batching.largest));
  replica.batch.assign(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(size));
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(size));
  const double mean_s = queue_.times.mean_s(static_cast<int>(size));
  replica.left_s =
      queue_.variation == ServiceVariation::kConstant ? mean_s : rng_.exponential(mean_s);
  replica.since = now_;
  replica.finish = later(now_, from_seconds(replica.left_s / replica.speed));
}

void ReplicaQueue::advance(Time to, QueueResult& out) {
  const auto largest = static_cast<std::size_t>(queue_.batching.largest);
  const Duration longest_wait = queue_.batching.longest_wait;
  const Time from = now_;
  for (;;) {
    const Time arrival = next_arrival();
    Replica* idle = nullptr;
    Replica* first = nullptr;  // to end its batch
    int working = 0;
    for (Replica& replica : replicas_) {
      if (!replica.batch.empty()) {
        ++working;
        if (first == nullptr || replica.finish < first->finish) first = &replica;
      } else if (replica.speed > 0 && (idle == nullptr || replica.idle_since < idle->idle_since)) {
        idle = &replica;
      }
    }
    Time due = kNever;
    if (idle != nullptr && !waiting_.empty()) {
      const bool full = waiting_.size() >= largest || arrival == kNever;
      due = full || longest_wait == kNever ? kNever : later(waiting_.front(), longest_wait);
      if (full) due = now_;
      due = std::max(due, now_);
    }
    const Time next = std::min({arrival, first == nullptr ? kNever : first->finish, due});
    const Time until = std::min(next, to);
    if (until != kNever) {
      out.busy += GpuTime((until - now_) * working);
      now_ = until;
    }
    if (next == kNever || next >= to) break;
    if (first != nullptr && first->finish == next) {
      for (const Time at : first->batch) out.latency.add(next - at);
      ++out.batches;
      first->batch.clear();
      first->finish = kNever;
      first->idle_since = next;
    } else if (arrival == next) {
      waiting_.push_back(next);
      ++at_;
      ++arrived_;
    } else {
      start(*idle);
    }
  }
  out.span += now_ - from;
}

std::uint64_t ReplicaQueue::open() const {
  std::uint64_t count = waiting_.size();
  for (const Replica& replica : replicas_) count += replica.batch.size();
  return count;
}

Time ReplicaQueue::oldest() const {
  Time oldest = waiting_.empty() ? now_ : waiting_.front();
  for (const Replica& replica : replicas_) {
    if (!replica.batch.empty()) oldest = std::min(oldest, replica.batch.front());
  }
  return oldest;
}

}  // namespace corun::inline services
