#pragma once

#include <optional>

#include "sim/gpu_spec.hpp"
#include "sim/ids.hpp"
#include "sim/jobs_on_types.hpp"

/// Predicts how fast a job is alone on a GPU type, from its speed on another. Predictors are asked in turn
/// where nothing was measured (DESIGN 4.16).
namespace corun::inline models {

/// The logarithm of the speed is normal around that of `speed`.
struct SoloPrediction {
  double speed = 1;  ///< solo time on `from` over solo time on `to`: the median
  /// Standard deviations of the logarithm: of an error that all jobs on `to` share, and of a job's own.
  double type_sigma = 0;
  double job_sigma = 0;
};

class SoloPredictor {
 public:
  virtual ~SoloPredictor() = default;

  virtual SoloSource source() const = 0;
  /// Nothing if the job or one of the types is not known well enough.
  virtual std::optional<SoloPrediction> predict(JobId job, const GpuSpec& from,
                                                const GpuSpec& to) const = 0;
};

}  // namespace corun::inline models
