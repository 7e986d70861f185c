#include "experiments/experiment/experiment.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include "experiments/config/gpu_types.hpp"
#include "experiments/inputs/known_pairs.hpp"
#include "experiments/inputs/node_fit.hpp"
#include "experiments/knowledge/knowledge_catalog.hpp"
#include "experiments/knowledge/knowledge_file.hpp"
#include "models/interference/catalog.hpp"
#include "models/interference/measured_speeds.hpp"
#include "models/truth_belief.hpp"
#include "policies/recommender.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/corun_csv.hpp"
#include "traces/lucid_pairs.hpp"
#include "traces/openb.hpp"
#include "traces/paper_workloads.hpp"
#include "traces/trace_statistics.hpp"

namespace corun {

namespace {

namespace fs = std::filesystem;

/// Watches a policy from outside: how long it decides, and what its knowledge base has become.
class ObservedPolicy final : public Policy {
 public:
  ObservedPolicy(Policy& inner, PolicyRun& run, const RunObservation& observation)
      : inner_(inner), run_(run), observation_(observation) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    if (observation_.stop != nullptr && observation_.stop->load()) throw Interrupted{};
    try {
      if (observation_.time_decisions) {
        decide_timed(view, out);
      } else {
        inner_.decide(view, out);
      }
    } catch (const PolicyError&) {  // one that waits for others gives up when the run is stopped
      if (observation_.stop != nullptr && observation_.stop->load()) throw Interrupted{};
      throw;
    }
    if (out.empty()) return;
    if (const auto bound = inner_.bound()) run_.losses.add(bound->cost, bound->least);
  }
  /// To be called once more at the end of the run.
  void end_of_pass() {
    if (pass_ > 0) run_.pass_times.add(pass_s_);
    pass_s_ = 0;
  }
  void left(JobId job, LogKind how) override { inner_.left(job, how); }
  void observe(const EpisodeOutcome& outcome) override {
    inner_.observe(outcome);
    show_learned(outcome.end);
  }
  std::optional<std::pair<JobId, JobId>> choose_probe(std::span<const JobId> unprobed,
                                                      std::span<const JobId> waiting) override {
    return inner_.choose_probe(unprobed, waiting);
  }
  void observe_probe(const ProbeOutcome& outcome) override {
    inner_.observe_probe(outcome);
    show_learned(outcome.end);
  }
  bool needs_probes() const override { return inner_.needs_probes(); }
  bool needs_profile() const override { return inner_.needs_profile(); }
  bool rearranges() const override { return inner_.rearranges(); }
  bool joins_always() const override { return inner_.joins_always(); }
  std::optional<PlanBound> bound() const override { return inner_.bound(); }

 private:
  void decide_timed(const ClusterView& view, std::vector<Decision>& out) {
    const auto start = std::chrono::steady_clock::now();
    inner_.decide(view, out);
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    run_.decide_s += took;
    run_.longest_decision_s = std::max(run_.longest_decision_s, took);
    if (view.pass() != pass_) end_of_pass();
    pass_ = view.pass();
    pass_s_ += took;
  }
  void show_learned(Time at) {
    if (!observation_.on_learned) return;
    const auto* recommender = dynamic_cast<const Recommender*>(&inner_);
    if (recommender == nullptr) return;
    const auto* belief = dynamic_cast<const ClusterMeanBelief*>(&recommender->belief());
    if (belief != nullptr) observation_.on_learned(at, belief->knowledge_base());
  }

  Policy& inner_;
  PolicyRun& run_;
  const RunObservation& observation_;
  std::size_t pass_ = 0;  ///< the one under way; 0: none yet
  double pass_s_ = 0;     ///< spent in it
};

template <typename Entries>
std::string suggest(const Entries& entries, const std::string& word) {
  std::vector<std::string_view> names;
  for (const auto& e : entries) names.push_back(e.name);
  return did_you_mean(word, names);
}

/// What models go by of a job: its profile, and what the trace knows beyond it.
std::vector<double> features_of(const Trace& trace, std::size_t job, const Profile& profile,
                                const std::vector<SpeedTable::Feature>& wanted,
                                ImputedProfiles imputed) {
  std::vector<double> values = feature_values(profile, wanted, imputed);
  const std::size_t width = trace.feature_list.size();
  for (std::size_t f = 0; f < wanted.size(); ++f) {
    const auto at = std::ranges::find(trace.feature_list, wanted[f]);
    if (at == trace.feature_list.end()) continue;
    values[f] =
        trace.features[job * width + static_cast<std::size_t>(at - trace.feature_list.begin())];
  }
  return values;
}

/// Gives each job that has no profile at all one of a measured JRS job, whichever (seed, job) draws, and
/// counts it as imputed. It is the job's true profile for this run: world and policies go by it.
void draw_profiles(Trace& trace, std::uint64_t seed) {
  const std::vector<Profile>& measured = jrs_profiles();
  for (std::size_t j = 0; j < trace.workload.jobs.size(); ++j) {
    Profile& profile = trace.workload.jobs[j].profile;
    if (profile.gpu_util_pct || profile.mem_alloc_pct || profile.mem_time_pct) continue;
    const auto memory = profile.mem_used_mib;
    Rng rng(seed, Stream::kTraceProfiles, j);
    profile = measured[rng.below(static_cast<std::uint32_t>(measured.size()))];
    if (memory) profile.mem_used_mib = memory;
    ++trace.imputed_profiles;
  }
}

Duration seconds_or_zero(const std::optional<double>& s) {
  return s ? from_seconds(*s) : Duration::zero();
}

}  // namespace

Experiment::Experiment(Config config, std::string data_directory, std::optional<Trace> queue,
                       std::shared_ptr<Device> device, const std::shared_ptr<InputCache>& shared)
    : config_(std::move(config)),
      data_directory_(std::move(data_directory)),
      inputs_read_(shared ? shared : std::make_shared<InputCache>()),
      file_trace_(queue ? std::make_shared<const Trace>(std::move(*queue)) : nullptr) {
  scoring_.device = std::move(device);
  build_cluster();
  source_ = find_trace(config_.workload.source);
  if (source_ == nullptr) {
    throw InputError(config_.place("workload.source"),
                     "unknown workload source '" + config_.workload.source +
                         "': " + suggest(trace_catalog(), config_.workload.source));
  }
  if (config_.workload.labels && config_.workload.source != "lucid") {
    throw InputError(config_.place("workload.labels"),
                     "workload.labels is for source lucid, found source " +
                         config_.workload.source + "; leave it out");
  }
  if (!source_->generates && !file_trace_) {
    // What a dumped configuration says of them are the defaults.
    const bool jobs = config_.workload.jobs != WorkloadConfig{}.jobs;
    if (jobs || config_.workload.load) {
      const std::string key = jobs ? "workload.jobs" : "workload.load";
      throw InputError(config_.place(key), key + " is for sources that generate jobs, and '" +
                                               config_.workload.source +
                                               "' does not; leave it out, or make a trace of that "
                                               "size and load: corun trace generate --like FILE");
    }
  }
  if (source_->reads_file && !file_trace_) {
    if (!config_.workload.path) {
      throw InputError(config_.place("workload.source"),
                       "source '" + config_.workload.source + "' reads a file: set workload.path");
    }
    // Once: a file that changes or goes during a long run must not change the run.
    if (source_->generates) {
      source_pairs_ = &pair_table(resolve_path(*config_.workload.path, "workload.path"));
    } else {
      read_trace(shared != nullptr);
    }
  } else if (config_.workload.path && !file_trace_) {
    throw InputError(config_.place("workload.path"), "source '" + config_.workload.source +
                                                         "' reads no file; remove workload.path");
  }
  build_world();
  build_belief();
  build_policies();
  check_trace();
}

/// Before anything else that hands out keys: those of a trace that is shared are its own.
void Experiment::read_trace(bool shared) {
  TraceQuery query;
  query.source = source_;
  query.path = resolve_path(*config_.workload.path, "workload.path");
  if (source_->reads_rates) {
    RatesFile rates = rates_file();
    query.rates = std::move(rates.path);
    query.gpu = std::move(rates.gpu);
  }
  if (config_.workload.labels) {
    query.labels = resolve_path(*config_.workload.labels, "workload.labels");
  }
  const std::shared_ptr<TraceFile> own = shared ? nullptr : read_trace_file(query);
  const std::shared_ptr<const TraceFile> read = own ? own : inputs_read_->trace(query);
  for (std::size_t k = 0; k < read->keys.size(); ++k) {
    keys_.of(read->keys.text(static_cast<WorkloadKey>(k)));
  }
  throughputs_ = read->rates;
  note_trace_file(read->trace);
  file_trace_ = {read, &read->trace};
  if (read->trace.gpu_models.empty()) return;
  if (own) {
    fit_gpu_models(own->trace);
    return;
  }
  auto fitted = std::make_shared<Trace>(read->trace);
  fit_gpu_models(*fitted);
  file_trace_ = std::move(fitted);
}

std::string Experiment::resolve_path(const std::string& path, const std::string& key) {
  const fs::path given(path);
  std::vector<fs::path> candidates;
  if (given.is_absolute()) {
    candidates.push_back(given);
  } else {
    candidates.push_back(fs::path(config_.directory) / given);
    if (!data_directory_.empty()) candidates.push_back(fs::path(data_directory_) / given);
  }
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (!fs::is_regular_file(candidate, error)) continue;
    const std::string input = "sha256:" + inputs_read_->sha256(candidate.string()) + " " + path;
    if (std::ranges::find(inputs_, input) == inputs_.end()) {
      input_files_.push_back(candidate.string());
      inputs_.push_back(input);
    }
    return candidate.string();
  }
  std::string looked;
  for (const fs::path& candidate : candidates) {
    looked += (looked.empty() ? "" : " and ") + candidate.lexically_normal().string();
  }
  throw InputError(config_.place(key), "no file '" + printable(path) + "' (looked at " +
                                           printable(looked, 300) +
                                           "); check the path or give --data DIR");
}

void Experiment::build_cluster() {
  // Gavel's names are as good.
  config_.cluster.gpu_type = std::string(gpu_type_of_table(config_.cluster.gpu_type));
  const ClusterConfig& c = config_.cluster;
  const GpuTypeInfo* known = find_gpu_type(c.gpu_type);
  if (known == nullptr && !c.gpu_memory_mib && !c.path) {
    throw InputError(config_.place("cluster.gpu_type"),
                     "unknown GPU type '" + printable(c.gpu_type) +
                         "': " + suggest(gpu_types(), c.gpu_type) +
                         "; or set cluster.gpu_memory_mib for a type of your own");
  }
  NodeSpec node;
  node.gpu = {c.gpu_type, c.gpu_speed, c.gpu_memory_mib.value_or(known ? known->memory_mib : 0)};
  node.gpus = static_cast<int>(c.gpus_per_node);
  node.cpu_milli = c.cpu_milli_per_node;
  node.memory_mib = c.memory_mib_per_node;
  std::int64_t nodes = c.nodes;
  if (c.virtual_clusters) {
    virtual_clusters_ =
        read_virtual_clusters(resolve_path(*c.virtual_clusters, "cluster.virtual_clusters"));
    nodes = 0;
    for (const VirtualCluster& vc : virtual_clusters_) nodes += vc.nodes;
    if (config_.places.contains("cluster.nodes") && nodes != c.nodes) {
      throw InputError(config_.place("cluster.nodes"),
                       "found " + std::to_string(c.nodes) + " nodes, expected the " +
                           std::to_string(nodes) + " of all virtual clusters; leave it out");
    }
  }
  if (c.path) {
    const ClusterConfig usual;  // which is what a dumped configuration says
    const char* twice = c.nodes != usual.nodes                   ? "cluster.nodes"
                        : c.gpus_per_node != usual.gpus_per_node ? "cluster.gpus_per_node"
                        : c.gpu_type != usual.gpu_type           ? "cluster.gpu_type"
                                                                 : nullptr;
    if (twice != nullptr) {
      throw InputError(config_.place(twice),
                       std::string(twice) + " says what cluster.path says; leave one out");
    }
    if (c.virtual_clusters) {
      throw InputError(config_.place("cluster.virtual_clusters"),
                       "virtual clusters take nodes that are all alike, and cluster.path lists "
                       "others; leave one of them out");
    }
    build_listed_nodes(node);
  } else {
    cluster_.nodes.assign(static_cast<std::size_t>(nodes), node);
  }
  cluster_.sharing = c.sharing;
  if (c.max_jobs_per_gpu) cluster_.max_jobs_per_gpu = static_cast<int>(*c.max_jobs_per_gpu);
  cluster_.oom = {from_seconds(c.oom.ramp_s), static_cast<int>(c.oom.retries)};
}

/// `rest` has what a list of nodes does not say.
void Experiment::build_listed_nodes(const NodeSpec& rest) {
  constexpr std::size_t kMostModels = 32;
  constexpr std::int64_t kMostGpus = 1'000'000;
  const ClusterConfig& c = config_.cluster;
  const NodeList list = read_openb_nodes(resolve_path(*c.path, "cluster.path"));
  std::set<std::string_view> models;
  for (const ListedNode& listed : list.nodes) {
    const std::string place = list.name + ":" + std::to_string(listed.line) + ":1";
    models.insert(listed.gpu_model);
    if (models.size() > kMostModels) {
      throw InputError(place, "a 33rd GPU model, expected 32 at most; join some");
    }
    const GpuTypeInfo* known = find_gpu_type(listed.gpu_model);
    if (known == nullptr && !c.gpu_memory_mib) {
      throw InputError(place,
                       "unknown GPU type '" + printable(listed.gpu_model) +
                           "': " + suggest(gpu_types(), listed.gpu_model) +
                           "; or set cluster.gpu_memory_mib, which then holds for all nodes");
    }
    NodeSpec node = rest;
    node.gpu = {listed.gpu_model, c.gpu_speed,
                c.gpu_memory_mib.value_or(known ? known->memory_mib : 0)};
    node.gpus = listed.gpus;
    if (listed.cpu_milli > 0) node.cpu_milli = listed.cpu_milli;
    if (listed.memory_mib > 0) node.memory_mib = listed.memory_mib;
    cluster_.nodes.push_back(std::move(node));
  }
  std::int64_t gpus = 0;
  for (const NodeSpec& node : cluster_.nodes) gpus += node.gpus;
  if (gpus > kMostGpus) {
    throw InputError(list.name + ":1:1",
                     std::to_string(gpus) + " GPUs in all, expected 1000000 at most; remove nodes");
  }
  for (const std::string& skipped : list.skipped) {
    warnings_.push_back("left out " + skipped + " of " + *c.path);
  }
}

std::string Experiment::gpu_types_here() const {
  std::string text;
  for (const std::string& model : cluster_.models()) text += (text.empty() ? "" : ", ") + model;
  return text;
}

void Experiment::fit_gpu_models(Trace& trace) const {
  const std::vector<std::string> here = cluster_.models();
  // Where the configuration gives all GPUs one type, that is what the jobs are to run on.
  const bool any = !config_.cluster.path;
  std::vector<std::uint32_t> bit_of(trace.gpu_models.size(), 0);
  for (std::size_t i = 0; i < bit_of.size(); ++i) {
    const auto at = std::ranges::find(here, trace.gpu_models[i]);
    if (at != here.end()) bit_of[i] = std::uint32_t{1} << (at - here.begin());
  }
  for (std::size_t j = 0; j < trace.workload.jobs.size(); ++j) {
    std::uint32_t& models = trace.workload.jobs[j].gpu_models;
    const std::uint32_t wanted = std::exchange(models, 0);
    for (std::size_t i = 0; i < bit_of.size() && !any; ++i) {
      if ((wanted >> i & 1U) != 0) models |= bit_of[i];
    }
    if (any || wanted == 0 || models != 0) continue;
    std::string names;
    for (std::size_t i = 0; i < bit_of.size(); ++i) {
      if ((wanted >> i & 1U) != 0) names += (names.empty() ? "" : " or ") + trace.gpu_models[i];
    }
    throw InputError(config_.place("cluster.path"),
                     "job '" + printable(trace.names[j]) + "' runs on " + printable(names) +
                         " only, the cluster has " + printable(gpu_types_here(), 300) +
                         "; add such nodes or leave the job out");
  }
  trace.gpu_models = here;
}

/// What a trace that was read from a file brings with it beside the jobs.
void Experiment::note_trace_file(const Trace& trace) {
  for (const std::string& skipped : trace.skipped) {
    warnings_.push_back("left out " + skipped + " of " + printable(trace.source));
  }
  for (const std::string& file : trace.files_beside) {
    input_files_.push_back(file);
    inputs_.push_back("sha256:" + inputs_read_->sha256(file) + " " +
                      fs::path(file).filename().string());
  }
  if (trace.virtual_clusters.size() > 1 && virtual_clusters_.empty()) {
    warnings_.push_back("the jobs are of " + std::to_string(trace.virtual_clusters.size()) +
                        " virtual clusters; without cluster.virtual_clusters they are one queue");
  }
  const auto named = std::ranges::count_if(trace.workload.jobs,
                                           [](const JobSpec& j) { return j.gpu_models != 0; });
  std::string heedless;
  for (const PolicyConfig& p : config_.policies) {
    const PolicyEntry* entry = find_policy(p.name);
    if (entry != nullptr && !entry->heeds_gpu_models) {
      heedless += (heedless.empty() ? "" : ", ") + p.name;
    }
  }
  if (named > 0 && config_.cluster.path && !heedless.empty()) {
    warnings_.push_back(std::to_string(named) + " of " + std::to_string(trace.names.size()) +
                        " jobs name GPU models, and " + heedless +
                        " place them on any; fgd, best-fit, dot-product and gpu-packing do not");
  }
  if (named > 0 && !config_.cluster.path) {
    warnings_.push_back(std::to_string(named) + " of " + std::to_string(trace.names.size()) +
                        " jobs name GPU models; the cluster is of one type, " +
                        config_.cluster.gpu_type + ", and they run on it");
  }
}

void Experiment::build_world() {
  const WorldConfig& w = config_.world;
  if (w.model == "none" || w.model == "listed-pairs") {
    auto listed = std::make_shared<ListedPairs>();
    if (w.model == "listed-pairs") {
      if (!w.path) {
        throw InputError(config_.place("world.model"),
                         "the world listed-pairs reads a file: set world.path");
      }
      for (const LucidRates& row : read_lucid_rates(resolve_path(*w.path, "world.path"), keys_)) {
        listed->add(row.workloads[0], row.workloads[1], row.speeds[0], row.speeds[1]);
      }
    } else if (w.path) {
      throw InputError(config_.place("world.path"), "the world none reads no file; leave it out");
    }
    listed_ = std::move(listed);
    return;
  }
  std::vector<CorunMeasurement> rows;
  const PairTable* pairs = nullptr;
  if (w.path) {
    const std::string path = resolve_path(*w.path, "world.path");
    if (has_throughputs(path)) {
      pairs = &throughputs().pairs;
    } else if (has_row_per_pair(path)) {
      pairs = &pair_table(path);
    } else {
      rows = read_corun_csv(path, keys_).measurements;
    }
  } else {
    rows = paper_measurements(keys_);
  }
  const SpeedTable table = pairs ? pairs->speeds : speed_table(rows, ImputedProfiles::kBelieved);
  const bool measured = w.model == "measured";
  const std::string& name = measured ? w.fallback : w.model;
  const InterferenceModelEntry* entry = find_interference_model(name);
  if (entry == nullptr) {
    throw InputError(
        config_.place(measured ? "world.fallback" : "world.model"),
        "unknown model '" + printable(name) + "': " + suggest(interference_model_catalog(), name));
  }
  try {
    model_ = entry->fit(table, FitOptions{});
  } catch (const std::invalid_argument& e) {
    throw InputError(config_.place("world.path"),
                     std::string(e.what()) + "; take another model or other measurements");
  }
  MeasuredTable measured_groups = !measured ? MeasuredTable()
                                  : pairs   ? MeasuredTable(table)
                                            : MeasuredTable(rows);
  if (throughputs_) {
    const std::vector<WorkloadKey>& jobs = throughputs_->pairs.speeds.jobs;
    for (const auto& [a, b] : throughputs_->misfits) measured_groups.add_misfit(jobs[a], jobs[b]);
  }
  measured_ = std::make_shared<MeasuredTable>(std::move(measured_groups));
  if (w.path) {
    constexpr std::size_t kFew = 20;
    if (table.rows.size() < kFew) {
      warnings_.push_back("the model " + name + " is fitted on " +
                          std::to_string(table.rows.size()) + " pairs of " + *w.path +
                          ": too few to trust it where nothing was "
                          "measured (corun model eval --pairs FILE says how far off it is)");
    }
  }
  if (pairs) {
    extrapolated_ = gpu_type_of_table(pairs->gpu) != gpu_types_here() ||
                    (!pairs->sharing.empty() && pairs->sharing != config_.cluster.sharing);
    warn_of_pairs(*pairs, "the world was measured");
    return;
  }
  const std::string here = gpu_types_here();
  const bool known_here = std::any_of(rows.begin(), rows.end(), [&](const CorunMeasurement& r) {
    return r.gpu_type == here && r.sharing == config_.cluster.sharing;
  });
  extrapolated_ = !known_here;
  if (extrapolated_) {
    warnings_.push_back("the world was measured on " + rows.front().gpu_type + " with " +
                        rows.front().sharing + ", not on " + here + " with " +
                        config_.cluster.sharing + ": all co-run costs are extrapolated");
  }
}

Experiment::RatesFile Experiment::rates_file() {
  if (!config_.world.path) {
    throw InputError(config_.place("workload.source"),
                     "source '" + config_.workload.source +
                         "' counts steps: set world.path to the rates that make them time, Gavel's "
                         "simulation_throughputs.json");
  }
  std::string path = resolve_path(*config_.world.path, "world.path");
  if (!has_throughputs(path)) {
    throw InputError(config_.place("world.path"),
                     "source '" + config_.workload.source +
                         "' counts steps, and this file has no rates that make them time; name "
                         "Gavel's simulation_throughputs.json");
  }
  const std::string_view gpu = gpu_of_gavel(config_.cluster.gpu_type);
  if (gpu.empty()) {
    throw InputError(
        config_.place("cluster.gpu_type"),
        "found " + printable(config_.cluster.gpu_type) +
            ", but Gavel has rates for V100-16GB, P100-16GB and K80; take one of them");
  }
  return {std::move(path), std::string(gpu)};
}

const GavelThroughputs& Experiment::throughputs() {
  if (!throughputs_) {
    const RatesFile rates = rates_file();
    throughputs_ = std::make_shared<const GavelThroughputs>(
        read_gavel_throughputs(rates.path, rates.gpu, keys_));
  }
  return *throughputs_;
}

const PairTable& Experiment::pair_table(const std::string& path) {
  const auto known = pair_tables_.find(path);
  if (known != pair_tables_.end()) return known->second;
  PairTable table = read_pair_table(path, keys_);
  if (std::ranges::none_of(table.scored, [](bool scored) { return scored; })) {
    throw InputError(
        path + ":1:1",
        "found no pair of which both speeds were measured, expected some; give a table "
        "with norm_a and norm_b or co-run measurements");
  }
  return pair_tables_.emplace(path, std::move(table)).first->second;
}

void Experiment::warn_of_pairs(const PairTable& pairs, const std::string& who) {
  const std::string gpu(gpu_type_of_table(pairs.gpu));
  if (gpu != gpu_types_here()) {
    warnings_.push_back(who + " on " + printable(gpu) + " (" + printable(pairs.source) +
                        "), not on " + gpu_types_here() +
                        ": set cluster.gpu_type, or co-run costs are extrapolated");
  }
  if (!pairs.sharing.empty() && pairs.sharing != config_.cluster.sharing) {
    warnings_.push_back(who + " with " + printable(pairs.sharing) + " (" + printable(pairs.source) +
                        "), not with " + config_.cluster.sharing +
                        ": set cluster.sharing, or co-run costs are extrapolated");
  }
}

void Experiment::build_belief() {
  const std::string& model = config_.belief.model;
  const std::string& initial = config_.belief.initial;
  const bool clusters = model == "cluster-mean" || model == "truth";
  const auto refuse_share = [&] {
    if (config_.belief.known == 1) return;
    throw InputError(config_.place("belief.known"),
                     "belief.known is a share of measured pairs, and " + model + " from " +
                         printable(initial) +
                         " starts from none; leave it out or name a pair table in belief.initial");
  };
  if (!clusters) {
    if (initial == "none") refuse_share();
    if (initial == "jrs" || initial == "prirect" || initial == "none") {
      build_model_prior({});
    } else {
      build_model_prior(resolve_path(initial, "belief.initial"));
    }
    return;
  }
  if (const KnowledgeEntry* entry = find_knowledge(initial)) {
    refuse_share();
    initial_knowledge_ = entry->make();
  } else {
    std::vector<std::string_view> known;
    for (const KnowledgeEntry& e : knowledge_catalog()) known.push_back(e.name);
    std::error_code error;
    if (!nearest(initial, known).empty() && !fs::exists(initial, error) &&
        initial.find('/') == std::string::npos && initial.find('.') == std::string::npos) {
      throw InputError(config_.place("belief.initial"), "no knowledge base '" + printable(initial) +
                                                            "': " + did_you_mean(initial, known));
    }
    const std::string path = resolve_path(initial, "belief.initial");
    if (has_pair_header(path)) {
      if (model == "truth") {
        throw InputError(config_.place("belief.initial"),
                         "belief.model truth learns nothing from a table of pairs; leave it out");
      }
      // Clusters of the table's own jobs: the papers' centres hold for their profiles only.
      build_model_prior(path);
      return;
    }
    refuse_share();
    KnowledgeFile file = read_knowledge_file(path);
    const std::string here = gpu_types_here() + " " + config_.cluster.sharing;
    for (const KnowledgeSource& source : file.sources) {
      if (source.measured_on.empty() || source.measured_on == here) continue;
      warnings_.push_back("the belief was learnt on " + printable(source.measured_on) + " (" +
                          printable(source.name) + "), the cluster is " + here);
    }
    initial_knowledge_ = std::move(file.kb);
    // The queues that come with corun carry the papers' labels, which say nothing of other clusters.
    labels_hold_ = source_->reads_file;
  }
  if (config_.belief.overrides) {
    overrides_ = read_cluster_overrides(resolve_path(*config_.belief.overrides, "belief.overrides"),
                                        initial_knowledge_->clusters());
  }
}

void Experiment::build_model_prior(const std::optional<std::string>& path) {
  const std::string& name = config_.belief.model;
  const std::string& initial = config_.belief.initial;
  SpeedTable table;
  if (path && has_row_per_pair(*path)) {
    const PairTable& pairs = pair_table(*path);
    warn_of_pairs(pairs, "what the belief knows beforehand was measured");
    table = pairs.speeds;
  } else {
    std::vector<CorunMeasurement> rows;
    if (path) {
      rows = read_corun_csv(*path, keys_).measurements;
    } else if (initial != "none") {
      rows =
          paper_measurements(keys_, initial == "jrs" ? kJrsKnowledgeBase : kPrirectKnowledgeBase);
    }
    table = speed_table(rows, ImputedProfiles::kUnknown);
  }
  if (config_.belief.overrides) {
    throw InputError(config_.place("belief.overrides"),
                     "belief.model " + name + " has no clusters to override; leave it out");
  }
  const InterferenceModelEntry& entry = *find_interference_model(name);
  FitOptions fit;
  fit.seed = config_.belief.seed;
  try {
    if (config_.belief.known == 1) {
      model_prior_ = ModelBelief::make_prior(std::move(table), entry, fit, scoring_);
    } else {  // fitted in each replication, on what is known there; that it can be is seen now
      constexpr double kFew = 8;
      const double share = std::min(1.0, kFew / static_cast<double>(table.rows.size()));
      ModelBelief::make_prior(known_pairs(table, share, config_.seed), entry, fit);
      model_prior_ = std::make_shared<ModelBelief::Prior>(
          ModelBelief::Prior{std::move(table), nullptr, &entry, fit, scoring_});
    }
  } catch (const std::invalid_argument& e) {
    throw InputError(config_.place("belief.initial"), e.what());
  }
  initial_knowledge_ = find_knowledge("none")->make();
  if (config_.probing.probes > 0 && model_prior_->model && !model_prior_->model->learns()) {
    throw InputError(config_.place("probing.probes"),
                     "belief.model " + config_.belief.model +
                         " learns by new fits only and would have nothing of a probe when it is "
                         "over; take ensemble, gp, low-rank or measured");
  }
}

std::shared_ptr<const ModelBelief::Prior> Experiment::prior_of(std::size_t number) const {
  if (config_.belief.known == 1) return model_prior_;
  {
    const std::lock_guard lock(known_priors_mutex_);
    const auto at = known_priors_.find(number);
    if (at != known_priors_.end()) return at->second;
  }
  SpeedTable known = known_pairs(model_prior_->table, config_.belief.known, seed_of(number));
  std::shared_ptr<const ModelBelief::Prior> prior;
  try {
    prior = ModelBelief::make_prior(std::move(known), *model_prior_->entry, model_prior_->options,
                                    scoring_);
  } catch (const std::invalid_argument& e) {
    throw InputError(config_.place("belief.known"), e.what());
  }
  const std::lock_guard lock(known_priors_mutex_);
  return known_priors_.emplace(number, std::move(prior)).first->second;
}

void Experiment::build_policies() {
  std::map<std::string, int> times;
  for (const PolicyConfig& p : config_.policies) ++times[p.label.value_or(p.name)];
  std::map<std::string, int> number;
  std::set<std::string> labels;
  for (std::size_t i = 0; i < config_.policies.size(); ++i) {
    const PolicyConfig& p = config_.policies[i];
    PolicyInstance instance;
    instance.entry = find_policy(p.name);
    instance.config = &p;
    instance.place = config_.place("policies[" + std::to_string(i) + "]");
    if (instance.entry->needs_estimates && config_.estimates.duration == "none") {
      throw InputError(instance.place,
                       "policy '" + p.name +
                           "' goes by estimates of run time, found "
                           "estimates.duration: none; set it to exact or lognormal");
    }
    instance.granted_truth =
        instance.entry->needs == PolicyNeeds::kTruth ||
        (instance.entry->needs == PolicyNeeds::kBelief && config_.belief.model == "truth");
    instance.label = p.label.value_or(p.name);
    if (times[instance.label] > 1) {
      instance.label += "#" + std::to_string(++number[instance.label]);
    }
    if (!labels.insert(instance.label).second) {
      throw InputError(instance.place, "two policies are labelled '" + instance.label +
                                           "'; give one of them another label");
    }
    policies_.push_back(std::move(instance));
  }
}

void Experiment::check_trace() {
  const std::shared_ptr<const Trace> first_trace = make_trace(0);
  const Trace& trace = *first_trace;
  if (trace.workload.jobs.empty()) {
    throw InputError(config_.place("workload.path"), "the workload has no jobs");
  }
  std::vector<std::int64_t> gpus_of(1, cluster_.gpu_count());  // by virtual cluster of the trace
  if (!virtual_clusters_.empty()) {
    gpus_of.clear();
    for (const std::string& name : trace.virtual_clusters) {
      const auto at = std::ranges::find(virtual_clusters_, name, &VirtualCluster::name);
      if (at == virtual_clusters_.end()) {
        std::vector<std::string_view> known;
        for (const VirtualCluster& vc : virtual_clusters_) known.push_back(vc.name);
        throw InputError(config_.place("cluster.virtual_clusters"),
                         "jobs of virtual cluster '" + printable(name) +
                             "' have no nodes: " + did_you_mean(name, known));
      }
      gpus_of.push_back(at->nodes * config_.cluster.gpus_per_node);
    }
    if (gpus_of.empty()) {
      throw InputError(config_.place("cluster.virtual_clusters"),
                       "the jobs of this workload belong to no virtual cluster; leave it out");
    }
  }
  Time first = kNever, last{0};
  double work_s = 0;
  for (std::size_t j = 0; j < trace.workload.jobs.size(); ++j) {
    const JobSpec& job = trace.workload.jobs[j];
    const std::size_t queue = virtual_clusters_.empty() ? 0 : job.virtual_cluster;
    if (job.gpus > gpus_of[queue]) {
      throw InputError(config_.place(config_.cluster.path ? "cluster.path" : "cluster.nodes"),
                       "job '" + printable(trace.names[j]) + "' needs " + std::to_string(job.gpus) +
                           " GPUs at once, the " +
                           (virtual_clusters_.empty()
                                ? std::string("cluster")
                                : "virtual cluster " + printable(trace.virtual_clusters[queue])) +
                           " has " + std::to_string(gpus_of[queue]) + "; add nodes or GPUs");
    }
    if (labels_hold_ && trace.clusters[j] >= initial_knowledge_->clusters()) {
      throw InputError(config_.place("workload.path"),
                       "job '" + printable(trace.names[j]) + "' is of cluster " +
                           std::to_string(trace.clusters[j]) + ", expected clusters 0 to " +
                           std::to_string(initial_knowledge_->clusters() - 1) + " or none given");
    }
    if (job.gpus > 1 && config_.probing.probes > 0) {
      throw InputError(config_.place("probing.probes"),
                       "job '" + printable(trace.names[j]) + "' asks for " +
                           std::to_string(job.gpus) +
                           " GPUs: jobs that are probed want one GPU each; leave probing out");
    }
    work_s += gpu_seconds(job);
    first = std::min(first, job.submit);
    last = std::max(last, job.submit);
  }
  // A trace without arrivals over a good while is a batch: it has no offered load.
  const double jobs = static_cast<double>(trace.names.size());
  if (to_seconds(last - first) * jobs > 4 * work_s) {
    const double capacity =
        to_seconds(last - first) * cluster_.gpu_count() * config_.cluster.gpu_speed;
    const double load = work_s / capacity;
    if (load > 1) {
      char text[160];
      std::snprintf(text, sizeof text,
                    "the offered load is %.2f of what %d GPUs can do without sharing: queues grow "
                    "with the length of the trace",
                    load, cluster_.gpu_count());
      overload_ = text;
    }
  }
  if (trace.imputed_profiles > 0 && config_.workload.profiles == "jrs") {
    warnings_.push_back(
        std::to_string(trace.imputed_profiles) + " of " + std::to_string(trace.names.size()) +
        " jobs have no profile of their own (imputed): one of a measured JRS job, drawn by "
        "seed and job, stands in (workload.profiles: jrs)");
  } else if (trace.imputed_profiles > 0) {
    warnings_.push_back(
        std::to_string(trace.imputed_profiles) + " of " + std::to_string(trace.names.size()) +
        (labels_hold_ ? " jobs have no published profile: their cluster's centre stands in "
                        "(imputed)"
                      : " jobs have no published profile: they count as cluster 0 with "
                        "infinite uncertainty where overrides say nothing else"));
  }
  for (const ClusterOverride& o : overrides_) {
    if (std::find(trace.names.begin(), trace.names.end(), o.job) == trace.names.end()) {
      const std::vector<std::string_view> known(trace.names.begin(), trace.names.end());
      throw InputError(o.place, "no job '" + printable(o.job) +
                                    "' in the workload: " + did_you_mean(o.job, known));
    }
  }
  if (!overrides_.empty()) {
    warnings_.push_back(
        std::to_string(overrides_.size()) + " of " + std::to_string(trace.names.size()) +
        " jobs take their cluster or uncertainty from " + *config_.belief.overrides);
  }
  const auto blank =
      std::count_if(trace.workload.jobs.begin(), trace.workload.jobs.end(), [](const JobSpec& j) {
        return !j.profile.gpu_util_pct && !j.profile.mem_alloc_pct && !j.profile.mem_time_pct;
      });
  if (blank > 0) {
    warnings_.push_back(std::to_string(blank) + " of " + std::to_string(trace.names.size()) +
                        " jobs have no profile at all: models take average values for them, "
                        "clusters the first");
  }
  const auto unknown =
      std::count_if(trace.workload.jobs.begin(), trace.workload.jobs.end(),
                    [](const JobSpec& j) { return !j.profile.mem_used_mib.has_value(); });
  if (unknown > 0) {
    warnings_.push_back(std::to_string(unknown) + " of " + std::to_string(trace.names.size()) +
                        " jobs have no known memory demand: they cannot run out of memory");
  }
  for (const PolicyInstance& p : policies_) parameters_of(p, trace);  // names of jobs must exist
  check_pods(trace);
}

/// A pod lives on one node: those who place pods could never place what no node can hold.
void Experiment::check_pods(const Trace& trace) {
  const NodeFit nodes(cluster_);
  const auto first_lack = [&](const PolicyEntry& policy) {
    std::optional<NodeLack> lack;
    std::size_t j = 0;
    while (j < trace.workload.jobs.size() && !lack) {
      lack = nodes.lack_of(trace.workload.jobs[j++], policy.heeds_gpu_models);
    }
    if (lack) lack->what = "job '" + printable(trace.names[j - 1]) + "' " + lack->what;
    return lack;
  };
  for (auto policy = policies_.begin(); policy != policies_.end();) {
    const std::optional<NodeLack> lack =
        policy->entry->one_node ? first_lack(*policy->entry) : std::nullopt;
    if (!lack) {
      ++policy;
      continue;
    }
    const std::string what =
        lack->what + ", and " + std::string(policy->entry->name) + " places a pod on one node";
    if (config_.places.contains("policies")) {
      const std::string key = config_.cluster.path ? "" : lack->key;
      throw InputError(
          policy->place,
          what + "; leave it out or " + (key.empty() ? "add such nodes" : "raise cluster." + key));
    }
    warnings_.push_back(what + ": left out of the default comparison");
    policy = policies_.erase(policy);
  }
}

bool Experiment::same_jobs() const {
  return (file_trace_ != nullptr || !source_->generates) && config_.workload.profiles == "none";
}

std::shared_ptr<const Trace> Experiment::make_jobs(std::size_t number) const {
  if (file_trace_ && config_.workload.profiles == "none") return file_trace_;
  TraceRequest request;
  request.jobs = static_cast<int>(config_.workload.jobs);
  request.load = config_.workload.load;
  request.gpus = cluster_.gpu_count();
  request.seed = seed_of(number);
  request.pairs = source_pairs_;
  Trace trace;
  if (file_trace_) {
    trace = *file_trace_;
  } else {
    const std::lock_guard lock(keys_mutex_);
    try {
      trace = source_->make(request, keys_);
    } catch (const InputError& e) {
      throw InputError(config_.place(config_.workload.load ? "workload.load" : "workload.source"),
                       e.what());
    }
  }
  if (config_.workload.profiles == "jrs") draw_profiles(trace, request.seed);
  return std::make_shared<const Trace>(std::move(trace));
}

std::vector<JobId> Experiment::queue_order(const Trace& jobs, std::size_t number) const {
  std::vector<JobId> order = jobs.workload.arrivals;
  if (!shuffles(jobs)) return order;
  // One permutation per seed, the same for all policies; submit times stay in order.
  Rng rng(seed_of(number), Stream::kQueueOrder);
  rng.shuffle(std::span(order));
  const auto submit = [&](JobId j) { return jobs.workload.jobs[index(j)].submit; };
  if (!std::ranges::is_sorted(order, {}, submit)) std::ranges::stable_sort(order, {}, submit);
  return order;
}

bool Experiment::shuffles(const Trace& jobs) const {
  return config_.workload.order ? *config_.workload.order == "shuffled" : jobs.shuffled_by_default;
}

std::shared_ptr<const Trace> Experiment::make_trace(std::size_t number) const {
  std::shared_ptr<const Trace> jobs = make_jobs(number);
  if (!shuffles(*jobs)) return jobs;
  auto trace = std::make_shared<Trace>(*jobs);
  trace->workload.arrivals = queue_order(*jobs, number);
  return trace;
}

std::vector<Duration> Experiment::solo_times(const Trace& trace) const {
  std::vector<Duration> solo;
  solo.reserve(trace.names.size());
  for (const JobSpec& job : trace.workload.jobs) {
    solo.push_back(
        Duration{std::llround(static_cast<double>(job.work.count()) / config_.cluster.gpu_speed)});
  }
  return solo;
}

std::unique_ptr<World> Experiment::make_world(const Trace& trace) const {
  if (listed_) return std::make_unique<ListedPairsWorld>(listed_, trace.keys);
  std::vector<double> features;
  features.reserve(trace.names.size() * model_->features().size());
  for (std::size_t j = 0; j < trace.names.size(); ++j) {
    const Profile& profile = trace.workload.jobs[j].profile;
    for (const double x :
         features_of(trace, j, profile, model_->features(), ImputedProfiles::kBelieved)) {
      features.push_back(x);
    }
  }
  return std::make_unique<InterferenceWorld>(measured_, model_, trace.keys, std::move(features),
                                             extrapolated_);
}

std::unique_ptr<Belief> Experiment::initial_belief(const Trace& trace) const {
  std::vector<ClusterAssignment> assignments;
  assignments.reserve(trace.names.size());
  for (std::size_t j = 0; j < trace.names.size(); ++j) {
    const Profile& profile = trace.workload.jobs[j].profile;
    // Without the papers' labels a stand-in for an unpublished profile is no profile.
    ClusterAssignment a = assign_cluster(initial_knowledge_->clustering(),
                                         labels_hold_ || !profile.imputed ? profile : Profile{});
    if (labels_hold_) {
      if (trace.clusters[j] >= 0) a.cluster = trace.clusters[j];
      if (!std::isnan(trace.uncertainties[j])) a.uncertainty = trace.uncertainties[j];
    }
    assignments.push_back(a);
  }
  for (const ClusterOverride& o : overrides_) {
    const auto at = std::find(trace.names.begin(), trace.names.end(), o.job);
    if (at == trace.names.end()) continue;  // replications of a resampled queue differ in names
    ClusterAssignment& a = assignments[static_cast<std::size_t>(at - trace.names.begin())];
    if (o.cluster) a.cluster = *o.cluster;
    if (o.uncertainty) a.uncertainty = *o.uncertainty;
  }
  return std::make_unique<ClusterMeanBelief>(*initial_knowledge_, std::move(assignments));
}

Parameters Experiment::parameters_of(const PolicyInstance& policy, const Trace& trace) const {
  Parameters parameters(policy.entry->parameters);
  const std::string own =
      "policies[" + std::to_string(policy.config - config_.policies.data()) + "].";
  for (const auto& [name, setting] : policy.config->settings) {
    const auto spec = std::ranges::find(policy.entry->parameters, name, &ParameterSpec::name);
    if (spec->kind == ParameterKind::kTexts) {
      if (const auto* texts = std::get_if<std::vector<std::string>>(&setting)) {
        parameters.set(name, *texts);
      }
      continue;
    }
    std::visit(
        [&, key = name](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            std::vector<JobId> jobs;
            for (const std::string& job : value) {
              const auto at = std::find(trace.names.begin(), trace.names.end(), job);
              if (at == trace.names.end()) {
                const std::vector<std::string_view> known(trace.names.begin(), trace.names.end());
                throw InputError(
                    config_.place(own + key),
                    "no job '" + printable(job) + "' in the workload: " + did_you_mean(job, known));
              }
              const JobId id{static_cast<std::uint32_t>(at - trace.names.begin())};
              if (std::find(jobs.begin(), jobs.end(), id) != jobs.end()) {
                throw InputError(config_.place(own + key),
                                 "job '" + printable(job) + "' is named twice");
              }
              jobs.push_back(id);
            }
            parameters.set(key, std::move(jobs));
          } else {
            if constexpr (std::is_same_v<T, std::vector<std::pair<int, int>>>) {
              for (const auto& [a, b] : value) {
                if (std::max(a, b) < initial_knowledge_->clusters()) continue;
                throw InputError(config_.place(own + key),
                                 "found cluster " + std::to_string(std::max(a, b)) +
                                     ", expected clusters 0 to " +
                                     std::to_string(initial_knowledge_->clusters() - 1));
              }
            }
            parameters.set(key, value);
          }
        },
        setting);
  }
  for (const ParameterSpec& spec : policy.entry->parameters) {
    if (spec.kind != ParameterKind::kTexts || !parameters.texts(spec.name).empty()) continue;
    throw InputError(policy.place, "policy '" + std::string(policy.entry->name) + "' needs " +
                                       std::string(spec.name) + ": " +
                                       std::string(spec.description));
  }
  return parameters;
}

std::unique_ptr<Policy> Experiment::make_policy(const Trace& trace, std::size_t number,
                                                const PolicyInstance& policy, const World& world,
                                                const std::atomic<bool>* stop) const {
  PolicyContext context{parameters_of(policy, trace), nullptr, seed_of(number),
                        config_.control.plan == "once", stop};
  if (policy.granted_truth) {
    context.belief = std::make_unique<TruthBelief>(world, solo_times(trace), config_.world.noise);
  } else if (policy.entry->needs == PolicyNeeds::kBelief && model_prior_) {
    const std::shared_ptr<const ModelBelief::Prior> prior = prior_of(number);
    std::vector<BelievedJob> jobs;
    for (const JobView& face : make_faces(trace, number)) {
      jobs.push_back({trace.keys[index(face.id)],
                      features_of(trace, index(face.id), face.profile, prior->table.features,
                                  ImputedProfiles::kUnknown),
                      face.estimate});
    }
    context.belief = std::make_unique<ModelBelief>(prior, std::move(jobs));
  } else if (policy.entry->needs == PolicyNeeds::kBelief) {
    context.belief = initial_belief(trace);
  }
  return policy.entry->make(std::move(context));
}

JobView Experiment::make_face(const Trace& trace, std::size_t number, JobId id) const {
  const JobSpec& job = trace.workload.jobs[index(id)];
  JobView face = face_of(id, job);
  if (config_.estimates.duration == "exact") face.estimate = job.work;
  if (config_.estimates.duration == "lognormal") {
    Rng rng(seed_of(number), Stream::kEstimates, index(id));
    face.estimate =
        from_seconds(to_seconds(job.work) * std::exp(config_.estimates.sigma * rng.normal()));
  }
  return face;
}

std::vector<JobView> Experiment::make_faces(const Trace& trace, std::size_t number) const {
  std::vector<JobView> faces;
  faces.reserve(trace.names.size());
  for (std::size_t j = 0; j < trace.names.size(); ++j) {
    faces.push_back(make_face(trace, number, static_cast<JobId>(j)));
  }
  return faces;
}

SubmitWindow Experiment::measured_window(const Workload& workload) const {
  const auto jobs = static_cast<double>(workload.arrivals.size());
  const auto submit = [&](std::size_t place) {
    return workload.jobs[index(workload.arrivals[place])].submit;
  };
  SubmitWindow window;
  if (const double first = std::floor(config_.measure.skip_first * jobs); first > 0) {
    window.from = submit(static_cast<std::size_t>(first));
  }
  if (const double last = std::floor(config_.measure.skip_last * jobs); last > 0) {
    window.to = submit(workload.arrivals.size() - 1 - static_cast<std::size_t>(last));
  }
  return window;
}

PolicyRun Experiment::run_policy(const Trace& trace, std::size_t number,
                                 const PolicyInstance& policy,
                                 const RunObservation& observation) const {
  const SubmitWindow window = measured_window(trace.workload);
  std::optional<MetricsCollector> collector;
  if (!observation.keep_records) collector.emplace(trace.names.size(), window);
  PolicyRun run;
  if (virtual_clusters_.empty()) {
    run = run_cluster(cluster_, trace, number, policy, observation,
                      collector ? &*collector : nullptr);
  } else {
    run.record.jobs.resize(trace.names.size());
    const std::vector<TracePart> parts = split_by_virtual_cluster(trace, virtual_clusters_);
    std::size_t first_node = 0;
    for (std::size_t v = 0; v < parts.size(); ++v) {
      ClusterSpec cluster = cluster_;
      const auto nodes = static_cast<std::size_t>(virtual_clusters_[v].nodes);
      const auto first = cluster_.nodes.begin() + static_cast<std::ptrdiff_t>(first_node);
      cluster.nodes.assign(first, first + static_cast<std::ptrdiff_t>(nodes));
      first_node += nodes;
      EventLog log;
      RunObservation observed = observation;
      if (observation.log != nullptr) observed.log = &log;
      PolicyRun part = run_cluster(cluster, parts[v].trace, number, policy, observed, nullptr);
      if (observation.log != nullptr) {
        renumber(log, parts[v], run.record.gpu_count);
        observation.log->insert(observation.log->end(), log.begin(), log.end());
      }
      add_part(run.record, std::move(part.record), parts[v]);
      run.decide_s += part.decide_s;
      run.longest_decision_s = std::max(run.longest_decision_s, part.longest_decision_s);
      run.pass_times.add(part.pass_times);
      run.losses.add(part.losses);
    }
    sort_by_end(run.record);
    if (observation.log != nullptr) std::ranges::stable_sort(*observation.log, {}, &LogEntry::at);
    collector.reset();  // parts are put together from their records
  }
  run.metrics =
      collector ? std::move(*collector).finish(run.record) : compute_metrics(run.record, window);
  if (!observation.keep_records) {
    run.record.jobs = {};
    run.record.episodes = {};
    run.record.probes = {};
  }
  return run;
}

PolicyRun Experiment::run_cluster(const ClusterSpec& cluster, const Trace& trace,
                                  std::size_t number, const PolicyInstance& policy,
                                  const RunObservation& observation, RunSink* sink) const {
  const std::unique_ptr<World> world = make_world(trace);
  const std::unique_ptr<Policy> inner =
      make_policy(trace, number, policy, *world, observation.stop);
  PolicyRun run;
  ObservedPolicy observed(*inner, run, observation);

  const bool rounds = config_.control.mode == "rounds";
  if (rounds && inner->joins_always()) {
    throw InputError(policy.place,
                     "policy '" + policy.label +
                         "' places jobs beside running ones, and control.mode: rounds "
                         "starts whole groups on empty GPUs; leave it out");
  }
  SimulationOptions options;
  if (config_.world.noise) options.noise_seed = seed_of(number);
  options.profile_epoch = config_.profiling.mode == "epoch";
  options.profiling_keeps_progress = config_.profiling.keeps_progress;
  options.probes_keep_progress = config_.probing.keeps_progress;
  options.preemption = {from_seconds(config_.preemption.save_s),
                        from_seconds(config_.preemption.restore_s), config_.preemption.lost_work};
  options.tick = seconds_or_zero(config_.control.tick_s);
  options.tick_rule =
      config_.control.tick_rule == "progress" ? TickRule::kProgress : TickRule::kNotice;
  options.sink = sink;
  ControlOptions control;
  control.start = config_.control.start == "join" ? StartMode::kJoin : StartMode::kGroup;
  const std::string& mode = config_.profiling.mode;
  control.profiling = mode == "epoch"       ? ProfilingMode::kEpoch
                      : mode == "minute"    ? ProfilingMode::kMinute
                      : mode == "predictor" ? ProfilingMode::kPredictor
                                            : ProfilingMode::kNone;
  if (!rounds) control.round = seconds_or_zero(config_.control.round_s);
  control.reallocate = seconds_or_zero(config_.control.reallocate_s);
  control.oom_retries = cluster.oom.retries;
  control.probes = static_cast<int>(config_.probing.probes);
  control.probe_length = from_seconds(config_.probing.seconds);
  const auto run_on = [&](auto backend) {
    int largest_gang = 1;
    for (const JobSpec& job : trace.workload.jobs) largest_gang = std::max(largest_gang, job.gpus);
    JobSource jobs(trace.names.size(), largest_gang,
                   [&](JobId job) { return make_face(trace, number, job); });
    ControlLoop loop(backend, observed, policy.label, std::move(jobs), control);
    const std::size_t passes = loop.run(observation.log);
    observed.end_of_pass();
    run.record = backend.take_record();
    run.record.passes = passes;
  };
  try {
    if (rounds) {
      run_on(RoundBackend(cluster, trace.workload, *world,
                          {from_seconds(*config_.control.round_s), options.noise_seed}));
      if (sink != nullptr) {
        for (std::size_t j = 0; j < run.record.jobs.size(); ++j) {
          sink->job(static_cast<JobId>(j), run.record.jobs[j]);
        }
        for (const EpisodeRecord& episode : run.record.episodes) sink->episode(episode);
      }
    } else {
      run_on(SimulatedBackend(cluster, trace.workload, *world, options));
    }
  } catch (const PolicyError& e) {
    throw InputError(policy.place, e.what());
  } catch (const InputError& e) {  // the engine's: it knows no places
    throw InputError(config_.place(file_trace_ ? "workload.path" : "workload.source"), e.what());
  }
  return run;
}

Replication Experiment::run(std::size_t number, const RunObservation& observation) const {
  Replication replication;
  replication.number = number;
  replication.trace = make_trace(number);
  for (const PolicyInstance& policy : policies_) {
    replication.runs.push_back(run_policy(*replication.trace, number, policy, observation));
  }
  forget(number);
  return replication;
}

void Experiment::check_runs() const {
  const std::atomic<bool> at_once{true};  // looked at before the first decision
  const std::shared_ptr<const Trace> trace = make_trace(0);
  for (const PolicyInstance& policy : policies_) {
    try {
      run_policy(*trace, 0, policy, {.stop = &at_once, .keep_records = false});
    } catch (const Interrupted&) {
    }
  }
  forget(0);
}

void Experiment::forget(std::size_t number) const {
  const std::lock_guard lock(known_priors_mutex_);
  known_priors_.erase(number);
}

}  // namespace corun
