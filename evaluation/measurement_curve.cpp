#include "evaluation/measurement_curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "evaluation/measurement_choice.hpp"
#include "evaluation/pair_draws.hpp"
#include "policies/groups/matching.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/base/summary.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "support/charts/svg_chart.hpp"
#include "support/json.hpp"
#include "support/text_table.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline evaluation {

namespace {

constexpr std::array<std::string_view, 3> kRules{"suggest", "random", "sd"};
constexpr std::size_t kRandom = 1;
constexpr std::size_t kJobsOfQueue = 24;

/// Measured pairs of different jobs in a table: the first row of each.
struct TablePairs {
  std::vector<std::size_t> rows;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> row_of;  ///< by jobs in order
  std::vector<std::uint32_t> jobs;
};

TablePairs table_pairs(const Measurements& table) {
  TablePairs found;
  std::vector<bool> there(table.speeds.jobs.size(), false);
  for (std::size_t r = 0; r < table.speeds.rows.size(); ++r) {
    const SpeedTable::Row& row = table.speeds.rows[r];
    if (!table.scored[r] || row.a == row.b) continue;
    if (!found.row_of.emplace(std::minmax(row.a, row.b), r).second) continue;
    found.rows.push_back(r);
    there[row.a] = there[row.b] = true;
  }
  for (std::uint32_t j = 0; j < there.size(); ++j) {
    if (there[j]) found.jobs.push_back(j);
  }
  return found;
}

double cost_of(double speed_a, double speed_b) { return 1 / speed_a + 1 / speed_b - 2; }

/// A queue of jobs of the table, and its measurable pairs as the kinds of a problem: every job is a kind.
struct TrialQueue {
  std::vector<std::uint32_t> jobs;
  MeasurementProblem problem;     ///< kinds and pairs
  std::vector<std::size_t> rows;  ///< of the pairs
  std::vector<double> truth;      ///< costs of the pairs
  double best = 0;                ///< mean ISD of the best pairing
  double random = 0;              ///< of all pairs
};

/// Mean ISD of the queue paired by these costs.
double isd_when_paired(const TrialQueue& queue, const std::vector<double>& cost) {
  const std::vector<std::int32_t> co_runner = cheapest_pairing(queue.problem, cost);
  double sum = 0;
  for (std::size_t p = 0; p < queue.truth.size(); ++p) {
    const auto& pair = queue.problem.pairs[p];
    if (co_runner[pair.a] == static_cast<std::int32_t>(pair.b)) sum += queue.truth[p];
  }
  return sum / static_cast<double>(queue.jobs.size());
}

/// Whether measured pairs suffice to pair all jobs.
bool can_be_paired(const TrialQueue& queue) {
  const std::vector<std::int32_t> co_runner = cheapest_pairing(queue.problem, queue.truth);
  std::size_t paired = 0;
  for (const auto& pair : queue.problem.pairs) {
    paired += co_runner[pair.a] == static_cast<std::int32_t>(pair.b) ? 2 : 0;
  }
  return paired == queue.jobs.size();
}

TrialQueue draw_queue(const Measurements& table, const TablePairs& known, std::uint64_t seed,
                      std::size_t number) {
  constexpr std::size_t kTries = 1000;
  for (std::size_t t = 0; t < kTries; ++t) {
    Rng rng(seed, Stream::kJobChoice, number * kTries + t);
    std::vector<std::uint32_t> deck = known.jobs;
    rng.shuffle(std::span(deck));
    TrialQueue queue;
    queue.jobs.assign(deck.begin(), deck.begin() + kJobsOfQueue);
    for (std::uint32_t i = 0; i < kJobsOfQueue; ++i) {
      queue.problem.kinds.push_back(i);
      for (std::uint32_t j = i + 1; j < kJobsOfQueue; ++j) {
        const auto at = known.row_of.find(std::minmax(queue.jobs[i], queue.jobs[j]));
        if (at == known.row_of.end()) continue;
        const SpeedTable::Row& row = table.speeds.rows[at->second];
        queue.problem.pairs.push_back({i, j, true});
        queue.rows.push_back(at->second);
        queue.truth.push_back(cost_of(row.speed_a, row.speed_b));
      }
    }
    if (!can_be_paired(queue)) continue;
    queue.best = isd_when_paired(queue, queue.truth);
    queue.random = mean(queue.truth) / 2;
    return queue;
  }
  throw InputError(table.source, fmt::format("has too few measured pairs: no {} of its jobs can be "
                                             "paired by them",
                                             kJobsOfQueue));
}

struct TrialScore {
  double isd = 0;  ///< of the queue
  double mae = 0;
};

/// One queue with its known pairs, and what the rules choose for it.
class Trial {
 public:
  Trial(const Measurements& table, const TablePairs& pairs, const MeasurementCurveOptions& options,
        std::size_t number)
      : table_(table),
        options_(options),
        queue_(draw_queue(table, pairs, options.seed, number)),
        seed_(options.seed + number) {
    std::vector<std::size_t> rows = pairs.rows;
    Rng(options.seed, Stream::kKnownPairs, number).shuffle(std::span(rows));
    rows.resize(options.known);
    start_ = std::move(rows);
    for (std::size_t p = 0; p < queue_.rows.size(); ++p) {
      is_known_.push_back(std::ranges::find(start_, queue_.rows[p]) != start_.end());
    }
    for (const std::uint32_t j : queue_.jobs) {
      jobs_.push_back({table.speeds.jobs[j], {table.speeds.of(j), table.speeds.features.size()}});
    }
    for (const auto& pair : queue_.problem.pairs) {
      queries_.push_back({pair.a, pair.b});
      queries_.push_back({pair.b, pair.a});
    }
  }

  const TrialQueue& queue() const { return queue_; }
  std::size_t measurable() const {
    return static_cast<std::size_t>(std::ranges::count(is_known_, false));
  }

  /// [rule][point]
  std::vector<std::vector<TrialScore>> run() {
    const auto model = fit({});
    const std::size_t most = std::ranges::max(options_.measured);
    std::vector<std::vector<TrialScore>> scores;
    std::map<std::vector<std::size_t>, TrialScore> scored;  // rules may agree
    for (std::size_t rule = 0; rule < kRules.size(); ++rule) {
      const std::vector<std::size_t> list = choose(rule, *model, most);
      scores.emplace_back();
      for (const std::size_t n : options_.measured) {
        std::vector<std::size_t> first = list;
        first.resize(std::min(n, list.size()));
        std::ranges::sort(first);
        const auto at = scored.find(first);
        scores.back().push_back(at != scored.end() ? at->second : score(*fit(first), first));
        scored.emplace(std::move(first), scores.back().back());
      }
    }
    return scores;
  }

 private:
  /// Fitted on the known pairs and on these of the queue.
  std::unique_ptr<InterferenceModel> fit(const std::vector<std::size_t>& more) const {
    std::vector<std::size_t> rows = start_;
    for (const std::size_t p : more) rows.push_back(queue_.rows[p]);
    std::ranges::sort(rows);
    SpeedTable table = table_.speeds;
    table.rows.clear();
    table.groups.clear();
    for (const std::size_t r : rows) table.rows.push_back(table_.speeds.rows[r]);
    return options_.model->fit(table, {.seed = seed_, .threads = 1, .effort = options_.effort});
  }

  std::vector<std::size_t> choose(std::size_t rule, const InterferenceModel& model,
                                  std::size_t most) const {
    MeasurementProblem problem = queue_.problem;
    std::vector<MeasuredPair> measured;
    for (std::size_t p = 0; p < is_known_.size(); ++p) {
      if (!is_known_[p]) continue;
      const SpeedTable::Row& row = table_.speeds.rows[queue_.rows[p]];
      const bool in_order = row.a == queue_.jobs[problem.pairs[p].a];
      measured.push_back(
          {p, in_order ? row.speed_a : row.speed_b, in_order ? row.speed_b : row.speed_a});
    }
    std::vector<std::size_t> list;
    if (rule == kRandom) {
      for (std::size_t p = 0; p < is_known_.size(); ++p) {
        if (!is_known_[p]) list.push_back(p);
      }
      Rng(options_.seed, Stream::kPairDraws, seed_).shuffle(std::span(list));
      return list;
    }
    draw_pairs(model, jobs_, measured, {.seed = seed_}, problem);
    if (rule == 0) {
      for (const auto& chosen : choose_measurements(problem, most, {.seed = seed_}).chosen) {
        list.push_back(chosen.pair);
      }
      return list;
    }
    const std::size_t pairs = problem.pairs.size();
    std::vector<double> deviation;
    for (std::size_t p = 0; p < pairs; ++p) {
      if (!is_known_[p]) list.push_back(p);
      std::vector<double> costs;
      for (std::size_t d = 0; d < problem.draws; ++d) costs.push_back(problem.cost[d * pairs + p]);
      deviation.push_back(standard_error(costs));
    }
    std::ranges::stable_sort(list, std::ranges::greater{},
                             [&](std::size_t p) { return deviation[p]; });
    return list;
  }

  TrialScore score(const InterferenceModel& model, const std::vector<std::size_t>& measured) const {
    const std::vector<SpeedPrediction> speeds = model.predict(jobs_, queries_);
    std::vector<double> cost = queue_.truth;
    double error = 0;
    for (std::size_t p = 0; p < cost.size(); ++p) {
      if (is_known_[p] || std::ranges::binary_search(measured, p)) continue;
      cost[p] = cost_of(speeds[2 * p].speed, speeds[2 * p + 1].speed);
      const SpeedTable::Row& row = table_.speeds.rows[queue_.rows[p]];
      const bool in_order = row.a == queue_.jobs[queue_.problem.pairs[p].a];
      const std::array<double, 2> truth{in_order ? row.speed_a : row.speed_b,
                                        in_order ? row.speed_b : row.speed_a};
      for (std::size_t side = 0; side < 2; ++side) {
        error += std::abs(1 / speeds[2 * p + side].speed - 1 / truth[side]);
      }
    }
    const auto scored = static_cast<double>(2 * measurable());
    return {isd_when_paired(queue_, cost), scored > 0 ? error / scored : 0};
  }

  const Measurements& table_;
  const MeasurementCurveOptions& options_;
  TrialQueue queue_;
  std::uint64_t seed_;
  std::vector<std::size_t> start_;  ///< rows known at the start
  std::vector<bool> is_known_;      ///< by pair of the queue
  std::vector<PairJob> jobs_;
  std::vector<PairQuery> queries_;
};

}  // namespace

MeasurementCurve measurement_curve(const Measurements& table,
                                   const MeasurementCurveOptions& options,
                                   const std::function<void(std::size_t, std::size_t)>& progress) {
  const TablePairs pairs = table_pairs(table);
  if (pairs.jobs.size() < kJobsOfQueue || pairs.rows.size() <= options.known) {
    throw InputError(
        table.source,
        fmt::format("has {} measured pairs of {} jobs, expected more than {} of {} "
                    "jobs or more",
                    pairs.rows.size(), pairs.jobs.size(), options.known, kJobsOfQueue));
  }
  std::vector<std::vector<std::vector<TrialScore>>> scores(options.queues);
  std::vector<double> best(options.queues), random(options.queues), measurable(options.queues);
  std::size_t done = 0;
  std::mutex mutex;
  try {
    parallel_for(options.queues, options.threads, [&](std::size_t q) {
      Trial trial(table, pairs, options, q);
      scores[q] = trial.run();
      best[q] = trial.queue().best;
      random[q] = trial.queue().random;
      measurable[q] = static_cast<double>(trial.measurable());
      const std::lock_guard lock(mutex);
      if (progress) progress(++done, options.queues);
    });
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, e.what());
  }
  MeasurementCurve curve;
  curve.data = table.source;
  curve.model = options.model->name;
  curve.known = options.known;
  curve.queues = options.queues;
  curve.pairs = mean(measurable);
  curve.best_isd = mean(best);
  curve.random_isd = mean(random);
  const double scale = curve.random_isd - curve.best_isd;
  for (std::size_t rule = 0; rule < kRules.size(); ++rule) {
    for (std::size_t m = 0; m < options.measured.size(); ++m) {
      std::vector<double> regret, mae, less;
      for (std::size_t q = 0; q < options.queues; ++q) {
        regret.push_back((scores[q][rule][m].isd - best[q]) / scale);
        mae.push_back(scores[q][rule][m].mae);
        less.push_back((scores[q][rule][m].isd - scores[q][kRandom][m].isd) / scale);
      }
      curve.points.push_back({kRules[rule], options.measured[m], mean(regret),
                              standard_error(regret), mean(mae), standard_error(mae), mean(less),
                              standard_error(less)});
    }
  }
  return curve;
}

std::string measurement_curve_table(const MeasurementCurve& curve) {
  std::string out = fmt::format(
      "{}: {} queues of {} jobs, {} pairs known, {:.0f} of a queue's pairs not; model {}\n",
      curve.data, curve.queues, kJobsOfQueue, curve.known, curve.pairs, curve.model);
  const auto with_error = [](double x, double error, double unit, int digits) {
    return std::isnan(error)
               ? fmt::format("{:.{}f}", unit * x, digits)
               : fmt::format("{:.{}f} +- {:.{}f}", unit * x, digits, unit * error, digits);
  };
  TextTable table({TextTable::Align::kLeft, TextTable::Align::kRight});
  table.add({"rule", "measured", "regret", "less random's", "MAE ISD %"});
  for (const MeasurementCurvePoint& p : curve.points) {
    table.add(
        {std::string(p.rule), std::to_string(p.measured),
         with_error(p.regret, p.regret_error, 1, 3),
         p.rule == kRules[kRandom] ? "" : with_error(p.less_regret, p.less_regret_error, 1, 3),
         with_error(p.mae, p.mae_error, 100, 2)});
  }
  return out + table.text() +
         fmt::format("mean ISD {:.1f} % paired as well as can be, {:.1f} % at random\n",
                     100 * curve.best_isd, 100 * curve.random_isd);
}

std::string measurement_curve_csv(const MeasurementCurve& curve) {
  std::string out =
      "data,model,known,queues,rule,measured,regret,regret_error,less_regret,less_regret_error,mae,"
      "mae_error\n";
  for (const MeasurementCurvePoint& p : curve.points) {
    out += fmt::format("{},{},{},{},{},{}", csv_text(curve.data), curve.model, curve.known,
                       curve.queues, p.rule, p.measured);
    for (const double x :
         {p.regret, p.regret_error, p.less_regret, p.less_regret_error, p.mae, p.mae_error}) {
      out += "," + csv_number(x);
    }
    out += "\n";
  }
  return out;
}

std::string measurement_curve_json(const MeasurementCurve& curve) {
  Json json{{"data", curve.data},
            {"model", curve.model},
            {"known", curve.known},
            {"queues", curve.queues},
            {"pairs", curve.pairs},
            {"best_isd", curve.best_isd},
            {"random_isd", curve.random_isd}};
  json["points"] = Json::array();
  for (const MeasurementCurvePoint& p : curve.points) {
    json["points"].push_back({{"rule", p.rule},
                              {"measured", p.measured},
                              {"regret", p.regret},
                              {"regret_error", json_number(p.regret_error)},
                              {"less_regret", p.less_regret},
                              {"less_regret_error", json_number(p.less_regret_error)},
                              {"mae", p.mae},
                              {"mae_error", json_number(p.mae_error)}});
  }
  return json_text(json);
}

std::string measurement_curve_figure(const MeasurementCurve& curve, std::uint64_t seed) {
  LineChart chart;
  chart.title = "What the next measurements are worth";
  chart.note =
      fmt::format("{}; {} pairs known at first; {} queues of {}; bars: standard error; seed {}",
                  curve.data, curve.known, curve.queues, kJobsOfQueue, seed);
  LinePanel regret{.title = "queue paired by what is known",
                   .x_axis = "pairs measured",
                   .y_axis = "regret (0 best, 1 random pairing)",
                   .series = {}};
  LinePanel error{.title = "pairs of the queue",
                  .x_axis = "pairs measured",
                  .y_axis = "MAE of ISD [percentage points]",
                  .series = {}};
  for (const MeasurementCurvePoint& p : curve.points) {
    if (regret.series.empty() || regret.series.back().name != p.rule) {
      regret.series.push_back({std::string(p.rule), {}});
      error.series.push_back({std::string(p.rule), {}});
    }
    const auto x = static_cast<double>(p.measured);
    regret.series.back().points.push_back(
        {x, p.regret, p.regret - p.regret_error, p.regret + p.regret_error});
    error.series.back().points.push_back(
        {x, 100 * p.mae, 100 * (p.mae - p.mae_error), 100 * (p.mae + p.mae_error)});
  }
  chart.panels = {std::move(regret), std::move(error)};
  return svg_line_chart(chart);
}

}  // namespace corun::inline evaluation
