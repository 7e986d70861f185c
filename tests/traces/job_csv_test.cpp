#include "traces/job_csv.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/nan.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/left_out.hpp"
#include "tests/helpers/trace_columns.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::job_csv_test {
namespace {

Trace read(const std::string& text, WorkloadKeys& keys) {
  std::istringstream in(text);
  return read_job_csv(in, "t.csv", keys);
}

std::string write(const Trace& trace, const WorkloadKeys& keys) {
  std::ostringstream out;
  write_job_csv(out, trace, keys);
  return out.str();
}

std::string error_of(const std::string& text) {
  try {
    WorkloadKeys keys;
    read(text, keys);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// Whether they are equal; a value that is not known is equal to another such.
bool same_values(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(
      a, b, [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

/// Compares all data of the file format; `keys` belong to `a`, `other_keys` to `b`.
void expect_same(const Trace& a, const WorkloadKeys& keys, const Trace& b,
                 const WorkloadKeys& other_keys) {
  ASSERT_EQ(a.jobs.size(), b.jobs.size());
  EXPECT_EQ(test::imputed_profiles(a), test::imputed_profiles(b));
  EXPECT_EQ(a.gpu_model_names, b.gpu_model_names);
  EXPECT_EQ(a.virtual_clusters, b.virtual_clusters);
  ASSERT_EQ(a.measured_types.size(), b.measured_types.size());
  for (std::size_t t = 0; t < a.measured_types.size(); ++t) {
    EXPECT_EQ(a.measured_types[t].name, b.measured_types[t].name);
    EXPECT_TRUE(same_values(test::solo_s_on(a, t), test::solo_s_on(b, t))) << t;
    EXPECT_TRUE(same_values(test::memory_mib_on(a, t), test::memory_mib_on(b, t))) << t;
  }
  for (std::size_t i = 0; i < a.jobs.size(); ++i) {
    const JobSpec& x = a.jobs[i].spec;
    const JobSpec& y = b.jobs[i].spec;
    EXPECT_EQ(a.jobs[i].name, b.jobs[i].name);
    EXPECT_EQ(a.jobs[i].cluster, b.jobs[i].cluster) << a.jobs[i].name;
    EXPECT_EQ(x.submit, y.submit) << a.jobs[i].name;
    EXPECT_EQ(x.work, y.work) << a.jobs[i].name;
    EXPECT_EQ(x.gpus, y.gpus) << a.jobs[i].name;
    EXPECT_EQ(x.priority, y.priority) << a.jobs[i].name;
    EXPECT_EQ(x.profile, y.profile) << a.jobs[i].name;
    EXPECT_EQ(x.request.cpu_milli, y.request.cpu_milli) << a.jobs[i].name;
    EXPECT_EQ(x.request.memory_mib, y.request.memory_mib) << a.jobs[i].name;
    EXPECT_EQ(x.epoch, y.epoch) << a.jobs[i].name;
    EXPECT_EQ(x.gpu_milli, y.gpu_milli) << a.jobs[i].name;
    EXPECT_EQ(x.steps, y.steps) << a.jobs[i].name;
    EXPECT_EQ(x.gpu_models, y.gpu_models) << a.jobs[i].name;
    EXPECT_EQ(x.virtual_cluster, y.virtual_cluster) << a.jobs[i].name;
    EXPECT_EQ(keys.text(a.jobs[i].key), other_keys.text(b.jobs[i].key)) << a.jobs[i].name;
    const double u = a.jobs[i].uncertainty;
    const double v = b.jobs[i].uncertainty;
    EXPECT_TRUE(u == v || (std::isnan(u) && std::isnan(v))) << a.jobs[i].name;
  }
}

void expect_round_trip(const Trace& trace, const WorkloadKeys& keys) {
  const std::string text = write(trace, keys);
  WorkloadKeys fresh;
  const Trace again = read(text, fresh);
  expect_same(trace, keys, again, fresh);
  EXPECT_EQ(write(again, fresh), text);
}

TEST(JobCsv, ReadsTheLeastThatMustBeThere) {
  WorkloadKeys keys;
  const Trace trace = read("solo_s,job,submit_s\n10,a,0\n0.5,b,2.25\n", keys);
  ASSERT_EQ(names_of(trace), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(trace.source, "t.csv");
  EXPECT_FALSE(trace.shuffled_by_default);
  const JobSpec& b = trace.jobs[1].spec;
  EXPECT_EQ(b.submit, from_seconds(2.25));
  EXPECT_EQ(b.work, from_seconds(0.5));
  EXPECT_EQ(b.gpus, 1);
  EXPECT_EQ(b.priority, 0);
  EXPECT_EQ(b.profile, Profile{});
  EXPECT_EQ(b.request.cpu_milli, 0);
  EXPECT_EQ(b.request.memory_mib, 0);
  EXPECT_EQ(b.epoch, std::nullopt);
  EXPECT_EQ(trace.jobs[1].key, kUnknownWorkload);
  EXPECT_EQ(trace.jobs[1].cluster, kUnknownCluster);
  EXPECT_TRUE(std::isnan(trace.jobs[1].uncertainty));
  EXPECT_EQ(keys.size(), 0u);
}

TEST(JobCsv, ReadsEverything) {
  WorkloadKeys keys;
  const WorkloadKey dcgan = keys.of("DCGAN", 205, 20);
  const Trace trace = read(
      "job,submit_s,solo_s,gpus,priority,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,"
      "cpu_milli,memory_mib,epoch_s,workload,cluster,uncertainty,imputed\n"
      "\"a, b\",1,2,4,-3,42.16,140.7,13.78,2048.5,6000,12288,0.1,DCGAN/bs=205/epochs=20,1,133.11,"
      "1\n",
      keys);
  const JobSpec& job = trace.jobs.at(0).spec;
  EXPECT_EQ(trace.jobs[0].name, "a, b");
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.priority, -3);
  EXPECT_EQ(job.profile, (Profile{42.16, 140.7, 13.78, 2048.5, true}));
  EXPECT_EQ(job.request.cpu_milli, 6000);
  EXPECT_EQ(job.request.memory_mib, 12288);
  EXPECT_EQ(job.epoch, from_seconds(0.1));
  EXPECT_EQ(trace.jobs[0].key, dcgan);
  EXPECT_EQ(trace.jobs[0].cluster, 1);
  EXPECT_EQ(trace.jobs[0].uncertainty, 133.11);
  EXPECT_EQ(test::imputed_profiles(trace), 1u);
  expect_round_trip(trace, keys);
}

TEST(JobCsv, ReadsSharesModelsVirtualClustersAndSteps) {
  WorkloadKeys keys;
  const Trace trace = read(
      "job,submit_s,solo_s,gpus,gpu_milli,gpu_models,virtual_cluster,steps\n"
      "a,0,1,1,460,V100M16|T4,vcB,1000\n"
      "b,0,1,8,,,,\n"
      "c,0,1,1,1000,T4,vcB,0\n",
      keys);
  const auto jobs = test::specs_of(trace);
  EXPECT_EQ(jobs[0].gpu_milli, 460);
  EXPECT_EQ(jobs[1].gpu_milli, 1000);
  EXPECT_EQ(trace.gpu_model_names, (std::vector<std::string>{"V100M16", "T4"}));
  EXPECT_EQ(jobs[0].gpu_models, 3u);
  EXPECT_EQ(jobs[1].gpu_models, 0u);
  EXPECT_EQ(jobs[2].gpu_models, 2u);
  EXPECT_EQ(trace.virtual_clusters, (std::vector<std::string>{"vcB", ""}));
  EXPECT_EQ(jobs[1].virtual_cluster, 1u);
  EXPECT_EQ(jobs[2].virtual_cluster, 0u);
  EXPECT_EQ(jobs[0].steps, 1000);
  expect_round_trip(trace, keys);

  const auto error = [&](const std::string& row) -> std::string {
    try {
      read("job,submit_s,solo_s,gpus,gpu_milli,gpu_models\na,0,1," + row + "\n", keys);
    } catch (const InputError& e) {
      return e.what();
    }
    return "read";
  };
  EXPECT_TRUE(error("1,0,").starts_with("t.csv:2:9: column 'gpu_milli' is '0'")) << error("1,0,");
  EXPECT_TRUE(error("1,1001,").starts_with("t.csv:2:9: column 'gpu_milli' is '1001'"));
  EXPECT_TRUE(error("2,500,").starts_with("t.csv:2:9: column 'gpu_milli' is '500', expected 1000"));
  for (const char* models : {"|", "T4|", "|T4", "A||B"}) {
    EXPECT_TRUE(error(std::string("1,,") + models).starts_with("t.csv:2:10: column 'gpu_models'"))
        << models;
  }
}

TEST(JobCsv, ReadsMeasurementsByGpuType) {
  WorkloadKeys keys;
  const Trace trace = read(
      "mem_used_mib@A100,job,submit_s,solo_s,solo_s@T4,mem_used_mib@T4,\"solo_s@a, b\"\n"
      "9000.5,a,0,10,25.5,8000,-\n"
      ",b,0,10,,,1e-9\n"
      "0,c,0,10,-,,9e7\n",
      keys);
  EXPECT_TRUE(trace.unread_columns.empty());
  ASSERT_EQ(trace.measured_types.size(), 3U);
  constexpr double kNo = std::numeric_limits<double>::infinity();
  EXPECT_EQ(trace.measured_types[0].name, "A100");
  EXPECT_TRUE(same_values(test::solo_s_on(trace, 0), {kNaN, kNaN, kNaN}));
  EXPECT_TRUE(same_values(test::memory_mib_on(trace, 0), {9000.5, kNaN, 0}));
  EXPECT_EQ(trace.measured_types[1].name, "T4");
  EXPECT_TRUE(same_values(test::solo_s_on(trace, 1), {25.5, kNaN, kNo}));
  EXPECT_TRUE(same_values(test::memory_mib_on(trace, 1), {8000, kNaN, kNaN}));
  EXPECT_EQ(trace.measured_types[2].name, "a, b");
  EXPECT_TRUE(same_values(test::solo_s_on(trace, 2), {kNo, 1e-9, 9e7}));
  expect_round_trip(trace, keys);

  const Trace none = read("job,submit_s,solo_s,solo_s@T4\na,0,10,\n", keys);
  EXPECT_EQ(none.measured_types.size(), 1U);
  EXPECT_EQ(write(none, keys).find('@'), std::string::npos) << "a column without values";
}

TEST(JobCsv, NamesThePlaceOfEveryMistakeInMeasurementsByGpuType) {
  const auto with = [](const std::string& column, const std::string& value) {
    return "job,submit_s,solo_s," + column + "\na,0,1," + value + "\n";
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {with("solo_s@", "1"),
       "t.csv:1:21: column 'solo_s@' names no GPU type, expected one after '@'; write solo_s@T4, "
       "or leave the column out"},
      {with("mem_used_mib@", "1"),
       "t.csv:1:21: column 'mem_used_mib@' names no GPU type, expected one after '@'; write "
       "mem_used_mib@T4"},
      {with("solo_s@T4,solo_s@T4", "1,1"),
       "t.csv:1:31: column 'solo_s@T4' is named a second time (first at column 21)"},
      {with("\"solo_s@T\n4\"", "1"),
       "t.csv:1:21: column 'solo_s@T\\x0a4' is 'solo_s@T\\x0a4', "
       "expected text on one line"},
      {with("solo_s@T4", "0"),
       "t.csv:2:7: column 'solo_s@T4' is '0', expected '-' (does not run there) or a number of "
       "seconds, 0.000000001 or more; correct it or leave it empty; --columns solo_s@T4= leaves "
       "the column out"},
      {with("solo_s@T4", "-1"), "t.csv:2:7: column 'solo_s@T4' is '-1', expected '-'"},
      {with("solo_s@T4", "1e-300"), "t.csv:2:7: column 'solo_s@T4' is '1e-300'"},
      {with("solo_s@T4", "9.1e7"), "t.csv:2:7: column 'solo_s@T4' is '9.1e7'"},
      {with("solo_s@T4", "inf"), "t.csv:2:7: column 'solo_s@T4' is 'inf'"},
      {with("solo_s@T4", "nan"), "t.csv:2:7: column 'solo_s@T4' is 'nan'"},
      {with("solo_s@T4", "--"), "t.csv:2:7: column 'solo_s@T4' is '--'"},
      {with("mem_used_mib@T4", "-"),
       "t.csv:2:7: column 'mem_used_mib@T4' is '-', expected a number of MiB, 0 or more; "},
      {with("mem_used_mib@T4", "-1"), "t.csv:2:7: column 'mem_used_mib@T4' is '-1'"},
      {with("solo@T4", "1"),
       "t.csv:1:1: unknown column 'solo@T4', which may be solo@T4=solo_s@T4; rename or decide: "
       "--columns solo@T4=solo_s@T4"},
      {with("Solo_h@T4,mem_used@T4", "1,2"),
       "t.csv:1:1: unknown columns 'Solo_h@T4', 'mem_used@T4', which may be "
       "Solo_h@T4=solo_s@T4*3600,mem_used@T4=mem_used_mib@T4; rename"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of(text);
    EXPECT_EQ(error.substr(0, expected.size()), expected) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << text;
  }
  EXPECT_EQ(
      error_of("job,submit_s,solo_s,\"solo\n_s@T4\"\na,0,1,1\n"),
      "t.csv:1:1: unknown column 'solo\\x0a_s@T4', which may be solo\\x0a_s@T4=solo_s@T4; rename "
      "or decide: --columns solo\\x0a_s@T4=solo_s@T4 (NAME= leaves a column out)");
  WorkloadKeys keys;
  const Trace both = read(with("solo_s@T4,solo@T4,user@host", "1,2,3"), keys);
  EXPECT_EQ(both.unread_columns, (std::vector<std::string>{"solo@T4", "user@host"}))
      << "what it may mean is there already";
}

TEST(JobCsv, ArrivalsFollowSubmitAndThenTheFile) {
  WorkloadKeys keys;
  const Trace trace = read("job,submit_s,solo_s\na,5,1\nb,1,1\nc,5,1\nd,0,1\ne,1,1\n", keys);
  EXPECT_EQ(by_submit_time(trace),
            (std::vector<JobId>{JobId{3}, JobId{1}, JobId{4}, JobId{0}, JobId{2}}));
  expect_round_trip(trace, keys);
}

TEST(JobCsv, NamesThePlaceOfEveryMistake) {
  const std::string head = "job,submit_s,solo_s";
  const auto with = [&](const std::string& column, const std::string& value) {
    return head + "," + column + "\na,0,1," + value + "\n";
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {head + "\n", "t.csv:1:1: no rows after the header"},
      {head + "\na,0,1\nb,0,1\na,0,1\n",
       "t.csv:4:1: column 'job' is 'a', expected names that differ, and line 2 has this one; "
       "rename one of the two"},
      {head + "\n,0,1\n", "t.csv:2:1: column 'job' is empty, expected the name of a job"},
      {head + "\na,-0.5,1\n",
       "t.csv:2:3: column 'submit_s' is '-0.5', expected a number of seconds, 0 or more; "},
      {head + "\na,4e10,1\n",
       "t.csv:2:3: column 'submit_s' is '4e10', expected a number of seconds, from 0 to "
       "4000000000; "},
      {head + "\na,,1\n", "t.csv:2:3: column 'submit_s' is empty"},
      {head + "\na,0,0\n",
       "t.csv:2:5: column 'solo_s' is '0', expected a number of seconds, above 0; correct it"},
      {head + "\na,0,1e-30\n", "t.csv:2:5: column 'solo_s' is '1e-30'"},
      {head + "\na,0,1e9\n",
       "t.csv:2:5: column 'solo_s' is '1e9', expected a number of seconds, above 0 and up to "
       "90000000; "},
      {head + "\na,0,nan\n", "t.csv:2:5: column 'solo_s' is 'nan'"},
      {with("gpus", "0"), "t.csv:2:7: column 'gpus' is '0', expected a whole number of GPUs"},
      {with("priority", "1.5"), "t.csv:2:7: column 'priority' is '1.5'"},
      {with("gpu_util_pct", "100.1"),
       "t.csv:2:7: column 'gpu_util_pct' is '100.1', expected a percentage, from 0 to 100; correct "
       "it or leave it empty"},
      {with("mem_alloc_pct", "1001"), "t.csv:2:7: column 'mem_alloc_pct' is '1001'"},
      {with("mem_time_pct", "-1"), "t.csv:2:7: column 'mem_time_pct' is '-1'"},
      {with("mem_used_mib", "-1"), "t.csv:2:7: column 'mem_used_mib' is '-1'"},
      {with("cpu_milli", "x"), "t.csv:2:7: column 'cpu_milli' is 'x'"},
      {with("memory_mib", "-1"), "t.csv:2:7: column 'memory_mib' is '-1'"},
      {with("epoch_s", "0"), "t.csv:2:7: column 'epoch_s' is '0'"},
      {with("cluster", "-1"), "t.csv:2:7: column 'cluster' is '-1'"},
      {with("uncertainty", "-1"), "t.csv:2:7: column 'uncertainty' is '-1'"},
      {with("imputed", "2"), "t.csv:2:7: column 'imputed' is '2'"},
      {"job,submit_s,solo\na,0,1\n",
       "t.csv:1:1: the header has no column 'solo_s', expected at least submit_s, solo_s; it has "
       "job, "
       "submit_s, solo; name yours: perhaps --columns solo=solo_s (NAME= leaves a column out)"},
      {"job,submit_s\na,0\n", "t.csv:1:1: the header has no column 'solo_s'"},
      {"a,b\n1,2\n",
       "t.csv:1:1: the header has no columns 'submit_s', 'solo_s', expected at least submit_s, "
       "solo_s; "
       "it has a, b; name yours: --columns THEIRS=submit_s,THEIRS=solo_s"},
      {"Id,Arrival,runtime,num_gpus\n1,0,1,1\n",
       "t.csv:1:1: the header has no columns 'submit_s', 'solo_s', expected at least submit_s, "
       "solo_s; "
       "it has Id, Arrival, runtime, num_gpus; name yours: perhaps --columns "
       "Id=job,Arrival=submit_s,runtime=solo_s,num_gpus=gpus (NAME= leaves a column out)"},
      {"JobID,Submit,runtime_hours,AllocGPUS,gpu_type\n1,0,1,1,x\n",
       "t.csv:1:1: the header has no columns 'submit_s', 'solo_s', expected at least submit_s, "
       "solo_s; "
       "it has JobID, Submit, runtime_hours, AllocGPUS, gpu_type; name yours: perhaps --columns "
       "JobID=job,Submit=submit_s,runtime_hours=solo_s*3600,AllocGPUS=gpus (NAME= leaves a column "
       "out)"},
      {head + ",priority\na,0,1,low\n",
       "t.csv:2:7: column 'priority' is 'low', expected a whole number, from -1000000000 to "
       "1000000000; "
       "correct it or leave it empty; --columns priority= leaves the column out"},
      {"submit_time,minutes\n0,1\n",
       "t.csv:1:1: the header has no columns 'submit_s', 'solo_s', expected at least submit_s, "
       "solo_s; "
       "it has submit_time, minutes; name yours: perhaps --columns "
       "submit_time=submit_s,THEIRS=solo_s (NAME= leaves a column out)"},
      {head + ",num_gpu,gpu_utl_pct\na,0,1,2,3\n",
       "t.csv:1:1: unknown columns 'num_gpu', 'gpu_utl_pct', which may be "
       "num_gpu=gpus,gpu_utl_pct=gpu_util_pct; rename or decide: --columns "
       "num_gpu=gpus,gpu_utl_pct=gpu_util_pct (NAME= leaves a column out)"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of(text);
    EXPECT_EQ(error.substr(0, expected.size()), expected) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << text;
  }
}

Trace read_renamed(const std::string& text, const std::string& columns) {
  std::istringstream in(text);
  WorkloadKeys keys;
  return read_job_csv(in, "t.csv", keys, parse_renamed_columns(columns, "--columns"));
}

std::string error_of_renamed(const std::string& text, const std::string& columns) {
  try {
    read_renamed(text, columns);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(JobCsv, LeavesOutUnknownColumnsAndNamesThem) {
  WorkloadKeys keys;
  const Trace trace = read("job,submit_s,user,solo_s,state\na,0,x,1,y\n", keys);
  EXPECT_EQ(trace.unread_columns, (std::vector<std::string>{"user"}));
  EXPECT_EQ(trace.jobs[0].spec.work, std::chrono::seconds(1));
}

TEST(JobCsv, NumbersJobsWithoutNames) {
  WorkloadKeys keys;
  EXPECT_EQ(names_of(read("submit_s,solo_s\n0,1\n5,2\n", keys)),
            (std::vector<std::string_view>{"1", "2"}));
}

TEST(JobCsv, ReadsRenamedColumnsInOtherUnits) {
  const Trace trace =
      read_renamed("id,t,minutes,n,util,note\nx,0,1.5,2,0.25,a\ny,60,2,1,,b\n",
                   "id=job,t=submit_s,minutes=solo_s*60,n=gpus,util=gpu_util_pct*100,note=");
  ASSERT_EQ(names_of(trace), (std::vector<std::string_view>{"x", "y"}));
  EXPECT_EQ(trace.jobs[0].spec.work, std::chrono::seconds(90));
  EXPECT_EQ(trace.jobs[0].spec.gpus, 2);
  EXPECT_EQ(trace.jobs[0].spec.profile.gpu_util_pct, 25);
  EXPECT_EQ(trace.jobs[1].spec.submit, std::chrono::seconds(60));
  EXPECT_FALSE(trace.jobs[1].spec.profile.gpu_util_pct.has_value());
  EXPECT_TRUE(trace.unread_columns.empty());
}

TEST(JobCsv, ReadsRenamedMeasurementsByGpuType) {
  const Trace trace =
      read_renamed("t,s,hours_t4,gib,solo_s@A100\n0,1,0.5,2,\n0,0,1,1,4\n0,3,-,,5\n",
                   "t=submit_s,s=solo_s,hours_t4=solo_s@T4*3600,gib=mem_used_mib@T4*1024");
  ASSERT_EQ(trace.jobs.size(), 2U) << "the second job did not run";
  ASSERT_EQ(trace.measured_types.size(), 2U);
  EXPECT_EQ(trace.measured_types[0].name, "T4");
  EXPECT_TRUE(
      same_values(test::solo_s_on(trace, 0), {1800, std::numeric_limits<double>::infinity()}));
  EXPECT_TRUE(same_values(test::memory_mib_on(trace, 0), {2048, kNaN}));
  EXPECT_TRUE(same_values(test::solo_s_on(trace, 1), {kNaN, 5}));
  EXPECT_TRUE(trace.unread_columns.empty());

  const std::vector<std::pair<std::string, std::string>> cases = {
      {"x=solo_s@",
       "--columns: found 'x=solo_s@': expected the name of a GPU type after '@', "
       "such as solo_s@T4"},
      {"x=solo_s@a\tb", "--columns: found 'x=solo_s@a\\x09b': expected the name of a GPU type"},
      {"x=solo_s@T4,z=solo_s@T4",
       "--columns: found 'x=solo_s@T4' and 'z=solo_s@T4', expected each"},
      {"x=solo@T4", "--columns: found 'x=solo@T4': no column 'solo@T4' of corun"},
      {"x=solo_s@T4*0", "--columns: found 'x=solo_s@T4*0': expected a factor"},
      {"x=solo_s@T4", "t.csv:1:5: column 'solo_s@T4' is named a second time (first at column 3)"},
      {"x=solo_s@K80*1e9",
       "t.csv:2:3: column 'x' (solo_s@K80) is '1', expected '-' (does not run "
       "there) or a number of seconds, from 0.000000001 to 90000000; "},
  };
  for (const auto& [columns, expected] : cases) {
    const std::string error =
        error_of_renamed("t,x,solo_s@T4,y,s\n0,1,1,1,1\n", "t=submit_s,s=solo_s,y=," + columns);
    EXPECT_EQ(error.substr(0, expected.size()), expected) << columns;
  }
}

TEST(JobCsv, LeavesOutJobsOfALogThatDidNotRunAndCountsThem) {
  const Trace trace = read_renamed("id,t,d,n\na,0,10,1\nb,1,0,1\nc,2,,1\nd,3,10,0\na,4,10,2.0\n",
                                   "id=job,t=submit_s,d=solo_s,n=gpus");
  EXPECT_EQ(names_of(trace), (std::vector<std::string_view>{"a", "a#5"}));
  EXPECT_EQ(trace.jobs[1].spec.gpus, 2);
  EXPECT_EQ(test::texts(trace),
            (std::vector<std::string>{"2 jobs without run time (the first on line 3)",
                                      "1 job without GPUs (on line 5)"}));
}

TEST(JobCsv, ReadsClockTimesOfALog) {
  const Trace trace =
      read_renamed("t,Elapsed\n0,00:01:23\n0,2-03:00:00\n", "t=submit_s,Elapsed=solo_s");
  EXPECT_EQ(trace.jobs[0].spec.work, std::chrono::seconds(83));
  EXPECT_EQ(trace.jobs[1].spec.work, std::chrono::hours(51));
  for (const std::string bad : {"00:60:00", "1:2:3", "-1-00:00:00", "00:01:23.", "x-00:00:01"}) {
    EXPECT_NE(error_of_renamed("t,Elapsed\n0," + bad + "\n", "t=submit_s,Elapsed=solo_s")
                  .find("(solo_s) is '" + bad),
              std::string::npos)
        << bad;
  }
}

TEST(JobCsv, ReadsDatesFromTheFirstSubmission) {
  WorkloadKeys keys;
  const Trace trace = read("submit_s,solo_s\n2020-06-09 18:42:01,1\n2020-06-09T18:41:01,2\n", keys);
  EXPECT_EQ(trace.jobs[0].spec.submit, std::chrono::seconds(60));
  EXPECT_EQ(trace.jobs[1].spec.submit, std::chrono::seconds(0));
  EXPECT_EQ(error_of("submit_s,solo_s\n2020-06-09 18:42:01,1\n7,2\n")
                .find("t.csv:3:1: column 'submit_s' is '7', expected a date such as"),
            0U);
  EXPECT_EQ(error_of("submit_s,solo_s\n7,1\n2020-06-09 18:42:01,2\n")
                .find("t.csv:3:1: column 'submit_s' is '2020-06-09 18:42:01', expected a number"),
            0U);
}

TEST(JobCsv, NamesThePlaceOfEveryMistakeInRenamedColumns) {
  const std::string text = "t,d\n0,x\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "--columns: found '': expected THEIRS=OURS"},
      {"t", "--columns: found 't': expected THEIRS=OURS"},
      {"=submit_s", "--columns: found '=submit_s': expected THEIRS=OURS"},
      {"t=submit",
       "--columns: found 't=submit': no column 'submit' of corun; did you mean 'submit_s'?"},
      {"t=submit_s,t=solo_s",
       "--columns: found 't=submit_s' and 't=solo_s', expected each column once"},
      {"t=submit_s,d=submit_s", "--columns: found 't=submit_s' and 'd=submit_s', expected each"},
      {"t=job*2", "--columns: found 't=job*2': a factor is for numbers, and job is a text"},
      {"t=solo_s*0", "--columns: found 't=solo_s*0': expected a factor from 1e-12"},
      {"t=*2", "--columns: found 't=*2': no column '' of corun"},
      {"tt=submit_s,d=solo_s",
       "t.csv:1:1: the header has no column 'tt', expected it to be read as submit_s; known: t, d"},
      {"t=submit_s,d=solo_s,e=",
       "t.csv:1:1: the header has no column 'e', expected it to be left out; "},
      {"t=submit_s,d=solo_s",
       "t.csv:2:3: column 'd' (solo_s) is 'x', expected a number of seconds"},
      {"t=solo_s,d=", "t.csv:1:1: the header has no column 'submit_s', "},
  };
  for (const auto& [columns, expected] : cases) {
    const std::string error = error_of_renamed(text, columns);
    EXPECT_EQ(error.substr(0, expected.size()), expected) << columns;
    EXPECT_EQ(error.find('\n'), std::string::npos) << columns;
  }
}

TEST(JobCsv, AMissingFileIsAnInputError) {
  WorkloadKeys keys;
  EXPECT_THROW(read_job_csv("/nonexistent.csv", keys), InputError);
}

TEST(JobCsv, TheEmbeddedQueueSurvivesTheFile) {
  WorkloadKeys keys;
  expect_round_trip(jrs_queue_trace(keys), keys);
  expect_round_trip(jrs_resampled_trace(keys, 300, 60.0, 7), keys);
}

/// A trace with all features of the format, drawn from `rng`.
Trace random_trace(Rng& rng, WorkloadKeys& keys) {
  const std::vector<std::string> odd = {"", ",", "\"", " ", "ü", "'", "#", "\"\"", ", \""};
  const auto some = [&](double most) -> std::optional<double> {
    if (rng.below(3) == 0) return std::nullopt;
    return rng.below(5) == 0 ? most : rng.uniform() * most;
  };
  const auto ns = [&](double most) {
    return Duration{static_cast<std::int64_t>(rng.uniform() * most) + 1};
  };
  Trace trace;
  for (const char* type : {"T4", "A100, 40 GB"}) {
    if (rng.below(2) == 0) trace.measured_types.push_back({type});
  }
  const std::uint32_t jobs = rng.below(20) + 1;
  for (std::uint32_t i = 0; i < jobs; ++i) {
    JobSpec job;
    job.submit = rng.below(3) == 0 ? Time{0} : ns(rng.below(2) == 0 ? 4e18 : 1e11);
    job.work = ns(rng.below(2) == 0 ? 9e16 : 1e12);
    job.gpus = static_cast<int>(rng.below(64)) + 1;
    job.priority = static_cast<int>(rng.below(100)) - 50;
    job.profile = {some(100), some(1000), some(100), some(80000), rng.below(2) == 0};
    if (rng.below(2) == 0) job.profile.packing_label = static_cast<int>(rng.below(3));
    job.request = {rng.below(100000), rng.below(1000000)};
    if (rng.below(2) == 0) job.epoch = ns(1e12);
    const std::string& text = odd[rng.below(static_cast<std::uint32_t>(odd.size()))];
    const int cluster = static_cast<int>(rng.below(5)) - 1;
    const double uncertainty = some(400).value_or(kUnknownUncertainty);
    trace.jobs.push_back({job, std::to_string(i) + text, keys.of(text), cluster, uncertainty});
    for (std::size_t t = 0; t < trace.measured_types.size(); ++t) {
      const double solo_s =
          some(9e7).value_or(rng.below(2) == 0 ? kNaN : std::numeric_limits<double>::infinity());
      trace.jobs.back().on_types.push_back({solo_s, i == 0 ? 1 : some(80000).value_or(kNaN)});
    }
  }
  return trace;
}

TEST(JobCsv, PackingLabelsAreAColumn) {
  WorkloadKeys keys;
  const Trace trace = read("job,submit_s,solo_s,packing_label\na,0,9,2\nb,0,9,\n", keys);
  EXPECT_EQ(trace.jobs[0].spec.profile.packing_label, 2);
  EXPECT_FALSE(trace.jobs[1].spec.profile.packing_label);
  EXPECT_NE(write(trace, keys).find(",packing_label\n"), std::string::npos);
  EXPECT_TRUE(error_of("job,submit_s,solo_s,packing_label\na,0,9,3\n")
                  .starts_with("t.csv:2:7: column 'packing_label' is '3', expected a label"));
}

TEST(JobCsv, WhatIsWrittenIsRead) {
  for (std::uint64_t i = 0; i < 300; ++i) {
    Rng rng(2, Stream::kTest, i);
    WorkloadKeys keys;
    const Trace trace = random_trace(rng, keys);
    SCOPED_TRACE(i);
    expect_round_trip(trace, keys);
  }
}

TEST(JobCsv, SurvivesPrefixesAndMutations) {
  Rng draw(3, Stream::kTest);
  WorkloadKeys keys;
  const std::string text = write(random_trace(draw, keys), keys);
  int refused = 0;
  const auto check = [&](const std::string& hostile) {
    const std::string message = error_of(hostile);  // any other exception fails the test
    if (message == "no error") return;
    ++refused;
    EXPECT_TRUE(message.starts_with("t.csv:")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  for (std::size_t n = 0; n <= text.size(); ++n) check(text.substr(0, n));
  for (std::uint64_t i = 0; i < 5000; ++i) {
    Rng rng(4, Stream::kTest, i);
    std::string hostile = text;
    for (std::uint32_t k = rng.below(3) + 1; k > 0; --k) {
      const std::size_t at = rng.below(static_cast<std::uint32_t>(hostile.size()));
      const char likely = "\",\n\r-.e9"[rng.below(8)];
      hostile[at] = rng.below(2) == 0 ? likely : static_cast<char>(rng.below(256));
    }
    check(hostile);
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace corun::job_csv_test
