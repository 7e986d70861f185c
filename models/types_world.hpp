#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/world.hpp"

/// The world of a cluster of several GPU types: one world of co-runs per type, and the jobs' speed and memory
/// by type.
namespace corun::inline models {

class TypesWorld final : public World {
 public:
  /// `worlds[by_type[t]]` has the costs of co-runs on the type with GpuType::id t. `on_types` may be null.
  TypesWorld(std::vector<std::unique_ptr<World>> worlds, std::vector<std::size_t> by_type,
             std::shared_ptr<const JobsOnTypes> on_types)
      : worlds_(std::move(worlds)), by_type_(std::move(by_type)), on_types_(std::move(on_types)) {}

  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise_seed,
                    std::span<double> out) const override {
    return on(co_runners.gpu_type).speeds(co_runners, noise_seed, out);
  }
  bool fits_together(JobId a, JobId b, std::uint32_t gpu_type) const override {
    return on(gpu_type).fits_together(a, b, gpu_type);
  }
  const JobsOnTypes* on_types() const override { return on_types_.get(); }
  void pair_outcomes(JobId a, JobId b, std::vector<PairOutcome>& out) const override {
    on(0).pair_outcomes(a, b, out);
  }

 private:
  const World& on(std::uint32_t type) const { return *worlds_[by_type_[type]]; }

  std::vector<std::unique_ptr<World>> worlds_;
  std::vector<std::size_t> by_type_;
  std::shared_ptr<const JobsOnTypes> on_types_;
};

}  // namespace corun::inline models
