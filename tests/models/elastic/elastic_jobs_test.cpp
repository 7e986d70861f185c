#include "models/elastic/elastic_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

/// The speed of elastic jobs, by hand.
namespace corun::elastic_jobs_test {
namespace {

/// On n GPUs of a node a step of b samples each takes b / 10 s and n - 1 s more to exchange gradients. Two epochs; the initial
/// batch is 10.
ElasticJobs::Program program() {
  ElasticJobs::Program p;
  p.program.initial_batch = 10;
  p.program.epochs = 2;
  p.program.batches = {{10, {{100, 100, 1, 30}, {210, 200, 2, 20}}},
                       {40, {{110, 50, 3, 10}, {205, 90, 4, 40}}}};
  ProgramOnType on;
  on.largest_batch = 40;
  on.least_local_batch = 5;
  on.largest_local_batch = 20;
  for (const int gpus : {1, 2, 4}) {
    for (const double local : {5.0, 20.0}) {
      MeasuredStep step;
      step.on_nodes = {gpus};
      step.gpus = gpus;
      step.local_batch = local;
      step.sync_s = gpus - 1;
      step.step_s = local / 10 + step.sync_s;
      on.placements.push_back(step);
    }
  }
  p.on_types = {on};
  return p;
}

Allocation on(const std::vector<int>& nodes) {
  int gpus = 0;
  for (const int n : nodes) gpus += n;
  return {gpus, static_cast<int>(nodes.size()), 1, 0, nodes};
}

TEST(SplitBatch, AccumulatesWhereTheLocalBatchIsTooLarge) {
  const ElasticJobs::Program p = program();
  const auto split = [&](int batch, int gpus, bool alone = true) {
    const BatchSplit s = split_batch(batch, gpus, p.program, *p.on_types[0], alone);
    return std::pair(s.local, s.accumulations);
  };
  EXPECT_EQ(split(40, 4), std::pair(10, 0));
  EXPECT_EQ(split(40, 2), std::pair(20, 0));
  EXPECT_EQ(split(39, 2), std::pair(20, 0)) << "rounded up";
  EXPECT_EQ(split(40, 1), std::pair(20, 1));
  EXPECT_EQ(split(16, 1), std::pair(8, 1)) << "one GPU and more than the initial batch";
  EXPECT_EQ(split(16, 1, false), std::pair(16, 0));
  EXPECT_EQ(split(10, 1), std::pair(10, 0));
  EXPECT_EQ(split(40, 3), std::pair(13, 0)) << "at most the largest batch: 3 x 13";
}

// 40 samples on two GPUs: 20 each, 2 + 1 s. In epoch 0 q = 3 and v = 10: g = 13 / (10 / 4 + 3) steps.
TEST(ElasticJobs, ProgressIsThatOfTheBatchAndTheStep) {
  ElasticJobs jobs({program()}, 0.5);
  jobs.add({0, 40, 0});
  EXPECT_DOUBLE_EQ(jobs.rate(JobId{0}, 0, on({2})), 13 / (2.5 + 3) / 3);
  // One GPU accumulates once: 2 s twice, q = 4 and v = 40 in epoch 1.
  EXPECT_DOUBLE_EQ(jobs.rate(JobId{0}, 1, on({1})), 44 / (10 + 4.0) / 4);
}

// 25 lies in the middle of 10 and 40: q = 2, v = 20.
TEST(ElasticJobs, GradientsAreLinearBetweenBatchSizes) {
  ElasticJobs jobs({program()}, 0.5);
  jobs.add({0, 25, 0});
  const double local = 13;  // 25 on two GPUs
  const double batch = 26;
  const double share = (batch - 10) / 30;
  const double sqr = 1 + share * 2, var = 30 - share * 20;
  EXPECT_NEAR(jobs.rate(JobId{0}, 0, on({2})), (var + sqr) / (var / 2.6 + sqr) / (local / 10 + 1),
              1e-12);
}

TEST(ElasticJobs, AnEpochHasTheProgressOfTheBatchThatNeededLeast) {
  const ElasticJobs jobs({program()}, 0.5);
  EXPECT_DOUBLE_EQ(jobs.progress_in(0, 0), 100);
  EXPECT_DOUBLE_EQ(jobs.progress_in(0, 1), 105);
}

TEST(ElasticJobs, FactorIsTheRateOverThatOfThePhasesWork) {
  ElasticJobs jobs({program()}, 0.5);
  jobs.add({0, 40, 0});
  jobs.add({0, 40, 2});
  const double first = jobs.rate(JobId{0}, 0, on({2}));
  const double second = jobs.rate(JobId{0}, 1, on({2}));
  jobs.set_reference_rates({first, second, first / 2, second / 2}, {2, 2, 1, 1});
  EXPECT_DOUBLE_EQ(jobs.factor(JobId{2}, on({2})), 1) << "phase 0 of job 0 of two jobs";
  EXPECT_DOUBLE_EQ(jobs.factor(JobId{5}, on({2})), 2);
  EXPECT_DOUBLE_EQ(jobs.factor(JobId{1}, on({2})), 2) << "a job stands for its first phase";
  EXPECT_DOUBLE_EQ(jobs.beside_spread_jobs(), 0.5);
}

// A second of work is 2 steps with the initial batch of 10: 2 / g steps of 40 samples, g = 13 / 5.5.
TEST(ElasticJobs, SamplesAreWorthLessInLargerBatches) {
  ElasticJobs jobs({program()}, 0.5);
  jobs.add({0, 40, 0});
  jobs.set_reference_rates({1, 1}, {2, 2});
  const Samples samples = jobs.samples(JobId{0}, on({2}));
  EXPECT_DOUBLE_EQ(samples.processed, 2 / (13 / 5.5) * 40);
  EXPECT_DOUBLE_EQ(samples.useful, 20);
}

// The steps of batch 40 after epoch 0 are 90 - 50; in the last epoch 1 is left.
TEST(ElasticJobs, RemainingTimeIsThatOfTheStepsAfterThePresentEpoch) {
  ElasticJobs jobs({program()}, 0.5);
  jobs.add({0, 40, 0});
  JobView view;
  view.id = JobId{0};
  EXPECT_DOUBLE_EQ(jobs.remaining_s(view, on({2}), Time{0}), 40 * 3.0);
  view.phase = 1;
  EXPECT_DOUBLE_EQ(jobs.remaining_s(view, on({4}), Time{0}), 1 * 4.0);
}

// In epoch 0 more than a batch of about 33 on four GPUs gains less than it takes longer. Of the 50 sizes the best one is at
// least as good as those of a user.
TEST(ElasticJobs, AnAdaptiveJobTakesTheBestBatch) {
  ElasticJobs jobs({program()}, 0.5);
  jobs.add({0, 0, 0});
  std::uint32_t phase = 2;
  double most = 0;
  for (int batch = 20; batch <= 40; batch += 4, phase += 2) {
    jobs.add({0, batch, phase});
    most = std::max(most, jobs.rate(JobId{phase / 2}, 0, on({4})));
  }
  const double best = jobs.rate(JobId{0}, 0, on({4}));
  EXPECT_NEAR(best, most, 1e-3 * most);
  EXPECT_GT(best, 1.05 * jobs.rate(JobId{1}, 0, on({4}))) << "a batch of 20";
  EXPECT_GT(best, 1.05 * jobs.rate(JobId{6}, 0, on({4}))) << "a batch of 40";
  JobView view;
  view.id = JobId{0};
  EXPECT_DOUBLE_EQ(jobs.goodput(view, on({4})), best);
}

TEST(ElasticJobs, NoSpeedOnATypeThatWasNotMeasured) {
  ElasticJobs::Program p = program();
  p.on_types.push_back(std::nullopt);
  ElasticJobs jobs({p}, 1);
  jobs.add({0, 40, 0});
  const std::vector<int> nodes{2};
  EXPECT_EQ(jobs.rate(JobId{0}, 0, {2, 1, 1, 1, nodes}), 0);
  JobView view;
  view.id = JobId{0};
  EXPECT_TRUE(std::isinf(jobs.remaining_s(view, {2, 1, 1, 1, nodes}, Time{0})));
}

}  // namespace
}  // namespace corun::elastic_jobs_test
