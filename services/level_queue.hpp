#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>

#include "services/queue_approximation.hpp"

/// The approximation of a service whose replicas come, go and change their speed: span by span, each with one load and one
/// speed of the replicas.
///
/// A span that begins without a backlog and has at most kMostStationary of its capacity is that of a queue served so for
/// ever (stationary_queue()); requests and speeds are rounded to steps of 2 %, so that a law is computed once. Otherwise
/// requests are a fluid: they come and are served at their mean rates, in order, and each takes the time of a full
/// batch after it has waited. Between kMostStationary and the capacity the queue is that at kMostStationary.
namespace corun::inline services {

class LevelQueue {
 public:
  LevelQueue(ServiceQueue queue, Spacing spacing, std::uint64_t seed, std::uint64_t entity);

  /// `requests` arrive evenly over [from, to) and meet `replicas` of this mean speed, above 0 unless there are none.
  /// Adds those that are answered to `out`.
  void serve(Time from, Time to, double requests, int replicas, double speed, QueueResult& out);
  /// Requests that wait.
  double backlog() const { return backlog_; }
  /// Requests that were answered, by Method.
  const std::array<std::uint64_t, kMethods>& methods() const { return methods_; }

 private:
  /// Requests that arrived evenly over a time and wait.
  struct Cohort {
    Time from{0};
    Time to{0};
    double requests = 0;
  };
  void add_stationary(double requests, double per_s, int replicas, double speed, Duration span,
                      QueueResult& out);
  std::uint64_t whole(double requests);

  ServiceQueue queue_;
  Spacing spacing_;
  ApproximationOptions options_;
  std::map<std::tuple<int, int, int>, StationaryQueue> laws_;  ///< by replicas, load, speed
  std::deque<Cohort> waiting_;
  double backlog_ = 0;
  double rest_ = 0;  ///< of requests that were rounded
  std::array<std::uint64_t, kMethods> methods_{};
};

}  // namespace corun::inline services
