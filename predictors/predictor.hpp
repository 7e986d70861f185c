#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "predictors/job_figures.hpp"
#include "predictors/physics/physics_constants.hpp"

/// The interface of predictors of a job alone, before it has run: its memory, the time of a step, its GPU
/// utilisation. A predictor is fitted on jobs that were measured and predicts others from their figures.
///
/// To add a predictor: predictors/<name>.{hpp,cpp} and one line in catalog.cpp.
namespace corun::inline predictors {

enum class Target : std::uint8_t {
  kMemory,       ///< peak memory of the process on the GPU [MiB]
  kTime,         ///< of a step [ms]
  kUtilisation,  ///< share of the time in which a kernel runs, as NVML and DCGM report [%]
};
inline constexpr int kTargets = 3;

std::string_view name_of(Target target);  ///< "memory", "time", "utilisation"
std::string_view unit_of(Target target);  ///< "MiB", "ms", "%"
std::optional<Target> find_target(std::string_view name);

/// Opaque digests of what a job is like, by which a predictor finds what it has seen; 0: not known.
struct JobGroups {
  std::uint64_t model = 0;
  std::uint64_t family = 0;        ///< of models, or the way in which they were made
  std::uint64_t gpu = 0;           ///< type
  std::uint64_t host = 0;          ///< machine and software
  std::uint64_t architecture = 0;  ///< of the GPU type
};

/// A job to predict.
struct PredictorJob {
  JobFigures figures;
  JobGroups groups;
  /// The job's operations; nullptr if only the figures are known.
  std::shared_ptr<const ComputationGraph> graph;
};

/// A job to learn from.
struct MeasuredJob {
  PredictorJob job;
  double value = kNaN;  ///< in the unit of the target
  double at_least =
      kNaN;  ///< `value` was not measured, but is above this: the job ran out of memory
};

/// 90 % of single jobs lie from lo to hi, 99 % below safe.
struct Prediction {
  double median = kNaN;  ///< NaN: the figures do not suffice
  double lo = kNaN;
  double hi = kNaN;
  double safe = kNaN;
};

struct PredictorOptions {
  std::uint64_t seed = 1;
  int threads = 1;        ///< does not change the result
  bool intervals = true;  ///< false: medians are all that is asked for, and the fit is faster
  PhysicsConstants constants;
};

class Predictor {
 public:
  virtual ~Predictor() = default;

  virtual Target target() const = 0;
  /// One entry per job; a job gets the same bits in any batch.
  virtual std::vector<Prediction> predict(std::span<const PredictorJob> jobs) const = 0;
  /// Figures of `corun list figures` that the prediction needs and the job lacks, as far as the predictor can tell.
  virtual std::vector<std::string_view> lacking(const PredictorJob& job) const;
  /// Whether a job with this prediction of its memory is expected to run out of a GPU's.
  virtual bool runs_out(const PredictorJob& job, const Prediction& prediction,
                        double capacity_mib) const;
  /// Whether runs_out() judges by a limit learnt from held-out jobs; else by `safe`.
  virtual bool has_learnt_limit() const { return false; }
  /// The predictor, refitted with a few more jobs: of a new GPU type, of another software stack, or another
  /// batch size of a model. Predictors that cannot learn so return a copy. std::invalid_argument for values
  /// not above 0.
  virtual std::unique_ptr<Predictor> with_seen(std::span<const MeasuredJob> jobs,
                                               const PhysicsConstants& constants = {}) const = 0;
  /// All that predict() needs, for files (models/model_state.hpp).
  virtual nlohmann::json save() const = 0;
};

}  // namespace corun::inline predictors
