#include "tests/helpers/run_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/engine/detail_recorder.hpp"
#include "sim/engine/round_backend.hpp"
#include "tests/helpers/jobs_on_types.hpp"
#include "tests/helpers/random_runs.hpp"
#include "tests/helpers/scenarios.hpp"

/// One run, one answer: records, log and details agree on starts, ends and busy time, in events and in rounds, and the
/// integral of the speeds is the work.
namespace corun::test::run_tables_test {
namespace {

using namespace std::chrono_literals;

constexpr DetailLimits kAll{1'000'000, 1'000'000, true};

/// Shows a run to two observers, and integrates the speed of each job over its time on GPUs.
class Watching final : public RunObserver {
 public:
  Watching(const ClusterSpec& cluster, const World& world, std::optional<std::uint64_t> noise,
           RunObserver& details, std::size_t jobs)
      : state_(cluster), world_(world), noise_(noise), details_(details), work_ns_(jobs, 0) {}

  void event(Time at, LogKind kind, JobId job, std::span<const GpuId> gpus) override {
    work_until(at);
    if (kind == LogKind::kStart || kind == LogKind::kProbe || kind == LogKind::kProfile) {
      first_gpu_[job] = gpus.front();
    } else if (kind != LogKind::kArrive) {
      speeds_.erase(job);
      first_gpu_.erase(job);
    }
    details_.event(at, kind, job, gpus);
  }
  void episode_ended(GpuId gpu, const EpisodeOutcome& outcome) override {
    details_.episode_ended(gpu, outcome);
  }
  void instant_over(Time at, const ClusterBackend& backend) override {
    details_.instant_over(at, backend);
    for (const auto& [job, gpu] : first_gpu_) {
      const auto& residents = backend.state().gpu(gpu).residents;
      const auto place = std::ranges::find(residents, job);
      if (place == residents.end()) continue;  // it leaves later within the present reports
      backend.true_speeds(gpu, on_gpu_);
      const JobsOnTypes* on_types = world_.on_types();
      const GpuType& type = state_.gpu_type(gpu);
      const double alone =
          on_types == nullptr ? type.speed : on_types->alone(job, type, noise_).speed;
      speeds_[job] = alone * on_gpu_[static_cast<std::size_t>(place - residents.begin())];
    }
  }

  /// Integral of its speed over all its time on GPUs [ns at speed 1].
  double work_ns(JobId job) const { return work_ns_[index(job)]; }

 private:
  void work_until(Time now) {
    const auto ns = static_cast<double>((now - since_).count());
    for (const auto& [job, speed] : speeds_) work_ns_[index(job)] += speed * ns;
    since_ = now;
  }

  ClusterState state_;
  const World& world_;
  std::optional<std::uint64_t> noise_;
  RunObserver& details_;
  std::vector<double> work_ns_;
  std::map<JobId, GpuId> first_gpu_;  ///< of the jobs on GPUs
  std::map<JobId, double> speeds_;    ///< of these, since the last instant
  std::vector<double> on_gpu_;
  Time since_{0};
};

struct Ran {
  RunResult result;
  RunDetails details;
  std::vector<double> work_ns;
};

Ran run_watched(const Scenario& s, const World& world, Policy& policy, const PolicyTraits& traits,
                std::optional<Duration> round) {
  LevelSlices slices(s.workload.jobs[index(s.workload.arrivals.front())].submit,
                     s.cluster.gpu_count());
  DetailRecorder details(s.cluster, s.workload, policy.belief(), kAll, &slices);
  Watching watching(s.cluster, world, s.options.simulation.noise_seed, details,
                    s.workload.jobs.size());
  Ran ran;
  RunOptions options = s.options;
  options.traits = traits;
  options.observer = &watching;
  if (round) {
    RoundBackend backend(s.cluster, s.workload, world,
                         {*round, options.simulation.noise_seed, std::nullopt});
    ControlOptions control;
    control.oom_retries = s.cluster.oom.retries;
    ControlLoop loop(backend, {policy, "policy", traits}, job_views(s.workload, options.on_types),
                     control);
    ran.result.passes = loop.run(&ran.result.log, &watching);
    ran.result.record = backend.take_record();
  } else {
    ran.result = run(s.cluster, s.workload, world, policy, options);
  }
  ran.details = details.take();
  ran.details.slices = slices.records();
  for (std::size_t j = 0; j < s.workload.jobs.size(); ++j) {
    ran.work_ns.push_back(watching.work_ns(JobId{static_cast<std::uint32_t>(j)}));
  }
  return ran;
}

/// Whether the integrals of the speeds are the work that the records tell; in rounds with `waits` a job may have to wait for
/// the slowest of its group or of the round.
std::string work_problem(const Scenario& s, const Ran& ran, bool rounds, bool waits) {
  const PreemptionCost& cost = s.options.simulation.preemption;
  const auto tick = static_cast<double>(rounds ? 0 : s.options.simulation.tick.count());
  for (std::size_t j = 0; j < s.workload.jobs.size(); ++j) {
    const JobRecord& r = ran.result.record.jobs[j];
    if (r.end != JobEnd::kFinished || r.ooms > 0) continue;  // work without progress is elsewhere
    const auto asked = static_cast<double>(s.workload.jobs[j].work.count());
    // At most: the overhead of its runs, what preemptions lost, trials whose work was not kept, and the time after its end
    // until a tick; at speeds of up to 4 on a type.
    constexpr double kFastest = 4;
    const auto overhead =
        static_cast<double>((cost.save + cost.restore).count()) * r.preemptions * kFastest;
    const auto lost = static_cast<double>((r.profiling + r.ran).count()) * kFastest;
    double most = asked + kFastest * tick + 1e-6 * asked + 1000;
    const bool trials = r.profiling > Duration::zero();
    if (!rounds && (r.preemptions > 0 || trials)) most += overhead + lost;
    if (waits) most = ran.work_ns[j];
    const double least = asked - 1e-6 * asked - 1000;
    if (ran.work_ns[j] < least || ran.work_ns[j] > most) {
      return "job " + std::to_string(j) + " was asked for " + std::to_string(asked) +
             " ns of work, and its speeds come to " + std::to_string(ran.work_ns[j]);
    }
    const bool no_trials_kept = !s.options.simulation.profiling_keeps_progress &&
                                !s.options.simulation.probes_keep_progress;
    if (no_trials_kept &&
        std::abs(static_cast<double>((r.reference_solo - r.work).count())) > r.preemptions + 1.0) {
      return "the runs of job " + std::to_string(j) + " have kept other work than it has";
    }
  }
  return "";
}

std::vector<PolicyEntry> policies_for(bool rounds) {
  std::vector<PolicyEntry> all = built_in_policies();
  std::erase_if(all, [&](const PolicyEntry& e) { return rounds && e.traits.always_colocates; });
  return all;
}

void check_agreement(bool rounds, std::uint64_t count) {
  const std::vector<PolicyEntry> policies = policies_for(rounds);
  std::vector<PolicyEntry> probing = policies;
  std::erase_if(probing, [](const PolicyEntry& e) {
    return !e.traits_for(Parameters(e.parameters)).takes_probes;
  });
  std::map<LogKind, std::uint64_t> seen;
  std::uint64_t runs = 0;
  std::uint64_t gangs = 0;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    // Shifted from round to round: what scenarios have by the parity of their seeds, each policy has.
    // A quarter of the runs, of even and of odd seeds, belong to the few policies that probe.
    const std::vector<PolicyEntry>& some = !rounds && seed / 5 % 4 == 0 ? probing : policies;
    const PolicyEntry& entry = some[(seed + seed / some.size()) % some.size()];
    ScenarioLimits limits;
    limits.types = seed / policies.size() % 2 == 0;  // each policy has both
    if (rounds) limits.profiling = limits.probing = limits.rounding = false;
    Scenario s = random_scenario(seed, limits);
    if (!can_run(entry, s)) continue;
    std::optional<Duration> round;
    if (rounds) {
      s.options.control.start = StartMode::kGroup;
      round = milliseconds(500 * (1 + seed % 9));
    }
    const ErraticWorld erratic(seed);
    const OnTypesWorld world(erratic, s.on_types.get());
    const Parameters parameters = parameters_for(entry, s);
    const PolicyTraits traits = entry.traits_for(parameters);
    const auto policy = make_policy(entry, s.workload, world, seed, parameters);
    const Ran ran = run_watched(s, world, *policy, traits, round);
    const std::vector<std::string> wrong =
        contradictions({s.workload, s.cluster, ran.result.record, ran.result.log, ran.details});
    ASSERT_TRUE(wrong.empty()) << entry.name << ", seed " << seed << ": " << wrong.front();
    const bool waits = rounds && (s.cluster.gpu_count() > 1 || traits.shares);
    ASSERT_EQ(work_problem(s, ran, rounds, waits), "") << entry.name << ", seed " << seed;
    for (const LogEntry& e : ran.result.log) {
      ++seen[e.kind];
      gangs += e.gpus.size() > 1;
    }
    ++runs;
  }
  EXPECT_GT(runs, count / 2);
  for (const LogKind kind : {LogKind::kOom, LogKind::kFail, LogKind::kPreempt}) {
    EXPECT_GT(seen[kind], count / 100) << name_of(kind);
  }
  EXPECT_GT(gangs, count / 10);
  if (!rounds) {
    EXPECT_GT(seen[LogKind::kProfiled], count / 100);
    EXPECT_GT(seen[LogKind::kProbed], count / 100);
  }
}

TEST(RunTables, AgreeInEvents) { check_agreement(false, random_runs(6000U)); }
TEST(RunTables, AgreeInRounds) { check_agreement(true, random_runs(1000U)); }

/// In a round the GPU is free when its job is done, and the scheduler hears of it at the end of the round.
TEST(RunTables, ARoundHasOneEndOfEachJob) {
  Scenario s;
  s.cluster = cluster(1, 2);
  s.workload = workload({job(100s), job(350s)});
  const ShareWorld world(0);
  const auto policy = make_policy(*find_policy("fifo"), s.workload, world, 1);
  const Ran ran = run_watched(s, world, *policy, {}, 360s);
  EXPECT_EQ(ran.result.record.usage.busy, GpuTime(450s));
  ASSERT_EQ(ran.result.log.size(), 6U);
  EXPECT_EQ(ran.result.log[4], (LogEntry{100s, LogKind::kFinish, J(0), {}}));
  EXPECT_EQ(ran.result.log[5], (LogEntry{350s, LogKind::kFinish, J(1), {}}));
  EXPECT_EQ(contradictions({s.workload, s.cluster, ran.result.record, ran.result.log, ran.details}),
            std::vector<std::string>{});
}

/// The check finds what it should.
TEST(RunTables, ContradictionsAreFound) {
  Scenario s;
  s.cluster = cluster(1, 2);
  s.workload = workload({job(100s), job(50s), job(70s).at(10s)});
  const ShareWorld world(0.5);
  const auto policy = make_policy(*find_policy("fcfs"), s.workload, world, 1);
  const Ran good = run_watched(s, world, *policy, {}, std::nullopt);
  const auto finds = [&](const Ran& ran) {
    return !contradictions({s.workload, s.cluster, ran.result.record, ran.result.log, ran.details})
                .empty();
  };
  ASSERT_FALSE(finds(good));
  Ran bad = good;
  bad.result.record.jobs[0].finish += 1ns;
  EXPECT_TRUE(finds(bad));
  bad = good;
  bad.result.record.usage.busy += 1ns;
  EXPECT_TRUE(finds(bad));
  bad = good;
  bad.result.record.episodes[0].end += 1ns;
  EXPECT_TRUE(finds(bad));
  bad = good;
  bad.details.events.back().at += 1ns;
  EXPECT_TRUE(finds(bad));
  bad = good;
  bad.details.slices.front().gpus_busy += 0.01;
  EXPECT_TRUE(finds(bad));
  bad = good;
  bad.details.co_runs.front().end += 60s;
  EXPECT_TRUE(finds(bad));
  bad = good;
  bad.work_ns[1] *= 1.001;
  EXPECT_NE(work_problem(s, bad, false, false), "");
}

}  // namespace
}  // namespace corun::test::run_tables_test
