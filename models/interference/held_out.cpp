#include "models/interference/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/interference/groups/campaigns.hpp"
#include "models/learners/cross_validation.hpp"

namespace corun::inline models {

namespace {

constexpr int kHeldOutFolds = 5;

/// Each direction of the rows whose speed was measured.
template <typename Each>
void each_direction(const std::vector<SpeedTable::Row>& rows, const Each& each) {
  for (const SpeedTable::Row& row : rows) {
    if (!std::isnan(row.speed_a)) each(row.campaign, PairQuery{row.a, row.b}, 1 / row.speed_a - 1);
    if (!std::isnan(row.speed_b)) each(row.campaign, PairQuery{row.b, row.a}, 1 / row.speed_b - 1);
  }
}

/// Adds up the errors of one fold.
class ErrorsOfFold {
 public:
  ErrorsOfFold(std::shared_ptr<const InterferenceModel> model, const SpeedTable& table)
      : model_(std::move(model)), table_(table) {
    for (std::size_t j = 0; j < table.jobs.size(); ++j) {
      jobs_.push_back({table.jobs[j], {table.of(j), table.features.size()}, table.family_of(j)});
    }
  }

  void add_to(HeldOutError& sum, const std::vector<SpeedTable::Row>& held, double mean) const {
    for (std::size_t c = 0; c < table_.campaigns.size(); ++c) {
      std::vector<PairQuery> pairs;
      std::vector<double> isd;
      each_direction(held, [&](std::size_t campaign, const PairQuery& pair, double measured) {
        if (campaign != c) return;
        pairs.push_back(pair);
        isd.push_back(measured);
      });
      if (pairs.empty()) continue;
      const std::vector<SpeedPrediction> speeds =
          on_campaign(model_, table_.campaigns[c], table_.jobs)->predict(jobs_, pairs);
      for (std::size_t q = 0; q < pairs.size(); ++q) {
        sum.model += std::abs(1 / speeds[q].speed - 1 - isd[q]);
        sum.mean += std::abs(mean - isd[q]);
      }
    }
  }

 private:
  std::shared_ptr<const InterferenceModel> model_;
  const SpeedTable& table_;
  std::vector<PairJob> jobs_;
};

}  // namespace

std::optional<HeldOutError> held_out_error(const InterferenceModelEntry& entry,
                                           const SpeedTable& table, const FitOptions& options) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<SpeedTable::Row>> by_pair;
  for (const SpeedTable::Row& row : table.rows) {
    by_pair[std::minmax(row.a, row.b)].push_back(row);
  }
  if (by_pair.size() < kFewestHeldOut) return std::nullopt;
  const std::vector<int> fold_of = assign_folds(by_pair.size(), {.folds = kHeldOutFolds});
  HeldOutError sum{0, 0, by_pair.size()};
  std::size_t directions = 0;
  for (int fold = 0; fold < kHeldOutFolds; ++fold) {
    SpeedTable known = table;
    known.rows.clear();
    known.groups.clear();
    std::vector<SpeedTable::Row> held;
    std::size_t place = 0;
    for (const auto& [pair, rows] : by_pair) {
      auto& to = fold_of[place++] == fold ? held : known.rows;
      to.insert(to.end(), rows.begin(), rows.end());
    }
    double total = 0;
    double count = 0;
    each_direction(known.rows, [&](std::size_t, const PairQuery&, double isd) {
      total += isd;
      ++count;
    });
    each_direction(held, [&](std::size_t, const PairQuery&, double) { ++directions; });
    if (count == 0) return std::nullopt;
    try {
      ErrorsOfFold(entry.fit(known, options), table).add_to(sum, held, total / count);
    } catch (const std::invalid_argument&) {
      return std::nullopt;
    }
  }
  if (directions == 0) return std::nullopt;
  sum.model /= static_cast<double>(directions);
  sum.mean /= static_cast<double>(directions);
  return sum;
}

}  // namespace corun::inline models
