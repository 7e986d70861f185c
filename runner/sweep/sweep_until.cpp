#include "runner/sweep/sweep_until.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/summary.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/statistics/mean_interval.hpp"
#include "support/statistics/metric_choice.hpp"

namespace corun::inline runner {

namespace {

constexpr std::array<std::string_view, 2> kOfNames{"policies", "differences"};

[[noreturn]] void refuse_until(const YamlNode& node, const std::string& key,
                               const std::string& expected) {
  throw InputError(node.place(), fmt::format("sweep.until{}: found {}, expected {}", key,
                                             node.description(), expected));
}

/// Quantile of Student's t for the two-sided level of a look: looks share 5 %, 1/2, 1/6, 1/12, ... of it, so that all of
/// them together err in at most 5 %. Rounded: the last bits of a quantile differ between machines.
double t_at_look(std::size_t n, std::size_t look) {
  constexpr double kLevel = 0.05;
  constexpr double kSteps = 1 << 20U;
  const auto k = static_cast<double>(look);
  const boost::math::students_t distribution(static_cast<double>(n) - 1);
  const double t =
      boost::math::quantile(boost::math::complement(distribution, kLevel / (k * (k + 1)) / 2));
  return std::floor(t * kSteps + 0.5) / kSteps;
}

/// Mean and half of its interval; nothing if there are too few values.
struct Estimate {
  double mean = 0;
  double half = 0;
};

std::optional<Estimate> estimate(const std::vector<double>& values, std::size_t look) {
  if (values.size() < kFewestReplications) return std::nullopt;
  Estimate out{mean(values), 0};
  const double error = standard_error(values);
  if (error > 1e-12 * std::abs(out.mean)) out.half = t_at_look(values.size(), look) * error;
  return out;
}

/// The values of a metric by policy, of the replications that define it for all of these policies.
std::vector<std::vector<double>> values_of(const SweepPointRuns& point, std::size_t count,
                                           Metric metric) {
  std::vector<std::size_t> asked;
  for (std::size_t q = 0; q < point.granted_truth.size(); ++q) {
    if (!point.granted_truth[q]) asked.push_back(q);
  }
  std::vector<std::vector<double>> values(asked.size());
  const auto m = static_cast<std::size_t>(metric);
  for (std::size_t r = 0; r < count; ++r) {
    const std::vector<SweepRun>& runs = point.runs[r];
    const auto lacks = [&](std::size_t q) { return q >= runs.size() || std::isnan(runs[q][m]); };
    if (std::ranges::any_of(asked, lacks)) continue;
    for (std::size_t a = 0; a < asked.size(); ++a) values[a].push_back(runs[asked[a]][m]);
  }
  return values;
}

bool means_are_narrow(const std::vector<std::vector<double>>& values, double width,
                      std::size_t look) {
  return std::ranges::all_of(values, [&](const std::vector<double>& of_policy) {
    const auto e = estimate(of_policy, look);
    return e && e->half <= width * std::abs(e->mean);
  });
}

/// The policy with the best mean; a policy that never shares a GPU cannot be best in ISD.
std::optional<std::size_t> best_policy(const std::vector<std::vector<double>>& values,
                                       Metric metric) {
  const bool is_isd = metric == Metric::kIsd || metric == Metric::kIsdMax;
  std::optional<std::size_t> best;
  for (std::size_t a = 0; a < values.size(); ++a) {
    const auto never = [](double x) { return x == 0; };
    if (values[a].empty() || (is_isd && std::ranges::all_of(values[a], never))) continue;
    if (!best) {
      best = a;
      continue;
    }
    const double here = mean(values[a]);
    const double there = mean(values[*best]);
    if (judged(metric).smaller_is_better ? here < there : here > there) best = a;
  }
  return best;
}

bool best_is_told_apart(const std::vector<std::vector<double>>& values, Metric metric, double width,
                        std::size_t look) {
  const auto best = best_policy(values, metric);
  if (!best) return std::ranges::all_of(values, [](const auto& v) { return !v.empty(); });
  const double allowed = width * std::abs(mean(values[*best]));
  for (std::size_t a = 0; a < values.size(); ++a) {
    if (a == *best) continue;
    std::vector<double> difference = values[a];
    for (std::size_t r = 0; r < difference.size(); ++r) difference[r] -= values[*best][r];
    const auto e = estimate(difference, look);
    if (!e || (std::abs(e->mean) <= e->half && e->half > allowed)) return false;
  }
  return true;
}

}  // namespace

std::string SweepUntil::text() const {
  std::vector<std::string_view> names;
  for (const Metric metric : metrics) names.push_back(metric_info(metric).name);
  return fmt::format("{{width: {}, of: {}, metrics: [{}]}}", width,
                     kOfNames[static_cast<std::size_t>(of)], fmt::join(names, ", "));
}

SweepUntil read_sweep_until(const YamlNode& section) {
  SweepUntil until;
  constexpr std::array<std::string_view, 3> kKnown{"width", "of", "metrics"};
  if (section.kind != YamlNode::Kind::kMap) {
    refuse_until(section, "", "keys such as {width: 0.05, of: policies, metrics: [isd]}");
  }
  for (const YamlNode& child : section.children) {
    if (std::ranges::find(kKnown, child.key) != kKnown.end()) continue;
    throw InputError(child.key_place(),
                     fmt::format("unknown key '{}' in 'sweep.until': {}", printable(child.key),
                                 did_you_mean(child.key, kKnown)));
  }
  const YamlNode* width = section.find("width");
  if (width == nullptr) refuse_until(section, "", "a key 'width' such as width: 0.05");
  const auto number = width->kind == YamlNode::Kind::kScalar && !width->quoted
                          ? parse_number(width->text)
                          : std::optional<double>();
  if (!number || !(*number > 0) || *number > 1) {
    refuse_until(*width, ".width", "a share of the mean above 0, at most 1, such as 0.05");
  }
  until.width = *number;
  if (const YamlNode* of = section.find("of")) {
    const auto at = std::ranges::find(kOfNames, of->text);
    if (of->kind != YamlNode::Kind::kScalar || at == kOfNames.end()) {
      refuse_until(*of, ".of", fmt::format("one of {}", fmt::join(kOfNames, ", ")));
    }
    until.of = static_cast<SweepUntil::Of>(at - kOfNames.begin());
  }
  if (const YamlNode* metrics = section.find("metrics")) {
    if (metrics->kind != YamlNode::Kind::kSequence || metrics->children.empty()) {
      refuse_until(*metrics, ".metrics", "a list of metrics such as [isd, ps]");
    }
    std::vector<std::string> names;
    for (const YamlNode& name : metrics->children) names.push_back(name.text);
    until.metrics = metrics_named(fmt::format("{}", fmt::join(names, ",")), metrics->place(),
                                  MetricsAllowed::kJudged);
  }
  return until;
}

std::size_t next_look(std::size_t count, std::size_t most) {
  // Half as many again each time: few looks, and at most a third of the replications too many.
  const std::size_t next = count == 0 ? kFewestReplications : (3 * count + 1) / 2;
  return std::min(next, most);
}

bool is_enough(const SweepUntil& until, const SweepPointRuns& point, std::size_t count,
               std::size_t look) {
  return std::ranges::all_of(until.metrics, [&](Metric metric) {
    const std::vector<std::vector<double>> values = values_of(point, count, metric);
    return until.of == SweepUntil::Of::kPolicies
               ? means_are_narrow(values, until.width, look)
               : best_is_told_apart(values, metric, until.width, look);
  });
}

SweepNeed need_of(const SweepUntil& until, std::size_t most, SweepPointRuns& point,
                  const std::function<std::optional<std::vector<SweepRun>>(std::size_t)>& runs_of) {
  std::size_t count = 0;
  for (std::size_t look = 1;; ++look) {
    count = next_look(count, most);
    for (std::size_t r = point.runs.size(); r < count; ++r) {
      auto runs = runs_of(r);
      if (!runs) return {count, false};
      point.runs.push_back(std::move(*runs));
    }
    if (count == most || is_enough(until, point, count, look)) return {count, true};
  }
}

}  // namespace corun::inline runner
