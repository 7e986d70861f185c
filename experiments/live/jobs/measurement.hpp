#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/live/gpu/nvml.hpp"
#include "experiments/live/jobs/co_runners.hpp"
#include "experiments/live/jobs/job_run.hpp"
#include "experiments/live/jobs/live_config.hpp"
#include "experiments/live/jobs/solo_csv.hpp"

/// Solo times, profiles and co-runs of workloads, measured on one GPU.
namespace corun::live {

/// One set of co-runners that ran, or was not let run.
struct MeasuredCoRunners {
  CoRunners members;
  int number = 0;  ///< position in the session, from 1
  std::string refused;
  std::vector<RunOutcome> outcomes;  ///< by member; empty when refused

  bool finished() const;
  /// All finished, or the GPU's memory does not do for all of them: an answer too, and not a failure.
  bool well() const;
};

/// What a set of co-runners costs its members: means over its runs.
struct MeasuredTogether {
  CoRunners members;
  int runs = 0;
  std::vector<double> isd;  ///< by member; a fraction
  double ps = 0;            ///< a fraction
};

/// A session of measurements on one GPU.
struct MeasuredSession {
  std::string gpu_name;
  std::string sharing;
  std::vector<MeasuredCoRunners> sets;
  bool interrupted = false;

  /// Of workloads with at least one finished run alone.
  std::vector<SoloRow> solo(const LiveConfig& config) const;
  /// Of sets of two or more whose members all finished, once at least, and have a solo time.
  std::vector<MeasuredTogether> together(const LiveConfig& config) const;
};

struct MeasureOptions {
  int warm_up = 1;  ///< runs of the first set of co-runners whose figures are thrown away
  /// Called after each set; `total` is how many there are.
  std::function<void(const MeasuredCoRunners&, std::size_t total)> on_measured;
};

/// Runs the sets one after the other on this GPU, until `stop` becomes true. A set whose members are
/// known (from runs alone earlier in the session) to need more memory than the GPU has free is refused, and
/// noted. DeviceError where the GPU or the MPS daemon goes away.
MeasuredSession measure(const Nvml& nvml, std::size_t gpu, const LiveConfig& config,
                        std::span<const CoRunners> order, const std::atomic<bool>& stop,
                        const MeasureOptions& options);

}  // namespace corun::live
