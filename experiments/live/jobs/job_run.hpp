#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/live/gpu/job_sampler.hpp"
#include "experiments/live/gpu/nvml.hpp"
#include "experiments/live/processes/session.hpp"
#include "experiments/live/processes/supervisor.hpp"

/// One run of one command on one GPU, watched from start to end.
namespace corun::live {

enum class RunEnd : std::uint8_t {
  kFinished,
  kOutOfMemory,  ///< of the GPU
  kFailed,       ///< any other end that is not well
  kTimeout,
  kStopped,  ///< by us
};
std::string_view name_of(RunEnd end);

struct RunOutcome {
  RunEnd end = RunEnd::kFinished;
  std::string why;  ///< in words
  Ending ending;
  Profile profile;  ///< of the GPU while it ran: the job's own if it ran alone
  std::size_t samples = 0;
  bool attributed = false;  ///< the driver told its memory by process
  Span temperature_c;
  Span sm_clock_mhz;
  std::vector<double> attributes;  ///< JobSampler::attributes()
  /// Throughput without warm-up, where the job tells it (workload_run.hpp: told_rate()).
  std::optional<double> steady_steps_per_s;

  Duration length() const { return ending.exit - ending.start; }  ///< J_c, or J_a if alone
};

/// What to run, apart from where.
struct JobCommand {
  std::string name;
  std::string place;  ///< where the user named it, for errors
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< "NAME=value", complete but for what the GPU needs
  std::string directory = ".";
  Limits limits;
};

class JobRun {
 public:
  /// Ready to start on this GPU. Its output goes to `OUTPUT.out` and `OUTPUT.err`. `extra` variables are
  /// added to the environment (Sharing::environment() of gpu_box.hpp).
  JobRun(Session& session, const Nvml& nvml, std::size_t gpu, const JobCommand& job,
         const std::string& output, std::span<const std::string> extra = {});

  void start() { process_->start(); }
  void stop();
  int descriptor() const { return process_->descriptor(); }
  /// Takes news without waiting; true when it is over, and outcome() holds.
  bool poll();
  bool over() const { return outcome_.has_value(); }
  /// A look at the GPU and at the processes; nothing before it has started or after its end.
  void sample();
  std::size_t gpu() const { return gpu_; }
  const JobSampler& sampler() const { return *sampler_; }
  const SupervisedProcess& process() const { return *process_; }
  const RunOutcome& outcome() const { return *outcome_; }

 private:
  RunOutcome judge() const;

  Session& session_;
  const Nvml& nvml_;
  std::size_t gpu_;
  std::string output_;
  std::unique_ptr<SupervisedProcess> process_;
  std::unique_ptr<JobSampler> sampler_;
  std::optional<RunOutcome> outcome_;
};

/// Waits until the GPU shows no work, `most` at the longest: a driver's utilisation is of its last sampling
/// period, and what ran before would be taken for the next job's.
void wait_until_idle(const Nvml& nvml, std::size_t gpu, const std::atomic<bool>& stop,
                     Duration most = std::chrono::seconds{5});

/// Waits until one of these has news, or until `until`.
void wait_for_news(std::span<const std::unique_ptr<JobRun>> runs, Time until);

/// The last bytes of a file, `most` of them; empty where there is none.
std::string tail_of(const std::string& path, std::size_t most);

/// Whether a job that ended badly did so for want of device memory: it says so in the last of its output
/// (the words of CUDA, PyTorch, TensorFlow and JAX), or the GPU's memory was full.
bool looks_out_of_memory(std::string_view output, double device_used_mib, double device_total_mib);

/// Starts all of these at one instant, samples them, and waits until all are over. When `stop` becomes
/// true, they are stopped. `after_sample`, when given, is called after every round of samples.
std::vector<RunOutcome> run_together(std::span<const std::unique_ptr<JobRun>> runs,
                                     Duration sample_every, const std::atomic<bool>& stop,
                                     const std::function<void(const Sample&)>& after_sample = {});

}  // namespace corun::live
