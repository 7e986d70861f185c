// corun with different drivers: fake_nvml.cpp, built several times.
#include "live/gpu/nvml.hpp"

#include <csignal>
#include <map>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/error.hpp"
#include "tests/live/run/live_program.hpp"

namespace corun::test::nvml_test {
namespace {

using Json = nlohmann::json;

/// The fake NVML of this variant ("_v2"; empty: the newest).
std::string variant(const std::string& name) {
  const std::string newest = CORUN_FAKE_NVML;
  const auto dot = newest.rfind(".so");
  return newest.substr(0, dot) + name + newest.substr(dot);
}

/// Processes that only use GPU 0, each 1 MiB more than the one before.
class Users {
 public:
  Users(const std::string& box, int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        for (;;) pause();
      }
      pids_.push_back(pid);
      write_fake_use(box, {pid, 0, 1, 100.0 + i, 1});
    }
  }
  ~Users() {
    for (const pid_t pid : pids_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  const std::vector<pid_t>& pids() const { return pids_; }

 private:
  std::vector<pid_t> pids_;
};

class Drivers : public LiveProgram {
 protected:
  Outcome live_on(const std::string& name, const std::vector<std::string>& words) const {
    std::vector<std::string> all{"live", words[0], "--nvml", variant(name)};
    all.insert(all.end(), words.begin() + 1, words.end());
    return run_corun(all, folder.path());
  }
};

TEST_F(Drivers, EveryVersionOfTheProcessListIsRead) {
  const Users users(box(), 70);  // more than the first buffer holds
  for (const char* name : {"", "_v2", "_v1", "_535", "_mps"}) {
    const live::Nvml nvml(variant(name));
    const auto processes = nvml.processes(0);
    ASSERT_TRUE(processes) << name;
    std::map<pid_t, double> memory;
    for (const auto& p : *processes) memory[p.pid] = p.memory_mib.value_or(-1);
    EXPECT_EQ(processes->size(), 70U) << name << ": nobody twice";
    for (std::size_t i = 0; i < users.pids().size(); ++i) {
      EXPECT_EQ(memory[users.pids()[i]], 100.0 + static_cast<double>(i)) << name;
    }
    EXPECT_TRUE(nvml.processes(1)->empty()) << name;
  }
}

TEST_F(Drivers, WhatADriverDoesNotTellIsNoNumber) {
  for (const char* name : {"_lacks", "_unsupported"}) {
    const live::Nvml nvml(variant(name));
    EXPECT_FALSE(nvml.processes(0)) << name;
    EXPECT_FALSE(nvml.gpus()[0].mig) << name;
    EXPECT_FALSE(nvml.gpus()[0].mode) << name;
    const live::GpuReading reading = nvml.read(0);
    for (const auto& value :
         {reading.util_pct, reading.mem_time_pct, reading.temperature_c, reading.power_w,
          reading.power_limit_w, reading.sm_clock_mhz, reading.memory_clock_mhz}) {
      EXPECT_FALSE(value) << name;
    }
    const Outcome probe = live_on(name, {"probe"});
    EXPECT_EQ(probe.code, 0) << probe.err;
    EXPECT_NE(probe.out.find("GPU 0, alone: yes, if no other process uses it\n"),
              std::string::npos);
    EXPECT_NE(
        probe.out.find("0 Fake V100  16384     0       -      -          -    -             -"),
        std::string::npos)
        << probe.out;
    const Json json = Json::parse(live_on(name, {"probe", "--format", "json"}).out);
    for (const char* key :
         {"util_pct", "temperature_c", "sm_clock_mhz", "mig", "compute_mode", "processes"}) {
      EXPECT_TRUE(json["gpus"][0][key].is_null()) << name << ' ' << key;
    }
  }
}

TEST_F(Drivers, AProfileHasGapsWhereTheDriverHas) {
  for (const char* name : {"_lacks", "_unsupported"}) {
    const std::vector<std::string> job{CORUN_FAKE_WORKLOAD, box(), "0.3", "60", "4096", "25", "0"};
    std::vector<std::string> words{"profile", "--interval", "0.02", "--format", "json", "--"};
    words.insert(words.end(), job.begin(), job.end());
    const Outcome outcome = live_on(name, words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_TRUE(json["profile"]["gpu_util_pct"].is_null()) << name;
    EXPECT_TRUE(json["profile"]["mem_time_pct"].is_null()) << name;
    EXPECT_EQ(json["profile"]["mem_used_mib"], 4096) << "what the GPU held more than before";
    EXPECT_FALSE(json["memory_by_process"]);
    for (const char* key : {"GPU_Util_%_ran", "MGUP", "Min_GPU_Util_%", "GPU_Temp_ran",
                            "Max_GPU_Temp", "GTSAMPR", "MaGTSAMP", "GPUPR", "MaGPUPR"}) {
      EXPECT_TRUE(json["attributes"][key].is_null()) << name << ' ' << key;
    }
    EXPECT_EQ(json["attributes"]["MGMAP"], 25);
  }
}

TEST_F(Drivers, AGpuWithOneUntoldProcessTellsNoMemoryByProcess) {
  // A recording of a driver that does not report one process's memory.
  folder.write(
      "box/recording.jsonl",
      R"({"file": "corun-nvml-recording", "version": 1, "driver": "470", "cuda": "11.4", "gpus": [)"
      R"({"name": "A", "uuid": "GPU-1", "memory_mib": 8192, "mig": null, "compute_mode": null}]})"
      "\n"
      R"({"t_s": 0, "gpu": 0, "util_pct": 0, "mem_time_pct": 0, "memory_used_mib": 100, )"
      R"("temperature_c": 40, "power_w": null, "power_limit_w": null, "sm_clock_mhz": null, )"
      R"("memory_clock_mhz": null})"
      "\n"
      R"({"t_s": 0.1, "gpu": 0, "util_pct": 50, "mem_time_pct": 5, "memory_used_mib": 2100, )"
      R"("temperature_c": 40, "power_w": null, "power_limit_w": null, "sm_clock_mhz": null, )"
      R"("memory_clock_mhz": null})"
      "\n"
      R"({"t_s": 0.1, "gpu": 0, "processes": [{"pid": 7, "memory_mib": null, "own": true}]})"
      "\n"
      R"({"t_s": 0.3, "end": true})"
      "\n");
  const Outcome outcome = live_on("", {"profile", "--interval", "0.02", "--format", "json", "--",
                                       CORUN_FAKE_WORKLOAD, box(), "0.4", "0", "0", "0", "0"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_FALSE(json["memory_by_process"]);
  EXPECT_EQ(json["profile"]["mem_used_mib"], 2000);
  EXPECT_EQ(json["profile"]["gpu_util_pct"], 50);
}

}  // namespace
}  // namespace corun::test::nvml_test
