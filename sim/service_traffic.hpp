#pragma once

#include <cstdint>
#include <vector>

#include "sim/ids.hpp"
#include "sim/time.hpp"

/// Services in the simulated cluster. A replica of a service is a job that ends at a set time, whatever it has done
/// (JobSpec::service). What its requests experience is computed outside the engine, behind this interface.
namespace corun::inline sim {

/// What policies see of a service: its goal, and what was observed in the last interval that is over; never its
/// future load. JobView::service of a replica points to it, and its values change at ends of intervals.
struct ServiceView {
  std::uint32_t service = 0;  ///< an opaque number; replicas of one service have the same
  double goal_s = 0;          ///< the latency that `share` of the requests must have [s]
  double share = 0.99;
  int least_replicas = 1;
  int most_replicas = 1;

  bool over = false;            ///< it has ended: a replica that starts ends at once
  std::uint32_t intervals = 0;  ///< that are over; 0: nothing was observed yet
  double load_per_s = 0;        ///< requests that arrived per second
  double latency_s = 0;         ///< which `share` of the requests had at most [s]
  double within = 1;            ///< share of the requests within the goal
  double busy = 0;              ///< share of the replicas' time in which they worked
  double replicas = 0;          ///< mean number on GPUs
  double busy_s = 0;            ///< of all intervals: time in which replicas worked [s]
  double replica_s = 0;         ///< of all intervals: time of replicas on GPUs [s]
};

/// What was observed of a replica since the service's start.
struct ReplicaWork {
  double on_s = 0;  ///< time on GPUs [s]
  double worked_s =
      0;  ///< the same at the measured times: batches that take twice their measured time give half of it [s]
};

/// The requests of all services of a run, in virtual time. Calls come in order of time.
class ServiceTraffic {
 public:
  virtual ~ServiceTraffic() = default;

  /// When the present interval ends; kNever: no service is left.
  virtual Time next_change() const = 0;
  /// That interval is over: views are those of it, and loads those of the next one.
  virtual void advance(Time now) = 0;
  /// The replica works at this speed relative to its measured times from now on; 0: it is on no GPU.
  virtual void runs(JobId replica, Time now, double speed) = 0;
  /// Share of time, 0 to 1, in which a replica works at the present load if its speed on its GPU is this.
  virtual double busy(JobId replica, double speed) const = 0;
  /// Of a replica, until now.
  virtual ReplicaWork work(JobId replica, Time now) const {
    (void)replica;
    (void)now;
    return {};
  }
  /// The replicas on GPUs.
  virtual void running(std::vector<JobId>& out) const = 0;
};

}  // namespace corun::inline sim
