#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "results/results_identity.hpp"
#include "tests/helpers/effort.hpp"
#include "tests/helpers/eventually.hpp"
#include "tests/helpers/program.hpp"

/// What becomes of output files that exist, and what the suffix of a name decides (docs/results.md).
namespace corun::output_file_test {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

const std::string kExamples = CORUN_SOURCE_DIR "/examples/";

class OutputFile : public testing::Test {
 protected:
  /// Runs corun in the directory and returns its exit code.
  int run(Arguments arguments, const Arguments& more = {}) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    last_ = test::run_corun(arguments, directory_.path());
    return last_.code;
  }

  /// The second run with `changed` is refused and changes nothing; a repetition of the first is
  /// not; --force lets the second replace the file.
  void expect_rule(const Arguments& first, const Arguments& changed, const std::string& file) {
    ASSERT_EQ(run(first), 0) << last_.err;
    const std::string bytes = read(file);
    EXPECT_EQ(run(first), 0) << file << last_.err;
    EXPECT_EQ(read(file), bytes);
    EXPECT_EQ(run(changed), 2) << file;
    EXPECT_NE(last_.err.find("--force"), std::string::npos) << last_.err;
    EXPECT_EQ(last_.out, "");
    EXPECT_EQ(read(file), bytes) << file << " was replaced";
    EXPECT_EQ(run(changed, {"--force"}), 0) << last_.err;
    EXPECT_NE(read(file), bytes) << file;
    directory_.write(file, "my own notes");
    EXPECT_EQ(run(first), 2) << file;
    EXPECT_EQ(read(file), "my own notes");
    directory_.write(file, "");
    EXPECT_EQ(run(first), 0) << "an empty file holds nothing: " << last_.err;
    EXPECT_EQ(read(file), bytes);
  }

  std::string read(const std::string& file) const { return test::read_file(directory_.path(file)); }

  test::TemporaryDirectory directory_;
  test::Outcome last_;
};

TEST_F(OutputFile, IsReplacedByTheSameAloneInEveryCommand) {
  const std::string pairs = kExamples + "mine.corun.csv";
  directory_.write("jobs.csv", test::read_file(kExamples + "jobs.csv"));
  const Arguments replay{
      "replay", "-q", "-o", "r.h5", "--set", "replications=2", "--set", "policies=[fcfs, random]"};
  Arguments seed7 = replay;
  seed7.insert(seed7.end(), {"--seed", "7"});
  expect_rule(replay, seed7, "r.h5");
  expect_rule({"list", "models", "-o", "list"}, {"list", "traces", "-o", "list"}, "list");
  expect_rule({"trace", "info", "jobs.csv", "-o", "i.json"},
              {"trace", "info", "jobs.csv", "-o", "i.json", "--gpus", "2"}, "i.json");
  expect_rule({"trace", "generate", "g.csv", "--jobs", "5"},
              {"trace", "generate", "g.csv", "--jobs", "5", "--seed", "2"}, "g.csv");
  expect_rule({"kb", "build", "-o", "kb.yaml"}, {"kb", "build", "-o", "kb.yaml", "--decay", "0.1"},
              "kb.yaml");
  expect_rule({"kb", "show", "jrs", "--figure", "f.svg"},
              {"kb", "show", "prirect", "--figure", "f.svg"}, "f.svg");
  expect_rule(
      {"model", "fit", "--pairs", "papers", "--out", "m", "--effort", test::kLittleEffortText},
      {"model", "fit", "--pairs", pairs, "--out", "m", "--effort", test::kLittleEffortText}, "m");
  expect_rule({"recommend", "--argo", "w.yaml"}, {"recommend", "--argo", "w.yaml", "--gpus", "2"},
              "w.yaml");
}

TEST_F(OutputFile, OfOneRefusedNoneIsWritten) {
  directory_.write("jobs.csv", test::read_file(kExamples + "jobs.csv"));
  directory_.write("i.json", "my own notes");
  EXPECT_EQ(run({"trace", "convert", "jobs.csv", "copy.csv", "-o", "i.json"}), 2);
  EXPECT_FALSE(fs::exists(directory_.path("copy.csv")));
  EXPECT_EQ(read("i.json"), "my own notes");
}

TEST_F(OutputFile, RunFilesAndTimelinesOfOthersStay) {
  const Arguments replay{
      "replay",     "-q",     "-o",          "r.h5",  "--set", "replications=1",
      "--timeline", "events", "--knowledge", "k.csv", "--set", "policies=[min-slowdown]"};
  directory_.write("r.h5.run.json", "{\"mine\": 1}");
  EXPECT_EQ(run(replay), 2);
  EXPECT_NE(last_.err.find("r.h5.run.json"), std::string::npos) << last_.err;
  fs::remove(directory_.path("r.h5.run.json"));
  EXPECT_EQ(run(replay), 0) << last_.err;
  EXPECT_EQ(run(replay), 0) << last_.err;
  directory_.write("k.csv", "my own notes");
  EXPECT_EQ(run(replay), 2);
  EXPECT_TRUE(last_.err.starts_with("--knowledge: 'k.csv'")) << last_.err;
  fs::remove(directory_.path("k.csv"));
  directory_.write("events/min-slowdown.csv", "my own notes");
  EXPECT_EQ(run(replay), 2);
  EXPECT_TRUE(last_.err.starts_with("--timeline: ")) << last_.err;
}

TEST_F(OutputFile, ResultsOfOtherInputsStay) {
  directory_.write("jobs.csv", test::read_file(kExamples + "jobs.csv"));
  const Arguments replay{"replay", "-q",
                         "-o",     "r.h5",
                         "--set",  "workload={source: csv, path: jobs.csv}",
                         "--set",  "world.model=contention",
                         "--set",  "replications=1"};
  ASSERT_EQ(run(replay), 0) << last_.err;
  directory_.write("jobs.csv", read("jobs.csv") + "late,resnet50,9,100,80,50,40,900\n");
  EXPECT_EQ(run(replay), 2);
  EXPECT_NE(last_.err.find("holds results of other inputs"), std::string::npos) << last_.err;
}

TEST_F(OutputFile, InputsOfEveryFlagStay) {
  const std::string containers = test::read_file(kExamples + "containers.csv");
  const std::string types = test::read_file(kExamples + "gpu_types.yaml");
  const std::string measured = kExamples + "measured_jobs.csv";
  directory_.write("x", containers);
  const Arguments replay{
      "replay",     kExamples + "jobs.csv", "-q",    "--gpus",         "4",
      "--policies", "min-slowdown",         "--set", "replications=1", "--volcano",
      "v.yaml",     "--containers",         "x",     "--force"};
  for (const char* flag : {"--output", "--knowledge", "--figure"}) {
    EXPECT_EQ(run(replay, {flag, "x"}), 2) << flag;
    EXPECT_NE(last_.err.find("'x' is the input of --containers"), std::string::npos) << last_.err;
    EXPECT_EQ(read("x"), containers) << flag;
  }
  directory_.write("x", types);
  for (const Arguments& arguments :
       {Arguments{"predictor", "fit", "--target", "memory", "--jobs", measured, "--out", "x"},
        {"predictor", "eval", "--target", "memory", "--jobs", measured, "--output", "x"},
        {"predict", "--zoo", "resnet50", "--output", "x"},
        {"list", "gpus", "--output", "x"}}) {
    EXPECT_EQ(run(arguments, {"--gpu-types", "x", "--force"}), 2) << arguments[0];
    EXPECT_NE(last_.err.find("'x' is what --gpu-types reads"), std::string::npos) << last_.err;
    EXPECT_EQ(read("x"), types);
  }
}

TEST_F(OutputFile, ARefusedReplayLeavesNoDirectory) {
  const Arguments replay{"replay",         "-q",         "-o",    "r.h5", "--set",
                         "replications=1", "--policies", "random"};
  ASSERT_EQ(run(replay), 0) << last_.err;
  directory_.write("new.csv", "");
  EXPECT_EQ(run(replay, {"--seed", "7", "--timeline", "a/b/c/"}), 2);
  EXPECT_FALSE(fs::exists(directory_.path("a")));
  EXPECT_EQ(run(replay, {"--timeline", "new.csv/b"}), 2);
  EXPECT_TRUE(last_.err.starts_with("--timeline: cannot make 'new.csv/b': ")) << last_.err;
  EXPECT_EQ(run(replay, {"--timeline", "a/b"}), 0) << last_.err;
  EXPECT_TRUE(fs::exists(directory_.path("a/b/random.csv")));
}

TEST_F(OutputFile, NoInputIsReplacedEvenByForce) {
  const std::string jobs = test::read_file(kExamples + "jobs.csv");
  directory_.write("jobs", jobs);
  directory_.write("s.yaml",
                   "replications: 1\nworkload: {source: csv, path: jobs}\npolicies: [fcfs]\n"
                   "world: {model: contention}\nsweep: {grid: {cluster.nodes: [1, 2]}}\n");
  for (const Arguments& arguments :
       {Arguments{"sweep", "s.yaml", "-o", "jobs"},
        {"sweep", "s.yaml", "-o", "jobs", "--shard", "1/2"},
        {"sweep", "s.yaml", "-o", "s.yaml"},
        {"replay", "-q", "-o", "jobs", "--set", "workload={source: csv, path: jobs}"},
        {"recommend", "--queue", "jobs", "-o", "jobs"},
        {"trace", "info", "jobs", "-o", "jobs"}}) {
    EXPECT_EQ(run(arguments, {"--force"}), 2) << arguments[0];
    EXPECT_EQ(run(arguments), 2) << arguments[0];
    EXPECT_EQ(read("jobs"), jobs) << arguments[0];
  }
}

TEST_F(OutputFile, TheSuffixDecidesTheFormatOrIsRefused) {
  directory_.write("jobs.csv", test::read_file(kExamples + "jobs.csv"));
  ASSERT_EQ(run({"list", "models", "-o", "l.json"}), 0);
  EXPECT_TRUE(read("l.json").starts_with("[")) << read("l.json");
  ASSERT_EQ(run({"list", "models", "-o", "l.CSV"}), 0);
  EXPECT_TRUE(read("l.CSV").starts_with("name,")) << read("l.CSV");
  for (const char* name : {"l", "l.txt", "l.v2"}) {
    ASSERT_EQ(run({"list", "models", "--format", "json", "-o", name}), 0);
    EXPECT_EQ(read(name), read("l.json")) << name;
  }
  ASSERT_EQ(run({"trace", "convert", "jobs.csv", "o.SWF"}), 0) << last_.err;
  EXPECT_TRUE(read("o.SWF").starts_with(";")) << read("o.SWF");
  ASSERT_EQ(run({"model", "fit", "--pairs", "papers", "--model", "measured", "--out", "m.json"}), 0)
      << "any name";
  directory_.write("s.yaml", "replications: 1\nsweep: {grid: {cluster.nodes: [1]}}\n");
  for (const Arguments& arguments : {Arguments{"replay", "-q", "-o", "bad.csv"},
                                     {"replay", "-q", "--knowledge", "bad.json"},
                                     {"sweep", "s.yaml", "-o", "bad.json"},
                                     {"sweep", "s.yaml", "--shard", "1/2", "-o", "bad.h5"},
                                     {"list", "models", "-o", "bad.png"},
                                     {"list", "models", "-o", "bad.csv", "--format", "json"},
                                     {"list", "models", "-o", "bad.csv.gz"},
                                     {"kb", "show", "--figure", "bad.png"},
                                     {"kb", "build", "-o", "bad.json"},
                                     {"kb", "eval", "interference", "--figure", "bad.pdf"},
                                     {"model", "eval", "--split", "job", "--figure", "bad.png"},
                                     {"recommend", "--argo", "bad.json"},
                                     {"trace", "convert", "jobs.csv", "bad.json"},
                                     {"trace", "convert", "jobs.csv", "bad.csv", "--to", "swf"},
                                     {"live", "profile", "--samples", "bad.json", "--", "true"}}) {
    EXPECT_EQ(run(arguments), 2) << arguments[0] << " " << arguments[1];
    EXPECT_NE(last_.err.find("'bad."), std::string::npos) << last_.err;
    EXPECT_EQ(last_.err.find('\n'), last_.err.size() - 1) << last_.err;
  }
  for (const auto& entry : fs::directory_iterator(directory_.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("bad")) << entry.path();
  }
}

/// Interrupts a replay into `file` after its first replications; returns its exit code.
int interrupted_replay(const std::string& file) {
  const pid_t child = fork();
  if (child == 0) {
    execl(CORUN_PROGRAM, "corun", "replay", "--set", "replications=20000", "--threads", "2",
          "--output", file.c_str(), "--quiet", "--format", "csv", "--force", nullptr);
    _exit(127);
  }
  const fs::path parts = file + ".partial";
  EXPECT_TRUE(test::eventually([&] { return fs::exists(parts) && !fs::is_empty(parts); }));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(OutputFile, AnInterruptLeavesTheOlderResultsAndPutsTheNewOnesBesideThem) {
  ASSERT_EQ(run({"replay", "-q", "--set", "replications=2", "-o", "r.h5"}), 0);
  const std::string bytes = read("r.h5");
  const std::string facts = read("r.h5.run.json");
  for (const char* beside : {"r.interrupted.h5", "r.interrupted-2.h5"}) {
    EXPECT_EQ(interrupted_replay(directory_.path("r.h5")), 130);
    EXPECT_EQ(read("r.h5"), bytes);
    EXPECT_EQ(read("r.h5.run.json"), facts);
    const auto partial = identity_of_results(directory_.path(beside));
    ASSERT_TRUE(partial) << beside;
    EXPECT_FALSE(partial->complete);
    EXPECT_TRUE(fs::exists(directory_.path(std::string(beside) + ".run.json")));
    EXPECT_FALSE(fs::exists(directory_.path("r.h5.partial")));
  }
}

TEST_F(OutputFile, TheSameSweepContinuesOrIsComplete) {
  directory_.write("jobs.csv", test::read_file(kExamples + "jobs.csv"));
  directory_.write("s.yaml",
                   "replications: 2\nworkload: {source: csv, path: jobs.csv}\npolicies: [fcfs]\n"
                   "world: {model: contention}\nsweep: {grid: {cluster.nodes: [1, 2]}}\n");
  const Arguments sweep{"sweep", "s.yaml", "-o", "s.h5"};
  Arguments other = sweep;
  other.insert(other.end(), {"--set", "seed=5"});
  expect_rule(sweep, other, "s.h5");
  EXPECT_EQ(run(sweep), 0);
  EXPECT_NE(last_.err.find("was complete already"), std::string::npos) << last_.err;
  EXPECT_EQ(run(sweep, {"--force", "--resume"}), 2);
  directory_.write("jobs.csv", read("jobs.csv") + "late,resnet50,9,100,80,50,40,900\n");
  EXPECT_EQ(run(sweep), 2);
  EXPECT_NE(last_.err.find("another jobs.csv"), std::string::npos) << last_.err;

  ASSERT_EQ(run({"replay", "-q", "--set", "replications=1", "-o", "r.h5"}), 0);
  const std::string results = read("r.h5");
  EXPECT_EQ(run({"sweep", "s.yaml", "-o", "r.h5"}), 2);
  EXPECT_EQ(read("r.h5"), results);
}

TEST_F(OutputFile, CompleteMergedResultsStay) {
  directory_.write("s.yaml",
                   "replications: 2\npolicies: [fcfs]\nsweep: {grid: {cluster.nodes: [1, 2]}}\n");
  for (const char* part : {"1", "2"}) {
    const std::string shard = std::string(part) + "/2";
    ASSERT_EQ(run({"sweep", "s.yaml", "--shard", shard, "-o", part}), 0) << last_.err;
  }
  ASSERT_EQ(run({"sweep", "--merge", "1", "--partial", "-o", "m.h5"}), 0) << last_.err;
  ASSERT_EQ(run({"sweep", "--merge", "1", "2", "-o", "m.h5"}), 0) << last_.err;
  const std::string whole = read("m.h5");
  EXPECT_EQ(run({"sweep", "--merge", "1", "2", "-o", "m.h5"}), 0) << last_.err;
  EXPECT_EQ(run({"sweep", "--merge", "1", "--partial", "-o", "m.h5"}), 2);
  EXPECT_EQ(read("m.h5"), whole);
}

}  // namespace
}  // namespace corun::output_file_test
