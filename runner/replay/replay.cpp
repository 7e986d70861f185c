#include "runner/replay/replay.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "runner/experiment/engine_options.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

namespace {

/// Shares of co-run time, and of time on GPUs, over all of these runs.
Coverage coverage_of(const std::vector<const UsageRecord*>& usage) {
  std::array<double, 4> sum{};
  std::array<double, kSoloSources> solo{};
  for (const UsageRecord* u : usage) {
    for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += u->corun_s[p];
    for (std::size_t s = 0; s < solo.size(); ++s) solo[s] += u->solo_s[s];
  }
  Coverage coverage;
  if (const double all = std::accumulate(solo.begin(), solo.end(), 0.0); all > 0) {
    for (double& share : solo) share /= all;
    coverage.solo = solo;
  }
  const auto of = [&](Provenance p) { return sum[static_cast<std::size_t>(p)]; };
  const double total =
      of(Provenance::kMeasured) + of(Provenance::kModelled) + of(Provenance::kExtrapolated);
  if (total <= 0) return coverage;
  coverage.measured = of(Provenance::kMeasured) / total;
  coverage.modelled = of(Provenance::kModelled) / total;
  coverage.extrapolated = of(Provenance::kExtrapolated) / total;
  return coverage;
}

/// Adds the completion times of a replication to those of all, and drops its own.
void move_jct(Replication& replication, std::vector<LogHistogram>& all) {
  const LogHistogram none = PolicyRun().jct;
  all.resize(replication.runs.size(), none);
  for (std::size_t p = 0; p < all.size(); ++p) {
    all[p].add(replication.runs[p].jct);
    replication.runs[p].jct = none;
  }
}

}  // namespace

ReplayResult replay(const Experiment& experiment, const ReplayOptions& options) {
  const auto total = static_cast<std::size_t>(experiment.config().replications);
  std::mutex mutex;
  std::map<std::size_t, Replication> finished;
  const RunObservation observation{.stop = options.stop,
                                   .keep_records = options.keep_records,
                                   .time_decisions = options.time_decisions,
                                   .count_jct = options.count_jct};
  ReplayResult result;
  parallel_for(total, options.threads, [&](std::size_t number) {
    if (options.stop != nullptr && options.stop->load()) return;
    try {
      RunObservation observed = observation;
      if (options.keep_records) observed.details = detail_limits(experiment.config(), number);
      Replication replication = experiment.run(number, observed);
      const std::lock_guard lock(mutex);
      if (options.count_jct) move_jct(replication, result.jct_by_policy);
      const auto at = finished.emplace(number, std::move(replication)).first;
      if (options.on_finished) options.on_finished(at->second, finished.size(), total);
    } catch (const Interrupted&) {
      return;
    }
  });

  result.interrupted = finished.size() < total;
  const std::size_t policies = experiment.policies().size();
  std::vector<std::vector<MetricValues>> values(policies);
  std::vector<std::vector<const UsageRecord*>> usage(policies);
  std::vector<const UsageRecord*> all_usage;
  for (auto& [number, replication] : finished) {
    result.replications.push_back(std::move(replication));
  }
  for (const Replication& replication : result.replications) {
    for (std::size_t p = 0; p < policies; ++p) {
      values[p].push_back(replication.runs[p].metrics);
      usage[p].push_back(&replication.runs[p].record.usage);
      all_usage.push_back(&replication.runs[p].record.usage);
    }
  }
  result.comparison = compare(values);
  result.coverage = coverage_of(all_usage);
  for (const auto& u : usage) result.coverage_by_policy.push_back(coverage_of(u));
  return result;
}

}  // namespace corun::inline runner
