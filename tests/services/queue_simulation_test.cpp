#include "services/queue_simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/services/builders.hpp"

/// The event simulation of a service's queue, held against closed forms, against Little's law and against a plain
/// simulator that goes from event to event.
namespace corun::queue_simulation_test {
namespace {

using namespace std::chrono_literals;
using test::queue_of;
using test::served;

/// Mean over ten seeds, and how far from the truth it may be: 4.78 standard errors are the 99.9 % interval of Student's
/// t with nine degrees of freedom.
struct Estimate {
  double mean = 0;
  double margin = 0;
};

Estimate over_seeds(const std::function<double(std::uint64_t)>& value) {
  std::array<double, 10> values;
  Estimate estimate;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = value(i + 1);
    estimate.mean += values[i] / 10;
  }
  double squares = 0;
  for (const double v : values) squares += (v - estimate.mean) * (v - estimate.mean);
  estimate.margin = 4.78 * std::sqrt(squares / 9 / 10);
  return estimate;
}

#define EXPECT_WITHIN_INTERVAL(estimate, exact)           \
  EXPECT_NEAR((estimate).mean, exact, (estimate).margin); \
  EXPECT_LT((estimate).margin, 0.1 * (exact)) << "the test says little"

TEST(ClosedForms, OneServerExponential) {
  // M/M/1: the time in the system is exponential with rate mu - lambda.
  const ServiceQueue queue = queue_of(0.1, 1, ServiceVariation::kExponential);
  for (const double per_s : {1.0, 5.0, 8.0}) {
    const Estimate mean = over_seeds(
        [&](auto seed) { return served(queue, per_s, 2e5 / per_s, seed).latency.mean_s(); });
    EXPECT_WITHIN_INTERVAL(mean, 1 / (10 - per_s));
    const Estimate p99 = over_seeds([&](auto seed) {
      return served(queue, per_s, 2e5 / per_s, seed).latency.quantile_s(0.99);
    });
    EXPECT_WITHIN_INTERVAL(p99, std::log(100) / (10 - per_s));
  }
}

TEST(ClosedForms, OneServerConstant) {
  // M/D/1, Pollaczek and Khinchine: D + rho D / (2 (1 - rho)).
  const ServiceQueue queue = queue_of(0.1, 1, ServiceVariation::kConstant);
  for (const double rho : {0.1, 0.5, 0.9}) {
    const Estimate mean = over_seeds(
        [&](auto seed) { return served(queue, rho * 10, 1e5 / rho / 10, seed).latency.mean_s(); });
    EXPECT_WITHIN_INTERVAL(mean, 0.1 + rho * 0.1 / (2 * (1 - rho)));
    const Estimate busy = over_seeds(
        [&](auto seed) { return served(queue, rho * 10, 1e5 / rho / 10, seed).utilisation(); });
    EXPECT_WITHIN_INTERVAL(busy, rho);
  }
}

TEST(ClosedForms, ManyServersExponential) {
  // M/M/k, Erlang's C formula.
  for (const int k : {2, 4, 8}) {
    const double offered = 0.8 * k;
    double term = 1, sum = 1;
    for (int n = 1; n < k; ++n) sum += term *= offered / n;
    const double full = term * offered / k / (1 - 0.8);
    const double waits = full / (sum + full);
    const ServiceQueue queue = queue_of(1, k, ServiceVariation::kExponential);
    const Estimate mean = over_seeds(
        [&](auto seed) { return served(queue, offered, 1e5 / offered, seed).latency.mean_s(); });
    EXPECT_WITHIN_INTERVAL(mean, 1 + waits / (k - offered));
  }
}

TEST(ClosedForms, FixedBatches) {
  // With replicas enough to wait for none, request i of a batch of B waits for B - i others: (B - 1) / (2 lambda).
  for (const int batch : {2, 8, 16}) {
    const ServiceQueue queue = queue_of(0.05, 50, ServiceVariation::kConstant, batch, kNever);
    const Estimate mean =
        over_seeds([&](auto seed) { return served(queue, 20, 500, seed).latency.mean_s(); });
    EXPECT_WITHIN_INTERVAL(mean, 0.05 + (batch - 1) / 40.0);
    EXPECT_EQ(served(queue, 20, 500).mean_batch() > batch - 0.1, true);
  }
  // Evenly spaced, to the nanosecond: 4 requests, one a second, 2 s of service.
  const ServiceQueue queue = queue_of(2, 1, ServiceVariation::kConstant, 4, kNever);
  const QueueResult even = served(queue, 1, 400, 1, Spacing::kEven);
  EXPECT_EQ(even.latency.count(), 360U);
  EXPECT_NEAR(even.latency.mean_s(), 2 + 1.5, 1e-12);
  EXPECT_EQ(even.latency.max(), 5s);
  EXPECT_NEAR(even.utilisation(), 0.5, 1e-2);
}

/// Arrivals of a list.
struct Listed {
  std::vector<Time> arrivals;
  std::vector<ServedBatch> batches;
  std::vector<std::pair<Time, Time>> requests;  ///< arrival and finish
  QueueResult result;

  void serve(const ServiceQueue& queue, QueueSimulation simulation = {}) {
    TraceRequests source(arrivals);
    simulation.on_batch = [&](const ServedBatch& batch) {
      batches.push_back(batch);
      for (const Time arrival : batch.arrivals) requests.emplace_back(arrival, batch.finish);
    };
    result = simulate_queue(queue, source, simulation);
  }
};

TEST(QueueSimulation, ABatchWaitsForItsFillOrItsTime) {
  const ServiceQueue queue{ServiceTimes({{1, 1}, {4, 4}}), ServiceVariation::kConstant, {4, 2s}, 1};
  Listed run{{0s, 1s, 10s, 10s, 10s, 10s, 11s, 20s}};
  run.serve(queue);
  ASSERT_EQ(run.batches.size(), 4U);
  EXPECT_EQ(run.batches[0].start, 2s);  // two requests, after the longest wait
  EXPECT_EQ(run.batches[0].finish, 4s);
  EXPECT_EQ(run.batches[1].start, 10s);  // full
  EXPECT_EQ(run.batches[2].start, 14s);  // it has waited for the replica
  EXPECT_EQ(run.batches[3].start, 20s);  // nothing follows
  EXPECT_EQ(run.result.batches, 4U);
  EXPECT_DOUBLE_EQ(run.result.mean_batch(), 2);
}

TEST(QueueSimulation, StretchChangesTheSpeedOfARunningBatch) {
  const ServiceQueue queue = queue_of(10, 1, ServiceVariation::kConstant);
  QueueSimulation simulation;
  simulation.stretch = StepFunction({{0s, 1}, {5s, 2}, {9s, 4}});
  Listed run{{0s, 100s}};
  run.serve(queue, simulation);
  EXPECT_EQ(run.batches[0].finish, 9s + 12s);  // 5 s and 2 s of work done, 3 s left at a quarter
  EXPECT_EQ(run.batches[1].finish, 140s);
}

TEST(QueueSimulation, CountsOnlyTheAskedSpan) {
  const ServiceQueue queue = queue_of(2, 1, ServiceVariation::kConstant);
  QueueSimulation simulation;
  simulation.from = 1s;
  simulation.until = 11s;
  Listed run{{0s, 5s, 10s, 11s}};
  run.serve(queue, simulation);
  EXPECT_EQ(run.result.latency.count(), 2U);
  EXPECT_EQ(run.result.span, 10s);
  EXPECT_DOUBLE_EQ(to_seconds(run.result.busy), 1 + 2 + 1);
  EXPECT_DOUBLE_EQ(run.result.utilisation(), 0.4);
  EXPECT_DOUBLE_EQ(run.result.offered_per_s(), 0.2);
  EXPECT_DOUBLE_EQ(run.result.goodput_per_s(2s), 0.2);
  EXPECT_DOUBLE_EQ(run.result.goodput_per_s(1s), 0);
}

/// A random service and its arrivals, some at the same instant.
std::pair<ServiceQueue, std::vector<Time>> random_case(Rng& rng) {
  const int largest = 1 + static_cast<int>(rng.below(6));
  std::vector<MeasuredBatch> times;
  for (int batch = 1; batch <= largest; ++batch) {
    times.push_back({batch, (1 + batch * (1 + rng.below(3))) * 1e-3});
  }
  const Duration wait = rng.below(4) == 0 ? kNever : rng.below(12) * 1ms;
  const int replicas = 1 + static_cast<int>(rng.below(4));
  std::vector<Time> arrivals;
  Time now{0};
  for (std::uint32_t i = 0, n = rng.below(300); i < n; ++i) {
    now += rng.below(1 + rng.below(4)) * 1ms;
    arrivals.push_back(now);
  }
  return {{ServiceTimes(times), ServiceVariation::kConstant, {largest, wait}, replicas}, arrivals};
}

/// What happens by the rules of `Batching`, millisecond by millisecond.
std::vector<Time> plainly_served(const ServiceQueue& queue, const std::vector<Time>& arrivals) {
  std::vector<Time> free(static_cast<std::size_t>(queue.replicas), Time{0});
  std::vector<Time> finishes;
  std::deque<Time> waiting;
  std::size_t next = 0;
  for (Time now{0}; finishes.size() < arrivals.size(); now += 1ms) {
    for (; next < arrivals.size() && arrivals[next] == now; ++next) waiting.push_back(now);
    for (Time& until : free) {
      if (until > now || waiting.empty()) continue;
      const bool due = static_cast<int>(waiting.size()) >= queue.batching.largest ||
                       next == arrivals.size() ||
                       (queue.batching.longest_wait != kNever &&
                        now >= waiting.front() + queue.batching.longest_wait);
      if (!due) continue;
      const int size = std::min<int>(queue.batching.largest, static_cast<int>(waiting.size()));
      until = now + from_seconds(queue.times.mean_s(size));
      for (int i = 0; i < size; ++i) {
        waiting.pop_front();
        finishes.push_back(until);
      }
    }
  }
  return finishes;
}

TEST(QueueSimulation, ServesRandomInputsAsThePlainSimulatorDoes) {
  Rng rng(11, Stream::kTest);
  for (int i = 0; i < 400; ++i) {
    const auto [queue, arrivals] = random_case(rng);
    Listed run{arrivals};
    run.serve(queue);
    const std::vector<Time> expected = plainly_served(queue, arrivals);
    ASSERT_EQ(run.requests.size(), arrivals.size());
    for (std::size_t r = 0; r < arrivals.size(); ++r) {
      ASSERT_EQ(run.requests[r].first, arrivals[r]) << "case " << i << ", request " << r;
      ASSERT_EQ(run.requests[r].second, expected[r]) << "case " << i << ", request " << r;
    }
  }
}

TEST(QueueSimulation, LittlesLawOnRandomInputs) {
  // The mean number in the system, from its changes over time, is the arrival rate times the mean latency.
  Rng rng(12, Stream::kTest);
  for (int i = 0; i < 200; ++i) {
    const auto [queue, arrivals] = random_case(rng);
    if (arrivals.empty()) continue;
    Listed run{arrivals};
    QueueSimulation simulation;
    simulation.stretch = StepFunction({{0s, 1.0}, {50ms, 1.0 + rng.uniform()}, {100ms, 1.0}});
    run.serve(queue, simulation);
    std::vector<std::pair<Time, int>> changes;
    for (const auto& [arrival, finish] : run.requests) {
      changes.emplace_back(arrival, 1);
      changes.emplace_back(finish, -1);
    }
    std::ranges::sort(changes);
    double area = 0;
    int present = 0;
    Time before{0};
    for (const auto& [time, change] : changes) {
      area += present * to_seconds(time - before);
      present += change;
      ASSERT_GE(present, -0);
      before = time;
    }
    const double span_s = to_seconds(run.result.span);
    EXPECT_EQ(before, run.result.span);
    EXPECT_NEAR(area / span_s, run.result.offered_per_s() * run.result.latency.mean_s(),
                1e-9 * (1 + area / span_s));
  }
}

TEST(QueueSimulation, NoReplicaServesTwoBatchesAtOnce) {
  const ServiceQueue queue = queue_of(0.1, 3, ServiceVariation::kExponential, 4, 20ms);
  LoadRequests source(constant_load(80, 100s), Spacing::kPoisson, 4);
  std::vector<Time> idle(3, Time{0});
  Time last{0};
  QueueSimulation simulation;
  simulation.on_batch = [&](const ServedBatch& batch) {
    EXPECT_GE(batch.start, idle[batch.replica]);
    EXPECT_GE(batch.start, last);
    EXPECT_LE(batch.arrivals.size(), 4U);
    EXPECT_LE(batch.arrivals.back(), batch.start);
    idle[batch.replica] = batch.finish;
    last = batch.start;
  };
  EXPECT_GT(simulate_queue(queue, source, simulation).batches, 1000U);
}

TEST(QueueSimulation, RefusesServicesThatCannotBe) {
  const auto refusal = [](ServiceQueue queue, double stretch = 1) -> std::string {
    TraceRequests source({0s});
    QueueSimulation simulation;
    simulation.stretch = StepFunction(stretch);
    try {
      simulate_queue(queue, source, simulation);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal(queue_of(1, 0, ServiceVariation::kConstant)).find("replicas"),
            std::string::npos);
  ServiceQueue large = queue_of(1, 1, ServiceVariation::kConstant);
  large.batching.largest = 2;
  EXPECT_NE(refusal(large).find("expected 1 to 1"), std::string::npos);
  EXPECT_NE(refusal(queue_of(1, 1, ServiceVariation::kConstant, 1, -1s)).find("wait"),
            std::string::npos);
  EXPECT_NE(refusal(queue_of(1, 1, ServiceVariation::kConstant), 0).find("stretch"),
            std::string::npos);
  EXPECT_THROW(ServiceTimes({}), InputError);
  EXPECT_THROW(ServiceTimes({{2, 1}, {2, 1}}), InputError);
  EXPECT_THROW(ServiceTimes({{1, 0}}), InputError);
  EXPECT_THROW(ServiceTimes({{0, 1}}), InputError);
}

TEST(ServiceTimes, AreLinearBetweenMeasuredSizes) {
  const ServiceTimes times({{2, 10}, {4, 20}, {8, 100}});
  EXPECT_EQ(times.mean_s(1), 10);  // nothing says that a smaller batch is faster
  EXPECT_EQ(times.mean_s(2), 10);
  EXPECT_EQ(times.mean_s(3), 15);
  EXPECT_EQ(times.mean_s(7), 80);
  EXPECT_EQ(times.largest(), 8);
}

}  // namespace
}  // namespace corun::queue_simulation_test
