#include "runner/experiment/experiment.hpp"

#include <algorithm>
#include <utility>

#include "runner/builders/model_files.hpp"
#include "runner/experiment/experiment_checks.hpp"
#include "runner/experiment/job_views.hpp"
#include "runner/experiment/unused_settings.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

namespace {

bool believes(const PolicyInstance& policy) {
  return policy.needs == PolicyNeeds::kBelief && !policy.granted_truth;
}

ScoringOptions scoring_on(std::shared_ptr<Device> device) {
  ScoringOptions options;
  options.device = std::move(device);
  return options;
}

}  // namespace

Experiment::Experiment(Config config, std::string data_directory, std::optional<Trace> queue,
                       std::shared_ptr<Device> device, const std::shared_ptr<InputCache>& shared)
    : resolved_(resolve(std::move(config), data_directory, queue, shared)),
      config_(*resolved_.config),
      files_(config_.directory, std::move(data_directory), shared),
      cluster_(build_cluster(config_, files_)),
      source_(resolved_.config, cluster_, std::move(queue), files_),
      worlds_(config_, cluster_, files_, source_.tables()),
      beliefs_(resolved_.config, cluster_, !source_.reads_file(), files_, worlds_.tables(),
               scoring_on(std::move(device))),
      policies_(policy_instances(config_)),
      runner_(config_, cluster_, worlds_, beliefs_, source_.services(), workload_keys(),
              config_.place(source_.is_given() ? "workload.path" : "workload.source")) {
  for (const Notes& some : {cluster_.notes, source_.notes(), worlds_.tables().notes(),
                            worlds_.notes(), beliefs_.notes()}) {
    append(notes_, some);
  }
  for (const std::string& library : libraries_of(policies_)) files_.add(library);
  check(*make_trace(0));
}

void Experiment::check_model_files(const Trace& trace) {
  const auto check = [&](const char* key, const std::string& name, const ModelFile& file) {
    for (std::string& text : check_features_of_jobs(config_, key, name, file, trace, cluster_)) {
      add_note(notes_, NoteCode::kUnknownFeatures, key, std::move(text));
    }
  };
  if (const auto& file = beliefs_.model_file()) {
    check("belief.initial", config_.belief.initial, *file);
  }
  if (const auto& file = worlds_.model_file()) check("world.path", *config_.world.path, *file);
}

void Experiment::check(const Trace& trace) {
  if (const auto refusal = refusal_of_jobs(config_, cluster_, beliefs_, trace)) {
    throw InputError(refusal->place, refusal->message);
  }
  if (const auto refusal = refusal_of_labels(config_, policies_, trace)) {
    throw InputError(refusal->place, refusal->message);
  }
  check_model_files(trace);
  const TypesOfJobs& types = worlds_.types_of_jobs();
  const auto on_types = types.table(trace);
  reference_gpus_ = corun::reference_gpus(cluster_.spec, trace, on_types.get());
  drawn_ = drawn_by(trace, on_types.get());
  add_note(notes_, NoteCode::kRunTimes, "",
           run_times_of(config_, cluster_, worlds_.measured_on(), types.reference(trace), trace,
                        on_types.get()));
  if (on_types != nullptr) {
    add_note(notes_, NoteCode::kBlindToSpeeds, "policies", blind_to_speeds(cluster_, policies_));
  }
  add_note(notes_, NoteCode::kTicks, "control.tick_s", ticks_of(config_));
  if (source_.shares_keys()) {
    add_note(notes_, NoteCode::kUnmeasuredWorkloads, "", worlds_.unmeasured_workloads(trace));
  }
  append(notes_, notes_on_jobs(config_, cluster_, beliefs_, policies_, trace));
  // Throws if a policy's parameters name a job or cluster that does not exist.
  for (const PolicyInstance& policy : policies_) {
    parameters_of(policy, config_, trace, beliefs_.initial_knowledge().clusters());
  }
  const std::vector<UnplaceablePods> pods = unplaceable_pods(config_, cluster_, policies_, trace);
  if (!pods.empty()) {
    const UnplaceablePods& first = pods.front();
    throw InputError(policies_[first.policy].place, first.what + "; leave it out or " + first.cure);
  }
  append(notes_, unused_settings({config_, cluster_, beliefs_, policies_, trace, workload_keys()}));
  add_note(notes_, NoteCode::kOverload, "", overload_of(cluster_, trace, reference_gpus_));
}

std::vector<Drawn> Experiment::drawn_by(const Trace& trace, const JobTypeTable* on_types) const {
  std::vector<Drawn> drawn;
  const auto add = [&](Drawn kind, bool draws) {
    if (draws) drawn.push_back(kind);
  };
  const EstimatesConfig& e = config_.estimates;
  const auto errs = [](EstimateKind kind) {
    return kind == EstimateKind::kLognormal || kind == EstimateKind::kShuffled;
  };
  add(Drawn::kJobs, source_.draws_jobs() || !source_.services().empty());
  add(Drawn::kOrder, source_.shuffles(trace));
  add(Drawn::kCosts, config_.world.noise);
  add(Drawn::kSpeeds, config_.world.noise && on_types != nullptr && on_types->draws());
  add(Drawn::kBeliefs, config_.belief.known < 1 && std::ranges::any_of(policies_, believes));
  add(Drawn::kEstimates, errs(e.duration) || errs(e.memory) || errs(e.utilisation));
  add(Drawn::kChoices, true);
  add(Drawn::kCluster, config_.world.noise && cluster_draws(config_));
  return drawn;
}

std::shared_ptr<const Trace> Experiment::make_trace(std::size_t number) const {
  return source_.trace(number);
}

std::vector<JobId> Experiment::arrivals(const Trace& trace, std::size_t number) const {
  return source_.arrivals(trace, number);
}

SharedRun Experiment::shared_run(const Trace& trace, const Draws& draws, bool believes) const {
  const auto seed = [&](Drawn drawn) { return seed_of(draws.of(drawn)); };
  return {trace,
          {.costs = seed(Drawn::kCosts),
           .speeds = seed(Drawn::kSpeeds),
           .estimates = seed(Drawn::kEstimates),
           .choices = seed(Drawn::kChoices),
           .cluster = seed(Drawn::kCluster),
           .requests = seed(Drawn::kJobs)},
          believes ? beliefs_.prior(draws.of(Drawn::kBeliefs)) : nullptr};
}

std::unique_ptr<Policy> Experiment::make_policy(const Trace& trace, std::size_t number,
                                                const PolicyInstance& policy, const World& world,
                                                const std::atomic<bool>* stop) const {
  return runner_.make_policy(shared_run(trace, Draws(number), believes(policy)), policy, world,
                             stop);
}

JobView Experiment::view_of(const Trace& trace, std::size_t number, JobId job) const {
  return job_view({config_.estimates, seed_of(number)}, trace, job);
}

std::vector<JobView> Experiment::views_of(const Trace& trace, std::size_t number) const {
  return job_views({config_.estimates, seed_of(number)}, trace);
}

PolicyRun Experiment::run_policy(const Trace& trace, std::size_t number,
                                 const PolicyInstance& policy,
                                 const RunObservation& observation) const {
  return runner_.run(shared_run(trace, Draws(number), believes(policy)), arrivals(trace, number),
                     policy, observation);
}

Replication Experiment::run(const Draws& draws, const RunObservation& observation) const {
  Replication replication;
  replication.number = draws.of(Drawn::kJobs);
  replication.trace = make_trace(replication.number);
  if (observation.keep_records && config_.measure.details) {
    replication.clusters = clusters_of(*replication.trace);
  }
  const SharedRun shared =
      shared_run(*replication.trace, draws, std::ranges::any_of(policies_, believes));
  const std::vector<JobId> order = arrivals(*replication.trace, draws.of(Drawn::kOrder));
  for (const PolicyInstance& policy : policies_) {
    replication.runs.push_back(runner_.run(shared, order, policy, observation));
  }
  return replication;
}

void Experiment::check_runs() const {
  const std::shared_ptr<const Trace> trace = make_trace(0);
  const SharedRun shared = shared_run(*trace, Draws(0), std::ranges::any_of(policies_, believes));
  for (const PolicyInstance& policy : policies_) runner_.check(shared, policy);
}

}  // namespace corun::inline runner
