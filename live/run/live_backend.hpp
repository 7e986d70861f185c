#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "live/gpu/gpu_box.hpp"
#include "live/jobs/job_run.hpp"
#include "live/run/live_ledger.hpp"
#include "sim/engine/arrivals.hpp"
#include "sim/engine/cluster_backend.hpp"
#include "sim/job.hpp"

/// The live cluster: the GPUs of this machine, commands as jobs, and the real clock.
///
/// Differences from the simulated cluster:
///   - Time passes while a policy decides; now() is the time at which the latest advance() returned. J_c is
///     from just before execve to the exit of the command, as measured by its guard.
///   - A job that joins others or starts together with others is deferred while its known memory demand
///     exceeds the GPU's free memory: it is assigned to its GPU, but not started, until enough other jobs
///     have ended. Its episode is then not a co-run that started together. On an empty GPU a job always
///     starts.
///   - A job that runs out of device memory (job_run.hpp) is reported as such, and the control loop retries
///     it. A job that ends badly for another reason or at its time-out is given up.
///   - Nothing is profiled, probed or preempted, because a command's work cannot be resumed. The caller must
///     refuse configurations and policies that ask for it.
namespace corun::live {

struct LiveOptions {
  Duration sample_every = std::chrono::milliseconds{200};
  double memory_reserve_mib = 256;
  std::string output;  ///< directory: OUTPUT/JOB.ATTEMPT.out and .err
  const std::atomic<bool>* stop = nullptr;
};

class LiveBackend final : public ClusterBackend {
 public:
  /// `commands`: one per job of the workload. `on_types` may be null. GPU g of the cluster is nvml.gpus()[gpus[g]]. Every job needs
  /// one GPU. The arguments taken by reference must outlive it.
  LiveBackend(const ClusterSpec& spec, const corun::Workload& workload, const JobsOnTypes* on_types,
              std::vector<JobCommand> commands, Session& session, const Nvml& nvml,
              std::vector<std::size_t> gpus, Sharing& sharing, LiveOptions options);
  /// Stops all running jobs.
  ~LiveBackend() override;

  Time now() const override { return now_; }
  const ClusterState& state() const override { return ledger_.state(); }
  /// Throws LiveStopped when the stop flag is set, after it has stopped all jobs; DeviceError if a GPU does
  /// not answer or the MPS daemon has ended.
  bool advance(std::vector<Report>& out) override;
  /// Throws as JobRun().
  void start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) override;
  /// Throws PreemptionAsked.
  Preempted preempt(JobId job) override;
  void wake_at(Time at) override { wakes_.insert(at); }
  std::span<const EpisodeRecord> finished_episodes() const override {
    return ledger_.finished_episodes();
  }
  const JobRecord& record(JobId job) const override { return ledger_.record(job); }

  /// All ended runs, in order of their end.
  const std::vector<LiveRun>& runs() const { return runs_; }
  /// Ends all jobs and waits for them.
  void stop_all();
  /// As SimulatedBackend::take_record(); jobs that did not finish are marked failed.
  RunRecord take_record();

 private:
  struct Active {
    JobId job{};
    std::unique_ptr<JobRun> run;  ///< empty while it waits for memory
    GpuId gpu{};
    std::uint32_t group = 0;
    bool deferred = false;
  };
  Time clock() const { return monotonic_now() - origin_; }
  void check_stop();
  void take_ended(std::vector<Report>& out);
  void take_due(Time now, std::vector<Report>& out);
  void wait_for_next();
  bool may_start(const Active& newcomer) const;
  void launch(std::span<Active* const> starting);
  void let_in(GpuId gpu);
  LiveRun run_of(const Active& active) const;
  void sample();

  std::vector<JobCommand> commands_;
  Session& session_;
  const Nvml& nvml_;
  std::vector<std::size_t> gpus_;
  Sharing& sharing_;
  LiveOptions options_;
  Time origin_;
  Time now_{0};
  Time next_sample_{0};
  Arrivals arrivals_;
  std::set<Time> wakes_;
  std::vector<Active> active_;  ///< in order of start
  LiveLedger ledger_;
  std::vector<LiveRun> runs_;
};

/// Thrown when a policy preempts a job.
struct PreemptionAsked {};

/// Thrown by advance() when the stop flag is set.
struct LiveStopped {};

}  // namespace corun::live
