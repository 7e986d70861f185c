#include "sim/engine/detail_recorder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/builders.hpp"
#include "tests/helpers/matrix_belief.hpp"
#include "tests/helpers/scenarios.hpp"

/// Details of runs in closed form, and against the event log and the sums of random runs.
namespace corun::test::detail_recorder_test {
namespace {

constexpr DetailLimits kAll{1000, 100'000, true};

struct Detailed {
  RunResult result;
  RunDetails details;
};

Detailed detailed(const ClusterSpec& spec, const OwnedWorkload& w, const World& world,
                  Policy& policy, RunOptions options = {}, const Belief* belief = nullptr,
                  DetailLimits limits = kAll) {
  LevelSlices slices(w.jobs[index(w.arrivals.front())].submit, spec.gpu_count());
  DetailRecorder recorder(spec, w, belief, limits, limits.slices ? &slices : nullptr);
  options.observer = &recorder;
  Detailed out{run(spec, w, world, policy, std::move(options)), recorder.take()};
  out.details.slices = slices.records();
  return out;
}

double length_s(const SliceRecord& slice) { return to_seconds(slice.end - slice.start); }

/// The integral of a quantity over all slices.
double integral(const RunDetails& details, double SliceRecord::*quantity) {
  double sum = 0;
  for (const SliceRecord& s : details.slices) sum += s.*quantity * length_s(s);
  return sum;
}

std::vector<std::uint32_t> jobs_of(const std::vector<CoRunRecord>& rows) {
  std::vector<std::uint32_t> jobs;
  for (const CoRunRecord& r : rows) {
    for (const JobId j : r.pair) jobs.push_back(static_cast<std::uint32_t>(index(j)));
  }
  return jobs;
}

// J0 (100 s, speed 1/2) and J1 (40 s, speed 0.8) start together: J1 ends at 50 s, J0 at 125 s. J2 comes to the
// other GPU at 10 s, but the policy starts it at 30 s.
TEST(DetailRecorder, APairAndAJobAlone) {
  const OwnedWorkload w = workload({job(seconds{100}).util(60), job(seconds{40}).util(50),
                                    job(seconds{20}).at(seconds{10}).util(40)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}, {{J(2)}, {G(1)}, seconds{30}}});
  const MatrixBelief belief({0, 3, 0, 3, 0, 0, 0, 0, 0}, 3);
  const auto [result, details] =
      detailed(cluster(2, 1), w, TableWorld({0.5, 0.8, 0.9}), policy, {}, &belief);

  ASSERT_EQ(details.co_runs.size(), 1U);
  const CoRunRecord& c = details.co_runs[0];
  EXPECT_EQ(c.co_run, 0U);
  EXPECT_EQ(c.gpu, G(0));
  EXPECT_EQ(c.start, seconds{0});
  EXPECT_EQ(c.end, seconds{50});
  EXPECT_EQ(c.jobs, 2);
  EXPECT_FALSE(c.probe);
  EXPECT_EQ(c.source, Provenance::kMeasured);
  EXPECT_DOUBLE_EQ(c.speed[0], 0.5);
  EXPECT_DOUBLE_EQ(c.speed[1], 0.8);
  EXPECT_DOUBLE_EQ(c.isd[0], 0.25);
  EXPECT_DOUBLE_EQ(c.isd[1], 0.25);
  EXPECT_DOUBLE_EQ(c.ps, (140.0 - 125) / 140);
  EXPECT_EQ(c.predicted_isd[0], 3);
  EXPECT_EQ(c.predicted_isd[1], 0);
  EXPECT_EQ(c.predicted_ps, 0);
  EXPECT_DOUBLE_EQ(c.predicted_speed[0], 0.25);
  EXPECT_DOUBLE_EQ(c.predicted_speed[1], 1);

  ASSERT_EQ(details.events.size(), 9U);
  const auto expect_event = [&](std::size_t i, Time at, LogKind kind, JobId j, GpuId gpu,
                                JobId other, std::uint32_t residents) {
    const EventRecord& e = details.events[i];
    EXPECT_EQ(e.at, at) << i;
    EXPECT_EQ(e.kind, kind) << i;
    EXPECT_EQ(e.job, j) << i;
    EXPECT_EQ(e.gpu, gpu) << i;
    EXPECT_EQ(e.co_runner, other) << i;
    EXPECT_EQ(e.residents, residents) << i;
  };
  expect_event(0, seconds{0}, LogKind::kArrive, J(0), kNoGpu, kNoJob, 0);
  expect_event(2, seconds{0}, LogKind::kStart, J(0), G(0), J(1), 2);
  expect_event(3, seconds{0}, LogKind::kStart, J(1), G(0), J(0), 2);
  expect_event(4, seconds{10}, LogKind::kArrive, J(2), kNoGpu, kNoJob, 0);
  expect_event(5, seconds{30}, LogKind::kStart, J(2), G(1), kNoJob, 1);
  EXPECT_EQ(details.events[6].kind, LogKind::kFinish);
  expect_event(8, seconds{125}, LogKind::kFinish, J(0), G(0), kNoJob, 0);
  const auto leaves = std::ranges::find_if(details.events, [](const EventRecord& e) {
    return e.kind == LogKind::kFinish && e.job == J(1);
  });
  ASSERT_NE(leaves, details.events.end());
  EXPECT_EQ(leaves->co_runner, J(0));
  EXPECT_EQ(leaves->residents, 1U);

  EXPECT_EQ(details.slices.front().start, seconds{0});
  EXPECT_EQ(details.slices.back().end, seconds{125});
  EXPECT_NEAR(integral(details, &SliceRecord::gpus_busy), 125 + 20, 1e-9);
  EXPECT_NEAR(integral(details, &SliceRecord::gpus_shared), 50, 1e-9);
  EXPECT_NEAR(integral(details, &SliceRecord::queue), 20, 1e-9);
  EXPECT_NEAR(integral(details, &SliceRecord::running), 125 + 50 + 20, 1e-9);
  // 0.6 x 0.5 + 0.5 x 0.8, then 0.6; and 0.4.
  EXPECT_NEAR(integral(details, &SliceRecord::gpu_util), (50 * 0.7 + 75 * 0.6 + 20 * 0.4) / 2,
              1e-9);
}

// Three jobs: a row for each pair, all of one co-run; when one leaves, the pair that stays is another.
TEST(DetailRecorder, EachPairOfThreeHasARow) {
  const OwnedWorkload w = workload({job(seconds{10}), job(seconds{30}), job(seconds{60})});
  ScriptedPolicy policy = steps({{{J(0), J(1), J(2)}, {G(0)}}});
  const auto [result, details] = detailed(cluster(1, 1), w, ShareWorld(0), policy);
  ASSERT_EQ(details.co_runs.size(), 4U);
  EXPECT_EQ(jobs_of(details.co_runs), (std::vector<std::uint32_t>{0, 1, 0, 2, 1, 2, 1, 2}));
  for (std::size_t r = 0; r < 4; ++r) {
    const CoRunRecord& c = details.co_runs[r];
    EXPECT_EQ(c.co_run, r < 3 ? 0U : 1U);
    EXPECT_EQ(c.jobs, r < 3 ? 3 : 2);
    EXPECT_EQ(c.start, r < 3 ? seconds{0} : seconds{10});
    EXPECT_EQ(c.end, r < 3 ? seconds{10} : seconds{30});
    EXPECT_EQ(c.speed[0], 1);
    EXPECT_TRUE(std::isnan(c.isd[0]) && std::isnan(c.ps)) << "an episode of three is no pair's";
    EXPECT_TRUE(std::isnan(c.predicted_isd[0])) << "there is no belief";
  }
}

// J1 does not fit beside J0: it makes no progress for the ramp and leaves.
TEST(DetailRecorder, AJobThatRunsOutOfMemoryStandsStill) {
  ClusterSpec spec = cluster(1, 1, 1, 1000);
  spec.oom = {seconds{5}, 0};
  const OwnedWorkload w = workload({job(seconds{100}).memory(800), job(seconds{100}).memory(800)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}});
  const auto [result, details] = detailed(spec, w, ShareWorld(1), policy);
  ASSERT_EQ(details.co_runs.size(), 1U);
  EXPECT_EQ(details.co_runs[0].end, seconds{5});
  EXPECT_DOUBLE_EQ(details.co_runs[0].speed[0], 0.5);
  EXPECT_EQ(details.co_runs[0].speed[1], 0);
  EXPECT_TRUE(std::isnan(details.co_runs[0].isd[0]));
  EXPECT_EQ(details.events.back().kind, LogKind::kFinish);
  EXPECT_TRUE(std::ranges::any_of(details.events, [](const EventRecord& e) {
    return e.kind == LogKind::kFail && e.job == J(1) && e.gpu == G(0) && e.residents == 1;
  }));
}

// Two gangs of two share both GPUs: one co-run, on the lower; their events are on both. A gang's partner on one
// GPU changes the gang's use of the other.
TEST(DetailRecorder, GangsCountOnce) {
  const OwnedWorkload w =
      workload({job(seconds{100}).gpus(2).util(50), job(seconds{50}).gpus(2).util(50)});
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(1), G(0)}}});
  const auto [result, details] = detailed(cluster(1, 2), w, ShareWorld(1), policy);
  ASSERT_EQ(details.co_runs.size(), 1U);
  EXPECT_EQ(details.co_runs[0].gpu, G(0));
  EXPECT_DOUBLE_EQ(details.co_runs[0].isd[1], 1);
  EXPECT_EQ(details.events.size(), 2U + 4 + 4);

  const OwnedWorkload uneven =
      workload({job(seconds{100}).gpus(2).util(50), job(seconds{50}).util(80)});
  ScriptedPolicy joins = steps({{{J(0)}, {G(0), G(1)}}, {{J(1)}, {G(1)}}});
  const Detailed other = detailed(cluster(1, 2), uneven, ShareWorld(1), joins, join());
  ASSERT_EQ(other.details.co_runs.size(), 1U);
  EXPECT_EQ(other.details.co_runs[0].gpu, G(1));
  EXPECT_NEAR(2 * integral(other.details, &SliceRecord::gpu_util), other.result.record.usage.util_s,
              1e-9);
}

TEST(DetailRecorder, KeepsTheFirstRowsAndCountsTheOthers) {
  std::vector<JobSpec> jobs(40, job(seconds{10}));
  const OwnedWorkload w = workload(jobs);
  std::vector<Step> list;
  for (std::uint32_t j = 0; j < 40; j += 2)
    list.push_back({{J(j), J(j + 1)}, {G(0)}, seconds{20 * j}});
  const auto with = [&](DetailLimits limits) {
    ScriptedPolicy policy = steps(list);
    return detailed(cluster(1, 1), w, ShareWorld(0), policy, {}, nullptr, limits).details;
  };
  const RunDetails all = with(kAll);
  ASSERT_EQ(all.co_runs.size(), 20U);
  ASSERT_EQ(all.events.size(), 120U);
  EXPECT_EQ(all.co_runs_left_out + all.events_left_out, 0U);
  const RunDetails few = with({7, 50, true});
  ASSERT_EQ(few.co_runs.size(), 7U);
  EXPECT_EQ(few.co_runs_left_out, 13U);
  EXPECT_EQ(few.co_runs[6].start, all.co_runs[6].start);
  EXPECT_EQ(few.co_runs[6].isd[0], all.co_runs[6].isd[0]);
  ASSERT_EQ(few.events.size(), 50U);
  EXPECT_EQ(few.events_left_out, 70U);
  EXPECT_EQ(few.events[49].job, all.events[49].job);
  const RunDetails none = with({0, 0, true});
  EXPECT_TRUE(none.co_runs.empty() && none.events.empty());
  EXPECT_EQ(none.co_runs_left_out + none.events_left_out, 0U) << "nothing was asked for";
  EXPECT_FALSE(none.slices.empty());
}

TEST(TimeSlices, AnyLengthGivesAtMost256OfOneLength) {
  for (const std::int64_t end :
       {1LL, 255LL, 256LL, 257LL, 1000LL, 65'537LL, 9'000'000'000'000'000'000LL}) {
    TimeSlices<1> slices(Time{0});
    slices.add(Time{0}, Time{end / 3}, {2});
    slices.add(Time{end / 3}, Time{end}, {1});
    const auto all = slices.slices();
    ASSERT_FALSE(all.empty());
    EXPECT_LE(all.size(), 256U);
    EXPECT_TRUE(end < 256 || all.size() > 128) << all.size();
    EXPECT_EQ(all.back().end.count(), end);
    double sum = 0;
    for (std::size_t s = 0; s < all.size(); ++s) {
      EXPECT_EQ(all[s].start, s == 0 ? Time{0} : all[s - 1].end);
      if (s + 1 < all.size()) EXPECT_EQ(all[s].end - all[s].start, all[0].end - all[0].start);
      sum += all[s].means[0] * static_cast<double>((all[s].end - all[s].start).count());
    }
    const double expected = static_cast<double>(end) + static_cast<double>(end / 3);
    EXPECT_NEAR(sum / expected, 1, 1e-9) << end;
  }
  EXPECT_TRUE(TimeSlices<1>(Time{5}).slices().empty());
  TimeSlices<1> late(Time{100});
  late.add(Time{0}, Time{100}, {9});
  EXPECT_TRUE(late.slices().empty()) << "time before the start does not count";
  late.add(Time{90}, Time{101}, {9});
  ASSERT_EQ(late.slices().size(), 1U);
  EXPECT_EQ(late.slices()[0].means[0], 9);
}

/// What the event log says of a run, by a slow way: residents after each instant.
struct Played {
  double waiting_s = 0;
  double running_s = 0;
  double co_run_s = 0;  ///< of pairs on GPUs, each pair on its first GPU
  std::vector<EventRecord> events;

  Played(const EventLog& log, const ClusterSpec& spec) {
    std::vector<std::set<JobId>> on(static_cast<std::size_t>(spec.gpu_count()));
    std::map<JobId, std::vector<GpuId>> at;
    std::set<JobId> waiting;
    Time last{0};
    for (std::size_t i = 0, end = 0; i < log.size(); i = end) {
      const double passed = to_seconds(log[i].at - last);
      waiting_s += passed * static_cast<double>(waiting.size());
      running_s += passed * static_cast<double>(at.size());
      std::set<std::pair<JobId, JobId>> pairs;
      for (const auto& jobs : on) {
        for (const JobId a : jobs) {
          for (const JobId b : jobs) {
            if (a < b) pairs.emplace(a, b);
          }
        }
      }
      co_run_s += passed * static_cast<double>(pairs.size());
      last = log[i].at;
      const std::size_t first = events.size();
      for (end = i; end < log.size() && log[end].at == last; ++end) {
        const LogEntry& e = log[end];
        const bool comes = !e.gpus.empty();
        std::vector<GpuId> gpus = comes ? e.gpus : at[e.job];
        if (comes) {
          waiting.erase(e.job);
          at[e.job] = gpus;
        } else {
          at.erase(e.job);
          if (e.kind != LogKind::kFinish && e.kind != LogKind::kFail) waiting.insert(e.job);
        }
        for (const GpuId g : gpus) {
          if (comes) {
            on[index(g)].insert(e.job);
          } else {
            on[index(g)].erase(e.job);
          }
          events.push_back({.at = e.at, .kind = e.kind, .job = e.job, .gpu = g});
        }
        if (gpus.empty()) events.push_back({.at = e.at, .kind = e.kind, .job = e.job});
      }
      for (std::size_t k = first; k < events.size(); ++k) {
        if (events[k].gpu == kNoGpu) continue;
        std::set<JobId> jobs = on[index(events[k].gpu)];
        events[k].residents = static_cast<std::uint32_t>(jobs.size());
        jobs.erase(events[k].job);
        if (!jobs.empty()) events[k].co_runner = *jobs.begin();
      }
    }
  }
};

void expect_same_events(const std::vector<EventRecord>& found,
                        const std::vector<EventRecord>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto facts = [](const EventRecord& e) {
      return std::tuple(e.at, e.kind, e.job, e.gpu, e.co_runner, e.residents);
    };
    ASSERT_EQ(facts(found[i]), facts(expected[i])) << "event " << i;
  }
}

/// Details agree with the event log and with the sums that the engine keeps, for every policy.
TEST(DetailRecorder, RandomRunsAddUp) {
  std::size_t pairs = 0;
  std::size_t probes = 0;
  for (const PolicyEntry& entry : built_in_policies()) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      Scenario s = random_scenario(seed);
      if (!can_run(entry, s)) continue;
      for (JobSpec& j : s.workload.jobs) {
        if (!j.profile.gpu_util_pct) j.profile.gpu_util_pct = 37;
      }
      SCOPED_TRACE(std::string(entry.name) + ", seed " + std::to_string(seed));
      const ErraticWorld world(seed);
      const Parameters parameters = parameters_for(entry, s);
      const auto policy = make_policy(entry, s.workload, world, seed, parameters);
      RunOptions options = s.options;
      options.traits = entry.traits_for(parameters);
      const auto [result, details] =
          detailed(s.cluster, s.workload, world, *policy, options, policy->belief());
      const Played played(result.log, s.cluster);
      expect_same_events(details.events, played.events);
      const UsageRecord& usage = result.record.usage;
      const double gpus = s.cluster.gpu_count();
      const double shared = std::accumulate(usage.corun_s.begin() + 1, usage.corun_s.end(), 0.0);
      EXPECT_NEAR(integral(details, &SliceRecord::gpus_busy), to_seconds(usage.busy), 1e-6);
      EXPECT_NEAR(integral(details, &SliceRecord::gpus_shared), shared, 1e-6);
      EXPECT_NEAR(gpus * integral(details, &SliceRecord::gpu_util), usage.util_s, 1e-6);
      EXPECT_NEAR(integral(details, &SliceRecord::queue), played.waiting_s, 1e-6);
      EXPECT_NEAR(integral(details, &SliceRecord::running), played.running_s, 1e-6);
      double together = 0;
      for (const CoRunRecord& c : details.co_runs) {
        together += to_seconds(c.end - c.start);
        EXPECT_LT(c.start, c.end);
        for (std::size_t i = 0; i < 2; ++i) {
          EXPECT_GE(c.speed[i], 0);
          EXPECT_LE(c.speed[i], 1 + 1e-12);
          EXPECT_EQ(std::isnan(c.predicted_isd[i]), policy->belief() == nullptr);
        }
        probes += c.probe ? 1 : 0;
        if (std::isnan(c.ps)) continue;
        ++pairs;
        for (std::size_t i = 0; i < 2; ++i) {
          const JobRecord& r = result.record.jobs[index(c.pair[i])];
          EXPECT_EQ(c.isd[i], individual_slowdown(r.finish - r.last_start, r.run_solo));
        }
      }
      EXPECT_NEAR(together, played.co_run_s, 1e-6);
    }
  }
  EXPECT_GT(pairs, 100U);
  EXPECT_GT(probes, 10U);
}

}  // namespace
}  // namespace corun::test::detail_recorder_test
