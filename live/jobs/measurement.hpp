#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "live/gpu/nvml.hpp"
#include "live/jobs/co_runners.hpp"
#include "live/jobs/job_run.hpp"
#include "live/jobs/live_config.hpp"
#include "live/jobs/solo_csv.hpp"

/// Solo times, profiles and co-runs of workloads, measured on one GPU.
namespace corun::live {

/// One set of co-runners that ran or was refused.
struct MeasuredCoRunners {
  CoRunners members;
  int number = 0;                    ///< position in the session, from 1
  std::string refused;               ///< the reason; empty: it ran
  std::vector<RunOutcome> outcomes;  ///< by member; empty when refused

  bool finished() const;
  /// Whether all finished or the set does not fit into the GPU's memory, which is a result, not a failure.
  bool well() const;
};

/// Costs of a set of co-runners: means over its runs.
struct MeasuredTogether {
  CoRunners members;
  int runs = 0;
  std::vector<double> isd;  ///< by member; a fraction
  double ps = 0;            ///< a fraction
};

/// The slowdown of a job beside a service: the mean over the runs that finished.
struct SlowedJob {
  int runs = 0;
  double mean = 0;  ///< ISD; a fraction
};

/// A service alone, or beside the same others: all its runs whose load was sent whole, together.
struct MeasuredService {
  std::size_t workload = 0;  ///< position in LiveConfig::workloads
  CoRunners beside;
  int runs = 0;
  LatencyRecord latency;  ///< of the requests that were answered
  std::uint64_t requests = 0;
  std::uint64_t within = 0;  ///< answered within the goal
  Duration span{0};          ///< in which the requests were due
  Duration latest{0};        ///< the longest time from a request's due time to its sending
  std::vector<SlowedJob>
      isd;          ///< by `beside`; without runs for services, and for jobs without solo time
  Profile profile;  ///< of the GPU, greatest over runs

  double per_s(std::uint64_t of) const {
    return span > Duration::zero() ? static_cast<double>(of) / to_seconds(span) : 0;
  }
  double share_within() const {
    return requests == 0 ? 1 : static_cast<double>(within) / static_cast<double>(requests);
  }
};

/// A session of measurements on one GPU.
struct MeasuredSession {
  std::string gpu_name;
  std::string sharing;
  std::vector<MeasuredCoRunners> sets;
  bool interrupted = false;

  /// One row per job with at least one finished run alone; services have no solo time.
  std::vector<SoloRow> solo(const LiveConfig& config) const;
  /// One entry per set of two or more jobs that have solo times and all finished in at least one run.
  std::vector<MeasuredTogether> together(const LiveConfig& config) const;
  /// By service: alone, then beside others.
  std::vector<MeasuredService> services(const LiveConfig& config) const;
};

struct MeasureOptions {
  int warm_up = 1;  ///< runs of the first set before the measurements, not counted
  /// Called after each set; `total` is the number of sets.
  std::function<void(const MeasuredCoRunners&, std::size_t total)> on_measured;
};

/// Runs the sets of `order` one after another on nvml.gpus()[gpu] until `stop` becomes true. Refuses a set
/// whose members' known demands (from runs alone earlier in the session) exceed the GPU's free memory less
/// live.memory_reserve_mib. Throws DeviceError if the GPU does not answer or the MPS daemon ends.
MeasuredSession measure(const Nvml& nvml, std::size_t gpu, const LiveConfig& config,
                        std::span<const CoRunners> order, const std::atomic<bool>& stop,
                        const MeasureOptions& options);

}  // namespace corun::live
