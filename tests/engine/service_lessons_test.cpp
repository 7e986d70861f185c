#include "sim/engine/service_lessons.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "sim/engine/control_loop.hpp"
#include "sim/engine/simulated_backend.hpp"
#include "tests/helpers/builders.hpp"

/// What jobs that finish beside services teach: by hand.
namespace corun::test::service_lessons_test {
namespace {

using namespace std::chrono_literals;

/// One service, observed every 10 s, whose replica works in a given share of time whatever its speed.
class ObservedTraffic final : public ServiceTraffic {
 public:
  ObservedTraffic(double busy, JobId replica) : busy_(busy), replica_(replica) {}

  Time next_change() const override { return next_; }
  void advance(Time now) override {
    move(now);
    ++view.intervals;
    view.busy = busy_;
    view.busy_s += busy_ * 10;
    view.replica_s += 10;
    next_ += Duration(10s);
  }
  void runs(JobId, Time now, double speed) override {
    move(now);
    speed_ = speed;
  }
  double busy(JobId, double) const override { return busy_; }
  ReplicaWork work(JobId, Time now) const override {
    const double s = speed_ > 0 ? to_seconds(now - now_) : 0;
    return {work_.on_s + s, work_.worked_s + s * speed_};
  }
  void running(std::vector<JobId>& out) const override {
    if (speed_ > 0) out.push_back(replica_);
  }

  ServiceView view;

 private:
  void move(Time now) {
    work_ = work(replica_, now);
    now_ = now;
  }
  double busy_;
  JobId replica_;
  double speed_ = 0;
  ReplicaWork work_;
  Time now_{0};
  Time next_{10s};
};

JobSpec replica_until(Time end) {
  JobSpec spec = job(end);
  spec.service = 0;
  spec.ends = end;
  return spec;
}

/// Job 1 is the replica. A job has half of its speed beside it while it works, and the replica 0.7 of its own beside a job.
std::vector<ProbeOutcome> learnt(std::vector<JobSpec> jobs, double busy, std::vector<Step> list) {
  const OwnedWorkload w = workload(std::move(jobs));
  ObservedTraffic traffic(busy, J(1));
  ScriptedPolicy policy = steps(std::move(list));
  const ClusterSpec spec = cluster(1, 1);
  const TableWorld world({0.5, 0.7});
  RunOptions options = join();
  options.simulation.services = &traffic;
  SimulatedBackend backend(spec, w, world, options.simulation);
  std::vector<JobView> views = job_views(w);
  views[1].service = &traffic.view;
  ControlLoop(backend, {policy, "scripted", options.traits}, std::move(views), options.control)
      .run();
  return policy.probed;
}

// 80 s of work took 100 s beside a replica that worked in 40 % of the time: beside a working one the speed is 0.5.
TEST(ServiceLessons, AJobTeachesTheSpeedsOfBothWhileBothWork) {
  const auto lessons =
      learnt({job(80s), replica_until(150s)}, 0.4, {{{J(1)}, {G(0)}}, {{J(0)}, {G(0)}, Time(5s)}});
  ASSERT_EQ(lessons.size(), 1U);
  EXPECT_EQ(lessons[0].a, J(0));
  EXPECT_EQ(lessons[0].b, J(1));
  EXPECT_DOUBLE_EQ(lessons[0].speed_a, 0.5);
  EXPECT_DOUBLE_EQ(lessons[0].speed_b, 0.7);
  EXPECT_EQ(lessons[0].end, Time(105s));
}

TEST(ServiceLessons, NothingIsLearntFromAJobThatHadOtherCompanyOrTooLittle) {
  const JobSpec replica = replica_until(500s);
  // The replica came later, and left earlier.
  EXPECT_TRUE(
      learnt({job(80s), replica}, 0.4, {{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}, Time(5s)}}).empty());
  EXPECT_TRUE(
      learnt({job(180s), replica_until(150s)}, 0.4, {{{J(1)}, {G(0)}}, {{J(0)}, {G(0)}}}).empty());
  // Fewer than five intervals; a replica that hardly works.
  EXPECT_TRUE(learnt({job(30s), replica}, 0.4, {{{J(1)}, {G(0)}}, {{J(0)}, {G(0)}}}).empty());
  EXPECT_TRUE(learnt({job(80s), replica}, 0.05, {{{J(1)}, {G(0)}}, {{J(0)}, {G(0)}}}).empty());
  // A second job joined the first: neither was beside the replica alone.
  class Three final : public World {
   public:
    Provenance speeds(const CoRunners&, std::optional<std::uint64_t>,
                      std::span<double> out) const override {
      for (double& speed : out) speed = 1;
      return Provenance::kModelled;
    }
  };
  const OwnedWorkload w = workload({job(80s), replica, job(80s)});
  ObservedTraffic traffic(0.4, J(1));
  ScriptedPolicy policy = steps({{{J(1)}, {G(0)}}, {{J(0)}, {G(0)}}, {{J(2)}, {G(0)}, Time(70s)}});
  const ClusterSpec spec = cluster(1, 1);
  RunOptions options = join();
  options.simulation.services = &traffic;
  const Three world;
  SimulatedBackend backend(spec, w, world, options.simulation);
  std::vector<JobView> views = job_views(w);
  views[1].service = &traffic.view;
  ControlLoop(backend, {policy, "scripted", options.traits}, std::move(views), options.control)
      .run();
  EXPECT_TRUE(policy.probed.empty());
}

TEST(ServiceLessons, ASpeedThatNoLoadExplainsIsNone) {
  EXPECT_DOUBLE_EQ(*speed_beside_working(80s, 100s, 1), 0.8);
  EXPECT_DOUBLE_EQ(*speed_beside_working(80s, 100s, 0.4), 0.5);
  EXPECT_FALSE(speed_beside_working(50s, 100s, 0.4)) << "slower than by a replica that stops it";
  EXPECT_FALSE(speed_beside_working(Duration{0}, 100s, 0.4));
}

}  // namespace
}  // namespace corun::test::service_lessons_test
