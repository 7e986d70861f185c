#include "experiments/batch_replay.hpp"

#include <algorithm>
#include <chrono>

#include "sim/error.hpp"
#include "sim/text.hpp"

namespace corun {

namespace {

/// Why no policy of the experiment can do without events; empty: there is no reason.
std::string obstacle(const Experiment& experiment) {
  const Config& c = experiment.config();
  const auto positive = [](const std::optional<double>& s) { return s && *s > 0; };
  if (c.control.mode != "events") return "control.mode is " + c.control.mode;
  if (c.control.start != "group") return "control.start is " + c.control.start;
  if (positive(c.control.round_s)) return "control.round_s is set";
  if (positive(c.control.reallocate_s)) return "control.reallocate_s is set";
  if (positive(c.control.tick_s)) return "control.tick_s is set";
  if (c.profiling.mode == "epoch" || c.profiling.mode == "minute") {
    return "profiling.mode is " + c.profiling.mode;
  }
  if (c.probing.probes > 0) return "probing.probes is set";
  if (c.measure.skip_first > 0 || c.measure.skip_last > 0) return "measure leaves jobs out";
  if (c.cluster.virtual_clusters) return "there are virtual clusters";
  if (!experiment.same_jobs()) return "the jobs differ from seed to seed";
  return BatchExperiment::obstacle(experiment.cluster(), experiment.make_jobs(0)->workload);
}

}  // namespace

EngineChoice engine_choice(const std::string& word) {
  if (word == "auto") return EngineChoice::kAuto;
  if (word == "events") return EngineChoice::kEvents;
  if (word == "batch") return EngineChoice::kBatch;
  throw InputError("--engine", "found '" + printable(word) + "', expected auto, events or batch");
}

BatchReplay::BatchReplay(const Experiment& experiment)
    : experiment_(experiment), reasons_(experiment.policies().size(), obstacle(experiment)) {
  if (!applies()) return;
  jobs_ = experiment.make_jobs(0);
  batch_.emplace(experiment.cluster(), jobs_->workload);
  BatchReplayer replayer(*this);
  for (std::size_t p = 0; p < reasons_.size(); ++p) {
    if (!replayer.plan(0, p)) reasons_[p] = "it decides as it goes";
  }
  experiment.forget(0);
}

bool BatchReplay::applies() const {
  return std::ranges::any_of(reasons_, [](const std::string& reason) { return reason.empty(); });
}

BatchReplayer::BatchReplayer(const BatchReplay& replay)
    : replay_(replay),
      world_(replay.experiment_.make_world(*replay.jobs_)),
      empty_(replay.experiment_.cluster()),
      faces_(replay.experiment_.make_faces(*replay.jobs_, 0)),
      engine_(*replay.batch_, *world_) {}

std::optional<std::vector<std::vector<JobId>>> BatchReplayer::plan(std::size_t number,
                                                                   std::size_t policy) {
  const Experiment& experiment = replay_.experiment_;
  const Trace& jobs = *replay_.jobs_;
  if (ordered_ != number) {
    order_ = experiment.queue_order(jobs, number);
    if (experiment.config().estimates.duration == "lognormal") {
      faces_ = experiment.make_faces(jobs, number);
    }
    ordered_ = number;
  }
  constexpr std::size_t kFirstPass = 1;
  const ClusterView view(Time::zero(), StartMode::kGroup, order_, faces_, empty_, 0, 1, kFirstPass);
  const auto& instance = experiment.policies()[policy];
  return experiment.make_policy(jobs, number, instance, *world_)->plan_ahead(view);
}

std::optional<std::uint64_t> BatchReplayer::noise_seed(std::size_t number) const {
  if (!replay_.experiment_.config().world.noise) return std::nullopt;
  return replay_.experiment_.seed_of(number);
}

PolicyRun BatchReplayer::finished(const BatchSums& sums, const MetricValues& metrics,
                                  double decide_s) const {
  PolicyRun run;
  run.record.usage = usage_of(sums);
  run.record.gpu_count = replay_.experiment_.cluster().gpu_count();
  run.record.unknown_memory_jobs = replay_.batch_->unknown_memory_jobs();
  run.record.passes = sums.passes;
  run.metrics = metrics;
  run.decide_s = run.longest_decision_s = decide_s;
  return run;
}

std::optional<PolicyRun> BatchReplayer::run(std::size_t number, std::size_t policy,
                                            bool keep_records) {
  const auto started = std::chrono::steady_clock::now();
  const auto groups = plan(number, policy);
  if (!groups) return std::nullopt;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  if (!engine_.run(*groups, noise_seed(number))) return std::nullopt;
  RunRecord record;
  if (keep_records) record = engine_.record(*groups);  // before metrics()
  PolicyRun run = finished(engine_.sums(), engine_.metrics(), took.count());
  run.record.jobs = std::move(record.jobs);
  run.record.episodes = std::move(record.episodes);
  return run;
}

void BatchReplay::run_on_gpu(const BatchGpuUse& use, std::size_t policy,
                             const std::atomic<bool>* stop,
                             std::vector<std::optional<PolicyRun>>& done) const {
  std::vector<std::unique_ptr<BatchReplayer>> replayers;
  for (unsigned t = 0; t < std::max(1U, use.options.threads); ++t) {
    replayers.push_back(std::make_unique<BatchReplayer>(*this));
  }
  const auto first = replayers.front()->plan(0, policy);
  if (!first) return;
  BatchShape shape{.jobs = batch_->workload().jobs, .gpus = batch_->workload().gpus};
  shape.groups = static_cast<std::uint32_t>(first->size());
  for (const auto& group : *first) {
    shape.widest = std::max(shape.widest, static_cast<std::uint32_t>(group.size()));
  }
  if (shape.widest > BatchShape::kMostOnGpu) return;
  std::vector<double> decide_s(done.size());
  const auto fill = [&](unsigned thread, std::size_t number, const BatchInput& input) {
    if (stop != nullptr && stop->load()) throw Interrupted{};
    BatchReplayer& replayer = *replayers[thread];
    const auto started = std::chrono::steady_clock::now();
    const auto groups = replayer.plan(number, policy);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    decide_s[number] = took.count();
    input.count[0] = 0;
    if (groups) replayer.engine_.fill(*groups, replayer.noise_seed(number), shape, input);
    experiment_.forget(number);
  };
  const auto take = [&](unsigned thread, std::size_t number, const BatchOutput& output) {
    if (output.counted[0] == 0) return;
    done[number] =
        replayers[thread]->finished(sums_of(output), metrics_of(output, shape), decide_s[number]);
  };
  use.gpu->run(batch_->workload(), shape, done.size(), fill, take, use.options);
}

}  // namespace corun
