#include "evaluation/co_runner_evaluation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "models/formulas/co_runner_rule.hpp"
#include "models/interference/catalog.hpp"
#include "models/interference/measured_speeds.hpp"
#include "sim/base/math.hpp"

namespace corun::inline evaluation {

namespace {

double norm(std::span<const double> x, double exponent) {
  double sum = 0;
  for (const double one : x) sum += math::exp(exponent * math::log(one));
  return math::exp(math::log(sum) / exponent);
}

/// Mean ISD of a group whose members run at these speeds.
double mean_isd(
    std::span<const double> solo,
    const std::function<void(std::span<const std::size_t>, std::span<double>)>& speeds) {
  const std::vector<double> corun = group_times(solo, speeds);
  double sum = 0;
  for (std::size_t i = 0; i < solo.size(); ++i) sum += corun[i] / solo[i] - 1;
  return sum / static_cast<double>(solo.size());
}

}  // namespace

std::span<const GroupRule> group_rules() {
  static constexpr std::array kRules{
      GroupRule{"sum",
                [](std::span<const double> x) { return std::accumulate(x.begin(), x.end(), 0.0); }},
      GroupRule{"norm 1.25",
                [](std::span<const double> x) { return norm(x, kSlicingRule.pooling); }},
      GroupRule{"norm 2",
                [](std::span<const double> x) {
                  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
                }},
      GroupRule{"product",
                [](std::span<const double> x) {
                  double slowdown = 1;
                  for (const double one : x) slowdown *= 1 + one;
                  return slowdown - 1;
                }},
  };
  return kRules;
}

std::vector<double> group_times(
    std::span<const double> solo_s,
    const std::function<void(std::span<const std::size_t>, std::span<double>)>& speeds) {
  std::vector<std::size_t> residents(solo_s.size());
  std::iota(residents.begin(), residents.end(), 0);
  std::vector<double> left(solo_s.begin(), solo_s.end());
  std::vector<double> finish(solo_s.size(), 0);
  double now = 0;
  while (!residents.empty()) {
    std::vector<double> speed(residents.size());
    speeds(residents, speed);
    double step = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < residents.size(); ++k) {
      step = std::min(step, left[residents[k]] / speed[k]);
    }
    now += step;
    std::vector<std::size_t> stay;
    for (std::size_t k = 0; k < residents.size(); ++k) {
      const std::size_t job = residents[k];
      // The first job to end has no work left except for rounding errors.
      if (left[job] / speed[k] <= step) {
        finish[job] = now;
        continue;
      }
      left[job] -= step * speed[k];
      stay.push_back(job);
    }
    residents = std::move(stay);
  }
  return finish;
}

std::vector<GroupScore> evaluate_groups(std::span<const CorunMeasurement> pairs,
                                        std::span<const CorunMeasurement> groups,
                                        std::span<const std::string_view> models, double effort,
                                        unsigned threads) {
  if (groups.empty()) return {};
  const SpeedTable table = speed_table(pairs, ImputedProfiles::kBelieved);
  struct Fitted {
    std::string_view name;
    std::unique_ptr<InterferenceModel> model;
  };
  std::vector<Fitted> fitted;
  for (const std::string_view name : models) {
    try {
      fitted.push_back(
          {name, find_interference_model(name)->fit(
                     table, {.threads = static_cast<int>(threads), .effort = effort})});
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
  std::vector<GroupScore> out;
  for (const CorunMeasurement& row : groups) {
    const std::size_t n = row.members.size();
    GroupScore score{row.source, n, 0, {}};
    std::vector<double> solo;
    for (const CorunMember& m : row.members) {
      solo.push_back(m.solo_s);
      score.measured += (m.corun_s / m.solo_s - 1) / static_cast<double>(n);
    }
    for (const Fitted& one : fitted) {
      const InterferenceModel& model = *one.model;
      std::vector<std::vector<double>> features;
      for (const CorunMember& m : row.members) {
        features.push_back(feature_values(m.profile, model.features(), ImputedProfiles::kBelieved));
      }
      std::vector<PairJob> jobs;
      for (std::size_t i = 0; i < n; ++i) jobs.push_back({row.members[i].workload, features[i]});
      GroupScore::Model scored{std::string(one.name), 0, {}};
      scored.own =
          mean_isd(solo, [&](std::span<const std::size_t> residents, std::span<double> speeds) {
            std::vector<PairJob> co_runners;
            for (const std::size_t i : residents) co_runners.push_back(jobs[i]);
            model.speeds(co_runners, speeds);
          });
      std::vector<PairQuery> queries;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) queries.push_back({i, j});
      }
      const std::vector<SpeedPrediction> of_pairs = model.predict(jobs, queries);
      for (const GroupRule& rule : group_rules()) {
        scored.rules.push_back(mean_isd(solo, [&](std::span<const std::size_t> residents,
                                                  std::span<double> speeds) {
          for (std::size_t k = 0; k < residents.size(); ++k) {
            std::vector<double> excesses;
            for (const std::size_t other : residents) {
              if (other == residents[k]) continue;
              excesses.push_back(std::max(0.0, 1 / of_pairs[residents[k] * n + other].speed - 1));
            }
            speeds[k] = excesses.empty() ? 1 : 1 / (1 + rule.combine(excesses));
          }
        }));
      }
      score.models.push_back(std::move(scored));
    }
    out.push_back(std::move(score));
  }
  return out;
}

}  // namespace corun::inline evaluation
