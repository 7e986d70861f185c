#include "traces/trace_cut.hpp"

#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/trace_columns.hpp"
#include "traces/job_csv.hpp"

/// Parts of a trace: which jobs are left, and when they are submitted.
namespace corun::trace_cut_test {
namespace {

/// Job "j<i>" is submitted at 10 i seconds and needs 1, 2, 4 or 8 GPUs in turn.
Trace trace_of(int jobs) {
  std::string text = "job,submit_s,solo_s,gpus,gpu_util_pct,virtual_cluster\n";
  for (int i = 0; i < jobs; ++i) {
    text += "j" + std::to_string(i) + "," + std::to_string(10 * i) + "," + std::to_string(i + 1) +
            "," + std::to_string(1 << (i % 4)) + "," + std::to_string(i % 100) + ",vc" +
            std::to_string(i % 3) + "\n";
  }
  std::istringstream in(text);
  WorkloadKeys keys;
  return read_job_csv(in, "test", keys);
}

std::set<std::string> names(const TraceCut& cut) {
  std::set<std::string> names;
  for (const TraceJob& job : cut.trace.jobs) names.insert(job.name);
  return names;
}

TEST(TraceCut, WithoutOptionsIsTheWholeTrace) {
  const Trace whole = trace_of(20);
  const TraceCut cut = cut_trace(whole, {});
  std::ostringstream before;
  std::ostringstream after;
  write_job_csv(before, whole, {});
  write_job_csv(after, cut.trace, {});
  EXPECT_EQ(before.str(), after.str());
  EXPECT_EQ(cut.outside + cut.too_large + cut.not_sampled, 0U);
}

TEST(TraceCut, TheWindowIsHalfOpenAndTimesCountFromItsBeginning) {
  const TraceCut cut = cut_trace(trace_of(10), {.from_s = 20, .to_s = 50});
  EXPECT_EQ(names_of(cut.trace), (std::vector<std::string_view>{"j2", "j3", "j4"}));
  EXPECT_EQ(cut.trace.jobs[0].spec.submit, Time{0});
  EXPECT_EQ(cut.trace.jobs[2].spec.submit, from_seconds(20));
  EXPECT_EQ(cut.trace.jobs[2].spec.work, from_seconds(5));
  EXPECT_EQ(cut.outside, 7U);
}

TEST(TraceCut, MeasurementsFollowTheirJobs) {
  std::istringstream in(
      "job,submit_s,solo_s,solo_s@T4,mem_used_mib@K80\na,0,1,2,\nb,10,1,-,300\nc,20,1,4,400\n");
  WorkloadKeys keys;
  Trace whole = read_job_csv(in, "test", keys);
  whole.reference_type = "V100";
  const TraceCut cut = cut_trace(whole, {.from_s = 10});
  EXPECT_EQ(cut.trace.reference_type, "V100");
  ASSERT_EQ(cut.trace.measured_types.size(), 2U);
  EXPECT_EQ(cut.trace.measured_types[0].name, "T4");
  EXPECT_EQ(test::solo_s_on(cut.trace, 0),
            (std::vector<double>{std::numeric_limits<double>::infinity(), 4}));
  EXPECT_EQ(cut.trace.measured_types[1].name, "K80");
  EXPECT_EQ(test::memory_mib_on(cut.trace, 1), (std::vector<double>{300, 400}));
}

TEST(TraceCut, GpusKeepsJobsThatNeedAtMostSoMany) {
  const TraceCut cut = cut_trace(trace_of(12), {.gpus = 2});
  for (const JobSpec& job : test::specs_of(cut.trace)) EXPECT_LE(job.gpus, 2);
  EXPECT_EQ(cut.trace.jobs.size(), 6U);
  EXPECT_EQ(cut.too_large, 6U);
}

TEST(TraceCut, ALargerSampleContainsASmallerOneInAnyWindow) {
  const Trace whole = trace_of(2000);
  const auto half = names(cut_trace(whole, {.sample = 0.5}));
  const auto third = names(cut_trace(whole, {.sample = 0.3}));
  EXPECT_NEAR(static_cast<double>(half.size()), 1000, 4 * 22.4);  // 4 standard deviations
  EXPECT_NEAR(static_cast<double>(third.size()), 600, 4 * 20.5);
  for (const std::string& name : third) EXPECT_TRUE(half.contains(name)) << name;
  for (const std::string& name : names(cut_trace(whole, {.from_s = 9000, .sample = 0.5}))) {
    EXPECT_TRUE(half.contains(name)) << name;
  }
  EXPECT_EQ(names(cut_trace(whole, {.sample = 0.5})), half);
  EXPECT_NE(names(cut_trace(whole, {.sample = 0.5, .seed = 2})), half);
}

TEST(TraceCut, ScaleLoadDividesSubmissionTimes) {
  const TraceCut twice = cut_trace(trace_of(4), {.from_s = 10, .load = 2});
  EXPECT_EQ(twice.trace.jobs[2].spec.submit, from_seconds(10));
  EXPECT_EQ(twice.trace.jobs[2].spec.work, from_seconds(4));
  const TraceCut third = cut_trace(trace_of(2), {.load = 1.0 / 3});
  EXPECT_EQ(third.trace.jobs[1].spec.submit, from_seconds(30));
  EXPECT_THROW(cut_trace(trace_of(2), {.load = 1e-9}), InputError);
}

}  // namespace
}  // namespace corun::trace_cut_test
