#include "runner/replay/variation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/parallel_for.hpp"
#include "sim/base/summary.hpp"

namespace corun::inline runner {

namespace {

/// By policy.
using Metrics = std::vector<MetricValues>;

constexpr std::array<std::string_view, kDrawnKinds> kNames{
    "the jobs",
    "the order of arrivals",
    "costs of co-runs that were not measured",
    "speeds on GPU types that were not measured",
    "which pairs are known beforehand",
    "errors of estimates",
    "random choices of policies",
    "speeds of jobs, starts and rounds"};

Metrics metrics_of(const Replication& replication) {
  Metrics all;
  for (const PolicyRun& run : replication.runs) all.push_back(run.metrics);
  return all;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool differ(const Metrics& a, const Metrics& b) {
  for (std::size_t p = 0; p < a.size(); ++p) {
    if (!std::ranges::equal(a[p], b[p], same)) return true;
  }
  return false;
}

/// Variance of a metric of a policy over these runs; exactly 0 where all are equal, and where it is not defined in all.
double variance_of(const std::vector<Metrics>& runs, std::size_t policy, Metric metric) {
  const auto n = static_cast<double>(runs.size());
  const double first = at(runs.front()[policy], metric);
  double sum = 0;
  double squares = 0;
  for (const Metrics& run : runs) {
    const double off = at(run[policy], metric) - first;
    sum += off;
    squares += off * off;
  }
  const double variance = (squares - sum * sum / n) / (n - 1);
  return std::isfinite(variance) ? variance : 0;
}

}  // namespace

Variations variations_of(const Experiment& experiment, const ReplayResult& result, Metric metric,
                         const ReplayOptions& options, const VariationProgress& on_run) {
  Variations found;
  if (result.replications.size() < 2) return found;
  const Metrics first = metrics_of(result.replications.front());
  const bool varies = std::ranges::any_of(
      result.replications, [&](const Replication& r) { return differ(first, metrics_of(r)); });
  if (!varies) return found;
  const std::vector<Drawn> kinds = experiment.drawn();
  if (result.replications.size() < kFewestForVariations || result.interrupted) {
    // Whether the policies draw is not known; where something else is drawn, that is named.
    for (const Drawn drawn : kinds) {
      if (drawn == Drawn::kChoices && kinds.size() > 1) continue;
      found.kinds.push_back({drawn, std::nullopt});
    }
    return found;
  }
  const bool shares_known = result.replications.size() >= kFewestForShares;
  const std::size_t runs_of_kind =
      shares_known ? std::min(kMostRunsOfKind, result.replications.size() / 10) : 1;
  // runs[k]: of the first replication, then of those that differ from it in this kind of draw alone.
  std::vector<std::vector<Metrics>> runs(
      kinds.size(),
      std::vector<Metrics>(runs_of_kind + 1, metrics_of(result.replications.front())));
  const std::size_t base = result.replications.front().number;
  const RunObservation observation{.stop = options.stop, .keep_records = false};
  std::atomic<bool> stopped = false;
  std::mutex mutex;  // of done and on_run
  std::size_t done = 0;
  const std::size_t runs_in_all = kinds.size() * runs_of_kind;
  parallel_for(runs_in_all, options.threads, [&](std::size_t i) {
    const std::size_t number = i % runs_of_kind + 1;
    const std::size_t kind = i / runs_of_kind;
    try {
      const Draws draws = Draws(base).with(kinds[kind], base + number);
      runs[kind][number] = metrics_of(experiment.run(draws, observation));
      const std::lock_guard lock(mutex);
      if (on_run) on_run(++done, runs_in_all);
    } catch (const Interrupted&) {
      stopped = true;
    }
  });
  if (stopped) return found;
  found.measured = true;
  std::vector<double> shares(kinds.size(), 0);
  double policies = 0;
  for (std::size_t p = 0; p < first.size() && shares_known; ++p) {
    std::vector<double> variances;
    double sum = 0;
    for (const std::vector<Metrics>& of_kind : runs) {
      variances.push_back(variance_of(of_kind, p, metric));
      sum += variances.back();
    }
    if (sum <= 0) continue;
    ++policies;
    for (std::size_t k = 0; k < kinds.size(); ++k) shares[k] += variances[k] / sum;
  }
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const bool acts =
        std::ranges::any_of(runs[k], [&](const Metrics& m) { return differ(first, m); });
    if (!acts) continue;
    found.kinds.push_back(
        {kinds[k], policies > 0 ? std::optional(shares[k] / policies) : std::nullopt});
  }
  std::ranges::stable_sort(found.kinds, std::ranges::greater(), &Variation::share);
  return found;
}

std::string text_of(const Variations& variations, const std::string& metric) {
  if (variations.kinds.empty()) return "";
  std::vector<std::string> parts;
  const bool several = variations.kinds.size() > 1;
  for (const Variation& v : variations.kinds) {
    std::string part(kNames[static_cast<std::size_t>(v.drawn)]);
    if (several && v.share) {
      part += parts.empty()
                  ? fmt::format(" ({:.0f} % of the variance of {})", 100 * *v.share, metric)
                  : fmt::format(" ({:.0f} %)", 100 * *v.share);
    }
    parts.push_back(std::move(part));
  }
  if (!variations.measured) {
    return fmt::format("what may vary between replications: {}", fmt::join(parts, "; "));
  }
  return fmt::format("what varies between replications: {}", fmt::join(parts, "; "));
}

}  // namespace corun::inline runner
