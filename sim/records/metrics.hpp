#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/records/fair_share.hpp"
#include "sim/records/run_record.hpp"

/// The metrics of a run: each formula once (DESIGN section 3).
namespace corun::inline sim {

enum class Metric : std::uint8_t {
  kIsd,      ///< mean individual slowdown over finished jobs, JRS eq. 1, fraction
  kPs,       ///< mean packing saving over episodes in which a job finished, JRS eq. 2, fraction
  kPsTotal,  ///< 1 - busy GPU time / solo time of all work of finished jobs, fraction
  kIsdMax,   ///< worst ISD
  kJctS,     ///< mean finish - submit [s]
  kJctP50S,
  kJctP95S,
  kJctP99S,
  kQueueS,  ///< mean first start - submit [s]
  kQueueP50S,
  kQueueP95S,
  kQueueP99S,
  kStretch,  ///< mean JCT / solo time of all work on the reference GPU
  kStretchP50,
  kStretchP95,
  kStretchP99,
  kJain,          ///< Jain's index on stretch
  kMakespanS,     ///< last finish or failure - first submit [s]
  kLastEndS,      ///< last finish or failure, absolute [s]
  kGpuUtil,       ///< time average over GPUs of min(1, sum of utilisation scaled by speed)
  kMemUtil,       ///< memory in use, over the GPU time whose residents' demand is known
  kOccupancy,     ///< time average of "at least one resident"
  kEntropyIsd,    ///< differential entropy of the jobs' ISD (fractions) [nats]
  kEntropyPs,     ///< differential entropy of the episodes' PS (fractions) [nats]
  kOom,           ///< runs that ended out of memory
  kFailed,        ///< jobs given up after the last retry
  kProfilingS,    ///< mean time spent being profiled and probed [s]
  kJobs,          ///< jobs that finished
  kIsdReference,  ///< mean ISD against the solo time on the reference GPU type, fraction
  kRho,           ///< mean finish-time fairness: JCT / JCT on a fair share (fair_share.hpp)
  kRhoMax,        ///< of the job that fares worst
  kRhoAbove1,     ///< share of jobs that a fair share would have finished sooner, fraction
  kCount
};

inline constexpr std::size_t kMetricCount = static_cast<std::size_t>(Metric::kCount);

struct MetricInfo {
  std::string_view name;  ///< key in JSON, CSV and HDF5
  std::string_view unit;  ///< "1" for fractions and counts
  std::string_view description;
};

const MetricInfo& metric_info(Metric metric);

/// NaN if a metric is not defined for a run (for example: no memory demand is known).
using MetricValues = std::array<double, kMetricCount>;

inline double& at(MetricValues& values, Metric m) { return values[static_cast<std::size_t>(m)]; }
inline double at(const MetricValues& values, Metric m) {
  return values[static_cast<std::size_t>(m)];
}

/// Means over the finished jobs of a run that may change their number of GPUs or that tell how many samples they train on;
/// NaN without any. Rates are those of JobRecord.
struct ElasticMeans {
  std::size_t jobs = 0;
  double throughput = 0;  ///< [samples/s]
  double goodput = 0;     ///< [samples/s]
  double efficiency = 0;  ///< goodput / throughput of a job
  double restarts = 0;    ///< of a job
};

/// Jobs submitted from `from` to `to`, both included.
struct SubmitWindow {
  Time from{0};
  Time to = kNever;
  bool holds(Time submit) const { return from <= submit && submit <= to; }
};

/// With a window, metrics of jobs (ISD, completion times, queueing, stretch, OOMs, counts) cover
/// the jobs submitted in it, and `ps` the episodes that began in it. The fair shares of rho are those among all
/// jobs, those that failed included. Time averages, `ps_total`,
/// makespan and last end always cover the whole run. A window leaves out the times in which an open
/// system fills and empties.
MetricValues compute_metrics(const RunRecord& run, SubmitWindow window = {});

/// compute_metrics() from jobs and episodes one by one, jobs in any order: the same bits. Keeps 64
/// bytes for each job and 8 for each episode.
class MetricsCollector final : public RunSink {
 public:
  explicit MetricsCollector(std::size_t jobs, SubmitWindow window = {});
  void job(JobId id, const JobRecord& record) override;
  void episodes(const EpisodeRecord& episode, std::span<const GpuId> gpus) override;
  /// Completion times by JobId [s]; NaN: not finished, or not submitted in the window.
  std::span<const double> jct() const { return jct_; }
  /// Of jobs submitted in the window.
  ElasticMeans elastic() const;
  /// `run` gives the usage and the number of GPUs. Call it once, after all jobs and episodes.
  MetricValues finish(const RunRecord& run) &&;

 private:
  SubmitWindow window_;
  /// By job; NaN: not finished or not in window.
  std::vector<double> isd_, isd_reference_, jct_, queue_, stretch_;
  std::vector<FairShareJob> asked_;  ///< by job
  struct Elastic {
    double throughput = 0;
    double goodput = 0;
    int restarts = 0;
    bool counts = false;
  };
  std::vector<Elastic> elastic_;  ///< by job; empty: none is elastic
  std::vector<double> ps_;        ///< in order of the episodes' end
  GpuTime solo_sum_;              ///< of all work, kept probes and profiling included
  GpuTime profiling_;
  std::size_t measured_ = 0, finished_ = 0;
  double ooms_ = 0, failed_ = 0;
  Time first_submit_ = kNever, last_departure_{0};
};

/// Differential entropy in nats by Vasicek's m-spacing estimator (J. R. Stat. Soc. B 38, 1976) with
/// m = round(sqrt(n)): mean of log(n / (2 m) * (x[i+m] - x[i-m])), indices clamped to the sample.
/// NaN for n < 4, and if a spacing is 0: a sample with so many equal values has no density.
double differential_entropy(std::span<const double> sample);

}  // namespace corun::inline sim
