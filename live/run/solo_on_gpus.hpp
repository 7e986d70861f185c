#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster_spec.hpp"
#include "sim/ids.hpp"
#include "sim/job.hpp"
#include "sim/jobs_on_types.hpp"
#include "sim/time.hpp"

/// The jobs of a live queue alone on each of its GPUs.
namespace corun::live {

class SoloOnGpus {
 public:
  /// `on_types`: the world's, or null: all GPUs are of the type of the jobs' work. All must outlive it.
  SoloOnGpus(const ClusterSpec& spec, MemberSpan<JobSpec> jobs, const JobsOnTypes* on_types);

  std::size_t gpus() const { return types_.size(); }
  const std::string& gpu_type(GpuId gpu) const { return types_[index(gpu)]->name; }

  /// J_a: the run time of the whole job; where it is not measured the expected one.
  Duration solo(JobId job, GpuId gpu) const;
  /// The source of solo(); nothing without `on_types`.
  std::optional<SoloSource> source(JobId job, GpuId gpu) const;
  /// Memory demand [MiB], if known.
  std::optional<double> memory_mib(JobId job, GpuId gpu) const;

 private:
  MemberSpan<JobSpec> jobs_;
  const JobsOnTypes* on_types_;
  std::vector<const GpuType*> types_;  ///< by GPU
};

}  // namespace corun::live
