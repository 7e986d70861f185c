#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "models/interference/factor_model.hpp"
#include "traces/pair_table.hpp"

/// Cross-validation of pair predictors: how well they predict what they were not fitted on.
///
/// Error is that of ISD = 1/speed - 1 (what a partner that stays to the end would cost), in both
/// directions of every scored pair. Regret: queues of 24 jobs are paired by minimum-cost matching on
/// out-of-fold predictions; so much more than the true optimum that costs, as a share of what random
/// pairs cost more. 0 is the optimum, 1 no better than random. Cost of a pair is the mean of both ISDs;
/// pairs that were not measured are no pairs.
namespace corun {

enum class PairSplit : std::uint8_t {
  kPairs,   ///< random pairs, five folds; both directions of a pair in one fold
  kJob,     ///< one job with all its pairs; a pair of two jobs is predicted without either
  kFamily,  ///< all jobs of a model with all their pairs
};

/// "pairs" | "job" | "family".
std::string_view name_of(PairSplit split);

struct PairScore {
  std::string predictor;
  double mae = 0;        ///< of ISD [fraction]
  double mae_error = 0;  ///< standard error over folds
  double rmse = 0;
  double spearman = std::numeric_limits<double>::quiet_NaN();  ///< NaN for a constant
  double covered = std::numeric_limits<double>::quiet_NaN();   ///< share within the 90 % interval
  double width = std::numeric_limits<double>::quiet_NaN();     ///< median width of the interval
  double regret = std::numeric_limits<double>::quiet_NaN();
  double regret_error = std::numeric_limits<double>::quiet_NaN();  ///< over queues
};

struct PairEvaluation {
  std::string data;
  PairSplit split = PairSplit::kPairs;
  std::size_t pairs = 0;  ///< scored
  std::size_t jobs = 0;
  std::size_t folds = 0;
  std::size_t queues = 0;
  double best_isd = 0;            ///< mean over the queues, paired as well as can be [fraction]
  double random_isd = 0;          ///< paired at random
  std::vector<PairScore> scores;  ///< mean, median, cluster-mean (k = 3), factors
};

struct PairEvaluationOptions {
  std::uint64_t seed = 1;  ///< of folds and queues
  std::size_t queues = 40;
  unsigned threads = 1;
  FactorOptions factors;
};

/// InputError, naming the table, when a split leaves nothing to fit on or nothing to score, or asks
/// for families that the table does not name. `progress` is told (done, folds).
PairEvaluation evaluate_pairs(const PairTable& table, PairSplit split,
                              const PairEvaluationOptions& options,
                              const std::function<void(std::size_t, std::size_t)>& progress = {});

}  // namespace corun
