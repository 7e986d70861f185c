#include "services/queue_approximation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "services/queue_formulas.hpp"
#include "services/queue_simulation.hpp"
#include "sim/error.hpp"
#include "tests/services/builders.hpp"

/// The approximation of a service's latency over long spans, held against closed forms and the event simulation.
namespace corun::queue_approximation_test {
namespace {

using namespace std::chrono_literals;
using test::queue_of;

/// Largest difference from the simulation, of the mean and of the 99th percentile.
constexpr double kOfMean = 0.05;
constexpr double kOfTail = 0.10;

/// The 99th percentile of a law, by bisection.
double p99_of(const LatencyLaw& law) {
  double low = 0, high = 1e6;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (law.exceeds(middle) > 0.01 ? low : high) = middle;
  }
  return high;
}

TEST(QueueFormulas, OneServer) {
  for (const double rho : {0.05, 0.5, 0.9, 0.97}) {
    const LatencyLaw exponential = exponential_servers(rho, 1, 1);
    EXPECT_NEAR(exponential.mean_s, 1 / (1 - rho), 1e-9);
    EXPECT_NEAR(p99_of(exponential), std::log(100) / (1 - rho), 1e-6);
    EXPECT_NEAR(constant_servers(rho, 1, 1).mean_s, 1 + rho / (2 * (1 - rho)), 1e-7);
  }
  // M/D/1: P(no wait) = 1 - rho.
  EXPECT_NEAR(constant_servers(0.6, 1, 1).exceeds(1 + 1e-12), 0.6, 1e-9);
}

TEST(QueueFormulas, TheMeanIsTheIntegralOfTheLaw) {
  for (const int k : {1, 3, 8}) {
    for (const double rho : {0.3, 0.7, 0.9}) {
      for (const LatencyLaw& law :
           {exponential_servers(rho * k * 10, 0.1, k), constant_servers(rho * k * 10, 0.1, k)}) {
        double integral = 0;
        constexpr double kStep = 1e-3;
        for (int i = 0; i < 20'000; ++i) integral += kStep * law.exceeds((i + 0.5) * kStep);
        EXPECT_NEAR(integral, law.mean_s, 2e-3 * law.mean_s) << k << " servers, " << rho;
      }
    }
  }
}

TEST(QueueFormulas, StationaryDistributionOfATwoStateChain) {
  const std::vector<double> share = stationary_distribution({0.9, 0.1, 0.3, 0.7}, 2, 1);
  EXPECT_DOUBLE_EQ(share[0], 0.75);
  EXPECT_DOUBLE_EQ(share[1], 0.25);
}

struct Point {
  double utilisation;
  int batch;
  int replicas;
  ServiceVariation variation;
  bool waits;  ///< for half of the time in which a batch fills
};

/// Utilisation 0.1 to 0.9, batches of 1 to 16, 1 to 8 replicas, constant or exponential service.
std::vector<Point> grid() {
  std::vector<Point> points;
  for (const double utilisation : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    for (const int batch : {1, 2, 4, 8, 16}) {
      for (const int replicas : {1, 2, 4, 8}) {
        for (const ServiceVariation variation :
             {ServiceVariation::kConstant, ServiceVariation::kExponential}) {
          points.push_back({utilisation, batch, replicas, variation, false});
        }
      }
    }
  }
  return points;
}

ServiceQueue queue_at(const Point& point) {
  // A batch of 16 takes 4.75 times as long as one request.
  std::vector<MeasuredBatch> times{{1, 0.01}};
  if (point.batch > 1) times.push_back({point.batch, 0.01 + 0.0025 * (point.batch - 1)});
  ServiceQueue queue{ServiceTimes(times), point.variation, {point.batch, 0s}, point.replicas};
  if (point.waits) {
    const double per_s = point.utilisation * capacity_per_s(queue);
    queue.batching.longest_wait = from_seconds(point.batch / per_s / 2);
  }
  return queue;
}

void expect_agreement_at(const Point& point) {
  const ServiceQueue queue = queue_at(point);
  const double per_s = point.utilisation * capacity_per_s(queue);
  const StationaryQueue approximated = stationary_queue(queue, per_s, Spacing::kPoisson, {});
  const double variation = point.variation == ServiceVariation::kExponential ? 1 + point.batch : 1;
  const double idle = 1 - point.utilisation;
  const double requests = std::clamp(8'000 * variation / idle / idle, 1e5, 1.4e7);
  const LatencyRecord simulated = test::served(queue, per_s, requests / per_s, 11).latency;
  SCOPED_TRACE("utilisation " + std::to_string(point.utilisation) + ", batch " +
               std::to_string(point.batch) + ", replicas " + std::to_string(point.replicas) +
               (point.variation == ServiceVariation::kConstant ? ", constant" : ", exponential") +
               (point.waits ? ", waits" : ""));
  const double mean_s = simulated.mean_s();
  EXPECT_NEAR(approximated.result.latency.mean_s(), mean_s, kOfMean * mean_s);
  const double p99_s = simulated.quantile_s(0.99);
  EXPECT_NEAR(approximated.result.latency.quantile_s(0.99), p99_s, kOfTail * p99_s);
  EXPECT_EQ(approximated.method == Method::kFormula, has_formula(queue, per_s, Spacing::kPoisson));
  EXPECT_NEAR(approximated.result.offered_per_s(), per_s, 0.02 * per_s);
}

TEST(QueueApproximation, FormulasAgreeWithTheSimulationOverTheGrid) {
  int points = 0;  // without batches, one replica, batches of 2 with exponential service
  for (const Point& point : grid()) {
    const ServiceQueue queue = queue_at(point);
    const double per_s = point.utilisation * capacity_per_s(queue);
    if (!has_formula(queue, per_s, Spacing::kPoisson)) continue;
    expect_agreement_at(point);
    ++points;
  }
  EXPECT_EQ(points, 40 + 40 + 15);
}

TEST(QueueApproximation, ReplicasThatTakeLargeBatchesInLittleMoreTime) {
  for (const double utilisation : {0.3, 0.7, 0.9}) {
    const ServiceQueue queue{
        ServiceTimes({{1, 0.02}, {16, 0.03}}), ServiceVariation::kExponential, {16, 0s}, 4};
    const double per_s = utilisation * capacity_per_s(queue);
    ASSERT_TRUE(has_formula(queue, per_s, Spacing::kPoisson));
    const StationaryQueue approximated = stationary_queue(queue, per_s, Spacing::kPoisson, {});
    const QueueResult served = test::served(queue, per_s, 3e6 / per_s, 11);
    const double mean_s = served.latency.mean_s();
    EXPECT_NEAR(approximated.result.latency.mean_s(), mean_s, kOfMean * mean_s);
    const double p99_s = served.latency.quantile_s(0.99);
    EXPECT_NEAR(approximated.result.latency.quantile_s(0.99), p99_s, kOfTail * p99_s);
    EXPECT_NEAR(approximated.result.utilisation(), served.utilisation(), 0.02);
    EXPECT_NEAR(approximated.result.mean_batch(), served.mean_batch(), 0.03 * served.mean_batch());
  }
}

TEST(QueueApproximation, SamplesAgreeWithTheSimulation) {
  expect_agreement_at({0.1, 16, 1, ServiceVariation::kExponential, true});
  expect_agreement_at({0.7, 4, 2, ServiceVariation::kExponential, true});
  expect_agreement_at({0.9, 16, 8, ServiceVariation::kConstant, false});
  expect_agreement_at({0.9, 4, 1, ServiceVariation::kConstant, true});
}

/// Both methods on one load. The simulation has the requests of five seeds.
void expect_agreement(const ServiceQueue& queue, const RequestLoad& load,
                      const ApproximationOptions& options, Method expected) {
  const ApproximatedQueue approximated = approximate_queue(queue, load, Spacing::kPoisson, options);
  QueueResult simulated;
  for (std::uint64_t seed = 21; seed < 26; ++seed) {
    LoadRequests source(load, Spacing::kPoisson, seed);
    QueueSimulation simulation{.seed = seed};
    simulation.stretch = options.stretch;
    simulation.until = load.end;
    simulated.add(simulate_queue(queue, source, simulation));
  }
  const double mean_s = simulated.latency.mean_s();
  EXPECT_NEAR(approximated.result.latency.mean_s(), mean_s, kOfMean * mean_s);
  const double p99_s = simulated.latency.quantile_s(0.99);
  EXPECT_NEAR(approximated.result.latency.quantile_s(0.99), p99_s, kOfTail * p99_s);
  EXPECT_NEAR(approximated.result.utilisation(), simulated.utilisation(), 0.02);
  EXPECT_NEAR(approximated.result.mean_batch(), simulated.mean_batch(),
              0.05 * simulated.mean_batch());
  EXPECT_NEAR(static_cast<double>(approximated.result.latency.count()),
              mean_rate(load) * to_seconds(load.end),
              0.02 * mean_rate(load) * to_seconds(load.end));
  EXPECT_EQ(approximated.result.span, load.end);
  std::uint64_t sum = 0;
  for (const std::uint64_t requests : approximated.requests) sum += requests;
  EXPECT_EQ(sum, approximated.result.latency.count());
  EXPECT_GT(approximated.requests[static_cast<std::size_t>(expected)], sum / 10);
}

TEST(QueueApproximation, ADayOfChangingLoad) {
  const ServiceQueue queue = queue_of(0.05, 1, ServiceVariation::kExponential);
  const RequestLoad load =
      diurnal_load({.mean_per_s = 10, .swing = 0.6, .period = 4h, .peak = 2h, .steps = 24}, 8h);
  expect_agreement(queue, load, {}, Method::kFormula);
  ApproximationOptions samples;
  samples.use_formulas = false;
  samples.most_simulated = 0;
  expect_agreement(queue, load, samples, Method::kSample);
}

TEST(QueueApproximation, AStretchThatChanges) {
  const ServiceQueue queue = queue_of(0.05, 2, ServiceVariation::kConstant);
  ApproximationOptions options;
  options.stretch = StepFunction({{0s, 1}, {2000s, 1.5}, {4000s, 1.2}});
  expect_agreement(queue, constant_load(20, 6000s), options, Method::kFormula);
}

TEST(QueueApproximation, AnOverloadThatDrains) {
  const ServiceQueue queue = queue_of(0.05, 1, ServiceVariation::kConstant);
  const RequestLoad load{StepFunction({{0s, 10}, {1000s, 30}, {1500s, 10}}), 4000s};
  expect_agreement(queue, load, {}, Method::kSimulated);
  ApproximationOptions fluid;
  fluid.most_simulated = 0;
  expect_agreement(queue, load, fluid, Method::kFluid);
}

TEST(QueueApproximation, LevelsTooShortToSettleAreSimulated) {
  const ServiceQueue queue = queue_of(0.5, 2, ServiceVariation::kExponential);
  std::vector<Step> steps;
  for (int i = 0; i < 400; ++i) steps.push_back({i * 10s, i % 2 == 0 ? 1.0 : 5.0});
  expect_agreement(queue, {StepFunction(steps), 4000s}, {}, Method::kSimulated);
}

TEST(QueueApproximation, AShortSpanWithoutFormulaIsSimulated) {
  const ServiceQueue queue = queue_of(0.05, 2, ServiceVariation::kConstant, 4, 20ms);
  expect_agreement(queue, constant_load(100, 500s), {}, Method::kSimulated);
  ApproximationOptions samples;
  samples.most_simulated = 0;
  expect_agreement(queue, constant_load(100, 500s), samples, Method::kSample);
}

TEST(QueueApproximation, AFluidNearCapacityKeepsItsRequests) {
  ApproximationOptions fluid;
  fluid.most_simulated = 0;
  const ServiceQueue queue = queue_of(0.05, 1, ServiceVariation::kConstant);
  for (const double per_s : {19.6, 20.0, 25.0}) {
    const auto found =
        approximate_queue(queue, constant_load(per_s, 100s), Spacing::kPoisson, fluid);
    EXPECT_EQ(found.result.latency.count(), static_cast<std::uint64_t>(std::llround(100 * per_s)));
    EXPECT_EQ(found.result.span, 100s);
    EXPECT_LE(found.result.utilisation(), 1.000001);
  }
}

TEST(QueueApproximation, ManyReplicasAndLargeBatchesTakeLittleTimeAndMemory) {
  for (const ServiceVariation variation :
       {ServiceVariation::kConstant, ServiceVariation::kExponential}) {
    const ServiceQueue many = queue_of(0.5, 20'000, variation);
    const StationaryQueue found = stationary_queue(many, 36'000, Spacing::kPoisson, {});
    EXPECT_NEAR(found.result.latency.mean_s(), 0.5, 0.005);
    const ServiceQueue large = queue_of(1, 1, variation, 100'000);
    EXPECT_FALSE(has_formula(large, 90'000, Spacing::kPoisson));
    EXPECT_FALSE(has_formula(queue_of(1, 2, variation, 64), 125, Spacing::kPoisson));
  }
}

TEST(QueueApproximation, NoLoadNoRequests) {
  const ApproximatedQueue none = approximate_queue(queue_of(1, 1, ServiceVariation::kConstant),
                                                   constant_load(0, 1h), Spacing::kPoisson, {});
  EXPECT_EQ(none.result.latency.count(), 0U);
  EXPECT_EQ(none.result.span, 1h);
  EXPECT_EQ(none.result.utilisation(), 0);
}

TEST(QueueApproximation, TheSameBytesAgain) {
  const ServiceQueue queue = queue_of(0.05, 2, ServiceVariation::kExponential, 4, 20ms);
  const RequestLoad load = burst_load({2, 100, 100s, 10s}, 2000s, 5);
  const auto once = approximate_queue(queue, load, Spacing::kPoisson, {});
  const auto again = approximate_queue(queue, load, Spacing::kPoisson, {});
  EXPECT_EQ(once.result.latency.mean_s(), again.result.latency.mean_s());
  EXPECT_EQ(once.requests, again.requests);
}

TEST(QueueApproximation, RefusesAStretchOfZero) {
  ApproximationOptions options;
  options.stretch = StepFunction(0.0);
  EXPECT_THROW(approximate_queue(queue_of(1, 1, ServiceVariation::kConstant), constant_load(1, 1h),
                                 Spacing::kPoisson, options),
               InputError);
}

}  // namespace
}  // namespace corun::queue_approximation_test
