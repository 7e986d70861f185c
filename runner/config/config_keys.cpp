#include "runner/config/config_keys.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "models/interference/fits/effort.hpp"
#include "runner/config/policy_reader.hpp"
#include "runner/config/scope.hpp"
#include "sim/base/text.hpp"

namespace corun::inline runner {
namespace {

using KeyList = std::vector<ConfigKey>;
using Words = std::vector<std::string_view>;

// Upper bounds lie far beyond any experiment. They catch typing errors that would fill the memory,
// keep products from overflowing, and keep durations within 64-bit nanoseconds.
constexpr std::int64_t kMillion = 1'000'000;
constexpr Within<std::int64_t> kCount{1, kMillion};
constexpr Within<std::int64_t> kPerNode{1, 1'000'000 * kMillion};
constexpr Within<double> kDuration{1e-9, 1e9};
constexpr Within<double> kDurationOrNone{0, kDuration.max};
constexpr Within<double> kFactor{1e-6, 1e6};
constexpr Within<double> kShare{0, 1};
constexpr Within<double> kSpeedAcross{1e-3, 1};
constexpr Within<double> kGbps{1e-3, 1e9};
constexpr Within<double> kSigma{0, 10};
constexpr Within<double> kEffort{kLeastEffort, 1};

KeyText text(Slot<std::string> slot) { return {slot}; }
KeyFlag flag(Slot<bool> slot) { return {slot}; }
KeyNumber<double> number(Slot<double> slot, Within<double> range) { return {slot, range}; }
KeyNumber<std::int64_t> whole(Slot<std::int64_t> slot, Within<std::int64_t> range) {
  return {slot, range};
}
KeyNumber<std::uint64_t> seed(Slot<std::uint64_t> slot, std::uint64_t max) {
  return {slot, {0, max}};
}

template <NamedEnum E>
KeyWord enum_word(Slot<E> slot) {
  return {words_of<E>(), slot.may_be_null(),
          [slot](std::optional<std::string_view> word) {
            slot.set(word ? parse_enum<E>(*word).value() : std::optional<E>());
          },
          [slot]() -> std::optional<std::string_view> {
            const std::optional<E> value = slot.get();
            return value ? std::optional(name_of(*value)) : std::nullopt;
          }};
}
template <NamedEnum E>
KeyWord word(E& value) {
  return enum_word(Slot<E>(value));
}
template <NamedEnum E>
KeyWord word(std::optional<E>& value) {
  return enum_word(Slot<E>(value));
}

/// A ModelName or a ModelOr.
template <typename Choice>
KeyWord model(Choice& choice, Words words) {
  return {std::move(words), false,
          [&choice](std::optional<std::string_view> name) {
            choice = Choice::find(name.value()).value();
          },
          [&choice] { return std::optional(choice.text()); }};
}

void add(KeyList& keys, WorkloadConfig& c) {
  const KeyList list{
      {"workload.source", text(c.source), "where the jobs come from: one of corun list traces"},
      {"workload.path", text(c.path), "the file, for sources that read one"},
      {"workload.columns", text(c.columns),
       "names of the file's columns, THEIRS=OURS,..., for source csv; THEIRS= leaves one out"},
      {"workload.states", text(c.states),
       "states of jobs that count, such as completed,failed; null: those "
       "that have ended"},
      {"workload.strict", flag(c.strict),
       "true: the first row of the file that is left out is an error"},
      {"workload.labels", text(c.labels),
       "CSV job,label of packing labels by workload, for source lucid"},
      {"workload.gpu_type", text(c.gpu_type),
       "GPU type of the solo times; null: that of the file, else the first of cluster.machines"},
      {"workload.solo_times", text(c.solo_times),
       "table of solo times and memory by workload and GPU type, for jobs of any source"},
      {"workload.phases", text(c.phases),
       "table of phases of jobs that change, by job or workload; for sources that read jobs"},
      {"workload.services", text(c.services),
       "table of services, whose replicas run beside the jobs; for jobs of any source"},
      {"workload.part", text(c.part),
       "SET/WORKLOAD of a file with several lists of jobs, for source pollux"},
      {"workload.programs", text(c.programs),
       "folder with the measurements of the jobs' programs, for source pollux"},
      {"workload.adaptivity", word(c.adaptivity),
       "source pollux: what may change: nothing; the number of GPUs; that and the batch size"},
      {"workload.interference", number(c.interference, {0, 0.99}),
       "source pollux: share of speed that jobs on several nodes lose beside another such job"},
      {"workload.start_s", number(c.start_s, kDurationOrNone),
       "source pollux: time without work at each start and resize of a job; null: by program"},
      {"workload.expected_start_s", text(c.expected_start_s),
       "source pollux: MODEL=SECONDS,...: what policies expect of that time, if not the truth"},
      {"workload.refit_s", number(c.refit_s, kDurationOrNone),
       "source pollux: jobs choose their batch by a model that they fit anew so often; 0: the "
       "best"},
      {"workload.largest_local_batch", text(c.largest_local_batch),
       "source pollux: MODEL=SAMPLES,...: most samples on a GPU, in place of the measured limit"},
      {"workload.calibrated", flag(c.calibrated),
       "source pollux: true: progress is slower by the factor that Sia's simulator fitted"},
      {"workload.order", word(c.order),
       "shuffled: one permutation of the arrivals per seed; null: the source's own default"},
      {"workload.jobs", whole(c.jobs, {1, 10 * kMillion}),
       "how many jobs a generated source makes"},
      {"workload.load", number(c.load, kFactor),
       "offered work over capacity without sharing, for generated sources; null: all at time 0"},
      {"workload.profiles", word(c.profiles),
       "what jobs without a profile get; jrs: that of a measured JRS job, drawn by seed and job"},
  };
  keys.insert(keys.end(), list.begin(), list.end());
}

void add(KeyList& keys, ClusterConfig& c) {
  const KeyList list{
      {"cluster.path", text(c.path),
       "node list of several GPU types, in place of nodes, gpus_per_node and gpu_type"},
      {"cluster.machines", text(c.machines),
       "nodes of several GPU types, NODESxGPUS:TYPE+..., in place of nodes, gpus_per_node, "
       "gpu_type"},
      {"cluster.nodes", whole(c.nodes, kCount), "nodes of the simulated cluster"},
      {"cluster.gpus_per_node", whole(c.gpus_per_node, kCount), "GPUs of each node"},
      {"cluster.nodes_per_switch", whole(c.nodes_per_switch, kCount),
       "nodes on each switch (rack), in their order; null: one switch has all"},
      {"cluster.gpu_type", text(c.gpu_type), "sets the memory of a GPU"},
      {"cluster.gpu_types", text(c.gpu_types),
       "YAML file of GPU types of your own, beside those of corun list gpus"},
      {"cluster.gpu_memory_mib", number(c.gpu_memory_mib, {1e-6, 1e12}),
       "memory of a GPU in place of the type's, or of a type of your own"},
      {"cluster.gpu_speed", number(c.gpu_speed, kFactor),
       "speed of a GPU relative to the trace's reference GPU"},
      {"cluster.cpu_milli_per_node", whole(c.cpu_milli_per_node, kPerNode),
       "thousandths of a core that a node offers to policies that place pods"},
      {"cluster.memory_mib_per_node", whole(c.memory_mib_per_node, kPerNode),
       "main memory that a node offers to policies that place pods"},
      {"cluster.sharing", word(c.sharing), "how jobs share a GPU"},
      {"cluster.max_jobs_per_gpu", whole(c.max_jobs_per_gpu, kCount),
       "hard limit of jobs on a GPU; null: as many as the policy says"},
      {"cluster.virtual_clusters", text(c.virtual_clusters),
       "CSV vc,nodes of virtual clusters, each with a queue and a policy of its own"},
      {"cluster.oom.ramp_s", number(c.oom.ramp_s, kDurationOrNone),
       "how long after its start a job above the memory limit fails"},
      {"cluster.oom.retries", whole(c.oom.retries, {0, kMillion}),
       "how often such a job is submitted again"},
      {"cluster.start.cost_s", number(c.start.cost_s, kDurationOrNone),
       "to set up each run of a job, at full speed"},
      {"cluster.start.costs", text(c.start.costs),
       "the same for jobs of a workload or model, NAME=SECONDS,..."},
      {"cluster.start.sigma", number(c.start.sigma, kSigma),
       "log-standard deviation of these costs"},
  };
  keys.insert(keys.end(), list.begin(), list.end());
}

void add(KeyList& keys, WorldConfig& c) {
  const KeyList list{
      {"world.model", model(c.model, world_model_words()),
       "what co-runs cost; measured: as measured, else by world.fallback; none: nothing"},
      {"world.fallback", model(c.fallback, world_fallback_words()),
       "the model for what was not measured: one of corun list models"},
      {"world.path", text(c.path),
       "*.corun.csv of measurements, a table of pairs or a model file; null: the papers' tables"},
      {"world.effort", number(c.effort, kEffort),
       "share of the work that the fit of the model takes; below 1 for trials, it errs more"},
      {"world.noise", flag(c.noise), "false: expected speeds"},
      {"world.across_nodes", number(c.across_nodes, kSpeedAcross),
       "speed of a gang on several nodes of a switch, relative to one node"},
      {"world.across_switches", number(c.across_switches, kSpeedAcross),
       "the same on several switches"},
      {"world.gbps_in_node", number(c.gbps_in_node, kGbps),
       "link of a GPU within its node [Gbit/s], for jobs with message_mib; null: unlimited"},
      {"world.gbps_across_nodes", number(c.gbps_across_nodes, kGbps),
       "the same between nodes of a switch"},
      {"world.gbps_across_switches", number(c.gbps_across_switches, kGbps),
       "the same between switches; null: as between nodes"},
      {"world.job_sigma", number(c.job_sigma, kSigma),
       "log-standard deviation of a job's speed, in all of its runs"},
      {"world.run_sigma", number(c.run_sigma, kSigma),
       "the same of each run around its job's speed"},
      {"world.stragglers", number(c.stragglers, kShare), "share of runs that have straggler_speed"},
      {"world.straggler_speed", number(c.straggler_speed, kSpeedAcross),
       "of these runs, relative to others"},
  };
  keys.insert(keys.end(), list.begin(), list.end());
}

void add(KeyList& keys, BeliefConfig& c) {
  const KeyList list{
      {"belief.model", model(c.model, belief_model_words()),
       "what policies think co-runs cost; truth: the world's expected costs"},
      {"belief.initial", text(c.initial),
       "what is known beforehand: one of corun list knowledge, or a file"},
      {"belief.known", number(c.known, kShare),
       "share of the measured pairs of belief.initial that is known beforehand"},
      {"belief.seed",
       seed(c.seed, std::numeric_limits<std::int64_t>::max()),  // as model fit --seed
       "of the random draws of a model's fit, the same in all replications"},
      {"belief.effort", number(c.effort, kEffort),
       "share of the work that the fit of the model takes; below 1 for trials, it errs more"},
      {"belief.overrides", text(c.overrides),
       "CSV of clusters and uncertainties of jobs in place of those of their profiles"},
  };
  keys.insert(keys.end(), list.begin(), list.end());
}

void add(KeyList& keys, EstimatesConfig& estimates, ProfilingConfig& profiling,
         ProbingConfig& probing, PreemptionConfig& preemption) {
  const KeyList list{
      {"estimates.duration", word(estimates.duration), "the run times that policies see"},
      {"estimates.sigma", number(estimates.sigma, kSigma), "log-standard deviation of lognormal"},
      {"estimates.memory", word(estimates.memory), "the memory demands that policies see"},
      {"estimates.memory_sigma", number(estimates.memory_sigma, kSigma),
       "log-standard deviation of lognormal"},
      {"estimates.utilisation", word(estimates.utilisation),
       "the GPU utilisation that policies see"},
      {"estimates.utilisation_sigma", number(estimates.utilisation_sigma, kSigma),
       "log-standard deviation of lognormal"},
      {"profiling.mode", word(profiling.mode),
       "how jobs get the profile that policies need; epoch and minute: alone on a GPU, first"},
      {"profiling.keeps_progress", flag(profiling.keeps_progress),
       "whether the work of the profiling segment counts"},
      {"probing.probes", whole(probing.probes, {0, 1000}),
       "how many probes a job goes through before it is offered to a policy that learns from them"},
      {"probing.seconds", number(probing.seconds, kDuration),
       "how long two jobs run together in a probe"},
      {"probing.keeps_progress", flag(probing.keeps_progress),
       "whether the work of a probe counts"},
      {"preemption.save_s", number(preemption.save_s, kDurationOrNone),
       "to save a job that is taken off its GPUs, at full speed"},
      {"preemption.restore_s", number(preemption.restore_s, kDurationOrNone),
       "to load it when it starts again, at full speed"},
      {"preemption.lost_work", number(preemption.lost_work, kShare),
       "share of what the run had done that must be done again"},
      {"preemption.large_gang", whole(preemption.large_gang, kCount),
       "gangs of more GPUs than this take large_restore_s; null: none do"},
      {"preemption.large_restore_s", number(preemption.large_restore_s, kDurationOrNone),
       "in place of restore_s, for large gangs"},
      {"preemption.adds_up", flag(preemption.adds_up),
       "whether a run pays what the run before was preempted too soon to pay"},
  };
  keys.insert(keys.end(), list.begin(), list.end());
}

void add(KeyList& keys, ControlConfig& c) {
  const KeyList list{
      {"control.mode", word(c.mode), "rounds: events only at ends of rounds"},
      {"control.start", word(c.start),
       "join: a waiting job may join a running one; group: only an empty GPU takes jobs"},
      {"control.plan", word(c.plan),
       "online: a new plan at each pass, with the present belief; once: the first plan holds"},
      {"control.round_s", number(c.round_s, kDuration),
       "length of a round; with mode events: scheduling passes only at multiples of it"},
      {"control.reallocate_s", number(c.reallocate_s, kDuration),
       "least time between two scheduling passes"},
      {"control.tick_s", number(c.tick_s, kDuration),
       "the engine's clock ticks at multiples of this"},
      {"control.tick_rule", word(c.tick_rule),
       "notice: completions are noticed at ticks; progress: jobs do one tick of work at each"},
      {"control.notice_s", number(c.notice_s, kDurationOrNone),
       "from the end of a job's work to its report, in which it holds its GPUs"},
      {"control.notice_sigma", number(c.notice_sigma, kSigma),
       "log-standard deviation of that time"},
      {"control.round_per_start_s", number(c.round_per_start_s, kDurationOrNone),
       "mode events: a round is longer by this for each job that starts or moves in it"},
      {"control.round_sigma", number(c.round_sigma, kSigma),
       "mode events: log-standard deviation of the length of a round"},
  };
  keys.insert(keys.end(), list.begin(), list.end());
}

void add(KeyList& keys, MeasureConfig& c) {
  const KeyList list{
      {"measure.skip_first", number(c.skip_first, kShare),
       "warm-up: share of the jobs, in order of submission, that figures leave out"},
      {"measure.skip_last", number(c.skip_last, kShare), "cool-down: the same at the end"},
      {"measure.details", flag(c.details),
       "results files have co-runs, events and use over time; figures do not depend on it"},
  };
  keys.insert(keys.end(), list.begin(), list.end());
}

}  // namespace

std::vector<ConfigKey> config_keys(Config& config) {
  KeyList keys;
  add(keys, config.workload);
  add(keys, config.cluster);
  add(keys, config.world);
  add(keys, config.belief);
  add(keys, config.estimates, config.profiling, config.probing, config.preemption);
  add(keys, config.control);
  add(keys, config.measure);
  keys.push_back({"policies", KeyPolicies{&config.policies},
                  "names of corun list policies, or {name, label, published, PARAMETER...}"});
  keys.push_back({"replications", whole(config.replications, {1, 10 * kMillion}),
                  "how many seeds; replication r has seed + r"});
  keys.push_back({"seed", seed(config.seed, std::numeric_limits<std::uint64_t>::max()),
                  "of the first replication"});
  return keys;
}

std::string expected_text(const KeyValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, KeyText>) {
          return v.slot.may_be_null() ? "text or null" : "text";
        } else if constexpr (std::is_same_v<T, KeyFlag>) {
          return "true or false";
        } else if constexpr (std::is_same_v<T, KeyWord>) {
          return choice_text(v.words) + (v.may_be_null ? ", or null" : "");
        } else if constexpr (std::is_same_v<T, KeyPolicies>) {
          return kPoliciesText;
        } else {
          return number_text(v.range) + (v.slot.may_be_null() ? ", or null" : "");
        }
      },
      value);
}

std::vector<std::string_view> names_below(std::span<const ConfigKey> keys,
                                          std::string_view section) {
  std::vector<std::string_view> names;
  for (const ConfigKey& key : keys) {
    std::string_view rest = key.path;
    if (!section.empty()) {
      if (!rest.starts_with(section)) continue;
      rest.remove_prefix(section.size());
      if (!rest.starts_with('.')) continue;
      rest.remove_prefix(1);
    }
    const std::string_view name = rest.substr(0, rest.find('.'));
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

std::string unknown_key_message(std::span<const ConfigKey> keys, std::string_view section,
                                std::string_view name) {
  const std::vector<std::string_view> known = names_below(keys, section);
  std::string hint = did_you_mean(name, known);
  if (nearest(name, known).empty()) {
    // A known key in the wrong section: suggest the first key or section of that name.
    const auto path_to_name = [&](std::string_view path) -> std::string_view {
      for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        if (path.substr(begin, end - begin) == name) return path.substr(0, end);
        begin = end + 1;
      }
      return {};
    };
    for (const ConfigKey& key : keys) {
      const std::string_view path = path_to_name(key.path);
      if (path.empty()) continue;
      hint = fmt::format("did you mean '{}'? {}", path, hint);
      break;
    }
  }
  // Of what is not there: where to read about it.
  const Topic* topic = find_topic(name);
  if (topic != nullptr && topic->modelled != Modelled::kYes) {
    hint = fmt::format("{}; {}", text_of(*topic), hint);
  }
  const std::string where = section.empty() ? "" : fmt::format(" in '{}'", section);
  return fmt::format("unknown key '{}'{}: {}", printable(name), where, hint);
}

}  // namespace corun::inline runner
