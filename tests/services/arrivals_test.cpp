#include "services/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"

/// When requests arrive, and the loads that say so.
namespace corun::arrivals_test {
namespace {

using namespace std::chrono_literals;

std::vector<Time> all_of(RequestSource& source, std::size_t piece = 1000) {
  std::vector<Time> all;
  std::vector<Time> some(piece);
  for (;;) {
    const std::size_t count = source.next(some);
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    if (count < piece) return all;
  }
}

std::vector<Time> requests(const RequestLoad& load, Spacing spacing = Spacing::kPoisson,
                           std::uint64_t seed = 1, std::uint64_t entity = 0,
                           std::size_t piece = 1000) {
  LoadRequests source(load, spacing, seed, entity);
  return all_of(source, piece);
}

template <typename Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Arrivals, EvenOnesHaveTheLoadsNumberAndGap) {
  const std::vector<Time> even = requests(constant_load(4, 10s), Spacing::kEven);
  ASSERT_EQ(even.size(), 40U);
  for (std::size_t i = 0; i < even.size(); ++i) EXPECT_EQ(even[i], 125ms + i * 250ms);
}

TEST(Arrivals, EvenOnesKeepTheirPhaseOverChangesOfTheRate) {
  // 1.5 requests in the first 3 s, then 2 per second: the second request comes when half of one is left.
  const RequestLoad load{StepFunction({{0s, 0.5}, {3s, 2.0}, {5s, 0.0}, {9s, 1.0}}), 10s};
  EXPECT_EQ(requests(load, Spacing::kEven), (std::vector<Time>{1s, 3s, 3500ms, 4s, 4500ms, 9s}));
}

TEST(Arrivals, PoissonOnesHaveTheLoadsMeanAndVarianceInEveryWindow) {
  // Counts in windows of 1 s: mean and variance 20, each within five standard errors.
  const std::vector<Time> times = requests(constant_load(20, 10'000s));
  std::vector<double> counts(10'000, 0);
  for (const Time t : times) ++counts[static_cast<std::size_t>(t / 1s)];
  double mean = 0;
  for (const double c : counts) mean += c / 1e4;
  double variance = 0;
  for (const double c : counts) variance += (c - mean) * (c - mean) / (1e4 - 1);
  EXPECT_NEAR(mean, 20, 5 * std::sqrt(20 / 1e4));
  EXPECT_NEAR(variance, 20, 5 * 20 * std::sqrt(2 / 1e4));
  EXPECT_TRUE(std::ranges::is_sorted(times));
}

TEST(Arrivals, ANamedStreamPerServiceWhateverThePieces) {
  const RequestLoad load = constant_load(50, 20s);
  EXPECT_EQ(requests(load), requests(load, Spacing::kPoisson, 1, 0, 7));
  EXPECT_NE(requests(load), requests(load, Spacing::kPoisson, 2));
  EXPECT_NE(requests(load), requests(load, Spacing::kPoisson, 1, 1));
}

TEST(Arrivals, NoneAtOrAfterTheEndAndNoneWithoutALoad) {
  EXPECT_TRUE(requests(constant_load(0, 1h)).empty());
  const std::vector<Time> times = requests(constant_load(1e6, 10ms));
  ASSERT_FALSE(times.empty());
  EXPECT_LT(times.back(), 10ms);
}

TEST(RequestLoad, ADailyWaveHasItsMeanAndItsPeak) {
  const RequestLoad load = diurnal_load({.mean_per_s = 10, .swing = 0.4}, 72h);
  EXPECT_NEAR(mean_rate(load), 10, 1e-9);
  EXPECT_NEAR(load.per_s.at(14h), 14, 0.01);
  EXPECT_NEAR(load.per_s.at(26h), 6, 0.01);  // half a period away
  // A quarter of a period after the peak the rate falls by 4 * 2 pi in a period; the step has its mean over 15 minutes.
  EXPECT_NEAR(load.per_s.at(44h), 10 - 4 * 6.2832 / 96 / 2, 1e-3);
  EXPECT_EQ(load.per_s.at(14h), load.per_s.at(38h));
  EXPECT_EQ(load.per_s.steps().size(), 3 * 96U);
}

TEST(RequestLoad, BurstsTakeTheirShareOfTime) {
  const Bursts bursts{.base_per_s = 1, .burst_per_s = 11, .mean_between = 30s, .mean_length = 10s};
  const RequestLoad load = burst_load(bursts, 400'000s, 3);
  // 10^4 bursts: the share 1/4 of time has a standard error of about 1/4 3/4 sqrt(2 / 10^4).
  EXPECT_NEAR(mean_rate(load), 1 + 10 * 0.25, 5 * 10 * 0.1875 * std::sqrt(2 / 1e4));
  EXPECT_EQ(load.per_s.at(0s), 1);
  EXPECT_NE(burst_load(bursts, 1000s, 3, 1).per_s.end_of(0), load.per_s.end_of(0));
}

TEST(RequestLoad, OfATraceCountsItsRequests) {
  const std::vector<Time> trace{0s, 1s, 1s, 9500ms, 20s};
  const RequestLoad load = load_of(trace, 10s);
  EXPECT_EQ(load.end, 30s);
  EXPECT_DOUBLE_EQ(load.per_s.at(5s), 0.4);
  EXPECT_DOUBLE_EQ(load.per_s.at(15s), 0);
  EXPECT_DOUBLE_EQ(load.per_s.at(25s), 0.1);
}

TEST(Arrivals, OfATraceAtAnotherRate) {
  TraceRequests source({0s, 2s, 3s}, 2);
  EXPECT_EQ(all_of(source), (std::vector<Time>{0s, 1s, 1500ms}));
}

TEST(RequestLoad, RefusesWhatIsNone) {
  EXPECT_NE(refusal([] { constant_load(-1, 1s); }).find("expected 0 to 1e9"), std::string::npos);
  EXPECT_NE(refusal([] { constant_load(std::nan(""), 1s); }).find("found nan"), std::string::npos);
  EXPECT_NE(refusal([] { constant_load(1, 0s); }).find("end of a load"), std::string::npos);
  EXPECT_NE(refusal([] { diurnal_load({.mean_per_s = 1, .swing = 2}, 1h); }).find("0 to 1"),
            std::string::npos);
  EXPECT_NE(refusal([] { diurnal_load({.mean_per_s = 1, .period = 1us}, 24h); }).find("5e7 steps"),
            std::string::npos);
  EXPECT_NE(refusal([] { burst_load({.mean_between = 1s}, 1s, 1); }).find("length of bursts"),
            std::string::npos);
  EXPECT_NE(refusal([] { TraceRequests({2s, 1s}); }).find("sort it"), std::string::npos);
  EXPECT_NE(refusal([] { TraceRequests({1s}, 0); }).find("rate factor"), std::string::npos);
  EXPECT_NE(refusal([] { load_of({}, 0s); }).find("window"), std::string::npos);
  EXPECT_NE(refusal([] { StepFunction({{1s, 1}}); }).find("at 0 s"), std::string::npos);
  EXPECT_NE(refusal([] { StepFunction({{0s, 1}, {0s, 2}}); }).find("step 2"), std::string::npos);
}

}  // namespace
}  // namespace corun::arrivals_test
