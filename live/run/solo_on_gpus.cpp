#include "live/run/solo_on_gpus.hpp"

#include <algorithm>

namespace corun::live {

SoloOnGpus::SoloOnGpus(const ClusterSpec& spec, MemberSpan<JobSpec> jobs,
                       const JobsOnTypes* on_types)
    : jobs_(jobs), on_types_(on_types) {
  for (const NodeSpec& node : spec.nodes) {
    types_.insert(types_.end(), static_cast<std::size_t>(node.gpus), &node.gpu);
  }
}

Duration SoloOnGpus::solo(JobId job, GpuId gpu) const {
  const Duration work = jobs_[index(job)].work;
  if (on_types_ == nullptr) return work;
  const double speed = on_types_->alone(job, *types_[index(gpu)], std::nullopt).speed;
  return std::max(from_nanoseconds(static_cast<double>(work.count()) / speed), Duration{1});
}

std::optional<SoloSource> SoloOnGpus::source(JobId job, GpuId gpu) const {
  if (on_types_ == nullptr) return std::nullopt;
  return on_types_->alone(job, *types_[index(gpu)], std::nullopt).source;
}

std::optional<double> SoloOnGpus::memory_mib(JobId job, GpuId gpu) const {
  return on_types_ == nullptr ? jobs_[index(job)].profile.mem_used_mib
                              : on_types_->memory_mib(job, *types_[index(gpu)]);
}

}  // namespace corun::live
