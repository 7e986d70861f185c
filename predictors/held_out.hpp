#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "predictors/predictor.hpp"

/// Intervals from errors on held-out jobs. A predictor errs less on a job whose model it has seen than on one of
/// an unknown family. So a fit holds out jobs in three ways, and an interval is made of the errors at the
/// level of familiarity that a job has.
namespace corun::inline predictors {

enum class Familiarity : std::uint8_t {
  kModel,   ///< the job's model is among the fitted jobs
  kFamily,  ///< only its family is
  kNeither,
};
inline constexpr int kFamiliarities = 3;

/// The groups of fitted jobs.
class SeenGroups {
 public:
  SeenGroups() = default;
  explicit SeenGroups(std::span<const PredictorJob* const> jobs);

  Familiarity familiarity(const JobGroups& groups) const;

  nlohmann::json save() const;
  /// Here and below, `state`: from save(); std::invalid_argument if it is not a possible state.
  static SeenGroups load(const nlohmann::json& state);

 private:
  std::vector<std::uint64_t> models_, families_;  ///< sorted
};

/// The predictor's error on a job that was not fitted.
struct HeldOutError {
  Familiarity level = Familiarity::kNeither;
  double error = 0;         ///< ln(measured / predicted)
  double scale = 1;         ///< how large errors of such a job are expected to be, in any unit
  double log_value = kNaN;  ///< ln(measured)
  bool at_least = false;    ///< not measured: the value is a lower bound, and `error` no error
};

/// Fits on the jobs at `train`, predicts those at `test`; `add` takes each error.
using HoldOut = std::function<std::vector<HeldOutError>(std::span<const std::size_t> train,
                                                        std::span<const std::size_t> test)>;

/// Errors at all levels: five folds of random jobs, of whole models and of whole families. A fold's errors
/// count at the level that its jobs have towards the rest. `hold_out` may leave jobs out; it need not set the
/// level. Deterministic in `seed`.
std::vector<HeldOutError> held_out_errors(std::span<const PredictorJob* const> jobs,
                                          std::uint64_t seed, const HoldOut& hold_out);

/// Quantiles of error / scale at each level.
class ErrorSpread {
 public:
  ErrorSpread() = default;
  /// A level with fewer than 20 errors takes the quantiles of the next less familiar one that has more, else
  /// those of all errors. Two errors of +-0.5 are added to each as a prior.
  explicit ErrorSpread(std::span<const HeldOutError> errors);

  /// The same quantiles at all levels.
  ErrorSpread(double low, double high, double safe) { levels_.fill({low, high, safe}); }

  /// The standard deviation of a normal error with the same 5 % and 95 % quantiles, in units of the scale.
  double deviation(Familiarity level) const;

  /// The prediction around the median exp(log_median), limited to `most`.
  Prediction around(double log_median, double scale, Familiarity level, double most) const;

  nlohmann::json save() const;
  static ErrorSpread load(const nlohmann::json& state);

 private:
  struct Quantiles {
    double low = -1, high = 1, safe = 2;  ///< 5 %, 95 % and 99 %
  };
  std::array<Quantiles, kFamiliarities> levels_;
};

/// When a predicted memory says that a job will not fit. A prediction errs both ways, so jobs that need a little
/// more than there is are predicted a little less. The limit for a capacity is therefore the prediction that all but
/// 0.3 % of the held-out jobs above the capacity exceed, or the capacity, if that is less; 4 % less if the jobs
/// are too few to tell 0.3 %. A few jobs need far more than any like them (a library's search for fast kernels); no
/// more than 3.5 % false alarms among held-out jobs are raised for their sake (PhysicsConstants).
class MemoryLimits {
 public:
  MemoryLimits() = default;
  explicit MemoryLimits(std::span<const HeldOutError> errors,
                        const PhysicsConstants& constants = {});

  bool empty() const;
  /// The prediction above which a job is expected to run out of `capacity_mib` [MiB].
  double limit_mib(double capacity_mib, Familiarity level) const;
  /// The standard deviation of errors of small jobs [MiB]: those of the smallest quarter by prediction, at the
  /// most familiar level that has twenty jobs; 0 without any. What is left there does not shrink with the job
  /// (workspaces of libraries, blocks of the allocator).
  double small_error_mib() const;

  nlohmann::json save() const;
  static MemoryLimits load(const nlohmann::json& state);

 private:
  struct Job {
    double log_value, log_predicted;
  };
  std::array<std::vector<Job>, kFamiliarities> levels_;
  PhysicsConstants constants_;  ///< files have the usual ones
};

}  // namespace corun::inline predictors
