#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/pods/pod_ledger.hpp"
#include "policies/service_goal.hpp"
#include "policies/srsf_packed/jobs.hpp"

/// The running jobs: where they are, how far they are, how fast they are by the belief, and when they end.
namespace corun::inline policies::srsf {

class Running {
 public:
  Running(const Options& options, Jobs& jobs, Belief& belief, PreemptionLoss loss)
      : options_(options), jobs_(jobs), belief_(belief), loss_(loss) {}

  /// Of a pass.
  void begin(const ClusterView& view);

  bool contains(JobId id) const { return runs_.contains(id); }
  const Run& at(JobId id) const { return runs_.at(id); }
  const std::unordered_map<JobId, Run>& all() const { return runs_; }
  /// Begins a scan of the jobs on some GPUs, in which is_new() is true once for each job.
  void begin_scan() { ++scan_; }
  bool is_new(const Run& run) const { return std::exchange(run.seen, scan_) != scan_; }
  std::size_t gpus() const { return on_.size(); }
  /// The jobs on a GPU.
  const std::vector<JobId>& on(GpuId g) const { return on_[index(g)]; }
  PodLedger& ledger() { return *ledger_; }
  /// The node of these GPUs, which are of one node.
  const PodNode& node_of(const std::vector<GpuId>& gpus) const {
    return ledger_->node(ledger_->node_of(gpus.front()));
  }
  /// The GPU types of the cluster, by number.
  const std::map<std::size_t, const GpuType*>& types() const { return type_of_; }
  /// GPUs of the smallest node.
  int smallest_node() const { return smallest_node_; }
  std::size_t type_on(GpuId g) const { return types_[index(g)]; }
  /// The highest speed alone of the job on a type of the cluster.
  double fastest(const Job& j) const;
  /// Whole jobs that may share a GPU.
  std::size_t most_per_gpu() const { return most_per_gpu_; }

  /// The job starts. Returns the reason but for its Why.
  Reason start(JobId id, const std::vector<GpuId>& gpus);
  /// The job leaves its GPUs. A run that ends out of memory leaves progress as it was.
  void vacate(JobId id, LogKind how);

  /// Speed alone of a running job, from now on.
  void set_alone(JobId id, double speed);

  struct Progress {
    double had_s = 0;
    double debt_s = 0;
  };
  Progress progress(const Run& run) const;
  /// Expected rest of a running job [solo s].
  double rest_s(JobId id, const Run& run) const;
  /// Time to its expected end, if no co-runner comes or leaves.
  double end_s(JobId id, const Run& run) const { return rest_s(id, run) / run.speed; }

  /// Believed speeds; the answers are kept until the belief learns.
  PairSpeeds speeds(JobId a, JobId b);
  /// Whether the service of replica b is believed to keep its goal beside job a.
  bool keeps_goal(JobId a, JobId b, const ServiceView& service) const {
    return keeps_goal_of_b(service, belief_.pair(a, b), kGoalMargin);
  }
  void forget_speeds() { speeds_.clear(); }
  /// Believed speed of a running job, if `gone` were not there.
  double speed_without(JobId gone, JobId id, const Run& run);

  /// Whether a GPU has room for the job beside `jobs` others, whose parts and memory demands are these.
  bool has_room(const GpuType& type, const Job& j, std::size_t jobs, int parts_milli, int wholes,
                double used_mib) const;

 private:
  static constexpr std::size_t kMostSharing = 2;

  void advance(Run& run) const;
  PairSpeeds ask(JobId a, JobId b) const;
  void new_speed(JobId id);
  void new_speeds_beside(JobId id, const std::vector<GpuId>& gpus);

  const Options& options_;
  Jobs& jobs_;
  Belief& belief_;
  PreemptionLoss loss_;
  std::unordered_map<JobId, Run> runs_;
  std::unordered_map<std::uint64_t, PairSpeeds> speeds_;  ///< by both jobs
  std::vector<std::vector<JobId>> on_;                    ///< by GPU
  std::vector<std::size_t> types_;                        ///< by GPU
  std::map<std::size_t, const GpuType*> type_of_;
  int smallest_node_ = 0;
  std::size_t most_per_gpu_ = kMostSharing;  ///< whole jobs
  std::size_t most_parts_ = kWhole;
  std::optional<PodLedger> ledger_;
  std::uint64_t next_number_ = 1;
  std::uint64_t scan_ = 0;
};

}  // namespace corun::inline policies::srsf
