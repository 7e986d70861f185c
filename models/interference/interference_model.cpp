#include "models/interference/interference_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/formulas/pair_formula.hpp"
#include "sim/base/half_width.hpp"
#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun::inline models {

SpeedPrediction InterferenceModel::predict(const PairJob& of, const PairJob& beside) const {
  const std::array jobs{of, beside};
  const std::array pairs{PairQuery{0, 1}};
  return predict(jobs, pairs).front();
}

std::shared_ptr<PairFormula> InterferenceModel::formula(std::span<const PairJob>,
                                                        std::span<const std::uint32_t>) const {
  return nullptr;
}

std::vector<SpeedPrediction> InterferenceModel::predict_co_runners(
    std::span<const PairJob> residents) const {
  return by_rule(residents, groups_.rule());
}

const Saturation* InterferenceModel::saturation_of(std::span<const PairJob> residents) const {
  const WorkloadKey job = residents.front().workload;
  const bool are_copies =
      std::ranges::all_of(residents, [&](const PairJob& one) { return one.workload == job; });
  if (!are_copies || job == kUnknownWorkload) return nullptr;
  const auto found = groups_.saturations.jobs.find(job);
  return found == groups_.saturations.jobs.end() ? nullptr : &found->second;
}

std::vector<SpeedPrediction> InterferenceModel::by_rule(std::span<const PairJob> residents,
                                                        const CoRunnerRule& rule) const {
  const std::size_t n = residents.size();
  if (n < 2) return std::vector<SpeedPrediction>(n);
  if (const Saturation* const job = n > 2 ? saturation_of(residents) : nullptr) {
    const double pair = predict(residents[0], residents[1]).speed;
    const LogSpeed of_group = log_speed_among_equals(*job, n, pair);
    const double speed = math::exp(of_group.mean);
    const double sd = rule.scatter * of_group.sd;
    const double away = math::exp(kHalfWidth90 * sd);
    return std::vector<SpeedPrediction>(
        n, {speed, sd * speed, speed / away, std::min(1.0, speed * away)});
  }
  std::vector<PairQuery> queries;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i) queries.push_back({i, j});
    }
  }
  std::vector<SpeedPrediction> pairs = predict(residents, queries);
  if (n == 2) return pairs;
  std::vector<SpeedPrediction> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    CoRunnerSpeed speed(rule), lo(rule), hi(rule);
    CoRunnerDeviation rules;
    double deviation = 0;  // the largest relative one of a pair
    for (std::size_t q = i * (n - 1); q < (i + 1) * (n - 1); ++q) {
      speed.add(pairs[q].speed);
      lo.add(pairs[q].lo);
      hi.add(pairs[q].hi);
      rules.add(pairs[q].speed);
      deviation = std::max(deviation, pairs[q].sd / pairs[q].speed);
    }
    const double of_rule = rule.scatter * rules.value();
    const auto away = [&](double end) {
      return math::exp(std::hypot(math::log(end / speed.speed()), kHalfWidth90 * of_rule));
    };
    out[i] = {speed.speed(), std::hypot(deviation, of_rule) * speed.speed(),
              speed.speed() / away(lo.speed()), std::min(1.0, speed.speed() * away(hi.speed()))};
  }
  return out;
}

void InterferenceModel::speeds(std::span<const PairJob> residents, std::span<double> out) const {
  const std::vector<SpeedPrediction> predicted = predict_co_runners(residents);
  for (std::size_t i = 0; i < predicted.size(); ++i) out[i] = std::min(1.0, predicted[i].speed);
}

std::vector<double> InterferenceModel::sample(std::span<const PairJob> jobs,
                                              std::span<const PairQuery> pairs,
                                              std::uint64_t draw) const {
  const std::vector<SpeedPrediction> predicted = predict(jobs, pairs);
  std::vector<double> out;
  out.reserve(predicted.size());
  for (std::size_t q = 0; q < predicted.size(); ++q) {
    const std::array<std::uint32_t, 2> pair{static_cast<std::uint32_t>(pairs[q].of),
                                            static_cast<std::uint32_t>(pairs[q].beside)};
    Rng rng(draw, Stream::kModelDraws, hash_entity(pair));
    const SpeedPrediction& p = predicted[q];
    out.push_back(p.speed * math::exp(rng.normal() * std::min(1.0, p.sd / p.speed)));
  }
  return out;
}

void InterferenceModel::learn(const PairJob&, const PairJob&, double, double) {}

std::vector<bool> judged_jobs(const SpeedTable& table) {
  constexpr std::size_t kMost = 100;
  std::vector<bool> out(table.jobs.size(), false);
  for (const SpeedTable::Row& row : table.rows) out[row.a] = out[row.b] = true;
  const auto count = static_cast<std::size_t>(std::ranges::count(out, true));
  if (count <= kMost) return out;
  std::size_t position = 0;
  std::size_t kept = 0;
  for (std::size_t j = 0; j < out.size(); ++j) {
    if (!out[j]) continue;
    out[j] = position * kMost / count == kept;
    kept += out[j] ? 1 : 0;
    position += 1;
  }
  return out;
}

double excess_scatter(const InterferenceModel& model, const SpeedTable& table) {
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < table.jobs.size(); ++j) {
    jobs.push_back({table.jobs[j], {table.of(j), table.features.size()}});
  }
  const std::vector<bool> judged = judged_jobs(table);
  std::vector<PairQuery> pairs;
  std::vector<double> measured;
  const auto ask = [&](std::size_t of, std::size_t beside, double speed) {
    if (std::isnan(speed) || !judged[of]) return;
    pairs.push_back({of, beside});
    measured.push_back(speed);
  };
  for (const SpeedTable::Row& row : table.rows) {
    ask(row.a, row.b, row.speed_a);
    ask(row.b, row.a, row.speed_b);
  }
  const std::vector<SpeedPrediction> predicted = model.predict(jobs, pairs);
  double error = 0;
  double scale = 0;
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    const double weight = std::min(1.0, measured[q]);
    const double level = weight * (1 / std::min(1.0, predicted[q].speed) - 1);
    const double off = weight * (1 / measured[q] - 1) - level;
    error += off * off;
    scale += level * level;
  }
  return scale > 0 ? std::sqrt(math::log1p(error / scale)) : 0;
}

}  // namespace corun::inline models
