#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/allocation_speeds.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/builders.hpp"
#include "tests/helpers/random_runs.hpp"
#include "tests/helpers/run_times.hpp"

/// Jobs of several phases, jobs that are resized, and jobs whose speed depends on where their GPUs are: by hand to the
/// nanosecond, and beside a small simulator of its own.
namespace corun::test::changing_jobs_test {
namespace {

using namespace std::chrono_literals;

/// What a policy does at a time.
struct Act {
  enum class Kind : std::uint8_t { kStart, kPreempt, kResize };
  Time at{0};
  Kind kind = Kind::kStart;
  JobId job{};
  std::vector<GpuId> gpus = {};
};

class Acts final : public Policy {
 public:
  explicit Acts(std::vector<Act> acts) : acts_(std::move(acts)) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    while (next_ < acts_.size() && acts_[next_].at <= view.now()) {
      const Act& act = acts_[next_++];
      switch (act.kind) {
        case Act::Kind::kStart:
          out.emplace_back(StartGroup{{act.job}, act.gpus});
          break;
        case Act::Kind::kPreempt:
          out.emplace_back(Preempt{{act.job}});
          break;
        case Act::Kind::kResize:
          out.emplace_back(Resize{act.job, act.gpus});
          break;
      }
    }
    if (next_ < acts_.size() && woken_ <= next_) {
      out.emplace_back(WakeAt{acts_[next_].at});
      woken_ = next_ + 1;
    }
  }
  void changed(const JobView& job, Time now) override { seen.emplace_back(now, job.profile); }

  std::vector<std::pair<Time, Profile>> seen;

 private:
  std::vector<Act> acts_;
  std::size_t next_ = 0;
  std::size_t woken_ = 0;
};

RunOptions moving() {
  RunOptions options = join();
  options.traits.moves_running_jobs = true;
  return options;
}

/// Co-runners slow each job or phase to its own speed; so does the network, by level.
class ChangingWorld final : public World {
 public:
  ChangingWorld(std::vector<double> beside, std::vector<ParallelJob> jobs, LevelSpeeds levels)
      : beside_(std::move(beside)), by_allocation_(std::move(jobs), levels) {}

  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t>,
                    std::span<double> out) const override {
    EXPECT_TRUE(std::ranges::is_sorted(co_runners.residents));
    EXPECT_TRUE(std::ranges::includes(co_runners.formed, co_runners.residents));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = beside_[index(co_runners.residents[i])];
    return Provenance::kModelled;
  }
  const AllocationSpeed* by_allocation() const override { return &by_allocation_; }

 private:
  std::vector<double> beside_;
  AllocationSpeeds by_allocation_;
};

ChangingWorld world_of(std::size_t numbers, LevelSpeeds levels = {}) {
  return {std::vector<double>(numbers, 1), std::vector<ParallelJob>(numbers), levels};
}

Act start(Time at, JobId job, std::vector<GpuId> gpus) {
  return {at, Act::Kind::kStart, job, std::move(gpus)};
}

// 40 s, then 60 s: ends at 100 s, as one phase would; the policy sees the second profile at 40 s.
TEST(ChangingJobs, TwoPhasesAlone) {
  OwnedWorkload w = workload({job(100s)});
  set_phases(w, J(0), {job(40s).util(20), job(60s).util(80)});
  Acts policy({start(0s, J(0), {G(0)})});
  const RunResult r = run(cluster(1, 1), w, world_of(3), policy, moving());
  EXPECT_EQ(r.record.jobs[0].finish, 100s);
  EXPECT_EQ(r.record.jobs[0].solo, 100s);
  EXPECT_EQ(r.log, (EventLog{{0s, LogKind::kArrive, J(0), {}},
                             {0s, LogKind::kStart, J(0), {G(0)}},
                             {40s, LogKind::kPhase, J(0), {}},
                             {100s, LogKind::kFinish, J(0), {}}}));
  ASSERT_EQ(policy.seen.size(), 1U);
  EXPECT_EQ(policy.seen[0].first, 40s);
  EXPECT_EQ(policy.seen[0].second.gpu_util_pct, 80);
  EXPECT_DOUBLE_EQ(r.record.usage.util_s, 0.2 * 40 + 0.8 * 60);
}

// Beside B (speed 1/2 each): A's first phase of 30 s ends at 60 s. In its second A does 1/4 and B still 1/2, for B's
// speed is its own: A's 10 s take to 100 s, B's 70 s: 50 s of work at 100 s, then alone: 120 s.
// J_a of A is 40 s: ISD 1.5.
TEST(ChangingJobs, ACoRunChangesWithThePhase) {
  OwnedWorkload w = workload({job(40s), job(70s)});
  set_phases(w, J(0), {job(30s), job(10s)});
  Acts policy({start(0s, J(0), {G(0)}), start(0s, J(1), {G(0)})});
  const ChangingWorld world({0.5, 0.5, 0.5, 0.25}, std::vector<ParallelJob>(4), {});
  const RunResult r = run(cluster(1, 1), w, world, policy, moving());
  EXPECT_EQ(r.record.jobs[0].finish, 100s);
  EXPECT_EQ(r.record.jobs[1].finish, 120s);
  EXPECT_DOUBLE_EQ(r.record.jobs[0].isd(), 1.5);
}

// A gang of two on one node, across nodes (0.8) and across switches (0.5): 100, 125 and 200 s. J_a is that of the same
// allocation, so that ISD is 0.
TEST(ChangingJobs, AGangAcrossASwitch) {
  ClusterSpec spec = cluster(4, 2);
  spec.nodes[2].switch_id = spec.nodes[3].switch_id = 1;
  for (const auto& [other, expected] :
       std::vector<std::pair<GpuId, Time>>{{G(1), 100s}, {G(2), 125s}, {G(4), 200s}}) {
    Acts policy({start(0s, J(0), {G(0), other})});
    const RunResult r = run(spec, workload({job(100s).gpus(2)}),
                            ChangingWorld({1}, {{2, 1}}, {0.8, 0.5}), policy, moving());
    EXPECT_EQ(r.record.jobs[0].finish, expected);
    EXPECT_EQ(r.record.jobs[0].isd(), 0);
  }
}

// Amdahl with a parallel share of 0.8: on one GPU 1, on two 1 / (0.2 + 0.4), relative to the two that it asks for.
// 30 s on two GPUs do 30 of 100 s; on one GPU the speed is 0.6: 70 / 0.6 s. With 4 s of save and 5 s of restore at full
// speed, 9 s more. Asked on one GPU at 30 s: ends at 30 + 9 + 116.667 s.
TEST(ChangingJobs, AResizeInMidPhaseWithItsCost) {
  const OwnedWorkload w = workload({job(100s).gpus(2).elastic(1, 2)});
  for (const bool costs : {false, true}) {
    Acts policy({start(0s, J(0), {G(0), G(1)}), {30s, Act::Kind::kResize, J(0), {G(2)}}});
    RunOptions options = moving();
    if (costs) options.simulation.preemption = {4s, 5s, 0};
    const ChangingWorld world({1}, {{2, 0.8}}, {});
    const RunResult r = run(cluster(1, 3), w, world, policy, options);
    const JobRecord& record = r.record.jobs[0];
    const Duration rest{static_cast<std::int64_t>(std::llround(70e9 / 0.6))};
    EXPECT_EQ(record.finish, 30s + rest + (costs ? 9s : 0s));
    EXPECT_EQ(record.solo, 30s + rest);
    EXPECT_EQ(record.corun(), record.finish) << "its time on GPUs";
    EXPECT_EQ(record.resizes, 1);
    EXPECT_EQ(record.preemptions, 0);
    EXPECT_EQ(r.log, (EventLog{{0s, LogKind::kArrive, J(0), {}},
                               {0s, LogKind::kStart, J(0), {G(0), G(1)}},
                               {30s, LogKind::kResize, J(0), {}},
                               {30s, LogKind::kStart, J(0), {G(2)}},
                               {record.finish, LogKind::kFinish, J(0), {}}}));
  }
}

// 10 s without work at the start and after the move, by the clock: at speed 0.6 on one GPU, too. 20 s of work by 30 s; 80 / 0.6
// s more from 40 s on. A move at 35 s, before the second start has been paid, does no work before 45 s.
TEST(ChangingJobs, EachStartTakesItsTimeWhateverTheSpeed) {
  OwnedWorkload w = workload({job(100s).gpus(2).elastic(1, 2)});
  w.jobs[0].start_cost = 10s;
  const ChangingWorld world({1}, {{2, 0.8}}, {});
  const Duration rest{static_cast<std::int64_t>(std::llround(80e9 / 0.6))};
  for (const bool again : {false, true}) {
    std::vector<Act> acts{start(0s, J(0), {G(0), G(1)}), {30s, Act::Kind::kResize, J(0), {G(2)}}};
    if (again) acts.push_back({35s, Act::Kind::kResize, J(0), {G(1)}});
    Acts policy(acts);
    const RunResult r = run(cluster(1, 3), w, world, policy, moving());
    const JobRecord& record = r.record.jobs[0];
    EXPECT_EQ(record.finish, (again ? 45s : 40s) + rest);
    EXPECT_EQ(record.solo, 20s + rest) << "what a start costs is no work";
  }
}

// Phases of 10.4, 10.4 and 10.6 s on a grid of a second. The first ends after 10 s by a nanosecond, so that the policy, which
// looks at 10 s, still sees it; the second 10.4 s later, at 20.4 s, again after 20 s; the third at 30.6 s, which is 31 s.
TEST(ChangingJobs, EndsOfPhasesOnAGridStayOnTheirSide) {
  OwnedWorkload w = workload({job(1s)});
  set_phases(w, J(0), {job(10'400ms).util(1), job(10'400ms).util(2), job(10'600ms).util(3)});
  w.phase_grid = 1s;
  Acts policy({start(0s, J(0), {G(0)})});
  const RunResult r = run(cluster(1, 1), w, world_of(4), policy, moving());
  ASSERT_EQ(policy.seen.size(), 2U);
  EXPECT_EQ(policy.seen[0].first, 10s + 1ns);
  EXPECT_EQ(policy.seen[1].first, 20s + 1ns);
  EXPECT_EQ(r.record.jobs[0].finish, 31s);
}

/// By Amdahl's law; a second of work is 10 samples on two GPUs and 8 on one, worth 4 on any.
class SampledWorld final : public World, private AllocationSpeed {
 public:
  Provenance speeds(const CoRunners&, std::optional<std::uint64_t>,
                    std::span<double> out) const override {
    std::ranges::fill(out, 1.0);
    return Provenance::kModelled;
  }
  const AllocationSpeed* by_allocation() const override { return this; }

 private:
  double factor(JobId job, const Allocation& on) const override { return amdahl_.factor(job, on); }
  bool counts_samples() const override { return true; }
  Samples samples(JobId, const Allocation& on) const override {
    return {.processed = on.gpus == 2 ? 10.0 : 8.0, .useful = 4};
  }
  AllocationSpeeds amdahl_{{{2, 0.8}}, {}};
};

// 30 s of work on two GPUs, then 70 s on one at speed 0.6: 300 + 560 samples, worth 400, in 30 + 116.667 s. With half of the
// run's work lost 85 s are left: 300 + 680 samples, still worth 400, in 30 + 141.667 s.
TEST(ChangingJobs, SamplesAreCountedOnEachAllocation) {
  const OwnedWorkload w = workload({job(100s).gpus(2).elastic(1, 2)});
  for (const double lost : {0.0, 0.5}) {
    Acts policy({start(0s, J(0), {G(0), G(1)}), {30s, Act::Kind::kResize, J(0), {G(2)}}});
    RunOptions options = moving();
    options.simulation.preemption = {0s, 0s, lost};
    const JobRecord record = run(cluster(1, 3), w, SampledWorld(), policy, options).record.jobs[0];
    const double corun_s = 30 + (lost > 0 ? 85 : 70) / 0.6;
    EXPECT_NEAR(record.throughput(), (lost > 0 ? 980 : 860) / corun_s, 1e-6);
    EXPECT_NEAR(record.goodput(), 400 / corun_s, 1e-6);
    EXPECT_EQ(record.restarts(), 1);
  }
  Acts alone({start(0s, J(0), {G(0), G(1)})});
  const JobRecord record = run(cluster(1, 2), w, world_of(1), alone, moving()).record.jobs[0];
  EXPECT_TRUE(std::isnan(record.throughput())) << "not told";
}

/// Jobs on several nodes halve each other's speed on a shared node.
class CrowdedWorld final : public World, private AllocationSpeed {
 public:
  Provenance speeds(const CoRunners&, std::optional<std::uint64_t>,
                    std::span<double> out) const override {
    std::ranges::fill(out, 1.0);
    return Provenance::kModelled;
  }
  const AllocationSpeed* by_allocation() const override { return this; }

 private:
  double factor(JobId, const Allocation&) const override { return 1; }
  double beside_spread_jobs() const override { return 0.5; }
};

// Nodes of two GPUs. A is on nodes 0 and 1. At 10 s B comes to nodes 1 and 2: both halve. C is on node 0 alone: it neither slows
// nor is slowed. B does 20 s by 50 s; A has then done 10 + 20 s and has 70 s left: 120 s.
TEST(ChangingJobs, JobsOnSeveralNodesSlowEachOtherOnASharedOne) {
  const OwnedWorkload w = workload({job(100s).gpus(2), job(20s).gpus(2).at(10s), job(60s)});
  Acts policy(
      {start(0s, J(0), {G(0), G(2)}), start(0s, J(2), {G(1)}), start(10s, J(1), {G(3), G(4)})});
  const RunResult r = run(cluster(3, 2), w, CrowdedWorld(), policy, moving());
  EXPECT_EQ(r.record.jobs[2].finish, 60s);
  EXPECT_EQ(r.record.jobs[1].finish, 50s);
  EXPECT_EQ(r.record.jobs[0].finish, 120s);
  EXPECT_EQ(r.record.jobs[0].solo, 100s) << "a slow network is a slowdown";
}

/// A job knows nothing at first and has half of its speed; once it has measured, all of it.
class LearningJobs final : public JobTuning {
 public:
  Duration interval() const override { return 30s; }
  double choose(JobId, const Allocation&) override { return measured_ > 0 ? 1.0 : 0.5; }
  void measure(JobId, const Allocation&) override { ++measured_; }
  const AllocationBelief& belief() const override { return belief_; }

 private:
  int measured_ = 0;
  AllocationSpeeds belief_{{}, {}};
};

// Work of 100 s, on one GPU and on two. 30 s at half speed leave 85 s: it ends at 115 s. Where its start takes 40 s it has
// measured nothing at 30 s, and has done 10 s at 60 s: it ends at 150 s.
TEST(ChangingJobs, TuneThemselvesAtEachInterval) {
  for (const std::vector<GpuId>& gpus : {std::vector{G(0)}, std::vector{G(0), G(1)}}) {
    for (const auto& [start_cost, finish] :
         std::vector<std::pair<Duration, Time>>{{0s, 115s}, {40s, 150s}}) {
      OwnedWorkload w = workload({job(100s).gpus(static_cast<int>(gpus.size()))});
      w.jobs[0].start_cost = start_cost;
      const ChangingWorld world({1}, {{static_cast<int>(gpus.size()), 1}}, {});
      LearningJobs tuning;
      RunOptions options = moving();
      options.simulation.tuning = &tuning;
      Acts policy({start(0s, J(0), gpus)});
      const RunResult r = run(cluster(1, 2), w, world, policy, options);
      EXPECT_EQ(r.record.jobs[0].finish, finish);
      EXPECT_EQ(r.record.jobs[0].solo, 100s) << "of the best choice";
    }
  }
}

// Phases of 10 s: the end of the first is a measurement, so that the second has all of the speed.
TEST(ChangingJobs, TuneThemselvesWhereAPhaseBegins) {
  OwnedWorkload w = workload({job(20s)});
  set_phases(w, J(0), {job(10s).util(1), job(10s).util(2)});
  const ChangingWorld world({1, 1, 1}, {{1, 1}, {1, 1}, {1, 1}}, {});
  LearningJobs tuning;
  RunOptions options = moving();
  options.simulation.tuning = &tuning;
  Acts policy({start(0s, J(0), {G(0)})});
  const RunResult r = run(cluster(1, 1), w, world, policy, options);
  EXPECT_EQ(r.record.jobs[0].finish, 30s);
}

// Phases of 20 and 80 s. Preempted at 50 s with half of the run's progress lost: 25 s are kept, so it is in its second
// phase with 75 s left, and ends at 125 s. With nine tenths lost 5 s are kept: it is back in its first phase.
TEST(ChangingJobs, LostWorkMayTakeAJobBackAPhase) {
  OwnedWorkload w = workload({job(100s)});
  set_phases(w, J(0), {job(20s).util(10), job(80s).util(90)});
  for (const auto& [lost, finish, changes] :
       std::vector<std::tuple<double, Time, std::size_t>>{{0.5, 125s, 1}, {0.9, 145s, 3}}) {
    Acts policy(
        {start(0s, J(0), {G(0)}), {50s, Act::Kind::kPreempt, J(0)}, start(50s, J(0), {G(0)})});
    RunOptions options = moving();
    options.simulation.preemption.lost_work = lost;
    const RunResult r = run(cluster(1, 1), w, world_of(3), policy, options);
    EXPECT_EQ(r.record.jobs[0].finish, finish);
    EXPECT_EQ(r.record.jobs[0].solo, 100s);
    EXPECT_EQ(policy.seen.size(), changes);
  }
}

// A second phase that does not fit beside B: A does no more work, fails after 20 s, and all of its run is lost. It
// starts again alone once B has ended. B's ISD is that of the co-run alone.
TEST(ChangingJobs, APhaseThatRunsOutOfMemory) {
  OwnedWorkload w = workload({job(60s), job(200s).memory(600)});
  set_phases(w, J(0), {job(40s).memory(300), job(20s).memory(500)});
  ClusterSpec spec = cluster(1, 1, 1, 1000);
  spec.oom = {20s, 3};
  Acts policy({start(0s, J(0), {G(0)}), start(0s, J(1), {G(0)}), start(250s, J(0), {G(0)})});
  const RunResult r = run(spec, w, world_of(4), policy, moving());
  const JobRecord& a = r.record.jobs[0];
  EXPECT_EQ(a.ooms, 1);
  EXPECT_EQ(a.finish, 310s) << "from its beginning";
  EXPECT_EQ(a.solo, 60s);
  EXPECT_EQ(r.record.jobs[1].finish, 200s);
  const auto at = [&](LogKind kind) {
    return std::ranges::find_if(r.log, [&](const LogEntry& e) { return e.kind == kind; })->at;
  };
  EXPECT_EQ(at(LogKind::kPhase), 40s);
  EXPECT_EQ(at(LogKind::kOom), 60s);
}

TEST(ChangingJobs, AResizeKeepsTheRulesOfAStart) {
  const OwnedWorkload w = workload({job(100s).gpus(2).elastic(1, 2), job(100s)});
  const auto broken = [&](std::vector<GpuId> gpus, JobId id = J(0)) -> std::string {
    Acts policy({start(0s, J(0), {G(0), G(1)}), {10s, Act::Kind::kResize, id, std::move(gpus)}});
    try {
      run(cluster(1, 3), w, world_of(2), policy, moving());
    } catch (const PolicyError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(broken({G(0), G(1), G(2)}).find("asked for 2 (or 1 to 2) GPUs and got 3"),
            std::string::npos);
  EXPECT_NE(broken({G(7)}).find("GPU 7 does not exist"), std::string::npos);
  EXPECT_NE(broken({G(2)}, J(1)).find("does not run"), std::string::npos);
}

// ---- beside a small simulator ----------------------------------------------------------------

/// A job of the small simulator.
struct Small {
  std::vector<double> left;  ///< seconds of each phase
  std::size_t phase = 0;
  double overhead = 0;  ///< seconds at full speed
  std::vector<GpuId> gpus;
  bool ran_before = false;
  double begun = -1;
  double finish = -1;
};

/// A random workload and what a random policy does with it.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed) : rng_(seed, Stream::kTest) {
    spec_ = cluster(4, 2);
    for (std::size_t n = 0; n < spec_.nodes.size(); ++n) {
      spec_.nodes[n].switch_id = static_cast<std::uint32_t>(n / 2);
    }
    levels_ = {0.3 + 0.7 * rng_.uniform(), 0.1 + 0.6 * rng_.uniform()};
    options_ = moving();
    if (rng_.below(2) == 0) options_.simulation.preemption = {3s, 4s, 0};
    const std::size_t count = 2 + rng_.below(5);
    std::vector<JobSpec> jobs;
    std::vector<std::vector<JobSpec>> phases;
    for (std::size_t j = 0; j < count; ++j) {
      phases.emplace_back();
      for (std::size_t p = 0, n = 1 + rng_.below(4); p < n; ++p) {
        phases.back().push_back(job(Duration{1 + rng_.below(100'000'000) * 1000LL}));
      }
      const int most = 1 + static_cast<int>(rng_.below(4));
      const int least = 1 + static_cast<int>(rng_.below(static_cast<std::uint32_t>(most)));
      jobs.push_back(job(1s).gpus(most).elastic(least, most));
    }
    w_ = workload(jobs);
    for (std::size_t j = 0; j < count; ++j) set_phases(w_, static_cast<JobId>(j), phases[j]);
    for (std::size_t n = 0; n < count + w_.phases.size(); ++n) {
      beside_.push_back(0.2 + 0.8 * rng_.uniform());
      parallel_.push_back({1, rng_.uniform()});
    }
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t p = 0; p < phases[j].size(); ++p) {
        parallel_[number(j, p)].gpus = w_.jobs[j].gpus;
      }
      small_.emplace_back();
      for (const JobSpec& phase : phases[j]) small_.back().left.push_back(to_seconds(phase.work));
    }
  }

  /// Decides at random instants until all jobs are done, and then lets the engine do the same.
  void check() {
    std::vector<Act> acts;
    for (double now = 0; !all_done();) {
      const Time at{static_cast<std::int64_t>(now * 1e9)};
      decide(at, acts);
      const double until = std::floor((now + 0.001 + 40 * rng_.uniform()) * 1e9) / 1e9;
      advance(now, until);
      now = until;
    }
    Acts policy(acts);
    const RunResult r =
        run(spec_, w_, ChangingWorld(beside_, parallel_, levels_), policy, options_);
    for (std::size_t j = 0; j < small_.size(); ++j) {
      EXPECT_NEAR(to_seconds(r.record.jobs[j].finish), small_[j].finish, 1e-6) << "job " << j;
    }
  }

 private:
  /// By which the world knows a phase.
  std::size_t number(std::size_t j, std::size_t phase) const {
    return w_.jobs.size() + w_.jobs[j].first_phase + phase;
  }
  bool all_done() const {
    return std::ranges::all_of(small_, [](const Small& s) { return s.finish >= 0; });
  }
  std::size_t on_gpu(GpuId gpu) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        small_, [&](const Small& s) { return std::ranges::find(s.gpus, gpu) != s.gpus.end(); }));
  }
  double alone(std::size_t j) const {
    const Small& s = small_[j];
    std::set<std::size_t> nodes, switches;
    for (const GpuId g : s.gpus) {
      nodes.insert(index(g) / 2);
      switches.insert(index(g) / 4);
    }
    const ParallelJob& p = parallel_[number(j, s.phase)];
    const auto time = [&](double n) { return 1 - p.parallel_share + p.parallel_share / n; };
    const double level = switches.size() > 1 ? levels_.across_switches
                         : nodes.size() > 1  ? levels_.across_nodes
                                             : 1;
    return level * time(p.gpus) / time(static_cast<double>(s.gpus.size()));
  }
  double speed(std::size_t j) const {
    double least = 1;
    for (const GpuId g : small_[j].gpus) {
      if (on_gpu(g) > 1) least = beside_[number(j, small_[j].phase)];
    }
    return least * alone(j);
  }
  std::vector<GpuId> some_gpus(const JobSpec& spec) {
    std::vector<GpuId> all;
    for (std::uint32_t g = 0; g < 8; ++g) all.push_back(G(g));
    rng_.shuffle(std::span(all));
    const auto range = static_cast<std::uint32_t>(spec.gpus_max - spec.gpus_min + 1);
    all.resize(static_cast<std::size_t>(spec.gpus_min) + rng_.below(range));
    return all;
  }
  void decide(Time at, std::vector<Act>& acts) {
    for (std::size_t j = 0; j < small_.size(); ++j) {
      Small& s = small_[j];
      if (s.finish >= 0) continue;
      const auto id = static_cast<JobId>(j);
      const bool runs = !s.gpus.empty();
      const bool begun_now = s.begun == to_seconds(at);
      if (runs && !begun_now && rng_.below(4) == 0) {
        acts.push_back({at, Act::Kind::kPreempt, id});
        s.gpus.clear();
      } else if (!runs || (!begun_now && rng_.below(3) == 0)) {
        const Act::Kind kind = runs ? Act::Kind::kResize : Act::Kind::kStart;
        acts.push_back({at, kind, id, some_gpus(w_.jobs[j])});
        s.gpus = acts.back().gpus;
        s.begun = to_seconds(at);
        const PreemptionCost& cost = options_.simulation.preemption;
        // The cost is paid at the speed alone of the run's beginning.
        s.overhead = s.ran_before ? to_seconds(cost.save + cost.restore) * alone(j) : 0;
        s.ran_before = true;
      }
    }
  }
  void advance(double now, double until) {
    while (now < until) {
      double step = until - now;
      for (std::size_t j = 0; j < small_.size(); ++j) {
        const Small& s = small_[j];
        if (s.gpus.empty()) continue;
        step = std::min(step, (s.overhead + s.left[s.phase]) / speed(j));
      }
      std::vector<double> did(small_.size(), 0);
      for (std::size_t j = 0; j < small_.size(); ++j) {
        if (!small_[j].gpus.empty()) did[j] = step * speed(j);
      }
      now += step;
      for (std::size_t j = 0; j < small_.size(); ++j) {
        Small& s = small_[j];
        if (s.gpus.empty()) continue;
        const double paid = std::min(s.overhead, did[j]);
        s.overhead -= paid;
        s.left[s.phase] -= did[j] - paid;
        if (s.overhead > 0 || s.left[s.phase] > 1e-10) continue;
        if (++s.phase < s.left.size()) continue;
        s.finish = now;
        s.gpus.clear();
      }
    }
  }

  Rng rng_;
  ClusterSpec spec_;
  LevelSpeeds levels_;
  RunOptions options_;
  OwnedWorkload w_;
  std::vector<double> beside_;
  std::vector<ParallelJob> parallel_;
  std::vector<Small> small_;
};

TEST(ChangingJobs, AgreeWithASmallSimulatorOnRandomRuns) {
  for (int seed = 0; seed < random_runs(300); ++seed) {
    SCOPED_TRACE(seed);
    RandomRun(static_cast<std::uint64_t>(seed)).check();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace corun::test::changing_jobs_test
