#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/live/gpu/nvml.hpp"
#include "experiments/live/jobs/company.hpp"
#include "experiments/live/jobs/job_run.hpp"
#include "experiments/live/jobs/live_config.hpp"
#include "experiments/live/jobs/solo_csv.hpp"

/// Solo times, profiles and co-runs of workloads, measured on one GPU.
namespace corun::live {

/// One company that ran, or was not let run.
struct MeasuredCompany {
  Company members;
  int number = 0;  ///< position in the session, from 1
  std::string refused;
  std::vector<RunOutcome> outcomes;  ///< by member; empty when refused

  bool finished() const;
  /// All finished, or the GPU's memory does not do for all of them: an answer too, and not a failure.
  bool well() const;
};

/// What a company costs its members: means over its runs.
struct MeasuredTogether {
  Company members;
  int runs = 0;
  std::vector<double> isd;  ///< by member; a fraction
  double ps = 0;            ///< a fraction
};

/// A session of measurements on one GPU.
struct MeasuredSession {
  std::string gpu_name;
  std::string sharing;
  std::vector<MeasuredCompany> companies;
  bool interrupted = false;

  /// Of workloads with at least one finished run alone.
  std::vector<SoloRow> solo(const LiveConfig& config) const;
  /// Of companies of two or more whose members all finished, once at least, and have a solo time.
  std::vector<MeasuredTogether> together(const LiveConfig& config) const;
};

struct MeasureOptions {
  int warm_up = 1;  ///< runs of the first company whose figures are thrown away
  /// Called after each company; `total` is how many there are.
  std::function<void(const MeasuredCompany&, std::size_t total)> on_measured;
};

/// Runs the companies one after the other on this GPU, until `stop` becomes true. A company whose members are
/// known (from runs alone earlier in the session) to need more memory than the GPU has free is refused, and
/// noted. DeviceError where the GPU or the MPS daemon goes away.
MeasuredSession measure(const Nvml& nvml, std::size_t gpu, const LiveConfig& config,
                        std::span<const Company> order, const std::atomic<bool>& stop,
                        const MeasureOptions& options);

}  // namespace corun::live
