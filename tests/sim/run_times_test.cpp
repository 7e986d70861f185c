#include "tests/helpers/run_times.hpp"

#include <gtest/gtest.h>

#include "sim/records/metrics.hpp"

/// J_c and J_a in the record of a run.
namespace corun::test::run_times_test {
namespace {

TEST(RunTimes, AreThoseOfTheRunsWhoseWorkCounts) {
  for (const TimedRun& t : timed_runs()) {
    const JobRecord& job = t.record.jobs[index(t.job)];
    EXPECT_EQ(job.solo, t.solo) << t.what;
    EXPECT_EQ(job.end == JobEnd::kFinished, t.corun.has_value()) << t.what;
    if (!t.corun) continue;
    EXPECT_EQ(job.corun(), *t.corun) << t.what;
    EXPECT_DOUBLE_EQ(job.isd(), to_seconds(*t.corun - t.solo) / to_seconds(t.solo)) << t.what;
  }
}

// The mean over the finished jobs of a run uses the same values.
TEST(RunTimes, TheMetricIsTheirMean) {
  const RunRecord run = preempted_once({std::chrono::seconds{2}, std::chrono::seconds{3}, 0.5});
  EXPECT_DOUBLE_EQ(at(compute_metrics(run), Metric::kIsd), 0.2);
}

}  // namespace
}  // namespace corun::test::run_times_test
