#include "traces/logs/cells.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "traces/logs/job_states.hpp"

namespace corun::cells_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(Cells, KnowTheWordsForNothing) {
  for (const std::string text : {"", "  ", "NaN", "nan", "None", "null", "NULL", "N/A", "NA", "\\N",
                                 "-", "--", "INVALID", "Unknown", "[N/A]", "NaT", "?"}) {
    EXPECT_TRUE(is_absent(text)) << text;
  }
  for (const std::string text : {"0", "-1", "none of it", "x", "nano", "1-2"}) {
    EXPECT_FALSE(is_absent(text)) << text;
  }
}

TEST(Cells, ReadDatesToTheNanosecondWithTheirZone) {
  const Time noon = seconds(1'715'943'600);  // 2024-05-17 11:00:00 UTC
  const std::vector<std::pair<std::string, Time>> same = {
      {"2024-05-17 11:00:00", noon},
      {"2024-05-17T11:00:00", noon},
      {"2024-05-17T11:00:00Z", noon},
      {"2024-05-17 11:00:00 UTC", noon},
      {"2024-05-17 19:00:00+08:00", noon},
      {"2024-05-17 06:30:00-0430", noon},
      {"2024-05-17 13:00:00+02", noon},
      {"2024/05/17 11:00:00", noon},
      {"2024-05-17 11:00", noon},
      {"2024-05-17 11:00:00.250", noon + milliseconds(250)},
      {"2024-05-17T11:00:00.123456789+00:00", noon + nanoseconds(123'456'789)},
      {"1970-01-01 00:00:00", Time{0}},
      {"2020-02-29 12:34:56", seconds(1'582'979'696)},
  };
  for (const auto& [text, time] : same) {
    const auto found = parse_date(text);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->time, time) << text;
    const bool zone = text.ends_with("Z") || text.find('+') != std::string::npos ||
                      text.ends_with("C") || text.ends_with("-0430");
    EXPECT_EQ(found->has_zone, zone) << text;
  }
  for (const std::string bad :
       {"2024-02-30 00:00:00", "2024-13-01 00:00:00", "2024-05-17", "17/05/2024 11:00:00",
        "2024-05/17 11:00:00", "2024-05-17 24:00:00", "2024-05-17 11:60:00", "2024-05-17 11:00:60",
        "1969-12-31 23:59:59", "1970-01-01 00:00:00+01:00", "2090-01-01 00:00:00", "x",
        "2024-05-17 11:00:00.", "2024-05-17 11:00:00+8", "2024-05-17 11:00:00 CET",
        "2024-05-17 11:00:00+15:00", "2024-05-17 11:00:00Z1"}) {
    EXPECT_FALSE(parse_date(bad)) << bad;
  }
}

TEST(Cells, ReadLengthsOfTime) {
  const std::vector<std::pair<std::string, Duration>> cases = {
      {"00:01:23", seconds(83)},
      {"1:02:03", seconds(3723)},
      {"240:00:00", seconds(864'000)},
      {"00:10:00.500", milliseconds(600'500)},
      {"10:30", seconds(630)},
      {"02:03.250", milliseconds(123'250)},
      {"2-03:00:00", seconds(183'600)},
      {"1 day, 2:03:04", seconds(93'784)},
      {"2 days 00:00:01", seconds(172'801)},
      {"3 days", seconds(259'200)},
      {"PT2H", seconds(7200)},
      {"P1DT2H3M4.5S", milliseconds(93'784'500)},
      {"P2W", seconds(1'209'600)},
      {"PT0S", seconds(0)},
  };
  for (const auto& [text, time] : cases) EXPECT_EQ(parse_duration(text), time) << text;
  for (const std::string bad : {"",
                                "12x4",
                                "600",
                                "00:60:00",
                                "00:00:60",
                                "1:2:3",
                                "-00:00:01",
                                "x-00:00:01",
                                "1-2",
                                "1-00:00",
                                "P",
                                "PT",
                                "P1M",
                                "PT1S2M",
                                "P1DT",
                                "PT1.5H",
                                "PT99999999999S",
                                "1 day 3",
                                "1day,",
                                "99999999:00:00"}) {
    if (bad == "1day,") continue;
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
}

TEST(Cells, ReadGpusAsSlurmAndPeopleWriteThem) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"2", 2},
      {"2.0", 2},
      {"0.5", 0.5},
      {"50 %", 0.5},
      {"25%", 0.25},
      {"gpu:2(S:0-1)", 2},
      {"gpu:2(S:0,1)", 2},
      {"gpu:a100:4", 4},
      {"gpu:a100:4(IDX:0-3)", 4},
      {"gpu", 1},
      {"gres:gpu:3", 3},
      {"gres/gpu:2", 2},
      {"gpu:a100:2,gpu:v100:1", 3},
      {"gres/gpu=4", 4},
      {"billing=8,cpu=8,gres/gpu=2,mem=64G,node=1", 2},
      {"billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1", 4},
      {"cpu=16,gres/gpu:a100=1,gres/gpu:v100=2,node=2", 3},
      {"cpu=16,mem=4G,node=1", 0},
      {"1=40,2=170000,4=1,1001=2", 2},
      {"1=40,2=170000,4=1", 0},
  };
  for (const auto& [text, gpus] : cases) EXPECT_EQ(parse_gpus(text), gpus) << text;
  for (const std::string bad :
       {"", "x", "-1", "two", "gpu:x:y", "gpu:(2", "1e9", "gres/gpu=x", "cpu=", "=4", "4 GPUs"}) {
    EXPECT_FALSE(parse_gpus(bad)) << bad;
  }
}

TEST(Cells, ReadTheOneTypeOfGpusThatSlurmNames) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"gpu:a100:4", "a100"},
      {"gpu:A100:4(IDX:0-3)", "a100"},
      {"gpu:a100", "a100"},
      {"gres:gpu:v100:1", "v100"},
      {"cpu=8,gres/gpu:a100=4,gres/gpu=4", "a100"},
      {"gpu:a100:2,gpu:a100:1", "a100"},
      {"gpu:a100:2,gpu:v100:1", ""},
      {"gres/gpu:a100=1,gres/gpu:v100=2", ""},
      {"gpu:2(S:0-1)", ""},
      {"gpu", ""},
      {"gres/gpu=4", ""},
      {"1001=2", ""},
      {"2", ""},
      {"", ""},
      {"two", ""},
  };
  for (const auto& [text, type] : cases) EXPECT_EQ(parse_gpu_type(text), type) << text;
}

TEST(Cells, ReadMemoryWithItsUnit) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"80G", 81'920},    {"4321 MiB", 4321}, {"64GB", 65'536}, {"1.5T", 1'572'864},
      {"16384M", 16'384}, {"2048K", 2},       {"8Gn", 8192},    {"2Gc", 2048},
      {"1048576 B", 1},   {"3 GiB", 3072},
  };
  for (const auto& [text, mib] : cases) EXPECT_EQ(parse_memory_mib(text), mib) << text;
  for (const std::string bad : {"", "80", "G", "80X", "-1G", "80Gx", "1e30T"}) {
    EXPECT_FALSE(parse_memory_mib(bad)) << bad;
  }
}

TEST(JobStates, ReadTheWordsOfEachLog) {
  const std::vector<std::pair<std::string, JobState>> cases = {
      {"COMPLETED", JobState::kCompleted},
      {"Succeeded", JobState::kCompleted},
      {"Pass", JobState::kCompleted},
      {"3", JobState::kCompleted},
      {"Terminated", JobState::kCompleted},
      {"FAILED", JobState::kFailed},
      {"CANCELLED by 1000", JobState::kCancelled},
      {"CANCELLED+", JobState::kCancelled},
      {"Killed", JobState::kCancelled},
      {"TIMEOUT", JobState::kTimeout},
      {"NODE_FAIL", JobState::kNodeFail},
      {"OUT_OF_MEMORY", JobState::kOutOfMemory},
      {"OUT_OF_ME+", JobState::kOutOfMemory},
      {"11", JobState::kOutOfMemory},
      {"PREEMPTED", JobState::kPreempted},
      {"RUNNING", JobState::kRunning},
      {"PENDING", JobState::kPending},
      {"0", JobState::kPending},
      {"Waiting", JobState::kPending},
  };
  for (const auto& [text, state] : cases) EXPECT_EQ(parse_job_state(text), state) << text;
  EXPECT_FALSE(parse_job_state("happy"));
  EXPECT_FALSE(parse_job_state(""));
  for (int s = 0; s < kJobStates; ++s) {
    const auto state = static_cast<JobState>(s);
    EXPECT_EQ(parse_job_state(name_of(state)), state) << name_of(state);
  }
}

}  // namespace
}  // namespace corun::cells_test
