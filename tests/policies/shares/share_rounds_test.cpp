#include "policies/shares/share_rounds.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "policies/shares/mersenne_twister.hpp"
#include "tests/policies/shares/gavel_case.hpp"

namespace corun {
namespace {

constexpr double kRound_s = 360;

/// Plays a case by the clock of its simulator, with the shares that it recorded. Returns the largest difference of a
/// finish time [s].
double largest_difference(const GavelCase& c) {
  const bool packed = c.has("packed") || c.has("gandiva");
  ShareRounds rounds(c.types.size(), {.pairs = packed, .fill = !c.has("fifo")});
  MersenneTwister types(5);
  const bool shuffles = !c.has("perf") && !packed && !c.has("allox");
  std::vector<std::int64_t> left;
  for (const auto& job : c.jobs) left.push_back(job.steps);
  struct Running {
    ShareRounds::Placed placed;
    std::int64_t steps_a = 0, steps_b = 0;
    double end_s = 0;
  };
  std::vector<Running> running;
  std::size_t arrived = 0, allocation = 0, done = 0;
  double now = 0, start = 0, difference = 0;
  for (int round = 0; done < c.jobs.size() && round < 1'000'000; ++round) {
    if (!running.empty()) {
      now = 0;
      for (const Running& r : running) now = std::max(now, r.end_s);
    } else if (arrived < c.jobs.size()) {
      now = c.jobs[arrived].arrival_s;
    } else {
      rounds.restart();
    }
    // In the order of that simulator, which decides the last bits of a type's total.
    std::ranges::sort(running, {}, [](const Running& r) {
      return std::tuple(-r.end_s, r.placed.unit.a, r.placed.unit.b);
    });
    for (const Running& r : running) {
      const auto& unit = r.placed.unit;
      rounds.ran(unit, r.placed.type, r.end_s - start);
      left[unit.a] -= r.steps_a;
      if (unit.pair()) left[unit.b] -= r.steps_b;
    }
    for (const Running& r : running) {
      const auto& unit = r.placed.unit;
      const auto end = [&](std::uint32_t j) {
        if (left[j] > 0) return;
        difference = std::max(difference, std::abs(r.end_s - c.jobs[j].finish_s));
        rounds.remove(j);
        ++done;
      };
      end(unit.a);
      if (unit.pair()) end(unit.b);
    }
    for (; arrived < c.jobs.size() && c.jobs[arrived].arrival_s <= now; ++arrived) {
      const auto j = static_cast<std::uint32_t>(arrived);
      rounds.add(j, c.jobs[j].gpus, [&](const ShareRounds::Unit& u, std::size_t t) {
        if (!u.pair()) return c.jobs[u.a].rates[t] > 0;
        const auto [a, b] = c.beside(u.a, u.b, t);
        return a > 0 && b > 0;
      });
    }
    if (rounds.due(now)) {
      if (allocation == c.allocations.size()) return 1e9;
      const auto& recorded = c.allocations[allocation++];
      EXPECT_NEAR(recorded.at_s, now, 1e-3) << c.name;
      std::vector<ShareRounds::Given> given;
      for (const auto& s : recorded.shares) given.push_back({{s.a, s.b}, s.x});
      rounds.reset(now, given);
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t t = 0; t < c.types.size(); ++t) order.push_back(t);
    if (shuffles) types.shuffle(std::span(order));
    start = now;
    running.clear();
    for (const auto& placed : rounds.choose(c.gpus, order)) {
      Running r{placed, 0, 0, now};
      const auto& u = placed.unit;
      const auto take = [&](std::uint32_t j, double rate, std::int64_t& steps) {
        steps = std::min(static_cast<std::int64_t>(rate * kRound_s), left[j]);
        r.end_s = std::max(r.end_s, now + static_cast<double>(steps) / rate);
      };
      if (u.pair()) {
        const auto [a, b] = c.beside(u.a, u.b, placed.type);
        take(u.a, a, r.steps_a);
        take(u.b, b, r.steps_b);
      } else {
        take(u.a, c.jobs[u.a].rates[placed.type], r.steps_a);
      }
      running.push_back(r);
    }
  }
  return done == c.jobs.size() ? difference : 1e9;
}

TEST(ShareRoundsPeers, RecordedSharesGiveEveryFinishTime) {
  const auto cases = gavel_cases();
  if (cases.empty()) GTEST_SKIP() << test::not_checked("peers3/gavel");
  std::size_t jobs = 0;
  for (const GavelCase& c : cases) {
    EXPECT_LE(largest_difference(c), 1e-3) << c.name;
    jobs += c.jobs.size();
  }
  RecordProperty("jobs", static_cast<int>(jobs));
}

}  // namespace
}  // namespace corun
