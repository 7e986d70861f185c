#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/trace.hpp"

/// What a researcher looks at first in a trace of jobs.
namespace corun {

struct GangStatistics {
  int gpus = 1;
  std::size_t jobs = 0;
  double gpu_s = 0;  ///< run time x GPUs [s], shares counted as such
};

struct VirtualClusterStatistics {
  std::string name;
  std::size_t jobs = 0;
  double gpu_s = 0;
};

struct TraceStatistics {
  std::size_t jobs = 0;
  std::vector<GangStatistics> gangs;                       ///< by ascending size
  std::vector<VirtualClusterStatistics> virtual_clusters;  ///< those that have jobs, by their index
  std::size_t sharing = 0;                                 ///< jobs that ask for a part of one GPU
  double gpus = 0;                                         ///< sum of what the jobs ask for
  double gpu_s = 0;                                        ///< their work: run time x GPUs [s]
  double first_submit_s = 0;
  double last_submit_s = 0;
  std::optional<double> arrivals_per_hour;  ///< (jobs - 1) / (last - first); none for a batch
  /// Standard deviation over mean of the times between arrivals: 1 for a Poisson process.
  std::optional<double> arrival_variation;
  double mean_work_s = 0;
  std::vector<double> work_quantiles_s;  ///< at kWorkQuantiles
  std::size_t with_profile = 0;  ///< jobs of which at least one figure of the profile is known
  std::size_t with_memory = 0;   ///< jobs whose true demand of device memory is known
  std::size_t with_model = 0;    ///< jobs that name GPU models
};

inline constexpr double kWorkQuantiles[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};

TraceStatistics trace_statistics(const Trace& trace);

/// Work that arrives over work that `gpus` GPUs can do in the time in which it arrives; nothing for
/// a batch.
std::optional<double> offered_load(const TraceStatistics& statistics, double gpus);

/// Run time x GPUs of a job [s], a share of a GPU as such.
double gpu_seconds(const JobSpec& job);

}  // namespace corun
