#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/formulas/pair_formula.hpp"
#include "sim/belief.hpp"

/// The interface of batch scoring on a GPU, which needs no CUDA headers. Every method may throw DeviceError:
/// no driver, not enough memory, a lost device. The processor can then compute the same results.
namespace corun::inline models {

/// Estimated solo times [s] of the jobs, and their reciprocals; NaN: no estimate.
struct SoloTimes {
  std::vector<double> seconds;
  std::vector<double> inverse;

  SoloTimes() = default;
  explicit SoloTimes(std::span<const double> given) : seconds(given.begin(), given.end()) {
    inverse.reserve(seconds.size());
    for (const double s : seconds) inverse.push_back(1 / s);
  }
};

/// Options that change the run time only, not the results.
struct GpuOptions {
  std::size_t rows = 0;  ///< of a tile; 0: chosen by the scorer, from free memory
  int streams = 2;
};

class GpuScorer {
 public:
  virtual ~GpuScorer() = default;
  /// The name of the device, after a kernel has run on it. DeviceError with the reason if none can.
  virtual std::string probe() const = 0;
  /// The largest k of top_co_runners().
  virtual std::size_t most_co_runners() const = 0;
  /// For each job its k cheapest co-runners, as Belief::top_co_runners(): jobs x k entries, row-major;
  /// k <= most_co_runners() and k < jobs. `prices`: one entry per job, or empty. Here and below, `formula` is
  /// not changed.
  virtual std::vector<CoRunner> top_co_runners(PairFormula& formula, const SoloTimes& solo,
                                               const CostRule& rule, std::size_t k,
                                               std::span<const double> prices,
                                               const GpuOptions& options) const = 0;
  /// Whether co_runner_speeds() can compute this formula.
  virtual bool knows_co_runners(const PairFormula& formula) const = 0;
  /// Speeds in sets of residents, as PairScorer::co_runner_speeds().
  virtual void co_runner_speeds(PairFormula& formula, std::span<const std::uint32_t> members,
                                std::span<const std::size_t> first,
                                std::span<double> out) const = 0;
  /// Normalised speed and standard deviation of the row's job beside the column's: each jobs x jobs,
  /// row-major.
  virtual void all_pairs(PairFormula& formula, const GpuOptions& options, std::span<double> speed,
                         std::span<double> sd) const = 0;
};

/// The scorer of this build; nullptr if it was built without the CUDA toolkit.
const GpuScorer* cuda_scorer();

}  // namespace corun::inline models
