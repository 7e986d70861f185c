#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "live/gpu/job_sampler.hpp"
#include "live/gpu/nvml.hpp"
#include "live/services/live_service.hpp"
#include "live/services/load_client.hpp"
#include "live/session/session.hpp"
#include "processes/supervisor.hpp"

/// One run of one command on one GPU, observed from start to end.
namespace corun::live {

enum class RunEnd : std::uint8_t {
  kFinished,
  kOutOfMemory,  ///< out of device memory
  kFailed,       ///< any other bad end
  kTimeout,
  kStopped,  ///< on request
};
std::string_view name_of(RunEnd end);

struct RunOutcome {
  RunEnd end = RunEnd::kFinished;
  std::string why;  ///< in words
  Ending ending;
  Profile profile;  ///< of the GPU during the run: the job's if it ran alone
  std::size_t samples = 0;
  bool attributed = false;  ///< the driver reported the job's memory by process
  Span temperature_c;
  Span sm_clock_mhz;
  std::vector<double> attributes;  ///< JobSampler::attributes()
  /// Throughput after warm-up, if the job reports it (workload_run.hpp: told_rate()).
  std::optional<double> steady_steps_per_s;
  std::optional<SentLoad> load;  ///< of a service

  Duration length() const { return ending.exit - ending.start; }  ///< J_c, or J_a if it ran alone
};

/// A command to run; the GPU is chosen separately.
struct JobCommand {
  std::string name;
  std::string place;  ///< its place in the user's input, for errors
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< "NAME=value", complete but for variables of JobRun
  std::string directory = ".";
  Limits limits;
  std::optional<LiveService> service;  ///< the command is a server, which corun ends after its load
};

/// One run of a job. That of a service ends well when its load was sent whole and every request was answered; it then gets
/// SIGTERM.
class JobRun {
 public:
  /// Prepares the command; start() starts it. `gpu` is a position in nvml.gpus(). stdout goes to
  /// `OUTPUT.out`, stderr to `OUTPUT.err`. `extra` variables are added to the environment
  /// (Sharing::environment() of gpu_box.hpp). A service gets its port as CORUN_PORT, and in the place of "{port}" in its
  /// command; `entity` (sim/rng.hpp) of its draws is its number among those that run together. Throws InputError at job.place
  /// if the program, the directory or an output file cannot be used, DeviceError if the GPU or the system fails.
  JobRun(Session& session, const Nvml& nvml, std::size_t gpu, const JobCommand& job,
         const std::string& output, std::span<const std::string> extra = {},
         std::uint64_t entity = 0);

  void start();
  void stop();
  /// Ends a run that has not started.
  void give_up(const std::string& why);
  /// Readable when poll() may have news; that of the load generator is -1 unless it is a service.
  std::array<int, 2> descriptors() const;
  /// Reads the guard's messages without waiting; true once the run is over and outcome() is valid.
  bool poll();
  bool over() const { return outcome_.has_value(); }
  /// Samples the GPU and the processes; does nothing before the start and after the end. Throws DeviceError if the GPU
  /// does not answer.
  void sample();
  std::size_t gpu() const { return gpu_; }
  const JobSampler& sampler() const { return *sampler_; }
  const SupervisedProcess& process() const { return *process_; }
  const RunOutcome& outcome() const { return *outcome_; }

  // Of a service. Its load begins when it is asked to, once it is ready.
  bool serves() const { return client_ != nullptr; }
  bool ready() const { return client_->phase() == LoadClient::Phase::kReady; }
  /// `once`: the load as it is; else over and over, until end_load().
  void begin_load(bool once) { client_->begin(once); }
  void end_load() { client_->end(); }

 private:
  RunOutcome judge();
  void judge_service(RunOutcome& outcome);

  const Nvml& nvml_;
  std::size_t gpu_;
  std::string output_;
  std::optional<LiveService> service_;
  std::unique_ptr<LoadClient> client_;  ///< of a service
  bool asked_to_stop_ = false;          ///< by stop(), and not because the load was over
  std::unique_ptr<SupervisedProcess> process_;
  std::unique_ptr<JobSampler> sampler_;
  std::optional<RunOutcome> outcome_;
};

/// Waits until the GPU reports no utilisation, for at most `most`, or until `stop`. The driver's utilisation
/// is of its last sampling period: work of an earlier job would be counted as the next job's. Throws
/// DeviceError if the GPU does not answer.
void wait_until_idle(const Nvml& nvml, std::size_t gpu, const std::atomic<bool>& stop,
                     Duration most = std::chrono::seconds{5});

/// Waits until one of these runs has news or until `until` (monotonic_now()), for at most one second.
void wait_for_news(std::span<const std::unique_ptr<JobRun>> runs, Time until);

/// The last bytes of a file, at most `most`; empty if it cannot be read.
std::string tail_of(const std::string& path, std::size_t most);

/// Whether a job that ended badly ran out of device memory: the end of its output has such a message of CUDA,
/// PyTorch, TensorFlow or JAX, or at least 98.5 % of the GPU's memory was in use.
bool looks_out_of_memory(std::string_view output, double device_used_mib, double device_total_mib);

/// Starts all runs (not empty) together, samples them every `sample_every` and returns their outcomes, in
/// their order, when all are over. When `stop` becomes true, it stops them. `after_sample` is called after
/// every round of samples with that of the first run.
///
/// Services start first; when all are ready, their loads begin and the jobs start. Beside jobs, a service's load is
/// repeated until the last job has ended; without jobs each is sent once. If a service fails, all others are stopped. Throws DeviceError if a GPU does not answer.
std::vector<RunOutcome> run_together(std::span<const std::unique_ptr<JobRun>> runs,
                                     Duration sample_every, const std::atomic<bool>& stop,
                                     const std::function<void(const Sample&)>& after_sample = {});

}  // namespace corun::live
