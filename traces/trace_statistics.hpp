#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "traces/gpu_catalog.hpp"
#include "traces/trace.hpp"

/// Summary statistics of a trace of jobs.
namespace corun::inline traces {

struct GangStatistics {
  int gpus = 1;
  std::size_t jobs = 0;
  double gpu_s = 0;  ///< run time x GPUs [GPU s], shares of a GPU as such
};

struct VirtualClusterStatistics {
  std::string name;
  std::size_t jobs = 0;
  double gpu_s = 0;  ///< as GangStatistics::gpu_s
};

struct TraceStatistics {
  std::size_t jobs = 0;
  std::vector<GangStatistics> gangs;                       ///< by ascending size
  std::vector<VirtualClusterStatistics> virtual_clusters;  ///< those with jobs, by their index
  std::size_t sharing = 0;                                 ///< jobs that ask for a part of one GPU
  double gpus = 0;   ///< sum of the GPUs that the jobs ask for
  double gpu_s = 0;  ///< their work: run time x GPUs [GPU s]
  double first_submit_s = 0;
  double last_submit_s = 0;
  std::optional<double> arrivals_per_hour;  ///< (jobs - 1) / (last - first); none if all at once
  /// Standard deviation over mean of the times between arrivals: 1 for a Poisson process.
  std::optional<double> arrival_variation;
  double mean_work_s = 0;
  std::vector<double> work_quantiles_s;  ///< at kWorkQuantiles
  std::size_t with_profile = 0;          ///< jobs with at least one known percentage of the profile
  std::size_t with_memory = 0;           ///< jobs whose memory demand is known
  std::size_t with_model = 0;            ///< jobs that name GPU models
  std::size_t elastic = 0;               ///< jobs that may run on several numbers of GPUs
  int elastic_least = 0;                 ///< least number of GPUs of any of them
  int elastic_most = 0;                  ///< greatest
  std::size_t spread = 0;                ///< jobs whose measured run was on several nodes
  int most_run_nodes = 0;                ///< of any of them
  std::size_t changing = 0;              ///< jobs of several phases
  std::size_t most_phases = 0;           ///< of a job; 0: no job has phases
  std::size_t memory_grows = 0;  ///< jobs of which a phase needs more memory than the one before
};

inline constexpr double kWorkQuantiles[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};

TraceStatistics trace_statistics(const Trace& trace);

/// Work of the jobs over the capacity of `gpus` GPUs between first and last arrival; nothing if all arrive
/// at once or gpus <= 0.
std::optional<double> offered_load(const TraceStatistics& statistics, double gpus);

/// The jobs that may run on a GPU type: those that name it or no type, unless they do not run there.
struct GpuTypeStatistics {
  std::string gpu_type;
  std::size_t jobs = 0;
  std::size_t only_here = 0;  ///< of them, those that may run on no other of the types
  std::size_t measured = 0;   ///< of them, those whose run time on the type is known
  double gpu_s = 0;  ///< their work if all ran here, at the trace's run time where not measured
};

/// By type of `cluster`, and if that is empty of the trace: Trace::reference_type, measured_types and gpu_model_names.
std::vector<GpuTypeStatistics> gpu_type_statistics(const Trace& trace,
                                                   std::span<const std::string> cluster);

/// The GPUs that the jobs of one type ask for over time, each from its submission for its run time.
struct PeakDemand {
  double gpus = 0;     ///< most at once
  double above_s = 0;  ///< time during which they ask for more than the type has [s]
};

/// By type of gpu_type_statistics(trace, cluster): of the jobs that may run on no other of them. `gpus` are those
/// of each type.
std::vector<PeakDemand> peak_demands(const Trace& trace, std::span<const std::string> cluster,
                                     std::span<const double> gpus);

/// Run time x GPUs of a job [GPU s], a share of a GPU as such.
double gpu_seconds(const JobSpec& job);

}  // namespace corun::inline traces
