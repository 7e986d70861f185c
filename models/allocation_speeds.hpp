#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/world.hpp"

/// The speed of jobs by their allocation: by Amdahl's law in the number of GPUs; in the network by a factor for each level
/// that the job spans, or by the time of a ring all-reduce over its slowest link (docs/design.md 4.20).
namespace corun::inline models {

/// Speeds relative to that on GPUs of one node, above 0 to 1.
struct LevelSpeeds {
  double across_nodes = 1;
  double across_switches = 1;
};

/// Bandwidth of a GPU's link on each level [Gbit/s]; infinite: an exchange takes no time there.
struct LevelLinks {
  double in_node = std::numeric_limits<double>::infinity();
  double across_nodes = std::numeric_limits<double>::infinity();
  double across_switches = std::numeric_limits<double>::infinity();

  bool given() const {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    return in_node < kNone || across_nodes < kNone || across_switches < kNone;
  }
};

/// Time in which n GPUs exchange a message by a ring all-reduce [s]: each sends and receives 2 (n - 1) / n of it
/// (Patarasuk and Yuan, Journal of Parallel and Distributed Computing 69, 2009).
inline double ring_all_reduce_s(double message_mib, int gpus, double gbps) {
  constexpr double kGbitPerMib = 8.0 * 1024 * 1024 / 1e9;
  return 2.0 * (gpus - 1) / gpus * message_mib * kGbitPerMib / gbps;
}

struct ParallelJob {
  int gpus = 1;               ///< that it asks for
  double parallel_share = 1;  ///< of its work, which they do in parallel, 0 to 1
  int run_nodes = 1;          ///< on which its run time was measured
  double message_mib = 0;     ///< that its GPUs exchange in each step; 0: not told
  double step_s = 0;          ///< of its measured run [s]; 0: not told
};

class AllocationSpeeds final : public AllocationSpeed, public AllocationBelief {
 public:
  /// `jobs` by the numbers by which the world knows them.
  AllocationSpeeds(std::vector<ParallelJob> jobs, LevelSpeeds levels, LevelLinks links = {})
      : jobs_(std::move(jobs)), levels_(levels), links_(links) {}

  /// Time of the exchange in a step of the measured run [s]; 0 if the links or the message are not told.
  static double measured_exchange_s(const ParallelJob& job, const LevelLinks& links) {
    if (!links.given() || job.message_mib <= 0 || job.step_s <= 0) return 0;
    return ring_all_reduce_s(job.message_mib, job.gpus,
                             job.run_nodes > 1 ? links.across_nodes : links.in_node);
  }

  double factor(JobId id, const Allocation& allocation) const override {
    const ParallelJob& job = jobs_[index(id)];
    if (links_.given() && job.message_mib > 0 && job.step_s > 0) {
      return job.step_s / step_s(job, allocation);
    }
    const double measured = job.run_nodes > 1 ? levels_.across_nodes : 1.0;
    const double level = (allocation.switches > 1 ? levels_.across_switches
                          : allocation.nodes > 1  ? levels_.across_nodes
                                                  : 1.0) /
                         measured;
    if (allocation.gpus == job.gpus) return level;
    return level * relative_time(job, job.gpus) / relative_time(job, allocation.gpus);
  }

  /// The same factor: run times differ between jobs, but are no part of it.
  double goodput(const JobView& job, const Allocation& on) const override {
    return factor(job.id, on);
  }
  /// By the estimate of the run time where it is granted, less the time that the job has had GPUs, at least a second of
  /// work; without one, as long again as it has had them.
  double remaining_s(const JobView& job, const Allocation& on, Time now) const override {
    const double had_s = to_seconds(job.attained(now));
    const double left_s = job.estimate ? to_seconds(*job.estimate) - had_s : had_s;
    return std::max(left_s, 1.0) / factor(job.id, on);
  }

 private:
  /// Run time over that on one GPU.
  static double relative_time(const ParallelJob& job, int gpus) {
    return 1 - job.parallel_share + job.parallel_share / gpus;
  }

  /// A step computes, then exchanges.
  double step_s(const ParallelJob& job, const Allocation& on) const {
    const double gbps = on.switches > 1 ? links_.across_switches
                        : on.nodes > 1  ? links_.across_nodes
                                        : links_.in_node;
    const double computes_s = job.step_s - measured_exchange_s(job, links_);
    const double relative =
        on.gpus == job.gpus ? 1.0 : relative_time(job, on.gpus) / relative_time(job, job.gpus);
    return computes_s * relative + ring_all_reduce_s(job.message_mib, on.gpus, gbps);
  }

  std::vector<ParallelJob> jobs_;
  LevelSpeeds levels_;
  LevelLinks links_;
};

/// Another world with these speeds by allocation.
class AllocationWorld final : public World {
 public:
  AllocationWorld(std::unique_ptr<World> world, std::shared_ptr<const AllocationSpeed> speeds,
                  std::shared_ptr<const AllocationBelief> truth)
      : world_(std::move(world)), speeds_(std::move(speeds)), truth_(std::move(truth)) {}

  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise_seed,
                    std::span<double> out) const override {
    return world_->speeds(co_runners, noise_seed, out);
  }
  bool fits_together(JobId a, JobId b, std::uint32_t gpu_type) const override {
    return world_->fits_together(a, b, gpu_type);
  }
  const JobsOnTypes* on_types() const override { return world_->on_types(); }
  const AllocationSpeed* by_allocation() const override { return speeds_.get(); }
  const AllocationBelief* allocation_truth() const override { return truth_.get(); }
  void pair_outcomes(JobId a, JobId b, std::vector<PairOutcome>& out) const override {
    world_->pair_outcomes(a, b, out);
  }

 private:
  std::unique_ptr<World> world_;
  std::shared_ptr<const AllocationSpeed> speeds_;
  std::shared_ptr<const AllocationBelief> truth_;
};

}  // namespace corun::inline models
