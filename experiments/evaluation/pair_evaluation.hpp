#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/interference/catalog.hpp"
#include "traces/pair_table.hpp"

/// Cross-validation of interference models: how well they predict what they were not fitted on.
///
/// Scored are both directions of every pair with both speeds. Where a table has the solo times, J_c, ISD
/// and PS are those of the two jobs started together, as measured; else of two equally long jobs that
/// stay together to the end, ISD = 1/speed - 1. Regret: queues of 24 jobs are paired by minimum-cost
/// matching on out-of-fold predictions; so much more than the true optimum that costs, as a share of
/// what random pairs cost more. 0 is the optimum, 1 no better than random. Cost of a pair is the mean
/// of both ISDs; pairs that were not measured are no pairs.
namespace corun {

enum class PairSplit : std::uint8_t {
  kPairs,   ///< random pairs, five folds; both directions of a pair in one fold
  kJob,     ///< one job with all its pairs; a pair of two jobs is predicted without either
  kFamily,  ///< all jobs of a model with all their pairs
};

/// "pairs" | "job" | "family".
std::string_view name_of(PairSplit split);

/// One figure is NaN where there is none: of a constant, or of a predictor without intervals.
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
      std::numeric_limits<double>::quiet_NaN();             ///< over folds, by the jackknife
  double width = std::numeric_limits<double>::quiet_NaN();  ///< median width of the interval
  double regret = std::numeric_limits<double>::quiet_NaN();
  double regret_error = std::numeric_limits<double>::quiet_NaN();  ///< over queues
  /// Share of co-runs whose speed is below the predicted quantile, for the levels of kLevels: what a
  /// calibrated model has equal to them. Empty without intervals.
  std::vector<double> calibration;
};

/// Quantiles at which intervals are judged; those between the ends of the 90 % interval are read off a
/// normal through its ends and its middle.
inline constexpr std::array<double, 9> kLevels{.05, .1, .2, .35, .5, .65, .8, .9, .95};

struct PairEvaluation {
  std::string data;
  PairSplit split = PairSplit::kPairs;
  std::size_t rows = 0;    ///< of measured pairs that each fit was given at most; 0: all
  std::size_t probes = 0;  ///< pairs of what was held out that each fit was given
  std::size_t pairs = 0;   ///< scored
  std::size_t jobs = 0;
  std::size_t folds = 0;
  std::size_t queues = 0;
  double best_isd = 0;            ///< mean over the queues, paired as well as can be [fraction]
  double random_isd = 0;          ///< paired at random
  std::vector<PairScore> scores;  ///< mean, median, then the models in the order of the options
  /// Models that cannot be fitted on such a table, and why.
  std::vector<std::pair<std::string, std::string>> left_out;
};

struct PairEvaluationOptions {
  std::uint64_t seed = 1;  ///< of folds, of what fits are given, and of queues
  std::size_t queues = 40;
  unsigned threads = 1;  ///< changes speed only
  std::vector<const InterferenceModelEntry*> models;
  /// Learning curve: each fit is given so many of the rows that its fold leaves, drawn at random; 0: all.
  std::size_t rows = 0;
  /// Probing: so many random pairs of each job that is held out are given to the fit, not scored.
  std::size_t probes = 0;
};

/// InputError, naming the table, when a split leaves nothing to fit on or nothing to score, or asks
/// for families that the table does not name. `progress` is told (done, folds).
PairEvaluation evaluate_pairs(const PairTable& table, PairSplit split,
                              const PairEvaluationOptions& options,
                              const std::function<void(std::size_t, std::size_t)>& progress = {});

/// Which of the papers' pairs are scored; all of them are there to be fitted on.
enum class PapersScored : std::uint8_t {
  kAll,
  kPublished,  ///< those of two jobs whose profiles were published
};

/// The pairs of the papers' tables (JRS II to VII, PriRecT III and IV) with their solo times; for
/// profiles that nobody published their cluster's centre stands in.
PairTable papers_pair_table(WorkloadKeys& keys, PapersScored scored = PapersScored::kAll);

}  // namespace corun
