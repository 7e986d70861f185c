#include "live/run/queue_run.hpp"

#include <algorithm>
#include <memory>

#include "live/gpu/gpu_box.hpp"
#include "live/run/live_backend.hpp"
#include "live/run/live_limits.hpp"
#include "live/run/queue_run_files.hpp"
#include "live/run/recorded_backend.hpp"
#include "live/run/run_files.hpp"
#include "live/session/session.hpp"
#include "runner/experiment/engine_options.hpp"
#include "runner/experiment/job_views.hpp"
#include "sim/engine/control_loop.hpp"
#include "sim/engine/detail_recorder.hpp"
#include "sim/error.hpp"

namespace corun::live {

namespace {

/// Runs the queue of a prediction on real GPUs, one policy after the other.
class QueueRunner {
 public:
  QueueRunner(const LiveConfig& config, const QueuePrediction& prediction, const Nvml& nvml,
              std::span<const std::size_t> gpus, const std::atomic<bool>& stop)
      : config_(config),
        experiment_(*prediction.experiment),
        queue_(prediction.queue),
        world_(experiment_.make_world(*queue_)),
        arrivals_(experiment_.arrivals(*queue_, 0)),
        workload_(workload_of(*queue_, arrivals_)),
        alone_(experiment_.cluster(), workload_.jobs, world_->on_types()),
        nvml_(nvml),
        gpus_(gpus.begin(), gpus.end()),
        stop_(stop),
        control_(control_options(experiment_.config())),
        header_(write_prediction(prediction, config)),
        limits_(detail_limits(experiment_.config(), 0)),
        clusters_(limits_.any() ? experiment_.clusters_of(*queue_) : std::vector<int>()),
        sharing_(session_, nvml, gpus, config.shares_by_mps()) {}

  /// Runs one policy and fills its result, results.back().
  void run(const PolicyInstance& policy, std::vector<PolicyResult>& results) {
    PolicyResult& result = results.back();
    const std::unique_ptr<Policy> decides =
        experiment_.make_policy(*queue_, 0, policy, *world_, &stop_);
    LiveBackend backend(experiment_.cluster(), workload_, world_->on_types(), commands(), session_,
                        nvml_, gpus_, sharing_, options(policy.label));
    ControlLoop loop(backend, {*decides, policy.label, policy.traits}, jobs(), control_);
    LevelSlices slices(workload_.jobs[index(arrivals_[0])].submit,
                       experiment_.cluster().gpu_count());
    DetailRecorder details(experiment_.cluster(), workload_, decides->belief(), limits_, &slices);
    std::size_t passes = 0;
    const auto keep = [&] {
      result.runs = backend.runs();
      result.record = backend.take_record();
      result.measured = compute_metrics(result.record);
      result.record.passes = passes;
      result.details = details.take();
      if (limits_.slices) result.details.slices = slices.records();
      write_policy_result(result, *queue_, config_, alone_);
      write_results_hdf5(config_.output, header_, queue_, clusters_, results);
    };
    try {
      passes = loop.run(&result.log, limits_.any() ? &details : nullptr);
      result.complete = true;
      keep();
    } catch (const LiveStopped&) {
      keep();
    } catch (const PreemptionAsked&) {
      keep();
      refuse_preemption(policy);
    } catch (const DeviceError&) {
      keep();  // finished jobs stay measured although the GPU failed
      throw;
    } catch (const PolicyError& e) {
      if (!stop_) throw InputError(policy.place, e.what());
      backend.stop_all();  // the interrupt came while an external policy decided
      keep();
    }
    // An external policy is not asked twice.
    if (result.complete && !policy.entry->name.starts_with("external")) play_back(policy, result);
  }

 private:
  /// Plays the run back from its record to a new instance of the policy.
  void play_back(const PolicyInstance& policy, PolicyResult& result) const {
    const std::unique_ptr<Policy> again = experiment_.make_policy(*queue_, 0, policy, *world_);
    RecordedBackend recorded(experiment_.cluster(), workload_, world_->on_types(), result.log,
                             result.runs);
    EventLog log;
    try {
      ControlLoop(recorded, {*again, policy.label, policy.traits}, jobs(), control_).run(&log);
      result.repeats = log == result.log;
    } catch (const DecisionDiffers& e) {
      result.repeats = false;
      result.difference = e.what();
    }
  }

  std::vector<JobCommand> commands() const {
    std::vector<JobCommand> commands;
    for (std::size_t j = 0; j < queue_->jobs.size(); ++j) {
      commands.push_back(config_.workloads[config_.queue[j].workload].command);
      commands.back().name = queue_->jobs[j].name;
    }
    return commands;
  }

  LiveOptions options(const std::string& label) const {
    LiveOptions options;
    options.sample_every = from_seconds(config_.sample_s);
    options.memory_reserve_mib = config_.memory_reserve_mib;
    options.output = policy_file(config_.output + "/output", label, "");
    options.stop = &stop_;
    return options;
  }

  JobSource jobs() const {
    return job_source({experiment_.config().estimates, experiment_.seed_of(0)}, *queue_,
                      world_->on_types(), experiment_.cluster().types());
  }

  const LiveConfig& config_;
  const Experiment& experiment_;
  std::shared_ptr<const Trace> queue_;
  std::unique_ptr<World> world_;
  std::vector<JobId> arrivals_;
  corun::Workload workload_;
  SoloOnGpus alone_;
  const Nvml& nvml_;
  std::vector<std::size_t> gpus_;
  const std::atomic<bool>& stop_;
  ControlOptions control_;
  ResultsHeader header_;
  DetailLimits limits_;
  std::vector<int> clusters_;  ///< Replication::clusters
  Session session_;
  Sharing sharing_;
};

}  // namespace

QueueRun run_queue(const LiveConfig& config, const QueuePrediction& prediction, const Nvml& nvml,
                   std::span<const std::size_t> gpus, const std::atomic<bool>& stop,
                   const std::function<void(const PolicyResult&)>& on_policy) {
  QueueRunner runner(config, prediction, nvml, gpus, stop);
  QueueRun run;
  run.gpu_name = prediction.gpu_types;
  run.gpus = gpus.size();
  for (std::size_t p = 0; p < prediction.policies.size() && !run.interrupted; ++p) {
    run.policies.emplace_back().predicted = prediction.policies[p];
    runner.run(prediction.experiment->policies()[p], run.policies);
    run.interrupted = !run.policies.back().complete;
    on_policy(run.policies.back());
  }
  return run;
}

}  // namespace corun::live
