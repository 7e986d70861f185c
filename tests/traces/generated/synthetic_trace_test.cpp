#include "traces/generated/synthetic_trace.hpp"

#include <cmath>
#include <cstddef>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/trace_columns.hpp"
#include "traces/job_csv.hpp"
#include "traces/trace_statistics.hpp"

namespace corun::synthetic_trace_test {
namespace {

Trace small_trace() {
  Trace trace;
  trace.virtual_clusters = {"a", "b"};
  for (int i = 0; i < 40; ++i) {
    JobSpec job;
    job.submit = std::chrono::seconds(10 * i);
    job.gpus = i % 4 == 0 ? 8 : 1;
    job.gpu_milli = i % 4 == 1 ? 250 : 1000;
    job.work = std::chrono::seconds(job.gpus == 8 ? 1000 + i : 10 + i);
    job.virtual_cluster = job.gpus == 8 ? 1 : 0;
    trace.jobs.push_back({job, std::to_string(i)});
  }
  return trace;
}

TEST(SyntheticTrace, OffersTheLoadThatWasAskedFor) {
  const Trace like = small_trace();
  for (const Trace* model : {static_cast<const Trace*>(nullptr), &like}) {
    for (const ArrivalPattern pattern :
         {ArrivalPattern::kPoisson, ArrivalPattern::kBursty, ArrivalPattern::kDiurnal}) {
      SyntheticOptions options;
      options.jobs = 100'000;
      options.pattern = pattern;
      options.variation = 3;
      options.load = 0.7;
      options.gpus = 100;
      options.like = model;
      const TraceStatistics s = trace_statistics(synthetic_trace(options));
      // Lognormal run times of sigma 2 and bursts with variation 3 leave some 2 % at this length.
      EXPECT_NEAR(*offered_load(s, 100), 0.7, 0.06) << static_cast<int>(pattern);
    }
  }
}

TEST(SyntheticTrace, ArrivalsHaveTheirShape) {
  SyntheticOptions options;
  options.jobs = 50'000;
  options.rate = 0.5;
  EXPECT_NEAR(*trace_statistics(synthetic_trace(options)).arrival_variation, 1, 0.02);
  options.pattern = ArrivalPattern::kBursty;
  options.variation = 4;
  EXPECT_NEAR(*trace_statistics(synthetic_trace(options)).arrival_variation, 4, 0.4);
  options.pattern = ArrivalPattern::kDiurnal;
  options.rate = 0.05;
  const Trace trace = synthetic_trace(options);
  EXPECT_NEAR(*trace_statistics(trace).arrivals_per_hour, 180, 6);
  int day = 0, night = 0;
  for (const JobSpec& job : test::specs_of(trace)) {
    const double hour = std::fmod(to_seconds(job.submit), 86400) / 3600;
    day += hour >= 12 && hour < 18 ? 1 : 0;
    night += hour < 6 ? 1 : 0;
  }
  // Means of 1 + 0.8 cos over six hours around the peak and the trough: 1 +- 0.8 * 2 sqrt(2) / pi.
  EXPECT_NEAR(static_cast<double>(day) / night, 1.72 / 0.28, 0.6);
}

TEST(SyntheticTrace, JobsAreLikeThoseOfTheTrace) {
  const Trace like = small_trace();
  SyntheticOptions options;
  options.jobs = 20'000;
  options.like = &like;
  const Trace trace = synthetic_trace(options);
  EXPECT_EQ(trace.virtual_clusters, like.virtual_clusters);
  std::size_t gangs = 0, shares = 0;
  double gang_work = 0;
  for (const JobSpec& job : test::specs_of(trace)) {
    ASSERT_TRUE(job.gpus == 1 || job.gpus == 8);
    ASSERT_EQ(job.virtual_cluster, job.gpus == 8 ? 1U : 0U);
    shares += job.gpu_milli == 250 ? 1 : 0;
    if (job.gpus == 1) {
      ASSERT_GE(job.work, std::chrono::seconds(11));
      ASSERT_LE(job.work, std::chrono::seconds(49));
      continue;
    }
    ++gangs;
    gang_work += to_seconds(job.work);
    ASSERT_GE(job.work, std::chrono::seconds(1000));
    ASSERT_LE(job.work, std::chrono::seconds(1036));
  }
  EXPECT_NEAR(static_cast<double>(gangs) / 20'000, 0.25, 0.015);
  EXPECT_NEAR(static_cast<double>(shares) / 20'000, 0.25, 0.015);
  EXPECT_NEAR(gang_work / static_cast<double>(gangs), 1018, 1.5);
}

TEST(SyntheticTrace, TheSameSeedGivesTheSameAndALongerTraceBeginsWithTheShorter) {
  for (const ArrivalPattern pattern :
       {ArrivalPattern::kPoisson, ArrivalPattern::kBursty, ArrivalPattern::kDiurnal}) {
    SyntheticOptions options;
    options.pattern = pattern;
    options.jobs = 100;
    const Trace shorter = synthetic_trace(options);
    options.jobs = 200;
    const Trace longer = synthetic_trace(options);
    options.seed = 2;
    const Trace other = synthetic_trace(options);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < 100; ++i) {
      ASSERT_EQ(shorter.jobs[i].spec.submit, longer.jobs[i].spec.submit);
      ASSERT_EQ(shorter.jobs[i].spec.work, longer.jobs[i].spec.work);
      differ += other.jobs[i].spec.work != longer.jobs[i].spec.work ? 1 : 0;
    }
    EXPECT_GT(differ, 90U);
  }
}

TEST(SyntheticTrace, RefusesArrivalsBeyondTheEndOfTime) {
  SyntheticOptions options;
  options.jobs = 10;
  options.rate = 1e-10;
  for (const ArrivalPattern pattern :
       {ArrivalPattern::kPoisson, ArrivalPattern::kBursty, ArrivalPattern::kDiurnal}) {
    options.pattern = pattern;
    options.amplitude = 1;
    EXPECT_THROW(synthetic_trace(options), InputError);
  }
}

TEST(SyntheticTrace, SoloTimesOnOtherTypesKeepTheirRatioToTheWork) {
  std::istringstream in(
      "submit_s,solo_s,gpus,solo_s@T4,mem_used_mib@T4,solo_s@K80\n"
      "0,100,1,200,500,-\n5,300,1,600,500,\n9,50,2,50,700,9e7\n");
  WorkloadKeys keys;
  Trace like = read_job_csv(in, "like", keys);
  like.reference_type = "V100";
  SyntheticOptions options;
  options.jobs = 200;
  options.rate = 0.1;
  options.like = &like;
  const Trace trace = synthetic_trace(options);
  EXPECT_EQ(trace.reference_type, "V100");
  ASSERT_EQ(trace.measured_types.size(), 2U);
  std::size_t longer = 0;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const double work_s = to_seconds(trace.jobs[j].spec.work);
    const bool gang = trace.jobs[j].spec.gpus == 2;
    EXPECT_NEAR(on_type(trace.jobs[j], 0).solo_s, work_s * (gang ? 1 : 2), 1e-9 * work_s);
    EXPECT_EQ(on_type(trace.jobs[j], 0).memory_mib, gang ? 700 : 500);
    const double on_k80 = on_type(trace.jobs[j], 1).solo_s;
    EXPECT_EQ(std::isfinite(on_k80), gang);
    if (gang) EXPECT_LE(on_k80, kLongestSoloS) << "can be written as a file of jobs";
    longer += work_s != 100 && work_s != 300 && work_s != 50 ? 1 : 0;
  }
  EXPECT_GT(longer, 0U);
}

TEST(TraceStatistics, ClosedForm) {
  Trace trace;
  for (int i = 0; i < 3; ++i) {
    JobSpec job;
    job.submit = std::chrono::seconds(1800 * i);
    job.work = std::chrono::seconds(100 * (i + 1));
    job.gpus = i == 2 ? 4 : 1;
    job.gpu_milli = i == 0 ? 500 : 1000;
    trace.jobs.push_back({job, std::to_string(i)});
  }
  const TraceStatistics s = trace_statistics(trace);
  EXPECT_DOUBLE_EQ(s.gpus, 5.5);
  EXPECT_DOUBLE_EQ(s.gpu_s, 50 + 200 + 1200);
  EXPECT_DOUBLE_EQ(*s.arrivals_per_hour, 2);
  EXPECT_DOUBLE_EQ(*s.arrival_variation, 0);
  EXPECT_DOUBLE_EQ(s.work_quantiles_s[3], 200);
  EXPECT_DOUBLE_EQ(*offered_load(s, 10), 1450.0 / 36000);
  EXPECT_EQ(s.sharing, 1U);
  ASSERT_EQ(s.gangs.size(), 2U);
  EXPECT_EQ(s.gangs[1].gpus, 4);
}

}  // namespace
}  // namespace corun::synthetic_trace_test
