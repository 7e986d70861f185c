#include "runner/sweep/sweep_answers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "sim/base/nan.hpp"
#include "sim/base/summary.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::inline runner {

namespace {

/// The sweep as an array: metric of a policy at a point in a replication. Values that some policy
/// does not define are left out for all, so that means are over the same replications and points.
class Cube {
 public:
  Cube(const SweepResults& results, const std::vector<std::size_t>& columns) {
    const std::size_t all = results.plan.points();
    for (std::size_t p = 0; p < all; ++p) {
      const bool present = std::ranges::all_of(
          columns, [&](std::size_t c) { return !results.policies[c].values[p].empty(); });
      if (present) points_.push_back(p);
    }
    replications_ = std::numeric_limits<std::size_t>::max();
    for (const std::size_t p : points_) {
      of_point_.push_back(results.replications(p));
      replications_ = std::min(replications_, of_point_.back());
    }
    for (const std::size_t c : columns) policies_.push_back(&results.policies[c]);
  }

  std::size_t points() const { return points_.size(); }
  std::size_t policies() const { return policies_.size(); }
  /// That all points have, and that a point has.
  std::size_t replications() const { return replications_; }
  std::size_t replications(std::size_t point) const { return of_point_[point]; }
  /// The number in the sweep of a point of the cube.
  std::size_t number(std::size_t point) const { return points_[point]; }

  double at(Metric m, std::size_t point, std::size_t policy, std::size_t replication) const {
    return corun::at(policies_[policy]->values[points_[point]][replication], m);
  }

  bool defined(Metric m, std::size_t point, std::size_t replication) const {
    for (std::size_t q = 0; q < policies(); ++q) {
      if (std::isnan(at(m, point, q, replication))) return false;
    }
    return true;
  }

  /// means[policy][replication] over all points.
  std::vector<std::vector<MetricValues>> over_points() const {
    MetricValues none;
    none.fill(kNaN);
    std::vector<std::vector<MetricValues>> means(policies(),
                                                 std::vector<MetricValues>(replications(), none));
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      const auto metric = static_cast<Metric>(m);
      for (std::size_t r = 0; r < replications(); ++r) {
        std::vector<RunningMean> mean(policies());
        for (std::size_t p = 0; p < points(); ++p) {
          if (!defined(metric, p, r)) continue;
          for (std::size_t q = 0; q < policies(); ++q) mean[q].add_if_known(at(metric, p, q, r));
        }
        for (std::size_t q = 0; q < policies(); ++q) means[q][r][m] = mean[q].value();
      }
    }
    return means;
  }

  double over_replications(Metric m, std::size_t point, std::size_t policy) const {
    RunningMean mean;
    for (const double value : values(m, point, policy)) mean.add_if_known(value);
    return mean.value();
  }

  /// By replication; NaN where a policy does not define the metric.
  std::vector<double> values(Metric m, std::size_t point, std::size_t policy) const {
    return values(m, point, policy, replications());
  }
  /// The same of the first `count` replications.
  std::vector<double> values(Metric m, std::size_t point, std::size_t policy,
                             std::size_t count) const {
    std::vector<double> values(count, kNaN);
    for (std::size_t r = 0; r < count; ++r) {
      if (defined(m, point, r)) values[r] = at(m, point, policy, r);
    }
    return values;
  }

 private:
  std::vector<std::size_t> points_;
  std::vector<std::size_t> of_point_;  ///< replications
  std::vector<const SweepResults::PolicyColumn*> policies_;
  std::size_t replications_ = 0;
};

/// Whether the metric is ISD and the policy never shares a GPU at the point: its ISD of 0 must not win.
bool never_shares_at(const Cube& cube, Metric metric, std::size_t point, std::size_t policy) {
  if (metric != Metric::kIsd && metric != Metric::kIsdMax) return false;
  for (std::size_t r = 0; r < cube.replications(); ++r) {
    if (cube.at(metric, point, policy, r) != 0) return false;
  }
  return true;
}

/// The same at all points.
bool never_shares(const Cube& cube, Metric metric, std::size_t policy) {
  for (std::size_t p = 0; p < cube.points(); ++p) {
    if (!never_shares_at(cube, metric, p, policy)) return false;
  }
  return true;
}

bool is_better(Metric metric, double a, double b) {
  return judged(metric).smaller_is_better ? a < b : a > b;
}

/// The best of `candidates`, the first of ties; empty if no mean is defined.
std::optional<std::size_t> best_of(Metric metric, const std::vector<std::size_t>& candidates,
                                   const std::vector<double>& means) {
  std::optional<std::size_t> best;
  for (const std::size_t q : candidates) {
    if (std::isnan(means[q])) continue;
    if (!best || is_better(metric, means[q], means[*best])) best = q;
  }
  return best;
}

// ---- configurations -----------------------------------------------------------------------------

/// Points of the cube.
using Points = std::vector<std::size_t>;

/// The points with equal values of the keys that are scenarios, or of those that are choices, by their first point.
std::vector<Points> groups_of(const SweepResults& results, const Cube& cube, bool by_scenario) {
  const SweepPlan& plan = results.plan;
  std::map<std::vector<std::string>, std::size_t> known;
  std::vector<Points> groups;
  for (std::size_t p = 0; p < cube.points(); ++p) {
    std::vector<std::string> values;
    for (std::size_t k = 0; k < plan.keys().size(); ++k) {
      if (plan.is_scenario(k) == by_scenario) values.push_back(plan.text(cube.number(p), k));
    }
    const auto [at, fresh] = known.emplace(std::move(values), groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(p);
  }
  return groups;
}

/// Means over the points, by replication, of the first `count`; NaN where the metric is not defined at one of them.
std::vector<double> means_over(const Cube& cube, Metric metric, const Points& points,
                               std::size_t policy, std::size_t count) {
  std::vector<double> means(count, 0);
  for (const std::size_t p : points) {
    const std::vector<double> values = cube.values(metric, p, policy, count);
    for (std::size_t r = 0; r < means.size(); ++r) means[r] += values[r];
  }
  for (double& mean : means) mean /= static_cast<double>(points.size());
  return means;
}

/// Means of all configurations and policies by the metric, the best first; ties by policy, then point. Over the
/// replications that all their points have.
std::vector<ConfigurationAnswer> ranked(const Cube& cube, Metric metric,
                                        const std::vector<Points>& configurations) {
  struct Candidate {
    ConfigurationAnswer answer;
    const Points* points;
  };
  std::size_t count = std::numeric_limits<std::size_t>::max();
  for (const Points& points : configurations) {
    for (const std::size_t p : points) count = std::min(count, cube.replications(p));
  }
  std::vector<Candidate> candidates;
  for (std::size_t q = 0; q < cube.policies(); ++q) {
    for (const Points& points : configurations) {
      const auto never = [&](std::size_t p) { return never_shares_at(cube, metric, p, q); };
      if (std::ranges::all_of(points, never)) continue;
      std::vector<double> values = means_over(cube, metric, points, q, count);
      std::erase_if(values, [](double value) { return std::isnan(value); });
      if (values.empty()) continue;
      candidates.push_back({{cube.number(points.front()), q, mean_interval(values)}, &points});
    }
  }
  std::ranges::stable_sort(candidates, [&](const Candidate& a, const Candidate& b) {
    return is_better(metric, a.answer.mean.mean, b.answer.mean.mean);
  });
  std::vector<ConfigurationAnswer> answers;
  std::vector<double> best;
  for (Candidate& candidate : candidates) {
    const std::vector<double> values =
        means_over(cube, metric, *candidate.points, candidate.answer.policy, count);
    if (answers.empty()) {
      best = values;
    } else {
      std::vector<double> differences;
      for (std::size_t r = 0; r < values.size(); ++r) {
        const double d = values[r] - best[r];
        if (!std::isnan(d)) differences.push_back(d);
      }
      candidate.answer.minus_best = mean_interval(differences);
      candidate.answer.p = t_test(differences);
    }
    answers.push_back(candidate.answer);
  }
  return answers;
}

std::vector<RankingAnswer> rankings_of(const Cube& cube, const std::vector<Metric>& metrics,
                                       const std::vector<Points>& configurations) {
  std::vector<RankingAnswer> rankings;
  std::vector<double> p;
  for (const Metric metric : metrics) {
    rankings.push_back({metric, ranked(cube, metric, configurations)});
    for (const ConfigurationAnswer& one : rankings.back().ranked) p.push_back(one.p);
  }
  const std::vector<double> adjusted = holm(p);
  auto next = adjusted.begin();
  for (RankingAnswer& ranking : rankings) {
    for (ConfigurationAnswer& one : ranking.ranked) one.p_holm = *next++;
  }
  return rankings;
}

/// By the keys that are scenarios, in their order: numbers by size, words by first appearance.
void sort_by_values(const SweepResults& results, const Cube& cube, std::vector<Points>& scenarios) {
  const SweepPlan& plan = results.plan;
  std::vector<std::pair<std::vector<double>, Points>> sorted;
  for (Points& points : scenarios) sorted.emplace_back(std::vector<double>(), std::move(points));
  for (std::size_t k = 0; k < plan.keys().size(); ++k) {
    if (!plan.is_scenario(k)) continue;
    const auto text = [&](const auto& one) {
      return plan.text(cube.number(one.second.front()), k);
    };
    const bool numbers = std::ranges::all_of(
        sorted, [&](const auto& one) { return parse_number(text(one)).has_value(); });
    std::vector<std::string> words;
    for (auto& one : sorted) {
      const std::string word = text(one);
      const auto at = std::ranges::find(words, word);
      one.first.push_back(numbers ? *parse_number(word) : static_cast<double>(at - words.begin()));
      if (at == words.end()) words.push_back(word);
    }
  }
  std::ranges::stable_sort(sorted, {}, [](const auto& one) { return one.first; });
  scenarios.clear();
  for (auto& one : sorted) scenarios.push_back(std::move(one.second));
}

void answer_rankings(const SweepResults& results, const Cube& cube, SweepAnswers& answers) {
  std::vector<Points> scenarios = groups_of(results, cube, true);
  std::vector<Points> everywhere;
  for (Points& choice : groups_of(results, cube, false)) {
    if (choice.size() == scenarios.size()) everywhere.push_back(std::move(choice));
  }
  answers.rankings = rankings_of(cube, answers.metrics, everywhere);
  if (scenarios.size() < 2) return;
  sort_by_values(results, cube, scenarios);
  for (const Points& points : scenarios) {
    std::vector<Points> each;
    for (const std::size_t p : points) each.push_back({p});
    answers.scenarios.push_back(
        {cube.number(points.front()), rankings_of(cube, answers.metrics, each)});
  }
}

// ---- policies -----------------------------------------------------------------------------------

void answer_best(const Cube& cube, const Comparison& comparison, Metric metric,
                 SweepAnswers& answers) {
  BestAnswer answer{metric, 0, {}, {}, std::vector<std::size_t>(cube.policies(), 0), {}};
  std::vector<double> means;
  for (std::size_t q = 0; q < cube.policies(); ++q) {
    answer.means.push_back(comparison.policies[q][static_cast<std::size_t>(metric)]);
    means.push_back(answer.means.back().mean);
    if (!never_shares(cube, metric, q)) answer.candidates.push_back(q);
  }
  const auto best = best_of(metric, answer.candidates, means);
  if (!best) return;
  answer.best = *best;
  for (const std::size_t q : answer.candidates) {
    const Interval& d = comparison.versus[q][*best][static_cast<std::size_t>(metric)];
    if (q != *best && !d.excludes_zero()) answer.undecided.push_back(q);
  }
  for (std::size_t p = 0; p < cube.points(); ++p) {
    std::vector<double> here;
    for (std::size_t q = 0; q < cube.policies(); ++q) {
      here.push_back(cube.over_replications(metric, p, q));
    }
    const auto best_here = best_of(metric, answer.candidates, here);
    if (best_here) ++answer.best_at[*best_here];
  }
  answers.best.push_back(std::move(answer));
}

// ---- main effects -------------------------------------------------------------------------------

/// A swept key as levels: its values if they are few, else ranges with equally many points.
struct Factor {
  std::string name;
  std::vector<EffectAnswer::Level> levels;
  std::vector<std::size_t> level_of;  ///< by point of the cube
};

Factor factor_of(const SweepResults& results, const Cube& cube, std::size_t key) {
  constexpr std::size_t kValuesMax = 8;
  constexpr std::size_t kRanges = 4;
  Factor factor{results.plan.keys()[key], {}, {}};
  std::vector<std::string> texts;
  std::map<std::string, std::size_t> first;
  bool numbers = true;
  for (std::size_t p = 0; p < cube.points(); ++p) {
    const std::string& text = results.plan.text(cube.number(p), key);
    texts.push_back(text.empty() ? "(as configured)" : text);
    first.emplace(texts.back(), p);
    numbers = numbers && parse_number(texts.back());
  }
  const auto value = [&](std::size_t p) { return *parse_number(texts[p]); };
  if (numbers && first.size() > kValuesMax) {
    std::vector<std::size_t> order(texts.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, value);
    factor.level_of.resize(texts.size());
    std::size_t level = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      // Equal values must stay in one range.
      const bool full = i * kRanges >= (level + 1) * order.size();
      if (full && value(order[i]) != value(order[i - 1])) ++level;
      factor.level_of[order[i]] = level;
      if (factor.levels.size() == level) {
        factor.levels.push_back({texts[order[i]], value(order[i]), 0, 0});
      }
      EffectAnswer::Level& range = factor.levels[level];
      const std::string low = range.text.substr(0, range.text.find(" to "));
      range.text = low + " to " + texts[order[i]];
      range.position = (*parse_number(low) + value(order[i])) / 2;
    }
    return factor;
  }
  std::vector<std::pair<std::string, std::size_t>> values(first.begin(), first.end());
  std::ranges::stable_sort(values, [&](const auto& a, const auto& b) {
    return numbers ? value(a.second) < value(b.second) : a.second < b.second;
  });
  std::map<std::string, std::size_t> level;
  for (const auto& [text, p] : values) {
    level.emplace(text, factor.levels.size());
    factor.levels.push_back({text, numbers ? value(p) : kNaN, 0, 0});
  }
  for (const std::string& text : texts) factor.level_of.push_back(level.at(text));
  return factor;
}

/// The effect over the policies `of`; `level_of(point, policy)` gives the level.
template <typename LevelOf>
EffectAnswer effect_of(const Cube& cube, Metric metric, const std::vector<std::size_t>& of,
                       std::vector<EffectAnswer::Level> levels, LevelOf level_of) {
  EffectAnswer answer{metric, "", "", kNaN, std::move(levels)};
  std::vector<RunningMean> level_means(answer.levels.size());
  RunningMean all;
  double squares = 0;
  std::vector<double> cell_means;
  for (std::size_t p = 0; p < cube.points(); ++p) {
    for (const std::size_t q : of) {
      const double mean = cube.over_replications(metric, p, q);
      cell_means.push_back(mean);
      all.add_if_known(mean);
      level_means[level_of(p, q)].add_if_known(mean);
    }
  }
  for (const double mean : cell_means) {
    if (!std::isnan(mean)) squares += (mean - all.value()) * (mean - all.value());
  }
  double between = 0;
  for (std::size_t l = 0; l < answer.levels.size(); ++l) {
    EffectAnswer::Level& level = answer.levels[l];
    level.mean = level_means[l].value();
    level.cells = level_means[l].count();
    if (level.cells == 0) continue;
    between += static_cast<double>(level_means[l].count()) * (level.mean - all.value()) *
               (level.mean - all.value());
    const auto beyond = [&](std::size_t other, auto compare) {
      return std::isnan(answer.levels[other].mean) ||
             compare(level.mean, answer.levels[other].mean);
    };
    if (beyond(answer.least, std::less<>())) answer.least = l;
    if (beyond(answer.most, std::greater<>())) answer.most = l;
  }
  if (squares > 0) answer.share = between / squares;
  std::vector<double> differences;
  for (std::size_t r = 0; r < cube.replications(); ++r) {
    RunningMean least;
    RunningMean most;
    for (std::size_t p = 0; p < cube.points(); ++p) {
      if (!cube.defined(metric, p, r)) continue;
      for (const std::size_t q : of) {
        const std::size_t level = level_of(p, q);
        if (level == answer.least) least.add_if_known(cube.at(metric, p, q, r));
        if (level == answer.most) most.add_if_known(cube.at(metric, p, q, r));
      }
    }
    const double difference = most.value() - least.value();
    if (!std::isnan(difference)) differences.push_back(difference);
  }
  answer.difference = mean_interval(differences);
  return answer;
}

void answer_effects(const Cube& cube, Metric metric, const std::vector<Factor>& factors,
                    SweepAnswers& answers) {
  std::vector<std::size_t> every(cube.policies());
  std::iota(every.begin(), every.end(), 0);
  std::vector<EffectAnswer> found;
  if (cube.policies() > 1) {
    std::vector<EffectAnswer::Level> levels;
    for (const std::string& label : answers.policies) levels.push_back({label, kNaN, 0, 0});
    found.push_back(effect_of(cube, metric, every, std::move(levels),
                              [](std::size_t, std::size_t q) { return q; }));
    found.back().factor = "policy";
  }
  for (const Factor& factor : factors) {
    const auto level_of = [&](std::size_t p, std::size_t) { return factor.level_of[p]; };
    found.push_back(effect_of(cube, metric, every, factor.levels, level_of));
    found.back().factor = factor.name;
  }
  std::ranges::stable_sort(found, [](const EffectAnswer& a, const EffectAnswer& b) {
    return (std::isnan(a.share) ? -1 : a.share) > (std::isnan(b.share) ? -1 : b.share);
  });
  for (std::size_t q = 0; q < cube.policies() && cube.policies() > 1; ++q) {
    for (const Factor& factor : factors) {
      const auto level_of = [&](std::size_t p, std::size_t) { return factor.level_of[p]; };
      found.push_back(effect_of(cube, metric, {q}, factor.levels, level_of));
      found.back().factor = factor.name;
      found.back().policy = answers.policies[q];
    }
  }
  std::ranges::move(found, std::back_inserter(answers.effects));
}

// ---- Pareto front -------------------------------------------------------------------------------

/// The Pareto front of these cells, with the share of bootstrap resamples in which each stays on
/// it. isd[cell][replication], ps likewise.
std::vector<FrontAnswer> front_of(std::vector<FrontAnswer> cells,
                                  const std::vector<std::vector<double>>& isd,
                                  const std::vector<std::vector<double>>& ps, std::uint64_t seed) {
  const auto means = [&](const std::vector<std::vector<double>>& values,
                         const std::vector<std::uint32_t>& drawn) {
    std::vector<double> out;
    out.reserve(values.size());
    for (const auto& of_cell : values) {
      RunningMean mean;
      for (const std::uint32_t r : drawn) mean.add_if_known(of_cell[r]);
      out.push_back(mean.value());
    }
    return out;
  };
  const std::size_t replications = isd.empty() ? 0 : isd.front().size();
  std::vector<std::uint32_t> drawn(replications);
  std::iota(drawn.begin(), drawn.end(), 0U);
  const std::vector<std::size_t> front = pareto_front(means(isd, drawn), means(ps, drawn));
  std::vector<double> stays(cells.size(), 0);
  constexpr int kFrontResamples = 200;  // a share to a few percent suffices
  for (int b = 0; b < kFrontResamples; ++b) {
    Rng rng(seed, Stream::kBootstrap, static_cast<std::uint64_t>(b));
    for (std::uint32_t& r : drawn) r = rng.below(static_cast<std::uint32_t>(replications));
    for (const std::size_t cell : pareto_front(means(isd, drawn), means(ps, drawn))) {
      stays[cell] += 1.0 / kFrontResamples;
    }
  }
  std::vector<FrontAnswer> out;
  for (const std::size_t cell : front) {
    out.push_back(cells[cell]);
    out.back().stays = stays[cell];
  }
  return out;
}

void answer_front(const Cube& cube, const std::vector<std::vector<MetricValues>>& over_points,
                  std::uint64_t seed, SweepAnswers& answers) {
  std::vector<std::vector<double>> isd;
  std::vector<std::vector<double>> ps;
  for (std::size_t p = 0; p < cube.points(); ++p) {
    for (std::size_t q = 0; q < cube.policies(); ++q) {
      answers.cells.push_back({cube.number(p), q, cube.over_replications(Metric::kIsd, p, q),
                               cube.over_replications(Metric::kPs, p, q), 0});
      isd.emplace_back();
      ps.emplace_back();
      for (std::size_t r = 0; r < cube.replications(); ++r) {
        const bool both = cube.defined(Metric::kIsd, p, r) && cube.defined(Metric::kPs, p, r);
        isd.back().push_back(both ? cube.at(Metric::kIsd, p, q, r) : kNaN);
        ps.back().push_back(both ? cube.at(Metric::kPs, p, q, r) : kNaN);
      }
    }
  }
  answers.front = front_of(answers.cells, isd, ps, seed);
  std::vector<FrontAnswer> policies;
  isd.clear();
  ps.clear();
  for (std::size_t q = 0; q < cube.policies(); ++q) {
    RunningMean mean_isd;
    RunningMean mean_ps;
    isd.emplace_back();
    ps.emplace_back();
    for (const MetricValues& values : over_points[q]) {
      isd.back().push_back(at(values, Metric::kIsd));
      ps.back().push_back(at(values, Metric::kPs));
      mean_isd.add_if_known(isd.back().back());
      mean_ps.add_if_known(ps.back().back());
    }
    policies.push_back({kNoPoint, q, mean_isd.value(), mean_ps.value(), 0});
  }
  answers.policy_front = front_of(policies, isd, ps, seed);
}

// ---- differences --------------------------------------------------------------------------------

void answer_differences(const Cube& cube, const Comparison& comparison,
                        const std::vector<std::vector<MetricValues>>& over_points,
                        SweepAnswers& answers) {
  const std::size_t n = cube.policies();
  for (const Metric metric : answers.metrics) {
    const auto m = static_cast<std::size_t>(metric);
    const std::size_t begin = answers.differences.size();
    std::vector<double> p_here;  // by pair, then point
    std::vector<double> mean_here;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) {
        DifferenceAnswer answer{metric, a, b, comparison.versus[a][b][m]};
        if (is_better(metric, comparison.policies[b][m].mean, comparison.policies[a][m].mean)) {
          std::swap(answer.better, answer.worse);
          answer.difference = comparison.versus[b][a][m];
        }
        std::vector<double> differences;
        for (std::size_t r = 0; r < cube.replications(); ++r) {
          const double d = over_points[answer.better][r][m] - over_points[answer.worse][r][m];
          if (!std::isnan(d)) differences.push_back(d);
        }
        answer.p = t_test(differences);
        for (std::size_t p = 0; p < cube.points(); ++p) {
          differences.clear();
          RunningMean mean;
          for (std::size_t r = 0; r < cube.replications(p); ++r) {
            const double d =
                cube.at(metric, p, answer.better, r) - cube.at(metric, p, answer.worse, r);
            if (!std::isnan(d)) differences.push_back(d);
            mean.add_if_known(d);
          }
          p_here.push_back(t_test(differences));
          mean_here.push_back(mean.value());
        }
        answers.differences.push_back(answer);
      }
    }
    const std::vector<double> adjusted = holm(p_here);
    for (std::size_t i = 0; i < adjusted.size(); ++i) {
      if (!(adjusted[i] < kSignificant)) continue;
      DifferenceAnswer& answer = answers.differences[begin + i / cube.points()];
      ++(is_better(metric, mean_here[i], 0) ? answer.wins : answer.losses);
    }
  }
  std::vector<double> p;
  for (const DifferenceAnswer& answer : answers.differences) p.push_back(answer.p);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < p.size(); ++i) answers.differences[i].p_holm = adjusted[i];
}

}  // namespace

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size(), kNaN);
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, left * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

std::vector<std::size_t> pareto_front(std::span<const double> cost, std::span<const double> gain) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < cost.size(); ++i) {
    if (!std::isnan(cost[i]) && !std::isnan(gain[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return cost[a] != cost[b] ? cost[a] < cost[b] : gain[a] > gain[b];
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    const bool same =
        !front.empty() && cost[i] == cost[front.back()] && gain[i] == gain[front.back()];
    if (front.empty() || same || gain[i] > gain[front.back()]) front.push_back(i);
  }
  return front;
}

SweepAnswers answer_sweep(const SweepResults& results, const std::vector<Metric>& metrics) {
  SweepAnswers answers;
  answers.metrics = metrics;
  std::size_t present = 0;
  for (std::size_t p = 0; p < results.plan.points(); ++p) {
    present +=
        std::ranges::any_of(results.policies, [&](const auto& c) { return !c.values[p].empty(); })
            ? 1
            : 0;
  }
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < results.policies.size(); ++c) {
    const auto& column = results.policies[c];
    const auto has = static_cast<std::size_t>(
        std::ranges::count_if(column.values, [](const auto& values) { return !values.empty(); }));
    if (column.granted_truth) {
      answers.left_out.push_back(column.label + " (knows the true costs: an upper bound)");
    } else if (has < present) {
      answers.left_out.push_back(
          fmt::format("{} (at {} of {} points only)", column.label, has, present));
    } else {
      columns.push_back(c);
      answers.policies.push_back(column.label);
    }
  }
  if (columns.empty() || present == 0) {
    throw InputError("--answers", "the points have no policy in common that could be compared");
  }
  const Cube cube(results, columns);
  answers.points = cube.points();
  answers.replications = cube.replications();
  const std::uint64_t seed = results.plan.base().seed;
  const auto over_points = cube.over_points();
  const Comparison comparison = compare(over_points);
  std::vector<Factor> factors;
  for (std::size_t k = 0; k < results.plan.keys().size(); ++k) {
    factors.push_back(factor_of(results, cube, k));
  }
  answer_rankings(results, cube, answers);
  for (const Metric metric : metrics) {
    answer_best(cube, comparison, metric, answers);
    answer_effects(cube, metric, factors, answers);
  }
  answer_front(cube, over_points, seed, answers);
  answer_differences(cube, comparison, over_points, answers);
  return answers;
}

}  // namespace corun::inline runner
