#include "runner/experiment/experiment_checks.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/builders/types_of_jobs.hpp"
#include "runner/config/config_yaml.hpp"
#include "tests/helpers/builders.hpp"

namespace corun::experiment_checks_test {
namespace {

testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' does not contain '" << part << "'";
}

/// The arguments of the checks, from a configuration and jobs made here.
struct Parts {
  explicit Parts(const std::vector<std::string>& overrides)
      : config(std::make_shared<const Config>(
            default_config_with(parse_overrides(overrides), policy_catalog()))),
        files("", "", std::make_shared<InputCache>()),
        tables(config->cluster.sharing),
        cluster(build_cluster(*config, files)),
        beliefs(config, cluster, true, files, tables, {}) {}

  void add(const std::string& name, double submit_s, double work_s, int gpus = 1) {
    JobSpec job;
    job.submit = from_seconds(submit_s);
    job.work = from_seconds(work_s);
    job.gpus = gpus;
    trace.jobs.push_back({job, name, kUnknownWorkload, kUnknownCluster, 0});
  }
  std::optional<Refusal> refusal() const {
    return refusal_of_jobs(*config, cluster, beliefs, trace);
  }

  Notes notes() const {
    return notes_on_jobs(*config, cluster, beliefs, policy_instances(*config), trace);
  }

  std::shared_ptr<const Config> config;
  InputFiles files;
  MeasurementTables tables;
  Cluster cluster;
  BeliefBuilder beliefs;
  Trace trace;
};

TEST(ExperimentChecks, FindingsAreValues) {
  Parts parts({"cluster.nodes=2"});
  EXPECT_EQ(parts.refusal()->message, "the workload has no jobs");
  parts.add("small", 0, 10);
  EXPECT_FALSE(parts.refusal().has_value());
  parts.add("large", 0, 10, 3);
  EXPECT_EQ(
      parts.refusal()->message,
      "job 'large' needs 3 GPUs at once, the cluster has 2; add nodes or GPUs: cluster.nodes, "
      "cluster.gpus_per_node, or corun replay --gpus 3");
  EXPECT_EQ(parts.refusal()->place, "--set cluster.nodes=2");
}

TEST(ExperimentChecks, ALabelBeyondTheKnowledgeBase) {
  Parts parts({});
  parts.add("job", 0, 10);
  parts.trace.jobs[0].cluster = 3;
  EXPECT_TRUE(contains(parts.refusal()->message, "is of cluster 3, expected clusters 0 to 2"));
}

TEST(ExperimentChecks, GangsAreNotProbed) {
  Parts parts({"probing.probes=1", "belief.model=gp"});
  parts.add("gang", 0, 10, 2);
  EXPECT_TRUE(contains(parts.refusal()->message, "want one GPU each; leave probing out"));
}

TEST(ExperimentChecks, WhatIsNotKnownOfJobs) {
  Parts parts({});
  parts.add("a", 0, 10);
  parts.add("b", 0, 10);
  parts.trace.jobs[0].spec.profile.gpu_util_pct = 50;
  parts.trace.jobs[0].spec.profile.mem_used_mib = 1000;
  const Notes notes = parts.notes();
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].code, NoteCode::kMissingProfiles);
  EXPECT_TRUE(contains(notes[0].text, "1 of 2 jobs have no profile at all"));
  EXPECT_EQ(notes[1].code, NoteCode::kUnknownMemory);
  EXPECT_TRUE(contains(notes[1].text, "1 of 2 jobs have no known memory demand"));
}

TEST(ExperimentChecks, JobsWithoutProfilesAreAlikeToPoliciesWithABelief) {
  const auto warning = [](const std::vector<std::string>& overrides, std::optional<double> util,
                          int cluster = kUnknownCluster) {
    Parts parts(overrides);
    parts.add("a", 0, 10);
    parts.add("b", 0, 10);
    parts.trace.jobs[0].spec.profile.gpu_util_pct = util;
    for (TraceJob& job : parts.trace.jobs) job.cluster = cluster;
    return parts.notes().front().text;
  };
  const std::string by_default = warning({}, {});
  EXPECT_TRUE(
      contains(by_default,
               "2 of 2 jobs have no profile at all: models take average values for them, "
               "clusters the first; to balance, min-slowdown, max-packing all jobs are then "
               "alike and are paired in the order of the trace, as by fcfs. Give the jobs' "
               "CSV the columns gpu_util_pct, mem_alloc_pct, mem_time_pct, or cluster; or "
               "set workload.profiles: jrs, or belief.model: measured"));
  EXPECT_TRUE(contains(warning({}, 50), "to balance, min-slowdown, max-packing these jobs"));
  EXPECT_TRUE(
      contains(warning({"belief.model=contention"}, {}), "they differ at most in workloads"));
  for (const std::string& silent : {warning({"policies=[{name: fcfs}, {name: oracle}]"}, {}),
                                    warning({}, {}, 1), warning({"belief.model=truth"}, {}),
                                    warning({"policies=[{name: balance, epsilon: 0.1}]"}, {})}) {
    EXPECT_TRUE(silent.ends_with("clusters the first")) << silent;
  }
}

TEST(ExperimentChecks, OverloadNeedsArrivalsOverTime) {
  Parts parts({"cluster.nodes=1"});
  parts.add("a", 0, 100);
  parts.add("b", 0, 100);
  EXPECT_EQ(overload_of(parts.cluster, parts.trace, 1), "") << "a batch";
  Parts stream({"cluster.nodes=1"});
  for (int j = 0; j < 20; ++j) stream.add("j" + std::to_string(j), 10.0 * j, 19);
  EXPECT_EQ(overload_of(stream.cluster, stream.trace, 1),
            "the offered load is 2.00 of what 1 GPUs can do without sharing: queues grow "
            "with the length of the trace");
}

TEST(ExperimentChecks, PackingByLabelsNeedsLabels) {
  const auto refusal = [](const std::string& policies, const std::vector<std::string>& more,
                          const std::vector<std::optional<int>>& labels) {
    std::vector<std::string> overrides{"estimates.duration=exact", "policies=" + policies};
    overrides.insert(overrides.end(), more.begin(), more.end());
    Parts parts(overrides);
    for (const std::optional<int>& label : labels) {
      parts.add("j" + std::to_string(parts.trace.jobs.size()), 0, 10);
      parts.trace.jobs.back().spec.profile.packing_label = label;
    }
    return refusal_of_labels(*parts.config, policy_instances(*parts.config), parts.trace);
  };
  const auto found = refusal("[{name: fcfs}, {name: lucid}]", {}, {0, {}, {}});
  ASSERT_TRUE(found);
  EXPECT_EQ(
      found->message,
      "policy 'lucid' packs by labels, and 2 of 3 jobs have none, the first is 'j1'; give the "
      "jobs as CSV with a column packing_label (0 tiny, 1 medium, 2 jumbo), or set its "
      "label_sum to 4 (no label matters) or -1 (no job shares)");
  EXPECT_TRUE(contains(refusal("[lucid]", {"workload.source=lucid"}, {{}})->message,
                       "set workload.labels to a CSV job,label of their workloads"));
  EXPECT_TRUE(contains(
      refusal("[lucid]", {"workload.source=lucid", "workload.labels=l.csv"}, {{}})->message,
      "add their workloads to l.csv"));
  EXPECT_FALSE(refusal("[lucid]", {}, {0, 2}));
  EXPECT_FALSE(refusal("[{name: fcfs}, {name: sjf}]", {}, {{}}));
  EXPECT_FALSE(refusal("[{name: lucid, label_sum: 4}]", {}, {{}}));
  EXPECT_FALSE(refusal("[{name: lucid, label_sum: -1}]", {}, {{}}));
  EXPECT_TRUE(refusal("[{name: lucid, label_sum: 3}]", {}, {{}}));
  EXPECT_FALSE(refusal("[lucid]", {"cluster.max_jobs_per_gpu=1"}, {{}}));
}

TEST(ExperimentChecks, RunTimesSayOnWhichTypeTheyWereMeasured) {
  Parts parts({"cluster.machines=1x1:V100+1x1:T4"});
  for (int j = 0; j < 3; ++j) parts.add("j" + std::to_string(j), 0, 10);
  const TypesOfJobs types(*parts.config, parts.cluster);
  const auto sentence = [&] {
    const auto table = types.table(parts.trace);
    return run_times_of(*parts.config, parts.cluster, {}, types.reference(parts.trace), parts.trace,
                        table.get());
  };
  EXPECT_TRUE(contains(sentence(), "run times alone are those of V100-16GB; on other types"));
  EXPECT_TRUE(contains(sentence(), ", times a factor drawn in each replication (world.noise)"));

  parts.trace.gpu_model_names = {"V100-16GB", "T4"};
  parts.trace.jobs[0].spec.gpu_models = 1;
  parts.trace.jobs[1].spec.gpu_models = 2;
  EXPECT_TRUE(contains(sentence(),
                       "were measured on the GPU type that the job names, V100-16GB (1 job), T4 "
                       "(1), and those of the other 1 on V100-16GB; on other types"));

  parts.trace.jobs[2].spec.gpu_models = 2;
  EXPECT_EQ(sentence(),
            "run times alone were measured on the GPU type that the job names: V100-16GB (1 job), "
            "T4 (2)")
      << "nothing is scaled, and nothing drawn";

  Parts exact({"cluster.machines=1x1:V100+1x1:T4", "world.noise=false"});
  exact.add("job", 0, 10);
  const TypesOfJobs of_exact(*exact.config, exact.cluster);
  EXPECT_FALSE(contains(run_times_of(*exact.config, exact.cluster, {}, "V100-16GB", exact.trace,
                                     of_exact.table(exact.trace).get()),
                        "drawn"));
}

TEST(ExperimentChecks, PodsThatNoNodeHolds) {
  Parts parts({"cluster={nodes: 4, gpus_per_node: 2}", "policies=[{name: fcfs}, {name: fgd}]"});
  parts.add("gang", 0, 10, 4);
  const auto found =
      unplaceable_pods(*parts.config, parts.cluster, policy_instances(*parts.config), parts.trace);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].policy, 1U);
  EXPECT_EQ(found[0].what,
            "job 'gang' asks for 4 GPUs, a node has 2, and fgd places a pod on one node");
  EXPECT_EQ(found[0].cure, "raise cluster.gpus_per_node");
}

}  // namespace
}  // namespace corun::experiment_checks_test
