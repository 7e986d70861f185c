#include "evaluation/matching_survey.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace corun::inline evaluation {

namespace {

/// Dynamic programming over sets of settled jobs (paired or left alone), from the empty set to all.
/// Each set keeps sums over all ways to settle exactly its jobs. The lowest unsettled job is always
/// settled next, so that few sets occur.
class MatchingTable {
 public:
  static constexpr std::size_t kMostJobs = 56;

  explicit MatchingTable(const PairGraph& graph) : steps_(graph.jobs), turn_(graph.jobs + 1) {
    for (const PairGraph::Edge& edge : graph.edges) {
      Step step{bit(edge.a) | bit(edge.b), edge.cost, {fixed(edge.cost)}};
      for (const double predicted : edge.predicted) step.predicted.push_back(fixed(predicted));
      columns_ = step.predicted.size();
      steps_[std::min(edge.a, edge.b)].push_back(std::move(step));
    }
  }

  /// Survey of the matchings that leave exactly `alone` jobs alone; without pairs if there are
  /// none.
  MatchingSurvey survey(std::size_t alone) {
    places_.clear();
    states_.clear();
    cheapest_.clear();
    for (auto& turn : turn_) turn.clear();

    const std::size_t start = place_of(key(0, alone));
    states_[start].matchings = 1;
    for (std::size_t c = 0; c < columns_; ++c) cheapest_[start * columns_ + c].matchings = 1;
    for (std::size_t job = 0; job < steps_.size(); ++job) {
      const Step stays_alone{bit(job), 0, std::vector<std::int64_t>(columns_, 0)};
      for (std::size_t i = 0; i < turn_[job].size(); ++i) {
        const std::size_t from = turn_[job][i];
        const std::uint64_t settled = states_[from].key;
        for (const Step& step : steps_[job]) {
          if ((settled & step.jobs) == 0) extend(from, step, place_of(settled | step.jobs));
        }
        if (settled >> kMostJobs != 0) {
          extend(from, stays_alone, place_of((settled | stays_alone.jobs) - key(0, 1)));
        }
      }
    }
    MatchingSurvey survey;
    for (const std::size_t end : turn_.back()) {
      if (states_[end].key >> kMostJobs != 0) continue;  // did not use up `alone`
      survey.pairs = (steps_.size() - alone) / 2;
      survey.matchings = states_[end].matchings;
      survey.mean = states_[end].cost / survey.matchings;
      for (std::size_t c = 0; c < columns_; ++c) {
        const Cheapest& best = cheapest_[end * columns_ + c];
        survey.chosen.push_back(best.cost / best.matchings);
      }
      survey.least = survey.chosen.front();  // the first column is the true cost
      survey.chosen.erase(survey.chosen.begin());
    }
    return survey;
  }

 private:
  struct Step {
    std::uint64_t jobs;
    double cost;
    std::vector<std::int64_t> predicted;  ///< true cost first, then per predictor
  };
  struct State {
    std::uint64_t key = 0;  ///< settled jobs, and how many may still stay alone
    double matchings = 0;
    double cost = 0;  ///< sum of true costs over these matchings
  };
  struct Cheapest {
    std::int64_t predicted = 0;
    double matchings = 0;  ///< number of equally cheap matchings
    double cost = 0;       ///< sum of true costs over these
  };

  static std::uint64_t bit(std::size_t job) { return std::uint64_t{1} << job; }
  static std::uint64_t key(std::uint64_t settled, std::uint64_t alone) {
    return settled | alone << kMostJobs;
  }
  /// Fixed point, so that sums do not depend on their order and equal costs compare equal.
  static std::int64_t fixed(double cost) {
    return static_cast<std::int64_t>(std::llround(cost * 1e9));
  }

  std::size_t place_of(std::uint64_t key) {
    const auto [it, is_new] = places_.try_emplace(key, states_.size());
    if (is_new) {
      states_.push_back({key, 0, 0});
      cheapest_.resize(cheapest_.size() + columns_);
      const std::uint64_t settled = key & (bit(kMostJobs) - 1);
      turn_[static_cast<std::size_t>(std::countr_one(settled))].push_back(it->second);
    }
    return it->second;
  }

  /// Adds the ways to settle `from`, extended by one step, to those of `to`.
  void extend(std::size_t from, const Step& step, std::size_t to) {
    const State& before = states_[from];
    State& after = states_[to];
    const bool first = after.matchings == 0;
    after.matchings += before.matchings;
    after.cost += before.cost + step.cost * before.matchings;
    const Cheapest* const old = &cheapest_[from * columns_];
    Cheapest* const all = &cheapest_[to * columns_];
    for (std::size_t c = 0; c < columns_; ++c) {
      const std::int64_t predicted = old[c].predicted + step.predicted[c];
      if (first || predicted < all[c].predicted) all[c] = {predicted, 0, 0};
      if (predicted > all[c].predicted) continue;
      all[c].matchings += old[c].matchings;
      all[c].cost += old[c].cost + step.cost * old[c].matchings;
    }
  }

  std::size_t columns_ = 1;
  std::vector<std::vector<Step>> steps_;        ///< by the lower of the two jobs
  std::vector<std::vector<std::size_t>> turn_;  ///< states by their lowest unsettled job
  std::unordered_map<std::uint64_t, std::size_t> places_;
  std::vector<State> states_;
  std::vector<Cheapest> cheapest_;  ///< [state][column]
};

}  // namespace

MatchingSurvey survey_matchings(const PairGraph& graph) {
  assert(graph.jobs <= MatchingTable::kMostJobs);
  MatchingTable table(graph);
  for (std::size_t alone = graph.jobs % 2; alone < graph.jobs; alone += 2) {
    MatchingSurvey survey = table.survey(alone);
    if (survey.pairs > 0) return survey;
  }
  return {};
}

}  // namespace corun::inline evaluation
