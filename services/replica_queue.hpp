#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "services/arrivals.hpp"
#include "services/service_queue.hpp"

/// Exact event simulation of a service whose replicas come, go and change their speed while it runs. With replicas that stay
/// at speed 1 it is simulate_queue().
namespace corun::inline services {

class ReplicaQueue {
 public:
  /// No replica is there at first. `queue.replicas` is their largest number. InputError as by check().
  ReplicaQueue(ServiceQueue queue, std::unique_ptr<RequestSource> source, Time start,
               std::uint64_t seed, std::uint64_t entity);

  /// From now on the replica takes 1 / speed times its measured time; 0: it is gone, and the requests that it works on wait
  /// again, first in the queue, with all of their work to do.
  void set_speed(std::size_t replica, double speed);
  /// Serves until `to`, without what happens at it, and adds requests that are answered to `out`. kNever: until no
  /// request is left, or none can be answered. Time is proportional to requests x replicas.
  void advance(Time to, QueueResult& out);

  Time now() const { return now_; }
  std::uint64_t arrived() const { return arrived_; }
  /// Requests that arrived and were not answered.
  std::uint64_t open() const;
  /// The arrival of the oldest of those; now() if there is none.
  Time oldest() const;

 private:
  struct Replica {
    double speed = 0;
    double left_s = 0;  ///< work of its batch as of `since`, at speed 1
    Time since{0};
    Time finish = kNever;
    Time idle_since{0};
    std::vector<Time> batch = {};  ///< arrivals; empty: idle
  };
  Time next_arrival();
  void start(Replica& replica);

  ServiceQueue queue_;
  std::unique_ptr<RequestSource> source_;
  Time start_;
  Time now_;
  Rng rng_;
  std::vector<Replica> replicas_;
  std::deque<Time> waiting_;
  std::vector<Time> piece_;
  std::size_t at_ = 0;
  bool ended_ = false;
  std::uint64_t arrived_ = 0;
};

}  // namespace corun::inline services
