#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/arrivals.hpp"
#include "services/level_queue.hpp"
#include "services/replica_queue.hpp"
#include "sim/service_traffic.hpp"

/// The requests of all services of a run: what the engine's ServiceTraffic is in the simulator.
namespace corun::inline services {

/// A service as it was asked for. `queue.replicas` is the largest number of replicas.
struct ServicePlan {
  std::string name;  ///< for results; policies do not see it
  ServiceQueue queue;
  int least_replicas = 1;
  Time start{0};
  Time end{0};
  double goal_s = 0;
  double share = 0.99;
  RequestLoad load = {};            ///< from the start on; of a trace, its requests in windows
  std::vector<Time> arrivals = {};  ///< of a trace, from the start on; empty: drawn from `load`
  Spacing spacing = Spacing::kPoisson;
};

/// What was observed of a service between two times.
struct ServiceInterval {
  Time start{0};
  Time end{0};
  double load_per_s = 0;
  double replicas = 0;   ///< mean number on GPUs
  double busy = 0;       ///< share of their time in which they worked
  double latency_s = 0;  ///< which the goal's share of the requests had at most
  double within = 1;     ///< share of requests within the goal
};

struct ServiceOutcome {
  std::string name;
  QueueResult result;          ///< of the requests that were answered
  std::uint64_t requests = 0;  ///< that arrived
  std::uint64_t within = 0;    ///< answered within the goal
  double replica_s = 0;        ///< time of replicas on GPUs [s]
  double length_s = 0;         ///< from start to end
  double goal_s = 0;           ///< the latency that `share` of the requests must have [s]
  double share = 0.99;
  std::array<std::uint64_t, kMethods> methods{};
  std::vector<ServiceInterval> intervals;

  double share_within() const {
    return requests == 0 ? 1 : static_cast<double>(within) / static_cast<double>(requests);
  }
  /// Mean number of replicas on GPUs.
  double replicas() const { return length_s > 0 ? replica_s / length_s : 0; }
  /// Share of their time in which they worked.
  double busy() const { return replica_s > 0 ? to_seconds(result.busy) / replica_s : 0; }
  double goodput_per_s() const { return length_s > 0 ? static_cast<double>(within) / length_s : 0; }
};

struct ServiceRunOptions {
  std::uint64_t seed = 1;
  Duration interval = std::chrono::seconds(60);  ///< of observations, and between changes of loads
  /// Services with more requests are approximated (LevelQueue), the others simulated one by one (ReplicaQueue).
  double most_simulated = 5e6;
};

class ServiceRun final : public ServiceTraffic {
 public:
  /// `service_of`: by JobId, below 0 for jobs that are no replicas. Both must outlive this.
  ServiceRun(const std::vector<ServicePlan>& plans, const std::vector<int>& service_of,
             ServiceRunOptions options);

  Time next_change() const override { return next_; }
  void advance(Time now) override;
  void runs(JobId replica, Time now, double speed) override;
  double busy(JobId replica, double speed) const override;
  ReplicaWork work(JobId replica, Time now) const override;
  void running(std::vector<JobId>& out) const override;

  /// The same object as long as this lives; its values change.
  const ServiceView* view(std::uint32_t service) const { return &states_[service].view; }
  /// Answers what is left, and returns the outcomes, by service. Call it once.
  std::vector<ServiceOutcome> take();

 private:
  struct State {
    ServiceView view;
    std::vector<JobId> replicas;    ///< all
    std::vector<double> speeds;     ///< by replica; 0: on no GPU
    std::vector<ReplicaWork> work;  ///< by replica, until `now`
    std::optional<ReplicaQueue> exact;
    std::optional<LevelQueue> level;
    Time now{0};               ///< served up to here
    QueueResult part;          ///< of the present interval
    double part_requests = 0;  ///< that arrived in it
    double part_replica_s = 0;
    Time part_from{0};
    double open_before = 0;  ///< for approximations: expected requests so far
    ServiceOutcome outcome;
  };
  void serve(std::size_t service, Time until);
  void close(std::size_t service, Time now);
  double expected(const ServicePlan& plan, Time from, Time to) const;

  const std::vector<ServicePlan>& plans_;
  const std::vector<int>& service_of_;
  ServiceRunOptions options_;
  std::vector<State> states_;
  std::vector<std::uint32_t> place_;  ///< by JobId: of a replica in State::replicas
  Time next_ = kNever;
};

}  // namespace corun::inline services
