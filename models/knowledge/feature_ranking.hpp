#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/learners/cross_validation.hpp"
#include "models/learners/forest_search.hpp"
#include "models/learners/matrix_view.hpp"
#include "models/learners/regularised_regression.hpp"

/// Ranking of the attributes of jobs by their relation to a target: PriRecT section III-B and Fig. 2, JRS
/// section III-B.
///
/// Four techniques rank the attributes by absolute value: Pearson's correlation, the importance in a random
/// forest, and the coefficients of ridge and lasso regression on standardised attributes. Forest and
/// penalties are chosen from the papers' grids by cross-validation. Rank 1 is the largest value; equal
/// values, such as the many zeros of the lasso, share the mean of their ranks. Attributes are ordered by the
/// mean rank. Spearman's and Kendall's correlations are added, as in PriRecT, but do not count.
///
/// An attribute from which the target is computed ranks first but is no finding. In the papers' data set,
/// maximum = minimum + range holds to the last digit for GPU utilisation and for the time of memory access.
/// kOwnParts names the parts of the target "MGUP": include them to repeat the paper, exclude them to rank the
/// others.
namespace corun::inline models {

/// The attributes that PriRecT excludes: the identifier (attribute 1 of its Table I), capacities (44, 45, 55,
/// 56, 57) and sensitive attributes (2 to 5). Names of the Futurewei data set.
inline constexpr std::array<std::string_view, 10> kNotRanked{
    "ID",        "Model",         "Dataset",  "Epoch",   "BS",
    "SMU_total", "SMU_available", "DU_total", "DU_used", "DU_free"};

/// The attributes whose sum is the target "MGUP" (maximum GPU utilisation) in that data set. The other
/// target, "MGMAP" (maximum memory allocated), has no parts there.
inline constexpr std::array<std::string_view, 2> kOwnParts{"GPU_Util_%_ran", "Min_GPU_Util_%"};

/// The value of an attribute by one technique, and its rank among all ranked attributes.
struct Score {
  double value = 0;  ///< signed, except for the forest
  double rank = 0;   ///< by absolute value, from 1; a midrank if equal to 1e-9 of the largest
};

struct RankedFeature {
  std::size_t column = 0;  ///< of the table
  std::string name;
  Score pearson, spearman, kendall;
  Score forest;  ///< share of the reduction of squared error, see RegressionForest::importance
  Score ridge;   ///< target's unit per deviation of the attribute
  Score lasso;   ///< the same
  double mean_rank = 0;       ///< of pearson, forest, ridge and lasso
  double rank_deviation = 0;  ///< standard deviation of these four ranks, divisor 4
};

enum class SkipReason {
  kExcluded,  ///< by the caller
  kMissing,   ///< a row has no value (NaN)
  kConstant,  ///< all rows have one value
};
std::string_view to_string(SkipReason reason);

struct SkippedFeature {
  std::size_t column = 0;
  std::string name;
  SkipReason reason = SkipReason::kExcluded;
};

struct RankingOptions {
  CrossValidation validation;
  ForestGrid forest;
  std::vector<double> penalties{kPenaltyGrid.begin(), kPenaltyGrid.end()};
  int threads = 1;  ///< of the search among forests; does not change the result
};

struct FeatureRanking {
  std::string target;
  std::vector<RankedFeature> features;  ///< by mean rank; of equals, the larger |Pearson| first
  std::vector<SkippedFeature> skipped;  ///< in column order, without the target
  ForestChoice forest;                  ///< `importance` follows the ranked columns in table order
  PenaltyChoice ridge, lasso;           ///< coefficients likewise
  double target_variance = 0;  ///< population; 1 - error / variance is a technique's held-out R^2
};

/// Ranks the columns of `table`, with one name per column, for the column `target`. NaN: missing value.
/// std::invalid_argument: a wrong shape; an infinite value; a target that is missing in a row, constant,
/// excluded or no column; an excluded column that does not exist; no attribute left to rank; fewer rows than
/// folds or than 3; an option out of bounds.
FeatureRanking rank_features(const MatrixView& table, std::span<const std::string> names,
                             std::size_t target, std::span<const std::size_t> excluded,
                             const RankingOptions& options = {});

}  // namespace corun::inline models
