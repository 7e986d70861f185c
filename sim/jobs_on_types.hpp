#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/cluster_spec.hpp"
#include "sim/ids.hpp"

/// What jobs need on the GPU types of a cluster: their speed alone and their memory (DESIGN 4.16). Part of the
/// world; the estimates that policies see are JobView::on_types.
namespace corun::inline sim {

/// How the solo time of a job on a GPU type is known.
enum class SoloSource : std::uint8_t {
  kReference,  ///< that of the trace, on the type where it was measured
  kMeasured,   ///< measured on this type
  kPredicted,  ///< by a model of the job
  kScaled,     ///< by the specifications of the two types (roofline)
  kAssumed,    ///< nothing is known: as on the reference type
};
inline constexpr std::size_t kSoloSources = 5;

/// Its name in the output: "reference".
constexpr std::string_view name_of(SoloSource source) {
  constexpr std::array<std::string_view, kSoloSources> kNames{"reference", "measured", "predicted",
                                                              "scaled", "assumed"};
  return kNames[static_cast<std::size_t>(source)];
}

/// A job alone on a GPU type.
struct Alone {
  double speed = 1;  ///< solo time on the reference type over solo time on this one; above 0
  SoloSource source = SoloSource::kReference;
};

class JobsOnTypes {
 public:
  virtual ~JobsOnTypes() = default;

  /// With `noise_seed`, a speed that is not measured is a draw keyed by (seed, job, type), equal for all
  /// policies; without it, the median of the draws.
  virtual Alone alone(JobId job, const GpuType& type,
                      std::optional<std::uint64_t> noise_seed) const = 0;

  /// Memory demand on this type [MiB]; nothing if it is not known.
  virtual std::optional<double> memory_mib(JobId job, const GpuType& type) const = 0;
};

}  // namespace corun::inline sim
