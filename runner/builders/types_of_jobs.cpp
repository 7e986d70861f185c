#include "runner/builders/types_of_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "models/solo/roofline.hpp"
#include "runner/builders/elastic_builder.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/catalog.hpp"
#include "traces/trace_statistics.hpp"

namespace corun::inline runner {

namespace {

/// The reference type of traces that do not tell it; empty: none.
std::string assumed_reference(const Config& config, const Cluster& cluster) {
  if (!config.cluster.machines) return "";
  const TraceEntry* source = find_trace(config.workload.source);
  const std::string_view measured_on = source != nullptr ? source->measured_on : "";
  return measured_on.empty() ? cluster.spec.nodes.front().gpu.name : std::string(measured_on);
}

/// Solo time on the reference type before it was rounded to nanoseconds, where the trace tells: jobs of one kind then
/// have one speed.
double exact_seconds(const JobSpec& job) {
  const bool counted = job.steps > 0 && job.steps_per_s > 0;
  return counted ? static_cast<double>(job.steps) / job.steps_per_s : to_seconds(job.work);
}

}  // namespace

TypesOfJobs::TypesOfJobs(const Config& config, const Cluster& cluster)
    : elastic_(has_elastic_programs(config)),
      told_(config.workload.gpu_type.value_or("")),
      assumed_(assumed_reference(config, cluster)),
      known_(cluster.types) {
  types_.resize(cluster.spec.models().size());
  for (const NodeSpec& node : cluster.spec.nodes) {
    types_[node.gpu.id] = {node.gpu, spec_of(node.gpu.name)};
  }
  predictors_.push_back(std::make_unique<Roofline>());
  const bool own = std::ranges::any_of(types_, [&](const Type& t) { return t.gpu.name == told_; });
  if (!told_.empty() && !own && known_.find(told_) == nullptr) {
    throw InputError(config.place("workload.gpu_type"),
                     "unknown GPU type '" + printable(told_) + "': " + known_.advice(told_));
  }
}

GpuSpec TypesOfJobs::spec_of(const std::string& name) const {
  const GpuSpec* known = known_.find(name);
  return known != nullptr ? *known : GpuSpec{};
}

std::optional<std::size_t> TypesOfJobs::measured_on(const Trace& trace,
                                                    const std::string& type) const {
  const auto at = std::ranges::find_if(
      trace.measured_types, [&](const MeasuredType& m) { return known_.same(m.name, type); });
  if (at == trace.measured_types.end()) return std::nullopt;
  return static_cast<std::size_t>(at - trace.measured_types.begin());
}

std::string TypesOfJobs::reference(const Trace& trace) const {
  if (!told_.empty()) return told_;
  return trace.reference_type.empty() ? assumed_ : trace.reference_type;
}

std::shared_ptr<const JobTypeTable> TypesOfJobs::table(const Trace& trace) const {
  if (elastic_) return nullptr;
  const std::string reference = this->reference(trace);
  const GpuSpec from = spec_of(reference);
  const auto is_reference = [&](const Type& type) {
    return reference.empty() || known_.same(type.gpu.name, reference);
  };
  if (std::ranges::all_of(types_, [&](const Type& type) {
        return is_reference(type) && !measured_on(trace, type.gpu.name);
      })) {
    return nullptr;
  }
  const std::size_t jobs = trace.jobs.size();
  std::vector<JobTypeTable::Entry> entries(jobs * types_.size());
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const Type& type = types_[t];
    const std::optional<std::size_t> place = measured_on(trace, type.gpu.name);
    const std::optional<double> context = context_mib(type.spec);
    const std::optional<double> reference_context = context_mib(from);
    const double more_mib =
        context && reference_context && !is_reference(type) ? *context - *reference_context : 0;
    for (std::size_t j = 0; j < jobs; ++j) {
      const JobSpec& job = trace.jobs[j].spec;
      JobTypeTable::Entry& entry = entries[j * types_.size() + t];
      const JobOnType measured = place ? on_type(trace.jobs[j], *place) : JobOnType{};
      double solo_s = measured.solo_s;
      const bool ran_here = job.gpu_models == std::uint32_t{1} << type.gpu.id;
      if (ran_here && std::isnan(solo_s)) solo_s = to_seconds(job.work);
      if (solo_s > 0 && std::isfinite(solo_s)) {
        entry.speed = exact_seconds(job) / solo_s;
        entry.source =
            is_reference(type) && entry.speed == 1 ? SoloSource::kReference : SoloSource::kMeasured;
      } else if (!is_reference(type)) {
        entry.source = SoloSource::kAssumed;
        for (const auto& predictor : predictors_) {
          const auto found = predictor->predict(static_cast<JobId>(j), from, type.spec);
          if (!found) continue;
          entry.speed = found->speed;
          entry.type_sigma = static_cast<float>(found->type_sigma);
          entry.job_sigma = static_cast<float>(found->job_sigma);
          entry.source = predictor->source();
          break;
        }
      }
      entry.speed *= type.gpu.speed;
      if (!std::isnan(measured.memory_mib)) {
        entry.memory_mib = measured.memory_mib;
      } else if (job.profile.mem_used_mib) {
        entry.memory_mib = std::max(0.0, *job.profile.mem_used_mib + more_mib);
      }
    }
  }
  return std::make_shared<const JobTypeTable>(types_.size(), std::move(entries), keys_of(trace));
}

double reference_gpus(const ClusterSpec& cluster, const Trace& trace, const JobsOnTypes* on_types) {
  std::vector<double> speeds;
  for (const GpuType& type : cluster.types()) {
    double work_s = 0;
    double time_s = 0;
    for (std::size_t j = 0; j < trace.jobs.size() && on_types != nullptr; ++j) {
      const double job_s = gpu_seconds(trace.jobs[j].spec);
      work_s += job_s;
      time_s += job_s / on_types->alone(static_cast<JobId>(j), type, std::nullopt).speed;
    }
    speeds.push_back(time_s > 0 ? work_s / time_s : type.speed);
  }
  double gpus = 0;
  for (const NodeSpec& node : cluster.nodes) gpus += node.gpus * speeds[node.gpu.id];
  return gpus;
}

}  // namespace corun::inline runner
