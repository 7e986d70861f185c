#include "experiments/replay.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "sim/error.hpp"

namespace corun {

namespace {

/// Over all of these runs.
Coverage coverage_of(const std::vector<const UsageRecord*>& usage) {
  std::array<double, 4> sum{};
  for (const UsageRecord* u : usage) {
    for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += u->corun_s[p];
  }
  const auto of = [&](Provenance p) { return sum[static_cast<std::size_t>(p)]; };
  const double total =
      of(Provenance::kMeasured) + of(Provenance::kModelled) + of(Provenance::kExtrapolated);
  if (total <= 0) return {};
  return {of(Provenance::kMeasured) / total, of(Provenance::kModelled) / total,
          of(Provenance::kExtrapolated) / total};
}

}  // namespace

DecisionTimes decision_times(const ReplayResult& result, std::size_t policy) {
  DecisionTimes all;
  for (const Replication& r : result.replications) all.add(r.runs[policy].pass_times);
  return all;
}

PlanLosses plan_losses(const ReplayResult& result, std::size_t policy) {
  PlanLosses all;
  for (const Replication& r : result.replications) all.add(r.runs[policy].losses);
  return all;
}

ReplayResult replay(const Experiment& experiment, const ReplayOptions& options) {
  const auto total = static_cast<std::size_t>(experiment.config().replications);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::map<std::size_t, Replication> finished;
  std::map<std::size_t, std::exception_ptr> errors;
  const RunObservation observation{.stop = options.stop,
                                   .keep_records = options.keep_records,
                                   .time_decisions = options.time_decisions};

  const auto work = [&] {
    for (;;) {
      if (failed || (options.stop != nullptr && options.stop->load())) return;
      const std::size_t number = next.fetch_add(1);
      if (number >= total) return;
      try {
        Replication replication = experiment.run(number, observation);
        const std::lock_guard lock(mutex);
        const auto at = finished.emplace(number, std::move(replication)).first;
        if (options.on_finished) options.on_finished(at->second, finished.size(), total);
      } catch (const Interrupted&) {
        return;
      } catch (...) {
        const std::lock_guard lock(mutex);
        errors.emplace(number, std::current_exception());
        failed = true;
        return;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const auto count = std::min<std::size_t>(std::max(1U, options.threads), total);
    for (std::size_t t = 1; t < count; ++t) threads.emplace_back(work);
    work();
  }
  if (!errors.empty()) std::rethrow_exception(errors.begin()->second);

  ReplayResult result;
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
  result.comparison = compare(values, experiment.config().seed, options.threads);
  result.coverage = coverage_of(all_usage);
  for (const auto& u : usage) result.coverage_by_policy.push_back(coverage_of(u));
  return result;
}

}  // namespace corun
