#include "traces/tables/solo_table.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/nan.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/public_data.hpp"
#include "tests/helpers/trace_columns.hpp"
#include "traces/job_csv.hpp"
#include "traces/tables/apply_solo_table.hpp"

/// Tables of solo times by GPU type, and their use for the jobs of a trace.
namespace corun::solo_table_test {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

const std::string kOwn =
    "workload,gpu_type,time_s,memory_mib,gpu_util_pct,mem_time_pct\n"
    "bert,V100,10,8000,70.5,\n"
    "bert,T4,25,,,30\n"
    "gnn,T4,-,900,,\n"
    "gnn,A100,,1000,,\n"
    "bert,A100,4,9000,70.5,30\n";
const std::string kSia =
    "job,gpu_type,local_bsz,step_time_s,sync_time_s\n"
    "bert,dgx,4,0.1,0.003\n"
    "bert,dgx,16,0.2,0.003\n"
    "bert,t4,4,0.4,0.013\n"
    "bert,t4,6,0.5,0.013\n"
    "ncf,dgx,32,0.01,0.001\n";
const std::string kMiso =
    "slice,job,batch,n,median_step_s,p90_step_s\n"
    "1g.5gb,gnn,64,8,0.032,0.03\n"
    "7g.40gb,bert,8,8,0.12,0.13\n"
    "7g.40gb,gnn,64,8,0.0117,0.01\n"
    "1g.5gb,bert,8,8,,\n"
    "7g.40gb,resnet,64,8,0.0283,0.03\n"
    "1g.5gb,resnet,64,8,0.0489,0.05\n";
const std::string kMisoProfiles =
    "job,batch,peak_mem_mib,power_w,sm_util_pct,mem_util_pct\n"
    "bert,8,20480,234.8,88.75,67.65\n"
    "gnn,64,2223,105.2,,15.73\n"
    "unknown,1,5,1,1,1\n"
    "resnet,64,9933,94.19,41.56,4\n";

SoloTable read(const std::string& text, WorkloadKeys& keys,
               const std::optional<std::string>& profiles = std::nullopt) {
  std::istringstream in(text);
  std::istringstream second(profiles.value_or(""));
  return read_solo_table(in, "t.csv", keys, profiles ? &second : nullptr);
}

std::string error_of(const std::string& text,
                     const std::optional<std::string>& profiles = std::nullopt) {
  try {
    WorkloadKeys keys;
    read(text, keys, profiles);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::size_t position(const std::vector<std::string>& list, const std::string& name) {
  const auto at = std::ranges::find(list, name);
  EXPECT_NE(at, list.end()) << name;
  return static_cast<std::size_t>(at - list.begin());
}

double time_of(const SoloTable& table, const std::string& workload, const std::string& type) {
  return table.time(position(table.names, workload), position(table.types, type));
}

double memory_of(const SoloTable& table, const std::string& workload, const std::string& type) {
  return table.memory(position(table.names, workload), position(table.types, type));
}

/// What holds of any table.
void expect_whole(const SoloTable& table, const WorkloadKeys& keys) {
  ASSERT_EQ(table.keys.size(), table.names.size());
  ASSERT_EQ(table.profiles.size(), table.names.size());
  ASSERT_EQ(table.time_s.size(), table.names.size() * table.types.size());
  ASSERT_EQ(table.memory_mib.size(), table.time_s.size());
  ASSERT_FALSE(table.time_s.empty());
  for (std::size_t w = 0; w < table.names.size(); ++w) {
    EXPECT_EQ(keys.text(table.keys[w]), table.names[w]);
    EXPECT_FALSE(table.profiles[w].mem_used_mib);
  }
  for (const double time : table.time_s) EXPECT_FALSE(time < kLeastSoloS) << time;
  for (const double mib : table.memory_mib) EXPECT_FALSE(mib < 0 || std::isinf(mib)) << mib;
}

TEST(SoloTable, ReadsCorunsOwnForm) {
  WorkloadKeys keys;
  const SoloTable table = read(kOwn, keys);
  expect_whole(table, keys);
  EXPECT_EQ(table.source, "t.csv");
  EXPECT_EQ(table.types, (std::vector<std::string>{"V100", "T4", "A100"}));
  EXPECT_EQ(table.names, (std::vector<std::string>{"bert", "gnn"}));
  EXPECT_EQ(time_of(table, "bert", "V100"), 10);
  EXPECT_EQ(time_of(table, "bert", "T4"), 25);
  EXPECT_EQ(time_of(table, "bert", "A100"), 4);
  EXPECT_TRUE(std::isnan(time_of(table, "gnn", "V100"))) << "no row";
  EXPECT_EQ(time_of(table, "gnn", "T4"), kNever);
  EXPECT_TRUE(std::isnan(time_of(table, "gnn", "A100"))) << "only its memory was measured";
  EXPECT_EQ(memory_of(table, "bert", "V100"), 8000);
  EXPECT_TRUE(std::isnan(memory_of(table, "bert", "T4")));
  EXPECT_EQ(memory_of(table, "gnn", "T4"), 900);
  EXPECT_EQ(table.profiles[0], (Profile{70.5, std::nullopt, 30.0}));
  EXPECT_EQ(table.profiles[1], Profile{});
}

TEST(SoloTable, ReadsSiasStepsAndTheirLimitsOfMemory) {
  WorkloadKeys keys;
  const SoloTable table = read(kSia, keys);
  expect_whole(table, keys);
  EXPECT_EQ(table.types, (std::vector<std::string>{"dgx", "t4"}));
  EXPECT_EQ(table.names, (std::vector<std::string>{"bert (batch size 4)", "bert (batch size 16)",
                                                   "bert (batch size 6)", "ncf (batch size 32)"}));
  EXPECT_EQ(time_of(table, "bert (batch size 4)", "dgx"), 0.1) << "the whole step";
  EXPECT_EQ(time_of(table, "bert (batch size 4)", "t4"), 0.4);
  EXPECT_EQ(time_of(table, "bert (batch size 16)", "t4"), kNever) << "above the largest";
  EXPECT_TRUE(std::isnan(time_of(table, "bert (batch size 6)", "dgx"))) << "between two";
  EXPECT_TRUE(std::isnan(time_of(table, "ncf (batch size 32)", "t4"))) << "no row of the job";
  EXPECT_TRUE(std::ranges::all_of(table.memory_mib, [](double m) { return std::isnan(m); }));
  EXPECT_TRUE(std::ranges::all_of(table.profiles, [](const Profile& p) { return p == Profile{}; }));
}

TEST(SoloTable, ReadsMisosSlicesWithTheProfileOfTheWholeGpu) {
  WorkloadKeys keys;
  const SoloTable alone = read(kMiso, keys);
  expect_whole(alone, keys);
  EXPECT_EQ(alone.types, (std::vector<std::string>{"1g.5gb", "7g.40gb"}));
  EXPECT_EQ(time_of(alone, "bert (batch size 8)", "1g.5gb"), kNever) << "an empty field";
  EXPECT_EQ(time_of(alone, "gnn (batch size 64)", "1g.5gb"), 0.032);
  EXPECT_TRUE(std::ranges::all_of(alone.memory_mib, [](double m) { return std::isnan(m); }));

  const SoloTable table = read(kMiso, keys, kMisoProfiles);
  expect_whole(table, keys);
  EXPECT_EQ(table.time_s, alone.time_s);
  EXPECT_EQ(memory_of(table, "bert (batch size 8)", "7g.40gb"), 20480);
  EXPECT_TRUE(std::isnan(memory_of(table, "bert (batch size 8)", "1g.5gb"))) << "does not fit";
  EXPECT_EQ(memory_of(table, "gnn (batch size 64)", "1g.5gb"), 2223);
  EXPECT_EQ(memory_of(table, "resnet (batch size 64)", "7g.40gb"), 9933);
  EXPECT_EQ(memory_of(table, "resnet (batch size 64)", "1g.5gb"), 4864)
      << "it ran in 4.75 GiB, whatever it took of 40";
  EXPECT_EQ(table.profiles[position(table.names, "bert (batch size 8)")],
            (Profile{88.75, 50.0, 67.65}));
  EXPECT_EQ(table.profiles[0].gpu_util_pct, std::nullopt);

  const SoloTable absent = read(replaced(kMiso, "1g.5gb,bert,8,8,,\n", ""), keys);
  EXPECT_EQ(time_of(absent, "bert (batch size 8)", "1g.5gb"), kNever) << "an absent row";
  const SoloTable other = read(replaced(kMiso, "1g.5gb,resnet", "odd,resnet"), keys, kMisoProfiles);
  EXPECT_EQ(memory_of(other, "resnet (batch size 64)", "odd"), 9933);
}

TEST(SoloTable, ReadsTheFileBesideMisos) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "corun_solo_table_test";
  fs::create_directories(folder);
  const std::string path = (folder / "steps.csv").string();
  std::ofstream(path) << kMiso;
  WorkloadKeys keys;
  const SoloTable alone = read_solo_table(path, keys);
  EXPECT_EQ(alone.source, "steps.csv");
  EXPECT_TRUE(alone.files_beside.empty());
  EXPECT_TRUE(std::isnan(memory_of(alone, "gnn (batch size 64)", "1g.5gb")));
  const std::string beside = (folder / "miso_a100_profile.csv").string();
  std::ofstream(beside) << kMisoProfiles;
  const SoloTable table = read_solo_table(path, keys);
  EXPECT_EQ(table.files_beside, std::vector<std::string>{beside});
  EXPECT_EQ(memory_of(table, "gnn (batch size 64)", "1g.5gb"), 2223);
  std::ofstream(beside) << "job,batch,peak_mem_mib\ngnn,64,-1\n";
  try {
    read_solo_table(path, keys);
    ADD_FAILURE() << "a peak below 0";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find(beside + ":2:8: column 'peak_mem_mib' is '-1'"), 0U)
        << error.what();
  }
  std::ofstream(path) << kSia;
  EXPECT_TRUE(read_solo_table(path, keys).files_beside.empty()) << "it is not Sia's";
  fs::remove_all(folder);
}

TEST(SoloTable, NamesThePlaceOfEveryMistake) {
  const std::string own = "workload,gpu_type,time_s,memory_mib,gpu_util_pct\n";
  const std::string sia = "job,gpu_type,local_bsz,step_time_s\n";
  const std::string miso = "slice,job,batch,median_step_s\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "t.csv:1:1: the file is empty"},
      {"a,b\n1,2\n",
       "t.csv:1:1: the header is of no table of solo times, expected at least one of these: "
       "corun's own workload, gpu_type, time_s; Sia's job, gpu_type, local_bsz, step_time_s; "
       "MISO's slice, job, batch, median_step_s; name another file or add them"},
      {"slice,local_bsz\n1,2\n", "t.csv:1:1: the header has columns of several forms, expected"},
      {"workload,gpu_type\na,b\n",
       "t.csv:1:1: the header has no column 'time_s', expected at least workload, gpu_type, "
       "time_s; add it"},
      {"workload,gputype,time_s\na,b,1\n",
       "t.csv:1:1: the header has no column 'gpu_type', expected at least workload, gpu_type, "
       "time_s; did you mean it by 'gputype'?"},
      {"workload,gpu_type,time_s,memory\na,b,1,2\n",
       "t.csv:1:26: unknown column 'memory', expected columns among workload, gpu_type, time_s, "
       "memory_mib, gpu_util_pct, mem_alloc_pct, mem_time_pct; rename or remove it"},
      {"workload,gpu_type,time_s,\na,b,1,2\n", "t.csv:1:26: unknown column ''"},
      {"workload,gpu_type,time_s,time_s\na,b,1,2\n",
       "t.csv:1:26: column 'time_s' is named a second time"},
      {own, "t.csv:1:1: no rows after the header, expected one for each workload and GPU type"},
      {own + ",V100,1,,\n", "t.csv:2:1: column 'workload' is empty, expected the name of a"},
      {own + "a,,1,,\n", "t.csv:2:3: column 'gpu_type' is empty, expected the name of a GPU type"},
      {own + "a,V100,,,\n",
       "t.csv:2:8: column 'time_s' is empty, expected a time, '-' (does not "
       "run there), or a memory_mib without time; fill one in"},
      {own + "a,V100,0,,\n",
       "t.csv:2:8: column 'time_s' is '0', expected '-' (does not run "
       "there) or a number of seconds, 0.000000001 or more"},
      {own + "a,V100,-1,,\n", "t.csv:2:8: column 'time_s' is '-1'"},
      {own + "a,V100,1e-300,,\n", "t.csv:2:8: column 'time_s' is '1e-300'"},
      {own + "a,V100,inf,,\n", "t.csv:2:8: column 'time_s' is 'inf'"},
      {own + "a,V100,1,-2,\n", "t.csv:2:10: column 'memory_mib' is '-2'"},
      {own + "a,V100,1,,101\n", "t.csv:2:11: column 'gpu_util_pct' is '101'"},
      {own + "a,V100,1,,5\na,T4,2,,6\n",
       "t.csv:3:9: column 'gpu_util_pct' is '6', expected 5, which workload 'a' has on line 2; "
       "correct one of the two"},
      {own + "a,V100,1,,\nb,V100,1,,\na,V100,2,,\n",
       "t.csv:4:1: 'a' on V100 stands on line 2, too, expected each workload once for each GPU "
       "type; remove one of the two rows"},
      {sia, "t.csv:1:1: no rows after the header"},
      {sia + "bert,t4,0,1\n", "t.csv:2:9: column 'local_bsz' is '0', expected a batch size"},
      {sia + "bert,t4,,1\n", "t.csv:2:9: column 'local_bsz' is empty"},
      {sia + "bert,t4,1.5,1\n", "t.csv:2:9: column 'local_bsz' is '1.5'"},
      {sia + "bert,t4,4,\n", "t.csv:2:11: column 'step_time_s' is empty, expected a number"},
      {sia + "bert,t4,4,-\n", "t.csv:2:11: column 'step_time_s' is '-'"},
      {sia + "bert,t4,4,1\nbert,t4,4,1\n", "t.csv:3:1: 'bert (batch size 4)' on t4 stands on line"},
      {"job,gpu_type,local_bsz\nbert,t4,4\n", "t.csv:1:1: the header has no column 'step_time_s'"},
      {miso + "1g.5gb,bert,8,0\n", "t.csv:2:15: column 'median_step_s' is '0'"},
      {miso + "1g.5gb,bert,x,1\n", "t.csv:2:13: column 'batch' is 'x'"},
      {miso + ",bert,8,1\n", "t.csv:2:1: column 'slice' is empty, expected the name of a slice"},
      {"slice,job,batch\n1g.5gb,bert,8\n",
       "t.csv:1:1: the header has no column 'median_step_s', expected at least slice, job, batch, "
       "median_step_s; add it"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of(text);
    EXPECT_EQ(error.substr(0, expected.size()), expected) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << text;
  }
  const std::string head = "job,batch,peak_mem_mib,sm_util_pct\n";
  const std::vector<std::pair<std::string, std::string>> beside = {
      {"job,batch\n", "miso_a100_profile.csv:1:1: the header has no column 'peak_mem_mib'"},
      {head + "gnn,64,1,101\n", "miso_a100_profile.csv:2:10: column 'sm_util_pct' is '101'"},
      {head + "gnn,0,1,1\n", "miso_a100_profile.csv:2:5: column 'batch' is '0'"},
      {head + "gnn,64,1,1\ngnn,64,1,1\n",
       "miso_a100_profile.csv:3:1: 'gnn (batch size 64)' stands on line 2, too"},
  };
  for (const auto& [text, expected] : beside) {
    const std::string error = error_of(kMiso, text);
    EXPECT_EQ(error.substr(0, expected.size()), expected) << text;
  }
}

TEST(SoloTable, BoundsTheTableThatAFileMakes) {
  std::string text = "workload,gpu_type,time_s\n";
  for (int i = 0; i < 3200; ++i) {
    text += "w" + std::to_string(i) + ",t" + std::to_string(i) + ",1\n";
  }
  EXPECT_EQ(error_of(text).find("t.csv:1:1: 3200 workloads on 3200 GPU types, expected a table of "
                                "at most 10000000 cells"),
            0U);
}

TEST(SoloTable, SurvivesPrefixesAndMutations) {
  Rng rng(1, Stream::kTest);
  int sound = 0;
  int refused = 0;
  for (const std::string& text : {kOwn, kSia, kMiso}) {
    for (int i = 0; i < 600; ++i) {
      std::string changed = text.substr(0, rng.below(static_cast<std::uint32_t>(text.size())) + 1);
      for (std::uint32_t n = rng.below(4); n > 0; --n) {
        changed[rng.below(static_cast<std::uint32_t>(changed.size()))] =
            static_cast<char>(i % 3 == 0 ? rng.below(256) : 32 + rng.below(95));
      }
      try {
        WorkloadKeys keys;
        expect_whole(read(changed, keys, kMisoProfiles), keys);
        ++sound;
      } catch (const InputError& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("t.csv:")) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(sound, 50);
  EXPECT_GT(refused, 50);
}

TEST(SoloTable, IsRecognisedByTheFirstLine) {
  for (const std::string& text : {kOwn, kSia, kMiso}) {
    EXPECT_TRUE(looks_like_solo_table({"t.csv", text}));
  }
  for (const std::string text :
       {"", "job,submit_s,solo_s\n", "workload,gpu_type\n", "job,gpu_type,local_bsz\n"}) {
    EXPECT_FALSE(looks_like_solo_table({"t.csv", text})) << text;
  }
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return (x | 32) == (y | 32); });
}

TEST(ApplySoloTable, FillsWhatTheTraceDoesNotKnow) {
  WorkloadKeys keys;
  std::istringstream in(
      "submit_s,solo_s,workload,solo_s@t4,mem_used_mib@v100\n"
      "0,100,bert,,\n"
      "0,100,bert,60,7000\n"
      "0,100,bert,-,\n"
      "0,100,gnn,,\n"
      "0,100,other,,\n"
      "0,100,,,\n");
  Trace trace = read_job_csv(in, "jobs", keys);
  const SoloTable table = read(kOwn, keys);
  EXPECT_EQ(apply_solo_table(trace, table, "v100", same_letters), 4U);
  ASSERT_EQ(trace.measured_types.size(), 3U);
  EXPECT_EQ(trace.measured_types[0].name, "t4") << "the trace's own name stays";
  EXPECT_EQ(trace.measured_types[1].name, "v100");
  EXPECT_EQ(trace.measured_types[2].name, "A100") << "from the table";
  const auto on_t4 = [&](std::size_t j) { return on_type(trace.jobs[j], 0); };
  const auto on_v100 = [&](std::size_t j) { return on_type(trace.jobs[j], 1); };
  const JobOnType on_a100 = on_type(trace.jobs[0], 2);
  EXPECT_EQ(on_t4(0).solo_s, 250);
  EXPECT_EQ(on_t4(1).solo_s, 60) << "the trace's own wins";
  EXPECT_EQ(on_t4(2).solo_s, kNever) << "the trace's own wins";
  EXPECT_EQ(on_v100(0).solo_s, 100);
  EXPECT_EQ(on_v100(0).memory_mib, 8000);
  EXPECT_EQ(on_v100(1).memory_mib, 7000) << "the trace's own wins";
  EXPECT_EQ(on_a100.solo_s, 40);
  EXPECT_EQ(on_a100.memory_mib, 9000);
  // gnn is not measured on the V100, so there are no ratios; its memory needs none.
  EXPECT_TRUE(std::isnan(on_t4(3).solo_s));
  EXPECT_EQ(on_t4(3).memory_mib, 900);
  for (std::size_t j : {4U, 5U}) {
    for (std::size_t t = 0; t < 3; ++t) {
      const JobOnType on = on_type(trace.jobs[j], t);
      EXPECT_TRUE(std::isnan(on.solo_s) && std::isnan(on.memory_mib)) << j;
    }
  }
  EXPECT_EQ(apply_solo_table(trace, table, "v100", same_letters), 0U) << "all is filled";
}

TEST(ApplySoloTable, TakesRatiosToTheReferenceTypeOnly) {
  WorkloadKeys keys;
  const auto jobs = [&] {
    std::istringstream in(
        "submit_s,solo_s,workload\n0,100,\"bert (batch size 4)\"\n"
        "0,100,bert (batch size 16)\n0,100,bert (batch size 6)\n");
    return read_job_csv(in, "jobs", keys);
  };
  const SoloTable table = read(kSia, keys);
  Trace on_dgx = jobs();
  EXPECT_EQ(apply_solo_table(on_dgx, table, "dgx", same_letters), 2U);
  ASSERT_EQ(on_dgx.measured_types.size(), 2U);
  EXPECT_EQ(on_type(on_dgx.jobs[0], 1).solo_s, 400);
  EXPECT_EQ(on_type(on_dgx.jobs[1], 1).solo_s, kNever);
  EXPECT_TRUE(std::isnan(on_type(on_dgx.jobs[2], 1).solo_s))
      << "not measured on the reference type";
  Trace on_t4 = jobs();
  EXPECT_EQ(apply_solo_table(on_t4, table, "t4", same_letters), 2U);
  EXPECT_EQ(on_type(on_t4.jobs[0], 0).solo_s, 25);
  EXPECT_TRUE(std::isnan(on_type(on_t4.jobs[1], 0).solo_s))
      << "the table says it does not run on t4";
  EXPECT_EQ(on_type(on_t4.jobs[2], 1).solo_s, 100);
  Trace on_other = jobs();
  EXPECT_EQ(apply_solo_table(on_other, table, "K80", same_letters), 0U);
  EXPECT_TRUE(on_other.measured_types.empty()) << "nothing is known";
}

TEST(ApplySoloTable, KeepsSoloTimesThatAFileOfJobsCanHold) {
  WorkloadKeys keys;
  std::istringstream in("submit_s,solo_s,workload\n0,9e7,a\n0,1e-9,b\n");
  Trace trace = read_job_csv(in, "jobs", keys);
  const SoloTable table =
      read("workload,gpu_type,time_s\na,V,1e-9\na,T,9e7\nb,V,9e7\nb,T,1e-9\n", keys);
  EXPECT_EQ(apply_solo_table(trace, table, "V", same_letters), 2U);
  EXPECT_EQ(test::solo_s_on(trace, 1), (std::vector<double>{kLongestSoloS, kLeastSoloS}));
}

TEST(SoloTable, SiasDataSet) {
  const std::string file = "jobs/sia/sia_1gpu_steps.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  WorkloadKeys keys;
  const SoloTable table = read_solo_table(test::public_data(file), keys);
  expect_whole(table, keys);
  EXPECT_EQ(table.source, "sia_1gpu_steps.csv");
  EXPECT_EQ(table.types, (std::vector<std::string>{"dgx", "rtx", "v100", "t4"}));
  std::map<bool, int> measured;
  int never = 0;
  for (const double time : table.time_s) {
    never += time == kNever ? 1 : 0;
    ++measured[std::isfinite(time)];
  }
  EXPECT_EQ(measured[true], 259) << "rows of the file";
  EXPECT_GT(never, 0);
  EXPECT_EQ(time_of(table, "bert (batch size 48)", "dgx"), 0.341779);
  for (const char* type : {"rtx", "v100", "t4"}) {
    EXPECT_EQ(time_of(table, "bert (batch size 48)", type), kNever) << type;
  }
  EXPECT_TRUE(std::isnan(time_of(table, "bert (batch size 12)", "dgx")));
  EXPECT_EQ(time_of(table, "bert (batch size 12)", "t4"), 0.921516);
}

TEST(SoloTable, MisosDataSet) {
  const std::string file = "jobs/miso/miso_mig_steps.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  WorkloadKeys keys;
  const SoloTable table = read_solo_table(test::public_data(file), keys);
  expect_whole(table, keys);
  EXPECT_EQ(table.types, (std::vector<std::string>{"1g.5gb", "2g.10gb", "3g.20gb", "7g.40gb"}));
  EXPECT_EQ(table.names.size(), 32U) << "eight jobs, four batch sizes";
  ASSERT_EQ(table.files_beside.size(), 1U);
  EXPECT_EQ(time_of(table, "bert (batch size 8)", "2g.10gb"), kNever);
  EXPECT_EQ(time_of(table, "bert (batch size 8)", "3g.20gb"), 0.2333);
  EXPECT_EQ(memory_of(table, "bert (batch size 8)", "3g.20gb"), 18635);
  for (std::size_t w = 0; w < table.names.size(); ++w) {
    EXPECT_TRUE(table.profiles[w].gpu_util_pct && table.profiles[w].mem_alloc_pct &&
                table.profiles[w].mem_time_pct)
        << table.names[w];
    for (std::size_t t = 0; t < table.types.size(); ++t) {
      const bool runs = std::isfinite(table.time(w, t));
      EXPECT_EQ(std::isnan(table.memory(w, t)), !runs) << table.names[w];
      constexpr double kSliceMib[] = {4864, 9856, 19968, 40192};
      if (runs) EXPECT_LE(table.memory(w, t), kSliceMib[t]) << table.names[w];
    }
  }
}

}  // namespace
}  // namespace corun::solo_table_test
