#include "runner/config/config_checks.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "runner/config/start_costs.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {
namespace {

constexpr std::int64_t kGpusMax = 1'000'000;  // far beyond any experiment

/// Checks the keys that `control.mode: rounds` requires and those that it excludes.
void check_rounds(const Config& config) {
  constexpr double kShortestRound = 1e-3;  // shorter rounds are so many that their number overflows
  if (!config.control.round_s || *config.control.round_s < kShortestRound) {
    throw InputError(
        config.place(config.control.round_s ? "control.round_s" : "control.mode"),
        fmt::format("control.mode: rounds, found control.round_s: {}, expected their length, 0.001 "
                    "or more; Gavel's is 360",
                    config.control.round_s ? fmt::format("{}", *config.control.round_s) : "null"));
  }
  const auto refuse = [&](const std::string& key, std::string_view found,
                          std::string_view expected) {
    throw InputError(
        config.place(key),
        fmt::format("{}: found {}, expected {} with control.mode: rounds", key, found, expected));
  };
  if (config.control.start != StartMode::kGroup) {
    refuse("control.start", name_of(config.control.start), name_of(StartMode::kGroup));
  }
  if (config.control.tick_s) {
    refuse("control.tick_s", fmt::format("{}", *config.control.tick_s), "null");
  }
  if (config.profiling.mode != ProfilingMode::kNone &&
      config.profiling.mode != ProfilingMode::kPredictor) {
    refuse("profiling.mode", name_of(config.profiling.mode), "none or predictor");
  }
  if (config.probing.probes > 0) {
    refuse("probing.probes", std::to_string(config.probing.probes), "0");
  }
  const PreemptionConfig& costs = config.preemption;
  for (const auto& [key, value] : {std::pair{"preemption.save_s", costs.save_s},
                                   {"preemption.restore_s", costs.restore_s},
                                   {"preemption.lost_work", costs.lost_work},
                                   {"preemption.large_restore_s", costs.large_restore_s}}) {
    if (value != 0) refuse(key, fmt::format("{}", value), "0");
  }
  const WorldConfig& world = config.world;
  const ControlConfig& control = config.control;
  for (const auto& [key, value] : {std::pair{"cluster.start.cost_s", config.cluster.start.cost_s},
                                   {"world.job_sigma", world.job_sigma},
                                   {"world.run_sigma", world.run_sigma},
                                   {"world.stragglers", world.stragglers},
                                   {"control.notice_s", control.notice_s},
                                   {"control.round_per_start_s", control.round_per_start_s},
                                   {"control.round_sigma", control.round_sigma}}) {
    if (value != 0) refuse(key, fmt::format("{}", value), "0");
  }
  if (config.cluster.start.costs) {
    refuse("cluster.start.costs", "'" + printable(*config.cluster.start.costs) + "'", "null");
  }
}

/// Checks that no policy is asked for more jobs on a GPU than the cluster permits.
void check_jobs_per_gpu(const Config& config) {
  const auto& most = config.cluster.max_jobs_per_gpu;
  if (!most) return;
  for (std::size_t p = 0; p < config.policies.size(); ++p) {
    const PolicyConfig& policy = config.policies[p];
    const auto refuse = [&](const std::string& found) {
      throw InputError(config.place(fmt::format("policies[{}]", p)),
                       fmt::format("{} has {}, and cluster.max_jobs_per_gpu is {}; raise that, or "
                                   "set it to null",
                                   policy.name, found, *most));
    };
    if (const auto replicas = policy.settings.find("replicas"); replicas != policy.settings.end()) {
      const auto* const number = std::get_if<std::int64_t>(&replicas->second);
      if (number != nullptr && *number > *most) refuse(fmt::format("replicas: {}", *number));
    }
    if (const auto bin = policy.settings.find("bin"); bin != policy.settings.end()) {
      const auto* const jobs = std::get_if<std::vector<std::string>>(&bin->second);
      if (jobs != nullptr && std::ssize(*jobs) > *most) {
        refuse(fmt::format("a bin of {} jobs", jobs->size()));
      }
    }
  }
}

}  // namespace

void check_together(const Config& config) {
  // Neither factor is above a million, so the product fits.
  const std::int64_t gpus = config.cluster.nodes * config.cluster.gpus_per_node;
  if (gpus > kGpusMax) {
    const bool by_nodes = config.cluster.nodes != ClusterConfig{}.nodes;
    const std::string key = by_nodes ? "cluster.nodes" : "cluster.gpus_per_node";
    throw InputError(
        config.place(key),
        fmt::format("{}: found {} nodes of {} GPUs, expected at most {} GPUs in all", key,
                    config.cluster.nodes, config.cluster.gpus_per_node, kGpusMax));
  }
  if (config.control.mode == ControlMode::kRounds) check_rounds(config);
  check_jobs_per_gpu(config);
  if (config.control.tick_rule == TickRule::kProgress && config.control.notice_s > 0) {
    throw InputError(
        config.place("control.notice_s"),
        fmt::format(
            "control.notice_s: found {}, expected 0 with control.tick_rule: progress, where "
            "a job ends at a tick",
            config.control.notice_s));
  }
  if (config.cluster.start.costs) {
    parse_start_costs(*config.cluster.start.costs, config.place("cluster.start.costs"));
  }
  if (config.control.tick_rule == TickRule::kProgress && !config.control.tick_s) {
    throw InputError(config.place("control.tick_rule"),
                     "control.tick_rule: found progress without ticks, expected control.tick_s "
                     "beside it; set the length of a tick");
  }
  if (config.measure.skip_first + config.measure.skip_last >= 1) {
    const bool by_first = config.measure.skip_first > 0;
    const std::string key = by_first ? "measure.skip_first" : "measure.skip_last";
    throw InputError(config.place(key),
                     fmt::format("{}: skip_first {} and skip_last {} leave no job, expected less "
                                 "than 1 together",
                                 key, config.measure.skip_first, config.measure.skip_last));
  }
  if (config.probing.probes > 0) {
    const auto refuse = [&](const std::string& found) {
      throw InputError(
          config.place("probing.probes"),
          fmt::format("probing.probes: a probe is a pair on an empty GPU that returns to "
                      "the queue, found {}",
                      found));
    };
    if (config.control.start != StartMode::kGroup) {
      refuse(fmt::format("control.start: {}, expected group", name_of(config.control.start)));
    }
    if (config.control.plan != PlanMode::kOnline) {
      refuse(fmt::format("control.plan: {}, expected online", name_of(config.control.plan)));
    }
    if (config.cluster.max_jobs_per_gpu == 1) {
      refuse("cluster.max_jobs_per_gpu: 1, expected 2 or more, or null");
    }
  }
}

}  // namespace corun::inline runner
