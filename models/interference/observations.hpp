#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/formulas/trees_formula.hpp"
#include "models/interference/interference_model.hpp"
#include "sim/speed_table.hpp"

/// What the fits of several interference models share: a table's rows as directed log slowdowns, jobs found
/// again by their keys, and intervals from what held-out predictions were off by.
namespace corun {

/// exp() of this is finite and of its negative above 0, so is any speed's logarithm smaller.
inline constexpr double kMostSlowness = 1e3;
/// No table is so even that log slowdowns deviate by less.
inline constexpr double kLeastSlownessDeviation = 0.01;

/// One measured direction: t = -log(speed) of `of` beside `beside`.
struct Observation {
  std::uint32_t of = 0;  ///< position in the table's jobs
  std::uint32_t beside = 0;
  std::uint32_t row = 0;    ///< of the table
  double log_slowdown = 0;  ///< t
};

/// std::invalid_argument, beginning with `what`: values that are not jobs x features, rows of jobs that
/// are not there, a key twice, a speed that is not above 0 and finite (NaN: not measured).
void check_table(const SpeedTable& table, const char* what);

/// The measured directions of a table, in order; a job beside a copy of itself gives one, of the mean of
/// its speeds. std::invalid_argument as check_table(), and where nothing was measured.
std::vector<Observation> observations_of(const SpeedTable& table, const char* what);

/// A feature on the scale that models see it on: itself, or its logarithm; NaN stays.
/// std::invalid_argument, beginning with `what`: infinite, beyond 1e100, or on a log scale not above 0.
double scaled_feature(double value, FeatureScale scale, const char* what);

/// A job's features on their scales, and after them the difference of every two of those on a log scale
/// (ratios of rates). std::invalid_argument as scaled_feature(), and for another number of features.
std::vector<double> expand_features(std::span<const double> values,
                                    std::span<const SpeedTable::Feature> features,
                                    const char* what);
/// How many numbers expand_features() gives.
std::size_t expanded_width(std::span<const SpeedTable::Feature> features);

/// std::invalid_argument, beginning with `what`: as many features as the model's are not there, or one is
/// infinite or, on a log scale, not above 0. NaN is not known.
void check_features(std::span<const double> values, std::span<const SpeedTable::Feature> features,
                    const char* what);

/// The part of a fit that is held out, to see how far predictions are off: all rows of a fifth of the
/// pairs, or all rows of a fifth of the jobs.
class Holdout {
 public:
  static constexpr std::size_t kFolds = 5;
  static constexpr std::size_t kCount = 2 * kFolds;  ///< pairs first, then jobs

  Holdout(const SpeedTable& table, std::uint64_t seed);

  std::size_t fold_of_row(std::size_t row) const { return row_fold_[row]; }
  bool held(std::size_t number, const Observation& o) const;
  /// Whether the job is one of those that holdout `number` knows nothing of.
  bool unknown(std::size_t number, std::size_t job) const;

 private:
  std::vector<std::size_t> row_fold_;
  std::vector<std::size_t> job_fold_;
};

/// Jobs by their keys; those of kUnknownWorkload cannot be found.
class JobIndex {
 public:
  JobIndex() = default;
  /// std::invalid_argument if a key is there twice.
  JobIndex(std::span<const WorkloadKey> jobs, const char* what);
  std::optional<std::size_t> find(WorkloadKey key) const;
  void add(WorkloadKey key, std::size_t position) { position_.emplace(key, position); }

 private:
  std::unordered_map<WorkloadKey, std::size_t> position_;
};

/// exp(-log slowdown), finite and above 0 whatever it is.
double speed_of(double log_slowdown);

/// What a prediction of something held out was, and what was measured.
struct HeldOut {
  std::size_t unknown = 0;  ///< of the two jobs, how many the fit had not seen
  double predicted = 0;     ///< log slowdown
  double measured = 0;
};

/// How far single log slowdowns lie from predictions, by the number of jobs of the pair that were never
/// seen and by the log slowdown predicted: split conformal prediction (Lei, G'Sell, Rinaldo, Tibshirani and
/// Wasserman 2018) within up to four groups of like predictions, linear between their means.
class Spreads {
 public:
  Spreads() = default;
  explicit Spreads(std::span<const HeldOut> held_out);

  SpeedPrediction around(double log_slowdown, std::size_t unknown) const;

  /// Of the pairs with so many unseen jobs, by rising log slowdown; one at least.
  std::span<const trees::Knot> knots(std::size_t unknown) const { return knots_[unknown]; }

  nlohmann::json save() const;
  static Spreads load(const nlohmann::json& state);

 private:
  using Knot = trees::Knot;
  std::array<std::vector<Knot>, 3> knots_;
};

/// Log-standard deviation of the excesses around predictions, as excess_scatter() of a table; by
/// log slowdowns; of pairs of jobs that were seen.
double excess_scatter_of(std::span<const HeldOut> held_out);

}  // namespace corun
