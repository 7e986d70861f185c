#include "evaluation/measurement_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

#include "policies/groups/matching.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/rng.hpp"

namespace corun::inline evaluation {

namespace {

/// Cost of two jobs that may not share a GPU: above that of any pairing without such a pair.
constexpr double kApart = 1e4;
/// Smaller differences of costs are rounding errors.
constexpr double kNothing = 1e-12;
/// Squared correlations of unrelated columns are 1 / draws on average. This many times that is taken off each.
constexpr double kChance = 2;

/// The jobs and which pair each two of them are. Costs by pair have two more entries: of jobs that may not share a GPU, and of
/// a job that stays alone, which is paired with a place that no job has if the number of jobs is odd.
class Places {
 public:
  explicit Places(const MeasurementProblem& problem)
      : jobs_(problem.kinds.size()),
        places_(jobs_ + jobs_ % 2),
        pairs_(problem.pairs.size()),
        pair_of_(places_ * places_, pairs_) {
    const std::size_t kinds =
        problem.kinds.empty() ? 0 : 1 + *std::ranges::max_element(problem.kinds);
    std::vector<std::size_t> by_kinds(kinds * kinds, pairs_);
    for (std::size_t p = 0; p < pairs_; ++p) {
      const auto& [a, b, measurable] = problem.pairs[p];
      if (a >= kinds || b >= kinds) continue;
      by_kinds[a * kinds + b] = by_kinds[b * kinds + a] = p;
    }
    for (std::size_t i = 0; i < places_; ++i) {
      for (std::size_t j = 0; j < places_; ++j) {
        const bool alone = i >= jobs_ || j >= jobs_;
        pair_of_[i * places_ + j] =
            alone ? pairs_ + 1 : by_kinds[problem.kinds[i] * kinds + problem.kinds[j]];
      }
    }
    places_of_.resize(pairs_ + 2);
    for (std::uint32_t i = 0; i < places_; ++i) {
      for (std::uint32_t j = i + 1; j < places_; ++j) places_of_[pair(i, j)].push_back({i, j});
    }
  }

  /// The places of each pair: i < j with pair(i, j) = p.
  const std::vector<std::array<std::uint32_t, 2>>& places_of(std::size_t p) const {
    return places_of_[p];
  }
  std::size_t count() const { return places_; }
  std::size_t pair(std::size_t i, std::size_t j) const { return pair_of_[i * places_ + j]; }
  /// Costs by pair with the two more entries.
  std::vector<double> costs(std::span<const double> by_pair) const {
    std::vector<double> all(by_pair.begin(), by_pair.end());
    all.push_back(kApart);
    all.push_back(0);
    return all;
  }
  /// The two places of each pair of the cheapest matching.
  using Matching = std::vector<std::array<std::uint32_t, 2>>;
  Matching cheapest(const std::vector<double>& cost) const {
    std::vector<double> square(places_ * places_);
    for (std::size_t e = 0; e < square.size(); ++e) square[e] = cost[pair_of_[e]];
    const std::vector<std::int32_t> co_runner = min_cost_matching(square, places_);
    Matching matching;
    for (std::size_t i = 0; i < places_; ++i) {
      const auto j = static_cast<std::size_t>(co_runner[i]);
      if (i < j) matching.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
    }
    return matching;
  }
  double total(const Matching& matching, const std::vector<double>& cost) const {
    double sum = 0;
    for (const auto& [i, j] : matching) sum += cost[pair(i, j)];
    return sum;
  }

 private:
  std::size_t jobs_;
  std::size_t places_;
  std::size_t pairs_;
  std::vector<std::size_t> pair_of_;
  std::vector<std::vector<std::array<std::uint32_t, 2>>> places_of_;
};

/// What two pairs of a matching save by exchanging jobs.
struct Exchange {
  double saved = 0;
  std::uint32_t first = 0;  ///< positions in the matching, first < second
  std::uint32_t second = 0;
};

/// The cost that disjoint exchanges save, the largest first. `found` is memory to use.
double saved_by_exchanges(const Places& places, const Places::Matching& matching,
                          const std::vector<double>& cost, std::vector<Exchange>& found) {
  found.clear();
  for (std::uint32_t x = 0; x < matching.size(); ++x) {
    const auto [a, b] = matching[x];
    const double first = cost[places.pair(a, b)];
    for (std::uint32_t y = x + 1; y < matching.size(); ++y) {
      const auto [c, d] = matching[y];
      const double now = first + cost[places.pair(c, d)];
      const double other = std::min(cost[places.pair(a, c)] + cost[places.pair(b, d)],
                                    cost[places.pair(a, d)] + cost[places.pair(b, c)]);
      if (now - other > kNothing) found.push_back({now - other, x, y});
    }
  }
  if (found.empty()) return 0;
  std::ranges::sort(found, [](const Exchange& l, const Exchange& r) {
    if (l.saved != r.saved) return l.saved > r.saved;
    return l.first != r.first ? l.first < r.first : l.second < r.second;
  });
  std::vector<bool> used(matching.size(), false);
  double saved = 0;
  for (const Exchange& e : found) {
    if (used[e.first] || used[e.second]) continue;
    used[e.first] = used[e.second] = true;
    saved += e.saved;
  }
  return saved;
}

/// The most that three pairs of the matching save by exchanging jobs such that `pair` joins or leaves it.
double saved_by_three(const Places& places, std::size_t pair, const Places::Matching& matching,
                      const std::vector<double>& cost) {
  const auto of = [&](std::uint32_t i, std::uint32_t j) { return cost[places.pair(i, j)]; };
  std::vector<std::uint32_t> at(places.count());  // position in the matching
  for (std::uint32_t x = 0; x < matching.size(); ++x) {
    for (const std::uint32_t place : matching[x]) at[place] = x;
  }
  double most = 0;
  // a, b and c meet other jobs than before: the pairs of x, y and z are all broken up.
  const auto three = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    const auto [a, b] = matching[x];
    const double now =
        of(a, b) + of(matching[y][0], matching[y][1]) + of(matching[z][0], matching[z][1]);
    for (const std::size_t s : {0U, 1U}) {
      for (const std::size_t t : {0U, 1U}) {
        const std::uint32_t c = matching[y][s], d = matching[y][1 - s];
        const std::uint32_t e = matching[z][t], f = matching[z][1 - t];
        const double left = of(d, f);
        most = std::max({most, now - left - of(a, c) - of(b, e), now - left - of(a, e) - of(b, c)});
      }
    }
  };
  for (const auto& [i, j] : places.places_of(pair)) {
    const std::uint32_t x = at[i];
    const std::uint32_t y = at[j];
    if (x == y) {
      for (std::uint32_t u = 0; u < matching.size(); ++u) {
        for (std::uint32_t v = u + 1; v < matching.size(); ++v) {
          if (u != x && v != x) three(x, u, v);
        }
      }
      continue;
    }
    const std::uint32_t a = matching[x][0] == i ? matching[x][1] : matching[x][0];
    const std::uint32_t b = matching[y][0] == j ? matching[y][1] : matching[y][0];
    const double gained = of(i, a) + of(j, b) - of(i, j);
    for (std::uint32_t z = 0; z < matching.size(); ++z) {
      if (z == x || z == y) continue;
      const auto [c, d] = matching[z];
      const double met = std::min(of(a, c) + of(b, d), of(a, d) + of(b, c));
      most = std::max(most, gained + of(c, d) - met);
    }
  }
  return most;
}

/// Deviations of draws from their mean: [draw][column].
class Deviations {
 public:
  Deviations(std::size_t draws, std::vector<double> values)
      : draws_(draws), columns_(values.size() / draws), values_(std::move(values)) {
    mean_.assign(columns_, 0);
    for (std::size_t d = 0; d < draws_; ++d) {
      for (std::size_t c = 0; c < columns_; ++c) mean_[c] += values_[d * columns_ + c];
    }
    for (double& m : mean_) m /= static_cast<double>(draws_);
    for (std::size_t d = 0; d < draws_; ++d) {
      for (std::size_t c = 0; c < columns_; ++c) values_[d * columns_ + c] -= mean_[c];
    }
    set_variances();
  }
  const std::vector<double>& mean() const { return mean_; }
  void column(std::size_t c, std::vector<double>& out) const {
    out.resize(draws_);
    for (std::size_t d = 0; d < draws_; ++d) out[d] = values_[d * columns_ + c];
  }
  double variance(std::size_t c) const { return variance_[c]; }
  /// Covariance of every column with `h`, of this variance, less what chance alone gives (kChance).
  void covariances(const std::vector<double>& h, double variance_of_h,
                   std::vector<double>& out) const {
    out.assign(columns_, 0);
    for (std::size_t d = 0; d < draws_; ++d) {
      const double* const row = values_.data() + d * columns_;
      const double by = h[d] / static_cast<double>(draws_ - 1);
      for (std::size_t c = 0; c < columns_; ++c) out[c] += by * row[c];
    }
    const double chance = kChance * variance_of_h / static_cast<double>(draws_);
    for (std::size_t c = 0; c < columns_; ++c) {
      const double square = out[c] * out[c];
      const double by_chance = chance * variance_[c];
      out[c] = square > by_chance ? out[c] * (1 - by_chance / square) : 0;
    }
  }
  /// x -= factor[column] h
  void take_out(const std::vector<double>& h, const std::vector<double>& factor) {
    for (std::size_t d = 0; d < draws_; ++d) {
      double* const row = values_.data() + d * columns_;
      for (std::size_t c = 0; c < columns_; ++c) row[c] -= factor[c] * h[d];
    }
    set_variances();
  }

 private:
  void set_variances() {
    variance_.assign(columns_, 0);
    for (std::size_t d = 0; d < draws_; ++d) {
      const double* const row = values_.data() + d * columns_;
      for (std::size_t c = 0; c < columns_; ++c) variance_[c] += row[c] * row[c];
    }
    for (double& v : variance_) v /= static_cast<double>(draws_ - 1);
  }

  std::size_t draws_;
  std::size_t columns_;
  std::vector<double> values_;
  std::vector<double> mean_;
  std::vector<double> variance_;
};

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// What a measurement of one pair does to the expected costs: m += first z1 + second z2.
struct Gain {
  std::vector<double> first;
  std::vector<double> second;
  std::vector<double> h1, h2;  ///< memory to use
};

class Planner {
 public:
  Planner(const MeasurementProblem& problem, std::size_t budget, const MeasurementOptions& options)
      : problem_(problem),
        options_(options),
        places_(problem),
        cost_(problem.draws, problem.cost),
        shown_(problem.draws, problem.shown) {
    const std::size_t scenarios = options.scenarios;
    mean_.assign(scenarios, places_.costs(cost_.mean()));
    first_ = places_.cheapest(mean_.front());
    matching_.assign(scenarios, first_);
    normal_.resize(scenarios * budget * 2);
    for (std::size_t q = 0; q < scenarios; q += 2) {
      const std::span<double> draws(normal_.data() + q * budget * 2, budget * 2);
      Rng(options.seed, Stream::kMeasurementOutcomes, q / 2).normals(draws);
      if (q + 1 == scenarios) break;
      for (std::size_t i = 0; i < draws.size(); ++i) normal_[(q + 1) * budget * 2 + i] = -draws[i];
    }
    budget_ = budget;
    rate_pairs();
  }

  MeasurementPlan plan() {
    MeasurementPlan plan;
    const auto jobs = static_cast<double>(problem_.kinds.size());
    plan.regret = regret_ / jobs;
    double before = plan.regret;
    std::vector<std::size_t> candidates = candidates_of();
    std::vector<std::size_t> others;
    for (std::size_t step = 0; step < budget_; ++step) {
      if (candidates.empty()) break;
      const std::size_t at = most_valuable(candidates, step);
      const std::size_t pair = candidates[at];
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(at));
      measure(pair, step);
      const double after = std::max(0.0, regret_ - gained()) / jobs;
      plan.chosen.push_back(
          {pair, cost_.mean()[pair], deviation_[pair], in_best_[pair], before, after});
      before = after;
    }
    return plan;
  }

 private:
  /// The regret without a measurement, and how often draws' best pairings have each pair.
  void rate_pairs() {
    const std::size_t pairs = problem_.pairs.size();
    std::vector<Places::Matching> best(problem_.draws);
    std::vector<double> lost(problem_.draws);
    parallel_for(problem_.draws, options_.threads, [&](std::size_t d) {
      const std::vector<double> drawn = places_.costs({problem_.cost.data() + d * pairs, pairs});
      best[d] = places_.cheapest(drawn);
      lost[d] = places_.total(first_, drawn) - places_.total(best[d], drawn);
    });
    in_best_.assign(pairs + 2, 0);
    for (std::size_t d = 0; d < problem_.draws; ++d) {
      regret_ += lost[d] / static_cast<double>(problem_.draws);
      std::vector<bool> has(pairs + 2, false);
      for (const auto& [i, j] : best[d]) has[places_.pair(i, j)] = true;
      for (std::size_t p = 0; p < pairs; ++p) {
        if (has[p]) in_best_[p] += 1 / static_cast<double>(problem_.draws);
      }
    }
    for (std::size_t p = 0; p < pairs; ++p) deviation_.push_back(std::sqrt(cost_.variance(p)));
  }

  /// The pairs that may be measured, at most options.candidates of them, in the order of `pairs`.
  std::vector<std::size_t> candidates_of() const {
    std::vector<std::size_t> found;
    for (std::size_t p = 0; p < problem_.pairs.size(); ++p) {
      if (problem_.pairs[p].may_be_measured) found.push_back(p);
    }
    const std::size_t most = std::max(options_.candidates, budget_);
    if (found.size() <= most) return found;
    // Pairs that no best pairing has may still tell of others: their deviation counts a little.
    constexpr double kOfOthers = 0.02;
    const auto dispute = [&](std::size_t p) {
      return deviation_[p] * (in_best_[p] * (1 - in_best_[p]) + kOfOthers);
    };
    std::ranges::stable_sort(found, std::ranges::greater{}, dispute);
    found.resize(most);
    std::ranges::sort(found);
    return found;
  }

  /// Sets the gain of a measurement of this pair.
  void gain_of(std::size_t pair, Gain& gain) const {
    const double n = static_cast<double>(problem_.draws - 1);
    const std::array<double, 2> noise{problem_.noise[2 * pair], problem_.noise[2 * pair + 1]};
    shown_.column(2 * pair, gain.h1);
    const double v1 = dot(gain.h1, gain.h1) / n;
    const double s1 = v1 + noise[0];
    cost_.covariances(gain.h1, v1, gain.first);
    // The second direction, and the costs' covariance with it, as the first leaves them.
    shown_.column(2 * pair + 1, gain.h2);
    const double by = s1 > 0 ? root_factor(noise[0], s1) / s1 : 0;
    const double shared = dot(gain.h1, gain.h2) / n;
    for (std::size_t d = 0; d < gain.h2.size(); ++d) gain.h2[d] -= by * shared * gain.h1[d];
    const double v2 = dot(gain.h2, gain.h2) / n;
    const double s2 = v2 + noise[1];
    cost_.covariances(gain.h2, v2, gain.second);
    const double rest = by * dot(gain.h1, gain.h2) / n;
    const double scale1 = s1 > 0 ? 1 / std::sqrt(s1) : 0;
    const double scale2 = s2 > 0 ? 1 / std::sqrt(s2) : 0;
    for (std::size_t p = 0; p < gain.first.size(); ++p) {
      gain.second[p] = (gain.second[p] - rest * gain.first[p]) * scale2;
      gain.first[p] *= scale1;
    }
  }

  static double root_factor(double noise, double sum) { return 1 / (1 + std::sqrt(noise / sum)); }

  double normal(std::size_t scenario, std::size_t step, std::size_t side) const {
    return normal_[(scenario * budget_ + step) * 2 + side];
  }

  struct Memory {
    Gain gain;
    std::vector<double> cost;
    std::vector<Exchange> found;
  };

  /// V(S + p) - V(S) by exchanges.
  double value_of(std::size_t pair, std::size_t step, Memory& memory) const {
    gain_of(pair, memory.gain);
    const std::size_t pairs = problem_.pairs.size();
    double sum = 0;
    for (std::size_t q = 0; q < mean_.size(); ++q) {
      const double z1 = normal(q, step, 0);
      const double z2 = normal(q, step, 1);
      memory.cost = mean_[q];
      for (std::size_t p = 0; p < pairs; ++p) {
        memory.cost[p] += memory.gain.first[p] * z1 + memory.gain.second[p] * z2;
      }
      sum += std::max(saved_by_exchanges(places_, matching_[q], memory.cost, memory.found),
                      saved_by_three(places_, pair, matching_[q], memory.cost));
    }
    return sum / static_cast<double>(mean_.size());
  }

  /// Position in `candidates`.
  std::size_t most_valuable(const std::vector<std::size_t>& candidates, std::size_t step) const {
    std::vector<double> value(candidates.size());
    parallel_for_with<Memory>(
        candidates.size(), options_.threads,
        [&](std::size_t c, Memory& memory) { value[c] = value_of(candidates[c], step, memory); });
    std::size_t best = 0;
    for (std::size_t c = 1; c < candidates.size(); ++c) {
      if (value[c] > value[best] ||
          (value[c] == value[best] && deviation_[candidates[c]] > deviation_[candidates[best]])) {
        best = c;
      }
    }
    return best;
  }

  /// Takes in the measurement: every scenario gets its outcome.
  void measure(std::size_t pair, std::size_t step) {
    Gain gain;
    gain_of(pair, gain);
    parallel_for(mean_.size(), options_.threads, [&](std::size_t q) {
      const double z1 = normal(q, step, 0);
      const double z2 = normal(q, step, 1);
      for (std::size_t p = 0; p < gain.first.size(); ++p) {
        mean_[q][p] += gain.first[p] * z1 + gain.second[p] * z2;
      }
      matching_[q] = places_.cheapest(mean_[q]);
    });
    for (std::size_t side = 0; side < 2; ++side) {
      const double noise = problem_.noise[2 * pair + side];
      std::vector<double> h;
      shown_.column(2 * pair + side, h);
      const double v = dot(h, h) / static_cast<double>(problem_.draws - 1);
      const double s = v + noise;
      if (!(s > 0)) continue;
      const double by = root_factor(noise, s) / s;
      for (Deviations* of : {&cost_, &shown_}) {
        std::vector<double> factor;
        of->covariances(h, v, factor);
        for (double& f : factor) f *= by;
        of->take_out(h, factor);
      }
    }
  }

  /// V(S) of the measurements so far.
  double gained() const {
    double sum = 0;
    for (std::size_t q = 0; q < mean_.size(); ++q) {
      sum += places_.total(first_, mean_[q]) - places_.total(matching_[q], mean_[q]);
    }
    return sum / static_cast<double>(mean_.size());
  }

  const MeasurementProblem& problem_;
  const MeasurementOptions& options_;
  Places places_;
  Deviations cost_;
  Deviations shown_;
  std::size_t budget_ = 0;
  std::vector<double> normal_;               ///< [scenario][step][side]
  std::vector<std::vector<double>> mean_;    ///< [scenario]: expected costs
  Places::Matching first_;                   ///< without a measurement
  std::vector<Places::Matching> matching_;   ///< [scenario]: the best by mean_
  double regret_ = 0;                        ///< of first_, summed over pairs
  std::vector<double> in_best_, deviation_;  ///< by pair
};

void check(const MeasurementProblem& problem, const MeasurementOptions& options) {
  const std::size_t pairs = problem.pairs.size();
  const std::size_t numbers = problem.draws * pairs;
  if (problem.draws < 2 || options.scenarios == 0) {
    throw std::invalid_argument("measurements: at least two draws and one scenario are needed");
  }
  if (problem.cost.size() != numbers || problem.shown.size() != 2 * numbers ||
      problem.noise.size() != 2 * pairs) {
    throw std::invalid_argument("measurements: the draws are not those of the pairs");
  }
  for (const auto& pair : problem.pairs) {
    if (pair.a > pair.b) throw std::invalid_argument("measurements: a pair is not in order");
  }
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::ranges::all_of(problem.cost, finite) || !std::ranges::all_of(problem.shown, finite) ||
      !std::ranges::all_of(problem.noise, [](double x) { return std::isfinite(x) && x >= 0; })) {
    throw std::invalid_argument("measurements: a draw is not finite, or a variance below 0");
  }
}

}  // namespace

MeasurementPlan choose_measurements(const MeasurementProblem& problem, std::size_t budget,
                                    const MeasurementOptions& options) {
  check(problem, options);
  if (problem.kinds.empty()) return {};
  const auto measurable = static_cast<std::size_t>(
      std::ranges::count(problem.pairs, true, &MeasurementProblem::Pair::may_be_measured));
  return Planner(problem, std::min(budget, measurable), options).plan();
}

std::vector<std::int32_t> cheapest_pairing(const MeasurementProblem& problem,
                                           const std::vector<double>& cost) {
  const Places places(problem);
  std::vector<std::int32_t> co_runner(problem.kinds.size(), -1);
  for (const auto& [i, j] : places.cheapest(places.costs(cost))) {
    if (i >= co_runner.size() || j >= co_runner.size()) continue;
    co_runner[i] = static_cast<std::int32_t>(j);
    co_runner[j] = static_cast<std::int32_t>(i);
  }
  return co_runner;
}

}  // namespace corun::inline evaluation
