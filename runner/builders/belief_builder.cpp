#include "runner/builders/belief_builder.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "knowledge/effort.hpp"
#include "knowledge/knowledge_catalog.hpp"
#include "knowledge/knowledge_file.hpp"
#include "knowledge/model_origin.hpp"
#include "models/interference/catalog.hpp"
#include "models/interference/measured_speeds.hpp"
#include "models/knowledge/cluster_mean_belief.hpp"
#include "runner/builders/model_files.hpp"
#include "runner/builders/workload_source.hpp"
#include "runner/inputs/file_kind.hpp"
#include "runner/inputs/job_features.hpp"
#include "runner/inputs/observed_pairs.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::inline runner {

namespace {

/// Whether a word resembles the name of a knowledge base and names no file.
bool is_misspelt_name(const std::string& word, std::span<const std::string_view> known) {
  std::error_code error;
  return !nearest(word, known).empty() && !std::filesystem::exists(word, error) &&
         word.find('/') == std::string::npos && word.find('.') == std::string::npos;
}

}  // namespace

BeliefBuilder::BeliefBuilder(std::shared_ptr<const Config> config, const Cluster& cluster,
                             bool labels_are_papers, InputFiles& files, MeasurementTables& tables,
                             ScoringOptions scoring)
    : config_(std::move(config)), scoring_(std::move(scoring)), models_(&files.cache().models()) {
  const BeliefModel& model = config_->belief.model;
  const std::string& initial = config_->belief.initial;
  model_file_ = find_model_file(*config_, "belief.initial", initial, files, tables.keys());
  if (model_file_) {
    start_from_model(cluster);
    return;
  }
  if (model.model() == nullptr) {
    start_from_clusters(cluster, labels_are_papers, files, tables);
    return;
  }
  const KnowledgeEntry* known = find_knowledge(initial);
  if (known != nullptr && known->measurements) {
    if (known->measurements == PaperFilter{}) refuse_share();
    fit(speed_table(paper_measurements(tables.keys(), *known->measurements),
                    ImputedProfiles::kUnknown));
  } else {
    fit(measured_speeds(files.find(initial, config_->place("belief.initial")), cluster, tables));
  }
}

void BeliefBuilder::refuse_share() const {
  const BeliefConfig& b = config_->belief;
  if (b.known == 1) return;
  throw InputError(config_->place("belief.known"),
                   "belief.known is a share of measured pairs, and " + std::string(b.model.text()) +
                       " from " + printable(b.initial) +
                       " starts from none; leave it out or name a pair table in belief.initial");
}

void BeliefBuilder::start_from_clusters(const Cluster& cluster, bool labels_are_papers,
                                        InputFiles& files, MeasurementTables& tables) {
  const BeliefConfig& b = config_->belief;
  const std::string place = config_->place("belief.initial");
  if (const KnowledgeEntry* entry = find_knowledge(b.initial)) {
    refuse_share();
    initial_knowledge_ = entry->make();
  } else {
    std::vector<std::string_view> known;
    for (const KnowledgeEntry& e : knowledge_catalog()) known.push_back(e.name);
    if (is_misspelt_name(b.initial, known)) {
      throw InputError(place, "no knowledge base '" + printable(b.initial) +
                                  "': " + did_you_mean(b.initial, known));
    }
    const std::string path = files.find(b.initial, place);
    if (measurement_form(path)) {
      if (b.model == BeliefKind::kTruth) {
        throw InputError(place,
                         "belief.model truth learns nothing from measured co-runs; leave it out");
      }
      // A belief by clusters of the table's jobs, because the papers' centres hold for their
      // profiles only.
      fit(measured_speeds(path, cluster, tables));
      return;
    }
    refuse_share();
    start_from_file(path, cluster, labels_are_papers);
  }
  if (!b.overrides) return;
  overrides_ = read_cluster_overrides(files.find(*b.overrides, config_->place("belief.overrides")),
                                      initial_knowledge_->clusters());
}

void BeliefBuilder::start_from_file(const std::string& path, const Cluster& cluster,
                                    bool labels_are_papers) {
  check_kind(path, {FileKind::kKnowledgeBase},
             "a knowledge base, a table of measured co-runs or a model");
  KnowledgeFile file = read_knowledge_file(path);
  const std::string here = cluster.gpu_types() + " " + cluster.spec.sharing;
  for (const KnowledgeSource& source : file.sources) {
    if (source.measured_on.empty() || source.measured_on == here) continue;
    add_note(notes_, NoteCode::kLearntElsewhere, path,
             "the belief was learnt on " + printable(source.measured_on) + " (" +
                 printable(source.name) + "), the cluster is " + here);
  }
  initial_knowledge_ = std::move(file.kb);
  // The papers' labels do not number the clusters of a file.
  labels_hold_ = !labels_are_papers;
}

SpeedTable BeliefBuilder::measured_speeds(const std::string& path, const Cluster& cluster,
                                          MeasurementTables& tables) {
  const Measurements& read = tables.measured(path, *config_);
  if (!read.runs.empty()) return speed_table(read.runs, ImputedProfiles::kUnknown);
  append(notes_,
         measured_elsewhere(read, cluster, "what the belief knows beforehand was measured"));
  return read.speeds;
}

void BeliefBuilder::refuse_overrides() const {
  if (!config_->belief.overrides) return;
  throw InputError(config_->place("belief.overrides"),
                   "belief.model " + std::string(config_->belief.model.text()) +
                       " has no clusters to override; leave it out");
}

void BeliefBuilder::refuse_probing() const {
  if (config_->probing.probes == 0 || !prior_->model || prior_->model->learns()) return;
  throw InputError(config_->place("probing.probes"),
                   "belief.model " + std::string(config_->belief.model.text()) +
                       " learns by new fits only and would have nothing of a probe when it is "
                       "over; take ensemble, gp, low-rank or measured");
}

void BeliefBuilder::start_from_model(const Cluster& cluster) {
  const BeliefConfig& b = config_->belief;
  refuse_overrides();
  if (b.known != 1) {
    throw InputError(config_->place("belief.known"),
                     "belief.known is a share of measured pairs, and '" + printable(b.initial) +
                         "' is a model that is fitted already; leave it out");
  }
  if (b.effort != 1) {
    throw InputError(config_->place("belief.effort"),
                     "belief.effort is of a fit, and '" + printable(b.initial) +
                         "' is a model that is fitted already; leave it out");
  }
  note_effort(printable(b.initial), model_file_->model->effort());
  auto prior = std::make_shared<ModelBelief::Prior>();
  prior->table.features = model_file_->model->features();
  // Beliefs know no GPU types; those of a mixed cluster are of its first type.
  prior->model = model_on(model_file_->model, cluster.spec.models().front(), cluster.spec.sharing);
  prior->scoring = scoring_;
  prior_ = std::move(prior);
  initial_knowledge_ = find_knowledge("none")->make();
  refuse_probing();
}

void BeliefBuilder::note_effort(const std::string& model, double effort) {
  add_note(notes_, NoteCode::kReducedEffort, "belief.effort", told_of_effort(model, effort));
}

void BeliefBuilder::fit(SpeedTable table) {
  const BeliefConfig& b = config_->belief;
  refuse_overrides();
  const InterferenceModelEntry& entry = *find_interference_model(b.model.text());
  FitOptions options;  // of fits for which other replications do not wait
  options.seed = b.seed;
  options.effort = b.effort;
  if (entry.draws) note_effort("the belief's model", b.effort);
  FitOptions first = options;
  first.threads = models_->threads();
  try {
    std::shared_ptr<const InterferenceModel> model;
    if (b.known !=
        1) {  // fitted per replication on its known pairs; a small fit now reveals errors
      constexpr double kFew = 8;
      const double share = std::min(1.0, kFew / static_cast<double>(table.rows.size()));
      models_->fit(entry, observed_pairs(table, share, config_->seed), first);
    } else if (!table.rows.empty() || !table.groups.empty()) {
      model = models_->fit(entry, table, first);
    }
    prior_ = std::make_shared<ModelBelief::Prior>(
        ModelBelief::Prior{std::move(table), std::move(model), &entry, options, scoring_});
  } catch (const std::invalid_argument& e) {
    throw InputError(config_->place("belief.initial"), e.what());
  }
  initial_knowledge_ = find_knowledge("none")->make();
  refuse_probing();
}

BeliefBuilder::Prior BeliefBuilder::prior(std::size_t replication) const {
  if (!prior_ || config_->belief.known == 1) return prior_;
  auto of_replication = std::make_shared<ModelBelief::Prior>(*prior_);
  SpeedTable& known = of_replication->table;
  known = observed_pairs(prior_->table, config_->belief.known, seed_of(*config_, replication));
  if (known.rows.empty()) return of_replication;
  try {
    of_replication->model = models_->fit(*prior_->entry, known, prior_->options);
    return of_replication;
  } catch (const std::invalid_argument& e) {
    throw InputError(config_->place("belief.known"), e.what());
  }
}

std::unique_ptr<Belief> BeliefBuilder::belief(const Trace& trace, const Prior& prior,
                                              std::span<const JobView> views) const {
  if (!prior_) return cluster_belief(trace, views);
  if (!prior) throw std::logic_error("a belief by jobs needs the prior of its replication");
  std::vector<BelievedJob> jobs;
  jobs.reserve(views.size());
  for (const JobView& view : views) {
    jobs.push_back({trace.jobs[index(view.id)].key,
                    features_of(trace, index(view.id), view.profile, prior->table.features,
                                ImputedProfiles::kUnknown),
                    view.estimate});
  }
  return std::make_unique<ModelBelief>(prior, std::move(jobs));
}

template <typename F>
std::vector<ClusterAssignment> BeliefBuilder::assignments(const Trace& trace, F profile_of) const {
  std::vector<ClusterAssignment> assignments;
  assignments.reserve(trace.jobs.size());
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const Profile& profile = profile_of(j);
    // Without the papers' labels a job with a stand-in profile counts as one without a profile.
    ClusterAssignment a = assign_cluster(initial_knowledge_->clustering(),
                                         labels_hold_ || !profile.imputed ? profile : Profile{});
    if (labels_hold_) {
      if (trace.jobs[j].cluster >= 0) a.cluster = trace.jobs[j].cluster;
      if (!std::isnan(trace.jobs[j].uncertainty)) a.uncertainty = trace.jobs[j].uncertainty;
    }
    assignments.push_back(a);
  }
  for (const ClusterOverride& o : overrides_) {
    const auto at = std::ranges::find(trace.jobs, o.job, &TraceJob::name);
    if (at == trace.jobs.end()) continue;  // replications of a resampled queue differ in names
    ClusterAssignment& a = assignments[static_cast<std::size_t>(at - trace.jobs.begin())];
    if (o.cluster) a.cluster = *o.cluster;
    if (o.uncertainty) a.uncertainty = *o.uncertainty;
  }
  return assignments;
}

std::unique_ptr<Belief> BeliefBuilder::cluster_belief(const Trace& trace,
                                                      std::span<const JobView> views) const {
  return std::make_unique<ClusterMeanBelief>(
      *initial_knowledge_,
      assignments(trace, [&](std::size_t j) -> const Profile& { return views[j].profile; }));
}

std::vector<int> BeliefBuilder::clusters(const Trace& trace) const {
  const std::vector<ClusterAssignment> all = assignments(
      trace, [&](std::size_t j) -> const Profile& { return trace.jobs[j].spec.profile; });
  std::vector<int> clusters;
  clusters.reserve(all.size());
  // Without a profile and a label the uncertainty is infinite.
  for (const ClusterAssignment& a : all) {
    clusters.push_back(std::isfinite(a.uncertainty) ? a.cluster : kUnknownCluster);
  }
  return clusters;
}

}  // namespace corun::inline runner
