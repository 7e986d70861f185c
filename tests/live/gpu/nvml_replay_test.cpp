// A session recorded by `--record`, and corun again on that recording: readings come from the file, and the
// processes are children that do nothing.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/live/run/live_program.hpp"
#include "traces/tables/profile_csv.hpp"

namespace corun::test::nvml_replay_test {
namespace {

using Json = nlohmann::json;

class Replay : public LiveProgram {
 protected:
  std::vector<std::string> profile(const std::string& words,
                                   std::vector<std::string> options = {}) const {
    std::vector<std::string> all{"profile", "--interval", "0.02", "--format", "json"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", CORUN_FAKE_WORKLOAD, box()});
    std::istringstream text(words);
    for (std::string word; text >> word;) all.push_back(word);
    return all;
  }
  std::string recording() const { return folder.path("session.jsonl"); }
  /// From now on the box plays this recording.
  void replay(const std::string& text, const std::string& speed = "1") {
    folder.write("box/recording.jsonl", text);
    folder.write("box/speed", speed);
    std::filesystem::remove(box() + "/lost");
  }
  std::vector<Json> lines() const {
    std::vector<Json> all;
    std::istringstream text(read_file(recording()));
    for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
    return all;
  }
};

TEST_F(Replay, ARecordingHoldsWhatNvmlSaid) {
  const Outcome outcome = run(profile("0.3 60 4096 25 0", {"--record", recording()}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<Json> all = lines();
  EXPECT_EQ(all[0]["file"], "corun-nvml-recording");
  EXPECT_EQ(all[0]["version"], 1);
  EXPECT_EQ(all[0]["driver"], "550.00.fake");
  ASSERT_EQ(all[0]["gpus"].size(), 2U);
  EXPECT_EQ(all[0]["gpus"][1], (Json{{"name", "Fake V100"},
                                     {"uuid", "GPU-fake-1"},
                                     {"memory_mib", 16384},
                                     {"mig", false},
                                     {"compute_mode", "default"}}));
  EXPECT_EQ(all.back()["end"], true);
  std::size_t readings = 0;
  std::size_t busy = 0;
  double before_s = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_GE(all[i]["t_s"], before_s);
    before_s = all[i]["t_s"];
    // A reading is several calls: the job may start or end between two of them.
    if (all[i].contains("util_pct") && all[i]["util_pct"] == 60 &&
        all[i]["memory_used_mib"] == 4096 && all[i]["power_w"] == 170) {
      ++readings;
      EXPECT_EQ(all[i]["power_limit_w"], 250);
      EXPECT_EQ(all[i]["memory_clock_mhz"], 877);
    }
    if (all[i].contains("processes") && !all[i]["processes"].empty()) {
      ++busy;
      EXPECT_EQ(all[i]["processes"][0]["memory_mib"], 4096);
      EXPECT_EQ(all[i]["processes"][0]["own"], true);
    }
  }
  EXPECT_GE(readings, 2U);
  EXPECT_GE(busy, 2U);
}

TEST_F(Replay, TheProfileComesOutTheSame) {
  const Outcome before = run(profile("0.4 60 4096 25 0", {"--record", recording()}));
  ASSERT_EQ(before.code, 0) << before.err;
  replay(read_file(recording()));
  const Outcome after = run(profile("0.6 0 0 0 0"));
  ASSERT_EQ(after.code, 0) << after.err;
  const Json was = Json::parse(before.out);
  const Json is = Json::parse(after.out);
  EXPECT_EQ(was["profile"]["gpu_util_pct"], 60);
  EXPECT_EQ(is["profile"], was["profile"]);
  EXPECT_EQ(is["memory_by_process"], true);
  EXPECT_EQ(is["gpu"], was["gpu"]);
  // The GPU's attributes that do not depend on whether the first or last sample found it idle.
  for (const char* key : {"MGUP", "Max_GPU_Temp", "MaGTSAMP", "MGMAP", "MaGPUPR"}) {
    EXPECT_TRUE(was["attributes"][key].is_number()) << key;
    EXPECT_EQ(is["attributes"][key], was["attributes"][key]) << key;
  }
  for (const auto& [range, max, min] :
       {std::array{"GPU_Util_%_ran", "MGUP", "Min_GPU_Util_%"},
        std::array{"GPU_Temp_ran", "Max_GPU_Temp", "Min_GPU_Temp"},
        std::array{"GTSAMPR", "MaGTSAMP", "MiGTSAMP"}, std::array{"GPUPR", "MaGPUPR", "MiGPUPR"}}) {
    const Json& a = is["attributes"];
    EXPECT_DOUBLE_EQ(a[range].get<double>(), a[max].get<double>() - a[min].get<double>()) << range;
  }
  EXPECT_EQ(is["attributes"].size(), 66U);
  EXPECT_TRUE(nothing_left());
}

TEST_F(Replay, TimeMayRunFaster) {
  const Outcome before = run(profile("1.2 60 4096 25 0", {"--record", recording()}));
  ASSERT_EQ(before.code, 0) << before.err;
  replay(read_file(recording()), "10");
  const Outcome after = run(profile("0.3 0 0 0 0"));
  ASSERT_EQ(after.code, 0) << after.err;
  EXPECT_EQ(Json::parse(after.out)["profile"], Json::parse(before.out)["profile"]);
}

TEST_F(Replay, AFullGpuIsOutOfMemoryAgain) {
  const Outcome before = run(profile("0.4 60 4096 25 0 silent-oom", {"--record", recording()}));
  EXPECT_EQ(before.err, "corun live profile: fake_workload: exit code 1, out of device memory\n");
  replay(read_file(recording()));
  // The child prints nothing and holds no memory; it fails, and the recorded GPU was full.
  const Outcome after = run(profile("0.8 0 0 0 0 crash"));
  EXPECT_EQ(after.code, 1);
  EXPECT_EQ(after.err, "corun live profile: fake_workload: exit code 3, out of device memory\n");
}

TEST_F(Replay, AGpuIsLostAgain) {
  Background corun(live(profile("3600 60 4096 25 0", {"--record", recording()})), folder.path());
  ASSERT_TRUE(eventually([&] { return on_gpu() == 1 || !corun.running(); })) << corun.err();
  folder.write("box/lost", "");
  EXPECT_EQ(corun.wait(), 3);
  const std::string said = "GPU 0 (Fake V100) does not answer any more: GPU is lost\n";
  EXPECT_EQ(corun.err(), said);
  EXPECT_EQ(lines().back()["end"], true) << "a session that ends badly is recorded to its end";
  replay(read_file(recording()));
  const Outcome after = run(profile("3600 0 0 0 0"));
  EXPECT_EQ(after.code, 3);
  EXPECT_EQ(after.err, said);
  EXPECT_TRUE(nothing_left());
}

TEST_F(Replay, ChildrenStandForProcessesInOrderOfAppearance) {
  const std::string real = config({{"a", "0.5 60 4096 25 0"}, {"b", "0.5 40 2048 65 0"}});
  ASSERT_EQ(run({"corun", real, "--repeats", "1", "--warm-up", "0", "--record", recording()}).code,
            0);
  const std::string solo = result("solo.csv");
  const std::string runs = result("runs.csv");
  replay(read_file(recording()));
  const std::string idle = config({{"a", "0.8 0 0 0 0"}, {"b", "0.8 0 0 0 0"}});
  const Outcome after = run({"corun", idle, "--repeats", "1", "--warm-up", "0", "--force"});
  ASSERT_EQ(after.code, 0) << after.err;
  const auto profiles = [&] { return read_profile_csv(folder.path("out/solo.csv")).profiles; };
  const auto is = profiles();
  folder.write("out/solo.csv", solo);
  const auto was = profiles();
  ASSERT_EQ(is.size(), 2U);
  EXPECT_EQ(is[0].gpu_util_pct, 60);
  EXPECT_EQ(is[1].mem_used_mib, 2048);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_EQ(is[j].gpu_util_pct, was[j].gpu_util_pct);
    EXPECT_EQ(is[j].mem_alloc_pct, was[j].mem_alloc_pct);
    EXPECT_EQ(is[j].mem_time_pct, was[j].mem_time_pct);
    EXPECT_EQ(is[j].mem_used_mib, was[j].mem_used_mib);
  }
}

TEST_F(Replay, ARecordingIsANewFileOfItsOwn) {
  const std::string path = config({{"a", "0.1 60 4096 25 0"}});
  const std::string before = read_file(path);
  folder.write("old.jsonl", "an hour's session");
  const std::string there = "is there already, and a session cannot be repeated";
  const std::string inside = "is in the directory of results";
  const std::string as_well = "writes as well; choose another file";
  struct Case {
    std::vector<std::string> words;
    std::string expected;
  };
  const std::string fresh = folder.path("fresh");
  for (const auto& [words, expected] : std::vector<Case>{
           {{"solo", path, "--record", path}, there},
           {{"profile", "--gpu", "9", "--record", folder.path("old.jsonl"), "--", "ls"}, there},
           {{"solo", path, "--record", folder.path("out/mine.jsonl")}, inside},
           {{"probe", "--record", ""}, "--record: found an empty name"},
           {{"probe", "--record", fresh, "-o", fresh}, as_well},
           {{"profile", "--record", fresh, "--profile", fresh, "--", "ls"}, as_well},
           {{"profile", "--record", fresh + ".err", "--job-output", fresh, "--", "ls"}, as_well},
           {{"profile", "--samples", fresh, "-o", fresh, "--", "ls"}, as_well}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(read_file(folder.path("old.jsonl")), "an hour's session");
  EXPECT_FALSE(std::filesystem::exists(fresh));
}

TEST_F(Replay, AClosedTerminalEndsASessionAsCtrlCDoes) {
  Background corun(live(profile("3600 60 4096 25 0", {"--record", recording()})), folder.path());
  ASSERT_TRUE(eventually([&] { return on_gpu() == 1 || !corun.running(); })) << corun.err();
  corun.signal(SIGHUP);
  EXPECT_EQ(corun.wait(), 130);
  EXPECT_EQ(lines().back()["end"], true);
  EXPECT_TRUE(nothing_left());
}

TEST_F(Replay, WhatIsNoRecordingIsRefusedInOneLine) {
  ASSERT_EQ(run(profile("0.1 60 4096 25 0", {"--record", recording()})).code, 0);
  const std::string good = read_file(recording());
  const auto first = good.find('\n') + 1;
  const auto second = good.find('\n', first) + 1;
  const std::string head = good.substr(0, first);
  const std::string end = R"({"t_s": 9, "end": true})"
                          "\n";
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", ":0: an empty file"},
      {std::string(1000, '\0'), ":1: cut off: no end of line"},
      {"#!/bin/sh\n", ":1: expected a JSON object"},
      {"[]\n", ":1: expected a JSON object"},
      {"{}\n", ":1: no 'file'"},
      {R"({"file": "notes"})"
       "\n",
       ":1: no recording of corun live --record"},
      {R"({"file": "corun-nvml-recording", "version": 2})"
       "\n",
       ":1: a recording of another version"},
      {R"({"file": "corun-nvml-recording", "version": 1, "driver": "", "cuda": "", "gpus": []})"
       "\n",
       ":1: expected 1 to 64 'gpus'"},
      {head, ":1: cut off: the last line must be"},
      {good.substr(0, second), ":2: cut off: the last line must be"},
      {good.substr(0, second - 5), ":2: cut off: no end of line"},
      {good + end, "a line behind the end"},
      {head + R"({"t_s": -1, "gpu": 0})" + "\n" + end, ":2: 't_s' is no number from 0"},
      {head + R"({"t_s": 1e400, "gpu": 0})" + "\n" + end, ":2: expected a JSON object"},
      {head + R"({"t_s": 1, "gpu": 2, "processes": []})" + "\n" + end, ":2: no such GPU"},
      {head + R"({"t_s": 1, "gpu": 0.5, "processes": []})" + "\n" + end,
       ":2: 'gpu' is no whole number"},
      {head + R"({"t_s": 1, "gpu": 0, "processes": {}})" + "\n" + end,
       ":2: 'processes' is no list"},
      {head + R"({"t_s": 1, "gpu": 0, "processes": [3]})" + "\n" + end, ":2: no 'pid'"},
      {head + R"({"t_s": 1, "gpu": 0})" + "\n" + end, ":2: no 'memory_used_mib'"},
      {head + R"({"t_s": 1, "gpu": 0, "processes": []})" + "\n" +
           R"({"t_s": 0.5, "gpu": 0, "processes": []})" + "\n" + end,
       ":3: earlier than the line before"}};
  for (const auto& [text, said] : wrong) {
    replay(text);
    const Outcome outcome = run({"probe"});
    EXPECT_EQ(outcome.code, 3) << text;
    EXPECT_EQ(outcome.err.find("the NVIDIA driver does not answer: " + box() + "/recording.jsonl:"),
              0U)
        << outcome.err;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << said << " in " << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  }
  replay(good);
  EXPECT_EQ(run({"probe"}).code, 0);
}

TEST_F(Replay, ARecordingThatCannotBeWrittenIsRefusedBefore) {
  const Outcome outcome = run({"probe", "--record", folder.path("nowhere/session.jsonl")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err.find("--record: "), 0U) << outcome.err;
  EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
}

}  // namespace
}  // namespace corun::test::nvml_replay_test
