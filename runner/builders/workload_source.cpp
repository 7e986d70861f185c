#include "runner/builders/workload_source.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/builders/elastic_builder.hpp"
#include "runner/builders/gpu_model_fit.hpp"
#include "runner/builders/type_names.hpp"
#include "runner/inputs/file_kind.hpp"
#include "runner/inputs/zoo_profiles.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/job_csv.hpp"
#include "traces/paper_workloads.hpp"
#include "traces/phase_table.hpp"
#include "traces/tables/apply_solo_table.hpp"
#include "traces/tables/measured_jobs.hpp"

namespace corun::inline runner {

namespace {

/// Gives each job without any profile that of a measured JRS job, drawn by (seed, job). For this run it is the
/// job's true profile, which world and policies use.
void draw_profiles(Trace& trace, std::uint64_t seed) {
  const std::vector<Profile>& measured = jrs_profiles();
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    Profile& profile = trace.jobs[j].spec.profile;
    if (profile.gpu_util_pct || profile.mem_alloc_pct || profile.mem_time_pct) continue;
    const auto memory = profile.mem_used_mib;
    const auto label = profile.packing_label;
    Rng rng(seed, Stream::kTraceProfiles, j);
    profile = measured[rng.below(static_cast<std::uint32_t>(measured.size()))];
    if (memory) profile.mem_used_mib = memory;
    profile.packing_label = label;
    ++trace.drawn_profiles;
  }
}

bool names_zoo_model(const TraceJob& job) { return job.zoo_run != nullptr; }

const TraceEntry& find_source(const Config& config) {
  const std::string& name = config.workload.source;
  if (const TraceEntry* entry = find_trace(name)) return *entry;
  std::vector<std::string_view> known;
  for (const TraceEntry& e : trace_catalog()) known.push_back(e.name);
  throw InputError(config.place("workload.source"),
                   "unknown workload source '" + name + "': " + did_you_mean(name, known));
}

/// Refuses keys that the source does not use.
void refuse_useless_keys(const Config& config, const TraceEntry& source, bool given) {
  const WorkloadConfig& w = config.workload;
  if (w.columns && !source.takes_columns) {
    throw InputError(
        config.place("workload.columns"),
        "workload.columns is for source csv and known logs, found " + w.source + "; leave it out");
  }
  if (w.labels && w.source != "lucid") {
    throw InputError(
        config.place("workload.labels"),
        "workload.labels is for source lucid, found source " + w.source + "; leave it out");
  }
  const bool elastic = w.source == "pollux";
  if (!elastic || given) {
    const WorkloadConfig usual;
    for (const auto& [key, set] :
         {std::pair("workload.part", w.part != usual.part),
          std::pair("workload.programs", w.programs != usual.programs),
          std::pair("workload.adaptivity", w.adaptivity != usual.adaptivity),
          std::pair("workload.interference", w.interference != usual.interference),
          std::pair("workload.start_s", w.start_s != usual.start_s),
          std::pair("workload.expected_start_s", w.expected_start_s != usual.expected_start_s),
          std::pair("workload.refit_s", w.refit_s != usual.refit_s),
          std::pair("workload.largest_local_batch",
                    w.largest_local_batch != usual.largest_local_batch),
          std::pair("workload.calibrated", w.calibrated != usual.calibrated)}) {
      if (!set) continue;
      throw InputError(
          config.place(key),
          std::string(key) + " is for source pollux, found source " + w.source + "; leave it out");
    }
  }
  if (elastic && !given) {
    for (const auto& [key, set] : {std::pair("workload.phases", w.phases.has_value()),
                                   std::pair("workload.solo_times", w.solo_times.has_value()),
                                   std::pair("workload.gpu_type", w.gpu_type.has_value())}) {
      if (!set) continue;
      throw InputError(config.place(key),
                       std::string(key) +
                           " is not for source pollux, whose jobs have their speed "
                           "and phases from workload.programs; leave it out");
    }
  }
  const bool reads_log = source.reads_file && !source.generates;
  if (w.phases && (given || !reads_log)) {
    throw InputError(
        config.place("workload.phases"),
        "workload.phases is for sources that read jobs, found " + w.source + "; leave it out");
  }
  for (const auto& [key, set] : {std::pair("workload.states", w.states.has_value()),
                                 std::pair("workload.strict", w.strict)}) {
    if (!set || reads_log) continue;
    throw InputError(
        config.place(key),
        std::string(key) + " is for sources that read a log, found " + w.source + "; leave it out");
  }
  if (given || source.generates) return;
  // Default values are accepted because a dumped configuration contains them.
  const bool jobs = w.jobs != WorkloadConfig{}.jobs;
  if (!jobs && !w.load) return;
  const std::string key = jobs ? "workload.jobs" : "workload.load";
  throw InputError(config.place(key), key + " is for sources that generate jobs, and '" + w.source +
                                          "' does not; leave it out, or make a trace of that "
                                          "size and load: corun trace generate --like FILE");
}

}  // namespace

WorkloadSource::WorkloadSource(std::shared_ptr<const Config> config, const Cluster& cluster,
                               std::optional<Trace> queue, InputFiles& files)
    : config_(std::move(config)),
      tables_(std::make_shared<MeasurementTables>(config_->cluster.sharing)),
      entry_(&find_source(*config_)),
      cluster_(&cluster),
      types_(*config_, cluster),
      shares_keys_(!queue),
      given_(queue ? std::make_shared<const Trace>(std::move(*queue)) : nullptr) {
  refuse_useless_keys(*config_, *entry_, is_given());
  if (is_given()) {
    note_units(*given_);
  } else {
    read_jobs(files);
  }
  services_ = ServiceBuilder(*config_, files);
  if (services_.empty() || given_ == nullptr) return;
  auto with_replicas = std::make_shared<Trace>(*given_);
  services_.add_replicas(*with_replicas, tables_->keys());
  if (!shares_keys_) {  // the keys of the tables mean other workloads in this queue
    for (TraceJob& job : with_replicas->jobs) {
      if (job.spec.is_replica()) job.key = kUnknownWorkload;
    }
  }
  given_ = std::move(with_replicas);
}

void WorkloadSource::read_jobs(InputFiles& files) {
  const WorkloadConfig& w = config_->workload;
  if (!entry_->reads_file) {
    if (w.path) {
      throw InputError(config_->place("workload.path"),
                       "source '" + w.source + "' reads no file; remove workload.path");
    }
    read_solo_times(files);
    return;
  }
  if (!w.path) {
    throw InputError(config_->place("workload.source"),
                     "source '" + w.source + "' reads a file: set workload.path");
  }
  if (entry_->draws_from_solo_table) {
    drawn_from_solo_ = &solo_table(files, *w.path, "workload.path");
  } else if (entry_->generates) {
    drawn_from_ = &tables_->pairs(files.find(*w.path, config_->place("workload.path")));
  } else {
    read_file(*cluster_, files);
  }
  if (entry_->generates) read_solo_times(files);
}

/// The name of workload.gpu_type in the table from which jobs are drawn; nothing if it is not told.
std::optional<std::string> WorkloadSource::reference_of_draws() const {
  const std::optional<std::string>& told = config_->workload.gpu_type;
  if (!told || drawn_from_solo_ == nullptr) return told;
  for (const std::string& type : drawn_from_solo_->types) {
    if (cluster_->types.same(type, *told)) return type;
  }
  return told;
}

/// After the trace: its keys come first.
void WorkloadSource::read_solo_times(InputFiles& files) {
  const std::optional<std::string>& path = config_->workload.solo_times;
  if (!path) return;
  solo_times_ = &solo_table(files, *path, "workload.solo_times");
}

const SoloTable& WorkloadSource::solo_table(InputFiles& files, const std::string& path,
                                            const char* key) {
  const SoloTable& table = tables_->solo(files.find(path, config_->place(key)));
  for (const std::string& file : table.files_beside) files.add(file);
  std::vector<TypeName> types;
  for (std::size_t t = 0; t < table.types.size(); ++t) {
    types.push_back({table.types[t], table.type_places[t]});
  }
  check_type_names(types, *cluster_);
  return table;
}

void WorkloadSource::predict_profiles(Trace& trace) {
  const auto first = std::ranges::find_if(trace.jobs, names_zoo_model);
  if (first == trace.jobs.end()) return;
  const std::string reference = types_.reference(trace);
  const std::string name = reference.empty() ? config_->cluster.gpu_type : reference;
  const GpuSpec* type = cluster_->types.find(name);
  if (type == nullptr) {
    throw InputError(first->zoo_run->place,
                     "a job names a model of the zoo, but nothing is known of the GPU type '" +
                         printable(name) + "', on which its profile would be predicted; " +
                         cluster_->types.advice(name));
  }
  const std::size_t predicted = predict_zoo_profiles(trace, *type);
  add_note(notes_, NoteCode::kZooProfiles, "",
           fmt::format("the profiles of {} jobs that name a model of the zoo are "
                       "predicted, on {}, by built-in formulas (docs/predictors.md)",
                       predicted, type->name));
}

void WorkloadSource::fit_types(Trace& trace) const {
  if (solo_times_ != nullptr) {
    const std::string reference = types_.reference(trace);
    const std::string place = config_->place("workload.solo_times");
    const std::vector<std::string>& types = solo_times_->types;
    const auto same = [&](std::string_view a, std::string_view b) {
      return cluster_->types.same(a, b);
    };
    if (std::ranges::none_of(types, [&](const std::string& t) { return same(t, reference); })) {
      throw InputError(
          place,
          (reference.empty() ? std::string("the GPU type of the run times is not known")
                             : "the run times are of GPU type '" + printable(reference) + "'") +
              ", expected one of the table's types " +
              printable(fmt::format("{}", fmt::join(types, ", ")), 200) +
              ", from which the others follow; set workload.gpu_type");
    }
    if (apply_solo_table(trace, *solo_times_, reference, same) == 0) {
      throw InputError(place, "no job has a workload of " + printable(solo_times_->source) +
                                  ", expected names such as '" +
                                  printable(solo_times_->names.front()) +
                                  "' in the trace's column workload; name another table");
    }
  }
  if (restricts_gpu_models(*cluster_, trace)) fit_gpu_models(*config_, *cluster_, trace);
}

/// The phases of workloads that the table of solo times has, on the GPU types of the cluster.
void WorkloadSource::fit_phases(Trace& trace) const {
  if (trace.phases.empty() || solo_times_ == nullptr) return;
  Trace phases = without_jobs(trace);
  phases.jobs = std::exchange(phases.phases, {});
  const std::string reference = types_.reference(trace);
  apply_solo_table(phases, *solo_times_, reference, [&](std::string_view a, std::string_view b) {
    return cluster_->types.same(a, b);
  });
  trace.phases = std::move(phases.jobs);
}

void WorkloadSource::read_file(const Cluster& cluster, InputFiles& files) {
  const WorkloadConfig& w = config_->workload;
  TraceQuery query;
  query.source = entry_;
  query.path = files.find(*w.path, config_->place("workload.path"));
  check_kind(query.path, {FileKind::kJobs, FileKind::kProfiles}, "a job trace");
  if (entry_->reads_rates) {
    RatesFile rates = find_rates(*config_, files);
    query.rates = std::move(rates.path);
    query.gpu = std::move(rates.gpu);
  }
  if (w.columns) {
    query.columns = parse_renamed_columns(*w.columns, config_->place("workload.columns"));
  }
  query.part = w.part;
  query.rules.strict = w.strict;
  if (w.states)
    query.rules.states = parse_chosen_states(*w.states, config_->place("workload.states"));
  if (w.labels) query.labels = files.find(*w.labels, config_->place("workload.labels"));
  const std::shared_ptr<const TraceFile> read = files.cache().trace(query);
  // A shared trace was read with its own keys, so the experiment's keys must begin with the same
  // names.
  for (std::size_t k = 0; k < read->keys.size(); ++k) {
    tables_->keys().of(read->keys.text(static_cast<WorkloadKey>(k)));
  }
  tables_->take_rates(read->rates, query.rates);
  note_file(read->trace, cluster, files);
  given_ = {read, &read->trace};
  if (has_elastic_programs(*config_)) {
    auto elastic = std::make_shared<Trace>(read->trace);
    tables_->take_elastic(make_elastic(*config_, cluster, read->keys, files, *elastic));
    given_ = std::move(elastic);
    return;
  }
  read_solo_times(files);
  const std::map<WorkloadKey, double> memory = measured_memory(read->trace, cluster, files);
  if (memory.empty() && solo_times_ == nullptr && !w.phases &&
      !restricts_gpu_models(cluster, read->trace) &&
      std::ranges::none_of(read->trace.jobs, names_zoo_model)) {
    return;
  }
  auto fitted = std::make_shared<Trace>(read->trace);
  for (TraceJob& job : fitted->jobs) {
    const auto known = memory.find(job.key);
    if (known == memory.end() || job.spec.profile.mem_used_mib) continue;
    job.spec.profile.mem_used_mib = known->second;
  }
  predict_profiles(*fitted);
  if (w.phases) {
    const std::string phases = files.find(*w.phases, config_->place("workload.phases"));
    read_phases(phases, tables_->keys(), *fitted);
  }
  fit_types(*fitted);
  fit_phases(*fitted);
  given_ = std::move(fitted);
}

/// The memory of world.path's measurements by job, where jobs of the trace lack theirs; a note says how many. None of
/// measurements on GPU types that the cluster lacks.
std::map<WorkloadKey, double> WorkloadSource::measured_memory(const Trace& trace,
                                                              const Cluster& cluster,
                                                              InputFiles& files) {
  const WorldConfig& world = config_->world;
  const bool learns = world.model != WorldKind::kNone && world.model != WorldKind::kListedPairs;
  const auto lacks = [](const TraceJob& job) {
    return job.key != kUnknownWorkload && !job.spec.profile.mem_used_mib;
  };
  if (!world.path || !learns || std::ranges::none_of(trace.jobs, lacks)) return {};
  const std::string path = files.find(*world.path, config_->place("world.path"));
  const auto form = measurement_form(path);
  if (!form || *form == MeasurementForm::kRates) return {};
  const Measurements& table = tables_->measured(path, *config_);
  const auto is_here = [&](const std::string& gpu) {
    return std::ranges::any_of(cluster.spec.models(), [&](const std::string& type) {
      return cluster.types.same(type, gpu);
    });
  };
  if (!std::ranges::all_of(measured_types(table, cluster.types), is_here)) return {};
  std::map<WorkloadKey, double> memory = measured_memory_mib(table);
  const auto gains = [&](const TraceJob& job) { return lacks(job) && memory.contains(job.key); };
  const auto count = std::ranges::count_if(trace.jobs, gains);
  if (count == 0) return {};
  add_note(notes_, NoteCode::kMemoryOfMeasurements, table.source,
           fmt::format("the memory demand of {} job{} is that of {}", count, count == 1 ? "" : "s",
                       printable(table.source)));
  return memory;
}

void WorkloadSource::note_file(const Trace& trace, const Cluster& cluster, InputFiles& files) {
  for (const LeftOut& left_out : trace.left_out) {
    add_note(notes_, NoteCode::kJobsLeftOut, trace.source,
             "left out " + text_of(left_out) + " of " + printable(trace.source));
  }
  for (const std::string& assumption : trace.assumptions) {
    add_note(notes_, NoteCode::kAssumption, trace.source,
             printable(trace.source) + ": " + assumption);
  }
  if (!trace.unread_columns.empty()) {
    add_note(notes_, NoteCode::kUnknownColumns, trace.source,
             fmt::format("columns of {} that corun does not know, which results have in /runs: {}",
                         printable(trace.source),
                         printable(fmt::format("{}", fmt::join(trace.unread_columns, ", ")), 200)));
    if (std::ranges::all_of(trace.jobs, [](const TraceJob& j) { return j.spec.gpus == 1; })) {
      notes_.back().text += "; every job takes one GPU";
    }
  }
  for (const std::string& file : trace.files_beside) files.add(file);
  note_units(trace);
  const std::string place = config_->place("workload.path");
  std::vector<TypeName> types;
  for (const MeasuredType& type : trace.measured_types) {
    types.push_back({type.name, type.place.empty() ? place : type.place});
  }
  check_type_names(types, cluster);
  if (config_->cluster.path || config_->cluster.machines) check_gpu_models(trace, cluster, place);
  if (trace.virtual_clusters.size() > 1 && cluster.virtual_clusters.empty()) {
    add_note(notes_, NoteCode::kOneQueue, "cluster.virtual_clusters",
             "the jobs are of " + std::to_string(trace.virtual_clusters.size()) +
                 " virtual clusters; without cluster.virtual_clusters they are one queue");
  }
  const auto named =
      std::ranges::count_if(trace.jobs, [](const TraceJob& j) { return j.spec.gpu_models != 0; });
  if (named == 0 || config_->cluster.path || config_->cluster.machines) return;
  add_note(notes_, NoteCode::kOtherGpuTypes, "cluster.gpu_type",
           std::to_string(named) + " of " + std::to_string(trace.jobs.size()) +
               " jobs name GPU models; the cluster is of one type, " + config_->cluster.gpu_type +
               ", and they run on it");
}

/// Questions each percentage of the profiles that lies between 0 and 1 in all jobs.
void WorkloadSource::note_units(const Trace& trace) {
  struct Column {
    const char* name;
    std::optional<double> Profile::*value;
  };
  for (const Column& column : {Column{"gpu_util_pct", &Profile::gpu_util_pct},
                               Column{"mem_alloc_pct", &Profile::mem_alloc_pct},
                               Column{"mem_time_pct", &Profile::mem_time_pct}}) {
    std::size_t known = 0;
    double largest = 0;
    for (const TraceJob& job : trace.jobs) {
      const std::optional<double>& value = job.spec.profile.*column.value;
      if (!value) continue;
      ++known;
      largest = std::max(largest, *value);
    }
    if (largest == 0 || largest > 1) continue;  // 0 % is 0 in any unit
    add_note(notes_, NoteCode::kDoubtfulUnit, column.name,
             "all " + std::to_string(known) + " known values of " + column.name +
                 " lie between 0 and 1, expected percent (50 for a half); they are read as "
                 "percent: are they fractions?");
  }
}

std::shared_ptr<const Trace> WorkloadSource::trace(std::size_t replication) const {
  const WorkloadConfig& w = config_->workload;
  if (given_ != nullptr && w.profiles != MissingProfiles::kJrs) return given_;
  const std::uint64_t seed = seed_of(*config_, replication);
  Trace trace;
  if (given_) {
    trace = *given_;
  } else {
    TraceRequest request;
    request.jobs = static_cast<int>(w.jobs);
    request.load = w.load;
    request.gpus = cluster_->spec.gpu_count();
    request.seed = seed;
    request.pairs = drawn_from_;
    request.solo = drawn_from_solo_;
    request.reference_type = reference_of_draws();
    const std::lock_guard lock(keys_mutex_);
    try {
      trace = entry_->make(request, tables_->keys());
    } catch (const InputError& e) {
      throw InputError(config_->place(w.load ? "workload.load" : "workload.source"), e.what());
    }
    fit_types(trace);
    services_.add_replicas(trace, tables_->keys());
  }
  if (w.profiles == MissingProfiles::kJrs) draw_profiles(trace, seed);
  return std::make_shared<const Trace>(std::move(trace));
}

bool WorkloadSource::draws_jobs() const {
  const bool generates = given_ == nullptr && entry_->generates;
  return generates || config_->workload.profiles == MissingProfiles::kJrs;
}

bool WorkloadSource::shuffles(const Trace& trace) const {
  return config_->workload.order ? *config_->workload.order == QueueOrder::kShuffled
                                 : trace.shuffled_by_default;
}

std::vector<JobId> WorkloadSource::arrivals(const Trace& trace, std::size_t replication) const {
  std::vector<JobId> order = by_submit_time(trace);
  if (shuffles(trace)) {
    Rng rng(seed_of(*config_, replication), Stream::kQueueOrder);
    rng.shuffle(std::span(order));
    sort_by_submit_time(trace, order);
  }
  if (!services_.empty()) {  // of one instant services first: they are deployed when jobs come
    std::ranges::stable_partition(order,
                                  [&](JobId j) { return trace.jobs[index(j)].spec.is_replica(); });
    sort_by_submit_time(trace, order);
  }
  return order;
}

}  // namespace corun::inline runner
