#include "models/solo/job_type_table.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun::inline models {

Alone JobTypeTable::alone(JobId job, const GpuType& type,
                          std::optional<std::uint64_t> noise_seed) const {
  const Entry& entry = at(job, type);
  Alone alone{entry.speed, entry.source};
  if (!noise_seed || (entry.type_sigma == 0 && entry.job_sigma == 0)) return alone;
  constexpr std::uint64_t kTypes = 64;                         // more than a cluster may have
  constexpr std::uint64_t kUnknown = std::uint64_t{1} << 40U;  // jobs behind all workloads
  const WorkloadKey workload = workloads_[index(job)];
  const std::uint64_t of_job = workload == kUnknownWorkload
                                   ? kUnknown + index(job)
                                   : static_cast<std::uint64_t>(workload) + 1;
  Rng shared(*noise_seed, Stream::kSoloSpeeds, type.id);
  Rng own(*noise_seed, Stream::kSoloSpeeds, of_job * kTypes + type.id);
  alone.speed *= math::exp(entry.type_sigma * shared.normal() + entry.job_sigma * own.normal());
  return alone;
}

bool JobTypeTable::draws() const {
  return std::ranges::any_of(entries_,
                             [](const Entry& e) { return e.type_sigma + e.job_sigma > 0; });
}

std::optional<double> JobTypeTable::memory_mib(JobId job, const GpuType& type) const {
  const double mib = at(job, type).memory_mib;
  return std::isnan(mib) ? std::nullopt : std::optional(mib);
}

}  // namespace corun::inline models
