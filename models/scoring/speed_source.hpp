#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/formulas/pair_formula.hpp"
#include "models/interference/interference_model.hpp"
#include "models/vector_units/kernels.hpp"

/// Tiles of speeds on the processor, of models whose equation is too long for an innermost loop, and of
/// those that have none. Safe to use from many threads, each with a scratch of its own.
namespace corun {

class SpeedSource {
 public:
  /// What a thread needs for itself.
  struct Scratch {
    std::vector<double> states, numbers;
    std::vector<float> floats;
    std::vector<std::uint32_t> of, beside;
    std::vector<PairQuery> queries;
  };

  /// Of the jobs, prepare(0) covers so many.
  static constexpr std::size_t kLeastPart = gp::Kernels::kPadding;

  virtual ~SpeedSource() = default;
  /// Speed and deviation of every i beside every j of the tile into [(i - i0) * columns + j - j0].
  virtual void speeds(const PairTile& tile, Scratch& scratch, double* speed, double* sd) const = 0;
  /// Work that is done once, in parts that any thread may take: prepare(n) for all n < parts().
  virtual std::size_t parts() const { return 0; }
  virtual void prepare(std::size_t /*part*/, Scratch& /*scratch*/) {}
};

/// For the long equations of PairFormula; `kernels`: of the instruction set.
std::unique_ptr<SpeedSource> speed_source(GpBatch& batch, const Kernels& kernels);
std::unique_ptr<SpeedSource> speed_source(const TreesBatch& batch, const Kernels& kernels);
/// By predict().
std::unique_ptr<SpeedSource> speed_source(const InterferenceModel& model,
                                          std::span<const PairJob> kinds,
                                          std::span<const std::uint32_t> kind_of);

}  // namespace corun
