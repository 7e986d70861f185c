#include "models/elastic/fitted_jobs.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "models/elastic/elastic_jobs.hpp"

/// Beliefs that are fitted to what elastic jobs measure while they run.
namespace corun {
namespace {

/// A program on two GPU types: a step takes 0.1 s and 0.01 s a sample, half of that on type 1; an exchange 0.02 s within a
/// node and 0.05 s between nodes.
std::unique_ptr<ElasticJobs> program_on_two_types() {
  ElasticJobs::Program program;
  program.program.initial_batch = 16;
  program.program.epochs = 1;
  const MeasuredEpoch epoch{
      .progress = 100, .iterations = 100, .gradient_sqr = 1, .gradient_var = 50};
  program.program.batches = {{16, {epoch}}, {256, {epoch}}};
  for (const double speed : {1.0, 2.0}) {
    ProgramOnType on;
    on.largest_batch = 256;
    on.least_local_batch = 4;
    on.largest_local_batch = 32;
    for (const std::vector<int>& nodes : {std::vector{1}, {2}, {4}, {4, 4}}) {
      for (const double batch : {4.0, 32.0}) {
        int gpus = 0;
        for (const int on_node : nodes) gpus += on_node;
        const double exchange = nodes.size() > 1 ? 0.05 : gpus > 1 ? 0.02 : 0.0;
        on.placements.push_back({.on_nodes = nodes,
                                 .nodes = static_cast<int>(nodes.size()),
                                 .gpus = gpus,
                                 .local_batch = batch,
                                 .step_s = (0.1 + 0.01 * batch + exchange) / speed,
                                 .sync_s = exchange / speed});
      }
    }
    program.on_types.emplace_back(on);
  }
  auto jobs = std::make_unique<ElasticJobs>(std::vector{program}, 1);
  jobs->add({.program = 0, .batch = 0, .first_phase = 0});
  return jobs;
}

JobView elastic_view() {
  JobView view;
  view.id = JobId{0};
  view.gpus_min = 1;
  view.gpus_max = 64;
  return view;
}

Allocation on(int gpus, std::uint32_t type = 0) { return {gpus, (gpus + 3) / 4, 1, type, {}}; }

TEST(FittedJobs, KnowNothingAtFirst) {
  const auto truth = program_on_two_types();
  const FittedJobs belief(*truth);
  EXPECT_EQ(belief.goodput(elastic_view(), on(1)), 1);
  EXPECT_EQ(belief.goodput(elastic_view(), on(1, 1)), 1);
  EXPECT_EQ(belief.goodput(elastic_view(), on(2)), 0);
  EXPECT_EQ(belief.most_gpus(elastic_view()), 1);
  EXPECT_EQ(belief.remaining_s(elastic_view(), on(1), Time{0}),
            std::numeric_limits<double>::infinity());
}

TEST(FittedJobs, AllowTwiceTheGpusThatAJobHasHad) {
  const auto truth = program_on_two_types();
  FittedJobs belief(*truth);
  JobView view = elastic_view();
  belief.observe(view, on(1));
  EXPECT_EQ(belief.most_gpus(view), 2);
  belief.observe(view, on(4));
  EXPECT_EQ(belief.most_gpus(view), 8);
  belief.observe(view, on(2));
  EXPECT_EQ(belief.most_gpus(view), 8);
  view.gpus_max = 5;
  EXPECT_EQ(belief.most_gpus(view), 5);
}

TEST(FittedJobs, AnotherTypeIsTheFirstTimesTheRatioOfItsSpeedOnOneGpu) {
  const auto truth = program_on_two_types();
  FittedJobs belief(*truth);
  const JobView view = elastic_view();
  belief.observe(view, on(2));
  for (const int gpus : {1, 2, 4}) {
    EXPECT_NEAR(belief.goodput(view, on(gpus, 1)), 2 * belief.goodput(view, on(gpus)),
                1e-9 * belief.goodput(view, on(gpus)));
  }
}

TEST(FittedJobs, FollowWhatJobsMeasure) {
  const auto truth = program_on_two_types();
  FittedJobs belief(*truth);
  const JobView view = elastic_view();
  belief.observe(view, on(1));
  const double hopeful = belief.goodput(view, on(8));
  for (const int gpus : {2, 4, 8}) belief.observe(view, on(gpus));
  EXPECT_LT(belief.goodput(view, on(8)), hopeful);
  // Ratios are those of the truth: the unit differs (samples, not steps with the initial batch).
  const double ratio = belief.goodput(view, on(4)) / belief.goodput(view, on(1));
  EXPECT_NEAR(ratio, truth->goodput(view, on(4)) / truth->goodput(view, on(1)), 0.1 * ratio);
}

TEST(FittedJobs, JobsChooseTheBatchThatTheirFitNames) {
  const std::unique_ptr<ElasticJobs> jobs = program_on_two_types();
  jobs->set_reference_rates({jobs->rate(JobId{0}, 0, on(1))}, {1});
  EXPECT_EQ(jobs->tuning(), nullptr);
  jobs->set_refit(std::chrono::seconds{60});
  const std::unique_ptr<JobTuning> tuning = jobs->tuning();
  ASSERT_NE(tuning, nullptr);
  EXPECT_EQ(tuning->interval(), std::chrono::seconds{60});
  // M0 = 16 on 4 GPUs is 4 on each, the least; the fit then knows that a larger batch is worth it.
  const double first = tuning->choose(JobId{0}, on(4));
  EXPECT_DOUBLE_EQ(first, jobs->factor(JobId{0}, on(4), {.local = 4, .accumulations = 0}));
  const Samples small = tuning->samples(JobId{0}, on(4));
  EXPECT_DOUBLE_EQ(small.processed, small.useful) << "of the initial batch size";
  tuning->measure(JobId{0}, on(4));
  const double second = tuning->choose(JobId{0}, on(4));
  EXPECT_GT(second, first);
  EXPECT_GT(tuning->samples(JobId{0}, on(4)).processed, small.processed);
  EXPECT_LE(second, jobs->factor(JobId{0}, on(4))) << "no batch is better than the truly best one";
  EXPECT_DOUBLE_EQ(tuning->choose(JobId{0}, on(8, 1)),
                   jobs->factor(JobId{0}, on(8, 1), {.local = 4, .accumulations = 0}))
      << "on another type it has measured nothing";
  EXPECT_EQ(tuning->belief().most_gpus(elastic_view()), 8);
}

}  // namespace
}  // namespace corun
