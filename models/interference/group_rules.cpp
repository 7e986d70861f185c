#include "models/interference/group_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

#include "models/formulas/co_runner_rule.hpp"
#include "models/interference/moments.hpp"
#include "sim/base/half_width.hpp"
#include "sim/base/math.hpp"

namespace corun {

namespace {

constexpr std::array kPoolings{1.0, 1.1, 1.25, 1.5, 2.0};
constexpr std::array kBuildUps{1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0};
constexpr std::size_t kLeastGroups = 10;
constexpr double kSure = 0.975;
/// Of a group whose pairs leave each other alone, in log speed: what repetitions differ by.
constexpr double kRepetition = 0.02;
constexpr double kMostScatter = 4;
/// Bound of the speeds of pairs that groups can tell.
constexpr double kSlowest = 1e-3;

/// Speed of one of `count` equal jobs that run at `pair` beside one other.
double among_equals(double pair, std::size_t count, const CoRunnerRule& rule) {
  CoRunnerSpeed others(rule);
  for (std::size_t i = 1; i < count; ++i) others.add(pair);
  return others.speed();
}

/// The speed of a pair of equal jobs that run at `speed` in a group of `count`; 1 if that is not below 1.
double pair_of_equals(double speed, std::size_t count, const CoRunnerRule& rule) {
  if (speed >= 1) return 1;
  double lo = kSlowest;
  double hi = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = std::sqrt(lo * hi);
    (among_equals(middle, count, rule) > speed ? hi : lo) = middle;
  }
  return std::sqrt(lo * hi);
}

void check(const SpeedTable& table) {
  for (const SpeedTable::Group& group : table.groups) {
    const bool is_there =
        std::ranges::all_of(group.jobs, [&](std::uint32_t job) { return job < table.jobs.size(); });
    const bool has_speeds = std::ranges::all_of(
        group.speeds, [](double s) { return std::isnan(s) || (s > 0 && std::isfinite(s)); });
    if (!is_there || !has_speeds || group.jobs.size() < 3 ||
        group.speeds.size() != group.jobs.size()) {
      throw std::invalid_argument("groups: a group is not of three known jobs or more with speeds");
    }
  }
}

/// The speeds of a group's pairs, and the excesses that were measured.
struct Measured {
  std::uint64_t family = 0;                 ///< of the group's first job, or the job itself
  std::vector<std::vector<double>> beside;  ///< per measured job: its speeds beside each other one
  std::vector<double> excess;
};

double error_of(const Measured& group, const CoRunnerRule& rule) {
  double sum = 0;
  for (std::size_t i = 0; i < group.excess.size(); ++i) {
    CoRunnerSpeed others(rule);
    for (const double speed : group.beside[i]) others.add(speed);
    sum += std::fabs(1 / others.speed() - 1 - group.excess[i]);
  }
  return sum / static_cast<double>(group.excess.size());
}

std::vector<Measured> measured_groups(const InterferenceModel& model, const SpeedTable& table,
                                      Sharing sharing) {
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < table.jobs.size(); ++j) {
    jobs.push_back({table.jobs[j], {table.of(j), table.features.size()}});
  }
  std::vector<PairQuery> queries;
  std::vector<Measured> out;
  for (const SpeedTable::Group& group : table.groups) {
    if (group.sharing != sharing) continue;
    Measured measured;
    const std::uint32_t first = group.jobs.front();
    const std::uint64_t family = table.family_of(first);
    measured.family = family != 0 ? family : table.jobs[first];
    for (std::size_t i = 0; i < group.jobs.size(); ++i) {
      if (std::isnan(group.speeds[i])) continue;
      measured.excess.push_back(1 / group.speeds[i] - 1);
      for (std::size_t j = 0; j < group.jobs.size(); ++j) {
        if (j != i) queries.push_back({group.jobs[i], group.jobs[j]});
      }
      measured.beside.emplace_back(group.jobs.size() - 1);
    }
    if (!measured.excess.empty()) out.push_back(std::move(measured));
  }
  const std::vector<SpeedPrediction> speeds = model.predict(jobs, queries);
  std::size_t next = 0;
  for (Measured& group : out) {
    for (std::vector<double>& beside : group.beside) {
      for (double& speed : beside) speed = speeds[next++].speed;
    }
  }
  return out;
}

struct Gain {
  double sum = 0, count = 0;
};

/// The factor of the rule's deviation at which 90 % of the measured speeds lie within 90 % intervals.
double scatter_of(const std::vector<Measured>& groups, const CoRunnerRule& rule) {
  std::vector<double> off;
  for (const Measured& group : groups) {
    for (std::size_t i = 0; i < group.excess.size(); ++i) {
      CoRunnerSpeed others(rule);
      CoRunnerDeviation rules;
      for (const double speed : group.beside[i]) {
        others.add(speed);
        rules.add(speed);
      }
      const double deviation = rules.value() + kRepetition;
      const double error = std::fabs(math::log(others.speed() * (1 + group.excess[i])));
      off.push_back(error / deviation / kHalfWidth90);
    }
  }
  std::ranges::sort(off);
  const auto at = static_cast<std::size_t>(0.9 * static_cast<double>(off.size() - 1));
  return std::clamp(off[at], 1 / kMostScatter, kMostScatter);
}

CoRunnerRule learnt_rule(const std::vector<Measured>& groups, const CoRunnerRule& prior) {
  if (groups.size() < kLeastGroups) return prior;
  std::vector<double> of_prior;
  for (const Measured& group : groups) of_prior.push_back(error_of(group, prior));
  const auto n = static_cast<double>(groups.size());
  CoRunnerRule best = prior;
  std::set<std::uint64_t> names;
  for (const Measured& group : groups) names.insert(group.family);
  const auto families = static_cast<double>(names.size());
  const double quantile =
      names.size() > 1 ? boost::math::quantile(boost::math::students_t(families - 1), kSure) : 0;
  double most_gained = 0;
  for (const double pooling : kPoolings) {
    if (names.size() < 2) break;
    for (const double build_up : kBuildUps) {
      const CoRunnerRule rule{pooling, build_up};
      double gained = 0;
      std::map<std::uint64_t, Gain> of_family;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const double gain = of_prior[g] - error_of(groups[g], rule);
        gained += gain / n;
        of_family[groups[g].family].sum += gain;
        of_family[groups[g].family].count += 1;
      }
      // Groups of one family err alike, so families are what is drawn.
      double squares = 0;
      for (const auto& [family, gain] : of_family) {
        const double off = (gain.sum - gain.count * gained) / n;
        squares += off * off;
      }
      const double error = std::sqrt(squares * families / (families - 1));
      if (gained > most_gained && gained > quantile * error) {
        most_gained = gained;
        best = rule;
      }
    }
  }
  best.scatter = scatter_of(groups, best);
  return best;
}

}  // namespace

SpeedTable with_pairs_of_groups(const SpeedTable& table) {
  check(table);
  std::set<std::uint32_t> beside_itself;
  for (const SpeedTable::Row& row : table.rows) {
    if (row.a == row.b && !(std::isnan(row.speed_a) && std::isnan(row.speed_b))) {
      beside_itself.insert(row.a);
    }
  }
  struct Mean {
    double log_sum = 0;
    double count = 0;
  };
  std::map<std::uint32_t, Mean> found;
  for (const SpeedTable::Group& group : table.groups) {
    const std::uint32_t job = group.jobs.front();
    if (beside_itself.contains(job) ||
        std::ranges::count(group.jobs, job) != std::ssize(group.jobs)) {
      continue;
    }
    const CoRunnerRule& rule = kCoRunnerRules[static_cast<std::size_t>(group.sharing)];
    for (const double speed : group.speeds) {
      if (std::isnan(speed)) continue;
      Mean& mean = found[job];
      mean.log_sum += math::log(pair_of_equals(speed, group.jobs.size(), rule));
      mean.count += 1;
    }
  }
  SpeedTable out = table;
  for (const auto& [job, mean] : found) {
    const double speed = math::exp(mean.log_sum / mean.count);
    out.rows.push_back({job, job, speed, speed});
  }
  return out;
}

InterferenceModel::Groups learnt_groups(const InterferenceModel& model, const SpeedTable& table) {
  InterferenceModel::Groups groups;
  groups.campaign = table.campaigns.size() == 1
                        ? table.campaigns.front()
                        : SpeedTable::Campaign{.gpu = "", .sharing = table.sharing()};
  std::vector<double> log_slowdowns;
  for (const SpeedTable::Row& row : table.rows) {
    for (const double speed : {row.speed_a, row.speed_b}) {
      if (!std::isnan(speed)) log_slowdowns.push_back(-math::log(speed));
    }
  }
  if (!log_slowdowns.empty()) {
    const Moments moments = log_slowdown_moments(log_slowdowns);
    groups.level = moments.mean;
    groups.spread = moments.deviation;
  }
  if (table.groups.empty()) return groups;
  for (std::size_t mode = 0; mode < kSharings; ++mode) {
    const auto sharing = static_cast<Sharing>(mode);
    groups.rules[mode] = learnt_rule(measured_groups(model, table, sharing), kCoRunnerRules[mode]);
  }
  return groups;
}

}  // namespace corun
