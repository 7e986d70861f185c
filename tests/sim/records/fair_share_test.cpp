#include "sim/records/fair_share.hpp"

#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::fair_share_test {
namespace {

using namespace std::chrono_literals;

TEST(FairShare, AJobAloneTakesItsWork) {
  const std::vector<FairShareJob> jobs{{5s, 100s, 2}};
  EXPECT_EQ(fair_share_times_s(jobs, 2), (std::vector<double>{100}));
  EXPECT_EQ(fair_share_times_s(jobs, 4), (std::vector<double>{100}));
  EXPECT_EQ(fair_share_times_s({}, 4), std::vector<double>{});
  // A gang larger than the cluster, in a run without room for it: half of its GPUs at a time.
  EXPECT_EQ(fair_share_times_s(jobs, 1), (std::vector<double>{200}));
}

// The example of the header. A third job of 1 GPU comes at 50: N = 3, rates 2/3, 1/3, 2/3.
TEST(FairShare, GangsByHand) {
  std::vector<FairShareJob> jobs{{0s, 100s, 1}, {0s, 100s, 2}};
  EXPECT_EQ(fair_share_times_s(jobs, 2), (std::vector<double>{100, 150}));
  jobs.push_back({50s, 10s, 1});
  // At 65 the third has done 10, the first 60, the second 30. Then N = 2 until 105, when the second has done 50.
  const std::vector<double> times = fair_share_times_s(jobs, 2);
  EXPECT_DOUBLE_EQ(times[2], 15);
  EXPECT_DOUBLE_EQ(times[0], 105);
  EXPECT_DOUBLE_EQ(times[1], 155);
}

/// Against steps of time so short that the order of events within one does not matter.
TEST(FairShare, IsWhatShortStepsOfTimeGive) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, Stream::kTest, 0);
    std::vector<FairShareJob> jobs;
    for (int j = 0; j < 12; ++j) {
      jobs.push_back({std::chrono::seconds{rng.below(20)}, std::chrono::seconds{1 + rng.below(30)},
                      static_cast<int>(1 + rng.below(4))});
    }
    constexpr int kGpus = 6;
    const std::vector<double> times = fair_share_times_s(jobs, kGpus);
    constexpr double kStep = 1e-3;
    std::vector<double> left;
    for (const FairShareJob& job : jobs) left.push_back(to_seconds(job.work));
    std::vector<double> stepped(jobs.size(), -1);
    for (double now = 0; now < 1000; now += kStep) {
      int present = 0;
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        present += left[j] > 0 && to_seconds(jobs[j].submit) <= now + kStep / 2 ? 1 : 0;
      }
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        if (left[j] <= 0 || to_seconds(jobs[j].submit) > now + kStep / 2) continue;
        left[j] -= kStep * std::min(1.0, double{kGpus} / (present * jobs[j].gpus));
        if (left[j] <= 0) stepped[j] = now + kStep - to_seconds(jobs[j].submit);
      }
    }
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      EXPECT_NEAR(times[j], stepped[j], 0.03) << "seed " << seed << ", job " << j;
      EXPECT_GE(times[j], to_seconds(jobs[j].work));
    }
  }
}

}  // namespace
}  // namespace corun::fair_share_test
