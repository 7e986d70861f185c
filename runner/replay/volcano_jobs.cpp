#include "runner/replay/volcano_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "results/export/volcano_manifest.hpp"
#include "runner/experiment/job_views.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

namespace {

/// What schedtune adds to predicted memory, a fraction; 0 for policies without a margin.
double memory_margin(const Experiment& experiment, const Trace& trace) {
  constexpr std::string_view kMargin = "memory_margin_pct";
  const PolicyInstance& policy = experiment.policies().front();
  const auto& specs = policy.entry->parameters;
  if (std::ranges::find(specs, kMargin, &ParameterSpec::name) == specs.end()) return 0;
  const int clusters = experiment.initial_knowledge().clusters();
  return parameters_of(policy, experiment.config(), trace, clusters).number(kMargin) / 100;
}

}  // namespace

void check_volcano(const Experiment& experiment, const ContainerTable& containers) {
  if (experiment.policies().size() != 1) {
    throw InputError("--volcano",
                     fmt::format("found {} policies, expected the one whose placements "
                                 "are handed over, e.g. --policies schedtune",
                                 experiment.policies().size()));
  }
  const std::shared_ptr<const Trace> trace = experiment.make_trace(0);
  for (std::size_t j = 0; j < trace->jobs.size(); ++j) {
    container_of(containers, trace->jobs[j].name);
    if (trace->jobs[j].spec.gpus == 1) continue;
    throw InputError("--volcano",
                     fmt::format("job '{}' wants {} GPUs, and volcano.sh/gpu-memory is "
                                 "a part of one; leave such jobs out",
                                 printable(trace->jobs[j].name), trace->jobs[j].spec.gpus));
  }
}

std::string volcano_jobs(const Experiment& experiment, const ContainerTable& containers) {
  const std::shared_ptr<const Trace> trace = experiment.make_trace(0);
  EventLog log;
  RunObservation observation;
  observation.log = &log;
  const PolicyInstance& policy = experiment.policies().front();
  const PolicyRun run = experiment.run_policy(*trace, 0, policy, observation);
  if (!run.failure.empty()) throw InputError(policy.place, run.failure);

  std::map<JobId, std::size_t> last;  // by job: its last start in the log
  for (std::size_t e = 0; e < log.size(); ++e) {
    if (log[e].kind == LogKind::kStart) last[log[e].job] = e;
  }
  const std::unique_ptr<World> world = experiment.make_world(*trace);
  const ClusterState state(experiment.cluster());
  const JobSource source = job_source({experiment.config().estimates, experiment.seed_of(0)},
                                      *trace, world->on_types(), experiment.cluster().types());
  const double margin = memory_margin(experiment, *trace);
  std::vector<PlacedJob> jobs;
  for (std::size_t e = 0; e < log.size(); ++e) {
    const LogEntry& entry = log[e];
    if (entry.kind != LogKind::kStart || last.at(entry.job) != e) continue;
    const GpuId gpu = entry.gpus.front();
    const GpuType& type = state.gpu_type(gpu);
    const JobView view = source.job_view(entry.job);
    const std::optional<double> mib =
        view.on_types.empty() ? view.profile.mem_used_mib : view.on_types[type.id].memory_mib;
    const double asked =
        mib ? std::min(std::ceil(*mib * (1 + margin)), type.memory_mib) : type.memory_mib;
    jobs.push_back({trace->jobs[index(entry.job)].name, index(state.gpu(gpu).node),
                    std::max<std::int64_t>(1, static_cast<std::int64_t>(asked))});
  }
  return volcano_manifest(jobs, containers);
}

}  // namespace corun::inline runner
