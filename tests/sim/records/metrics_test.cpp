#include "sim/records/metrics.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/summary.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/builders.hpp"

namespace corun::metrics_test {
namespace {

using namespace std::chrono_literals;
using test::G;
using test::J;

JobRecord record(Time submit, Time first, Time last, Time finish, Duration work, Duration solo) {
  JobRecord r;
  r.submit = submit;
  r.first_start = first;
  r.last_start = last;
  r.finish = finish;
  r.work = work;
  r.solo = solo;
  return r;
}

/// Two GPUs. A and B share GPU 0: A 0..90 of 60 s, B 0..130 of 100 s (submitted at 0 and 0). C on
/// GPU 1: submitted 10, started 20, ran out of memory once, started again at 60, ended at 110 on a
/// GPU of speed 2 (work 100 s, J_a 50 s). D failed.
RunRecord sample() {
  RunRecord run;
  run.gpu_count = 2;
  run.jobs = {record(0s, 0s, 0s, 90s, 60s, 60s), record(0s, 0s, 0s, 130s, 100s, 100s),
              record(10s, 20s, 60s, 110s, 100s, 50s), record(0s, 0s, 20s, 40s, 10s, 10s)};
  run.jobs[2].ooms = 1;
  run.jobs[2].profiling = 8s;
  run.jobs[3].ooms = 2;
  run.jobs[3].end = JobEnd::kFailed;
  run.episodes = {{G(1), 60s, 110s, {J(2)}, 50s, true}, {G(0), 0s, 130s, {J(0), J(1)}, 160s, true}};
  run.usage.busy = 200s;
  run.usage.util_s = 120;
  run.usage.util_known_s = 180;
  run.usage.mem_s = 45;
  run.usage.mem_known_s = 90;
  return run;
}

TEST(Metrics, EquationsOfTheRecord) {
  const RunRecord run = sample();
  EXPECT_DOUBLE_EQ(run.jobs[0].isd(), 0.5);
  EXPECT_DOUBLE_EQ(run.jobs[1].isd(), 0.3);
  EXPECT_DOUBLE_EQ(run.jobs[2].isd(), 0.0);  // J_c from the last start, J_a on the GPU of the run
  EXPECT_DOUBLE_EQ(*run.episodes[1].ps(), 30.0 / 160);
  EXPECT_EQ(EpisodeRecord{}.ps(), std::nullopt);
}

TEST(Metrics, ARunWithoutWorkHasNoSlowdown) {
  EXPECT_TRUE(std::isnan(record(0s, 0s, 5s, 5s, 10s, 0s).isd()));
  RunRecord run = sample();
  run.jobs[2].solo = 0s;
  const MetricValues m = compute_metrics(run);
  EXPECT_DOUBLE_EQ(at(m, Metric::kIsd), 0.8 / 2);
  EXPECT_DOUBLE_EQ(at(m, Metric::kJobs), 3);
  EXPECT_DOUBLE_EQ(at(m, Metric::kJctS), at(compute_metrics(sample()), Metric::kJctS));
}

TEST(Metrics, MeansByHand) {
  const MetricValues m = compute_metrics(sample());
  EXPECT_DOUBLE_EQ(at(m, Metric::kIsd), 0.8 / 3);
  EXPECT_DOUBLE_EQ(at(m, Metric::kIsdMax), 0.5);
  EXPECT_DOUBLE_EQ(at(m, Metric::kPs), (0.0 + 0.1875) / 2);  // unweighted over episodes
  EXPECT_DOUBLE_EQ(at(m, Metric::kPsTotal), (210.0 - 200) / 210);
  EXPECT_DOUBLE_EQ(at(m, Metric::kJctS), (90 + 130 + 100) / 3.0);
  EXPECT_DOUBLE_EQ(at(m, Metric::kQueueS), 10 / 3.0);
  EXPECT_DOUBLE_EQ(at(m, Metric::kStretch), (1.5 + 1.3 + 1.0) / 3);
  EXPECT_DOUBLE_EQ(at(m, Metric::kMakespanS), 130);
  EXPECT_DOUBLE_EQ(at(m, Metric::kLastEndS), 130);
  EXPECT_DOUBLE_EQ(at(m, Metric::kOccupancy), 200.0 / 260);
  EXPECT_DOUBLE_EQ(at(m, Metric::kGpuUtil), 120.0 / (260 - 20));
  EXPECT_DOUBLE_EQ(at(m, Metric::kMemUtil), 0.5);
  EXPECT_EQ(at(m, Metric::kOom), 3);
  EXPECT_EQ(at(m, Metric::kFailed), 1);
  EXPECT_EQ(at(m, Metric::kJobs), 3);
  EXPECT_DOUBLE_EQ(at(m, Metric::kProfilingS), 2);
}

// Jain: (sum x)^2 / (n sum x^2) of stretches 1.5, 1.3, 1.
TEST(Metrics, JainByHand) {
  const MetricValues m = compute_metrics(sample());
  EXPECT_DOUBLE_EQ(at(m, Metric::kJain), 3.8 * 3.8 / (3 * (2.25 + 1.69 + 1.0)));
  RunRecord equal = sample();
  equal.jobs.resize(1);
  EXPECT_DOUBLE_EQ(at(compute_metrics(equal), Metric::kJain), 1);
}

TEST(Metrics, FinishTimeFairnessByHand) {
  // 0 to 10: A, B, D at 2/3 (D has 10/3 s left). 10 to 16.67: four at 1/2; D ends. Then three at 2/3: A has done
  // 10 and ends 50 / (2/3) = 75 s later, at 91.67. B has done 60, C 53.33; two at rate 1: C ends at 138.33, B at 131.67.
  const MetricValues m = compute_metrics(sample());
  const double a = 90 / (275.0 / 3);
  const double b = 130 / (395.0 / 3);
  const double c = 100 / (415.0 / 3 - 10);
  EXPECT_DOUBLE_EQ(at(m, Metric::kRho), (a + b + c) / 3);
  EXPECT_DOUBLE_EQ(at(m, Metric::kRhoMax), b);
  EXPECT_EQ(at(m, Metric::kRhoAbove1), 0);
  RunRecord late = sample();
  late.jobs[1].finish = 200s;
  EXPECT_DOUBLE_EQ(at(compute_metrics(late), Metric::kRhoAbove1), 1.0 / 3);
  EXPECT_DOUBLE_EQ(at(compute_metrics(late), Metric::kRhoMax), 200 / (395.0 / 3));
}

// Alone on the cluster, the fair share is the whole GPU: rho is the time that the job took over 100 s.
TEST(Metrics, AFairShareToTheRoundingOfARecordIsFair) {
  RunRecord run;
  run.gpu_count = 1;
  for (const auto& [took, unfair] :
       {std::pair<Duration, double>{100s, 0}, {100s + 1us, 0}, {100s + 1ms, 1}}) {
    run.jobs = {record(0s, 0s, 0s, took, 100s, 100s)};
    EXPECT_EQ(at(compute_metrics(run), Metric::kRhoAbove1), unfair) << to_seconds(took);
  }
}

// Sorted JCT 90, 100, 130: p50 = 100, p95 at position 1.9, p99 at 1.98.
TEST(Metrics, TailsByHand) {
  const MetricValues m = compute_metrics(sample());
  EXPECT_DOUBLE_EQ(at(m, Metric::kJctP50S), 100);
  EXPECT_DOUBLE_EQ(at(m, Metric::kJctP95S), 100 + 0.9 * 30);
  EXPECT_DOUBLE_EQ(at(m, Metric::kJctP99S), 100 + 0.98 * 30);
  EXPECT_DOUBLE_EQ(at(m, Metric::kQueueP50S), 0);
  EXPECT_DOUBLE_EQ(at(m, Metric::kQueueP95S), 9);
  EXPECT_DOUBLE_EQ(at(m, Metric::kStretchP50), 1.3);
  EXPECT_NEAR(at(m, Metric::kStretchP99), 1.3 + 0.98 * 0.2, 1e-12);
}

TEST(Metrics, TailsAreThoseOfTheSortedSample) {
  for (const std::size_t jobs : {1U, 2U, 3U, 20U, 101U, 5000U}) {
    RunRecord run = sample();
    run.jobs.clear();
    run.episodes.clear();
    std::vector<double> jct;
    Rng rng(7, Stream::kTest, jobs);
    for (std::size_t j = 0; j < jobs; ++j) {
      const Duration took{std::chrono::seconds{1 + rng.below(static_cast<std::uint32_t>(jobs))}};
      run.jobs.push_back(record(0s, 0s, 0s, took, 60s, 60s));
      jct.push_back(to_seconds(took));
    }
    std::sort(jct.begin(), jct.end());
    const MetricValues m = compute_metrics(run);
    EXPECT_EQ(at(m, Metric::kJctP50S), quantile(jct, 0.50)) << jobs;
    EXPECT_EQ(at(m, Metric::kJctP95S), quantile(jct, 0.95)) << jobs;
    EXPECT_EQ(at(m, Metric::kJctP99S), quantile(jct, 0.99)) << jobs;
  }
}

TEST(Metrics, MakespanCountsFromTheFirstSubmit) {
  RunRecord run = sample();
  run.jobs.erase(run.jobs.begin(), run.jobs.begin() + 2);
  run.jobs.pop_back();
  const MetricValues m = compute_metrics(run);
  EXPECT_DOUBLE_EQ(at(m, Metric::kMakespanS), 100);
  EXPECT_DOUBLE_EQ(at(m, Metric::kLastEndS), 110);
}

/// No job finished: only the counts are defined.
TEST(Metrics, UndefinedIsNaN) {
  RunRecord run = sample();
  run.jobs.erase(run.jobs.begin(), run.jobs.begin() + 3);
  run.episodes.clear();
  run.usage.mem_known_s = 0;
  const MetricValues m = compute_metrics(run);
  for (const Metric x :
       {Metric::kIsd, Metric::kPs, Metric::kPsTotal, Metric::kIsdMax, Metric::kJctS,
        Metric::kJctP99S, Metric::kJain, Metric::kMakespanS, Metric::kGpuUtil, Metric::kMemUtil,
        Metric::kOccupancy, Metric::kEntropyIsd, Metric::kEntropyPs, Metric::kRho, Metric::kRhoMax,
        Metric::kRhoAbove1}) {
    EXPECT_TRUE(std::isnan(at(m, x))) << metric_info(x).name;
  }
  EXPECT_EQ(at(m, Metric::kJobs), 0);
  EXPECT_EQ(at(m, Metric::kFailed), 1);
}

/// A share of time is at most 1, also if the last event is a failure: A (10 s) ends at 10, then B tries
/// four times for 30 s each and is given up at 130.
TEST(Metrics, OccupancyIsAShareOfTimeAlsoWhenAFailureComesLast) {
  ClusterSpec spec = test::cluster(1, 1, 1, 1000);
  const test::OwnedWorkload w =
      test::workload({test::job(10s).util(50), test::job(5s).memory(2000).util(50)});
  auto policy = test::steps({{{J(0)}, {G(0)}},
                             {{J(1)}, {G(0)}, 10s},
                             {{J(1)}, {G(0)}},
                             {{J(1)}, {G(0)}},
                             {{J(1)}, {G(0)}}});
  const auto result = test::run(spec, w, test::ShareWorld(1), policy);
  ASSERT_EQ(result.record.jobs[1].finish, 130s);
  const MetricValues m = compute_metrics(result.record);
  EXPECT_LE(at(m, Metric::kOccupancy), 1);
  EXPECT_LE(at(m, Metric::kGpuUtil), 1);
  EXPECT_EQ(at(m, Metric::kMakespanS), 130) << "a failure is an end, too";
  EXPECT_EQ(at(m, Metric::kJctS), 10) << "of the jobs that finished";
}

TEST(Metrics, NamesAreUniqueAndDescribed) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const MetricInfo& info = metric_info(static_cast<Metric>(i));
    EXPECT_FALSE(info.name.empty());
    EXPECT_FALSE(info.unit.empty());
    EXPECT_FALSE(info.description.empty());
    names.insert(info.name);
    const bool seconds = info.name.size() > 2 && info.name.substr(info.name.size() - 2) == "_s";
    EXPECT_EQ(info.unit == "s", seconds) << info.name;
  }
  EXPECT_EQ(names.size(), kMetricCount);
}

TEST(Quantile, LinearBetweenOrderStatistics) {
  const std::vector<double> x{1, 2, 4, 8};
  EXPECT_EQ(quantile(x, 0), 1);
  EXPECT_EQ(quantile(x, 1), 8);
  EXPECT_DOUBLE_EQ(quantile(x, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(x, 0.25), 1.75);
  EXPECT_EQ(quantile(std::vector<double>{5}, 0.99), 5);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Entropy, KnownDistributions) {
  Rng rng(1, Stream::kTest);
  std::vector<double> uniform, wide, normal;
  for (int i = 0; i < 40000; ++i) {
    uniform.push_back(rng.uniform());
    wide.push_back(4 * uniform.back());
    normal.push_back(rng.normal());
  }
  EXPECT_NEAR(differential_entropy(uniform), 0, 0.02);
  EXPECT_NEAR(differential_entropy(wide), std::log(4), 0.02);
  EXPECT_NEAR(differential_entropy(normal), 0.5 * std::log(2 * M_PI * std::exp(1)), 0.03);
}

// n = 4, m = 2, x = 0, 1, 2, 3: spacings 2, 3, 3, 2; factor n / (2 m) = 1.
TEST(Entropy, ByHand) {
  EXPECT_DOUBLE_EQ(differential_entropy(std::vector<double>{3, 0, 2, 1}),
                   (2 * std::log(2) + 2 * std::log(3)) / 4);
}

// n = 10000 evenly spaced, m = 100: only the clamped ends lose; sum of log((i + m) / (2 m)).
TEST(Entropy, EvenlySpacedSampleExactly) {
  constexpr int kN = 10000, kM = 100;
  std::vector<double> x;
  x.reserve(kN);
  for (int i = 0; i < kN; ++i) x.push_back(static_cast<double>(i) / kN);
  double expected = 0;
  for (int i = 0; i < kM; ++i) expected += 2 * std::log((i + kM) / (2.0 * kM)) / kN;
  EXPECT_NEAR(differential_entropy(x), expected, 1e-10);
  EXPECT_NEAR(expected, 0, 0.01);
}

TEST(Entropy, UndefinedSamples) {
  EXPECT_TRUE(std::isnan(differential_entropy({})));
  EXPECT_TRUE(std::isnan(differential_entropy(std::vector<double>{1, 2, 3})));
  EXPECT_TRUE(std::isnan(differential_entropy(std::vector<double>(50, 1.0))));
}

}  // namespace
}  // namespace corun::metrics_test
