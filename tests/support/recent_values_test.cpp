#include "support/recent_values.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace corun::recent_values_test {
namespace {

TEST(RecentValues, ManyThreadsGetOneValue) {
  RecentValues<int, int> values(3);
  std::atomic<int> made = 0;
  std::vector<int> got(8);
  {
    std::vector<std::jthread> threads;
    for (int& g : got) {
      threads.emplace_back([&] {
        g = values.get(1, 1, [&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          return ++made;
        });
      });
    }
  }
  EXPECT_EQ(got, std::vector<int>(8, 1));
  EXPECT_EQ(values.made(), 1U);
}

TEST(RecentValues, DropsTheLeastRecentOnesByWeight) {
  RecentValues<int, int> values(5);
  const auto get = [&](int key, std::size_t weight) {
    const std::size_t before = values.made();
    values.get(key, weight, [] { return 0; });
    return values.made() > before;
  };
  EXPECT_TRUE(get(1, 2));
  EXPECT_TRUE(get(2, 2));
  EXPECT_FALSE(get(1, 2));
  EXPECT_TRUE(get(3, 2));  // 2 is dropped
  EXPECT_FALSE(get(1, 2));
  EXPECT_TRUE(get(2, 2));
  EXPECT_TRUE(get(4, 99));  // too heavy for all, but held as the most recent
  EXPECT_FALSE(get(4, 99));
  EXPECT_TRUE(get(1, 2));
  EXPECT_TRUE(get(4, 99));
}

TEST(RecentValues, MakesAnInvalidValueAgainAndRepeatsErrors) {
  RecentValues<int, int> values(5);
  int made = 0;
  const auto make = [&] { return ++made; };
  EXPECT_EQ(values.get(1, 1, make), 1);
  EXPECT_EQ(values.get(1, 1, make, [](int v) { return v > 1; }), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(values.get(2, 1, []() -> int { throw std::runtime_error("no"); }),
                 std::runtime_error);
  }
  EXPECT_EQ(values.get(2, 1, make), 3);
}

}  // namespace
}  // namespace corun::recent_values_test
