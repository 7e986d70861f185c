#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "results/hdf5_table.hpp"
#include "tests/helpers/program.hpp"

/// A policy that breaks a rule loses its own run alone. It is told on stderr, marked in all outputs, and the exit code is 1.
namespace corun::failed_policy_test {
namespace {

using nlohmann::json;
using namespace hdf5;

constexpr const char* kBroken = "broke the rule 'answer'";

/// Runs fifo and a program that ends in replication 1, of seed 2, and decides well in the others.
class FailedPolicy : public testing::Test {
 protected:
  FailedPolicy() {
    directory_.write("jobs.csv", "job,submit_s,solo_s\na,0,100\nb,1,50\nc,2,30\n");
    directory_.write("flaky.sh",
                     "read line\ncase \"$line\" in *'\"seed\":2'*) exit 1 ;; esac\n"
                     "(echo \"$line\"; cat) | python3 " CORUN_SOURCE_DIR "/examples/policy.py\n");
    directory_.write("c.yaml",
                     "workload: {source: csv, path: jobs.csv}\nreplications: 3\n"
                     "cluster: {nodes: 1, gpus_per_node: 1}\nworld: {model: none}\n" +
                         policies());
  }

  static std::string policies() {
    return "policies:\n  - fifo\n  - {name: external, label: flaky, command: [sh, flaky.sh]}\n";
  }

  test::Outcome corun(const std::vector<std::string>& arguments) {
    return test::run_corun(arguments, directory_.path());
  }

  test::TemporaryDirectory directory_;
};

TEST_F(FailedPolicy, TheOthersAreKeptAndItsRunsAreMarked) {
  const test::Outcome table = corun({"replay", "c.yaml", "--quiet", "--output", "r.h5"});
  EXPECT_EQ(table.code, 1) << table.err;
  EXPECT_NE(table.err.find("error: c.yaml:7:12: policy 'external' broke the rule 'answer'"),
            std::string::npos)
      << table.err;
  EXPECT_NE(table.err.find(" s, seed 2 (replication 1)"), std::string::npos) << table.err;
  EXPECT_NE(table.out.find("\nflaky !"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("! flaky failed in 1 of 3 replications"), std::string::npos)
      << table.out;

  const Handle file = open_file(directory_.path("r.h5"));
  const TableReader failures(file, "failures");
  ASSERT_EQ(failures.rows(), 1U);
  EXPECT_EQ(failures.texts("label").front(), "flaky");
  EXPECT_EQ(failures.integers("replication").front(), 1);
  EXPECT_NE(failures.texts("reason").front().find(kBroken), std::string::npos);
  const TableReader metrics(file, "metrics");
  ASSERT_EQ(metrics.rows(), 6U);  // by policy, then replication
  const auto jct = metrics.reals("jct_s");
  for (std::size_t run = 0; run < 6; ++run) EXPECT_EQ(std::isnan(jct[run]), run == 4) << run;
  EXPECT_EQ(TableReader(file, "runs").rows(), 5U * 3);
  EXPECT_EQ(TableReader(file, "usage").rows(), 5U);
}

TEST_F(FailedPolicy, JsonAndCsvSayIt) {
  const test::Outcome as_json = corun({"replay", "c.yaml", "--quiet", "--format", "json"});
  EXPECT_EQ(as_json.code, 1);
  const json result = json::parse(as_json.out);
  const json& fifo = result["policies"][0];
  EXPECT_FALSE(fifo.contains("failures"));
  EXPECT_DOUBLE_EQ(fifo["metrics"]["jct_s"]["mean"], (100 + 149 + 178) / 3.0);
  const json& flaky = result["policies"][1];
  ASSERT_EQ(flaky["failures"].size(), 1U);
  EXPECT_EQ(flaky["failures"][0]["replication"], 1);
  EXPECT_TRUE(flaky["metrics"]["jct_s"]["mean"].is_number());
  const test::Outcome as_csv = corun({"replay", "c.yaml", "--quiet", "--format", "csv"});
  EXPECT_EQ(as_csv.code, 1);
  EXPECT_NE(as_csv.out.find("\nflaky,failed_runs,0.333"), std::string::npos) << as_csv.out;
  EXPECT_EQ(as_csv.out.find("fifo,failed_runs"), std::string::npos);
}

/// What else is written of a run does not end the command either.
TEST_F(FailedPolicy, EveryRunOfItMayFail) {
  directory_.write("flaky.sh", "exit 1\n");
  const test::Outcome all = corun(
      {"replay", "c.yaml", "--quiet", "--output", "r.h5", "--timeline", "t", "--figure", "f.svg"});
  EXPECT_EQ(all.code, 1) << all.err;
  EXPECT_NE(all.out.find("! flaky failed in 3 of 3 replications"), std::string::npos) << all.out;
  EXPECT_NE(test::read_file(directory_.path("t/fifo.csv")).find("finish"), std::string::npos);
  EXPECT_EQ(corun({"report", "r.h5", "--output", "r.html", "--quiet"}).code, 0);
}

TEST_F(FailedPolicy, ASweepKeepsTheOthers) {
  directory_.write("s.yaml", test::read_file(directory_.path("c.yaml")) +
                                 "sweep: {grid: {cluster.gpus_per_node: [1, 2]}}\n");
  const test::Outcome sweep = corun({"sweep", "s.yaml", "--quiet", "--output", "s.h5"});
  EXPECT_EQ(sweep.code, 1) << sweep.err;
  EXPECT_NE(sweep.err.find("error: point 0 and 1 more: policy 'external' broke the rule 'answer'"),
            std::string::npos)
      << sweep.err;
  {
    const Handle file = open_file(directory_.path("s.h5"));
    const TableReader failures(file, "failures");
    EXPECT_EQ(failures.integers("point"), (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(failures.integers("replication"), (std::vector<std::int64_t>{1, 1}));
    EXPECT_EQ(TableReader(file, "metrics").rows(), 12U);
  }
  const test::Outcome answers = corun({"sweep", "--answers", "s.h5"});
  EXPECT_EQ(answers.code, 0) << answers.err;
  EXPECT_NE(answers.out.find("failed: flaky in 2 runs"), std::string::npos) << answers.out;
  const test::Outcome as_json = corun({"sweep", "--answers", "s.h5", "--format", "json"});
  EXPECT_EQ(json::parse(as_json.out)["failures"].size(), 2U);
  const test::Outcome as_csv = corun({"sweep", "--answers", "s.h5", "--format", "csv"});
  EXPECT_NE(as_csv.out.find("\nfailure,,flaky,"), std::string::npos) << as_csv.out;

  // Parts know it, too, and give the same bytes.
  const std::string whole = test::read_file(directory_.path("s.h5"));
  for (const char* part : {"1/2", "2/2"}) {
    const std::string name = std::string("part") + part[0];
    const test::Outcome shard = corun({"sweep", "s.yaml", "--shard", part, "--output", name, "-q"});
    EXPECT_TRUE(shard.code == 0 || shard.code == 1) << shard.err;
  }
  const test::Outcome merged =
      corun({"sweep", "--merge", "part1", "part2", "--output", "m.h5", "-q"});
  EXPECT_EQ(merged.code, 1) << merged.err;
  EXPECT_EQ(test::read_file(directory_.path("m.h5")), whole);
}

/// A contradiction of the configuration is no failure of the policy.
TEST_F(FailedPolicy, KubeDefaultObeysTheLimitOfTheCluster) {
  const auto replay = [&](const std::string& policy) {
    return corun({"replay", "jobs.csv", "--quiet", "--gpus", "1", "--replications", "1", "--set",
                  "cluster.max_jobs_per_gpu=1", "--set", "policies=[" + policy + "]", "--format",
                  "json"});
  };
  const test::Outcome kube = replay("{name: kube-default}");
  EXPECT_EQ(kube.code, 0) << kube.err;
  EXPECT_EQ(json::parse(kube.out)["policies"][0]["metrics"]["isd"]["mean"], 0);
  const test::Outcome asked = replay("{name: kube-default, replicas: 2}");
  EXPECT_EQ(asked.code, 2);
  EXPECT_NE(asked.err.find("replicas: 2, and cluster.max_jobs_per_gpu is 1"), std::string::npos);
}

}  // namespace
}  // namespace corun::failed_policy_test
