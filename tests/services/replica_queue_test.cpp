#include "services/replica_queue.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "services/level_queue.hpp"
#include "services/queue_simulation.hpp"
#include "tests/services/builders.hpp"

/// Services whose replicas come, go and change their speed.
namespace corun::replica_queue_test {
namespace {

using namespace std::chrono_literals;
using test::queue_of;

std::unique_ptr<RequestSource> requests(double per_s, Time end, std::uint64_t seed = 1) {
  return std::make_unique<LoadRequests>(constant_load(per_s, end), Spacing::kPoisson, seed);
}

/// All replicas stay at this speed.
QueueResult with_steady_replicas(const ServiceQueue& queue, double per_s, Time end, double speed) {
  ReplicaQueue replicas(queue, requests(per_s, end), Time{0}, 1, 0);
  for (int r = 0; r < queue.replicas; ++r) {
    replicas.set_speed(static_cast<std::size_t>(r), speed);
  }
  QueueResult result;
  for (Time at = 10s; at < end; at += 10s) replicas.advance(at, result);
  replicas.advance(kNever, result);
  EXPECT_EQ(replicas.open(), 0U);
  return result;
}

TEST(ReplicaQueue, OfSteadyReplicasIsTheQueueSimulation) {
  for (const int batch : {1, 4}) {
    for (const int replicas : {1, 3}) {
      ServiceQueue queue = queue_of(0.01, replicas, ServiceVariation::kConstant, batch, 2ms);
      LoadRequests source(constant_load(80.0 * replicas, 1000s), Spacing::kPoisson, 1);
      QueueSimulation simulation{.seed = 1};
      simulation.stretch = StepFunction(1.25);
      const QueueResult expected = simulate_queue(queue, source, simulation);
      const QueueResult result = with_steady_replicas(queue, 80.0 * replicas, 1000s, 0.8);
      EXPECT_EQ(result.latency.count(), expected.latency.count());
      EXPECT_EQ(result.batches, expected.batches);
      EXPECT_NEAR(result.latency.mean_s(), expected.latency.mean_s(), 1e-8);
      EXPECT_EQ(result.latency.quantile_s(0.99), expected.latency.quantile_s(0.99));
    }
  }
}

TEST(ReplicaQueue, OneServerHasTheLatencyOfItsClosedForm) {
  // M/M/1: the mean time in the system is 1 / (mu - lambda).
  const ServiceQueue queue = queue_of(0.1, 1, ServiceVariation::kExponential);
  const QueueResult result = with_steady_replicas(queue, 5, 100'000s, 1);
  EXPECT_NEAR(result.latency.mean_s(), 0.2, 0.2 * 0.02);
}

TEST(ReplicaQueue, ARequestWhoseReplicaLeavesBeginsAgain) {
  // Of even requests at 0.5 s, 1.5 s ... the first needs 0.6 s; its replica leaves at 0.8 s and is back at 2 s.
  const ServiceQueue queue = queue_of(0.6, 1, ServiceVariation::kConstant);
  ReplicaQueue replicas(queue,
                        std::make_unique<LoadRequests>(constant_load(1, 1s), Spacing::kEven, 1),
                        Time{0}, 1, 0);
  QueueResult result;
  replicas.set_speed(0, 1);
  replicas.advance(800ms, result);
  EXPECT_EQ(replicas.open(), 1U);
  replicas.set_speed(0, 0);
  replicas.advance(2s, result);
  EXPECT_EQ(replicas.oldest(), Time(500ms));
  replicas.set_speed(0, 0.5);
  replicas.advance(2600ms, result);
  replicas.set_speed(0, 1);  // half of its work is left
  replicas.advance(kNever, result);
  EXPECT_EQ(result.latency.count(), 1U);
  EXPECT_EQ(result.latency.max(), Duration(2600ms + 300ms - 500ms));
  EXPECT_EQ(result.busy, GpuTime(Duration(300ms + 900ms)));
}

TEST(LevelQueue, AgreesWithTheSimulation) {
  const ServiceQueue queue = queue_of(0.01, 2, ServiceVariation::kConstant);
  QueueResult result;
  LevelQueue level(queue, Spacing::kPoisson, 1, 0);
  for (int i = 0; i < 20; ++i) {
    level.serve(i * 100s, (i + 1) * 100s, 120 * 100, 2, 0.8, result);
  }
  const QueueResult exact = with_steady_replicas(queue, 120, 2000s, 0.8);
  EXPECT_NEAR(static_cast<double>(result.latency.count()), 240'000, 1);
  EXPECT_NEAR(result.latency.mean_s(), exact.latency.mean_s(), 0.05 * exact.latency.mean_s());
  EXPECT_NEAR(result.latency.quantile_s(0.99), exact.latency.quantile_s(0.99),
              0.1 * exact.latency.quantile_s(0.99));
  EXPECT_NEAR(result.utilisation(), 0.75, 0.02);
}

TEST(LevelQueue, ABacklogIsServedInOrder) {
  // 100 s without replicas leave 1,000 requests; then 20 are served per second and 10 come: 100 s later none waits.
  const ServiceQueue queue = queue_of(0.05, 1, ServiceVariation::kConstant);
  LevelQueue level(queue, Spacing::kPoisson, 1, 0);
  QueueResult result;
  level.serve(0s, 100s, 1000, 0, 1, result);
  EXPECT_NEAR(level.backlog(), 1000, 1e-6);
  EXPECT_EQ(result.latency.count(), 0U);
  level.serve(100s, 200s, 1000, 1, 1, result);
  EXPECT_NEAR(level.backlog(), 0, 20);
  // The wait falls from 100 s to 0 over the 2,000 requests: that of request n is 100 s - n / 20 s.
  EXPECT_NEAR(result.latency.mean_s(), 50, 3);
  EXPECT_NEAR(to_seconds(result.latency.max()), 100, 8);
  EXPECT_EQ(level.methods()[static_cast<std::size_t>(Method::kFluid)], result.latency.count());
}

}  // namespace
}  // namespace corun::replica_queue_test
