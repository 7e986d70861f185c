#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/formulas/pair_formula.hpp"
#include "sim/belief.hpp"

/// Batch scoring on a GPU, without anything of CUDA in sight. All of it may throw DeviceError: no
/// driver, no memory, a device that went away; results are then to be had from the processor.
namespace corun {

/// Estimates of the jobs' solo times [s], NaN where there is none.
struct SoloTimes {
  std::vector<double> seconds;
  std::vector<double> inverse;

  SoloTimes() = default;
  explicit SoloTimes(std::span<const double> given) : seconds(given.begin(), given.end()) {
    inverse.reserve(seconds.size());
    for (const double s : seconds) inverse.push_back(1 / s);
  }
};

/// What changes speed only.
struct GpuOptions {
  std::size_t rows = 0;  ///< of a tile; 0: as many as fit into free memory
  int streams = 2;
};

class GpuScorer {
 public:
  virtual ~GpuScorer() = default;
  /// The device's name, after a kernel has run there. DeviceError with the reason why none can.
  virtual std::string probe() const = 0;
  /// Lists longer than this are left to the processor.
  virtual std::size_t most_co_runners() const = 0;
  /// `formula` stays as it is, though parts of it are not const.
  /// For each job its cheapest co-runners, as Belief::top_co_runners(); k <= most_co_runners(), k < jobs.
  /// `prices`: one for each job, or none.
  virtual std::vector<CoRunner> top_co_runners(PairFormula& formula, const SoloTimes& solo,
                                               const CostRule& rule, std::size_t k,
                                               std::span<const double> prices,
                                               const GpuOptions& options) const = 0;
  /// Whether it knows what any number of co-runners costs by this formula.
  virtual bool knows_co_runners(const PairFormula& formula) const = 0;
  /// Of sets of residents, as PairScorer::co_runner_speeds().
  virtual void co_runner_speeds(PairFormula& formula, std::span<const std::uint32_t> members,
                                std::span<const std::size_t> first,
                                std::span<double> out) const = 0;
  /// Speed and deviation of every job beside every other, jobs x jobs, row-major.
  virtual void all_pairs(PairFormula& formula, const GpuOptions& options, std::span<double> speed,
                         std::span<double> sd) const = 0;
};

/// nullptr: built without the CUDA toolkit.
const GpuScorer* cuda_scorer();

}  // namespace corun
