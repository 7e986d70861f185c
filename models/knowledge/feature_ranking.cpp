#include "models/knowledge/feature_ranking.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "sim/base/correlation.hpp"

namespace corun::inline models {
namespace {

std::vector<double> column_of(const MatrixView& table, std::size_t column) {
  std::vector<double> values(table.rows);
  for (std::size_t r = 0; r < table.rows; ++r) values[r] = table(r, column);
  return values;
}

bool missing(std::span<const double> values) {
  return std::ranges::any_of(values, [](double v) { return std::isnan(v); });
}

bool constant(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double v) { return v == values[0]; });
}

void check(const MatrixView& table, std::span<const std::string> names, std::size_t target,
           std::span<const std::size_t> excluded) {
  const auto refuse = [](const std::string& why) {
    throw std::invalid_argument("feature ranking: " + why);
  };
  if (table.rows == 0 || table.values.size() != table.rows * table.columns) {
    refuse(std::to_string(table.values.size()) + " values, expected " + std::to_string(table.rows) +
           " x " + std::to_string(table.columns));
  }
  if (names.size() != table.columns) refuse("not one name per column");
  if (target >= table.columns) refuse("the target is no column");
  for (const std::size_t column : excluded) {
    if (column >= table.columns) refuse("an excluded attribute is no column");
    if (column == target) refuse("the target '" + names[target] + "' is excluded");
  }
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (std::isinf(table.values[i])) {
      refuse("'" + names[i % table.columns] + "' is infinite in a row");
    }
  }
  const std::vector<double> y = column_of(table, target);
  if (missing(y)) refuse("the target '" + names[target] + "' is missing in a row");
  if (constant(y)) refuse("the target '" + names[target] + "' is constant");
}

/// Ranks values by absolute value from the largest. Values are rounded to 1e-9 of the largest before, so that
/// an attribute and its shifted copy have equal ranks.
std::vector<Score> scores(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  const double unit = largest > 0 ? 1e-9 * largest : 1;
  std::vector<double> size(values.size());
  std::ranges::transform(values, size.begin(),
                         [&](double v) { return -std::round(std::abs(v) / unit); });
  const std::vector<double> rank = midranks(size);
  std::vector<Score> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = {values[i], rank[i]};
  return result;
}

void summarise(RankedFeature& f) {
  const std::array<double, 4> ranks{f.pearson.rank, f.forest.rank, f.ridge.rank, f.lasso.rank};
  double sum = 0;
  for (const double r : ranks) sum += r;
  f.mean_rank = sum / ranks.size();
  double square = 0;
  for (const double r : ranks) square += (r - f.mean_rank) * (r - f.mean_rank);
  f.rank_deviation = std::sqrt(square / ranks.size());
}

}  // namespace

std::string_view to_string(SkipReason reason) {
  switch (reason) {
    case SkipReason::kExcluded:
      return "excluded";
    case SkipReason::kMissing:
      return "missing in a row";
    case SkipReason::kConstant:
      return "constant";
  }
  return "unknown";
}

FeatureRanking rank_features(const MatrixView& table, std::span<const std::string> names,
                             std::size_t target, std::span<const std::size_t> excluded,
                             const RankingOptions& options) {
  check(table, names, target, excluded);
  FeatureRanking result;
  result.target = names[target];
  const std::vector<double> y = column_of(table, target);

  std::vector<double> pearsons;
  std::vector<double> spearmans;
  std::vector<double> kendalls;
  for (std::size_t c = 0; c < table.columns; ++c) {
    if (c == target) continue;
    const std::vector<double> x = column_of(table, c);
    if (std::ranges::find(excluded, c) != excluded.end()) {
      result.skipped.push_back({c, names[c], SkipReason::kExcluded});
    } else if (missing(x)) {
      result.skipped.push_back({c, names[c], SkipReason::kMissing});
    } else if (constant(x)) {
      result.skipped.push_back({c, names[c], SkipReason::kConstant});
    } else {
      RankedFeature& f = result.features.emplace_back();
      f.column = c;
      f.name = names[c];
      pearsons.push_back(pearson(x, y));
      spearmans.push_back(spearman(x, y));
      kendalls.push_back(kendall(x, y));
    }
  }
  if (result.features.empty()) {
    throw std::invalid_argument("feature ranking: no attribute is left to rank");
  }

  std::vector<double> values;
  values.reserve(table.rows * result.features.size());
  for (std::size_t r = 0; r < table.rows; ++r) {
    for (const RankedFeature& f : result.features) values.push_back(table(r, f.column));
  }
  const MatrixView predictors{values, table.rows, result.features.size()};
  result.ridge =
      choose_penalty(Penalty::kRidge, predictors, y, options.penalties, options.validation);
  result.lasso =
      choose_penalty(Penalty::kLasso, predictors, y, options.penalties, options.validation);
  result.forest = choose_forest(predictors, y, options.forest, options.validation, options.threads);
  const double deviation = Standardiser::of({y, y.size(), 1}).deviation[0];
  result.target_variance = deviation * deviation;

  const auto store = [&](Score RankedFeature::*where, const std::vector<double>& given) {
    const std::vector<Score> ranked = scores(given);
    for (std::size_t i = 0; i < ranked.size(); ++i) result.features[i].*where = ranked[i];
  };
  store(&RankedFeature::pearson, pearsons);
  store(&RankedFeature::spearman, spearmans);
  store(&RankedFeature::kendall, kendalls);
  store(&RankedFeature::forest, result.forest.importance);
  store(&RankedFeature::ridge, result.ridge.model.coefficients);
  store(&RankedFeature::lasso, result.lasso.model.coefficients);
  for (RankedFeature& f : result.features) summarise(f);
  std::ranges::stable_sort(result.features, {}, [](const RankedFeature& f) {
    return std::pair(f.mean_rank, -std::abs(f.pearson.value));
  });
  return result;
}

}  // namespace corun::inline models
