#include "traces/phase_table.hpp"

#include <chrono>
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "traces/job_csv.hpp"

/// Phases of the jobs of a trace.
namespace corun::phase_table_test {
namespace {

using namespace std::chrono_literals;

const std::string kJobs =
    "job,submit_s,solo_s,workload,gpu_util_pct,mem_used_mib\n"
    "a,0,100,x,50,4000\n"
    "b,5,60,x,,\n"
    "c,9,10,y,20,\n";

struct Read {
  explicit Read(const std::string& phases, const std::string& jobs = kJobs) {
    std::istringstream of_jobs(jobs);
    trace = read_job_csv(of_jobs, "jobs.csv", keys);
    std::istringstream of_phases(phases);
    read_phases(of_phases, "phases.csv", keys, trace);
  }

  WorkloadKeys keys;
  Trace trace;
};

std::string refusal(const std::string& phases) {
  try {
    const Read r(phases);
  } catch (const InputError& error) {
    return error.what();
  }
  return "read";
}

TEST(PhaseTable, OfJobsInSeconds) {
  const Read r(
      "job,solo_s,as,gpu_util_pct,mem_used_mib\n"
      "a,40,,30,2000\n"
      "c,10,z,,\n"
      "a,60,y,90,\n");
  const std::vector<TraceJob>& jobs = r.trace.jobs;
  ASSERT_EQ(r.trace.phases.size(), 3U);
  EXPECT_EQ(jobs[0].spec.phases, 2U);
  EXPECT_EQ(jobs[1].spec.phases, 0U);
  EXPECT_EQ(jobs[2].spec.phases, 1U);
  EXPECT_EQ(jobs[0].spec.work, 100s);
  EXPECT_EQ(jobs[0].spec.profile.gpu_util_pct, 30);
  const TraceJob& first = r.trace.phases[jobs[0].spec.first_phase];
  const TraceJob& second = r.trace.phases[jobs[0].spec.first_phase + 1];
  EXPECT_EQ(first.spec.work, 40s);
  EXPECT_EQ(first.spec.profile.mem_used_mib, 2000);
  EXPECT_EQ(first.key, jobs[0].key);
  EXPECT_EQ(second.spec.work, 60s);
  EXPECT_EQ(second.spec.profile.gpu_util_pct, 90);
  EXPECT_EQ(second.spec.profile.mem_used_mib, 4000) << "the job's own";
  EXPECT_EQ(r.keys.text(second.key), "y");
}

TEST(PhaseTable, OfAWorkloadInShares) {
  const Read r("workload,share\nx,0.25\nx,0.75\nunused,1\n");
  ASSERT_EQ(r.trace.phases.size(), 4U);
  EXPECT_EQ(r.trace.phases[0].spec.work, 25s);
  EXPECT_EQ(r.trace.phases[1].spec.work, 75s);
  EXPECT_EQ(r.trace.phases[2].spec.work, 15s);
  EXPECT_EQ(r.trace.phases[3].spec.work, 45s);
  EXPECT_EQ(r.trace.jobs[1].spec.first_phase, 2U);
}

TEST(PhaseTable, RoundingLeavesNoWorkOver) {
  std::string rows = "job,share\n";
  for (int i = 0; i < 3; ++i) rows += "c,0.3333333333\n";
  const Read r(rows + "c,0.0000000001\n");
  Duration sum{0};
  for (const TraceJob& phase : r.trace.phases) sum += phase.spec.work;
  EXPECT_EQ(sum, 10s);
}

TEST(PhaseTable, SpeedsOnTypesAreThoseOfTheJob) {
  const Read r("job,share\na,0.4\na,0.6\n", "job,submit_s,solo_s,solo_s@T4\na,0,100,200\nb,0,1,\n");
  EXPECT_DOUBLE_EQ(on_type(r.trace.phases[0], 0).solo_s, 80);
  EXPECT_DOUBLE_EQ(on_type(r.trace.phases[1], 0).solo_s, 120);
}

TEST(PhaseTable, WhatItRefuses) {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"job,solo_s\na,40\na,50\n",
            "phases.csv:3:3: the phases of job 'a' add up to 90 s, expected its solo_s 100"},
           {"job,share\na,0.4\na,0.5\n", "add up to 0.9, expected 1"},
           {"job,share\na,1\nd,1\n", "phases.csv:3:3: no job 'd'"},
           {"workload,share\nq,1\n", "no job is of the workload 'q'"},
           {"job,workload,share\na,x,1\n", "found both columns job and workload"},
           {"job,gpu_util_pct\na,1\n", "found neither column solo_s nor share"},
           {"job,share\na,\n", "phases.csv:2:3"},
           {"job,share\na,0\n", "phases.csv:2:3"},
           {"job,share\na,1.5\n", "phases.csv:2:3"},
           {"job,share\n", "no phases"},
           {"job,share,colour\na,1,red\n", "colour"},
           {"job,share\n,1\n", "phases.csv:2:1"}}) {
    EXPECT_NE(refusal(text).find(message), std::string::npos) << text << refusal(text);
  }
}

TEST(SpreadJobs, AreReadAndWritten) {
  WorkloadKeys keys;
  std::istringstream in(
      "job,submit_s,solo_s,gpus,steps,run_nodes,message_mib\na,0,10,4,100,2,97.5\nb,0,10,1,,,\n");
  const Trace trace = read_job_csv(in, "jobs.csv", keys);
  EXPECT_EQ(trace.jobs[0].run_nodes, 2);
  EXPECT_EQ(trace.jobs[0].message_mib, 97.5);
  EXPECT_DOUBLE_EQ(trace.jobs[0].step_s, 0.1);
  EXPECT_EQ(trace.jobs[1].run_nodes, 0);
  std::ostringstream out;
  write_job_csv(out, trace, keys);
  std::istringstream again(out.str());
  const Trace back = read_job_csv(again, "again.csv", keys);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_EQ(back.jobs[j].run_nodes, trace.jobs[j].run_nodes);
    EXPECT_EQ(back.jobs[j].message_mib, trace.jobs[j].message_mib);
    EXPECT_EQ(back.jobs[j].step_s, trace.jobs[j].step_s);
  }
  for (const char* row : {"0,", "1.5,", ",-1", ",0"}) {
    std::istringstream bad("job,submit_s,solo_s,gpus,steps,run_nodes,message_mib\na,0,10,4,100," +
                           std::string(row) + "\n");
    EXPECT_THROW(read_job_csv(bad, "bad.csv", keys), InputError) << row;
  }
}

TEST(ElasticJobs, AreReadAndWritten) {
  const std::string text =
      "job,submit_s,solo_s,gpus,gpus_min,gpus_max,parallel_share\na,0,10,2,1,4,0.9\nb,0,10,2,,3,\n"
      "c,0,10,1,,,\n";
  WorkloadKeys keys;
  std::istringstream in(text);
  const Trace trace = read_job_csv(in, "jobs.csv", keys);
  EXPECT_EQ(trace.jobs[0].spec.gpus_min, 1);
  EXPECT_EQ(trace.jobs[0].spec.gpus_max, 4);
  EXPECT_EQ(trace.jobs[0].parallel_share, 0.9);
  EXPECT_EQ(trace.jobs[1].spec.gpus_min, 2);
  EXPECT_EQ(trace.jobs[2].spec.gpus_max, 0);
  std::ostringstream out;
  write_job_csv(out, trace, keys);
  std::istringstream again(out.str());
  const Trace back = read_job_csv(again, "again.csv", keys);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(back.jobs[j].spec.gpus_min, trace.jobs[j].spec.gpus_min);
    EXPECT_EQ(back.jobs[j].spec.gpus_max, trace.jobs[j].spec.gpus_max);
    EXPECT_EQ(back.jobs[j].parallel_share, trace.jobs[j].parallel_share);
  }
  for (const char* row : {"2,3,,", "2,,1,", "2,0,,", "2,1,4,1.5"}) {
    std::istringstream bad("job,submit_s,solo_s,gpus,gpus_min,gpus_max,parallel_share\na,0,10," +
                           std::string(row) + "\n");
    EXPECT_THROW(read_job_csv(bad, "bad.csv", keys), InputError) << row;
  }
}

}  // namespace
}  // namespace corun::phase_table_test
