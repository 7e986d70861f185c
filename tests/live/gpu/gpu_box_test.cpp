// experiments/live/gpu_box.sh, the whole experiment in one call, on a fake box.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/live/run/live_program.hpp"

namespace corun::test::gpu_box_test {
namespace {

using Json = nlohmann::json;

class GpuBox : public LiveProgram {
 protected:
  /// Runs the script with these words, written for a shell.
  Outcome script(const std::string& words, const std::string& program = CORUN_PROGRAM) const {
    const std::string command =
        std::string(CORUN_SOURCE_DIR) + "/experiments/live/gpu_box.sh </dev/null >" +
        folder.path("stdout") + " 2>" + folder.path("stderr") + " --corun " + program + " --nvml " +
        CORUN_FAKE_NVML + " --output " + folder.path("all") + " " + words;
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read_file(folder.path("stdout")),
            read_file(folder.path("stderr"))};
  }
  std::string all(const std::string& name) const { return read_file(folder.path("all/" + name)); }
};

TEST_F(GpuBox, OneCallDoesItAll) {
  // Ten samples each: a job that was not seen on the GPU seems to need no memory, and then its group runs out of it.
  const std::string file =
      config({{"gemm", "0.2 90 1200 30 0.8"},
              {"conv", "0.2 80 2400 30 0.7"},
              {"stream", "0.2 60 1536 80 0.5"},
              {"rl", "0.2 20 300 5 0.1"},
              {"hungry", "0.2 50 8000 20 0.4"}},
             "queue: [gemm, rl, stream, hungry, conv, stream, gemm, hungry, rl, conv]\n"
             "policies: [{name: fcfs}, {name: random},\n"
             "           {name: kube-default, backoff_initial_s: 0.1, backoff_max_s: 0.2},\n"
             "           {name: min-slowdown}, {name: max-packing, by: memory}]\n");
  const Outcome outcome = script("--repeats 1 --config " + file);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(all("gpu_box.json"));
  EXPECT_TRUE(json["complete"]);
  EXPECT_EQ(json["measured"]["solo"].size(), 5U);
  EXPECT_EQ(json["measured"]["together"].size(), 10U);
  ASSERT_EQ(json["run"]["policies"].size(), 5U);
  for (const Json& policy : json["run"]["policies"]) {
    const std::string name = policy["policy"];
    EXPECT_EQ(policy["metrics"]["jobs"]["measured"], 10) << name;
    EXPECT_TRUE(policy["metrics"]["isd"]["predicted"].is_number()) << name;
    EXPECT_NE(outcome.out.find("\n" + name + " "), std::string::npos) << outcome.out;
    EXPECT_EQ(policy["measured_minus_predicted"]["jobs"], 10) << name;
  }
  std::istringstream rows(all("gpu_box.csv"));
  std::map<std::string, int> kinds;
  for (std::string row; std::getline(rows, row);) {
    EXPECT_EQ(std::count(row.begin(), row.end(), ','), 7) << row;
    ++kinds[row.substr(0, row.find(','))];
  }
  EXPECT_EQ(kinds["solo"], 5 * 6);
  EXPECT_EQ(kinds["pair"], 10 * 3);
  EXPECT_EQ(kinds["job"], 5 * 10 * 2);
  ASSERT_EQ(json["validate"]["policies"].size(), 5U);
  std::size_t groups = 0;
  for (const Json& policy : json["validate"]["policies"]) {
    EXPECT_EQ(policy["isd"]["measured_minus_replayed"]["count"], 10) << policy["policy"];
    groups += policy["groups"].size();
  }
  EXPECT_EQ(kinds["group"], static_cast<int>(groups));
  EXPECT_NE(all("gpu_box.svg").find("measured ISD [%]"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder.path("all/results.h5")));
  for (const char* policy : {"fcfs", "random", "kube-default", "min-slowdown", "max-packing"}) {
    EXPECT_NE(all("gpu_box.csv").find(std::string("\npolicy,") + policy + ",,,isd_error_size,"),
              std::string::npos);
    EXPECT_NE(
        all("gpu_box.csv").find(std::string("\npolicy,") + policy + ",,,isd_replay_error_size,"),
        std::string::npos);
  }
  EXPECT_TRUE(nothing_left());
}

TEST_F(GpuBox, OutOfTimeItReportsWhatThereIs) {
  const std::string file = config({{"a", "1 60 100 25 0.5"}, {"b", "1 60 100 25 0.5"}},
                                  "queue: [a, b]\npolicies: [{name: fcfs}]\n");
  const Outcome outcome = script("--repeats 50 --budget 8 --config " + file);
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  const Json json = Json::parse(all("gpu_box.json"));
  EXPECT_FALSE(json["complete"]);
  EXPECT_TRUE(json["run"].is_null()) << "there was no time for it";
  EXPECT_NE(outcome.out.find("cut short"), std::string::npos);
  EXPECT_TRUE(nothing_left());
}

TEST_F(GpuBox, StoppedItEndsItsJobsAndReports) {
  const std::string file = config({{"a", "30 60 100 25 0.5"}, {"b", "30 60 100 25 0.5"}});
  const pid_t child = fork();
  if (child == 0)
    _exit(script("--config " + file + " & echo $! >" + folder.path("pid") + "; wait $!; exit $?")
              .code);
  ASSERT_TRUE(eventually([&] { return on_gpu() > 0; }));
  kill(static_cast<pid_t>(std::atol(read_file(folder.path("pid")).c_str())), SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1) << read_file(folder.path("stderr"));
  EXPECT_FALSE(Json::parse(all("gpu_box.json"))["complete"]);
  EXPECT_TRUE(nothing_left());
}

TEST_F(GpuBox, WithoutAGpuItSaysSo) {
  const std::string file = config({{"a", "1 60 100 25 0.5"}});
  use_box("");
  EXPECT_EQ(script("--config " + file).code, 3);
}

TEST_F(GpuBox, AGpuThatMayNotBeUsedIsRefused) {
  const std::string file = config({{"a", "1 60 100 25 0.5"}});
  use_box("16384 0 2 Fake V100\n");  // compute mode: prohibited
  const Outcome outcome = script("--config " + file);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("no GPU may be used: GPU 0"), std::string::npos) << outcome.err;
  std::filesystem::remove_all(folder.path("all"));
  EXPECT_EQ(script("--gpu 7 --config " + file).code, 3);
}

TEST_F(GpuBox, WrongWordsAreOneLine) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"--secs 3", "no option '--secs'"},
      {"--seconds fast", "--seconds: found 'fast'"},
      {"--repeats 0", "--repeats: found '0'"},
      {"--budget 1.5", "--budget: found '1.5'"},
      {"--sharing mig", "--sharing: found 'mig'"},
      {"--gpu all", "--gpu: found 'all'"},
      {"--config nowhere.yaml", "no file 'nowhere.yaml'"},
      {"--repeats", "--repeats needs a value"}};
  for (const auto& [words, said] : wrong) {
    const Outcome outcome = script(words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  EXPECT_EQ(script("--config x", "/no/such/corun").code, 2);
  folder.write("box/file", "");
  EXPECT_EQ(script("--output " + folder.path("box")).code, 2) << "not empty";
}

/// `probe` is corun's; the stub reports 100 steps a second for every workload and measures nothing.
TEST_F(GpuBox, StepsAreThoseOfThisGpu) {
  use_box("8192 0 0 Fake T4\n");
  const std::string stub =
      folder.write("stub", std::string("#!/bin/sh\n"
                                       "case \"$2\" in\n"
                                       "  probe) exec ") +
                               CORUN_PROGRAM +
                               " \"$@\" ;;\n"
                               "  workload) echo \"$CUDA_VISIBLE_DEVICES\" >> " +
                               folder.path("seen") +
                               "; echo '{\"event\":\"calibrated\",\"steps\":'${5%.*}'00}' ;;\n"
                               "  *) exit 0 ;;\n"
                               "esac\n");
  std::filesystem::permissions(stub, std::filesystem::perms::owner_all);
  const Outcome outcome = script("--seconds 3.0", stub);
  EXPECT_EQ(outcome.code, 1) << "nothing was measured";
  const std::string yaml = all("box.yaml");
  for (const char* name :
       {"gemm", "conv", "transformer", "stream", "embedding", "rl", "input-stall"}) {
    EXPECT_NE(yaml.find(std::string("workload, ") + name + ", --steps, 300]"), std::string::npos)
        << yaml;
  }
  EXPECT_NE(yaml.find("workload, hungry, --steps, 300, --memory-mib, 4096]"), std::string::npos)
      << "half of a small GPU";
  EXPECT_EQ(read_file(folder.path("seen")).substr(0, 11), "GPU-fake-0\n");
  EXPECT_EQ(Json::parse(all("gpu_box.json"))["calibration"].size(), 8U);
}

}  // namespace
}  // namespace corun::test::gpu_box_test
