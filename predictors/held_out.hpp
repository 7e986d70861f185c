#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "predictors/predictor.hpp"

/// Intervals from errors on held-out jobs. A predictor errs less on a job whose model and GPU type it has seen than on
/// one of an unknown family or on an unknown GPU. So a fit holds out jobs in several ways, and an interval is made of the
/// errors on jobs of which as much was unknown.
///
/// The intervals are split-conformal (Lei et al. 2018, Distribution-free predictive inference for regression): of n errors,
/// the quantile q is the one of rank q (n + 1). Errors of a group that was held out together are alike, so n errors tell
/// as much as
///
///   m = n / (1 + (s - 1) rho)
///
/// independent ones (Kish 1965, Survey sampling: the design effect); s is the size of a group, rho the intraclass
/// correlation of the errors or of their sizes, whichever is larger. A tail of 5 % needs m >= 19 errors. With fewer, both
/// tails are taken together: the interval is that of the 90 % quantile of |error|, and no narrower than the predictor itself
/// claims, if it does. Intervals are wider by the quantile of
/// Student's t with m degrees of freedom over that of the normal distribution, as the spread of few groups is uncertain.
namespace corun::inline predictors {

/// What of a job's model was seen in a fit.
enum class Familiarity : std::uint8_t {
  kModel,   ///< the job's model is among the fitted jobs
  kFamily,  ///< only its family is
  kNeither,
};
inline constexpr int kFamiliarities = 3;

/// What of a job's GPU type was seen. If the types of the fitted jobs are not known, all count as seen.
enum class GpuFamiliarity : std::uint8_t {
  kType,
  kArchitecture,  ///< only another type of the same architecture
  kNeither,
};
inline constexpr int kGpuFamiliarities = 3;

struct SeenLevel {
  SeenLevel() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most tables are of one GPU type.
  SeenLevel(Familiarity of_job, GpuFamiliarity of_gpu = GpuFamiliarity::kType)
      : job(of_job), gpu(of_gpu) {}
  friend bool operator==(const SeenLevel&, const SeenLevel&) = default;

  Familiarity job = Familiarity::kNeither;
  GpuFamiliarity gpu = GpuFamiliarity::kType;
};

/// The groups of fitted jobs.
class SeenGroups {
 public:
  SeenGroups() = default;
  explicit SeenGroups(std::span<const JobGroups> jobs);

  SeenLevel level(const JobGroups& groups) const;
  Familiarity familiarity(const JobGroups& groups) const { return level(groups).job; }

  nlohmann::json save() const;
  /// Here and below, `state`: from save(); std::invalid_argument if it is not a possible state.
  static SeenGroups load(const nlohmann::json& state);

 private:
  std::vector<std::uint64_t> models_, families_, gpus_, architectures_;  ///< sorted
};

/// The predictor's error on a job that was not fitted.
struct HeldOutError {
  std::size_t job = 0;      ///< position among the jobs given to held_out_errors()
  double error = 0;         ///< ln(measured / predicted)
  double scale = 1;         ///< how large errors of such a job are expected to be, in any unit
  double log_value = kNaN;  ///< ln(measured)
  bool at_least = false;    ///< not measured: the value is a lower bound, and `error` no error
  // Set by held_out_errors().
  SeenLevel level;
  /// The groups of models and of GPUs that were held out together with the job; 0: none.
  std::uint64_t job_group = 0, gpu_group = 0;
};

/// Fits on the jobs at `train`, predicts those at `test`; `add` takes each error.
using HoldOut = std::function<std::vector<HeldOutError>(std::span<const std::size_t> train,
                                                        std::span<const std::size_t> test)>;

/// How many folds there are at most.
struct HoldOutFolds {
  int jobs = 5;  ///< of random jobs, of whole models and of whole families
  /// Of whole GPU types and of whole architectures, and of these together with models or families.
  int gpus = 3;
};

/// Errors at all levels: folds of random jobs, of whole models and of whole families; if there are several GPU types, also
/// of whole types and architectures, and of models and families together with these. A fold's errors count at the
/// level that its jobs have towards the rest. `hold_out` may leave jobs out. Deterministic in `seed`.
std::vector<HeldOutError> held_out_errors(std::span<const JobGroups> jobs, std::uint64_t seed,
                                          const HoldOutFolds& folds, const HoldOut& hold_out);

/// How many independent errors tell as much as these (above); `groups`: of each error, 0: a group of its own.
double independent_errors(std::span<const double> errors, std::span<const std::uint64_t> groups);

/// Quantiles of error / scale at each level.
class ErrorSpread {
 public:
  ErrorSpread() = default;
  /// A level with fewer than 20 errors, or only one group, takes the quantiles of the next less familiar one that has
  /// more; else those of a more familiar GPU, else those of all errors, as nothing tells how much larger they are.
  /// `claimed`: the half width of a 90 % interval, in units of the scale, if the scale says so; few errors do not disprove it.
  explicit ErrorSpread(std::span<const HeldOutError> errors, double claimed = 0);

  /// The same quantiles at all levels.
  ErrorSpread(double low, double high, double safe);

  /// The standard deviation of a normal error with the same 5 % and 95 % quantiles on a seen GPU type, in units of the
  /// scale.
  double deviation(Familiarity level) const;

  /// The prediction around the median exp(log_median), limited to `most`.
  Prediction around(double log_median, double scale, SeenLevel level, double most) const;

  nlohmann::json save() const;
  static ErrorSpread load(const nlohmann::json& state);

 private:
  struct Quantiles {
    double low = -1, high = 1, safe = 2;  ///< 5 %, 95 % and 99 %
    double stretch = 1;                   ///< of all three, as the groups are few
  };
  struct Errors;
  static Quantiles quantiles_of(const Errors& errors, double claimed);
  Quantiles& at(std::size_t job, std::size_t gpu) {
    return levels_.at(kGpuFamiliarities * job + gpu);
  }

  std::array<Quantiles, std::size_t{kFamiliarities} * kGpuFamiliarities> levels_;
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
