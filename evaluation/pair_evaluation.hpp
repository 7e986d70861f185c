#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/interference/catalog.hpp"
#include "traces/tables/measurements.hpp"

/// Cross-validation of interference models.
///
/// Both directions of every pair with both speeds are scored. If a table has solo times, J_c, ISD
/// and PS are those of the two jobs started together, as measured; else those of two equally long
/// jobs that stay together to the end, ISD = 1/speed - 1. Regret: queues of 24 jobs are paired by
/// minimum-cost matching on out-of-fold predictions; the excess cost over the true optimum is
/// divided by that of random pairing. 0 is the optimum, 1 equals random. The cost of a pair is the
/// mean of both ISDs; unmeasured pairs are excluded. Groups of more than two jobs take no part.
namespace corun::inline evaluation {

enum class PairSplit : std::uint8_t {
  kPairs,   ///< random pairs in five folds; both directions of a pair in one fold
  kJob,     ///< one job with all its pairs; a pair is predicted twice, without either job
  kFamily,  ///< all jobs of a model with all their pairs
};

/// "pairs" | "job" | "family".
std::string_view name_of(PairSplit split);

/// Scores of one predictor; `rmse` and `width` are of ISD [fraction]. NaN: undefined for a constant predictor or one
/// without intervals.
struct PairScore {
  std::string predictor;
  double mae = 0;        ///< of ISD [fraction]
  double mae_error = 0;  ///< standard error over folds
  double rmse = 0;
  double mape = 0;                                             ///< of J_c [fraction]
  double ps_mae = 0;                                           ///< of PS [fraction]
  double spearman = std::numeric_limits<double>::quiet_NaN();  ///< of ISD
  double covered = std::numeric_limits<double>::quiet_NaN();   ///< share within the 90 % interval
  double covered_error =
      std::numeric_limits<double>::quiet_NaN();  ///< standard error over folds, by the jackknife
  double width = std::numeric_limits<double>::quiet_NaN();  ///< median width of the interval
  double regret = std::numeric_limits<double>::quiet_NaN();
  double regret_error = std::numeric_limits<double>::quiet_NaN();  ///< standard error over queues
  /// Share of co-runs whose speed is below the predicted quantile, per level of kLevels; equal to
  /// the levels for a calibrated model. Empty without intervals.
  std::vector<double> calibration;
};

/// Levels of the quantiles at which intervals are evaluated. Quantiles within the 90 % interval
/// come from a normal distribution through its ends and its middle.
inline constexpr std::array<double, 9> kLevels{.05, .1, .2, .35, .5, .65, .8, .9, .95};

struct PairEvaluation {
  std::string data;
  PairSplit split = PairSplit::kPairs;
  std::size_t rows = 0;    ///< most measured pairs per fit; 0: all
  std::size_t probes = 0;  ///< pairs of each held-out job given to the fit
  std::size_t pairs = 0;   ///< scored
  std::size_t jobs = 0;
  std::size_t folds = 0;
  std::size_t queues = 0;
  double best_isd = 0;            ///< mean over the optimally paired queues [fraction]
  double random_isd = 0;          ///< the same, paired at random
  std::vector<PairScore> scores;  ///< mean, median, then `models` and `fitted` of the options
  /// Models that cannot be fitted to such a table, and why.
  std::vector<std::pair<std::string, std::string>> left_out;
};

/// A model that was fitted already, to be judged as it is.
struct FittedModel {
  std::string name;
  std::shared_ptr<const InterferenceModel> model;
};

struct PairEvaluationOptions {
  std::uint64_t seed = 1;  ///< of folds, rows, probes and queues
  std::size_t queues = 40;
  unsigned threads = 1;                               ///< changes speed only
  double effort = 1;                                  ///< of the fits
  std::vector<const InterferenceModelEntry*> models;  ///< fitted in each fold
  /// Predict as check_features() says. They are not fitted again, so they may have seen the scored pairs.
  std::vector<FittedModel> fitted;
  /// Learning curve: number of rows outside the fold that each fit gets, drawn at random; 0: all.
  std::size_t rows = 0;
  /// Probing: number of random pairs of each held-out job that the fit gets and that are not
  /// scored.
  std::size_t probes = 0;
};

/// InputError, naming the table, if a split leaves nothing to fit or to score, or needs families
/// that the table does not name. `progress(done, folds)` is called after each fold.
PairEvaluation evaluate_pairs(const Measurements& table, PairSplit split,
                              const PairEvaluationOptions& options,
                              const std::function<void(std::size_t, std::size_t)>& progress = {});

/// The scored pairs of the papers; all pairs may be fitted.
enum class PapersScored : std::uint8_t {
  kAll,
  kPublished,  ///< pairs of two jobs with published profiles
};

/// The pairs of the papers' tables (JRS II to VII, PriRecT III and IV) with their solo times. The
/// cluster's centre replaces an unpublished profile.
Measurements papers_pair_table(WorkloadKeys& keys, PapersScored scored = PapersScored::kAll);

}  // namespace corun::inline evaluation
