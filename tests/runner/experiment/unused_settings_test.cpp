#include "runner/experiment/unused_settings.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/config/key_descriptions.hpp"
#include "runner/experiment/engine_options.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/error.hpp"
#include "sim/records/event_log.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// Every key of `corun list keys` and every parameter of `corun list policies` has a row here: a second
/// value, and settings under which it must change a result. In the default configuration of this test
/// the second value changes a result, is refused, or a note says that it has no effect.
namespace corun::unused_settings_test {
namespace {

using Settings = std::vector<std::string>;

const std::string kExamples = CORUN_SOURCE_DIR "/examples/";

/// The files that the rows name.
class Files {
 public:
  Files() {
    jobs("jobs.csv", 12, 1);
    jobs("fewer.csv", 11, 1);
    directory_.write("states.csv",
                     "submit_s,solo_s,state\n0,100,COMPLETED\n0,200,FAILED\n0,300,RUNNING\n");
    jobs("gangs.csv", 12, 3);
    directory_.write(
        "exchanging.csv",
        "job,submit_s,solo_s,gpus,steps,message_mib\na,0,100,2,1000,100\nb,0,50,4,500,80\n");
    directory_.write("bare.csv",
                     "job,submit_s,solo_s\na,0,100\nb,0,150\nc,0,400\nd,5,90\ne,9,300\n");
    directory_.write("nodes.csv", "sn,gpu,model\nn1,1,V100M16\nn2,2,V100M16\n");
    directory_.write("clusters.csv", "vc,nodes\na,1\nb,3\n");
    directory_.write("phases.csv",
                     "job,share,mem_used_mib,gpu_util_pct\nj0,0.5,4000,10\nj0,0.5,8500,90\n");
    directory_.write("batches.csv", "model,batch_size,latency_ms\nm,1,10\n");
    directory_.write("services.csv",
                     "name,times,model,end_s,goal_ms,rate_per_s,replicas,gpu_util_pct\n"
                     "s,batches.csv,m,600,60,50,2,50\n");
    directory_.write("overrides.csv", "job,cluster,uncertainty,why\nJ8-256,2,1,a test\n");
    std::string lucid = "job_id,gpu_num,submit_time,duration,model,dataset,batchsize,amp\n";
    for (int j = 0; j < 8; ++j) {
      lucid += fmt::format("j{},1,{},{},m{},d,64,0\n", j, 10 * j, 300 + 40 * j, j % 2);
    }
    directory_.write("lucid.csv", lucid);
    directory_.write("elastic.csv",
                     "name,time,application,num_replicas,batch_size\n"
                     "a,0,m,3,24\nb,0,m,3,24\nc,5,m,1,10\n");
    directory_.write("lists.csv",
                     "set,workload,job,arrival_s,model,tuned_gpus,tuned_batch_size\n"
                     "s,1,a,0,m,3,24\ns,2,a,0,m,2,20\n");
    directory_.write("applications.csv",
                     "cluster,model,initial_batch_size,max_batch_size,min_local_batch_size,"
                     "max_local_batch_size,epochs,sia_restart_s,sia_calibration_slowdown\naws,m,10,"
                     "40,4,20,2,25,1.5\n");
    directory_.write("placements.csv",
                     "cluster,model,gpus_per_node,local_batch_size,step_time_s,sync_time_s\n"
                     "aws,m,1,4,1,0\naws,m,1,20,4,0\naws,m,2,4,1.2,0.2\naws,m,2,20,4.2,0.2\n"
                     "aws,m,1-2,4,1.5,0.5\naws,m,1-2,20,4.5,0.5\n");
    directory_.write("scalability.csv",
                     "cluster,model,nodes,gpus,local_batch_size,step_time_s,sync_time_s\n"
                     "aws,m,3,6,4,1.8,0.8\naws,m,3,6,20,4.8,0.8\n");
    directory_.write(
        "statistical_efficiency.csv",
        "model,batch_size,epoch,progress_iterations_at_initial_batch,iterations,grad_sqr,"
        "grad_var\nm,10,1,50,50,1,20\nm,10,2,100,100,1,30\nm,40,1,51,20,1,20\n"
        "m,40,2,101,40,1,30\n");
    directory_.write("tiny.csv", "job,label\nm0|d|64|0,0\nm1|d|64|0,0\n");
    directory_.write("times.csv",
                     "workload,gpu_type,time_s\nMobileNet/bs=205/epochs=5,V100-16GB,1\n"
                     "MobileNet/bs=205/epochs=5,T4,1.5\n");
    directory_.write("types.yaml", "- {name: V100-16GB, memory_mib: 9000}\n");
    directory_.write("jumbo.csv", "job,label\nm0|d|64|0,2\nm1|d|64|0,2\n");
  }

  std::string directory() const { return directory_.path(); }

 private:
  /// `sizes`: jobs want 1 to this many GPUs.
  void jobs(const std::string& name, int count, int sizes) {
    std::string text =
        "job,submit_s,solo_s,gpus,priority,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,"
        "cpu_milli,memory_mib,packing_label,virtual_cluster\n";
    for (int j = 0; j < count; ++j) {
      text += fmt::format("j{},{},{},{},0,{},{},{},{},12000,50000,{},{}\n", j, j / 2 * 40,
                          150 + 97 * (j * 7 % 11), 1 + j % sizes, 5 + 13 * (j * 5 % 7),
                          5 + 11 * (j * 3 % 8), 3 + 9 * (j * 5 % 6), 5000 + 700 * (j % 7), j % 3,
                          j % 3 == 0 ? "a" : "b");
    }
    directory_.write(name, text);
  }
  test::TemporaryDirectory directory_;
};

/// The result of an experiment, its notes, or the reason of its refusal.
struct Outcome {
  std::string result;  ///< events, metrics, origin of costs and size of details of all runs
  Notes notes;
  std::string refusal;

  bool notes_on(std::string_view setting) const {
    return std::ranges::any_of(notes, [&](const Note& note) {
      return note.code == NoteCode::kNoEffect && note.subject == setting;
    });
  }
};

std::string text_of(const Replication& replication, std::size_t run, const EventLog& log) {
  std::ostringstream text;
  const PolicyRun& r = replication.runs[run];
  write_event_log(text, log, [&](JobId job) { return replication.trace->jobs[index(job)].name; });
  for (const double value : r.metrics) text << fmt::format("{} ", value);
  for (const double seconds : r.record.usage.corun_s) text << fmt::format("{} ", seconds);
  text << fmt::format("{} events in the results\n", r.details.events.size());
  return text.str();
}

class UnusedSettings : public testing::Test {
 protected:
  Outcome outcome(const Settings& settings) const {
    Outcome out;
    try {
      Config config = default_config_with(parse_overrides(settings), policy_catalog());
      config.directory = files_.directory();
      const Experiment experiment(std::move(config), "");
      out.notes = experiment.notes();
      for (std::int64_t r = 0; r < experiment.config().replications; ++r) {
        Replication replication;
        replication.trace = experiment.make_trace(static_cast<std::size_t>(r));
        for (const PolicyInstance& policy : experiment.policies()) {
          EventLog log;
          RunObservation observation;
          observation.log = &log;
          observation.details = detail_limits(experiment.config(), static_cast<std::size_t>(r));
          replication.runs.push_back(experiment.run_policy(
              *replication.trace, static_cast<std::size_t>(r), policy, observation));
          out.result += text_of(replication, replication.runs.size() - 1, log);
        }
      }
    } catch (const InputError& error) {
      out.refusal = error.what();
    }
    return out;
  }

  void expect_change(const std::string& name, Settings context, const std::string& setting) const {
    const Outcome before = outcome(context);
    context.push_back(setting);
    const Outcome after = outcome(context);
    EXPECT_EQ(before.refusal, "") << name << ": its context";
    EXPECT_EQ(after.refusal, "") << name << ": its second value in its context";
    EXPECT_NE(before.result, after.result) << name << " changes nothing in its context";
    EXPECT_FALSE(after.notes_on(name)) << name;
  }

  /// A change, a refusal or a note; and never a note beside a change.
  void expect_no_silence(const std::string& name, const Outcome& before,
                         const Outcome& after) const {
    if (!after.refusal.empty()) return;
    const bool changes = before.result != after.result;
    EXPECT_NE(changes, after.notes_on(name))
        << name << (changes ? " is noted, but changes results" : " has silently no effect");
  }

  Files files_;
};

struct KeyRow {
  std::string key;
  std::string second;     ///< value
  Settings context = {};  ///< beside kDefault
  bool refuses = false;   ///< the second value refuses what the context accepts
};

const Settings kDefault{
    "replications=3",
    "policies=[{name: fcfs}, {name: random}, {name: min-slowdown}, {name: max-packing}]"};
const Settings kJobs{"workload={source: csv, path: jobs.csv}"};

Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

std::vector<KeyRow> key_rows() {
  const Settings lucid{"workload={source: lucid, path: lucid.csv, labels: tiny.csv}",
                       "estimates.duration=exact", "world.model=none", "policies=[{name: lucid}]"};
  const Settings resampled{"workload.source=jrs-resampled"};
  const Settings spread{"workload={source: csv, path: gangs.csv}",
                        "cluster={nodes: 4, gpus_per_node: 1}", "world.model=none",
                        "policies=[{name: fifo}]"};
  const Settings exchanging = with(spread, {"workload.path=exchanging.csv"});
  const Settings learnt{"belief={model: boosted-trees, initial: " + kExamples + "mine.corun.csv}"};
  const Settings pods =
      with(kJobs, {"policies=[{name: fgd}]", "cluster={nodes: 2, gpus_per_node: 3}"});
  const Settings preempting =
      with(kJobs, {"policies=[{name: srtf}]", "estimates.duration=exact", "cluster.nodes=2"});
  const Settings gangs{"workload={source: csv, path: gangs.csv}", "cluster={nodes: 3}",
                       "world.model=none", "policies=[{name: srsf}]", "estimates.duration=exact"};
  const Settings elastic{"workload={source: pollux, path: elastic.csv, programs: .}",
                         "world.model=none", "cluster.machines=3x2:aws",
                         "policies=[{name: fifo, placement: anywhere}]"};
  const Settings resized{
      "workload={source: pollux, path: elastic.csv, programs: ., adaptivity: adaptive, start_s: 5}",
      "world.model=none", "cluster.machines=3x2:aws", "control.round_s=10",
      "policies=[{name: pollux, interval_s: 10}]"};
  const Settings packing =
      with(kJobs, {"policies=[{name: proactive, memory: checked, capacity_pct: 300}]"});
  return {
      {"workload.source", "jrs-resampled"},
      {"workload.path", "fewer.csv", kJobs},
      {"workload.columns", "solo_s=solo_s*2", kJobs},
      {"workload.states", "failed", {"workload={source: csv, path: states.csv}"}},
      {"workload.strict", "true", {"workload={source: csv, path: states.csv}"}, true},
      {"workload.labels", "jumbo.csv", lucid},
      {"workload.gpu_type", "T4"},
      {"workload.solo_times", "times.csv", {"cluster.machines=2x1:V100-16GB+2x1:T4"}},
      {"workload.phases", "phases.csv", with(kJobs, {"cluster.gpu_memory_mib=9000"})},
      {"workload.services", "services.csv", {"policies=[{name: fcfs}]"}},
      {"workload.part", "s/2", with(elastic, {"workload.path=lists.csv", "workload.part=s/1"})},
      {"workload.programs", "elsewhere", elastic, true},
      {"workload.adaptivity", "strong-scaling", with(elastic, {"policies=[{name: optimus}]"})},
      {"workload.interference", "0.5", elastic},
      {"workload.start_s", "60", elastic},
      {"workload.expected_start_s", "m=20", resized},
      {"workload.refit_s", "10", resized},
      {"workload.largest_local_batch", "m=5", elastic},
      {"workload.calibrated", "true", elastic},
      {"workload.order", "trace"},
      {"workload.jobs", "12", resampled},
      {"workload.load", "0.5", resampled},
      {"workload.profiles", "jrs", {"workload={source: csv, path: bare.csv}"}},
      {"cluster.path", "nodes.csv"},
      {"cluster.machines", "2x1:T4"},
      {"cluster.nodes", "3"},
      {"cluster.gpus_per_node", "2"},
      {"cluster.nodes_per_switch", "1", with(spread, {"world.across_switches=0.5"})},
      {"cluster.gpu_type", "P4", kJobs},
      {"cluster.gpu_types", "types.yaml", kJobs},
      {"cluster.gpu_memory_mib", "9000", kJobs},
      {"cluster.gpu_speed", "2"},
      {"cluster.cpu_milli_per_node", "16000", pods},
      {"cluster.memory_mib_per_node", "60000", pods},
      {"cluster.sharing", "mps"},
      {"cluster.max_jobs_per_gpu", "1"},
      {"cluster.virtual_clusters", "clusters.csv", kJobs},
      {"cluster.oom.ramp_s", "60", with(kJobs, {"cluster.gpu_memory_mib=9000"})},
      {"cluster.oom.retries", "0", with(kJobs, {"cluster.gpu_memory_mib=9000"})},
      {"cluster.start.cost_s", "20"},
      {"cluster.start.costs", "MobileNet=20"},
      {"cluster.start.sigma", "0.5", {"cluster.start.cost_s=20"}},
      {"world.model", "contention"},
      {"world.fallback", "gp"},
      {"world.path", kExamples + "mine.corun.csv"},
      {"world.effort", "0.1", {"world.model=low-rank"}},
      {"world.noise", "false"},
      {"world.across_nodes", "0.5", spread},
      {"world.across_switches", "0.5", with(spread, {"cluster.nodes_per_switch=1"})},
      {"world.gbps_in_node", "400", exchanging},
      {"world.gbps_across_nodes", "100", exchanging},
      {"world.gbps_across_switches", "50", with(exchanging, {"cluster.nodes_per_switch=1"})},
      {"world.job_sigma", "0.1"},
      {"world.run_sigma", "0.1"},
      {"world.stragglers", "0.5"},
      {"world.straggler_speed", "0.8", {"world.stragglers=0.5"}},
      {"belief.model", "contention"},
      {"belief.initial", "none"},
      {"belief.known", "0.5", learnt},
      {"belief.seed", "2", learnt},
      {"belief.effort", "0.1", learnt},
      {"belief.overrides", "overrides.csv"},
      {"estimates.duration", "exact", {"belief.model=contention"}},
      {"estimates.sigma", "1", {"estimates.duration=lognormal", "policies=[{name: sjf}]"}},
      {"estimates.memory", "none", packing},
      {"estimates.memory_sigma", "1", with(packing, {"estimates.memory=lognormal"})},
      {"estimates.utilisation", "none", {"policies=[{name: opposites}]"}},
      {"estimates.utilisation_sigma", "1", {"estimates.utilisation=lognormal"}},
      {"profiling.mode", "minute"},
      {"profiling.keeps_progress", "true", {"profiling.mode=minute"}},
      {"probing.probes", "1"},
      {"probing.seconds", "60", {"probing.probes=1"}},
      {"probing.keeps_progress", "true", {"probing.probes=1"}},
      {"preemption.save_s", "10", preempting},
      {"preemption.restore_s", "10", preempting},
      {"preemption.lost_work", "0.5", preempting},
      {"preemption.large_gang", "1", with(gangs, {"preemption.restore_s=40"})},
      {"preemption.large_restore_s", "60", with(gangs, {"preemption.large_gang=1"})},
      {"preemption.adds_up", "true", with(gangs, {"preemption.restore_s=400"})},
      {"control.mode", "rounds", {"control.round_s=60"}},
      {"control.start", "join"},
      {"control.plan", "once"},
      {"control.round_s", "600"},
      {"control.reallocate_s", "600"},
      {"control.tick_s", "60"},
      {"control.tick_rule", "progress", {"control.tick_s=60"}},
      {"control.notice_s", "10"},
      {"control.notice_sigma", "0.5", {"control.notice_s=10"}},
      {"control.round_per_start_s", "5", {"control.round_s=60"}},
      {"control.round_sigma", "0.1", {"control.round_s=60"}},
      {"measure.skip_first", "0.2", kJobs},
      {"measure.skip_last", "0.2", kJobs},
      {"measure.details", "false"},
      {"policies", "[{name: opposites}]"},
      {"replications", "4"},
      {"seed", "2"},
  };
}

TEST_F(UnusedSettings, EveryKeyHasARow) {
  const std::vector<KeyRow> rows = key_rows();
  for (const KeyDescription& key : describe_keys()) {
    EXPECT_EQ(std::ranges::count(rows, key.key, &KeyRow::key), 1) << key.key;
  }
  EXPECT_EQ(rows.size(), describe_keys().size());
}

TEST_F(UnusedSettings, EveryKeyChangesAResultInItsContext) {
  for (const KeyRow& row : key_rows()) {
    if (row.refuses) {
      Settings context = with(kDefault, row.context);
      EXPECT_EQ(outcome(context).refusal, "") << row.key;
      context.push_back(row.key + "=" + row.second);
      EXPECT_NE(outcome(context).refusal, "") << row.key;
      continue;
    }
    expect_change(row.key, with(kDefault, row.context), row.key + "=" + row.second);
  }
}

TEST_F(UnusedSettings, NoKeyIsSilentInTheDefaultConfiguration) {
  const Outcome before = outcome(kDefault);
  for (const KeyRow& row : key_rows()) {
    expect_no_silence(row.key, before, outcome(with(kDefault, {row.key + "=" + row.second})));
  }
}

struct ParameterRow {
  std::string policy;
  std::string parameter;
  std::string second;       ///< value
  Settings context = {};    ///< beside replications=3
  std::string beside = {};  ///< other parameters in the context: "pairing: given"
  bool always = false;      ///< `beside` belongs to the default configuration, too
};

/// Parameters that no result shows.
struct Exempt {
  std::string_view policy, parameter, reason;
};
constexpr std::array kExempt{
    Exempt{"external", "timeout_s", "decides only how long a slow program is waited for"},
    Exempt{"external", "start", "permits what a program may leave undone; a program decides"},
    Exempt{"external", "belief", "lets a program ask; a program decides"},
    Exempt{"external", "asked", "asks a program more often; a program decides"},
    Exempt{"external-shares", "timeout_s", "as of external"},
    Exempt{"external-shares", "heterogeneity", "changes what a program is told; it may not use it"},
    Exempt{"external-shares", "space_sharing", "permits what a program may leave undone"},
};

/// Parameters of which no rule says that they have no effect: that depends on how a run goes.
struct Untold {
  std::string_view policy, parameter, reason;
};
constexpr std::array kUntold{
    Untold{"tiresias", "promote_after", "as of las"},
    Untold{"tiresias", "within", "matters where jobs overtake others of their queue"},
    Untold{"tiresias", "rules", "matters where a gang nears a threshold, and with services_s"},
    Untold{"las", "promote_after", "matters where a job is demoted, and then waits long enough"},
    Untold{"finish-time-fairness", "reset_s", "matters where jobs come between two resets"},
    Untold{"makespan", "reset_s", "the same"},
    Untold{"isolated", "reset_s", "the same"},
    Untold{"external-shares", "reset_s", "the same"},
    Untold{"max-throughput", "slo", "matters where a deadline binds"},
};

std::vector<ParameterRow> parameter_rows() {
  const Settings exact{"estimates.duration=exact"};
  const Settings gangs{"workload={source: csv, path: gangs.csv}",
                       "cluster={nodes: 2, gpus_per_node: 3}", "world.model=none",
                       "estimates.duration=exact"};
  const Settings lucid = with(kJobs, {"estimates.duration=exact"});
  const Settings served{"workload.services=services.csv", "cluster.nodes=3"};
  const std::string command = fmt::format("command: [python3, '{}policy.py']", kExamples);
  const std::string groups_of_one = fmt::format(
      R"sh([sh, -c, 'python3 -c "$(sed "s/min(2,/min(1,/" {}policy.py)"'])sh", kExamples);
  std::vector<ParameterRow> rows{
      {"max-packing", "by", "memory"},
      {"max-packing", "bin_max", "3"},
      {"max-packing", "bin", "[J7-205, J8-256, J9-256]"},
      {"oracle", "objective", "balance"},
      {"oracle", "window", "4"},
      {"fifo-packed", "threshold", "1.9"},
      {"incremental-matching", "objective", "max-packing"},
      {"incremental-matching", "risk", "3"},
      {"incremental-matching", "candidates", "1"},
      {"incremental-matching", "rescore_budget", "0"},
      {"incremental-matching", "window", "4"},
      {"kube-default", "replicas", "3"},
      {"kube-default", "percentage_of_nodes_to_score", "50", with(kJobs, {"cluster.nodes=300"})},
      {"kube-default", "backoff_initial_s", "100"},
      {"kube-default", "backoff_max_s", "1000"},
      {"las", "thresholds_s", "[60]", kJobs},
      {"las", "promote_after", "0", kJobs, "thresholds_s: [60]"},
      {"sharing-las", "quantum_s", "20"},
      {"priority", "scale", "utilisation", served},
      {"priority", "target", "0.1", served, "scale: utilisation"},
      {"priority", "beside", "none", served},
      {"priority", "margin", "10", served},
      {"lucid", "length_ratio", "0.1", lucid},
      {"lucid", "label_sum", "-1", lucid},
      {"external", "command", groups_of_one, {}, command, true},
      {"external", "window", "1", {}, command, true},
  };
  // One node, no sharing: small gangs overtake, unless GPUs are reserved.
  const Settings one_node = with(gangs, {"cluster={nodes: 1, gpus_per_node: 3}"});
  rows.push_back({"srsf-packed", "mode", "non-preemptive", lucid});
  rows.push_back({"srsf-packed", "gain", "0.9", lucid});
  rows.push_back({"srsf-packed", "reservations", "0", one_node, "mode: non-preemptive, gain: 2"});
  rows.push_back({"srsf-packed", "patience", "0.01", lucid});
  rows.push_back({"srsf-packed", "tail", "1e5", lucid});
  rows.push_back({"srsf-packed", "memory_margin", "10", lucid});
  rows.push_back({"srsf-packed", "risk", "3", lucid});
  rows.push_back({"srsf-packed", "window", "1", lucid});
  const Settings two_types = with(lucid, {"cluster.machines=1x1:T4+1x1:V100-16GB"});
  rows.push_back({"schedtune", "minimise", "completion-time", two_types});
  rows.push_back({"schedtune", "decision_s", "30", lucid});
  rows.push_back({"schedtune", "memory_margin_pct", "60", lucid});
  rows.push_back({"schedtune", "collocation_limit", "1", lucid});
  rows.push_back({"schedtune", "memory_per_job_mib", "9000", lucid});
  for (const std::string policy : {"proactive", "reactive"}) {
    const Settings measured = with(kJobs, {"profiling.mode=minute"});
    rows.push_back({policy, "most_jobs", "1", measured});
    rows.push_back({policy, "capacity_pct", "50", measured});
    rows.push_back({policy, "memory", "checked", measured, "capacity_pct: 300"});
  }
  for (const std::string policy : {"balance", "min-slowdown", "max-packing"}) {
    rows.push_back({policy, "pairing", "given", {}, "order: [[1, 2], [0, 0]]", true});
    rows.push_back({policy, "order", "[[1, 2], [0, 0]]", {}, "pairing: given"});
    rows.push_back({policy, "epsilon", "0.5"});
    rows.push_back({policy, "explore", "thompson"});
    rows.push_back({policy, "risk", "3"});
    rows.push_back({policy, "window", "4"});
  }
  // Policies that give shares of GPU types.
  const Settings drawn = with(lucid, {"cluster.machines=2x1:V100-16GB+2x1:T4"});
  for (const std::string policy :
       {"max-min", "max-min-water-filling", "finish-time-fairness", "makespan", "max-throughput",
        "isolated", "allox", "gandiva", "fifo-by-type"}) {
    rows.push_back({policy, "type_order", "drawn", drawn});
    rows.push_back({policy, "reset_s", "100", drawn});
    rows.push_back({policy, "round_s", "100", drawn});
    const std::string draws = policy == "gandiva" ? "" : "type_order: drawn";
    rows.push_back({policy, "seed", "7", drawn, draws});
  }
  for (const std::string policy :
       {"max-min", "max-min-water-filling", "finish-time-fairness", "makespan", "max-throughput"}) {
    rows.push_back({policy, "heterogeneity", "agnostic", drawn});
    rows.push_back({policy, "space_sharing", "pairs", drawn});
  }
  const std::string shares = fmt::format("command: [python3, '{}shares.py']", kExamples);
  const std::string odd = fmt::format(
      R"sh([sh, -c, 'python3 -c "$(sed "s|part /|part * (job[''job''] % 2) /|" {}shares.py)"'])sh",
      kExamples);
  rows.push_back({"external-shares", "command", odd, drawn, shares, true});
  rows.push_back({"external-shares", "type_order", "drawn", drawn, shares, true});
  rows.push_back({"external-shares", "reset_s", "100", drawn, shares, true});
  rows.push_back({"external-shares", "round_s", "100", drawn, shares, true});
  rows.push_back({"external-shares", "seed", "7", drawn, "type_order: drawn, " + shares, true});
  rows.push_back({"max-throughput", "prices", "[100, 1]", drawn});
  rows.push_back({"max-throughput", "slo", "8", drawn});
  rows.push_back({"fifo-by-type", "choice", "packed", drawn});
  rows.push_back({"fifo-by-type", "threshold", "1.95", drawn, "choice: packed"});
  rows.push_back({"fifo-by-type", "gangs", "overcommit",
                  Settings{"workload={source: csv, path: gangs.csv}", "world.model=none",
                           "estimates.duration=exact", "cluster.machines=1x3:V100-16GB+1x3:T4"}});
  for (const std::string policy : {"fifo", "sjf", "srtf", "las", "srsf", "tiresias"}) {
    if (policy == "srsf" || policy == "tiresias") {
      rows.push_back({policy, "placement", "consolidated", gangs});
      continue;
    }
    rows.push_back({policy, "blocking", "backfill", gangs});
    rows.push_back({policy, "placement", "anywhere", gangs});
  }
  const Settings elastic{
      "workload={source: pollux, path: elastic.csv, programs: ., adaptivity: adaptive, start_s: 1}",
      "world.model=none", "cluster.machines=3x2:aws", "control.round_s=10"};
  rows.push_back({"pollux", "p", "1", elastic, "interval_s: 10"});
  rows.push_back({"pollux", "interval_s", "10", elastic});
  rows.push_back({"pollux", "belief", "fitted", elastic, "interval_s: 10"});
  rows.push_back({"pollux", "generations", "1", elastic, "interval_s: 10"});
  rows.push_back({"pollux", "population", "2", elastic, "generations: 1"});
  rows.push_back({"pollux", "interference", "ignore", elastic, "interval_s: 10"});
  rows.push_back({"sia", "p", "1", with(elastic, {"cluster.machines=2x2:aws"}), "interval_s: 10"});
  rows.push_back({"sia", "lambda", "0", elastic, "interval_s: 10"});
  rows.push_back({"sia", "interval_s", "10", elastic});
  rows.push_back({"sia", "belief", "fitted", elastic, "interval_s: 10"});
  rows.push_back({"blox", "by", "attained", gangs});
  rows.push_back({"blox", "every_s", "10", gangs, "by: attained"});
  rows.push_back({"srsf", "remaining", "time", gangs});
  rows.push_back({"tiresias", "attained", "time", gangs, "thresholds_s: [60]"});
  rows.push_back({"tiresias", "thresholds_s", "[60]", kJobs});
  rows.push_back({"tiresias", "promote_after", "1", kJobs, "thresholds_s: [60]"});
  rows.push_back({"tiresias", "within", "submit", gangs});
  rows.push_back({"tiresias", "services_s", "[60, 300, 3600]", kJobs});
  rows.push_back({"tiresias", "quantum_s", "10", kJobs, "services_s: [60, 300, 3600]"});
  rows.push_back({"tiresias", "rules", "simulator", gangs, "thresholds_s: [60]"});
  return rows;
}

std::string policy_text(const ParameterRow& row, bool second) {
  std::string text = "policies=[{name: " + row.policy;
  const bool replaced = second && row.beside.starts_with(row.parameter + ":");
  if (!row.beside.empty() && !replaced) text += ", " + row.beside;
  if (second) text += ", " + row.parameter + ": " + row.second;
  return text + "}]";
}

TEST_F(UnusedSettings, EveryParameterHasARow) {
  const std::vector<ParameterRow> rows = parameter_rows();
  std::size_t parameters = 0;
  for (const PolicyEntry& policy : policy_catalog()) {
    for (const ParameterSpec& spec : policy.parameters) {
      const auto here = std::ranges::count_if(rows, [&](const ParameterRow& row) {
        return row.policy == policy.name && row.parameter == spec.name;
      });
      const auto exempt = std::ranges::count_if(kExempt, [&](const Exempt& e) {
        return e.policy == policy.name && e.parameter == spec.name;
      });
      EXPECT_EQ(here + exempt, 1) << policy.name << ": " << spec.name;
      ++parameters;
    }
  }
  EXPECT_EQ(rows.size() + kExempt.size(), parameters);
}

TEST_F(UnusedSettings, EveryParameterChangesAResultInItsContext) {
  for (const ParameterRow& row : parameter_rows()) {
    const Settings context = with({"replications=3", policy_text(row, false)}, row.context);
    expect_change(row.parameter + " of " + row.policy, context, policy_text(row, true));
  }
}

/// The default configuration with this policy alone, and the estimates and profiles that it needs.
TEST_F(UnusedSettings, NoParameterIsSilentInTheDefaultConfiguration) {
  for (ParameterRow row : parameter_rows()) {
    if (std::ranges::any_of(kUntold, [&](const Untold& untold) {
          return untold.policy == row.policy && untold.parameter == row.parameter;
        })) {
      continue;
    }
    if (!row.always) row.beside.clear();
    Settings settings{"replications=3", policy_text(row, false)};
    if (find_policy(row.policy)->traits.needs_estimates) {
      settings.push_back("estimates.duration=exact");
    }
    if (find_policy(row.policy)->traits.measures_profiles) {
      settings.push_back("profiling.mode=minute");
    }
    const Outcome before = outcome(settings);
    settings[1] = policy_text(row, true);
    expect_no_silence(row.parameter + " of " + row.policy, before, outcome(settings));
  }
}

/// Rules that depend on other parameters or on the jobs.
TEST_F(UnusedSettings, NotesGiveTheReason) {
  const auto notes = [&](const Settings& settings) { return outcome(settings).notes; };
  const auto has = [](const Notes& given, const std::string& sentence) {
    return std::ranges::count(given, sentence, &Note::text) == 1;
  };
  const auto none = [](const Notes& given) {
    return find_note(given, NoteCode::kNoEffect) == nullptr;
  };
  EXPECT_TRUE(has(notes({"replications=1", "preemption.save_s=5"}),
                  "preemption.save_s has no effect: no policy preempts jobs"));
  EXPECT_TRUE(has(notes({"replications=1", "probing.seconds=5"}),
                  "probing.seconds has no effect: probing.probes is 0"));
  EXPECT_TRUE(has(notes({"replications=1", "belief.seed=5"}),
                  "belief.seed has no effect: belief.model cluster-mean draws nothing at random"));
  EXPECT_TRUE(has(notes({"replications=1", "belief.effort=0.5"}),
                  "belief.effort has no effect: belief.model cluster-mean has no effort"));
  EXPECT_TRUE(has(notes({"replications=1", "world.effort=0.5"}),
                  "world.effort has no effect: world.fallback contention has no effort"));
  EXPECT_TRUE(
      has(notes({"replications=1", "policies=[{name: balance, explore: thompson, epsilon: 0.1}]"}),
          "epsilon of balance has no effect: explore is thompson"));
  EXPECT_TRUE(has(notes({"replications=1", "policies=[{name: balance, window: 400}]"}),
                  "window of balance has no effect: the workload has 24 jobs"));
  EXPECT_TRUE(has(notes({"replications=1",
                         "policies=[{name: max-packing, bin: [J7-205, J8-256], bin_max: 4}]"}),
                  "bin_max of max-packing has no effect: bin is given"));
  EXPECT_TRUE(has(notes({"replications=1", "cluster.max_jobs_per_gpu=1",
                         "policies=[{name: balance, risk: 1}]"}),
                  "risk of balance has no effect: cluster.max_jobs_per_gpu is 1"));
  const Settings fastest{"replications=1", "cluster.machines=2x1:V100+2x1:T4",
                         "policies=[{name: fifo, placement: fastest}]"};
  EXPECT_TRUE(
      has(notes(fastest),
          "placement of fifo has no effect: estimates.duration is none, so no type is known "
          "to be faster"));
  EXPECT_TRUE(none(notes(with(fastest, {"estimates.duration=exact"}))));
  EXPECT_TRUE(none(
      notes({"replications=1", "preemption.save_s=0", "policies=[{name: balance, epsilon: 0}]"})))
      << "defaults are not noted";
  const Settings las{"replications=1", "policies=[{name: sharing-las}]"};
  EXPECT_NE(outcome(las).result, outcome(with(las, {"control.start=join"})).result);
  for (const char* start : {"group", "join"}) {
    EXPECT_TRUE(none(notes(with(las, {std::string("control.start=") + start})))) << start;
  }
}

}  // namespace
}  // namespace corun::unused_settings_test
