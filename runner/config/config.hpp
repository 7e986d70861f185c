#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policies/parameters.hpp"
#include "runner/config/config_enums.hpp"
#include "runner/config/model_choice.hpp"

/// The configuration of an experiment as typed structs with their defaults. config_keys.hpp lists
/// the keys, docs/configuration.md documents them, config_yaml.hpp reads and writes them. Keys end
/// in their unit. An empty optional is `null` in YAML.
namespace corun::inline policies {
struct PolicyEntry;
}

namespace corun::inline runner {

struct WorkloadConfig {
  std::string source = "jrs-queue";  ///< a name from `corun list traces`
  std::optional<std::string> path;   ///< file, for sources that read one
  /// Names of columns of the file, for source csv: parse_renamed_columns() (traces/job_csv.hpp).
  std::optional<std::string> columns;
  /// States of jobs that count, for files that say them: parse_chosen_states() (traces/logs/job_states.hpp); null:
  /// those that have ended.
  std::optional<std::string> states;
  bool strict = false;                ///< the first row that is left out is an error
  std::optional<std::string> labels;  ///< CSV of packing labels by workload, for source lucid
  /// GPU type of the solo times; null: that of the file, else the first of cluster.machines.
  std::optional<std::string> gpu_type;
  std::optional<std::string> solo_times;  ///< table of solo times by workload and GPU type
  std::optional<std::string> phases;      ///< table of phases: traces/phase_table.hpp
  std::optional<std::string> services;    ///< beside the jobs: traces/requests/service_list.hpp
  /// Of a file with several lists of jobs the one that counts, "SET/WORKLOAD"; for source pollux.
  std::optional<std::string> part;
  std::string programs = "elastic/sia";        ///< folder of measured programs, for source pollux
  Adaptivity adaptivity = Adaptivity::kRigid;  ///< of the jobs of source pollux
  /// Share of its speed that a job on several nodes loses while it shares one with another such job; for source pollux.
  double interference = 0;
  std::optional<double>
      start_s;  ///< cost of each start and resize; null: by program; for source pollux
  std::optional<std::string>
      largest_local_batch;  ///< "MODEL=SAMPLES,..." in place of the measured limits; likewise
  /// "MODEL=SECONDS,...": what schedulers expect of a start's cost, in place of the cost; likewise.
  std::optional<std::string> expected_start_s;
  /// Adaptive jobs fit a model to the steps that they measure, and choose their batch by it anew at each multiple of this
  /// time; 0: they take the truly best batch; likewise.
  double refit_s = 0;
  bool calibrated = false;          ///< steps take longer by sia_calibration_slowdown; likewise
  std::optional<QueueOrder> order;  ///< null: the source's own default
  std::int64_t jobs = 24;           ///< how many jobs a generated source makes
  std::optional<double> load;       ///< offered work over capacity; null: all jobs at time 0
  MissingProfiles profiles = MissingProfiles::kNone;
};

struct OomConfig {
  double ramp_s = 30;
  std::int64_t retries = 3;
};

/// What it costs to set up a run of a job, the first and all later ones.
struct StartConfig {
  double cost_s = 0;                 ///< at full speed
  std::optional<std::string> costs;  ///< "WORKLOAD=SECONDS,...": parse_start_costs()
  double sigma = 0;                  ///< log-standard deviation of a start's cost
};

/// GPUs of a node where only the number of all GPUs is given (corun replay --gpus).
inline constexpr std::int64_t kNodeGpus = 8;

struct ClusterConfig {
  std::optional<std::string> path;  ///< node list (openb); null: nodes, gpus_per_node, gpu_type ...
  std::optional<std::string> machines;  ///< nodes of several GPU types: parse_machines()
  std::int64_t nodes = 4;
  std::int64_t gpus_per_node = 1;
  std::optional<std::int64_t> nodes_per_switch;  ///< null: all nodes are on one switch
  std::string gpu_type = "V100-16GB";
  std::optional<std::string> gpu_types;  ///< YAML file of own GPU types (gpu_types_file.hpp)
  std::optional<double> gpu_memory_mib;  ///< null: that of the GPU type
  double gpu_speed = 1;                  ///< relative to the trace's reference GPU type
  std::int64_t cpu_milli_per_node = 32000;
  std::int64_t memory_mib_per_node = 131072;
  SharingMode sharing = SharingMode::kTimeSlicing;
  std::optional<std::int64_t> max_jobs_per_gpu;
  std::optional<std::string> virtual_clusters;  ///< CSV of virtual clusters and their nodes
  OomConfig oom;
  StartConfig start;
};

struct WorldConfig {
  WorldModel model = WorldKind::kMeasured;
  ModelName fallback{"contention"};  ///< of kMeasured, for co-runs without a measurement
  std::optional<std::string> path;   ///< *.corun.csv or a pair table; null: the papers' tables
  double effort = 1;  ///< of the fit of the model (models/interference/fits/effort.hpp)
  bool noise = true;
  /// Speed of a gang alone relative to one node: on several nodes of a switch, and on several switches.
  double across_nodes = 1;
  double across_switches = 1;
  /// Links of a GPU [Gbit/s], for jobs that tell the message of a step: within a node, between nodes, between switches.
  std::optional<double> gbps_in_node;
  std::optional<double> gbps_across_nodes;
  std::optional<double> gbps_across_switches;
  double job_sigma = 0;          ///< log-standard deviation of a job's speed
  double run_sigma = 0;          ///< of the speed of each of its runs around that
  double stragglers = 0;         ///< share of runs with straggler_speed
  double straggler_speed = 0.5;  ///< relative to other runs
};

struct BeliefConfig {
  BeliefModel model = BeliefKind::kClusterMean;
  std::string initial = "jrs";  ///< a name of `corun list knowledge`, or FILE: a
                                ///< knowledge base, *.corun.csv or a pair table
  double known = 1;             ///< share of the measured pairs known beforehand
  std::uint64_t seed = 1;  ///< of the random draws of a model's fit, the same in all replications
  double effort = 1;       ///< of the fit (models/interference/fits/effort.hpp)
  std::optional<std::string> overrides;  ///< CSV of clusters and uncertainties by job
};

struct EstimatesConfig {
  EstimateKind duration = EstimateKind::kNone;
  double sigma = 0.5;                          ///< of lognormal, in log units
  EstimateKind memory = EstimateKind::kExact;  ///< Profile::mem_used_mib
  double memory_sigma = 0.1;
  EstimateKind utilisation = EstimateKind::kExact;  ///< Profile::gpu_util_pct
  double utilisation_sigma = 0.15;
};

struct ProfilingConfig {
  ProfilingMode mode = ProfilingMode::kNone;
  bool keeps_progress = false;
};

struct ProbingConfig {
  std::int64_t probes = 0;  ///< per job, before the policy may start it; 0: none
  double seconds = 120;     ///< length of one
  bool keeps_progress = false;
};

struct PreemptionConfig {
  double save_s = 0;                       ///< overhead to save a preempted job's state
  double restore_s = 0;                    ///< overhead to load it when the job starts again
  double lost_work = 0;                    ///< share (0 to 1) of the run's progress that is lost
  std::optional<std::int64_t> large_gang;  ///< gangs of more GPUs take large_restore_s; null: none
  double large_restore_s = 0;
  bool adds_up = false;  ///< costs that a preempted run had not paid are paid by the next run, too
};

struct ControlConfig {
  ControlMode mode = ControlMode::kEvents;
  StartMode start = StartMode::kGroup;
  PlanMode plan = PlanMode::kOnline;
  std::optional<double> round_s;       ///< rounds: length of one; events: passes at multiples of it
  std::optional<double> reallocate_s;  ///< least time between two passes
  std::optional<double> tick_s;
  TickRule tick_rule = TickRule::kNotice;
  double notice_s = 0;      ///< from the end of a job's work to its report
  double notice_sigma = 0;  ///< log-standard deviation of that
  double round_per_start_s =
      0;  ///< mode events: a round is longer by this for each job that starts or moves in it
  double round_sigma = 0;  ///< log-standard deviation of a round's length
};

/// What results have. Shares (0 to 1) are of all jobs in order of submission, and metrics leave these jobs out.
struct MeasureConfig {
  double skip_first = 0;  ///< warm-up
  double skip_last = 0;   ///< cool-down
  /// Results files have what happened within runs; figures do not depend on it.
  bool details = true;
};

struct PolicyConfig {
  std::string name;
  std::optional<std::string> label;                ///< its name in the output; null: `name`
  std::map<std::string, ParameterValue> settings;  ///< only those given
  /// Its entry in the catalogue with which the configuration was read, which must outlive this; null: the one of
  /// policy_catalog().
  const PolicyEntry* entry = nullptr;
  std::optional<std::string> published = {};  ///< what a paper says of it; shown beside its results
};

/// Where the values of keys are, for the messages of errors: "world.path" -> "FILE:LINE:COLUMN" (or
/// "--set world.path=..."). Keys of policies are "policies[0].epsilon".
class KeyPlaces {
 public:
  void set(const std::string& key, std::string place) { places_[key] = std::move(place); }
  /// "the default of KEY" if the key was not given.
  std::string of(const std::string& key) const {
    const auto it = places_.find(key);
    return it == places_.end() ? "the default of " + key : it->second;
  }

 private:
  friend class GivenKeys;  // runner/experiment/resolved_config.cpp alone asks which keys were given
  std::map<std::string, std::string> places_;
};

struct Config {
  WorkloadConfig workload;
  ClusterConfig cluster;
  WorldConfig world;
  BeliefConfig belief;
  EstimatesConfig estimates;
  ProfilingConfig profiling;
  ProbingConfig probing;
  PreemptionConfig preemption;
  ControlConfig control;
  MeasureConfig measure;
  std::vector<PolicyConfig> policies;  ///< never empty once read
  std::int64_t replications = 200;
  std::uint64_t seed = 1;

  KeyPlaces places;
  /// Directory in which relative paths are looked up first; empty: the working directory.
  std::string directory;

  /// The place of a key's value, for an error message.
  std::string place(const std::string& key) const { return places.of(key); }
};

/// The embedded default: fcfs, random, kube-default, balance, min-slowdown, max-packing, opposites,
/// exclusive, oracle on the JRS queue.
Config default_config();

}  // namespace corun::inline runner
