#include "sim/engine/control_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "sim/engine/round_backend.hpp"
#include "sim/error.hpp"
#include "tests/helpers/builders.hpp"
#include "tests/helpers/passing_backend.hpp"

namespace corun::test::control_loop_test {
namespace {

using namespace std::chrono_literals;

/// Runs a policy that breaks a rule and returns the error.
void breaks(const std::string& rule, const std::string& found, const ClusterSpec& spec,
            const OwnedWorkload& w, const ScriptedPolicy::Decide& decide, RunOptions options = {},
            bool wants_profile = false) {
  ScriptedPolicy policy(decide);
  policy.wants_profile = wants_profile;
  options.name = "clumsy";
  try {
    run(spec, w, ShareWorld(1), policy, options);
    ADD_FAILURE() << "nobody noticed: " << rule;
  } catch (const PolicyError& e) {
    EXPECT_EQ(e.policy, "clumsy");
    EXPECT_EQ(std::string(e.what()), "policy 'clumsy' broke the rule '" + rule + "': " + found);
  }
}

ScriptedPolicy::Decide start(const std::vector<JobId>& jobs, const std::vector<GpuId>& gpus) {
  return [=](const ClusterView&, std::vector<Decision>& out) {
    out.emplace_back(StartGroup{jobs, gpus});
  };
}

TEST(ControlLoop, RuleWaiting) {
  const OwnedWorkload w = workload({job(10s), job(10s).at(5s)});
  breaks("waiting", "a group without jobs", cluster(1, 1), w, start({}, {G(0)}));
  breaks("waiting", "job 1 is not waiting", cluster(1, 1), w, start({J(1)}, {G(0)}));
  breaks("waiting", "job 77 is not waiting", cluster(1, 1), w, start({J(77)}, {G(0)}));
  breaks("waiting", "job 0 is named twice", cluster(1, 1), w, start({J(0), J(0)}, {G(0)}));
}

TEST(ControlLoop, RuleWaitingForARunningJobAndTwiceInOnePass) {
  const OwnedWorkload w = workload({job(10s), job(10s)});
  breaks("waiting", "job 0 is not waiting", cluster(1, 2), w,
         [](const ClusterView&, std::vector<Decision>& out) {
           out.emplace_back(StartGroup{{J(0)}, {G(0)}});
           out.emplace_back(StartGroup{{J(0)}, {G(1)}});
         });
}

TEST(ControlLoop, RuleGangSize) {
  breaks("gang size", "job 0 asked for 2 GPUs and got 1", cluster(1, 2),
         workload({job(10s).gpus(2)}), start({J(0)}, {G(0)}));
  breaks("gang size", "job 0 asked for 1 GPUs and got 2", cluster(1, 2), workload({job(10s)}),
         start({J(0)}, {G(0), G(1)}));
  breaks("gang size", "job 1 asked for 2 GPUs and got 1", cluster(1, 2),
         workload({job(10s), job(10s).gpus(2)}), start({J(0), J(1)}, {G(0)}));
  breaks("gang size", "job 0 asked for 1 GPUs and got 0", cluster(1, 2), workload({job(10s)}),
         start({J(0)}, {}));
}

TEST(ControlLoop, RuleGpuType) {
  const ClusterSpec spec = cluster({of_type(2, node(1)), of_type(0, node(1))});
  breaks("GPU type", "job 0 may not run on type 2, the type of GPU 0", spec,
         workload({job(10s).models(1)}), start({J(0)}, {G(0)}));
  breaks("GPU type", "job 1 may not run on type 0, the type of GPU 1", spec,
         workload({job(10s).gpus(2), job(10s).gpus(2).models(4)}),
         start({J(0), J(1)}, {G(0), G(1)}));
}

TEST(ControlLoop, RuleKnownGpu) {
  breaks("known GPU", "GPU 2 does not exist", cluster(1, 2), workload({job(10s)}),
         start({J(0)}, {G(2)}));
  breaks("known GPU", "GPU 1 is named twice", cluster(1, 2), workload({job(10s).gpus(2)}),
         start({J(0)}, {G(1), G(1)}));
}

// Job 0 is profiled on GPU 0; job 1 arrives profiled (both are: the second on GPU 1), so the policy
// is asked when the short segment of job 1 has ended and GPU 0 still profiles.
TEST(ControlLoop, RuleExclusiveGpu) {
  for (const StartMode mode : {StartMode::kGroup, StartMode::kJoin}) {
    RunOptions options;
    options.control.profiling = ProfilingMode::kEpoch;
    options.control.start = mode;
    breaks("exclusive GPU", "GPU 0 is profiling a job", cluster(1, 2),
           workload({job(100s).epoch(50s), job(100s).epoch(5s)}), start({J(1)}, {G(0)}), options,
           true);
  }
}

TEST(ControlLoop, RuleGroupStart) {
  const OwnedWorkload w = workload({job(10s), job(10s).at(5s)});
  const auto decide = [](const ClusterView& view, std::vector<Decision>& out) {
    out.emplace_back(StartGroup{{view.waiting().front()}, {G(0)}});
  };
  breaks("group start", "GPU 0 still has a resident", cluster(1, 1), w, decide);
  // The same is allowed with control.start: join, and to a policy that always joins.
  ScriptedPolicy joining(decide);
  EXPECT_EQ(run(cluster(1, 1), w, ShareWorld(1), joining, join()).record.jobs[1].last_start, 5s);
  ScriptedPolicy pods(decide);
  RunOptions colocates;
  colocates.traits.always_colocates = true;
  EXPECT_EQ(run(cluster(1, 1), w, ShareWorld(1), pods, colocates).record.jobs[1].last_start, 5s);
}

TEST(ControlLoop, RuleOverCommit) {
  ClusterSpec spec = cluster(1, 1);
  spec.max_jobs_per_gpu = 2;
  breaks("over-commit", "GPU 0 would hold 3 jobs, cluster.max_jobs_per_gpu is 2", spec,
         workload({job(10s), job(10s), job(10s)}), start({J(0), J(1), J(2)}, {G(0)}));
  breaks(
      "over-commit", "GPU 0 would hold 3 jobs, cluster.max_jobs_per_gpu is 2", spec,
      workload({job(10s), job(10s), job(10s)}),
      [](const ClusterView& view, std::vector<Decision>& out) {
        out.emplace_back(StartGroup{{view.waiting().front()}, {G(0)}});
      },
      join());
}

TEST(ControlLoop, RuleFutureTimer) {
  const OwnedWorkload w = workload({job(10s).at(5s)});
  for (const Time at : {4s, 5s}) {
    breaks("future timer",
           "asked to be woken at " + std::to_string(Time(at).count()) + " ns, it is 5000000000 ns",
           cluster(1, 1), w,
           [at](const ClusterView&, std::vector<Decision>& out) { out.emplace_back(WakeAt{at}); });
  }
}

// The end of time is no valid time of a wake-up: no event is before it.
TEST(ControlLoop, RuleFutureTimerAtTheEndOfTime) {
  breaks("future timer",
         "asked to be woken at " + std::to_string(kNever.count()) + " ns, it is 0 ns",
         cluster(1, 1), workload({job(10s)}),
         [](const ClusterView&, std::vector<Decision>& out) { out.emplace_back(WakeAt{kNever}); });
}

// With rounds of 7 s and at most one reallocation per second, a job that arrives between two rounds starts
// at the next one: the second, which arrived while the first ran, at 14, and the third at 28.
TEST(ControlLoop, RoundsAndReallocationTogether) {
  ScriptedPolicy policy([](const ClusterView& view, std::vector<Decision>& out) {
    if (!view.empty_gpus().empty()) out.emplace_back(StartGroup{{view.waiting().front()}, {G(0)}});
  });
  RunOptions options;
  options.control.round = 7s;
  options.control.reallocate = 1s;
  const RunResult r = run(cluster(1, 1), workload({job(10s), job(10s).at(3s), job(10s).at(4s)}),
                          ShareWorld(1), policy, options);
  EXPECT_EQ(r.record.jobs[0].first_start, 0s);
  EXPECT_EQ(r.record.jobs[1].first_start, 14s);
  EXPECT_EQ(r.record.jobs[2].first_start, 28s);
}

// A wake-up that the policy asked for is a reason for a pass without any other event.
TEST(ControlLoop, AWakeUpCountsWhereReallocationIsLimited) {
  ScriptedPolicy policy([](const ClusterView& view, std::vector<Decision>& out) {
    if (view.now() < 3s) {
      out.emplace_back(WakeAt{3s});
    } else {
      out.emplace_back(StartGroup{{view.waiting().front()}, {G(0)}});
    }
  });
  RunOptions options;
  options.control.reallocate = 1s;
  // Another job to come, or an idle cluster would be reason enough.
  const RunResult r =
      run(cluster(1, 2), workload({job(10s), job(1s).at(60s)}), ShareWorld(1), policy, options);
  EXPECT_EQ(r.record.jobs[0].first_start, 3s);
}

TEST(ControlLoop, RuleProgress) {
  const auto idle = [](const ClusterView&, std::vector<Decision>&) {};
  breaks("progress",
         "2 jobs were left waiting on an idle cluster, the first is job 1, which asks for 2 GPUs",
         cluster(1, 2), workload({job(10s).at(5s), job(10s).gpus(2)}), idle);
  breaks("progress",
         "1 job was left waiting on an idle cluster, the first is job 0, which asks for 1 GPU",
         cluster(1, 1), workload({job(10s)}), idle);
}

/// At 30 s everything happens at once: A ends, B runs out of memory, C arrives, a timer ends. Ends come
/// first, then failures (B before C), arrivals, timers, and then one pass for all.
TEST(ControlLoop, OrderOfThingsAtOneInstant) {
  ClusterSpec spec = cluster(1, 3, 1, 1000);
  spec.oom.ramp = 30s;
  const OwnedWorkload w =
      workload({job(30s).at(0s), job(10s).memory(2000), job(10s).at(30s), job(1000s)});
  std::vector<Time> called;
  std::function<std::size_t()> seen_before_the_pass;  // of ended episodes
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    called.push_back(view.now());
    if (called.size() == 1) {
      out.emplace_back(StartGroup{{J(0)}, {G(0)}});
      out.emplace_back(StartGroup{{J(1)}, {G(1)}});
      out.emplace_back(WakeAt{30s});
      out.emplace_back(WakeAt{30s});
    } else if (called.size() == 3) {
      EXPECT_EQ(view.now(), 30s);
      EXPECT_EQ(ids(view.waiting()), (std::vector<JobId>{J(3), J(1), J(2)}));
      EXPECT_EQ(view.departures(), 2U);
      EXPECT_EQ(view.empty_gpus().size(), 3);
      EXPECT_EQ(view.job(J(1)).resubmissions, 1);
      EXPECT_EQ(seen_before_the_pass(), 1U);
      out.emplace_back(StartGroup{{J(2)}, {G(0)}});
      out.emplace_back(StartGroup{{J(3)}, {G(1)}});
    }
  });
  seen_before_the_pass = [&] { return policy.seen.size(); };
  EXPECT_THROW(run(spec, w, ShareWorld(1), policy), PolicyError);  // J(1) waits for ever
  // 0: twice (a start, then nothing more). 30: the same, once each; no second pass at 30.
  ASSERT_GE(called.size(), 4U);
  EXPECT_EQ(std::vector<Time>(called.begin(), called.begin() + 4),
            (std::vector<Time>{0s, 0s, 30s, 30s}));
  EXPECT_EQ(std::count(called.begin(), called.end(), Time{30s}), 2);
}

TEST(ControlLoop, TheLogHasTheOrderOfTheInstant) {
  ClusterSpec spec = cluster(1, 2, 1, 1000);
  spec.oom = {30s, 0};
  const OwnedWorkload w = workload({job(10s).memory(2000), job(30s), job(10s).at(30s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(1)}}, {{J(2)}, {G(0)}}});
  const RunResult r = run(spec, w, ShareWorld(1), policy);
  EXPECT_EQ(r.log, (EventLog{{0s, LogKind::kArrive, J(0), {}},
                             {0s, LogKind::kArrive, J(1), {}},
                             {0s, LogKind::kStart, J(0), {G(0)}},
                             {0s, LogKind::kStart, J(1), {G(1)}},
                             {30s, LogKind::kFinish, J(1), {}},
                             {30s, LogKind::kFail, J(0), {}},
                             {30s, LogKind::kArrive, J(2), {}},
                             {30s, LogKind::kStart, J(2), {G(0)}},
                             {40s, LogKind::kFinish, J(2), {}}}));
  EXPECT_EQ(r.passes, 2U);
}

// Job 1 runs at half speed beside the job that fails at 30 s. With some nanoseconds of work left, it would end just
// after that; alone, it ends in the same instant.
TEST(ControlLoop, ACompletionThatAFailureBringsForwardIsReportedFirst) {
  ClusterSpec spec = cluster(1, 1, 10, 1000);
  spec.oom = {30s, 0};
  int at_once = 0;
  for (int left_ns = 0; left_ns < 20; ++left_ns) {
    const OwnedWorkload w =
        workload({job(1000s).memory(2000), job(150s + std::chrono::nanoseconds(left_ns))});
    ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
    const RunResult r = run(spec, w, ShareWorld(1), policy);
    const auto fail = std::ranges::find(r.log, LogKind::kFail, &LogEntry::kind);
    const auto finish = std::ranges::find(r.log, LogKind::kFinish, &LogEntry::kind);
    ASSERT_NE(fail, r.log.end());
    ASSERT_NE(finish, r.log.end());
    EXPECT_EQ(fail->at, Time{30s});
    if (finish->at != fail->at) continue;
    ++at_once;
    EXPECT_LT(finish, fail) << left_ns << " ns left";
  }
  EXPECT_GT(at_once, 1);
}

TEST(ControlLoop, NoPassWithoutAWaitingJob) {
  const OwnedWorkload w = workload({job(10s), job(10s)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const RunResult r = run(cluster(1, 1), w, ShareWorld(1), policy);
  EXPECT_EQ(r.passes, 1U);
  EXPECT_EQ(policy.calls, 1);
}

/// Rounds of 10 s: a job that arrives at 3 starts at 10, one that arrives at 10 starts at 10, one that
/// arrives at 11 at 20. The policy is not called between rounds.
TEST(ControlLoop, PassesOnlyAtRounds) {
  RunOptions options;
  options.control.round = 10s;
  const OwnedWorkload w =
      workload({job(1s).at(3s), job(1s).at(10s), job(1s).at(11s), job(1s).at(12s)});
  std::vector<Time> called;
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    called.push_back(view.now());
    out.emplace_back(StartGroup{ids(view.waiting()), {G(0)}});
  });
  const RunResult r = run(cluster(1, 1), w, ShareWorld(1), policy, options);
  EXPECT_EQ(called, (std::vector<Time>{10s, 20s}));
  EXPECT_EQ(r.record.jobs[0].last_start, 10s);
  EXPECT_EQ(r.record.jobs[1].last_start, 10s);
  EXPECT_EQ(r.record.jobs[2].last_start, 20s);
  EXPECT_EQ(r.record.jobs[3].last_start, 20s);
  EXPECT_EQ(r.passes, 2U);
}

/// Profiling segments too start at rounds: 3 -> 10, its minute ends at 70, which is one.
TEST(ControlLoop, SegmentsStartAtRounds) {
  RunOptions options;
  options.control.round = 10s;
  options.control.profiling = ProfilingMode::kMinute;
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
  policy.wants_profile = true;
  const RunResult r =
      run(cluster(1, 1), workload({job(100s).at(3s)}), ShareWorld(1), policy, options);
  EXPECT_EQ(r.record.jobs[0].last_start, 70s);
}

/// The view has the pending wake-ups.
TEST(ControlLoop, AskingTwiceForATimeIsAskingOnce) {
  static std::vector<Time> asked;
  asked.clear();
  struct Listening final : Passing {
    using Passing::Passing;
    void wake_at(Time at) override {
      asked.push_back(at);
      inner_.wake_at(at);
    }
  };
  RunOptions options;
  options.wrap = [](ClusterBackend& b) { return std::make_unique<Listening>(b); };
  std::vector<Time> called, next;
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    called.push_back(view.now());
    next.push_back(view.next_wake());
    if (view.now() < 5s) {
      for (int i = 0; i < 5; ++i) out.emplace_back(WakeAt{5s});
      out.emplace_back(WakeAt{9s});
    } else if (view.now() >= 9s) {
      out.emplace_back(StartGroup{ids(view.waiting()), {G(0)}});
    }
  });
  const OwnedWorkload w = workload({job(10s), job(10s).at(2s)});
  const RunResult r = run(cluster(1, 1), w, ShareWorld(1), policy, options);
  EXPECT_EQ(asked, (std::vector<Time>{5s, 9s}));
  EXPECT_EQ(called, (std::vector<Time>{0s, 2s, 5s, 9s}));
  EXPECT_EQ(next, (std::vector<Time>{kNever, 5s, 9s, kNever}));
  EXPECT_EQ(r.passes, 4U);
}

/// A job arrives at the queue when it is submitted and whenever it comes back; it departs from its GPUs.
TEST(ControlLoop, PoliciesAreToldWhoComesAndGoes) {
  struct Told final : Policy {
    void decide(const ClusterView& view, std::vector<Decision>& out) override {
      const auto& residents = view.gpu(G(0)).residents;
      if (view.now() == 7s && residents == std::vector{J(0)}) {
        out.emplace_back(Preempt{{J(0)}});
      } else if (residents.empty()) {
        out.emplace_back(StartGroup{{view.waiting().front()}, {G(0)}});
      }
      if (view.now() < 7s) out.emplace_back(WakeAt{7s});
    }
    void arrived(const JobView& job, Time now) override {
      events.emplace_back(now, job.id, "arrived, preempted " + std::to_string(job.preemptions));
    }
    void departed(JobId job, LogKind how, Time now) override {
      events.emplace_back(now, job, how == LogKind::kFinish ? "finished" : "preempted");
    }
    std::vector<std::tuple<Time, JobId, std::string>> events;
  };
  Told policy;
  run(cluster(1, 1), workload({job(10s), job(5s).at(2s)}), ShareWorld(1), policy);
  using Event = std::tuple<Time, JobId, std::string>;
  const std::vector<Event> expected = {{0s, J(0), "arrived, preempted 0"},
                                       {2s, J(1), "arrived, preempted 0"},
                                       {7s, J(0), "preempted"},
                                       {7s, J(0), "arrived, preempted 1"},
                                       {12s, J(1), "finished"},
                                       {15s, J(0), "finished"}};
  EXPECT_EQ(policy.events, expected);
}

/// What a job attained includes its present run, at every pass.
TEST(ControlLoop, PoliciesSeeWhatJobsAttainedUpToNow) {
  struct Seen {
    Time now{0};
    std::vector<Duration> attained;
    std::vector<std::optional<Time>> started;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    Seen now{view.now(), {}, {}};
    for (const JobId job : {J(0), J(1)}) {
      if (view.now() > 9s) break;  // one of them has left
      now.attained.push_back(view.job(job).attained(view.now()));
      now.started.push_back(view.job(job).started);
    }
    seen.push_back(now);
    const auto& residents = view.gpu(G(0)).residents;
    if (view.now() == 4s && residents == std::vector{J(0)}) {
      out.emplace_back(Preempt{{J(0)}});
    } else if (view.now() == 7s && residents == std::vector{J(1)}) {
      out.emplace_back(Preempt{{J(1)}});
      out.emplace_back(StartGroup{{J(0)}, {G(0)}});
    } else if (residents.empty()) {
      out.emplace_back(StartGroup{{view.now() == 4s ? J(1) : view.waiting().front()}, {G(0)}});
    }
    for (const Time at : {3s, 4s, 7s, 9s}) {
      if (view.now() < at) out.emplace_back(WakeAt{at});
    }
  });
  const OwnedWorkload w = workload({job(10s), job(10s)});
  run(cluster(1, 1), w, ShareWorld(1), policy);
  const auto at = [&](Time now) {
    const auto last = std::ranges::find_if(seen, [&](const Seen& s) { return s.now == now; });
    return last == seen.end() ? Seen{} : *last;
  };
  EXPECT_EQ(at(0s), (Seen{0s, {0s, 0s}, {std::nullopt, std::nullopt}}));
  EXPECT_EQ(at(3s), (Seen{3s, {3s, 0s}, {0s, std::nullopt}}));
  EXPECT_EQ(at(7s), (Seen{7s, {4s, 3s}, {std::nullopt, 4s}})) << "preempted after 4 s";
  EXPECT_EQ(at(9s), (Seen{9s, {6s, 3s}, {7s, std::nullopt}})) << "again since 7 s";
}

/// Profiling and probes are asked for on clusters that have them.
TEST(ControlLoop, RefusesTrialRunsOnAClusterWithoutThem) {
  const ClusterSpec spec = cluster(1, 1);
  const OwnedWorkload w = workload({job(10s)});
  const ShareWorld world(1);
  RoundBackend rounds(spec, w, world, {});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}});
  ControlOptions options;
  options.profiling = ProfilingMode::kMinute;
  options.probes = 1;
  EXPECT_NO_THROW(ControlLoop(rounds, {policy, "p"}, job_views(w), options)) << "it needs neither";
  policy.wants_profile = true;
  EXPECT_THROW(ControlLoop(rounds, {policy, "p"}, job_views(w), options), std::invalid_argument);
  policy.wants_profile = false;
  policy.probe_pairs = {{J(0), J(1)}};
  EXPECT_THROW(ControlLoop(rounds, {policy, "p"}, job_views(w), options), std::invalid_argument);
}

TEST(ControlLoop, WakeUpsComeWhenAskedFor) {
  std::vector<Time> called;
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    called.push_back(view.now());
    if (view.now() < 3s) {
      out.emplace_back(WakeAt{view.now() + 1s});
    } else {
      out.emplace_back(StartGroup{{J(0)}, {G(0)}});
    }
  });
  const RunResult r = run(cluster(1, 1), workload({job(10s)}), ShareWorld(1), policy);
  EXPECT_EQ(called, (std::vector<Time>{0s, 1s, 2s, 3s}));
  EXPECT_EQ(r.record.jobs[0].finish, 13s);
}

TEST(ControlLoop, TheViewIsUpToDateAtEachCall) {
  std::vector<std::size_t> waiting;
  std::vector<int> empty;
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    waiting.push_back(view.waiting().size());
    empty.push_back(view.empty_gpus().size());
    GpuId free{};
    view.empty_gpus().each([&](GpuId g) {
      free = g;
      return false;
    });
    out.emplace_back(StartGroup{{view.waiting().front()}, {free}});
  });
  run(cluster(1, 3), workload({job(10s), job(10s), job(10s)}), ShareWorld(1), policy);
  EXPECT_EQ(waiting, (std::vector<std::size_t>{3, 2, 1}));
  EXPECT_EQ(empty, (std::vector<int>{3, 2, 1}));
}

TEST(ControlLoop, TheViewShowsFacesAndNothingThatHasNotArrived) {
  const OwnedWorkload w =
      workload({job(10s).priority(4).memory(100).util(30), job(10s).at(5s).gpus(2)});
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    if (view.now() == 0s) {
      EXPECT_THROW(view.job(J(1)), std::logic_error);
      EXPECT_EQ(view.job(J(0)).priority, 4);
      EXPECT_EQ(view.job(J(0)).profile, w.jobs[0].profile);
      EXPECT_EQ(view.job(J(0)).estimate, seconds(10));
      out.emplace_back(StartGroup{{J(0)}, {G(0)}});
    } else {
      EXPECT_EQ(view.job(J(1)).gpus, 2);
      EXPECT_EQ(view.job(J(0)).id, J(0));  // a resident is still known
      out.emplace_back(StartGroup{{J(1)}, {G(1), G(2)}});
    }
    EXPECT_EQ(view.largest_gang(), 2);
    EXPECT_EQ(view.start_mode(), StartMode::kGroup);
    EXPECT_EQ(view.max_jobs_per_gpu(9), 9);
  });
  run(cluster(1, 3), w, ShareWorld(1), policy);
}

TEST(ControlLoop, WhatAPolicyIsShownOfAnEpisode) {
  const OwnedWorkload w = workload({job(60s), job(100s)});
  ScriptedPolicy policy = steps({{{J(1), J(0)}, {G(0)}}});
  run(cluster(1, 1), w, ShareWorld(0.5), policy);
  ASSERT_EQ(policy.seen.size(), 1U);
  const ScriptedPolicy::Seen& e = policy.seen[0];
  ASSERT_EQ(e.members.size(), 2U);
  EXPECT_EQ(e.members[0].job, J(1));
  EXPECT_EQ(e.members[0].solo, 100s);
  EXPECT_EQ(e.members[0].corun, 130s);
  EXPECT_DOUBLE_EQ(e.members[0].isd, 0.3);
  EXPECT_DOUBLE_EQ(e.members[1].isd, 0.5);
  EXPECT_DOUBLE_EQ(e.ps, 0.1875);
  EXPECT_EQ(e.length, 130s);
  EXPECT_TRUE(e.together);
}

/// A gang and a single job that shared its second GPU are one co-run, too, and beliefs must learn from it.
TEST(ControlLoop, ACoRunOnTheSecondGpuOfAGangIsShown) {
  const OwnedWorkload w = workload({job(100s).gpus(2), job(40s)});
  ScriptedPolicy policy = steps({{{J(0)}, {G(0), G(1)}}, {{J(1)}, {G(1)}}});
  run(cluster(1, 2), w, ShareWorld(1), policy, join());
  bool shown = false;
  for (const auto& e : policy.seen) shown |= e.members.size() == 2;
  EXPECT_TRUE(shown);
}

TEST(ControlLoop, RetriesEndAndTheJobIsGivenUp) {
  ClusterSpec spec = cluster(1, 1, 1, 1000);
  spec.oom = {1s, 2};
  std::vector<int> resubmissions;
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    resubmissions.push_back(view.job(J(0)).resubmissions);
    out.emplace_back(StartGroup{{J(0)}, {G(0)}});
  });
  const RunResult r = run(spec, workload({job(10s).memory(2000)}), ShareWorld(1), policy);
  EXPECT_EQ(resubmissions, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(r.log.back().kind, LogKind::kFail);
}

}  // namespace
}  // namespace corun::test::control_loop_test
