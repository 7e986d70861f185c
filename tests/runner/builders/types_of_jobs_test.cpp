#include "runner/builders/types_of_jobs.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/solo/roofline.hpp"
#include "policies/catalog.hpp"
#include "runner/builders/gpu_model_fit.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/base/nan.hpp"
#include "sim/error.hpp"
#include "tests/helpers/trace_columns.hpp"
#include "traces/gpu_catalog.hpp"

namespace corun::test::types_of_jobs_test {
namespace {

constexpr double kDoesNotRun = std::numeric_limits<double>::infinity();

struct Parts {
  explicit Parts(const std::vector<std::string>& overrides)
      : config(default_config_with(parse_overrides(overrides), policy_catalog())),
        files("", "", std::make_shared<InputCache>()),
        cluster(build_cluster(config, files)) {}

  void add(double work_s, std::optional<double> memory_mib = {},
           WorkloadKey key = kUnknownWorkload) {
    JobSpec job;
    job.work = from_seconds(work_s);
    job.profile.mem_used_mib = memory_mib;
    trace.jobs.push_back({job, "j" + std::to_string(trace.jobs.size()), key});
  }
  std::shared_ptr<const JobTypeTable> table() const {
    return TypesOfJobs(config, cluster).table(trace);
  }
  const GpuType& type(std::size_t t) const { return types.at(t); }

  Config config;
  InputFiles files;
  Cluster cluster;
  Trace trace;
  std::vector<GpuType> types = cluster.spec.types();
};

constexpr JobId kFirst{0};
constexpr JobId kSecond{1};

TEST(TypesOfJobs, OneTypeNeedsNoTable) {
  Parts parts({"cluster.nodes=2"});
  parts.add(10);
  EXPECT_EQ(parts.table(), nullptr);
  Parts same({"cluster.machines=1x2:V100-16GB+2x1:v100"});
  same.add(10);
  EXPECT_EQ(same.table(), nullptr);
}

TEST(TypesOfJobs, MeasuredThenScaledThenAssumed) {
  Parts parts({"cluster.machines=1x1:V100+1x1:T4+1x1:G1"});
  parts.add(100);
  parts.add(100);
  add_type(parts.trace, "Tesla T4", {250, kNaN}, {kNaN, kNaN});
  const auto table = parts.table();
  ASSERT_NE(table, nullptr);
  const auto alone = [&](JobId job, std::size_t t) {
    return table->alone(job, parts.type(t), std::nullopt);
  };
  EXPECT_EQ(alone(kFirst, 0).speed, 1);
  EXPECT_EQ(alone(kFirst, 0).source, SoloSource::kReference);
  EXPECT_DOUBLE_EQ(alone(kFirst, 1).speed, 0.4);
  EXPECT_EQ(alone(kFirst, 1).source, SoloSource::kMeasured);
  EXPECT_DOUBLE_EQ(alone(kSecond, 1).speed,
                   Roofline().predict(kSecond, *find_gpu("V100"), *find_gpu("T4"))->speed);
  EXPECT_EQ(alone(kSecond, 1).source, SoloSource::kScaled);
  EXPECT_EQ(alone(kSecond, 2).speed, 1);
  EXPECT_EQ(alone(kSecond, 2).source, SoloSource::kAssumed);
}

TEST(TypesOfJobs, OnlyScaledSpeedsAreDrawnOncePerSeedWorkloadAndType) {
  Parts parts({"cluster.machines=1x1:V100+1x1:T4"});
  parts.add(100, {}, 7);
  parts.add(30, {}, 7);
  parts.add(100, {}, 8);
  add_type(parts.trace, "T4", {kNaN, kNaN, kNaN}, {kNaN, kNaN, kNaN});
  const auto table = parts.table();
  const auto speed = [&](std::uint32_t job, std::size_t t, std::uint64_t seed) {
    return table->alone(JobId{job}, parts.type(t), seed).speed;
  };
  EXPECT_EQ(speed(0, 0, 1), 1) << "the reference is no draw";
  EXPECT_EQ(speed(0, 1, 1), speed(0, 1, 1));
  EXPECT_EQ(speed(0, 1, 1), speed(1, 1, 1)) << "one workload";
  EXPECT_NE(speed(0, 1, 1), speed(2, 1, 1));
  EXPECT_NE(speed(0, 1, 1), speed(0, 1, 2));
  const double median = table->alone(kFirst, parts.type(1), std::nullopt).speed;
  double sum = 0;
  double squares = 0;
  constexpr int kSeeds = 4000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const double x = std::log(speed(0, 1, seed) / median);
    sum += x;
    squares += x * x;
  }
  const double sigma = std::hypot(Roofline::kTypeSigma, Roofline::kJobSigma);
  EXPECT_NEAR(sum / kSeeds, 0, 5 * sigma / std::sqrt(kSeeds));
  EXPECT_NEAR(std::sqrt(squares / kSeeds), sigma, 0.03);
}

TEST(TypesOfJobs, AJobOfALogRanOnTheOneTypeThatItNames) {
  Parts parts({"cluster.machines=1x1:V100+1x1:T4", "workload.source=csv"});
  parts.add(100);
  parts.add(100);
  parts.trace.jobs[0].spec.gpu_models = 2;
  parts.trace.jobs[1].spec.gpu_models = 3;
  const auto source = [&](JobId job) {
    return parts.table()->alone(job, parts.type(1), std::nullopt).source;
  };
  EXPECT_EQ(source(kFirst), SoloSource::kMeasured);
  EXPECT_EQ(parts.table()->alone(kFirst, parts.type(1), std::nullopt).speed, 1);
  EXPECT_EQ(source(kSecond), SoloSource::kScaled);
}

TEST(TypesOfJobs, MemoryIsMeasuredOrHasTheContextOfTheType) {
  Parts parts({"cluster.machines=1x1:V100+1x1:T4"});
  parts.add(100, 5000.0);
  parts.add(100, 5000.0);
  parts.add(100);
  add_type(parts.trace, "T4", {kNaN, kNaN, kNaN}, {4000, kNaN, kNaN});
  const auto table = parts.table();
  EXPECT_EQ(table->memory_mib(kFirst, parts.type(0)), 5000);
  EXPECT_EQ(table->memory_mib(kFirst, parts.type(1)), 4000);
  EXPECT_DOUBLE_EQ(table->memory_mib(kSecond, parts.type(1)).value(),
                   5000 + *context_mib(*find_gpu("T4")) - *context_mib(*find_gpu("V100")));
  EXPECT_EQ(table->memory_mib(JobId{2}, parts.type(1)), std::nullopt);
}

TEST(TypesOfJobs, TheReferenceIsToldOrTheTracesOrTheFirstMachine) {
  const auto reference = [](const std::vector<std::string>& overrides, const char* of_trace) {
    Parts parts(overrides);
    parts.trace.reference_type = of_trace;
    return TypesOfJobs(parts.config, parts.cluster).reference(parts.trace);
  };
  EXPECT_EQ(reference({"cluster.machines=1x1:T4+1x1:P4"}, ""), "V100-16GB") << "the JRS jobs'";
  EXPECT_EQ(reference({"cluster.machines=1x1:T4+1x1:P4", "workload.source=csv"}, ""), "T4");
  EXPECT_EQ(reference({"cluster.machines=1x1:T4+1x1:P4"}, "v100"), "v100");
  EXPECT_EQ(reference({"cluster.machines=1x1:T4+1x1:P4", "workload.gpu_type=P4"}, "v100"), "P4");
  EXPECT_EQ(reference({"cluster.nodes=2"}, ""), "") << "as before: equally fast on all";
  EXPECT_THROW(reference({"workload.gpu_type=V10"}, ""), InputError);
}

TEST(TypesOfJobs, AToldReferenceScalesAClusterOfOneType) {
  Parts parts({"cluster.gpu_type=T4", "workload.gpu_type=V100", "cluster.gpu_speed=2"});
  parts.add(100);
  const auto table = parts.table();
  ASSERT_NE(table, nullptr);
  EXPECT_DOUBLE_EQ(table->alone(kFirst, parts.type(0), std::nullopt).speed,
                   2 * Roofline().predict(kFirst, *find_gpu("V100"), *find_gpu("T4"))->speed);
}

/// A program that ends at once unless it is told as many speeds as there are types, or none.
TEST(TypesOfJobs, ProgramsGetTheSpeedsThatEstimatesGrant) {
  const auto replay = [](const std::string& estimates, const std::string& holds) {
    const std::string program =
        "import json, sys\n"
        "sys.stdin.readline()\n"
        "print(json.dumps({'protocol': 'corun-policy', 'version': 1}), flush=True)\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    for event in asked['events']:\n"
        "        speeds = event['asks']['speeds'] if event['event'] == 'arrive' else None\n"
        "        assert event['event'] != 'arrive' or (" +
        holds +
        ")\n"
        "    starts = [{'event': 'start', 'jobs': [j], 'gpus': [g]}"
        " for j, g in zip(asked['waiting'], asked['free'])]\n"
        "    print(json.dumps({'decisions': starts}), flush=True)\n";
    const std::vector<std::string> settings{"cluster.machines=1x1:T4+1x1:V100",
                                            "workload.gpu_type=V100", "replications=1",
                                            "estimates.duration=" + estimates};
    Config config = default_config_with(parse_overrides(settings), policy_catalog());
    config.policies = {
        {"external", {}, {{"command", std::vector<std::string>{"python3", "-c", program}}}}};
    return Experiment(std::move(config), "").run(0).runs.at(0).metrics;
  };
  const double jobs = at(
      replay("exact", "len(speeds) == 2 and 0 < speeds[0] < .6 and speeds[1] == 1"), Metric::kJobs);
  EXPECT_EQ(jobs, 24);
  EXPECT_EQ(at(replay("none", "speeds is None"), Metric::kJobs), 24);
  EXPECT_TRUE(std::isnan(at(replay("none", "speeds is not None"), Metric::kJobs)))
      << "the test can fail";
}

TEST(TypesOfJobs, JobsKeepTheTypesOnWhichTheyRun) {
  Parts parts({"cluster.machines=1x1:V100+1x1:T4+1x1:P4"});
  for (int j = 0; j < 3; ++j) parts.add(100);
  parts.trace.gpu_model_names = {"v100", "T4"};
  parts.trace.jobs[1].spec.gpu_models = 3;
  add_type(parts.trace, "T4", {kDoesNotRun, kDoesNotRun, kNaN}, {kNaN, kNaN, kNaN});
  ASSERT_TRUE(restricts_gpu_models(parts.cluster, parts.trace));
  fit_gpu_models(parts.config, parts.cluster, parts.trace);
  EXPECT_EQ(parts.trace.jobs[0].spec.gpu_models, 1U | 4U);
  EXPECT_EQ(parts.trace.jobs[1].spec.gpu_models, 1U);
  EXPECT_EQ(parts.trace.jobs[2].spec.gpu_models, 0U) << "any";

  Parts none({"cluster.machines=1x1:T4+1x1:P4"});
  none.add(100);
  none.trace.gpu_model_names = {"T4"};
  none.trace.jobs[0].spec.gpu_models = 1;
  add_type(none.trace, "T4", {kDoesNotRun}, {kNaN});
  try {
    fit_gpu_models(none.config, none.cluster, none.trace);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("job 'j0' runs on T4 only, the cluster has T4, P4"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace corun::test::types_of_jobs_test
