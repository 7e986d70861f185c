#include "evaluation/pair_evaluation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include "evaluation/table_prediction.hpp"
#include "models/formulas/overlap.hpp"
#include "models/interference/measured_speeds.hpp"
#include "policies/groups/matching.hpp"
#include "sim/base/correlation.hpp"
#include "sim/base/half_width.hpp"
#include "sim/base/math.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/base/summary.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::inline evaluation {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
/// Predictors that predict the same for all pairs; the models follow.
constexpr std::array<const char*, 2> kConstants{"mean", "median"};

/// Costs of two jobs that start together.
struct Outcome {
  std::array<double, 2> isd{};
  std::array<double, 2> stretch{};  ///< J_c over J_a
  double ps = 0;
};

/// `solo` [s]: NaN if unknown; then the jobs are equally long and stay together to the end.
Outcome outcome_of(const std::array<double, 2>& solo, double speed_a, double speed_b) {
  if (!std::isnan(solo[0]) && !std::isnan(solo[1])) {
    const PairCost cost = pair_cost(solo[0], solo[1], speed_a, speed_b);
    return {{cost.isd_a, cost.isd_b}, {1 + cost.isd_a, 1 + cost.isd_b}, cost.ps};
  }
  const PairCost equal = pair_cost(1, 1, speed_a, speed_b);
  return {{1 / speed_a - 1, 1 / speed_b - 1}, {1 / speed_a, 1 / speed_b}, equal.ps};
}

/// Prediction of both directions of a row.
struct RowPrediction {
  Outcome expected;
  std::array<double, 2> isd_lo{kUnknown, kUnknown};
  std::array<double, 2> isd_hi{kUnknown, kUnknown};
  std::array<SpeedPrediction, 2> speeds;
};

/// Predictions of the fits of one fold for its scored rows.
struct FoldPrediction {
  std::vector<std::vector<RowPrediction>> predicted;  ///< [predictor][row]; empty: left out
  std::vector<std::string> refused;  ///< [model]: why it cannot be fitted or predict, or empty
};

/// Predictions of the rows of `test`.
std::vector<RowPrediction> predict_rows(const std::shared_ptr<const InterferenceModel>& model,
                                        const Measurements& all,
                                        const std::vector<std::size_t>& test) {
  const JobsForModel jobs(*model, all.speeds);
  const std::vector<SpeedPrediction> speeds = predict_pairs(model, jobs.jobs(), all.speeds, test);
  std::vector<RowPrediction> out;
  for (std::size_t t = 0; t < test.size(); ++t) {
    const SpeedPrediction& a = speeds[2 * t];
    const SpeedPrediction& b = speeds[2 * t + 1];
    const auto& solo = all.solo_s[test[t]];
    RowPrediction p;
    p.expected = outcome_of(solo, a.speed, b.speed);
    p.isd_lo = {outcome_of(solo, a.hi, b.speed).isd[0], outcome_of(solo, a.speed, b.hi).isd[1]};
    p.isd_hi = {outcome_of(solo, a.lo, b.speed).isd[0], outcome_of(solo, a.speed, b.lo).isd[1]};
    p.speeds = {a, b};
    out.push_back(p);
  }
  return out;
}

FoldPrediction predict_fold(const Measurements& all, const std::vector<std::size_t>& train,
                            const std::vector<std::size_t>& test,
                            const PairEvaluationOptions& options) {
  SpeedTable table = all.speeds;
  table.rows.clear();
  table.groups.clear();        // they may hold what is left out
  std::vector<double> sorted;  // ISDs
  std::vector<double> ps;
  for (const std::size_t r : train) {
    const SpeedTable::Row& row = all.speeds.rows[r];
    table.rows.push_back(row);
    if (std::isnan(row.speed_a) || std::isnan(row.speed_b)) continue;
    const Outcome o = outcome_of(all.solo_s[r], row.speed_a, row.speed_b);
    sorted.insert(sorted.end(), o.isd.begin(), o.isd.end());
    ps.push_back(o.ps);
  }
  if (sorted.empty()) throw std::invalid_argument("a fold leaves no measured pair to fit on");
  FoldPrediction out;
  out.refused.resize(options.models.size() + options.fitted.size());
  const auto constant = [&](double isd, double saving) {
    RowPrediction p;
    p.expected = {{isd, isd}, {1 + isd, 1 + isd}, saving};
    out.predicted.emplace_back(test.size(), p);
  };
  constant(mean(sorted), mean(ps));
  constant(median(sorted), median(ps));

  FitOptions fit;
  fit.seed = options.seed;
  fit.effort = options.effort;
  const auto judge = [&](const std::shared_ptr<const InterferenceModel>& model,
                         std::string& refused) {
    std::vector<RowPrediction>& of_model = out.predicted.emplace_back();
    if (model == nullptr) return;
    try {
      of_model = predict_rows(model, all, test);
    } catch (const std::invalid_argument& e) {
      refused = e.what();
    }
  };
  const std::vector<FitOutcome> fits = fit_together(options.models, table, fit);
  for (std::size_t m = 0; m < fits.size(); ++m) {
    out.refused[m] = fits[m].refused;
    judge(fits[m].model, out.refused[m]);
  }
  for (std::size_t m = 0; m < options.fitted.size(); ++m) {
    judge(options.fitted[m].model, out.refused[fits.size() + m]);
  }
  return out;
}

/// The rows that each fold holds out.
std::vector<std::vector<std::size_t>> folds_of(const Measurements& table, PairSplit split,
                                               std::uint64_t seed) {
  const auto& rows = table.speeds.rows;
  std::vector<std::vector<std::size_t>> folds;
  if (split == PairSplit::kPairs) {
    constexpr std::size_t kFolds = 5;
    // Repeated measurements of a pair are one pair.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> number;
    std::vector<std::vector<std::size_t>> measurements;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto [at, is_new] = number.emplace(std::minmax(rows[r].a, rows[r].b), number.size());
      if (is_new) measurements.emplace_back();
      measurements[at->second].push_back(r);
    }
    std::vector<std::size_t> order(measurements.size());
    std::iota(order.begin(), order.end(), 0);
    Rng rng(seed, Stream::kFolds);
    rng.shuffle(std::span(order));
    folds.resize(std::min(kFolds, order.size()));
    for (std::size_t i = 0; i < order.size(); ++i) {
      auto& fold = folds[i % folds.size()];
      fold.insert(fold.end(), measurements[order[i]].begin(), measurements[order[i]].end());
    }
    for (auto& fold : folds) std::sort(fold.begin(), fold.end());
    return folds;
  }
  // Families are numbered in order of first appearance.
  std::vector<std::size_t> group(table.speeds.jobs.size());
  std::size_t groups = group.size();
  if (split == PairSplit::kFamily) {
    std::map<std::string, std::size_t> numbers;
    for (std::size_t j = 0; j < group.size(); ++j) {
      if (table.families[j].empty()) {
        throw InputError(table.source, "names no families of jobs, which this split holds out");
      }
      group[j] = numbers.emplace(table.families[j], numbers.size()).first->second;
    }
    groups = numbers.size();
  } else {
    std::iota(group.begin(), group.end(), 0);
  }
  folds.resize(groups);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    folds[group[rows[r].a]].push_back(r);
    if (group[rows[r].b] != group[rows[r].a]) folds[group[rows[r].b]].push_back(r);
  }
  return folds;
}

struct Queues {
  std::vector<double> best, chosen, random;  ///< mean ISD per queue
};

/// Random queues paired by predicted costs; `predicted` and `truth` by row, NaN if unknown.
Queues pair_queues(const Measurements& table, const std::vector<double>& truth,
                   const std::vector<double>& predicted, std::size_t queues, std::uint64_t seed) {
  constexpr std::size_t kQueue = 24;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> row_of;
  std::set<std::uint32_t> there;
  for (std::size_t r = 0; r < truth.size(); ++r) {
    const SpeedTable::Row& row = table.speeds.rows[r];
    if (std::isnan(truth[r]) || std::isnan(predicted[r])) continue;
    row_of.emplace(std::minmax(row.a, row.b), r);
    there.insert(row.a);
    there.insert(row.b);
  }
  const std::vector<std::uint32_t> jobs(there.begin(), there.end());
  Queues out;
  if (jobs.size() < 4) return out;
  constexpr double kNoPair = 1e4;
  for (std::size_t q = 0, tries = 0; q < queues && tries < 20 * queues; ++tries) {
    // Different jobs as far as there are enough, then repetitions.
    Rng rng(seed, Stream::kJobChoice, tries);
    std::vector<std::uint32_t> queue;
    if (jobs.size() >= 40) {
      std::vector<std::uint32_t> deck = jobs;
      rng.shuffle(std::span(deck));
      queue.assign(deck.begin(), deck.begin() + kQueue);
    } else {
      while (queue.size() < kQueue) {
        queue.push_back(jobs[rng.below(static_cast<std::uint32_t>(jobs.size()))]);
      }
    }
    std::vector<double> cost(kQueue * kQueue, kNoPair);
    std::vector<double> expected(kQueue * kQueue, kNoPair);
    double sum = 0;
    double edges = 0;
    for (std::size_t i = 0; i < kQueue; ++i) {
      for (std::size_t j = i + 1; j < kQueue; ++j) {
        const auto at = row_of.find(std::minmax(queue[i], queue[j]));
        if (at == row_of.end()) continue;
        cost[i * kQueue + j] = cost[j * kQueue + i] = truth[at->second];
        expected[i * kQueue + j] = expected[j * kQueue + i] = predicted[at->second];
        sum += truth[at->second];
        edges += 1;
      }
    }
    const auto total = [&](const std::vector<double>& by) {
      const std::vector<std::int32_t> co_runner = min_cost_matching(by, kQueue);
      double all = 0;
      for (std::size_t i = 0; i < kQueue; ++i) {
        all += cost[i * kQueue + static_cast<std::size_t>(co_runner[i])] / kQueue;
      }
      return all;
    };
    const double best = total(cost);
    if (best >= kNoPair / kQueue) continue;  // too few pairs were measured among these jobs
    out.best.push_back(best);
    out.chosen.push_back(total(expected));
    out.random.push_back(sum / edges);
    ++q;
  }
  return out;
}

/// Sets the training rows (all rows outside the fold, less by options.rows, plus options.probes)
/// and the scored rows (those of the fold without probes).
void deal(const Measurements& table, const std::vector<std::size_t>& held, std::size_t fold,
          const PairEvaluationOptions& options, std::vector<std::size_t>& train,
          std::vector<std::size_t>& test) {
  const auto& rows = table.speeds.rows;
  std::vector<bool> is_held(rows.size(), false);
  for (const std::size_t r : held) is_held[r] = true;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!is_held[r]) train.push_back(r);
  }
  // A larger number of rows gives a superset, so the learning curve is over one growing set.
  if (options.rows > 0 && options.rows < train.size()) {
    Rng rng(options.seed, Stream::kFolds, 1 + fold);
    rng.shuffle(std::span(train));
    train.resize(options.rows);
  }
  std::set<std::size_t> probed;
  if (options.probes > 0) {
    // Held-out jobs: those of no row outside the fold.
    std::vector<bool> known(table.speeds.jobs.size(), false);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (!is_held[r]) known[rows[r].a] = known[rows[r].b] = true;
    }
    std::vector<std::size_t> order = held;
    Rng rng(options.seed, Stream::kProbe, fold);
    rng.shuffle(std::span(order));
    std::vector<std::size_t> count(table.speeds.jobs.size(), 0);
    for (const std::size_t r : order) {
      const SpeedTable::Row& row = rows[r];
      if (known[row.a] == known[row.b] || std::isnan(row.speed_a) || std::isnan(row.speed_b))
        continue;
      if (++count[known[row.a] ? row.b : row.a] <= options.probes) probed.insert(r);
    }
  }
  train.insert(train.end(), probed.begin(), probed.end());
  std::sort(train.begin(), train.end());
  for (const std::size_t r : held) {
    if (table.scored[r] && !probed.contains(r)) test.push_back(r);
  }
}

/// The quantile of a predicted speed at a level of kLevels, by a normal distribution of log(speed)
/// on each side of the middle, through the ends of the 90 % interval.
double quantile_of(const SpeedPrediction& p, double level) {
  constexpr std::array<double, kLevels.size()> kNormal{
      -kHalfWidth90,       -1.2815515655446004, -0.8416212335729143, -0.38532046640756773, 0,
      0.38532046640756773, 0.8416212335729143,  1.2815515655446004,  kHalfWidth90};
  const auto at = static_cast<std::size_t>(std::ranges::find(kLevels, level) - kLevels.begin());
  const double side = kNormal[at] < 0 ? math::log(p.speed / p.lo) : math::log(p.hi / p.speed);
  return p.speed * math::exp(side * kNormal[at] / kHalfWidth90);
}

/// Number of hits and of trials.
struct Hits {
  double hits = 0;
  double of = 0;
};
/// The share over all folds, and its standard error by the jackknife over folds, because co-runs of
/// one fold are dependent. NaN for a single fold.
std::pair<double, double> share_of(std::span<const Hits> folds) {
  Hits all;
  for (const Hits& fold : folds) {
    all.hits += fold.hits;
    all.of += fold.of;
  }
  std::vector<double> without;
  for (const Hits& fold : folds) {
    if (fold.of > 0 && fold.of < all.of)
      without.push_back((all.hits - fold.hits) / (all.of - fold.of));
  }
  const double share = all.hits / all.of;
  if (without.size() < 2) return {share, kUnknown};
  const auto n = static_cast<double>(without.size());
  const double center = mean(without);
  double squares = 0;
  for (const double x : without) squares += (x - center) * (x - center);
  return {share, std::sqrt(squares * (n - 1) / n)};
}

/// Errors of one predictor, row by row and fold by fold.
class Tally {
 public:
  explicit Tally(std::size_t rows) : sum_(rows, 0), times_(rows, 0) {}

  void add(const Measurements& table, std::size_t r, const RowPrediction& p) {
    const SpeedTable::Row& row = table.speeds.rows[r];
    const std::array<double, 2> speeds{row.speed_a, row.speed_b};
    const Outcome true_outcome = outcome_of(table.solo_s[r], row.speed_a, row.speed_b);
    for (std::size_t side = 0; side < 2; ++side) {
      const double isd = true_outcome.isd[side];
      const double error = std::abs(p.expected.isd[side] - isd);
      fold_sum_ += error;
      fold_count_ += 1;
      squares_ += error * error;
      relative_ += std::abs(p.expected.stretch[side] / true_outcome.stretch[side] - 1);
      predicted_.push_back(p.expected.isd[side]);
      measured_.push_back(isd);
      sum_[r] += p.expected.isd[side] / 2;
      if (std::isnan(p.isd_lo[side])) continue;
      fold_covered_.hits += isd >= p.isd_lo[side] && isd <= p.isd_hi[side] ? 1 : 0;
      fold_covered_.of += 1;
      widths_.push_back(p.isd_hi[side] - p.isd_lo[side]);
      for (std::size_t l = 0; l < kLevels.size(); ++l) {
        below_[l] += speeds[side] <= quantile_of(p.speeds[side], kLevels[l]) ? 1 : 0;
      }
    }
    ps_ += std::abs(p.expected.ps - true_outcome.ps);
    times_[r] += 1;
  }
  void end_fold() {
    if (fold_count_ == 0) return;
    by_fold_.push_back(fold_sum_ / fold_count_);
    total_ += fold_sum_;
    fold_sum_ = fold_count_ = 0;
    covered_by_fold_.push_back(std::exchange(fold_covered_, {}));
  }
  std::size_t folds() const { return by_fold_.size(); }
  /// Predicted mean ISD of each row; NaN if not predicted.
  std::vector<double> expected() const {
    std::vector<double> out(sum_.size(), kUnknown);
    for (std::size_t r = 0; r < sum_.size(); ++r) {
      if (times_[r] > 0) out[r] = sum_[r] / times_[r];
    }
    return out;
  }
  PairScore score() {
    PairScore score;
    const auto n = static_cast<double>(predicted_.size());
    score.mae = total_ / n;
    score.mae_error = standard_error(by_fold_);
    score.rmse = std::sqrt(squares_ / n);
    score.mape = relative_ / n;
    score.ps_mae = ps_ / (n / 2);
    score.spearman = predicted_.size() > 2 ? spearman(predicted_, measured_) : kUnknown;
    if (widths_.empty()) return score;
    const auto judged = static_cast<double>(widths_.size());
    std::tie(score.covered, score.covered_error) = share_of(covered_by_fold_);
    std::nth_element(widths_.begin(), widths_.begin() + std::ssize(widths_) / 2, widths_.end());
    score.width = widths_[widths_.size() / 2];
    for (const double below : below_) score.calibration.push_back(below / judged);
    return score;
  }

 private:
  double fold_sum_ = 0, fold_count_ = 0, total_ = 0;
  double squares_ = 0, relative_ = 0, ps_ = 0;
  Hits fold_covered_;
  std::vector<Hits> covered_by_fold_;
  std::vector<double> by_fold_, predicted_, measured_, widths_;
  std::vector<double> sum_, times_;
  std::array<double, kLevels.size()> below_{};
};

/// A fold of the cross-validation.
struct Fold {
  std::vector<std::size_t> train;  ///< rows to fit
  std::vector<std::size_t> test;   ///< scored rows
  FoldPrediction predicted;        ///< of `test`; empty without scored rows
};

/// Splits the rows, fits and predicts every fold, on options.threads threads.
std::vector<Fold> predict_folds(const Measurements& table,
                                const std::vector<std::vector<std::size_t>>& held,
                                const PairEvaluationOptions& options,
                                const std::function<void(std::size_t, std::size_t)>& progress) {
  std::vector<Fold> folds(held.size());
  for (std::size_t f = 0; f < folds.size(); ++f) {
    deal(table, held[f], f, options, folds[f].train, folds[f].test);
  }
  std::size_t done = 0;
  std::mutex mutex;
  try {
    parallel_for(folds.size(), options.threads, [&](std::size_t f) {
      Fold& fold = folds[f];
      if (!fold.test.empty()) fold.predicted = predict_fold(table, fold.train, fold.test, options);
      const std::lock_guard lock(mutex);
      if (progress) progress(++done, folds.size());
    });
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, e.what());
  }
  return folds;
}

/// Mean ISD of each scored row as measured; NaN for the others.
std::vector<double> measured_isd(const Measurements& table) {
  const auto& rows = table.speeds.rows;
  std::vector<double> isd(rows.size(), kUnknown);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!table.scored[r]) continue;
    const Outcome o = outcome_of(table.solo_s[r], rows[r].speed_a, rows[r].speed_b);
    isd[r] = (o.isd[0] + o.isd[1]) / 2;
  }
  return isd;
}

/// Why a model cannot be fitted in some fold; empty if it can in all.
std::string refusal_of(const std::vector<Fold>& folds, std::size_t model) {
  for (const Fold& fold : folds) {
    if (!fold.test.empty() && !fold.predicted.refused[model].empty()) {
      return fold.predicted.refused[model];
    }
  }
  return "";
}

Tally tally_of(const Measurements& table, const std::vector<Fold>& folds, std::size_t predictor) {
  Tally tally(table.speeds.rows.size());
  for (const Fold& fold : folds) {
    for (std::size_t t = 0; t < fold.test.size(); ++t) {
      tally.add(table, fold.test[t], fold.predicted.predicted[predictor][t]);
    }
    tally.end_fold();
  }
  return tally;
}

/// Sets the regret of pairing queues by these predictions, unless too few queues can be paired for
/// lack of measured pairs.
void judge_queues(const Queues& queues, std::size_t asked, PairEvaluation& out, PairScore& score) {
  constexpr std::size_t kFewestQueues = 10;
  if (queues.best.size() < std::min(kFewestQueues, asked)) return;
  out.queues = queues.best.size();
  out.best_isd = mean(queues.best);
  out.random_isd = mean(queues.random);
  std::vector<double> each;
  for (std::size_t q = 0; q < queues.best.size(); ++q) {
    each.push_back((queues.chosen[q] - queues.best[q]) / (out.random_isd - out.best_isd));
  }
  score.regret = mean(each);
  score.regret_error = standard_error(each);
}

}  // namespace

std::string_view name_of(PairSplit split) {
  switch (split) {
    case PairSplit::kPairs:
      return "pairs";
    case PairSplit::kJob:
      return "job";
    case PairSplit::kFamily:
      return "family";
  }
  return "";
}

PairEvaluation evaluate_pairs(const Measurements& table, PairSplit split,
                              const PairEvaluationOptions& options,
                              const std::function<void(std::size_t, std::size_t)>& progress) {
  const auto held = folds_of(table, split, options.seed);
  if (std::count(table.scored.begin(), table.scored.end(), true) == 0) {
    throw InputError(table.source, "no pair with both speeds: nothing to score");
  }
  PairEvaluation out;
  out.data = table.source;
  out.split = split;
  out.rows = options.rows;
  out.probes = options.probes;
  out.jobs = table.speeds.jobs.size();
  const std::vector<Fold> folds = predict_folds(table, held, options, progress);
  std::set<std::size_t> scored;
  for (const Fold& fold : folds) scored.insert(fold.test.begin(), fold.test.end());
  out.pairs = scored.size();
  const std::vector<double> truth = measured_isd(table);
  std::vector<std::string> names(kConstants.begin(), kConstants.end());
  for (const InterferenceModelEntry* entry : options.models) names.emplace_back(entry->name);
  for (const FittedModel& fitted : options.fitted) names.push_back(fitted.name);
  for (std::size_t p = 0; p < names.size(); ++p) {
    const bool constant = p < kConstants.size();
    const std::string& name = names[p];
    if (!constant) {
      std::string why = refusal_of(folds, p - kConstants.size());
      if (!why.empty()) {
        out.left_out.emplace_back(name, std::move(why));
        continue;
      }
    }
    Tally tally = tally_of(table, folds, p);
    PairScore score = tally.score();
    score.predictor = name;
    judge_queues(pair_queues(table, truth, tally.expected(), options.queues, options.seed),
                 options.queues, out, score);
    out.folds = tally.folds();
    out.scores.push_back(std::move(score));
  }
  return out;
}

Measurements papers_pair_table(WorkloadKeys& keys, PapersScored scored) {
  const std::vector<CorunMeasurement> rows = paper_measurements(keys);
  Measurements table;
  table.source = scored == PapersScored::kAll ? "papers" : "papers-published";
  table.speeds = speed_table(rows, ImputedProfiles::kBelieved);
  table.speeds.campaigns = {campaign_on(kPaperGpuType, Sharing::kTimeSlicing)};
  table.gpu = kPaperGpuType;
  table.sharing = kPaperSharing;
  table.has_speeds = true;
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() != 2) {
      ++table.passed_over;
      continue;
    }
    table.scored.push_back(scored == PapersScored::kAll ||
                           std::ranges::none_of(row.members, [](const auto& member) {
                             return member.profile.imputed;
                           }));
    table.solo_s.push_back({row.members[0].solo_s, row.members[1].solo_s});
  }
  for (const WorkloadKey key : table.speeds.jobs) {
    table.names.push_back(keys.text(key));
    table.families.emplace_back();
  }
  return table;
}

}  // namespace corun::inline evaluation
