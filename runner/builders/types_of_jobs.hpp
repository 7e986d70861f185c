#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/solo/job_type_table.hpp"
#include "models/solo/solo_predictor.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/config/config.hpp"
#include "sim/gpu_spec.hpp"
#include "traces/trace.hpp"

/// The speed and the memory of the jobs of a trace on the GPU types of the cluster (DESIGN 4.16).
namespace corun::inline runner {

class TypesOfJobs {
 public:
  /// InputError at workload.gpu_type for an unknown type.
  TypesOfJobs(const Config& config, const Cluster& cluster);

  /// The GPU type of the trace's solo times: workload.gpu_type, else the trace's; else, with
  /// cluster.machines, that of the source's measurements or the first machine; empty if none of them tells.
  std::string reference(const Trace& trace) const;

  /// A job's speed on a type is that of its measurement there (TraceJob::on_types), of its run time if it names this type alone, else of the first predictor that knows both
  /// types, else 1, assumed; its memory demand is that of its measurement, else the demand of its profile and the
  /// difference of the types' contexts. All speeds are then multiplied by GpuType::speed. Null if no job
  /// differs between the types by any of these.
  std::shared_ptr<const JobTypeTable> table(const Trace& trace) const;

 private:
  /// A type of the cluster. A figure of a type that is not known is 0.
  struct Type {
    GpuType gpu;
    GpuSpec spec;
  };

  GpuSpec spec_of(const std::string& name) const;
  /// The place of a type in Trace::measured_types; nothing if it is not there.
  std::optional<std::size_t> measured_on(const Trace& trace, const std::string& type) const;

  const bool elastic_;         ///< types are part of the speed by allocation
  const std::string told_;     ///< workload.gpu_type; may be empty
  const std::string assumed_;  ///< where the trace does not tell; may be empty
  const GpuTypes known_;
  std::vector<Type> types_;  ///< by GpuType::id
  std::vector<std::unique_ptr<const SoloPredictor>> predictors_;
};

/// GPUs of the reference type that do as much work in a given time as those of the cluster, if each type had
/// all jobs of the trace. `on_types` may be null.
double reference_gpus(const ClusterSpec& cluster, const Trace& trace, const JobsOnTypes* on_types);

}  // namespace corun::inline runner
