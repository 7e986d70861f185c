#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/program.hpp"

// Bad inputs of all kinds give one line that begins with the place, exit code 2 and no output.
namespace corun::bad_input_test {
namespace {

struct Case {
  const char* name;
  std::string text;
  const char* place;  ///< ":LINE:COLUMN: " after the file's name
  const char* hint;   ///< somewhere in the line
};

class BadConfiguration : public testing::TestWithParam<Case> {};

TEST_P(BadConfiguration, IsRefusedInOneLineWithItsPlace) {
  const Case& c = GetParam();
  const test::TemporaryDirectory directory;
  directory.write("bad.yaml", c.text);
  const test::Outcome outcome = test::run_corun(
      {"replay", "bad.yaml", "--output", "out.h5", "--quiet", "--threads", "2"}, directory.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.rfind(std::string("bad.yaml") + c.place, 0), 0U) << outcome.err;
  EXPECT_NE(outcome.err.find(c.hint), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    EXPECT_EQ(entry.path().filename(), "bad.yaml") << "something was written";
  }
}

/// Three pods: of 12000 cpu_milli and 16384 MiB, of 6000 and 12288, the last with two GPUs.
std::string pods_on(const std::string& cluster) {
  return "workload: {source: openb, path: " CORUN_SOURCE_DIR
         "/tests/fuzz/corpus/openb/small.csv}\ncluster: {" +
         cluster + "}\npolicies: [fcfs, fgd]\n";
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadConfiguration,
    testing::Values(
        Case{"UnknownKey", "clutser: {nodes: 1}\n", ":1:1: ", "did you mean 'cluster'"},
        Case{"DuplicateKey", "seed: 1\nseed: 2\n", ":2:1: ", "seed"},
        Case{"WrongType", "cluster: {nodes: many}\n", ":1:18: ", "many"},
        Case{"NegativeSize", "replications: -3\n", ":1:15: ", "-3"},
        Case{"ZeroSize", "cluster: {nodes: 0}\n", ":1:18: ", "0"},
        Case{"NaN", "policies: [{name: min-slowdown, epsilon: .nan}]\n", ":1:42: ", "nan"},
        Case{"Overflow", "replications: 99999999999999999999\n", ":1:15: ", "99999999999999999999"},
        Case{"LeadingZero", "seed: 010\n", ":1:7: ", "010"},
        Case{"Unterminated", "workload: {source: 'jrs-queue\n", ":1:20: ", "unterminated"},
        Case{"UnterminatedPlain", "seed: 1\nworkload:\n  source: 'jrs-queue\n",
             ":3:11: ", "unterminated"},
        Case{"Empty", "", ":1:1: ", "nothing"},
        Case{"Binary", std::string("\x00\x01\x02\xff", 4), ":1:1: ", "byte"},
        Case{"UnknownPolicy", "policies: [{name: min-slowdwn}]\n",
             ":1:19: ", "did you mean 'min-slowdown'"},
        Case{"NoPolicy", "policies: []\n", ":1:11: ", "polic"},
        Case{"Epsilon", "policies: [{name: balance, epsilon: 1.5}]\n", ":1:37: ", "1.5"},
        Case{"Risk", "policies: [{name: balance, risk: -1}]\n", ":1:34: ", "from 0 to 100"},
        Case{"Explore", "policies: [{name: balance, explore: thomson}]\n",
             ":1:37: ", "did you mean 'thompson'"},
        Case{"ProbesThatJoin", "probing: {probes: 2}\ncontrol: {start: join}\n",
             ":1:19: ", "control.start: join, expected group"},
        Case{"NoSuchTrace", "workload: {source: csv, path: /nonexistent.csv}\n",
             ":1:31: ", "/nonexistent.csv"},
        Case{"NoSuchWorld", "world: {path: nowhere.corun.csv}\n", ":1:15: ", "nowhere.corun.csv"},
        Case{"NoSuchKnowledge", "belief: {initial: kb.csv}\n", ":1:19: ", "kb.csv"},
        Case{"UnknownSource", "workload: {source: jrs-qeue}\n",
             ":1:20: ", "did you mean 'jrs-queue'"},
        Case{"UnknownGpu", "cluster: {gpu_type: V100-16G}\n",
             ":1:21: ", "did you mean 'V100-16GB'"},
        Case{"OverCommit",
             "cluster: {max_jobs_per_gpu: 2}\npolicies: [{name: kube-default, replicas: 3}]\n",
             ":2:19: ", "kube-default has replicas: 3, and cluster.max_jobs_per_gpu is 2"},
        Case{"OverCommittedBin",
             "cluster: {max_jobs_per_gpu: 4}\n"
             "policies:\n  - fcfs\n  - {name: max-packing, bin: [J15-32, J15-562, J15-716, "
             "J12-256, J11-256]}\n",
             ":4:12: ", "max-packing has a bin of 5 jobs, and cluster.max_jobs_per_gpu is 4"},
        Case{"PodOfTooManyGpus", pods_on("nodes: 4"),
             ":3:18: ", "job 'p5' asks for 2 GPUs, a node has 1, and fgd places a pod on one node"},
        Case{"PodOfTooMuchCpu", pods_on("gpus_per_node: 2, cpu_milli_per_node: 11999"),
             ":3:18: ", "job 'p0' asks for 12000 cpu_milli, a node has 11999, and fgd"},
        Case{"PodOfTooMuchMemory", pods_on("gpus_per_node: 2, memory_mib_per_node: 16383"),
             ":3:18: ", "raise cluster.memory_mib_per_node"},
        Case{"UnknownJobInBin", "policies: [{name: max-packing, bin: [J7-206]}]\n",
             ":1:37: ", "did you mean 'J7-20"},
        Case{"UnknownCluster", "policies: [{name: balance, pairing: given, order: [[0, 7]]}]\n",
             ":1:51: ", "clusters 0 to 2"},
        Case{"SameLabelTwice",
             "policies: [{name: fcfs, label: x}, {name: random, label: 'x#1'}, {name: balance, "
             "label: x}]\n",
             ":1:", "label"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(Probing, GangsAreRefusedAtThePlaceOfItsKey) {
  const test::TemporaryDirectory directory;
  directory.write("jobs.csv", "job,submit_s,solo_s,gpus\na,0,100,1\nb,0,100,2\n");
  directory.write("c.yaml", "workload: {source: csv, path: jobs.csv}\nprobing:\n  probes: 1\n");
  const test::Outcome outcome = test::run_corun({"replay", "c.yaml", "--quiet"}, directory.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err.rfind("c.yaml:3:11: job 'b' asks for 2 GPUs", 0), 0U) << outcome.err;
}

TEST(BadFlags, AreRefusedWithTheFlagsName) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"replay", "--sed", "1"}, "--sed: no such option of corun replay; did you mean '--se"},
      {{"replay", "--seed", "-1"}, "--seed: "},
      {{"replay", "--threads", "x"}, "--threads: found 'x'"},
      {{"replay", "--format", "xml"}, "--format: found 'xml'"},
      {{"replay", "--set", "cluster.nods=2"}, "--set cluster.nods=2: "},
      {{"replay", "missing.yaml"}, "missing.yaml"},
      {{"replay", "."}, ".: "},
      {{"replay", "--output", "no/such/dir/x.h5"}, "--output"},
      {{"replay", "--data", "/nonexistent"}, "--data: '/nonexistent' is not a directory"},
      {{"replay", "--worlds", "nowhere"}, "--worlds"},
      {{"recommend", "--epsilon", "2"}, "--epsilon: found '2'"},
      {{"recommend", "--objective", "minslowdown"}, "--objective: found 'minslowdown'"},
      {{"recommend", "--pairing", "given"}, "--order: "},
      {{"recommend", "--bin", "J7-205"}, "--bin: "},
      {{"recommend", "--kb", CORUN_SOURCE_DIR "/examples/mine.corun.csv"}, "--kb: '"},
      {{"recommend", "--queue", "nowhere.csv"}, "--queue: no file 'nowhere.csv'"},
      {{"recommend", "--kb", "nowhere.csv"}, "--kb: no file 'nowhere.csv'"},
      {{"recommend", "--service", "nowhere.csv"}, "--service: no file 'nowhere.csv'"},
      {{"recommend", "--service", CORUN_SOURCE_DIR "/examples/services.csv", "--sure", "2"},
       "--sure: found '2', expected a probability from 0 to 1"},
      {{"recommend", "--service", CORUN_SOURCE_DIR "/examples/services.csv", "--epsilon", "0.1"},
       "--epsilon: is of groups of the queue and does not go with --service"},
      {{"recommend", "--sure", "0.9"}, "--sure: goes with --service"},
      {{"list", "polices"}, "corun list: no list 'polices': did you mean 'policies'?"},
      {{"repaly"}, "corun: no command 'repaly': did you mean 'replay'?"},
  };
  const test::TemporaryDirectory directory;
  for (const auto& [arguments, begin] : cases) {
    const test::Outcome outcome = test::run_corun(arguments, directory.path());
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.err.rfind(begin, 0), 0U) << begin << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(BadFlags, CudaWithoutAUsableGpuIsItsOwnExitCode) {
  const test::Outcome outcome = test::run_corun({"replay", "--device", "cuda"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err.rfind("--device cuda: ", 0), 0U) << outcome.err;
}

// A node list of which each node lacks another resource; a job that fits a node runs.
TEST(PodsOnANodeList, WhatNoNodeHasTogetherIsToldAtTheStart) {
  const test::TemporaryDirectory directory;
  directory.write(
      "pods.csv",
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time\n"
      "small,1000,1000,1,500,,0,10\n"
      "wide,9000,1000,2,1000,T4,0,10\n");
  const std::vector<std::string> replay = {"replay", "--quiet",
                                           "--set",  "workload={source: openb, path: pods.csv}",
                                           "--set",  "cluster.path=nodes.csv",
                                           "--set",  "replications=1",
                                           "--set",  "policies=[best-fit]"};
  const std::string header = "sn,cpu_milli,memory_mib,gpu,model\n";
  directory.write("nodes.csv",
                  header + "a,8000,64000,2,T4\nb,16000,64000,1,T4\nc,16000,64000,2,P4\n");
  test::Outcome outcome = test::run_corun(replay, directory.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err.rfind("--set policies=[best-fit]: job 'wide' asks for 2 GPUs of T4, 9000 "
                              "cpu_milli and 1000 MiB of main memory, which no node has together",
                              0),
            0U)
      << outcome.err;
  directory.write("nodes.csv", header + "a,9000,64000,2,T4\nb,16000,64000,1,P4\n");
  outcome = test::run_corun(replay, directory.path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

// The default comparison leaves kube-default out and says so, because the user did not name it.
TEST(PodsInTheDefaultComparison, APolicyThatCannotPlaceThemIsLeftOut) {
  const test::TemporaryDirectory directory;
  directory.write("jobs.csv", "job,submit_s,solo_s,cpu_milli\nhungry,0,10,32001\n");
  const test::Outcome outcome =
      test::run_corun({"replay", "--set", "workload={source: csv, path: jobs.csv}", "--set",
                       "replications=1", "--format", "csv"},
                      directory.path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("job 'hungry' asks for 32001 cpu_milli, a node has 32000, and "
                             "kube-default places a pod on one node: left out of the default"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.out.find("kube-default"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace corun::bad_input_test
