#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <sys/types.h>

#include "live/gpu/nvml.hpp"
#include "live/gpu/profile_attributes.hpp"
#include "live/session/host_stats.hpp"
#include "sim/profile.hpp"
#include "sim/time.hpp"

/// The job profiler (JRS: JP). It observes a tree of processes and their GPU from outside and does not look
/// at the job's computation.
namespace corun::live {

/// Least and greatest observed value.
struct Span {
  std::optional<double> min;
  std::optional<double> max;

  void take(const std::optional<double>& value) {
    if (!value) return;
    if (!min || *value < *min) min = value;
    if (!max || *value > *max) max = value;
  }
  std::optional<double> range() const { return min ? std::optional(*max - *min) : std::nullopt; }
};

/// One observation of a job and its GPU.
struct Sample {
  Time at{0};
  GpuReading gpu;
  std::optional<double> job_memory_mib;  ///< device memory of the job's processes
  double cpu_pct = 0;                    ///< of all cores, since the last sample
  double host_memory_pct = 0;
  double resident_mib = 0;  ///< main memory of the job's processes
  std::int64_t threads = 0;
};

/// Observes one job on one GPU. Utilisation, temperature, power and clock are the whole GPU's: they are the
/// job's only if it runs alone.
class JobSampler {
 public:
  /// To be constructed before the job starts: memory that the GPU holds now is not the job's. `gpu` is a
  /// position in nvml.gpus(), `root` the process below which the job runs. Throws DeviceError if the GPU does
  /// not answer.
  JobSampler(const Nvml& nvml, std::size_t gpu, pid_t root);

  /// Throws DeviceError if the GPU does not answer.
  const Sample& sample();
  std::size_t samples() const { return samples_; }
  const Sample& latest() const { return sample_; }
  const Span& temperature_c() const { return temperature_; }
  const Span& sm_clock_mhz() const { return sm_clock_; }
  /// Greatest device memory of the job. If the driver does not report it by process (in containers): the
  /// increase of the GPU's memory since construction, which is the job's if it ran alone.
  std::optional<double> memory_mib() const;
  /// Whether memory_mib() is by process.
  bool attributed() const { return job_memory_.max.has_value() && !partly_untold_; }
  double device_memory_max_mib() const { return device_memory_.max.value_or(baseline_mib_); }

  /// The papers' three features, as maxima over the samples, and the memory demand. Empty without samples.
  Profile profile() const;
  /// Attributes 7 to 66, in the order of kProfileAttributes; NaN: not reported.
  std::vector<double> attributes();

 private:
  /// Sum over the job's processes [MiB]; nullopt once the driver has not reported one of them.
  std::optional<double> job_memory_now();

  const Nvml& nvml_;
  std::size_t gpu_;
  pid_t root_;
  double baseline_mib_;
  double memory_total_mib_;
  HostReader host_;
  HostStats last_;
  bool partly_untold_ = false;
  Sample sample_;
  std::size_t samples_ = 0;
  Span cpu_, gpu_util_, host_memory_, temperature_, mem_time_, power_, sm_clock_;
  Span device_memory_, job_memory_, resident_, threads_;
};

}  // namespace corun::live
