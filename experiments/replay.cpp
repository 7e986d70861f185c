#include "experiments/replay.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
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

/// Which engine runs which policy.
std::vector<EngineUse> choose_engines(const Experiment& experiment, EngineChoice choice,
                                      std::optional<BatchReplay>& batch) {
  std::vector<EngineUse> engines(experiment.policies().size());
  const auto replications = static_cast<std::size_t>(experiment.config().replications);
  if (choice == EngineChoice::kEvents) return engines;
  if (choice == EngineChoice::kAuto && replications < kBatchFrom) return engines;
  batch.emplace(experiment);
  for (std::size_t p = 0; p < engines.size(); ++p) {
    engines[p].reason = batch->reasons()[p];
    engines[p].batch = engines[p].reason.empty();
    if (!engines[p].batch && choice == EngineChoice::kBatch) {
      throw InputError("--engine", "batch cannot run policy '" + experiment.policies()[p].label +
                                       "': " + engines[p].reason + "; use auto");
    }
  }
  if (!batch->applies()) batch.reset();
  return engines;
}

/// As much as the GPU can do; the rest is done as without it.
void run_on_gpu(const BatchReplay& batch, const ReplayOptions& options, std::size_t replications,
                std::vector<EngineUse>& engines,
                std::vector<std::vector<std::optional<PolicyRun>>>& ready) {
  BatchGpuUse use = options.gpu;
  use.options.threads = std::max(1U, options.threads);
  try {
    for (std::size_t p = 0; p < engines.size(); ++p) {
      if (!engines[p].batch) continue;
      ready[p].resize(replications);
      batch.run_on_gpu(use, p, options.stop, ready[p]);
    }
  } catch (const Interrupted&) {  // seen again by whoever runs the rest
  } catch (const DeviceError& e) {
    if (use.failed) use.failed(e);
  }
  for (std::size_t p = 0; p < engines.size(); ++p) {
    engines[p].on_gpu = static_cast<std::size_t>(
        std::ranges::count_if(ready[p], [](const auto& run) { return run.has_value(); }));
  }
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
  std::optional<BatchReplay> batch;
  std::vector<EngineUse> engines = choose_engines(experiment, options.engine, batch);
  const RunObservation observation{.stop = options.stop,
                                   .keep_records = options.keep_records,
                                   .time_decisions = options.time_decisions};

  // By policy and replication: what a GPU has done beforehand.
  std::vector<std::vector<std::optional<PolicyRun>>> ready(engines.size());
  if (batch && options.gpu.gpu != nullptr && !options.keep_records) {
    run_on_gpu(*batch, options, total, engines, ready);
  }

  const auto run = [&](std::size_t number, BatchReplayer& replayer) {
    Replication replication;
    replication.number = number;
    for (std::size_t p = 0; p < engines.size(); ++p) {
      std::optional<PolicyRun> done;
      if (!ready[p].empty()) done = std::move(ready[p][number]);
      if (!done && engines[p].batch) done = replayer.run(number, p, options.keep_records);
      if (!done) {
        if (!replication.trace) replication.trace = experiment.make_trace(number);
        done = experiment.run_policy(*replication.trace, number, experiment.policies()[p],
                                     observation);
        const std::lock_guard lock(mutex);
        engines[p].by_events += engines[p].batch ? 1 : 0;
      }
      replication.runs.push_back(std::move(*done));
    }
    if (!replication.trace) replication.trace = replayer.jobs();
    experiment.forget(number);
    return replication;
  };
  const auto work = [&] {
    std::optional<BatchReplayer> replayer;
    if (batch) replayer.emplace(*batch);
    for (;;) {
      if (failed || (options.stop != nullptr && options.stop->load())) return;
      const std::size_t number = next.fetch_add(1);
      if (number >= total) return;
      try {
        Replication replication =
            replayer ? run(number, *replayer) : experiment.run(number, observation);
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
  result.engines = std::move(engines);
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
