#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/interference/interference_model.hpp"
#include "sim/rng.hpp"

/// The input of the benchmarks of batch scoring, the same on every machine.
namespace corun {

/// Jobs of three features, some of them measured in pairs. `rows` is the number of pairs.
inline SpeedTable table_of(std::size_t jobs, std::size_t rows) {
  Rng rng(1, Stream::kTest);
  SpeedTable table;
  table.features = {{"gpu_util_pct", FeatureScale::kLinear},
                    {"mem_alloc_pct", FeatureScale::kLinear},
                    {"mem_time_pct", FeatureScale::kLinear}};
  for (std::size_t j = 0; j < jobs; ++j) {
    table.jobs.push_back(static_cast<WorkloadKey>(j));
    for (const double most : {100.0, 100.0, 60.0}) table.values.push_back(most * rng.uniform());
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint32_t a = rng.below(static_cast<std::uint32_t>(jobs));
    const std::uint32_t b = rng.below(static_cast<std::uint32_t>(jobs));
    table.rows.push_back({a, b, 0.4 + 0.6 * rng.uniform(), 0.4 + 0.6 * rng.uniform()});
  }
  return table;
}

/// Jobs without measurements, each with its own features, with estimates of their solo time.
struct ScoredQueue {
  SpeedTable table;
  std::vector<PairJob> jobs;
  std::vector<std::uint32_t> each;
  std::vector<double> solo_s;

  explicit ScoredQueue(std::size_t n) : table(table_of(n, 0)) {
    Rng rng(2, Stream::kTest);
    for (std::size_t j = 0; j < n; ++j) {
      jobs.push_back({static_cast<WorkloadKey>(1'000'000 + j), {table.of(j), 3}});
      each.push_back(static_cast<std::uint32_t>(j));
      solo_s.push_back(60 + 10000 * rng.uniform());
    }
  }
};

}  // namespace corun
