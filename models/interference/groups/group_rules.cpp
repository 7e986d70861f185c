#include "models/interference/groups/group_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

#include "models/formulas/co_runner_rule.hpp"
#include "models/formulas/saturation.hpp"
#include "models/interference/fits/moments.hpp"
#include "models/interference/groups/saturations.hpp"
#include "sim/base/half_width.hpp"
#include "sim/base/math.hpp"

namespace corun::inline models {

namespace {

constexpr std::array kPoolings{1.0, 1.1, 1.25, 1.5, 2.0};
constexpr std::array kIdleShares{0.0, 0.25, 0.5, 0.75, 1.0};
constexpr std::size_t kLeastGroups = 10;
constexpr double kSure = 0.975;
constexpr double kMostScatter = 4;
/// Bound of the speeds of pairs that groups can tell.
constexpr double kSlowest = 1e-3;

/// The speed of a pair of equal jobs that run at `speed` in a group of `count`; 1 if that is not below 1.
double pair_of_equals(double speed, std::size_t count, const CoRunnerRule& rule) {
  if (speed >= 1) return 1;
  double lo = kSlowest;
  double hi = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = std::sqrt(lo * hi);
    (speed_among_equals(middle, count, rule) > speed ? hi : lo) = middle;
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
  const Saturation* saturation = nullptr;  ///< of copies of one job; null: not known
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
                                      const Saturations& saturations, Sharing sharing) {
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
    const auto found = saturations.jobs.find(table.jobs[first]);
    if (found != saturations.jobs.end() &&
        std::ranges::count(group.jobs, first) == std::ssize(group.jobs)) {
      measured.saturation = &found->second;
    }
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

/// Of the log speed of a member by the rule, or by its saturation, and its deviation.
LogSpeed expected_speed(const Measured& group, std::size_t member, const CoRunnerRule& rule) {
  const std::vector<double>& beside = group.beside[member];
  if (group.saturation != nullptr) {
    return log_speed_among_equals(*group.saturation, beside.size() + 1, beside.front());
  }
  CoRunnerSpeed others(rule);
  CoRunnerDeviation rules;
  for (const double speed : beside) {
    others.add(speed);
    rules.add(speed);
  }
  return {math::log(others.speed()), rules.value() + kRepetition};
}

/// The factor of the rule's deviation at which 90 % of the measured speeds lie within 90 % intervals.
double scatter_of(const std::vector<Measured>& groups, const CoRunnerRule& rule) {
  std::vector<double> off;
  for (const Measured& group : groups) {
    for (std::size_t i = 0; i < group.excess.size(); ++i) {
      const LogSpeed expected = expected_speed(group, i, rule);
      const double error = std::fabs(expected.mean + math::log(1 + group.excess[i]));
      off.push_back(error / expected.sd / kHalfWidth90);
    }
  }
  std::ranges::sort(off);
  const auto at = static_cast<std::size_t>(0.9 * static_cast<double>(off.size() - 1));
  return std::clamp(off[at], 1 / kMostScatter, kMostScatter);
}

/// The rule of these groups, of which no saturation is known.
CoRunnerRule best_rule(const std::vector<Measured>& groups, const CoRunnerRule& prior) {
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
    for (const double idle : kIdleShares) {
      const CoRunnerRule rule{pooling, idle};
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
  return best;
}

CoRunnerRule learnt_rule(const std::vector<Measured>& groups, const CoRunnerRule& prior) {
  if (groups.size() < kLeastGroups) return prior;
  std::vector<Measured> by_rule;
  std::ranges::copy_if(groups, std::back_inserter(by_rule),
                       [](const Measured& group) { return group.saturation == nullptr; });
  CoRunnerRule best = by_rule.size() < kLeastGroups ? prior : best_rule(by_rule, prior);
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
  if (!model.workloads().empty()) groups.saturations = saturations_of(table);
  if (table.groups.empty()) return groups;
  // Groups that a saturation was fitted to do not tell how far groups lie from it.
  SpeedTable pairs = table;
  pairs.groups.clear();
  const Saturations by_pairs =
      groups.saturations.jobs.empty() ? Saturations{} : saturations_of(pairs);
  for (std::size_t mode = 0; mode < kSharings; ++mode) {
    const auto sharing = static_cast<Sharing>(mode);
    groups.rules[mode] =
        learnt_rule(measured_groups(model, table, by_pairs, sharing), kCoRunnerRules[mode]);
  }
  return groups;
}

}  // namespace corun::inline models
