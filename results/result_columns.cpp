#include "results/result_columns.hpp"

#include <string>

#include "sim/records/event_log.hpp"
#include "sim/records/metrics.hpp"

namespace corun::inline results {

using hdf5::Column;
using hdf5::Kind;

namespace {

Column real(const char* name, const char* units, const char* description) {
  return {name, Kind::kReal, units, description};
}

Column policy_column() {
  return {"policy", Kind::kInt32, "1", "index of the policy, a row of /policies"};
}

Column label_column(const TextWidths& widths, const char* name = "label") {
  return {name, Kind::kText, "", "label of the policy", widths.label};
}

Column replication_column() {
  return {"replication", Kind::kInt64, "1", "number of the replication; its seed is seed + this"};
}

Column job_index_column() {
  return {"job_index", Kind::kInt64, "1", "position of the job in the workload"};
}

Column job_column(const TextWidths& widths) {
  return {"job", Kind::kText, "", "name of the job", widths.job};
}

Column metric_column(const TextWidths& widths) {
  return {"metric", Kind::kText, "", "name of the metric, a column of /metrics", widths.metric};
}

Column unit_column(const TextWidths& widths) {
  return {"unit", Kind::kText, "", "unit of mean, lo and hi", widths.unit};
}

}  // namespace

TableLayout gpus_layout(const TextWidths& widths) {
  return {"gpus",
          "one row per GPU of the cluster; it is the index gpu of other tables",
          {{"gpu", Kind::kInt32, "1", "index in the cluster"},
           {"node", Kind::kInt32, "1", "index of its node in the cluster"},
           {"gpu_of_node", Kind::kInt32, "1", "index within the node"},
           {"type", Kind::kText, "", "GPU type", widths.gpu_type},
           real("memory_mib", "MiB", "its memory"),
           {"virtual_cluster", Kind::kText, "", "virtual cluster that owns the node; empty: none",
            widths.virtual_cluster}}};
}

TableLayout policies_layout(const TextWidths& widths) {
  return {"policies",
          "one row per policy, in the order of the configuration",
          {policy_column(),
           label_column(widths),
           {"name", Kind::kText, "", "name of the policy in the catalogue", widths.policy_name},
           {"parameters", Kind::kText, "", "parameters, JSON", widths.parameters},
           {"granted_truth", Kind::kBool, "",
            "it decides from the true costs: a bound, not a policy one could run"}}};
}

TableLayout runs_layout(const TextWidths& widths) {
  return {
      "runs",
      "one row per job per run (a policy in a replication)",
      {policy_column(),
       label_column(widths),
       replication_column(),
       job_index_column(),
       job_column(widths),
       real("submit_s", "s", "submitted, from the start of the trace"),
       real("first_start_s", "s", "first start of work on a GPU; NaN: never started"),
       real("last_start_s", "s", "start of the last attempt"),
       real("finish_s", "s", "end of the work; of a failed job: when it was given up"),
       real("work_s", "s", "solo time of all its work on the reference GPU type, as asked"),
       real("solo_s", "s",
            "J_a: solo time, on the GPUs it ran on, of the work of the runs in corun_s; failed: "
            "of what preempted runs kept"),
       real("corun_s", "s",
            "J_c: time on its GPUs, summed over the run that finished it and all that were "
            "preempted, not those that ended out of memory or with their probe; NaN: failed"),
       real("jct_s", "s", "completion time, finish_s - submit_s; NaN: failed"),
       real("queue_s", "s", "queueing delay, first_start_s - submit_s; NaN: never started"),
       real("isd", "1", "individual slowdown (J_c - J_a) / J_a, a fraction; NaN: failed"),
       {"gpus", Kind::kInt32, "1", "GPUs of the job"},
       {"gpu", Kind::kInt32, "1", "index of the (first) GPU of the last attempt"},
       {"group", Kind::kInt64, "1", "number of the start; jobs started together share it"},
       {"ooms", Kind::kInt32, "1", "attempts that ended out of memory"},
       real("profiling_s", "s", "time in profiling segments and probes"),
       {"finished", Kind::kBool, "", "false: given up after too many attempts"},
       {"gpu_type", Kind::kText, "", "type of that GPU", widths.gpu_type},
       real("reference_solo_s", "s", "J_a of the same work on the reference GPU type"),
       real("isd_reference", "1", "individual slowdown against reference_solo_s; NaN: failed"),
       {"cluster", Kind::kInt32, "1",
        "cluster of its profile in the belief's initial knowledge; -1: no profile, or details are "
        "off"}}};
}

TableLayout predicted_runs_layout(const TextWidths& widths) {
  TableLayout layout = runs_layout(widths);
  layout.name = "predicted_runs";
  layout.description = "one row per job and policy: the prediction before the run, as in /runs";
  return layout;
}

TableLayout episodes_layout(const TextWidths& widths) {
  return {
      "episodes",
      "one row per episode: a maximal time during which one GPU had a resident",
      {policy_column(),
       label_column(widths),
       replication_column(),
       {"episode", Kind::kInt64, "1", "number of the episode within its run, by end"},
       {"gpu", Kind::kInt32, "1", "index of the GPU"},
       real("start_s", "s", "first resident starts"),
       real("end_s", "s", "last resident ends"),
       {"jobs", Kind::kInt32, "1", "jobs that finished in it; they are in /episode_jobs"},
       {"unfinished", Kind::kInt32, "1",
        "residents that left it otherwise: preempted, out of memory, after a probe"},
       real("solo_sum_s", "s",
            "solo time of the work done in it: of their runs in it, and what preempted runs "
            "kept"),
       real("ps", "1",
            "packing saving (solo_sum_s - length) / solo_sum_s, a fraction; NaN: no work "
            "of it counts"),
       {"together", Kind::kBool, "", "the jobs that finished in it started at the same instant"}}};
}

TableLayout episode_jobs_layout(const TextWidths& widths) {
  return {"episode_jobs",
          "one row per job of an episode, in order of start; a gang is in one episode on each of "
          "its GPUs",
          {policy_column(),
           label_column(widths),
           replication_column(),
           {"episode", Kind::kInt64, "1", "number of the episode, as in /episodes"},
           job_index_column(),
           job_column(widths)}};
}

TableLayout usage_layout(const TextWidths& widths) {
  return {
      "usage",
      "one row per run: sums over time and all GPUs",
      {policy_column(),
       label_column(widths),
       replication_column(),
       {"gpus", Kind::kInt32, "1", "GPUs of the cluster"},
       real("busy_s", "GPU s", "with at least one resident"),
       real("util_s", "GPU s", "min(1, residents' utilisation scaled by speed), integrated"),
       real("util_known_s", "GPU s", "busy time during which every utilisation was known"),
       real("mem_s", "GPU s", "share of memory in use, where every demand is known, integrated"),
       real("mem_known_s", "GPU s", "busy time during which every memory demand was known"),
       real("measured_s", "GPU s", "time with co-runners whose cost was measured"),
       real("modelled_s", "GPU s", "time with co-runners whose cost came from a model"),
       real("extrapolated_s", "GPU s", "time with co-runners whose cost was extrapolated"),
       {"unknown_memory_jobs", Kind::kInt64, "1",
        "jobs whose memory demand is not known, so that they never ran out of memory"},
       {"passes", Kind::kInt64, "1", "scheduling passes"},
       real("solo_reference_s", "GPU s", "jobs on GPUs at the solo speed of the reference type"),
       real("solo_measured_s", "GPU s",
            "jobs on GPUs of a type where their solo time was measured"),
       real("solo_predicted_s", "GPU s", "where a model of the job gave their speed alone"),
       real("solo_scaled_s", "GPU s", "where specifications of the types gave it"),
       real("solo_assumed_s", "GPU s",
            "where nothing is known of the type; all 0: jobs do not differ "
            "between the GPU types")}};
}

TableLayout metrics_layout(const TextWidths& widths) {
  TableLayout layout{"metrics",
                     "one row per run; NaN where a run does not define a metric",
                     {policy_column(), label_column(widths), replication_column()}};
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const MetricInfo& info = metric_info(static_cast<Metric>(m));
    layout.columns.push_back({std::string(info.name), Kind::kReal, std::string(info.unit),
                              std::string(info.description)});
  }
  return layout;
}

TableLayout failures_layout(const TextWidths& widths, std::size_t reason) {
  return {"failures",
          "one row per run that the policy ended by breaking a rule; the file has no other data of "
          "these runs. A file "
          "without failures lacks this table",
          {policy_column(),
           label_column(widths),
           replication_column(),
           {"reason", Kind::kText, "", "the rule, and how it was broken", reason}}};
}

TableLayout predicted_layout(const TextWidths& widths) {
  TableLayout layout = metrics_layout(widths);
  layout.name = "predicted";
  layout.description = "one row per policy: the prediction before the run, as in /metrics";
  return layout;
}

TableLayout summary_layout(const TextWidths& widths) {
  return {
      "summary",
      "one row per policy and metric: mean over replications and its 95 % interval (Student's t)",
      {policy_column(), label_column(widths), metric_column(widths), unit_column(widths),
       real("mean", "as in column unit", "mean over replications"),
       real("lo", "as in column unit", "lower end of the interval"),
       real("hi", "as in column unit", "upper end of the interval")}};
}

TableLayout versus_layout(const TextWidths& widths) {
  return {"versus",
          "one row per ordered pair of policies and metric: policy minus other, paired by "
          "replication",
          {policy_column(),
           label_column(widths),
           {"other", Kind::kInt32, "1", "index of the policy it is compared with"},
           label_column(widths, "other_label"),
           metric_column(widths),
           unit_column(widths),
           real("mean", "as in column unit", "mean difference over replications"),
           real("lo", "as in column unit", "lower end of its 95 % interval (Student's t)"),
           real("hi", "as in column unit", "upper end of its 95 % interval (Student's t)")}};
}

TableLayout coverage_layout(const TextWidths& widths) {
  return {"coverage",
          "one row per policy: share of the time with co-runners by where its cost came from; all "
          "0 when "
          "nothing ran together",
          {policy_column(), label_column(widths),
           real("measured", "1", "a measured row of exactly these jobs"),
           real("modelled", "1", "an interference model, within what it was fitted on"),
           real("extrapolated", "1", "a GPU type or sharing mode it was not measured on")}};
}

TableLayout co_runs_layout() {
  const auto job = [](const char* name, const char* description) {
    return Column{name, Kind::kInt64, "1", description};
  };
  return {"co_runs",
          "one row per pair of jobs and co-run, in order of start; replications 0 to 19, bounded: "
          "left_out rows are not here",
          {policy_column(),
           replication_column(),
           {"co_run", Kind::kInt64, "1", "number of the co-run in its run"},
           {"gpu", Kind::kInt32, "1", "index of the GPU"},
           real("start_s", "s", "these jobs, and no others, begin to share the GPU"),
           real("end_s", "s", "the jobs on the GPU change"),
           {"jobs", Kind::kInt32, "1", "jobs on the GPU; each pair of them has a row"},
           job("job_a", "job_index of the first job of the pair"),
           job("job_b", "job_index of the second, which is larger"),
           {"probe", Kind::kBool, "", "it was a probe"},
           {"source", Kind::kInt32, "1", "source of the true speeds; -1: they are not known"},
           real("speed_a", "1", "true mean speed of job_a, relative to alone; NaN: not known"),
           real("speed_b", "1", "true mean speed of job_b, relative to alone; NaN: not known"),
           real("isd_a", "1",
                "true ISD of job_a in the episode, if exactly these two ran and finished in it; "
                "else NaN"),
           real("isd_b", "1", "the same of job_b"),
           real("ps", "1", "true packing saving of this episode; else NaN"),
           real("predicted_isd_a", "1",
                "isd_a as the policy's belief expected it when the co-run began; NaN: no belief"),
           real("predicted_isd_b", "1", "the same of job_b"),
           real("predicted_ps", "1", "ps as the belief expected it"),
           real("predicted_speed_a", "1", "speed_a as the belief expected it"),
           real("predicted_speed_b", "1", "speed_b as the belief expected it")}};
}

TableLayout events_layout() {
  return {"events",
          "one row per event and GPU of replication 0, in order of time; bounded: left_out rows "
          "are not here",
          {policy_column(),
           replication_column(),
           real("time_s", "s", "when"),
           {"kind", Kind::kInt32, "1", "what"},
           {"job", Kind::kInt64, "1", "job_index of the job"},
           {"gpu", Kind::kInt32, "1", "index of the GPU that it comes to or leaves; -1: none"},
           {"co_runner", Kind::kInt64, "1",
            "lowest job_index of the other jobs there after this instant; -1: none"},
           {"residents", Kind::kInt32, "1", "jobs there after this instant"}}};
}

TableLayout over_time_layout() {
  return {"over_time",
          "one row per slice of the time from first submission to last end, replication 0: means "
          "over the slice",
          {policy_column(), replication_column(), real("start_s", "s", "start of the slice"),
           real("end_s", "s", "end of the slice"), real("gpus_busy", "1", "GPUs with a job"),
           real("gpus_shared", "1", "GPUs with two jobs or more"),
           real("gpu_util", "1", "utilisation of all GPUs, as in /metrics; NaN: not known"),
           real("queue", "1", "jobs that wait"), real("running", "1", "jobs on GPUs")}};
}

const std::vector<std::string>& event_kind_codes() {
  static const std::vector<std::string> codes = [] {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < kLogKinds; ++k) {
      names.emplace_back(name_of(static_cast<LogKind>(k)));
    }
    return names;
  }();
  return codes;
}

const std::vector<std::string>& source_codes() {
  static const std::vector<std::string> codes{"alone", "measured", "modelled", "extrapolated"};
  return codes;
}

}  // namespace corun::inline results
