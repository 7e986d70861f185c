#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/records/metrics.hpp"
#include "sim/service_traffic.hpp"
#include "tests/helpers/builders.hpp"

/// Replicas of services in the engine: by hand, to the nanosecond.
namespace corun::test::replicas_test {
namespace {

using namespace std::chrono_literals;

/// Intervals of 10 s, in each of which replicas work in a given share of time whatever their speed.
class GivenTraffic final : public ServiceTraffic {
 public:
  GivenTraffic(std::vector<double> busy, JobId replica)
      : busy_(std::move(busy)), replica_(replica) {}

  Time next_change() const override {
    return at_ + 1 < busy_.size() ? Time(10s) * static_cast<std::int64_t>(at_ + 1) : kNever;
  }
  void advance(Time) override { ++at_; }
  void runs(JobId replica, Time now, double speed) override {
    EXPECT_EQ(replica, replica_);
    seen.emplace_back(now, speed);
  }
  double busy(JobId, double) const override { return busy_[at_]; }
  void running(std::vector<JobId>& out) const override {
    if (!seen.empty() && seen.back().second > 0) out.push_back(replica_);
  }

  std::vector<std::pair<Time, double>> seen;

 private:
  std::vector<double> busy_;
  JobId replica_;
  std::size_t at_ = 0;
};

JobSpec replica_until(Time end) {
  JobSpec spec = job(end);
  spec.service = 0;
  spec.ends = end;
  return spec;
}

RunOptions with(GivenTraffic& traffic) {
  RunOptions options = join();
  options.simulation.services = &traffic;
  return options;
}

// Beside a working replica the job has speed 0.5, so beside one that works in 40 % of the time 0.8: 80 s take 100 s.
TEST(Replicas, SlowTheirCoRunnersInTheShareOfTimeInWhichTheyWork) {
  const OwnedWorkload w = workload({job(80s), replica_until(150s)});
  GivenTraffic traffic({0.4}, J(1));
  ScriptedPolicy policy = steps({{{J(1)}, {G(0)}}, {{J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, TableWorld({0.5, 0.7}), policy, with(traffic));
  EXPECT_EQ(r.record.jobs[0].finish, Time(100s));
  EXPECT_EQ(r.record.jobs[1].finish, Time(150s));
  const std::vector<std::pair<Time, double>> seen{{0s, 1.0}, {0s, 0.7}, {100s, 1.0}, {150s, 0.0}};
  EXPECT_EQ(traffic.seen, seen);
}

// 10 s at 0.8 are 8 s of work; from then on the replica always works: 10 s more at 0.5. Then it rests: 7 s are left.
TEST(Replicas, ChangeTheSpeedOfCoRunnersWithTheirLoad) {
  const OwnedWorkload w = workload({job(20s), replica_until(60s)});
  GivenTraffic traffic({0.4, 1, 0}, J(1));
  ScriptedPolicy policy = steps({{{J(1)}, {G(0)}}, {{J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, TableWorld({0.5, 0.7}), policy, with(traffic));
  EXPECT_EQ(r.record.jobs[0].finish, Time(27s));
}

TEST(Replicas, EndAtTheirTimeWheneverTheyStartAndOnAnyGpu) {
  for (const double speed : {0.5, 2.0}) {
    for (const Time from : {Time(0s), Time(25s), Time(70s)}) {
      const OwnedWorkload w = workload({job(5s), replica_until(60s)});
      GivenTraffic traffic({1}, J(1));
      ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}, from}});
      const RunResult r = run(cluster(1, 2, speed), w, TableWorld({1, 1}), policy, with(traffic));
      EXPECT_EQ(r.record.jobs[1].finish, from < Time(60s) ? Time(60s) : from + Duration(1));
    }
  }
}

TEST(Replicas, CanLeaveAndComeBack) {
  const OwnedWorkload w = workload({job(5s), replica_until(60s)});
  GivenTraffic traffic({1}, J(1));
  int call = 0;
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    ++call;
    if (call == 1) {
      out.emplace_back(StartGroup{{J(0)}, {G(0)}});
      out.emplace_back(StartGroup{{J(1)}, {G(1)}});
      out.emplace_back(WakeAt{20s});
    } else if (view.now() == Time(20s)) {
      if (view.waiting().empty()) {
        out.emplace_back(Preempt{{J(1)}});
        out.emplace_back(WakeAt{30s});
      }
    } else if (view.now() == Time(30s) && !view.waiting().empty()) {
      out.emplace_back(StartGroup{{J(1)}, {G(0)}});
    }
  });
  RunOptions options = with(traffic);
  options.traits.moves_running_jobs = true;
  const RunResult r = run(cluster(1, 2), w, TableWorld({1, 1}), policy, options);
  const JobRecord& record = r.record.jobs[1];
  EXPECT_EQ(record.finish, Time(60s));
  EXPECT_EQ(record.corun(), Duration(50s));
  EXPECT_EQ(record.solo, Duration(50s));
  const std::vector<std::pair<Time, double>> seen{{0s, 1.0}, {20s, 0.0}, {30s, 1.0}, {60s, 0.0}};
  EXPECT_EQ(traffic.seen, seen);
}

// Metrics are those of the job. A co-run with a service is no episode for beliefs; service_lessons_test has what they learn.
TEST(Replicas, AreNoJobsInMetrics) {
  const OwnedWorkload w = workload({job(80s), replica_until(150s)});
  GivenTraffic traffic({0.4}, J(1));
  ScriptedPolicy policy = steps({{{J(1)}, {G(0)}}, {{J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, TableWorld({0.5, 0.7}), policy, with(traffic));
  const MetricValues metrics = compute_metrics(r.record);
  EXPECT_DOUBLE_EQ(at(metrics, Metric::kJobs), 1);
  EXPECT_DOUBLE_EQ(at(metrics, Metric::kJctS), 100);
  EXPECT_DOUBLE_EQ(at(metrics, Metric::kIsd), 0.25);
  EXPECT_DOUBLE_EQ(at(metrics, Metric::kPsTotal), 1 - 150.0 / (80 + 150));
  EXPECT_FALSE(at(metrics, Metric::kPs) == at(metrics, Metric::kPs)) << "no episode of jobs alone";
  EXPECT_TRUE(policy.seen.empty());
}

// Two replicas work in half of the time each, independently; each costs the job a factor of 0.5 while it works.
TEST(Replicas, OfOneGpuWorkIndependently) {
  class Halves final : public World {
   public:
    Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t>,
                      std::span<double> out) const override {
      for (double& speed : out) speed = 1;
      if (co_runners.residents.front() == J(0)) {
        out[0] = std::pow(0.5, static_cast<double>(co_runners.residents.size() - 1));
      }
      return Provenance::kModelled;
    }
  };
  class Both final : public ServiceTraffic {
   public:
    Time next_change() const override { return kNever; }
    void advance(Time) override {}
    void runs(JobId, Time, double) override {}
    double busy(JobId, double) const override { return 0.5; }
    void running(std::vector<JobId>&) const override {}
  };
  const OwnedWorkload w = workload({job(9s), replica_until(60s), replica_until(60s)});
  Both traffic;
  RunOptions options = join();
  options.simulation.services = &traffic;
  ScriptedPolicy policy = steps({{{J(1), J(2)}, {G(0)}}, {{J(0)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, Halves(), policy, options);
  // 1/4 x 1 + 1/2 x 1/2 + 1/4 x 1/4 = 9/16
  EXPECT_EQ(r.record.jobs[0].finish, Time(16s));
}

}  // namespace
}  // namespace corun::test::replicas_test
