#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/formulas/pair_formula.hpp"
#include "models/interference/interference_model.hpp"
#include "models/vector_units/kernels.hpp"

/// Tiles of speeds, computed on the processor, for models whose equation is too long for an innermost loop
/// and for models without a formula. Many threads may use a source, each with its own Scratch.
namespace corun::inline models {

class SpeedSource {
 public:
  /// Memory of one thread.
  struct Scratch {
    std::vector<double> states, numbers;
    std::vector<float> floats;
    std::vector<std::uint32_t> of, beside;
    std::vector<PairQuery> queries;
  };

  /// The number of jobs that prepare(0) covers.
  static constexpr std::size_t kLeastPart = gp::Kernels::kPadding;

  virtual ~SpeedSource() = default;
  /// Writes the normalised speed and standard deviation of every i beside every j of the tile to
  /// [(i - i0) * columns + j - j0].
  virtual void speeds(const PairTile& tile, Scratch& scratch, double* speed, double* sd) const = 0;
  /// Work to do once, before speeds(): prepare(n) for all n < parts(), in any order and from any thread.
  virtual std::size_t parts() const { return 0; }
  virtual void prepare(std::size_t /*part*/, Scratch& /*scratch*/) {}
};

/// For the long formulas. The batch must outlive the source; `kernels`: of one instruction set.
std::unique_ptr<SpeedSource> speed_source(GpBatch& batch, const Kernels& kernels);
std::unique_ptr<SpeedSource> speed_source(const TreesBatch& batch, const Kernels& kernels);
/// For a model without a formula: by InterferenceModel::predict(). All arguments must outlive the source.
std::unique_ptr<SpeedSource> speed_source(const InterferenceModel& model,
                                          std::span<const PairJob> kinds,
                                          std::span<const std::uint32_t> kind_of);

}  // namespace corun::inline models
