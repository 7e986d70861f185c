#include "support/statistics/metric_choice.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline support {

namespace {

constexpr Judgement kLess{true, true, false};
constexpr Judgement kLessPercent{true, true, true};
constexpr Judgement kMore{true, false, false};
constexpr Judgement kMorePercent{true, false, true};
constexpr Judgement kNeitherPercent{false, false, true};

/// Metrics that are not named here have neither a better direction nor %.
constexpr std::array<Judgement, kMetricCount> judgements() {
  std::array<Judgement, kMetricCount> all{};
  const auto set = [&](Metric metric, Judgement j) { all[static_cast<std::size_t>(metric)] = j; };
  for (const Metric m : {Metric::kIsd, Metric::kIsdMax, Metric::kIsdReference}) {
    set(m, kLessPercent);
  }
  for (const Metric m : {Metric::kPs, Metric::kPsTotal, Metric::kGpuUtil}) set(m, kMorePercent);
  for (const Metric m :
       {Metric::kJctS, Metric::kJctP50S, Metric::kJctP95S, Metric::kJctP99S, Metric::kQueueS,
        Metric::kQueueP50S, Metric::kQueueP95S, Metric::kQueueP99S, Metric::kStretch,
        Metric::kStretchP50, Metric::kStretchP95, Metric::kStretchP99, Metric::kMakespanS,
        Metric::kOom, Metric::kFailed, Metric::kRho, Metric::kRhoMax}) {
    set(m, kLess);
  }
  set(Metric::kRhoAbove1, kLessPercent);
  set(Metric::kJain, kMore);
  for (const Metric m : {Metric::kMemUtil, Metric::kOccupancy}) set(m, kNeitherPercent);
  return all;
}

constexpr std::array<Judgement, kMetricCount> kJudgements = judgements();

Metric metric_named(const std::string& name, const std::string& flag, MetricsAllowed allowed) {
  std::vector<std::string_view> known;
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const auto metric = static_cast<Metric>(m);
    if (allowed == MetricsAllowed::kJudged && !judged(metric).has_better) continue;
    known.push_back(metric_info(metric).name);
    if (known.back() == name) return metric;
  }
  throw InputError(
      flag, "no metric '" + printable(name) + "'" +
                (allowed == MetricsAllowed::kJudged ? " that has a better and a worse: " : ": ") +
                did_you_mean(name, known));
}

}  // namespace

const Judgement& judged(Metric metric) { return kJudgements[static_cast<std::size_t>(metric)]; }

std::vector<Metric> metrics_named(const std::string& list, const std::string& flag,
                                  MetricsAllowed allowed) {
  std::vector<Metric> metrics;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    const Metric metric = metric_named(name, flag, allowed);
    if (std::ranges::find(metrics, metric) != metrics.end()) {
      throw InputError(flag, "found '" + name + "' twice; name it once");
    }
    metrics.push_back(metric);
  }
  if (metrics.empty()) throw InputError(flag, "found no name, expected metrics such as isd,ps");
  return metrics;
}

}  // namespace corun::inline support
