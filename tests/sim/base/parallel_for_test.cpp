#include "sim/base/parallel_for.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace corun::parallel_for_test {
namespace {

TEST(ParallelFor, CallsEachIndexOnceAtAnyNumberOfThreads) {
  for (const int threads : {-1, 0, 1, 2, 5, 64}) {
    std::vector<std::atomic<int>> calls(37);
    parallel_for(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1) << threads << " threads";
  }
  parallel_for(0, 4, [](std::size_t) { FAIL() << "there is no index"; });
}

TEST(ParallelFor, EachThreadHasAStateOfItsOwn) {
  struct State {
    int calls = 0;
  };
  std::vector<int> nth(200);
  parallel_for_with<State>(nth.size(), 3,
                           [&](std::size_t i, State& state) { nth[i] = ++state.calls; });
  int first_calls = 0;
  for (const int n : nth) {
    EXPECT_GE(n, 1);
    first_calls += n == 1 ? 1 : 0;
  }
  EXPECT_GE(first_calls, 1);
  EXPECT_LE(first_calls, 3) << "more states than threads";
}

TEST(ParallelFor, RethrowsTheFailureOfTheLowestIndex) {
  for (const unsigned threads : {1U, 2U, 8U}) {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::atomic<int>> calls(100);
      try {
        parallel_for(calls.size(), threads, [&](std::size_t i) {
          ++calls[i];
          if (i >= 17) throw std::runtime_error(std::to_string(i));
        });
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), std::string("17"));
      }
      for (std::size_t i = 0; i < 17; ++i) EXPECT_EQ(calls[i], 1);
      EXPECT_EQ(calls.back(), 0) << "work was begun long after a failure";
    }
  }
}

}  // namespace
}  // namespace corun::parallel_for_test
