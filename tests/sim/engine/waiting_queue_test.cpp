#include "sim/engine/waiting_queue.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"
#include "tests/helpers/builders.hpp"

namespace corun::waiting_queue_test {
namespace {

using test::ids;
using test::J;

TEST(WaitingQueue, OldestFirstAndAReturningJobLast) {
  WaitingQueue queue(4);
  for (const std::uint32_t j : {2U, 0U, 3U}) queue.push(J(j));
  EXPECT_EQ(ids(queue.jobs()), (std::vector<JobId>{J(2), J(0), J(3)}));
  queue.erase(J(2));
  queue.push(J(2));
  EXPECT_EQ(ids(queue.jobs()), (std::vector<JobId>{J(0), J(3), J(2)}));
}

TEST(WaitingQueue, ContainsKnowsStrangers) {
  WaitingQueue queue(2);
  EXPECT_TRUE(queue.empty());
  queue.push(J(1));
  EXPECT_TRUE(queue.contains(J(1)));
  EXPECT_FALSE(queue.contains(J(0)));
  EXPECT_FALSE(queue.contains(J(2)));
  EXPECT_FALSE(queue.contains(kNoJob));
  queue.erase(J(1));
  EXPECT_FALSE(queue.contains(J(1)));
  EXPECT_TRUE(queue.empty());
}

/// Push at the end, erase at the front, at the back or anywhere, long enough to compact many times.
TEST(WaitingQueue, RandomOperationsAgreeWithANaiveQueue) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng(seed, Stream::kTest);
    constexpr std::uint32_t kJobs = 400;
    WaitingQueue queue(kJobs);
    std::vector<JobId> naive;
    std::vector<JobId> outside;
    for (std::uint32_t i = 0; i < kJobs; ++i) outside.push_back(J(i));
    const std::uint32_t where = rng.below(4);  // always front, always back, anywhere, mixed
    for (int step = 0; step < 3000; ++step) {
      const bool grow = rng.below(100) < (step % 1000 < 500 ? 60U : 40U);
      if ((grow && !outside.empty()) || naive.empty()) {
        const std::uint32_t at = rng.below(static_cast<std::uint32_t>(outside.size()));
        queue.push(outside[at]);
        naive.push_back(outside[at]);
        outside.erase(outside.begin() + at);
      } else {
        const std::uint32_t how = where == 3 ? rng.below(3) : where;
        const auto last = static_cast<std::uint32_t>(naive.size() - 1);
        const std::uint32_t at = how == 0 ? 0 : how == 1 ? last : rng.below(last + 1);
        queue.erase(naive[at]);
        outside.push_back(naive[at]);
        naive.erase(naive.begin() + at);
      }
      ASSERT_EQ(ids(queue.jobs()), naive) << "seed " << seed << " step " << step;
      ASSERT_EQ(queue.empty(), naive.empty());
    }
    for (std::uint32_t i = 0; i < kJobs; ++i) {
      EXPECT_EQ(queue.contains(J(i)), std::find(naive.begin(), naive.end(), J(i)) != naive.end());
    }
  }
}

}  // namespace
}  // namespace corun::waiting_queue_test
