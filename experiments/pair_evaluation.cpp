#include "experiments/pair_evaluation.hpp"

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

#include "models/knowledge/correlation.hpp"
#include "models/knowledge/kmeans.hpp"
#include "models/knowledge/standardiser.hpp"
#include "policies/matching.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<const char*, 4> kPredictors{"mean", "median", "cluster-mean", "factors"};
constexpr std::size_t kFactors = 3;

double isd_of(double speed) { return 1 / speed - 1; }

/// One direction of a row as a predictor sees it.
struct Prediction {
  double isd = kUnknown;
  double lo = kUnknown;  ///< of the ISD
  double hi = kUnknown;
};

using RowPrediction = std::array<Prediction, 2>;

/// Predictions of the rows `test` from the rows `train`, by each predictor.
std::vector<std::vector<RowPrediction>> predict_fold(const SpeedTable& all,
                                                     const std::vector<std::size_t>& train,
                                                     const std::vector<std::size_t>& test,
                                                     const FactorOptions& options) {
  SpeedTable table = all;
  table.rows.clear();
  for (const std::size_t r : train) table.rows.push_back(all.rows[r]);

  std::vector<std::array<double, 3>> seen;  // of, beside, ISD
  for (const SpeedTable::Row& row : table.rows) {
    if (!std::isnan(row.speed_a)) {
      seen.push_back({static_cast<double>(row.a), static_cast<double>(row.b), isd_of(row.speed_a)});
    }
    if (!std::isnan(row.speed_b)) {
      seen.push_back({static_cast<double>(row.b), static_cast<double>(row.a), isd_of(row.speed_b)});
    }
  }
  if (seen.empty()) throw std::invalid_argument("a fold leaves no measured pair to fit on");
  std::vector<double> sorted;
  for (const auto& s : seen) sorted.push_back(s[2]);
  std::sort(sorted.begin(), sorted.end());
  const double mean =
      std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  const double median = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;

  // The papers' way: three clusters of the jobs' features, the mean of each ordered pair of them.
  const std::size_t width = all.features.size();
  std::vector<int> cluster(all.jobs.size(), 0);
  constexpr int kClusters = 3;
  std::vector<double> rows = all.values;
  for (std::size_t f = 0; f < width; ++f) {
    double sum = 0;
    double count = 0;
    for (std::size_t j = 0; j < all.jobs.size(); ++j) {
      double& x = rows[j * width + f];
      if (all.features[f].scale == FeatureScale::kLog && x > 0) x = std::log(x);
      if (std::isnan(x)) continue;
      sum += x;
      count += 1;
    }
    for (std::size_t j = 0; j < all.jobs.size(); ++j) {
      double& x = rows[j * width + f];
      if (std::isnan(x)) x = count > 0 ? sum / count : 0;
    }
  }
  if (width > 0) {
    const MatrixView view{rows, all.jobs.size(), width};
    const std::vector<double> z = Standardiser::of(view).apply(view);
    std::set<std::vector<double>> distinct;
    for (std::size_t j = 0; j < all.jobs.size(); ++j) {
      distinct.emplace(z.begin() + static_cast<std::ptrdiff_t>(j * width),
                       z.begin() + static_cast<std::ptrdiff_t>((j + 1) * width));
    }
    if (distinct.size() >= kClusters) cluster = kmeans(z, width, {kClusters, 20, 1}).labels;
  }
  std::array<double, kClusters * kClusters> sum{};
  std::array<double, kClusters * kClusters> count{};
  const auto at = [&](std::size_t of, std::size_t beside) {
    return static_cast<std::size_t>(cluster[of]) * kClusters +
           static_cast<std::size_t>(cluster[beside]);
  };
  for (const auto& s : seen) {
    const std::size_t p = at(static_cast<std::size_t>(s[0]), static_cast<std::size_t>(s[1]));
    sum[p] += s[2];
    count[p] += 1;
  }

  const FactorModel model = FactorModel::fit(table, options);
  const auto job = [&](std::uint32_t j) { return PairJob{all.jobs[j], {all.of(j), width}}; };
  std::vector<std::vector<RowPrediction>> out(kPredictors.size(),
                                              std::vector<RowPrediction>(test.size()));
  for (std::size_t t = 0; t < test.size(); ++t) {
    const SpeedTable::Row& row = all.rows[test[t]];
    for (std::size_t side = 0; side < 2; ++side) {
      const std::uint32_t of = side == 0 ? row.a : row.b;
      const std::uint32_t beside = side == 0 ? row.b : row.a;
      out[0][t][side].isd = mean;
      out[1][t][side].isd = median;
      const std::size_t p = at(of, beside);
      out[2][t][side].isd = count[p] > 0 ? sum[p] / count[p] : mean;
      const SpeedPrediction s = model.predict(job(of), job(beside));
      out[kFactors][t][side] = {isd_of(s.speed), isd_of(s.hi), isd_of(s.lo)};
    }
  }
  return out;
}

/// The rows that each fold holds out.
std::vector<std::vector<std::size_t>> folds_of(const PairTable& table, PairSplit split,
                                               std::uint64_t seed) {
  const auto& rows = table.speeds.rows;
  std::vector<std::vector<std::size_t>> folds;
  if (split == PairSplit::kPairs) {
    constexpr std::size_t kFolds = 5;
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    Rng rng(seed, Stream::kFolds);
    rng.shuffle(std::span(order));
    folds.resize(std::min(kFolds, rows.size()));
    for (std::size_t i = 0; i < order.size(); ++i) folds[i % folds.size()].push_back(order[i]);
    for (auto& fold : folds) std::sort(fold.begin(), fold.end());
    return folds;
  }
  // Names stand in for numbers: the families' order of first appearance.
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

/// Random queues paired by what a predictor expects; `predicted` and `truth` by row, NaN where unknown.
Queues pair_queues(const PairTable& table, const std::vector<double>& truth,
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
    // As many different jobs as there are, else with repetition: a queue of few kinds of jobs.
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
      const std::vector<std::int32_t> partner = min_cost_matching(by, kQueue);
      double all = 0;
      for (std::size_t i = 0; i < kQueue; ++i) {
        all += cost[i * kQueue + static_cast<std::size_t>(partner[i])] / kQueue;
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

double mean_of(const std::vector<double>& x) {
  return x.empty() ? kUnknown
                   : std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double error_of(const std::vector<double>& x) {
  if (x.size() < 2) return kUnknown;
  const double mean = mean_of(x);
  double square = 0;
  for (const double v : x) square += (v - mean) * (v - mean);
  const auto n = static_cast<double>(x.size());
  return std::sqrt(square / (n - 1) / n);
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

PairEvaluation evaluate_pairs(const PairTable& table, PairSplit split,
                              const PairEvaluationOptions& options,
                              const std::function<void(std::size_t, std::size_t)>& progress) {
  const auto& rows = table.speeds.rows;
  const auto folds = folds_of(table, split, options.seed);
  PairEvaluation out;
  out.data = table.source;
  out.split = split;
  out.jobs = table.speeds.jobs.size();
  out.pairs = static_cast<std::size_t>(std::count(table.scored.begin(), table.scored.end(), true));
  if (out.pairs == 0) throw InputError(table.source, "no pair with both speeds: nothing to score");

  // Rows of each fold that are scored, and their predictions.
  std::vector<std::vector<std::size_t>> test(folds.size());
  std::vector<std::vector<std::vector<RowPrediction>>> predicted(folds.size());
  for (std::size_t f = 0; f < folds.size(); ++f) {
    for (const std::size_t r : folds[f]) {
      if (table.scored[r]) test[f].push_back(r);
    }
  }
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t f = next++; f < folds.size(); f = next++) {
      try {
        if (!test[f].empty()) {
          std::vector<bool> held(rows.size(), false);
          for (const std::size_t r : folds[f]) held[r] = true;
          std::vector<std::size_t> train;
          for (std::size_t r = 0; r < rows.size(); ++r) {
            if (!held[r]) train.push_back(r);
          }
          predicted[f] = predict_fold(table.speeds, train, test[f], options.factors);
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      if (progress) progress(++done, folds.size());
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < std::max(1U, options.threads); ++t) threads.emplace_back(work);
  }
  if (failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::invalid_argument& e) {
      throw InputError(table.source, e.what());
    }
  }

  std::vector<double> truth(rows.size(), kUnknown);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (table.scored[r]) truth[r] = (isd_of(rows[r].speed_a) + isd_of(rows[r].speed_b)) / 2;
  }
  for (std::size_t p = 0; p < kPredictors.size(); ++p) {
    PairScore score;
    score.predictor = kPredictors[p];
    std::vector<double> by_fold, x, y, widths;
    std::vector<double> sum(rows.size(), 0);
    std::vector<double> times(rows.size(), 0);
    double squares = 0;
    double covered = 0;
    for (std::size_t f = 0; f < folds.size(); ++f) {
      std::vector<double> errors;
      for (std::size_t t = 0; t < test[f].size(); ++t) {
        const std::size_t r = test[f][t];
        const std::array<double, 2> speeds{rows[r].speed_a, rows[r].speed_b};
        for (std::size_t side = 0; side < 2; ++side) {
          const Prediction& one = predicted[f][p][t][side];
          const double isd = isd_of(speeds[side]);
          errors.push_back(std::abs(one.isd - isd));
          squares += (one.isd - isd) * (one.isd - isd);
          x.push_back(one.isd);
          y.push_back(isd);
          sum[r] += one.isd / 2;
          if (!std::isnan(one.lo)) {
            covered += isd >= one.lo && isd <= one.hi ? 1 : 0;
            widths.push_back(one.hi - one.lo);
          }
        }
        times[r] += 1;
      }
      if (!errors.empty()) {
        by_fold.push_back(mean_of(errors));
        score.mae += std::accumulate(errors.begin(), errors.end(), 0.0);
      }
    }
    const auto n = static_cast<double>(x.size());
    score.mae /= n;
    score.mae_error = error_of(by_fold);
    score.rmse = std::sqrt(squares / n);
    score.spearman = x.size() > 2 ? spearman(x, y) : kUnknown;
    if (!widths.empty()) {
      score.covered = covered / static_cast<double>(widths.size());
      std::nth_element(widths.begin(), widths.begin() + std::ssize(widths) / 2, widths.end());
      score.width = widths[widths.size() / 2];
    }
    std::vector<double> expected(rows.size(), kUnknown);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (times[r] > 0) expected[r] = sum[r] / times[r];
    }
    const Queues queues = pair_queues(table, truth, expected, options.queues, options.seed);
    if (!queues.best.empty()) {
      out.queues = queues.best.size();
      out.best_isd = mean_of(queues.best);
      out.random_isd = mean_of(queues.random);
      std::vector<double> each;
      for (std::size_t q = 0; q < queues.best.size(); ++q) {
        each.push_back((queues.chosen[q] - queues.best[q]) / (out.random_isd - out.best_isd));
      }
      score.regret = mean_of(each);
      score.regret_error = error_of(each);
    }
    out.folds = by_fold.size();
    out.scores.push_back(std::move(score));
  }
  return out;
}

}  // namespace corun
