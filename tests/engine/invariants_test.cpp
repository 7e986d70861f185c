#include "tests/helpers/invariants.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/passing_backend.hpp"
#include "tests/helpers/scenarios.hpp"

/// Each invariant is shown to fail on a deliberately broken engine. A broken engine is a layer between the
/// control loop and the simulated backend, simulates another cluster or world than that of the check, or
/// changes the results.
namespace corun::test::invariants_test {
namespace {

using namespace std::chrono_literals;

class LosesACompletion final : public Passing {
 public:
  using Passing::Passing;
  bool advance(std::vector<Report>& out) override {
    const bool more = inner_.advance(out);
    for (auto r = out.begin(); r != out.end() && !lost_; ++r) {
      if (r->kind != ReportKind::kFinished) continue;
      out.erase(r);
      lost_ = true;
      break;
    }
    return more;
  }

 private:
  bool lost_ = false;
};

class RunsAJobTwice final : public Passing {
 public:
  using Passing::Passing;
  bool advance(std::vector<Report>& out) override {
    const bool more = inner_.advance(out);
    for (const Report r : std::vector<Report>(out)) {
      if (r.kind != ReportKind::kFinished || twice_) continue;
      out.push_back({ReportKind::kArrived, r.job});
      twice_ = true;
    }
    return more;
  }

 private:
  bool twice_ = false;
};

/// Its clock is wrong for one instant in the middle.
class GoesBackInTime final : public Passing {
 public:
  using Passing::Passing;
  bool advance(std::vector<Report>& out) override {
    ++instants_;
    return inner_.advance(out);
  }
  Time now() const override { return instants_ == 4 ? inner_.now() - 11s : inner_.now(); }

 private:
  int instants_ = 0;
};

/// Reports the events of an instant in reverse order.
class Reverses final : public Passing {
 public:
  using Passing::Passing;
  bool advance(std::vector<Report>& out) override {
    const bool more = inner_.advance(out);
    std::reverse(out.begin(), out.end());
    return more;
  }
};

class StartsAGangPartly final : public Passing {
 public:
  using Passing::Passing;
  void start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) override {
    inner_.start_group(jobs, gpus.first(1));
  }
};

/// Starts the members of a group one by one.
class SplitsGroups final : public Passing {
 public:
  using Passing::Passing;
  void start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) override {
    for (const JobId& j : jobs) inner_.start_group({&j, 1}, gpus);
  }
};

/// Ignores departures: remaining jobs keep the speed of all co-runners; it also takes 10 % off.
class StaleWorld final : public World {
 public:
  explicit StaleWorld(const World& world) : world_(world) {}
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise,
                    std::span<double> out) const override {
    const Provenance p = world_.speeds(co_runners, noise, out);
    if (co_runners.formed.size() > co_runners.residents.size()) {
      for (double& s : out) s *= 0.9;
    }
    return p;
  }

 private:
  const World& world_;
};

/// A correct trace with all features: pairs, a bin of three, a gang, an OOM, later arrivals.
class BrokenEngine : public testing::Test {
 protected:
  BrokenEngine() {
    spec_.oom = {5s, 1};
    spec_.max_jobs_per_gpu = 3;
    ends_ = run_it();
  }

  static ScriptedPolicy script() {
    return steps({{{J(0), J(1), J(2)}, {G(0)}},
                  {{J(3)}, {G(1), G(2)}},
                  {{J(4), J(5)}, {G(1)}, 40s},
                  {{J(5)}, {G(2)}, 50s},
                  {{J(6), J(7)}, {G(0)}, 90s}});
  }

  RunResult run_it(std::function<std::unique_ptr<ClusterBackend>(ClusterBackend&)> wrap = {}) {
    ScriptedPolicy policy = script();
    RunOptions options;
    options.wrap = std::move(wrap);
    return run(spec_, workload_, world_, policy, options);
  }

  template <typename Engine>
  RunResult broken() {
    return run_it([](ClusterBackend& b) { return std::make_unique<Engine>(b); });
  }

  Facts facts(const RunResult& r) const {
    return {
        .workload = workload_, .cluster = spec_, .world = world_, .record = r.record, .log = r.log};
  }

  using Check = Violations (*)(const Facts&);
  /// This check fails with this text.
  void finds(Check check, const RunResult& r, const std::string& words) const {
    const Violations v = check(facts(r));
    bool said = false;
    std::string all;
    for (const std::string& s : v) {
      said |= s.find(words) != std::string::npos;
      all += "\n  " + s;
    }
    EXPECT_TRUE(said) << "expected: " << words << ", found:" << all;
  }

  ClusterSpec spec_ = cluster(1, 3, 1, 1000);
  OwnedWorkload workload_ =
      workload({job(10s).memory(300).util(60), job(20s).memory(300).util(50), job(15s).util(70),
                job(30s).gpus(2).memory(100).util(30), job(10s).at(31s).memory(600).util(20),
                job(10s).at(31s).memory(600), job(5s).at(80s), job(5s).at(80s)});
  ShareWorld world_{0.5};
  RunResult ends_;
};

TEST_F(BrokenEngine, TheHealthyEngineHasNoViolation) {
  EXPECT_EQ(check_all(facts(ends_)), Violations{});
  int ooms = 0;
  for (const JobRecord& j : ends_.record.jobs) ooms += j.ooms;
  EXPECT_EQ(ooms, 1);
}

// ---- jobs ------------------------------------------------------------------------------------

TEST_F(BrokenEngine, LosesAJob) {
  const RunResult r = broken<LosesACompletion>();
  finds(check_jobs, r, "is lost");
  finds(check_jobs, r, "started and never ended");
}

TEST_F(BrokenEngine, RunsAJobTwice) {
  const OwnedWorkload w = workload({job(10s), job(30s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}, {{J(0)}, {G(0)}, 11s}});
  RunOptions options;
  options.wrap = [](ClusterBackend& b) { return std::make_unique<RunsAJobTwice>(b); };
  // The simulated cluster has lost the job and reports that; a log that shows it is detected, too.
  EXPECT_THROW(run(spec_, w, world_, policy, options), std::logic_error);
  RunResult r = ends_;
  const auto first = std::ranges::find(r.log, J(0), &LogEntry::job);
  const LogEntry arrival = *first;
  r.log.insert(first, arrival);
  const auto last = std::ranges::find_if(
      r.log, [](const LogEntry& e) { return e.kind == LogKind::kFinish && e.job == J(0); });
  const LogEntry finish = *last;
  r.log.insert(last, finish);
  finds(check_jobs, r, "job 0 ends more than once");
  finds(check_jobs, r, "job 0 arrives 2 times");
}

TEST_F(BrokenEngine, RunsAJobTwiceAtOnce) {
  RunResult r = ends_;
  for (std::size_t i = 0; i < r.log.size(); ++i) {
    if (r.log[i].kind != LogKind::kStart || r.log[i].job != J(1)) continue;
    const LogEntry again = r.log[i];
    r.log.insert(r.log.begin() + static_cast<std::ptrdiff_t>(i), again);
    break;
  }
  finds(check_jobs, r, "starts while it runs");
}

TEST_F(BrokenEngine, GivesUpTooEarly) {
  RunResult r = ends_;
  for (LogEntry& e : r.log) {
    if (e.kind == LogKind::kOom) e.kind = LogKind::kFail;
  }
  finds(check_jobs, r, "is given up after 1 attempts");
  finds(check_jobs, r, "goes on after its end");
}

TEST_F(BrokenEngine, RecordsAnotherFinishThanItReports) {
  RunResult r = ends_;
  r.record.jobs[2].finish += 1ns;
  finds(check_jobs, r, "the record of job 2 is not what the log says");
}

// ---- time ------------------------------------------------------------------------------------

TEST_F(BrokenEngine, GoesBackInTime) {
  finds(check_time, broken<GoesBackInTime>(), "time goes back");
}

TEST_F(BrokenEngine, TakesTheThingsOfAnInstantInTheWrongOrder) {
  const OwnedWorkload w = workload({job(10s), job(10s).at(10s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}});
  RunOptions options;
  options.wrap = [](ClusterBackend& b) { return std::make_unique<Reverses>(b); };
  const RunResult r = run(spec_, w, world_, policy, options);
  const Violations v = check_time(
      {.workload = w, .cluster = spec_, .world = world_, .record = r.record, .log = r.log});
  ASSERT_EQ(v.size(), 1U);
  EXPECT_EQ(v[0], "at 10000000000 ns things are worked through in the wrong order");
}

TEST_F(BrokenEngine, StartsBeforeItWasAsked) {
  RunResult r = ends_;
  r.record.jobs[4].first_start = r.record.jobs[4].submit - 1ns;
  finds(check_time, r, "is not in the order submit, first start, last start, finish");
}

TEST_F(BrokenEngine, StartsBetweenRoundsAndEndsBetweenTicks) {
  Facts f = facts(ends_);
  f.round = 7s;
  f.tick = 7s;
  const Violations v = check_time(f);
  EXPECT_TRUE(std::any_of(v.begin(), v.end(), [](const std::string& s) {
    return s.find("starts between two rounds") != std::string::npos;
  }));
  EXPECT_TRUE(std::any_of(v.begin(), v.end(), [](const std::string& s) {
    return s.find("ends between two ticks") != std::string::npos;
  }));
}

// ---- memory ----------------------------------------------------------------------------------

TEST_F(BrokenEngine, IgnoresTheMemoryLimit) {
  ClusterSpec blind = spec_;
  for (NodeSpec& n : blind.nodes) n.gpu.memory_mib = 1e9;
  ScriptedPolicy policy = script();
  RunResult r =
      run(blind, workload_, world_, policy);  // J(5) is not restarted: step 4 waits for it
  finds(check_memory, r, "starts above the memory limit");
}

TEST_F(BrokenEngine, RunsOutOfMemoryWithoutCause) {
  Facts f = facts(ends_);
  ClusterSpec roomy = spec_;
  for (NodeSpec& n : roomy.nodes) n.gpu.memory_mib = 2000;
  const Violations v = check_memory({.workload = f.workload,
                                     .cluster = roomy,
                                     .world = f.world,
                                     .record = f.record,
                                     .log = f.log});
  ASSERT_EQ(v.size(), 1U);
  EXPECT_EQ(v[0], "job 5 runs out of memory without cause");
}

TEST_F(BrokenEngine, NoticesTooLateThatMemoryIsFull) {
  spec_.oom.ramp = 6s;
  const RunResult late = run_it();
  spec_.oom.ramp = 5s;
  finds(check_memory, late, "runs out of memory after 6000000000 ns");
}

// ---- work ------------------------------------------------------------------------------------

TEST_F(BrokenEngine, ForgetsToSlowDownTheSurvivors) {
  ScriptedPolicy policy = script();
  const RunResult r = run(spec_, workload_, StaleWorld(world_), policy);
  finds(check_work, r, "ns of work and did");
}

TEST_F(BrokenEngine, HasAnEndOneMicrosecondTooEarlyOrTooLate) {
  for (const Duration off : {-1us, 1us}) {
    RunResult r = ends_;
    for (LogEntry& e : r.log) {
      if (e.kind == LogKind::kFinish && e.job == J(3)) e.at += off;
    }
    finds(check_work, r, "job 3 was asked for");
  }
}

TEST_F(BrokenEngine, LetsAGangRunAtItsFastestGpu) {
  ScriptedPolicy policy = script();
  const RunResult fast = run(spec_, workload_, world_, policy);
  ClusterSpec mixed = spec_;
  mixed.nodes = {node(2, 1, 1000), node(1, 0.5, 1000)};  // the check's cluster: GPU 2 is slow
  const Violations v = check_work({.workload = workload_,
                                   .cluster = mixed,
                                   .world = world_,
                                   .record = fast.record,
                                   .log = fast.log});
  EXPECT_TRUE(std::any_of(v.begin(), v.end(), [](const std::string& s) {
    return s.find("job 3 was asked for") != std::string::npos;
  }));
}

TEST_F(BrokenEngine, TakesTheSpeedOfAnotherType) {
  ScriptedPolicy policy = script();
  const RunResult r = run(spec_, workload_, world_, policy);
  std::vector<std::vector<OnType>> table(workload_.jobs.size(), {OnType{1, 100}});
  const auto violations = [&](Violations (*check)(const Facts&)) {
    const TableOnTypes on_types(table);
    const OnTypesWorld world(world_, &on_types);
    return check({.workload = workload_,
                  .cluster = spec_,
                  .world = world,
                  .record = r.record,
                  .log = r.log});
  };
  EXPECT_EQ(violations(check_work), Violations{});
  EXPECT_EQ(violations(check_outcomes), Violations{});
  EXPECT_EQ(violations(check_memory), Violations{"job 5 runs out of memory without cause"});
  table[0][0].speed = 0.99;
  ASSERT_EQ(violations(check_work).size(), 1U);
  EXPECT_NE(violations(check_work)[0].find("job 0 was asked for"), std::string::npos);
  EXPECT_EQ(violations(check_outcomes)[0].find("ISD of job 0 is"), 0U);
  table[0][0].memory_mib = 1100;
  EXPECT_NE(violations(check_memory)[0].find("job 0 starts above the memory limit"),
            std::string::npos);
}

TEST_F(BrokenEngine, StartsAJobOnATypeThatItDoesNotName) {
  EXPECT_EQ(check_types(facts(ends_)), Violations{});
  workload_.jobs[3].gpu_models = 2;
  finds(check_types, ends_, "job 3 is on GPU 1, whose type it does not name, at 0 ns");
  workload_.jobs[3].gpu_models = 3;
  EXPECT_EQ(check_types(facts(ends_)), Violations{});
}

TEST_F(BrokenEngine, IsWrongAboutTheReferenceType) {
  RunResult r = ends_;
  r.record.jobs[1].reference_solo += 1ms;
  finds(check_outcomes, r, "job 1 has other work on the reference type");
  r = ends_;
  r.record.jobs[1].run_reference_solo += 1ms;
  finds(check_outcomes, r, "job 1 has other work on the reference type");
  r = ends_;
  r.record.jobs[1].whole_solo += 1ms;
  finds(check_outcomes, r, "job 1 has another solo time on its last GPUs");
}

TEST_F(BrokenEngine, ProfilesForAnotherTimeThanAsked) {
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
  policy.wants_profile = true;
  RunOptions options;
  options.control.profiling = ProfilingMode::kMinute;
  const OwnedWorkload w = workload({job(100s)});
  const RunResult r = run(spec_, w, world_, policy, options);
  Facts f{.workload = w, .cluster = spec_, .world = world_, .record = r.record, .log = r.log};
  EXPECT_EQ(check_work(f), Violations{});
  f.minute = 59s;
  EXPECT_EQ(check_work(f), Violations{"job 0 is profiled for 60000000000 ns"});
}

// ---- gangs and capacity ----------------------------------------------------------------------

TEST_F(BrokenEngine, StartsAGangPartly) {
  const RunResult r = broken<StartsAGangPartly>();
  finds(check_episodes, r, "episodes, the log has");
  finds(check_usage, r, "busy time is");
}

TEST_F(BrokenEngine, ReportsAGangStartedPartly) {
  RunResult r = ends_;
  for (LogEntry& e : r.log) {
    if (e.kind == LogKind::kStart && e.job == J(3)) e.gpus.pop_back();
  }
  finds(check_gangs, r, "job 3 asked for 2 GPUs and starts on 1");
}

TEST_F(BrokenEngine, GivesOneGroupNumberToTwoGroups) {
  RunResult r = ends_;
  for (JobRecord& j : r.record.jobs) j.group = 0;
  finds(check_gangs, r, "have one group number and do not start together");
}

TEST_F(BrokenEngine, SplitsAGroup) {
  // Members started one by one: each has its own number, which no other job may share; the record then does
  // not show that they belong together.
  const RunResult r = broken<SplitsGroups>();
  EXPECT_NE(r.record.jobs[0].group, r.record.jobs[1].group);
  EXPECT_EQ(ends_.record.jobs[0].group, ends_.record.jobs[1].group);
}

TEST_F(BrokenEngine, OvercommitsAGpu) {
  spec_.max_jobs_per_gpu = 2;
  finds(check_capacity, ends_, "GPU 0 holds 3 jobs");
}

TEST_F(BrokenEngine, ProfilesInCoRunners) {
  RunResult r = ends_;
  for (LogEntry& e : r.log) {
    if (e.job != J(1)) continue;
    if (e.kind == LogKind::kStart) e.kind = LogKind::kProfile;
    if (e.kind == LogKind::kFinish) e.kind = LogKind::kProfiled;
  }
  finds(check_capacity, r, "profiles a job with co-runners");
}

TEST_F(BrokenEngine, JoinsWhereItMayNot) {
  const OwnedWorkload w = workload({job(10s), job(10s).at(5s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}}});
  const RunResult r = run(spec_, w, world_, policy, join());
  Facts f{.workload = w, .cluster = spec_, .world = world_, .record = r.record, .log = r.log};
  EXPECT_EQ(check_capacity(f), Violations{"job 1 joins job 0 on GPU 0 at 5000000000 ns"});
  f.join = true;
  EXPECT_EQ(check_capacity(f), Violations{});
}

// ---- episodes, outcomes, usage ---------------------------------------------------------------

TEST_F(BrokenEngine, CutsAnEpisodeShort) {
  RunResult r = ends_;
  r.record.episodes[0].end -= 1ns;
  finds(check_episodes, r, "is not in the log");
}

TEST_F(BrokenEngine, ForgetsAMemberOfAnEpisode) {
  RunResult r = ends_;
  r.record.episodes[0].jobs.pop_back();
  finds(check_episodes, r, "is not in the log");
}

TEST_F(BrokenEngine, ForgetsAnEpisode) {
  RunResult r = ends_;
  r.record.episodes.pop_back();
  finds(check_episodes, r, "episodes, the log has");
}

TEST_F(BrokenEngine, MixesUpTheOrderOfEpisodes) {
  RunResult r = ends_;
  std::swap(r.record.episodes.front(), r.record.episodes.back());
  finds(check_episodes, r, "episodes are not in order");
}

TEST_F(BrokenEngine, AddsUpSoloTimesWrongly) {
  RunResult r = ends_;
  r.record.episodes[0].solo_sum += 1ns;
  finds(check_episodes, r, "an episode's solo times do not add up to");
}

TEST_F(BrokenEngine, IsWrongAboutStartingTogether) {
  RunResult r = ends_;
  for (EpisodeRecord& e : r.record.episodes) e.together = !e.together;
  finds(check_episodes, r, "wrong about its members starting together");
}

TEST_F(BrokenEngine, TakesAnotherSoloTime) {
  RunResult r = ends_;
  r.record.jobs[1].solo += 1ms;
  finds(check_outcomes, r, "ISD of job 1 is");
  r.record.jobs[1].solo *= 2;
  finds(check_outcomes, r, "metric isd is not the mean over finished jobs");
}

TEST_F(BrokenEngine, CountsAFailedJobAsFinished) {
  RunResult r = ends_;
  r.record.jobs[0].end = JobEnd::kFailed;
  finds(check_outcomes, r, "metric jobs is wrong");
}

TEST_F(BrokenEngine, LosesAnEpisodesSaving) {
  RunResult r = ends_;
  r.record.episodes.front().solo_sum += r.record.episodes.front().solo_sum;
  finds(check_outcomes, r, "metric ps is not the mean over episodes");
}

TEST_F(BrokenEngine, ShiftsASubmission) {
  RunResult r = ends_;
  r.record.jobs[4].submit += 1s;
  finds(check_outcomes, r, "metric jct_s");
}

TEST_F(BrokenEngine, MiscountsUsage) {
  const std::vector<std::pair<std::string, std::function<void(UsageRecord&)>>> mistakes{
      {"busy time is", [](UsageRecord& u) { u.busy += 1ns; }},
      {"utilisation is", [](UsageRecord& u) { u.util_s *= 1.001; }},
      {"time of known utilisation is", [](UsageRecord& u) { u.util_known_s += 0.01; }},
      {"memory in use is", [](UsageRecord& u) { u.mem_s -= 0.01; }},
      {"time of known memory is", [](UsageRecord& u) { u.mem_known_s -= 0.01; }},
      {"time by the source of the speed is", [](UsageRecord& u) { u.solo_s[2] += 1; }},
      {"time with co-runners is", [](UsageRecord& u) { std::swap(u.corun_s[1], u.corun_s[2]); }}};
  for (const auto& [words, mistake] : mistakes) {
    RunResult r = ends_;
    mistake(r.record.usage);
    finds(check_usage, r, words);
  }
}

// ---- probes ----------------------------------------------------------------------------------

/// A probe of 20 s on one GPU, cut short at both; then both run.
class BrokenProbe : public BrokenEngine {
 protected:
  BrokenProbe() {
    spec_ = cluster(1, 1);
    workload_ = workload({job(100s), job(50s)});
    ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}, 200s}});
    policy.probe_pairs = {{J(0), J(1)}};
    RunOptions options;
    options.control.probes = 1;
    options.control.probe_length = 20s;
    ends_ = run(spec_, workload_, world_, policy, options);
  }
  void probe_finds(const RunResult& r, const std::string& words, bool keeps = false) const {
    Facts f = facts(r);
    f.probe_length = 20s;
    f.probes_keep_progress = keeps;
    const Violations v = check_all(f);
    if (words.empty()) {
      EXPECT_EQ(v, Violations{});
    } else {
      EXPECT_TRUE(std::any_of(v.begin(), v.end(), [&](const std::string& s) {
        return s.find(words) != std::string::npos;
      })) << words;
    }
  }
};

TEST_F(BrokenProbe, TheHealthyOneHasNoViolation) { probe_finds(ends_, ""); }

TEST_F(BrokenProbe, EndsAtAnotherTime) {
  RunResult r = ends_;
  for (LogEntry& e : r.log) {
    if (e.kind == LogKind::kProbed) e.at -= 1ns;
  }
  probe_finds(r, "is probed from 0 ns to 19999999999 ns");
}

TEST_F(BrokenProbe, OneLeavesBeforeTheOther) {
  RunResult r = ends_;
  for (LogEntry& e : r.log) {
    if (e.kind == LogKind::kProbed && e.job == J(0)) e.at -= 1ns;
  }
  probe_finds(r, "is not probed with one other, from start to end");
}

TEST_F(BrokenProbe, RunsWithoutACoRunner) {
  RunResult r = ends_;
  std::erase_if(r.log, [](const LogEntry& e) {
    return e.job == J(1) && (e.kind == LogKind::kProbe || e.kind == LogKind::kProbed);
  });
  probe_finds(r, "is not probed with one other");
}

TEST_F(BrokenProbe, SomebodyJoins) {
  RunResult r = ends_;
  for (LogEntry& e : r.log) {
    if (e.job != J(1)) continue;
    if (e.kind == LogKind::kProbe) e.kind = LogKind::kStart;
    if (e.kind == LogKind::kProbed) e.kind = LogKind::kFinish;
  }
  probe_finds(r, "joins a probe");
}

TEST_F(BrokenProbe, MeasuresOtherSpeedsThanTheWorlds) {
  RunResult r = ends_;
  r.record.probes[0].speeds[1] *= 0.99;
  probe_finds(r, "has other speeds than the world");
}

TEST_F(BrokenProbe, IsNotRecorded) {
  RunResult r = ends_;
  r.record.probes.clear();
  probe_finds(r, "is not in the record");
  r.record.probes = {ends_.record.probes[0], ends_.record.probes[0]};
  probe_finds(r, "the record has other probes than the log");
}

TEST_F(BrokenProbe, ForgetsThatNothingWasMeasured) {
  RunResult r = ends_;
  r.record.probes[0].measured = false;
  probe_finds(r, "is wrong about what it measured");
}

TEST_F(BrokenProbe, LosesTheProgressThatItShouldKeep) {
  probe_finds(ends_, "ns of work and did", true);
}

}  // namespace
}  // namespace corun::test::invariants_test
