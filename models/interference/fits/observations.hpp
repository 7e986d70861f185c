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

/// Parts that several interference models share: the rows of a table as directed log slowdowns, jobs by their
/// keys, and intervals from the errors of held-out predictions.
namespace corun::inline models {

/// Bound of the modulus of a log slowdown; the logarithm of every positive finite double is smaller.
inline constexpr double kMostSlowness = 1e3;
/// The least standard deviation by which log slowdowns are standardised.
inline constexpr double kLeastSlownessDeviation = 0.01;

/// One measured direction: t = -log(speed) of `of` beside `beside`.
struct Observation {
  std::uint32_t of = 0;  ///< position in the table's jobs
  std::uint32_t beside = 0;
  std::uint32_t row = 0;    ///< of the table
  double log_slowdown = 0;  ///< t
};

/// std::invalid_argument, with a message that begins with `what`: values that are not jobs x features, families that
/// are not one per job, a row of a missing job, a key that is listed twice, a speed that is neither NaN (not measured)
/// nor above 0 and finite.
void check_table(const SpeedTable& table, const char* what);

/// The measured directions of a table, in the order of its rows. A job beside a copy of itself, with both
/// speeds, gives one direction with their mean. std::invalid_argument as check_table(), and if nothing was
/// measured.
std::vector<Observation> observations_of(const SpeedTable& table, const char* what);

/// A feature on its scale: the value or its logarithm; NaN stays. std::invalid_argument, with a message that
/// begins with `what`: a value infinite, beyond 1e100 or, on a log scale, not above 0.
double scaled_feature(double value, FeatureScale scale, const char* what);

/// A job's features on their scales, then the difference of every two logarithms (ratios).
/// std::invalid_argument as scaled_feature(), and for another number of features.
std::vector<double> expand_features(std::span<const double> values,
                                    std::span<const SpeedTable::Feature> features,
                                    const char* what);
/// The number of values that expand_features() returns.
std::size_t expanded_width(std::span<const SpeedTable::Feature> features);

/// std::invalid_argument, with a message that begins with `what`: another number of features than the model,
/// or a feature infinite or, on a log scale, not above 0. NaN (not known) is allowed.
void check_features(std::span<const double> values, std::span<const SpeedTable::Feature> features,
                    const char* what);

/// The parts of a fit that are held out, to measure the errors of predictions: all rows of a fifth of the
/// pairs, or all rows of a fifth of the jobs. The seed deals pairs and jobs into folds.
class Holdout {
 public:
  static constexpr std::size_t kFolds = 5;
  static constexpr std::size_t kCount = 2 * kFolds;  ///< of pairs first, then of jobs

  Holdout(const SpeedTable& table, std::uint64_t seed);

  std::size_t fold_of_row(std::size_t row) const { return row_fold_[row]; }
  /// Whether holdout `number` (below kCount) leaves out the observation.
  bool held(std::size_t number, const Observation& o) const;
  /// Whether holdout `number` leaves out all rows of the job.
  bool unknown(std::size_t number, std::size_t job) const;

 private:
  std::vector<std::size_t> row_fold_;
  std::vector<std::size_t> job_fold_;
};

/// Positions of jobs by their keys; jobs of kUnknownWorkload cannot be found.
class JobIndex {
 public:
  JobIndex() = default;
  /// std::invalid_argument, with a message that begins with `what`, if a key is listed twice.
  JobIndex(std::span<const WorkloadKey> jobs, const char* what);
  std::optional<std::size_t> find(WorkloadKey key) const;
  void add(WorkloadKey key, std::size_t position) { position_.emplace(key, position); }

 private:
  std::unordered_map<WorkloadKey, std::size_t> position_;
};

/// exp(-log slowdown), with the exponent limited to +-300: finite and above 0.
double speed_of(double log_slowdown);

/// The speed at a log slowdown, with the interval of a normal distribution of this deviation around it. The median is at
/// most kFastest.
SpeedPrediction normal_around(double log_slowdown, double deviation);
/// The deviation of t whose normal 90 % interval is as wide as the prediction's.
double deviation_of(const SpeedPrediction& prediction);

/// A held-out observation and its prediction.
struct HeldOut {
  std::size_t unknown = 0;  ///< number of the pair's jobs that the fit had not seen, 0 to 2
  double predicted = 0;     ///< log slowdown
  double measured = 0;      ///< log slowdown
};

/// The spread of single log slowdowns around predictions, by the number of unseen jobs of the pair and by the
/// predicted log slowdown: split conformal prediction (Lei, G'Sell, Rinaldo, Tibshirani and Wasserman 2018)
/// within up to four groups of similar predictions, linear between the means of the groups.
class Spreads {
 public:
  Spreads() = default;
  explicit Spreads(std::span<const HeldOut> held_out);

  /// The speed at a predicted log slowdown, with its interval.
  SpeedPrediction around(double log_slowdown, std::size_t unknown) const;

  /// The knots for pairs with `unknown` unseen jobs, by rising log slowdown; at least one.
  std::span<const trees::Knot> knots(std::size_t unknown) const { return knots_[unknown]; }

  nlohmann::json save() const;
  /// `state`: from save(). std::invalid_argument if it is not a possible state.
  static Spreads load(const nlohmann::json& state);

 private:
  using Knot = trees::Knot;
  std::array<std::vector<Knot>, 3> knots_;
};

/// excess_scatter() of held-out predictions, for pairs of seen jobs only.
double excess_scatter_of(std::span<const HeldOut> held_out);

}  // namespace corun::inline models
