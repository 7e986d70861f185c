#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/csv_text.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/left_out.hpp"
#include "tests/helpers/public_data.hpp"
#include "tests/helpers/temporary_directory.hpp"
#include "tests/helpers/trace_columns.hpp"
#include "traces/catalog.hpp"
#include "traces/job_csv.hpp"
#include "traces/logs/log_profiles.hpp"
#include "traces/public_formats/batsim.hpp"
#include "traces/public_formats/openb.hpp"
#include "traces/public_formats/philly.hpp"
#include "traces/trace_statistics.hpp"

/// Logs of jobs in the forms in which people have them.
namespace corun::logs_test {
namespace {

constexpr std::string_view kColumns = "id=job,when=submit_s,dur=solo_s,n=gpus";

/// Reads the bytes as a file of this name, in the format that is recognised or, with columns, as CSV.
Trace read(const std::string& bytes, std::string_view columns = {}, LogRules rules = {},
           const std::string& name = "log.csv") {
  const test::TemporaryDirectory folder;
  TraceRequest request;
  request.path = folder.write(name, bytes);
  request.rules = rules;
  if (!columns.empty()) request.columns = parse_renamed_columns(std::string(columns), "--columns");
  const TraceEntry& entry = columns.empty() ? recognise_trace(request.path) : *find_trace("csv");
  WorkloadKeys keys;
  return entry.make(request, keys);
}

std::string error_of(const std::string& bytes, std::string_view columns = {}, LogRules rules = {},
                     const std::string& name = "log.csv") {
  try {
    read(bytes, columns, rules, name);
  } catch (const InputError& e) {
    std::string text = e.what();
    const std::size_t at = text.find(name);
    return at == std::string::npos ? text : text.substr(at);
  }
  return "read";
}

/// The advice on a CSV whose columns nobody renamed.
std::string advice_on(const std::string& bytes) {
  std::istringstream in(bytes);
  WorkloadKeys keys;
  try {
    read_job_csv(in, "log.csv", keys);
  } catch (const InputError& e) {
    return e.what();
  }
  return "read";
}

double gpu_hours(const Trace& trace) { return trace_statistics(trace).gpu_s / 3600; }

std::vector<double> submits(const Trace& trace) {
  std::vector<double> all;
  for (const JobSpec& job : test::specs_of(trace))
    all.push_back(static_cast<double>(job.submit.count()) / 1e9);
  return all;
}

std::vector<double> lengths(const Trace& trace) {
  std::vector<double> all;
  for (const JobSpec& job : test::specs_of(trace))
    all.push_back(static_cast<double>(job.work.count()) / 1e9);
  return all;
}

// ---- rows that are no jobs ----------------------------------------------------------------------

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

TEST(Logs, StepsOfJobsAreNoJobs) {
  const std::string sacct =
      "JobID|Submit|Elapsed|State|NGPUs\n"
      "71|2025-02-03T08:00:00|02:00:00|COMPLETED|4\n"
      "71.batch|2025-02-03T08:00:10|02:00:00|COMPLETED|4\n"
      "71.extern|2025-02-03T08:00:10|02:00:00|COMPLETED|\n"
      "71.0|2025-02-03T08:00:15|01:59:00|COMPLETED|4\n"
      "72|2025-02-03T08:30:00|00:30:00|FAILED|1\n"
      "72.interactive|2025-02-03T08:31:00|00:30:00|FAILED|1\n";
  const Trace trace = read(sacct, "JobID=job,Submit=submit_s,Elapsed=solo_s,NGPUs=gpus");
  EXPECT_EQ(names_of(trace), (std::vector<std::string_view>{"71", "72"}));
  EXPECT_DOUBLE_EQ(gpu_hours(trace), 8.5);
  EXPECT_EQ(test::texts(trace), (std::vector<std::string>{"4 job steps (the first on line 3)"}));
  ASSERT_EQ(trace.states.size(), 2U);
  EXPECT_EQ(trace.states[0].state, "completed");
  // Numbers with a point, as pandas writes them, are names.
  EXPECT_EQ(read("id,when,dur\n1.0,0,5\n2.0,0,5\n", "id=job,when=submit_s,dur=solo_s").jobs.size(),
            2U);
}

TEST(Logs, JobsThatDidNotEndAreCountedOut) {
  const std::string sacct =
      "JobID|Submit|Elapsed|State|NGPUs\n"
      "1|2025-02-03T08:00:00|01:00:00|COMPLETED|1\n"
      "2|2025-02-03T08:10:00|03:00:00|RUNNING|4\n"
      "3|2025-02-03T08:20:00|00:00:00|PENDING|4\n"
      "4|2025-02-03T08:20:00|00:10:00|CANCELLED by 17|2\n";
  const std::string columns = "JobID=job,Submit=submit_s,Elapsed=solo_s,NGPUs=gpus";
  const Trace trace = read(sacct, columns);
  EXPECT_EQ(names_of(trace), (std::vector<std::string_view>{"1", "4"}));
  EXPECT_EQ(test::texts(trace),
            (std::vector<std::string>{"1 job still running when the log ends (on line 3)",
                                      "1 job that never ran (on line 4)"}));
  LogRules only;
  only.states = parse_chosen_states("completed", "--states");
  EXPECT_EQ(names_of(read(sacct, columns, only)), (std::vector<std::string_view>{"1"}));
  only.states = parse_chosen_states("ended,running", "--states");
  EXPECT_EQ(names_of(read(sacct, columns, only)), (std::vector<std::string_view>{"1", "2", "4"}));
  EXPECT_THROW(parse_chosen_states("happy", "--states"), InputError);
  LogRules strict;
  strict.strict = true;
  EXPECT_EQ(error_of(sacct, columns, strict),
            "log.csv:3: job still running when the log ends, expected none with --strict; correct "
            "the row, or "
            "leave --strict out");
}

TEST(Logs, AnAbsentValueIsNotTheDefaultOfAnAbsentColumn) {
  const Trace trace = read(
      "id,when,dur,n\n1,0,600,1\n2,10,-1,1\n3,20,NaN,1\n4,30,None,1\n5,40,N/"
      "A,1\n6,50,,1\n7,60,300,2\n8,70,5,\n"
      "9,80,5,\\N\n,90,5,1\n",
      kColumns);
  EXPECT_EQ(names_of(trace), (std::vector<std::string_view>{"1", "7", "#10"}));
  EXPECT_EQ(test::texts(trace),
            (std::vector<std::string>{"5 jobs without run time (the first on line 3)",
                                      "2 jobs without GPUs (the first on line 9)"}));
  // Text that stands for nothing is a mistake.
  EXPECT_EQ(error_of("id,when,dur,n\n1,0,12x4,1\n", kColumns)
                .find("log.csv:2:5: column 'dur' (solo_s) is '12x4'"),
            0U);
}

TEST(Logs, MostRowsMustBeJobs) {
  const std::string header = "id,when,dur,n\n";
  EXPECT_EQ(read(header + "1,0,5,1\n2,,5,1\n", kColumns).jobs.size(), 1U);
  EXPECT_EQ(error_of(header + "1,0,5,1\n2,,5,1\n3,NaN,5,1\n", kColumns),
            "log.csv:1:1: 2 of 3 rows could not be read as jobs, expected at most half; left out "
            "were 2 jobs "
            "without submit time (the first on line 3); are the columns the right ones?");
  EXPECT_NE(error_of(header + "1,0,-1,1\n", kColumns).find("no job is left"), std::string::npos);
}

TEST(Logs, PodsThatNeverRanAreCountedOut) {
  const std::string header =
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_"
      "time,"
      "scheduled_time\n";
  const Trace trace = read(header +
                           "p0,4000,8192,1,1000,,LS,Succeeded,1000,1700,1100\n"
                           "p1,4000,8192,1,500,,BE,Failed,1200,1500,1210\n"
                           "p2,4000,8192,1,1000,,BE,Pending,2000,2125,\n"
                           "p3,4000,8192,8,1000,,BE,Succeeded,2100,5700,\n"
                           "p4,4000,8192,1,500,,LS,Running,0,,0\n"
                           "p5,4000,8192,1,1000,,LS,Running,500,10000,600\n");
  EXPECT_EQ(names_of(trace), (std::vector<std::string_view>{"p0", "p1", "p5"}));
  EXPECT_EQ(lengths(trace), (std::vector<double>{600, 290, 9400}));
  EXPECT_EQ(test::texts(trace),
            (std::vector<std::string>{"1 job that never ran (on line 4)",
                                      "1 job never scheduled (on line 5)",
                                      "1 job still running when the log ends (on line 6)"}));
  EXPECT_EQ(
      trace.assumptions,
      (std::vector<std::string>{"1 pod of phase Running: the deletion_time is taken as the end"}));
}

TEST(Logs, OpenbCountsItsPendingPodsOut) {
  const std::string file = "openb/openb_pod_list_default.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  const Trace trace = read_openb_pods(test::public_data(file));
  std::size_t never = 0;
  for (const LeftOut& l : trace.left_out) never += l.reason == "that never ran" ? l.rows : 0;
  EXPECT_EQ(never, 897U);
  EXPECT_EQ(trace.jobs.size(), 6203U);
}

// ---- cells --------------------------------------------------------------------------------------

TEST(Logs, DatesInTheirForms) {
  const std::vector<std::pair<std::string, std::string>> forms = {
      {"2024-05-17T11:00:00Z", "2024-05-17T11:30:00Z"},
      {"2024-05-17 11:00", "2024-05-17 11:30"},
      {"2024/05/17 11:00:00", "2024/05/17 11:30:00"},
      {"2024-05-17 19:00:00+08:00", "2024-05-17 19:30:00+08:00"},
  };
  for (const auto& [first, second] : forms) {
    const Trace trace =
        read(joined({"id,when,dur,n\n1,", first, ",600,1\n2,", second, ",900,2\n"}), kColumns);
    EXPECT_EQ(submits(trace), (std::vector<double>{0, 1800})) << first;
    EXPECT_NEAR(gpu_hours(trace), 2400. / 3600, 1e-12) << first;
    const bool zone = first.ends_with('Z') || first.ends_with("08:00");
    EXPECT_EQ(std::ranges::count(trace.assumptions, "dates without a zone are taken as UTC"),
              zone ? 0 : 1)
        << first;
  }
  EXPECT_EQ(submits(read(
                "id,when,dur,n\n1,2024-05-17 11:00:00.250,600,1\n2,2024-05-17 11:30:00.750,900,2\n",
                kColumns)),
            (std::vector<double>{0, 1800.5}));
}

TEST(Logs, TimesSince1970InAnyUnit) {
  for (const std::string zeros : {"", "000", "000000", "000000000"}) {
    const Trace trace = read(
        joined({"id,when,dur,n\n1,1700000000", zeros, ",600,1\n2,1700000007", zeros, ",900,2\n"}),
        kColumns);
    EXPECT_EQ(submits(trace), (std::vector<double>{1'700'000'000, 1'700'000'007})) << zeros;
  }
  const Trace difference = read("id,from,to,n\n1,1700000000000,1700000000500,1\n",
                                "id=job,from=submit_s,to-from=solo_s,n=gpus");
  EXPECT_EQ(lengths(difference), (std::vector<double>{0.5}));
}

TEST(Logs, RunTimesInTheirForms) {
  EXPECT_EQ(
      lengths(
          read("id,when,dur,n\n1,0,240:00:00,1\n2,10,1:02:03,1\n3,20,00:10:00.500,1\n4,30,PT2H,1\n",
               kColumns)),
      (std::vector<double>{864'000, 3723, 600.5, 7200}));
}

TEST(Logs, GpusAsSlurmWritesThem) {
  const Trace trace = read(
      "JobID|Submit|Elapsed|State|AllocTRES\n"
      "51|2025-02-03T08:00:00|01:00:00|COMPLETED|billing=8,cpu=8,gres/gpu=2,mem=64G,node=1\n"
      "52|2025-02-03T08:10:00|01:00:00|COMPLETED|billing=8,cpu=8,gres/gpu:a100=4,gres/"
      "gpu=4,mem=64G,node=1\n"
      "53|2025-02-03T08:20:00|01:00:00|COMPLETED|cpu=16,gres/gpu:a100=1,gres/gpu:v100=2,node=2\n"
      "54|2025-02-03T08:30:00|01:00:00|COMPLETED|cpu=16,mem=4G,node=1\n"
      "55_[1-4]|2025-02-03T08:40:00|00:00:00|PENDING|\n",
      "JobID=job,Submit=submit_s,Elapsed=solo_s,AllocTRES=gpus");
  EXPECT_EQ(names_of(trace), (std::vector<std::string_view>{"51", "52", "53"}));
  EXPECT_DOUBLE_EQ(gpu_hours(trace), 9);
}

TEST(Logs, AJobRanOnTheGpuTypeThatSlurmNames) {
  const std::string log =
      "JobID|Submit|ElapsedRaw|State|AllocTRES|Partition\n"
      "51|2025-02-03T08:00:00|60|COMPLETED|gres/gpu:v100=2,gres/gpu=2|new\n"
      "52|2025-02-03T08:10:00|60|COMPLETED|gres/gpu:t4=1|old\n"
      "53|2025-02-03T08:20:00|60|COMPLETED|gres/gpu:t4=1,gres/gpu:v100=1|new\n"
      "54|2025-02-03T08:30:00|60|COMPLETED|gres/gpu=1|new\n";
  const Trace trace = read(log);
  EXPECT_EQ(trace.gpu_model_names, (std::vector<std::string>{"v100", "t4"}));
  std::vector<std::uint32_t> types;
  for (const JobSpec& job : test::specs_of(trace)) types.push_back(job.gpu_models);
  EXPECT_EQ(types, (std::vector<std::uint32_t>{1, 2, 0, 0})) << "two types, or none, say nothing";
  EXPECT_TRUE(std::ranges::any_of(trace.assumptions, [](const std::string& a) {
    return a.starts_with("a job whose AllocTRES names one GPU type ran on it");
  }));
  // A column of types says it better.
  const Trace told =
      read(log, "JobID=job,Submit=submit_s,ElapsedRaw=solo_s,AllocTRES=gpus,Partition=gpu_models");
  EXPECT_EQ(told.gpu_model_names, (std::vector<std::string>{"new", "old"}));
  EXPECT_EQ(told.jobs[2].spec.gpu_models, 1U);
}

TEST(Logs, PartsOfAGpu) {
  EXPECT_DOUBLE_EQ(
      gpu_hours(read("id,when,dur,n\n1,0,3600,0.5\n2,10,3600,0.25\n3,20,3600,2\n", kColumns)),
      2.75);
  EXPECT_DOUBLE_EQ(gpu_hours(read("id,when,dur,pct\n1,0,3600,50\n2,10,3600,25\n3,20,3600,100\n",
                                  "id=job,when=submit_s,dur=solo_s,pct=gpu_milli*10")),
                   1.75);
  const Trace gang = read("id,when,dur,n,m\n1,0,3600,4,500\n2,0,3600,3,500\n",
                          "id=job,when=submit_s,dur=solo_s,n=gpus,m=gpu_milli");
  EXPECT_EQ(gang.jobs[0].spec.gpus, 2);
  EXPECT_EQ(gang.jobs[1].spec.gpus, 2) << "1.5 GPUs";
  EXPECT_NE(
      std::ranges::find(gang.assumptions,
                        "1 job asks for more than one GPU and a part: rounded up to whole GPUs"),
      gang.assumptions.end());
}

TEST(Logs, MemoryWithItsUnit) {
  const Trace trace = read("id,when,dur,mem,host\n1,0,5,10G,64Gn\n2,0,5,4321 MiB,\n",
                           "id=job,when=submit_s,dur=solo_s,mem=mem_used_mib,host=memory_mib");
  EXPECT_EQ(trace.jobs[0].spec.profile.mem_used_mib, 10240);
  EXPECT_EQ(trace.jobs[0].spec.request.memory_mib, 65536);
  EXPECT_EQ(trace.jobs[1].spec.profile.mem_used_mib, 4321);
}

TEST(Logs, BlanksAndEmptyLinesMeanNothing) {
  EXPECT_EQ(lengths(read("id,when,dur,n\n1,0,600,1\n2,5,900,2\n\n\n", kColumns)),
            (std::vector<double>{600, 900}));
  EXPECT_EQ(lengths(read("id,when,dur,n\n\n1,0,600,1\n\r\n2,5,900,2\n", kColumns)),
            (std::vector<double>{600, 900}));
  EXPECT_NEAR(gpu_hours(read("id, when, dur, n\n1, 0, 600, 1\n2, 5, \"900\" , 2 \n", kColumns)),
              2400. / 3600, 1e-12);
}

TEST(Logs, DecimalCommasAfterSemicolons) {
  EXPECT_EQ(lengths(read("id;when;dur;n\n1;0;600,5;1\n2;5;900,25;2\n", kColumns)),
            (std::vector<double>{600.5, 900.25}));
}

TEST(Logs, TheByteThatIsNoTextIsNamed) {
  EXPECT_EQ(
      error_of("id,when,dur,n,user\n1,0,600,1,Ren\xe9\n2,5,900,2,x\n", kColumns).substr(0, 25),
      "log.csv:2:14: byte 0xe9 i");
}

// ---- columns ------------------------------------------------------------------------------------

TEST(Logs, ColumnsAreComputed) {
  const Trace trace = read(
      "job_name,gpu_request,worker_num,start,end,mem_gib,\"queue, "
      "s\"\n1,1,1,0,3600,2,0\n2,1,16,100,3700,2,0\n"
      "3,8,4,200,3800,2,0\n4,1,1,500,400,1,0\n",
      "job_name=job,worker_num*gpu_request=gpus,start-\"queue, s\"=submit_s,end-start=solo_s,"
      "mem_gib*1024=mem_used_mib");
  EXPECT_DOUBLE_EQ(gpu_hours(trace), 49);
  EXPECT_EQ(trace.jobs[0].spec.profile.mem_used_mib, 2048);
  EXPECT_EQ(test::texts(trace),
            (std::vector<std::string>{"1 job whose end is before its start (on line 5)"}));
  EXPECT_TRUE(trace.unread_columns.empty());
  EXPECT_EQ(error_of("a,b\n0,2e9\n", "a=submit_s,b*10=solo_s"),
            "log.csv:2:1: column 'b*10' (solo_s) is '2e9*10 = 2e+10', expected a number of "
            "seconds, from 0 to "
            "90000000; correct it");
  EXPECT_NE(error_of("a,b\n0,2\n", "a=submit_s,b-c=solo_s").find("the file has no column 'c'"),
            std::string::npos);
}

TEST(Logs, AdviceHasRegardToInstancesAndUnits) {
  const std::string spot = advice_on(
      "job_name,gpu_request,worker_num,submit_time,duration_h,mem_used_gib\n1,1,1,0,1,2\n");
  EXPECT_NE(spot.find("gpu_request*worker_num=gpus"), std::string::npos) << spot;
  EXPECT_NE(spot.find("duration_h=solo_s*3600"), std::string::npos) << spot;
  EXPECT_NE(spot.find("mem_used_gib=mem_used_mib*1024"), std::string::npos) << spot;
  const std::string ends = advice_on("id,submitted,started,ended\n1,0,1,2\n");
  EXPECT_NE(ends.find("ended-started=solo_s"), std::string::npos) << ends;
  const Trace alone = read("id,t,d,g,worker_num\n1,0,5,2,3\n", "id=job,t=submit_s,d=solo_s,g=gpus");
  EXPECT_NE(std::ranges::find_if(alone.assumptions,
                                 [](const std::string& a) {
                                   return a.find("g*worker_num=gpus") != std::string::npos;
                                 }),
            alone.assumptions.end());
}

// ---- formats ------------------------------------------------------------------------------------

TEST(Logs, EachProfileReadsItsLog) {
  struct Case {
    std::string format, text;
    std::vector<double> submit, length;
    std::vector<int> gpus;
  };
  const std::vector<Case> cases = {
      {"tiresias",
       "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,0,15747,resnet50,"
       "5249,117\n"
       "1,8,117,1305,resnet50,435,36\n",
       {0, 117},
       {5249, 435},
       {1, 8}},
      {"finished-jobs",
       "job,gpus,submit_s,duration_s,start_s,end_s,preemptions\n1,4,0,9275,0,23482,31\n"
       "2,1,14,9261,14,28683,18\n",
       {0, 14},
       {9275, 9261},
       {4, 1}},
      {"acme",
       "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
       "queue,gpu_time\n"
       "5,u,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 "
       "00:20:51+08:00,117,32,936.0\n"
       "6,u,1,8,128,Other,CANCELLED,2023-03-01 00:18:23+08:00,,,,,\n"
       "7,u,1,0,16,Other,COMPLETED,2023-03-01 00:18:24+08:00,2023-03-01 00:18:54+08:00,2023-03-01 "
       "00:20:51+08:00,117,32,0\n",
       {0},
       {117},
       {8}},
      {"alibaba-spot-2026",
       "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,"
       "job_type\n"
       "1,13,A10,20,1,1,0,3600,HP\n2,57,A100-SXM4-80GB,15,8,4,200,3600,Spot\n",
       {0, 200},
       {3600, 3600},
       {1, 32}},
      {"sacct",
       "JobID|User|State|Submit|ElapsedRaw|AllocTRES\n"
       "7|u|COMPLETED|2025-03-01T06:01:01|1440|cpu=8,gres/gpu:v100=2,gres/gpu=2\n"
       "7.batch||COMPLETED|2025-03-01T06:01:01|1440|cpu=8\n"
       "8|u|PENDING|2025-03-01T06:01:02|0|\n",
       {0},
       {1440},
       {2}},
      {"sacct-elapsed",
       "JobID|State|Submit|Elapsed|AllocTRES\n"
       "7|TIMEOUT|2025-03-01T06:01:01|1-00:24:00|gres/gpu=2\n",
       {0},
       {87'840},
       {2}},
      {"supercloud",
       "id_job,id_user,nodes_alloc,cpus_req,state,timelimit,time_submit,time_eligible,time_start,"
       "time_end,"
       "time_suspended,partition,tres_alloc\n"
       "3,2,1,40,3,240,1740808861,1740808861,1740808866,1740810306,0,x,\"1=40,2=170000,4=1,1001="
       "2\"\n"
       "4,2,1,40,1,240,1740808861,1740808861,1740808866,0,0,x,\"1=40,1001=2\"\n",
       {1'740'808'861},
       {1440},
       {2}},
      {"eagle",
       "job_id,user,account,partition,qos,state,submit_time,start_time,end_time,run_time,wallclock_"
       "req,nodes_req,"
       "processors_req,mem_req,gpus_req\n"
       "7,u,a,gpu,normal,COMPLETED,2025-03-01 06:01:01,2025-03-01 06:01:06,2025-03-01 "
       "06:25:06,1440,14400,1,36,"
       "184320,1\n",
       {0},
       {1440},
       {1}},
      {"kestrel",
       "id,job_id,array_range,account_hash,partition,qos,state,submit_time,start_time,end_time,"
       "nodes_req,"
       "processors_req,memory_req,wallclock_req,gpus_requested\n"
       "1,5,,7,gpu-h100s,normal,COMPLETED,2025-03-01 06:01:01,2025-03-01 06:01:06,2025-03-01 "
       "06:25:06,1,32,80G,"
       "04:00:00,1\n",
       {0},
       {1440},
       {1}},
  };
  for (const Case& c : cases) {
    const test::TemporaryDirectory folder;
    const std::string path = folder.write("log.csv", c.text);
    EXPECT_EQ(recognise_trace(path).name, c.format);
    const Trace trace = read(c.text);
    EXPECT_EQ(submits(trace), c.submit) << c.format;
    EXPECT_EQ(lengths(trace), c.length) << c.format;
    std::vector<int> gpus;
    for (const JobSpec& job : test::specs_of(trace)) gpus.push_back(job.gpus);
    EXPECT_EQ(gpus, c.gpus) << c.format;
  }
}

/// The rest of a known log needs no names.
TEST(Logs, ColumnsThatAUserGivesAddToThoseOfAKnownLog) {
  const std::string sacct =
      "User|Elapsed|JobID|JobName|State|AllocTRES|Submit\n"
      "ann|01:00:00|7|vit|COMPLETED|cpu=8,gres/gpu:v100=2,gres/gpu=2|2025-03-01T06:01:01\n"
      "|01:00:00|7.batch|vit|COMPLETED|cpu=8|2025-03-01T06:01:01\n"
      "bob|00:30:00|8|gpt2|FAILED|gres/gpu:t4=1,gres/gpu=1|2025-03-01T06:02:01\n";
  const Trace plain = read(sacct);
  const Trace named = read(sacct, "JobName=workload");
  EXPECT_EQ(lengths(named), (std::vector<double>{3600, 1800}));
  EXPECT_EQ(submits(named), submits(plain));
  EXPECT_NE(named.jobs[0].key, named.jobs[1].key);
  const auto carries = [](const Trace& trace, const std::string& name) {
    return std::ranges::find(trace.carried, name, &CarriedColumn::name) != trace.carried.end();
  };
  EXPECT_TRUE(carries(plain, "JobName") && !carries(named, "JobName"));
  EXPECT_TRUE(carries(plain, "User") && carries(named, "User"));
  EXPECT_NE(named.jobs[0].spec.gpu_models, 0U);
  // A column of the profile that the user reads otherwise.
  const Trace numbers = read(sacct, "AllocTRES*1=gpus");
  EXPECT_EQ(numbers.jobs[0].spec.gpus, 2);
  EXPECT_EQ(numbers.jobs[0].spec.gpu_models, 0U) << "the number alone";
  EXPECT_EQ(lengths(read(sacct, "Elapsed*2=solo_s")), (std::vector<double>{7200, 3600}));
  EXPECT_NE(error_of(sacct, "JobNam=workload").find("JobNam"), std::string::npos);
  EXPECT_NE(error_of(sacct, "JobNam=workload"), "read");
}

TEST(Logs, AProfileNeedsNoCode) {
  std::istringstream in(
      "name,has,columns,title\nmine,\"who,took\",\"who=job,began=submit_s,took=solo_s*60\","
      "minutes\n");
  const std::vector<LogProfile> profiles = parse_log_profiles(in, "mine.csv");
  ASSERT_EQ(profiles.size(), 1U);
  const test::TemporaryDirectory folder;
  const std::string path = folder.write("log.csv", "who;began;took\na;0;2\n");
  EXPECT_TRUE(looks_like_log({path, "who;began;took\n"}, profiles[0]));
  WorkloadKeys keys;
  EXPECT_EQ(lengths(read_log(path, profiles[0], keys, {})), (std::vector<double>{120}));
  for (const std::string bad :
       {"name,has,columns,title\na,x,y=z,\n", "name,has,columns,title\na,x,y=job,\na,x,y=job,\n"}) {
    std::istringstream wrong(bad);
    EXPECT_THROW(parse_log_profiles(wrong, "mine.csv"), InputError) << bad;
  }
}

TEST(Logs, AFileOfTwoFormatsIsRefused) {
  const std::string error = error_of(
      "job_id,vc,gpu_num,node_num,submit_time,duration,num_gpu,iterations,batch_size\n1,v,1,1,2020-"
      "06-09 "
      "18:41:01,5,1,1,1\n");
  EXPECT_NE(error.find("fits the formats helios and muri, expected one"), std::string::npos)
      << error;
}

TEST(Logs, PhillyAsLinesAndAsOneObject) {
  const std::string job =
      R"({"status": "Pass", "vc": "v", "jobid": "app_1", "attempts": [{"start_time": "2017-10-09 01:00:00", )"
      R"("end_time": "2017-10-09 02:00:00", "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}]}], )"
      R"("submitted_time": "2017-10-09 00:50:00", "user": "u"})";
  std::string second = job;
  second.replace(second.find("app_1"), 5, "app_2").replace(second.find("00:50:00"), 8, "00:55:00");
  const Trace lines = read(job + "\n" + second + "\n");
  EXPECT_EQ(submits(lines), (std::vector<double>{0, 300}));
  EXPECT_EQ(lengths(lines), (std::vector<double>{3600, 3600}));
  EXPECT_EQ(names_of(read(job)), (std::vector<std::string_view>{"app_1"}));
}

TEST(Logs, BatsimDelaysAreRunTimes) {
  const Trace trace = read(
      R"({"nb_res": 4, "jobs": [{"id": "1", "subtime": 0, "walltime": 100, "res": 4, "profile": "d10"},
          {"id": 2, "subtime": 5, "res": 1, "profile": "d60"}, {"id": "3", "subtime": 5, "res": 1, "profile": "x"},
          {"id": "4", "res": 1, "profile": "d60"}],
          "profiles": {"d10": {"type": "delay", "delay": 10}, "d60": {"type": "delay", "delay": 60},
                       "x": {"type": "parallel", "cpu": [1]}}})");
  EXPECT_EQ(names_of(trace), (std::vector<std::string_view>{"1", "2"}));
  EXPECT_EQ(lengths(trace), (std::vector<double>{10, 60}));
  EXPECT_EQ(trace.left_out.size(), 2U);
  for (const std::string bad : {"{\"jobs\": [], \"nb_res\": 1", "{\"jobs\": 1, \"nb_res\": 1}",
                                "{\"jobs\": [], \"nb_res\": 1, \"profiles\": {}}",
                                "{\"jobs\": [1], \"nb_res\": 1, \"profiles\": {}}"}) {
    EXPECT_NE(error_of(bad), "read") << bad;
  }
}

TEST(Logs, WrongFilesAreNamed) {
  using namespace std::string_literals;
  EXPECT_NE(error_of("PK\x03\x04rest"s, kColumns).find("zip archive"), std::string::npos);
  EXPECT_NE(error_of("\xfd"
                     "7zXZ\0rest"s,
                     kColumns)
                .find("xz archive"),
            std::string::npos);
  EXPECT_NE(error_of("BZh9rest"s, kColumns).find("bzip2"), std::string::npos);
  EXPECT_NE(error_of("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n", kColumns)
                .find("Git LFS"),
            std::string::npos);
  EXPECT_NE(
      error_of("JobID           JobName   Submit\n------------ ---------- -------\n61  train  1\n",
               "JobID=job,Submit=submit_s")
          .find("sacct -P"),
      std::string::npos);
}

// ---- generated logs -----------------------------------------------------------------------------

/// Writes logs whose truth it knows.
class LogWriter {
 public:
  explicit LogWriter(std::uint64_t seed) : rng_(seed, Stream::kTraceProfiles, 0) {}

  struct Row {
    bool is_job = true;
    std::string reason;  ///< of a row that is none
    std::int64_t submit_ns = 0;
    std::int64_t length_ns = 0;
    double gpus = 1;
  };

  std::string text;
  std::string columns;
  std::vector<Row> rows;
  bool dates = false;

  void write() {
    const bool difference = pick(3) == 0;
    const bool product = pick(3) == 0;
    const bool states = pick(2) == 0;
    separator_ = ",;\t|"[pick(4)];
    const std::uint32_t date_form = pick(8);
    dates = date_form < 5;
    columns = "id=job,when=submit_s,";
    columns += difference ? "stop-begin=solo_s" : "took=solo_s";
    columns += product ? ",each*count=gpus" : ",n=gpus";
    line({"id", "when", difference ? "begin" : "took", difference ? "stop" : "x",
          product ? "each" : "n", product ? "count" : "y", states ? "State" : "z"});
    const std::uint32_t count = 2 + pick(8);
    for (std::uint32_t i = 0; i < count; ++i) add_row(i, date_form, difference, product, states);
  }

 private:
  std::uint32_t pick(std::uint32_t n) { return rng_.below(n); }
  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[pick(static_cast<std::uint32_t>(all.size()))];
  }
  std::string absent() {
    static const std::vector<std::string> words = {"",    "NaN",  "None",   "N/A",
                                                   "\\N", "null", "INVALID"};
    return one_of(words);
  }
  void line(const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += separator_;
      if (pick(6) == 0 && separator_ != '\t') text += " ";
      const bool quote = cells[i].find(separator_) != std::string::npos;
      text += quote ? "\"" + cells[i] + "\"" : cells[i];
      if (pick(6) == 0 && separator_ != '\t') text += " ";
    }
    text += pick(4) == 0 ? "\r\n" : "\n";
    if (pick(10) == 0) text += "\n";
  }
  static std::string two(std::int64_t value) {
    return (value < 10 ? "0" : "") + std::to_string(value);
  }
  static std::string date(std::int64_t seconds, char mark, char between, bool with_seconds) {
    using namespace std::chrono;
    const auto day = floor<days>(sys_seconds(std::chrono::seconds(seconds)));
    const year_month_day d(day);
    const std::int64_t rest =
        seconds - duration_cast<std::chrono::seconds>(day.time_since_epoch()).count();
    return std::to_string(static_cast<int>(d.year())) + mark +
           two(static_cast<unsigned>(d.month())) + mark + two(static_cast<unsigned>(d.day())) +
           between + two(rest / 3600) + ":" + two(rest / 60 % 60) +
           (with_seconds ? ":" + two(rest % 60) : "");
  }
  std::string submit_cell(std::int64_t s, std::uint32_t form) {
    switch (form) {
      case 0:
        return date(s, '-', ' ', true);
      case 1:
        return date(s, '-', 'T', true) + "Z";
      case 2:
        return date(s + 8 * 3600, '-', ' ', true) + "+08:00";
      case 3:
        return date(s, '/', ' ', true);
      case 4:
        return date(s, '-', ' ', true) + ".000";
      case 5:
        return std::to_string(s) + "000";  // ms
      case 6:
        return std::to_string(s);
      default:
        return std::to_string(s) + ".0";
    }
  }
  std::string length_cell(std::int64_t s) {
    switch (pick(5)) {
      case 0:
        return std::to_string(s);
      case 1:
        return std::to_string(s / 3600) + ":" + two(s / 60 % 60) + ":" + two(s % 60);
      case 2:
        return std::to_string(s / 86400) + "-" + two(s / 3600 % 24) + ":" + two(s / 60 % 60) + ":" +
               two(s % 60);
      case 3:
        return "PT" + std::to_string(s) + "S";
      default:
        return std::to_string(s) + (separator_ == ';' ? ",0" : ".0");
    }
  }
  std::string gpus_cell(double gpus) {
    const auto whole = static_cast<std::int64_t>(gpus);
    if (gpus != std::floor(gpus))
      return pick(2) == 0 && gpus < 1 ? csv_number(gpus * 100) + " %" : csv_number(gpus);
    switch (pick(4)) {
      case 0:
        return std::to_string(whole) + ".0";
      case 1:
        return "gpu:a100:" + std::to_string(whole);
      case 2:
        return "cpu=8,gres/gpu=" + std::to_string(whole);
      default:
        return std::to_string(whole);
    }
  }
  void add_row(std::uint32_t i, std::uint32_t date_form, bool difference, bool product,
               bool states) {
    Row row;
    const std::int64_t submit_s = 1'600'000'000 + pick(1'000'000);
    const std::int64_t length_s = 1 + pick(200'000);
    row.submit_ns = submit_s * 1'000'000'000;
    row.length_ns = length_s * 1'000'000'000;
    const std::uint32_t count = 1 + pick(4);
    const double each = product ? 1 + pick(3) : one_of(std::vector<double>{1, 2, 8, 0.5, 0.25});
    row.gpus = product ? each * count : each;
    std::string when = submit_cell(submit_s, date_form);
    std::string begin = submit_cell(submit_s, date_form);
    std::string stop = submit_cell(submit_s + length_s, date_form);
    std::string took = length_cell(length_s);
    std::string gpus = gpus_cell(each);
    std::string state =
        one_of(std::vector<std::string>{"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 7", "odd"});
    std::string id = "j" + std::to_string(i);
    switch (pick(12)) {
      case 0:
        if (!states) break;
        state = one_of(std::vector<std::string>{"RUNNING", "R"});
        row = {false, "still running when the log ends"};
        break;
      case 1:
        if (!states) break;
        state = one_of(std::vector<std::string>{"PENDING", "PD"});
        row = {false, "that never ran"};
        break;
      case 2:
        gpus = pick(3) == 0 ? "0" : absent();
        row = {false, "without GPUs"};
        break;
      case 3:
        (difference ? stop : took) = absent();
        row = {false, "without run time"};
        break;
      case 4:
        id = "17.batch";
        row = {false, "job steps"};
        break;
      default:
        break;
    }
    line({id, when, difference ? begin : took, difference ? stop : "1", gpus,
          product ? std::to_string(count) : "", state});
    rows.push_back(row);
  }

  Rng rng_;
  char separator_ = ',';
};

void expect_generated_logs_are_read(std::uint64_t logs) {
  const test::TemporaryDirectory folder;
  for (std::uint64_t seed = 0; seed < logs; ++seed) {
    LogWriter log(seed);
    log.write();
    std::map<std::string, std::size_t> reasons;
    std::vector<LogWriter::Row> jobs;
    for (const auto& row : log.rows) {
      if (row.is_job)
        jobs.push_back(row);
      else
        ++reasons[row.reason];
    }
    const std::string path = folder.write("log.csv", log.text);
    WorkloadKeys keys;
    Trace trace;
    try {
      trace = read_job_csv(path, keys, parse_renamed_columns(log.columns, "--columns"));
    } catch (const InputError& e) {
      ASSERT_TRUE(jobs.empty()) << seed << ": " << e.what() << "\n"
                                << log.columns << "\n"
                                << log.text;
      continue;
    }
    ASSERT_EQ(trace.jobs.size(), jobs.size()) << seed << "\n" << log.text;
    std::int64_t first = jobs.front().submit_ns;
    for (const auto& job : jobs) first = std::min(first, job.submit_ns);
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const JobSpec& read = trace.jobs[j].spec;
      ASSERT_EQ(read.submit.count(), jobs[j].submit_ns - (log.dates ? first : 0)) << seed << "\n"
                                                                                  << log.text;
      ASSERT_EQ(read.work.count(), jobs[j].length_ns) << seed << "\n"
                                                      << log.columns << "\n"
                                                      << log.text;
      ASSERT_EQ(read.gpus * read.gpu_milli, std::llround(jobs[j].gpus * 1000)) << seed << "\n"
                                                                               << log.text;
    }
    std::map<std::string, std::size_t> found;
    for (const LeftOut& l : trace.left_out) found[l.reason] += l.rows;
    ASSERT_EQ(found, reasons) << seed << "\n" << log.text;
  }
}

TEST(Logs, GeneratedLogsAreReadExactlyOrCountedOut) { expect_generated_logs_are_read(1'000); }
TEST(Logs, TenThousandGeneratedLogsAreReadExactlyOrCountedOut) {  // in the optimised build
  expect_generated_logs_are_read(10'000);
}

}  // namespace
}  // namespace corun::logs_test
