#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/world.hpp"

/// The speed of jobs by their allocation: by Amdahl's law in the number of GPUs, by a factor for each level of the
/// network that the job spans.
namespace corun::inline models {

/// Speeds relative to that on GPUs of one node, above 0 to 1.
struct LevelSpeeds {
  double across_nodes = 1;
  double across_switches = 1;
};

/// A job: the number of GPUs that it asks for, and the share of its work that they do in parallel, 0 to 1.
struct ParallelJob {
  int gpus = 1;
  double parallel_share = 1;
};

class AllocationSpeeds final : public AllocationSpeed, public AllocationBelief {
 public:
  /// `jobs` by the numbers by which the world knows them.
  AllocationSpeeds(std::vector<ParallelJob> jobs, LevelSpeeds levels)
      : jobs_(std::move(jobs)), levels_(levels) {}

  double factor(JobId id, const Allocation& allocation) const override {
    const ParallelJob& job = jobs_[index(id)];
    const double level = allocation.switches > 1 ? levels_.across_switches
                         : allocation.nodes > 1  ? levels_.across_nodes
                                                 : 1.0;
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

  std::vector<ParallelJob> jobs_;
  LevelSpeeds levels_;
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
