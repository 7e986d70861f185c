#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/cluster_view.hpp"
#include "sim/jobs_on_types.hpp"
#include "sim/rng.hpp"
#include "sim/world.hpp"

/// Jobs that differ between GPU types, for tests: by table and by draws, and the world that has them.
namespace corun::test {

/// What each job needs, by JobId and GpuType::id; a demand below 0 is not known.
struct OnType {
  double speed = 1;
  double memory_mib = -1;
};

class TableOnTypes final : public JobsOnTypes {
 public:
  explicit TableOnTypes(std::vector<std::vector<OnType>> table) : table_(std::move(table)) {}
  Alone alone(JobId job, const GpuType& type, std::optional<std::uint64_t>) const override {
    return {table_[index(job)][type.id].speed, SoloSource::kMeasured};
  }
  std::optional<double> memory_mib(JobId job, const GpuType& type) const override {
    const double demand = table_[index(job)][type.id].memory_mib;
    return demand < 0 ? std::nullopt : std::optional(demand);
  }

 private:
  std::vector<std::vector<OnType>> table_;
};

/// Drawn for each job and type: a speed in [0.3, 3], or one of 1/2, 1 and 2; with noise another one. A demand
/// of 100 to 1100 MiB, or none.
class DrawnOnTypes final : public JobsOnTypes {
 public:
  /// `names[j]`: the job by which JobId j draws; empty: j.
  DrawnOnTypes(std::uint64_t seed, bool round_speeds, std::vector<std::uint32_t> names = {})
      : seed_(seed), round_(round_speeds), names_(std::move(names)) {}

  Alone alone(JobId job, const GpuType& type, std::optional<std::uint64_t> noise) const override {
    Rng rng = draws(job, type, 1 + static_cast<std::uint32_t>(noise.value_or(0)));
    const auto source = static_cast<SoloSource>(rng.below(kSoloSources));
    constexpr std::array kRound{0.5, 1.0, 2.0};
    if (round_) return {kRound[rng.below(3)], source};
    return {0.3 + 2.7 * rng.uniform(), source};
  }
  std::optional<double> memory_mib(JobId job, const GpuType& type) const override {
    Rng rng = draws(job, type, 0);
    if (rng.below(4) == 0) return std::nullopt;
    return 100 * (1 + rng.below(11));
  }

 private:
  Rng draws(JobId job, const GpuType& type, std::uint32_t of) const {
    const auto name = names_.empty() ? static_cast<std::uint32_t>(index(job)) : names_[index(job)];
    return Rng(seed_, Stream::kTest, hash_entity(std::array{name, type.id, of, 0xfefefefeU}));
  }

  std::uint64_t seed_;
  bool round_;
  std::vector<std::uint32_t> names_;
};

/// The co-runs of one world with the jobs of another source; without one (nullptr) as `co_runs`.
class OnTypesWorld final : public World {
 public:
  OnTypesWorld(const World& co_runs, const JobsOnTypes* on_types)
      : co_runs_(co_runs), on_types_(on_types) {}
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise,
                    std::span<double> out) const override {
    return co_runs_.speeds(co_runners, noise, out);
  }
  bool fits_together(JobId a, JobId b, std::uint32_t gpu_type) const override {
    return co_runs_.fits_together(a, b, gpu_type);
  }
  const JobsOnTypes* on_types() const override { return on_types_; }

 private:
  const World& co_runs_;
  const JobsOnTypes* on_types_;
};

using ViewsOnTypes = std::vector<std::vector<ViewOnType>>;

/// JobView::on_types by job, without errors. Types that the cluster does not have are like the reference.
inline ViewsOnTypes views_on_types(const JobsOnTypes& jobs, std::size_t count,
                                   const ClusterSpec& cluster) {
  std::size_t types = 0;
  for (const NodeSpec& node : cluster.nodes) types = std::max<std::size_t>(types, node.gpu.id + 1);
  ViewsOnTypes views(count, std::vector<ViewOnType>(types));
  for (std::uint32_t j = 0; j < count; ++j) {
    for (const NodeSpec& node : cluster.nodes) {
      views[j][node.gpu.id] = {jobs.alone(JobId{j}, node.gpu, {}).speed,
                               jobs.memory_mib(JobId{j}, node.gpu)};
    }
  }
  return views;
}

}  // namespace corun::test
