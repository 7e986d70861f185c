#include "runner/builders/world_builder.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knowledge/effort.hpp"
#include "knowledge/model_origin.hpp"
#include "models/interference/groups/campaigns.hpp"
#include "models/interference/measured_speeds.hpp"
#include "models/types_world.hpp"
#include "runner/builders/model_files.hpp"
#include "runner/inputs/job_features.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/paper_workloads.hpp"
#include "traces/tables/lucid_pairs.hpp"

namespace corun::inline runner {

namespace {

std::set<WorkloadKey> workloads_of(const Measurements& table) {
  std::set<WorkloadKey> keys(table.speeds.jobs.begin(), table.speeds.jobs.end());
  for (const CorunMeasurement& run : table.runs) {
    for (const CorunMember& member : run.members) keys.insert(member.workload);
  }
  return keys;
}

/// The measured groups of a table, if their speeds count, and its misfits.
MeasuredTable groups_of(const Measurements& table, bool with_speeds) {
  MeasuredTable groups;
  if (with_speeds) {
    groups = table.runs.empty() ? MeasuredTable(table.speeds) : MeasuredTable(table.runs);
  }
  for (const auto& [a, b] : table.misfits) {
    groups.add_misfit(table.speeds.jobs[a], table.speeds.jobs[b]);
  }
  return groups;
}

/// Links that are not given are unlimited within a node and between nodes, and as these between switches.
LevelLinks links_of(const WorldConfig& world) {
  LevelLinks links;
  links.in_node = world.gbps_in_node.value_or(links.in_node);
  links.across_nodes = world.gbps_across_nodes.value_or(links.across_nodes);
  links.across_switches = world.gbps_across_switches.value_or(links.across_nodes);
  return links;
}

}  // namespace

WorldBuilder::WorldBuilder(const Config& config, const Cluster& cluster, InputFiles& files,
                           std::shared_ptr<MeasurementTables> tables)
    : tables_(std::move(tables)),
      levels_{config.world.across_nodes, config.world.across_switches},
      links_(links_of(config.world)),
      links_place_(config.place("world.gbps_in_node")),
      types_of_jobs_(config, cluster) {
  const WorldConfig& w = config.world;
  const std::vector<std::string> types = cluster.spec.models();
  by_type_.assign(types.size(), 0);
  if (w.model == WorldKind::kNone || w.model == WorldKind::kListedPairs) {
    list_pairs(config, files);
    return;
  }
  const std::optional<std::string> own_rates = rates_of_trace(config, files);
  if (own_rates && w.path) {
    add_note(notes_, NoteCode::kRatesOfTrace, "world.path",
             "the rates are those that come with the trace: world.path is not read");
  }
  if (w.path && !own_rates) {
    model_file_ = find_model_file(config, "world.path", *w.path, files, tables_->keys());
  }
  if (model_file_) {
    refuse_effort(config);
    note_effort(printable(*w.path), model_file_->model->effort());
    const auto nothing = std::make_shared<MeasuredTable>();
    const InterferenceModel& model = *model_file_->model;
    const Sharing sharing = sharing_of(cluster.spec.sharing).value_or(Sharing::kUnknown);
    for (std::size_t t = 0; t < types.size(); ++t) {
      CoRunCosts costs{nothing, model_on(model_file_->model, types[t], cluster.spec.sharing),
                       !is_of_several_campaigns(model) &&
                           contradicts(model.groups().campaign, campaign_on(types[t], sharing))};
      const auto known = std::ranges::find(costs_, costs);
      by_type_[t] = static_cast<std::size_t>(known - costs_.begin());
      if (known == costs_.end()) costs_.push_back(std::move(costs));
    }
    return;
  }
  std::string path;
  if (own_rates) {
    path = *own_rates;
  } else if (w.path) {
    path = files.find(*w.path, config.place("world.path"));
  }
  Measurements papers;
  if (path.empty()) papers.runs = paper_measurements(tables_->keys());
  const Measurements& read = path.empty() ? papers : tables_->measured(path, config);
  measured_on_ = measured_types(read, cluster.types);
  if (w.model == WorldKind::kMeasured) {
    workloads_ = std::make_unique<const std::set<WorkloadKey>>(workloads_of(read));
    otherwise_ =
        "the model " + std::string(w.fallback.text()) + " gives the costs of their co-runs";
  }
  const auto costs_of = [&](const Measurements& from) {
    auto measured =
        std::make_shared<const MeasuredTable>(groups_of(from, w.model == WorldKind::kMeasured));
    const SpeedTable speeds =
        from.runs.empty() ? from.speeds : speed_table(from.runs, ImputedProfiles::kBelieved);
    return CoRunCosts{std::move(measured), fit(config, speeds, files.cache().models())};
  };
  const CoRunCosts reference = costs_of(read);
  note_effort("the world's model", reference.model->effort());
  for (std::size_t t = 0; t < types.size(); ++t) {
    CoRunCosts costs = reference;
    // Gavel has rates of its own for each of its types.
    const Measurements* rates =
        types.size() > 1 && !path.empty() ? tables_->rates_on(path, types[t]) : nullptr;
    if (rates != nullptr && rates != &read) {
      costs = costs_of(*rates);
    } else if (read.runs.empty()) {
      costs.extrapolated = !cluster.types.same(read.gpu, types[t]);
    } else {
      costs.extrapolated = std::ranges::none_of(read.runs, [&](const CorunMeasurement& r) {
        return cluster.types.same(r.gpu_type, types[t]) && r.sharing == cluster.spec.sharing;
      });
    }
    if (!read.sharing.empty()) costs.extrapolated |= read.sharing != cluster.spec.sharing;
    const auto known = std::ranges::find(costs_, costs);
    by_type_[t] = static_cast<std::size_t>(known - costs_.begin());
    if (known == costs_.end()) costs_.push_back(std::move(costs));
  }
  if (types.size() > 1) {
    note_extrapolated(types);
  } else if (!read.runs.empty()) {
    note_origin(read.runs, cluster);
  } else {
    append(notes_, measured_elsewhere(read, cluster, "the world was measured"));
  }
}

void WorldBuilder::refuse_effort(const Config& config) {
  if (config.world.effort == 1) return;
  throw InputError(config.place("world.effort"),
                   "world.effort is of a fit, and '" + printable(*config.world.path) +
                       "' is a model that is fitted already; leave it out");
}

void WorldBuilder::note_effort(const std::string& model, double effort) {
  add_note(notes_, NoteCode::kReducedEffort, "world.effort", told_of_effort(model, effort));
}

/// Names the types of a mixed cluster on which co-run costs are extrapolated.
void WorldBuilder::note_extrapolated(const std::vector<std::string>& types) {
  std::vector<std::string> elsewhere;
  for (std::size_t t = 0; t < types.size(); ++t) {
    if (costs_[by_type_[t]].extrapolated) elsewhere.push_back(types[t]);
  }
  if (elsewhere.empty()) return;
  add_note(notes_, NoteCode::kExtrapolated, "world.model",
           fmt::format("the world was measured on {}: co-run costs on {} are extrapolated",
                       printable(fmt::format("{}", fmt::join(measured_on_, ", ")), 200),
                       printable(fmt::format("{}", fmt::join(elsewhere, ", ")), 200)));
}

void WorldBuilder::list_pairs(const Config& config, InputFiles& files) {
  const WorldConfig& w = config.world;
  auto listed = std::make_shared<ListedPairs>();
  std::set<WorkloadKey> workloads;
  if (w.model == WorldKind::kListedPairs) {
    if (!w.path) {
      throw InputError(config.place("world.model"),
                       "the world listed-pairs reads a file: set world.path");
    }
    const std::string path = files.find(*w.path, config.place("world.path"));
    for (const LucidRates& row : read_lucid_rates(path, tables_->keys())) {
      listed->add(row.workloads[0], row.workloads[1], row.speeds[0], row.speeds[1]);
      workloads.insert(row.workloads.begin(), row.workloads.end());
    }
    workloads_ = std::make_unique<const std::set<WorkloadKey>>(std::move(workloads));
    otherwise_ = "they lose nothing by sharing";
  } else if (w.path) {
    throw InputError(config.place("world.path"), "the world none reads no file; leave it out");
  }
  listed_ = std::move(listed);
}

std::shared_ptr<const InterferenceModel> WorldBuilder::fit(const Config& config,
                                                           const SpeedTable& table,
                                                           ModelCache& models) {
  const WorldConfig& w = config.world;
  const ModelName& model = w.model == WorldKind::kMeasured ? w.fallback : *w.model.model();
  std::shared_ptr<const InterferenceModel> fitted;
  FitOptions options;
  options.threads = models.threads();
  options.effort = w.effort;
  try {
    fitted = models.fit(model.entry(), table, options);
  } catch (const std::invalid_argument& e) {
    throw InputError(config.place("world.path"),
                     std::string(e.what()) + (w.model == WorldKind::kMeasured
                                                  ? "; set world.fallback to another model, such "
                                                    "as factors, or take other measurements"
                                                  : "; take another model or other measurements"));
  }
  constexpr std::size_t kFew = 20;
  if (w.path && table.rows.size() + table.groups.size() < kFew) {
    add_note(notes_, NoteCode::kFewMeasurements, *w.path,
             "the model " + std::string(model.text()) + " is fitted on " +
                 std::to_string(table.rows.size() + table.groups.size()) +
                 (table.groups.empty() ? " pairs of " : " pairs and groups of ") + *w.path +
                 ": too few to trust it where nothing was "
                 "measured (corun model eval --pairs FILE says how far off it is)");
  }
  // A model that draws takes five times as long to judge as to fit: the user who chose it has `corun model eval`.
  if (w.path && !model.entry().draws)
    note_lost(config, models.held_out(model.entry(), table, options));
  return fitted;
}

/// Says so if the model predicts pairs that its fit has not seen no better than their mean does.
void WorldBuilder::note_lost(const Config& config, const std::optional<HeldOutError>& error) {
  if (!error || !error->lost()) return;
  const WorldConfig& w = config.world;
  const bool falls_back = w.model == WorldKind::kMeasured;
  add_note(
      notes_, NoteCode::kLosesToMean, falls_back ? "world.fallback" : "world.model",
      fmt::format("{} of {} loses to the mean: its ISD of pairs that a fit has not seen is off by "
                  "{:.1f} points, that of their "
                  "mean by {:.1f} ({} pairs in five folds); set {} to another model (corun model "
                  "eval --split pairs --pairs FILE "
                  "compares them)",
                  falls_back ? fmt::format("world.fallback, the model {},", w.fallback.text())
                             : fmt::format("the model {}", w.model.model()->text()),
                  printable(*w.path), 100 * error->model, 100 * error->mean, error->pairs,
                  falls_back ? "it" : "world.model"));
}

void WorldBuilder::note_origin(const std::vector<CorunMeasurement>& rows, const Cluster& cluster) {
  if (!costs_.front().extrapolated) return;
  const std::string here = cluster.gpu_types();
  add_note(notes_, NoteCode::kExtrapolated, "world.model",
           "the world was measured on " + rows.front().gpu_type + " with " + rows.front().sharing +
               ", not on " + here + " with " + cluster.spec.sharing +
               ": all co-run costs are extrapolated");
}

std::string WorldBuilder::unmeasured_workloads(const Trace& trace) const {
  constexpr std::size_t kNamed = 3;
  if (!workloads_) return "";
  std::set<WorkloadKey> unknown;
  std::string names;
  std::size_t jobs = 0;
  for (const WorkloadKey key : keys_of(trace)) {
    if (key == kUnknownWorkload || workloads_->contains(key)) continue;
    ++jobs;
    if (!unknown.insert(key).second || unknown.size() > kNamed) continue;
    names += (names.empty() ? "'" : ", '") + printable(tables_->keys().text(key)) + "'";
  }
  if (jobs == 0) return "";
  if (unknown.size() > kNamed) names += " and " + std::to_string(unknown.size() - kNamed) + " more";
  return std::to_string(jobs) + " of " + std::to_string(trace.jobs.size()) +
         " jobs name workloads that no measurement of the world has (" + names + "): " + otherwise_;
}

std::unique_ptr<World> WorldBuilder::world(const Trace& trace) const {
  if (!trace.phases.empty()) return world(with_phases_as_jobs(trace));
  std::unique_ptr<World> world = co_runs(trace);
  if (tables_->elastic() != nullptr) {
    const std::shared_ptr<const ElasticJobs>& elastic = tables_->elastic();
    return std::make_unique<AllocationWorld>(std::move(world), elastic, elastic);
  }
  const auto speeds = speeds_by_allocation(trace);
  if (speeds == nullptr) return world;
  return std::make_unique<AllocationWorld>(std::move(world), speeds, speeds);
}

/// Null if no job's speed depends on its allocation.
std::shared_ptr<const AllocationSpeeds> WorldBuilder::speeds_by_allocation(
    const Trace& trace) const {
  const bool spans = levels_.across_nodes < 1 || levels_.across_switches < 1;
  const auto depends = [&](const TraceJob& job) {
    return job.spec.gpus_max > 0 || (links_.given() && job.message_mib > 0);
  };
  if (!spans && std::ranges::none_of(trace.jobs, depends)) return nullptr;
  std::vector<ParallelJob> jobs;
  for (const TraceJob& job : trace.jobs) {
    const ParallelJob parallel{job.spec.gpus, job.parallel_share, std::max(job.run_nodes, 1),
                               job.message_mib, job.step_s};
    const double exchange_s = AllocationSpeeds::measured_exchange_s(parallel, links_);
    if (exchange_s >= job.step_s && exchange_s > 0) {
      throw InputError(links_place_,
                       fmt::format("job '{}' exchanges {} MiB in {:.3g} s on the nodes of its run, "
                                   "but its step took {:.3g} s in all; expected a faster link or a "
                                   "smaller message_mib",
                                   printable(job.name), job.message_mib, exchange_s, job.step_s));
    }
    jobs.push_back(parallel);
  }
  return std::make_shared<const AllocationSpeeds>(std::move(jobs), levels_, links_);
}

/// The world but for what depends on the allocation.
std::unique_ptr<World> WorldBuilder::co_runs(const Trace& trace) const {
  std::vector<std::unique_ptr<World>> worlds;
  if (listed_) worlds.push_back(std::make_unique<ListedPairsWorld>(listed_, keys_of(trace)));
  for (const CoRunCosts& costs : costs_) worlds.push_back(world_of(trace, costs));
  std::shared_ptr<const JobTypeTable> on_types = types_of_jobs_.table(trace);
  if (worlds.size() == 1 && !on_types) return std::move(worlds.front());
  return std::make_unique<TypesWorld>(std::move(worlds), by_type_, std::move(on_types));
}

std::unique_ptr<World> WorldBuilder::world_of(const Trace& trace, const CoRunCosts& costs) const {
  std::vector<double> features;
  features.reserve(trace.jobs.size() * costs.model->features().size());
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const Profile& profile = trace.jobs[j].spec.profile;
    for (const SpeedTable::Feature& feature : costs.model->features()) {
      features.push_back(feature_of(trace, j, profile, feature, ImputedProfiles::kBelieved));
    }
  }
  bool extrapolated = costs.extrapolated;
  if (is_of_several_campaigns(*costs.model)) {
    std::vector<PairJob> jobs;
    const std::size_t width = costs.model->features().size();
    for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
      jobs.push_back({trace.jobs[j].key, {features.data() + j * width, width}});
    }
    extrapolated |= is_new_there(*costs.model, jobs);
  }
  return std::make_unique<InterferenceWorld>(costs.measured, costs.model, keys_of(trace),
                                             std::move(features), extrapolated);
}

}  // namespace corun::inline runner
