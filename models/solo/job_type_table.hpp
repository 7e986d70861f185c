#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "sim/jobs_on_types.hpp"
#include "sim/measurement.hpp"

/// Jobs on GPU types as a table.
namespace corun::inline models {

class JobTypeTable final : public JobsOnTypes {
 public:
  struct Entry {
    double speed = 1;                                              ///< median, as Alone::speed
    double memory_mib = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not known
    float type_sigma = 0;  ///< as SoloPrediction; both 0: no draw
    float job_sigma = 0;
    SoloSource source = SoloSource::kReference;
  };

  /// `entries`: jobs x types, row-major, by JobId and GpuType::id. `workloads`: by JobId; jobs of one known
  /// workload share their draw.
  JobTypeTable(std::size_t types, std::vector<Entry> entries, std::vector<WorkloadKey> workloads)
      : types_(types), entries_(std::move(entries)), workloads_(std::move(workloads)) {}

  Alone alone(JobId job, const GpuType& type,
              std::optional<std::uint64_t> noise_seed) const override;
  std::optional<double> memory_mib(JobId job, const GpuType& type) const override;

  /// Whether a speed is a draw.
  bool draws() const;
  const Entry& at(JobId job, const GpuType& type) const {
    return entries_[index(job) * types_ + type.id];
  }

 private:
  std::size_t types_;
  std::vector<Entry> entries_;
  std::vector<WorkloadKey> workloads_;
};

}  // namespace corun::inline models
