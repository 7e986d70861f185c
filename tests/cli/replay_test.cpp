#include "runner/replay/replay.hpp"

#include <cmath>
#include <csignal>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/replay/replay_files.hpp"
#include "sim/error.hpp"
#include "tests/helpers/eventually.hpp"
#include "tests/helpers/program.hpp"

namespace corun::replay_test {
namespace {

Config small(const std::vector<std::string>& overrides = {}) {
  std::vector<std::string> all{"replications=20"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return default_config_with(parse_overrides(all), policy_catalog());
}

ReplayResult replayed(const Experiment& experiment, unsigned threads = 2) {
  ReplayOptions options;
  options.threads = threads;
  return replay(experiment, options);
}

double mean(const Experiment& e, const ReplayResult& r, std::string_view policy, Metric m) {
  for (std::size_t p = 0; p < e.policies().size(); ++p) {
    if (e.policies()[p].label == policy) {
      return r.comparison.policies[p][static_cast<std::size_t>(m)].mean;
    }
  }
  ADD_FAILURE() << policy;
  return 0;
}

TEST(Replay, BoundsAreBounds) {
  const Experiment e(small(), "");
  const ReplayResult r = replayed(e);
  EXPECT_EQ(mean(e, r, "exclusive", Metric::kIsd), 0);
  EXPECT_EQ(mean(e, r, "exclusive", Metric::kPs), 0);
  EXPECT_EQ(mean(e, r, "exclusive", Metric::kPsTotal), 0);
  for (const PolicyInstance& p : e.policies()) {
    if (p.label == "exclusive" || p.label == "oracle") continue;
    EXPECT_LT(mean(e, r, "oracle", Metric::kIsd), mean(e, r, p.label, Metric::kIsd)) << p.label;
  }
}

TEST(Replay, IntervalsHoldTheirMeansAndDifferencesAreDifferences) {
  const Experiment e(small(), "");
  const ReplayResult r = replayed(e);
  for (std::size_t p = 0; p < e.policies().size(); ++p) {
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      const Interval& i = r.comparison.policies[p][m];
      if (std::isnan(i.mean)) continue;
      EXPECT_LE(i.lo, i.mean);
      EXPECT_LE(i.mean, i.hi);
      for (std::size_t q = 0; q < e.policies().size(); ++q) {
        const Interval& d = r.comparison.versus[p][q][m];
        const Interval& other = r.comparison.policies[q][m];
        if (q == p || std::isnan(other.mean)) continue;
        EXPECT_NEAR(d.mean, i.mean - other.mean, 1e-9);
        EXPECT_LE(d.lo, d.mean);
        EXPECT_LE(d.mean, d.hi);
      }
    }
  }
}

TEST(Replay, EveryJobFinishesUnderEveryPolicyAndCoverageAddsUp) {
  const Experiment e(small(), "");
  const ReplayResult r = replayed(e);
  for (const PolicyInstance& p : e.policies()) {
    EXPECT_EQ(mean(e, r, p.label, Metric::kJobs), 24) << p.label;
  }
  const Coverage& c = r.coverage;
  EXPECT_NEAR(c.measured + c.modelled + c.extrapolated, 1, 1e-12);
  EXPECT_GT(c.measured, 0);
  EXPECT_GT(c.modelled, 0);
  EXPECT_EQ(c.extrapolated, 0);
}

TEST(Replay, DecisionsAreTimedWhereSomebodyAsks) {
  const Experiment e(small({"replications=2"}), "");
  ReplayOptions options;
  const ReplayResult timed = replay(e, options);
  options.time_decisions = false;
  const ReplayResult untimed = replay(e, options);
  for (std::size_t p = 0; p < e.policies().size(); ++p) {
    EXPECT_GT(decision_times(timed, p).passes(), 0) << e.policies()[p].label;
    EXPECT_EQ(decision_times(untimed, p).passes(), 0) << e.policies()[p].label;
    EXPECT_EQ(at(timed.replications[1].runs[p].metrics, Metric::kJctS),
              at(untimed.replications[1].runs[p].metrics, Metric::kJctS));
  }
}

TEST(Replay, AnotherGpuTypeIsExtrapolatedAndSaysSo) {
  const Experiment e(small({"cluster.gpu_type=A100-40GB"}), "");
  EXPECT_EQ(replayed(e).coverage.extrapolated, 1);
  EXPECT_NE(find_note(e.notes(), NoteCode::kExtrapolated), nullptr);
}

TEST(Replay, KeysThatASourceDoesNotReadAreRefused) {
  const std::vector<std::string> jobs{"workload.source=csv",
                                      "workload.path=" CORUN_SOURCE_DIR "/examples/jobs.csv"};
  for (const std::string key : {"workload.load=0.5", "workload.jobs=7", "workload.labels=x.csv"}) {
    std::vector<std::string> all = jobs;
    all.push_back(key);
    try {
      const Experiment e(small(all), "");
      ADD_FAILURE() << key;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(key.substr(0, key.find('='))), std::string::npos)
          << e.what();
    }
  }
}

TEST(Replay, OverloadIsAnnounced) {
  const auto has = [](const Experiment& e) {
    return find_note(e.notes(), NoteCode::kOverload) != nullptr;
  };
  const std::vector<std::string> base{"workload.source=jrs-resampled", "workload.jobs=400"};
  const auto with_load = [&](const std::string& load) {
    std::vector<std::string> all = base;
    all.push_back("workload.load=" + load);
    return small(all);
  };
  EXPECT_TRUE(has(Experiment(with_load("2"), "")));
  EXPECT_FALSE(has(Experiment(with_load("0.5"), "")));
}

TEST(Replay, AReplicationCanBeRepeatedAloneByItsSeed) {
  const Experiment many(small({"seed=10"}), "");
  const Experiment one(small({"seed=13", "replications=1"}), "");
  const Replication a = many.run(3);
  const Replication b = one.run(0);
  for (std::size_t p = 0; p < many.policies().size(); ++p) {
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      if (std::isnan(a.runs[p].metrics[m])) continue;
      EXPECT_EQ(a.runs[p].metrics[m], b.runs[p].metrics[m]) << many.policies()[p].label;
    }
  }
}

TEST(Replay, PoliciesOfASeedShareArrivalsAndANewPolicyShiftsNobody) {
  const Experiment all(small(), "");
  const Experiment alone(small({"policies=[{name: min-slowdown}]"}), "");
  const Replication a = all.run(4);
  const Replication b = alone.run(4);
  EXPECT_EQ(all.arrivals(*a.trace, 4), alone.arrivals(*b.trace, 4));
  for (std::size_t p = 0; p < all.policies().size(); ++p) {
    if (all.policies()[p].label != "min-slowdown") continue;
    EXPECT_EQ(a.runs[p].metrics[0], b.runs[0].metrics[0]);
  }
}

TEST(Replay, ResultsHaveTheSameBytesAtAnyThreadCountTwiceAndAnywhere) {
  const test::TemporaryDirectory directory;
  std::vector<std::string> bytes;
  int run = 0;
  for (const char* threads : {"1", "2", "8", "1"}) {
    const std::string folder = directory.path("run" + std::to_string(run++));
    std::filesystem::create_directory(folder);
    const std::string file = folder + (run % 2 ? "/results.h5" : "/other name.h5");
    const test::Outcome outcome =
        test::run_corun({"replay", "--set", "replications=30", "--seed", "7", "--threads", threads,
                         "--output", file, "--quiet"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    bytes.push_back(test::read_file(file));
    EXPECT_TRUE(std::filesystem::exists(file + ".run.json"));
  }
  for (const std::string& b : bytes) EXPECT_TRUE(b == bytes.front()) << "bytes differ";
  // Another seed must give other bytes, or the comparison above could not fail.
  const std::string other = directory.path("seed8.h5");
  test::run_corun({"replay", "--set", "replications=30", "--seed", "8", "--output", other, "-q"});
  EXPECT_FALSE(test::read_file(other) == bytes.front());
}

TEST(Replay, TheDumpedConfigurationReproducesTheRun) {
  const test::TemporaryDirectory directory;
  const std::vector<std::string> changes{
      "--set", "replications=5",
      "--set", "policies=[{name: random}, {name: balance, epsilon: 0.4}]",
      "--set", "cluster.nodes=3"};
  std::vector<std::string> dump{"replay", "--dump-config"};
  dump.insert(dump.end(), changes.begin(), changes.end());
  const test::Outcome dumped = test::run_corun(dump);
  ASSERT_EQ(dumped.code, 0) << dumped.err;
  directory.write("dumped.yaml", dumped.out);
  std::vector<std::string> direct{"replay", "--format", "json", "-q"};
  direct.insert(direct.end(), changes.begin(), changes.end());
  const test::Outcome a = test::run_corun(direct);
  const test::Outcome b =
      test::run_corun({"replay", "dumped.yaml", "--format", "json", "-q"}, directory.path());
  ASSERT_EQ(a.code, 0);
  EXPECT_EQ(a.out, b.out);
}

TEST(Replay, AnInterruptKeepsWhatWasFinished) {
  const test::TemporaryDirectory directory;
  const std::string file = directory.path("results.h5");
  const pid_t child = fork();
  if (child == 0) {
    execl(CORUN_PROGRAM, "corun", "replay", "--set", "replications=20000", "--threads", "2",
          "--output", file.c_str(), "--quiet", "--format", "csv", nullptr);
    _exit(127);
  }
  const std::filesystem::path parts = file + ".partial";
  EXPECT_TRUE(test::eventually([&] {
    return std::filesystem::exists(parts) && !std::filesystem::is_empty(parts);
  })) << "nothing was finished";
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(file + ".partial"));
}

TEST(Replay, WorldsAreComparedAndTheRankingIsJudged) {
  const test::Outcome outcome =
      test::run_corun({"replay", "--worlds", "measured,cluster-mean", "--set", "replications=10",
                       "--format", "json", "-q"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["worlds"].size(), 2U);
  EXPECT_EQ(json["ranking"]["worlds"][0]["tau"], 1.0);
  EXPECT_TRUE(json["ranking"]["survives"].is_boolean());
  EXPECT_EQ(json["worlds"][1]["coverage"]["measured"], 0);
}

/// Each replication's metrics of one policy, as one list.
std::vector<double> all_metrics(const ReplayResult& r, std::size_t policy) {
  std::vector<double> all;
  for (const auto& replication : r.replications) {
    const MetricValues& m = replication.runs[policy].metrics;
    for (const double x : m) all.push_back(std::isnan(x) ? -1e300 : x);
  }
  return all;
}

TEST(Replay, ProbesAreForPoliciesThatLearnAndRepeatThemselves) {
  const std::string policies = "policies=[fcfs, min-slowdown, oracle]";
  const Experiment off(small({policies}), "");
  const Experiment spelled(small({policies, "probing={probes: 0, seconds: 3}"}), "");
  const Experiment on(small({policies, "probing={probes: 1, seconds: 30}"}), "");
  const ReplayResult without = replayed(off);
  const ReplayResult with = replayed(on, 1);
  const ReplayResult again = replayed(on, 3);
  const ReplayResult same = replayed(spelled);
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(all_metrics(without, p), all_metrics(same, p));
    EXPECT_EQ(all_metrics(with, p), all_metrics(again, p));
    EXPECT_EQ(all_metrics(without, p) == all_metrics(with, p), p != 1) << p;
  }
  // 24 jobs, each once for 30 s; the shortest takes longer.
  const double probed_s = mean(on, with, "min-slowdown", Metric::kProfilingS);
  EXPECT_NEAR(probed_s, 30, 1e-9);
  EXPECT_GT(mean(on, with, "min-slowdown", Metric::kQueueS),
            mean(off, without, "min-slowdown", Metric::kQueueS));
}

TEST(Replay, ThompsonSamplingRepeatsItselfAndDiffersBySeed) {
  const Experiment e(small({"policies=[{name: min-slowdown}, {name: min-slowdown, label: drawn, "
                            "explore: thompson}, {name: min-slowdown, label: plain, risk: 0, "
                            "explore: epsilon}]"}),
                     "");
  const ReplayResult r = replayed(e, 1);
  const ReplayResult again = replayed(e, 3);
  EXPECT_EQ(all_metrics(r, 1), all_metrics(again, 1));
  EXPECT_NE(all_metrics(r, 1), all_metrics(r, 0));
  EXPECT_EQ(all_metrics(r, 2), all_metrics(r, 0));
}

TEST(Replay, GrantedTruthIsSaid) {
  const test::Outcome outcome = test::run_corun({"replay", "--set", "belief.model=truth", "--set",
                                                 "replications=5", "--format", "json", "-q"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["policies"].size(), 9U);
  for (const auto& p : json["policies"]) {
    const std::string name = p["policy"];
    const bool knows =
        name == "oracle" || name == "balance" || name == "min-slowdown" || name == "max-packing";
    EXPECT_EQ(p["granted_truth"], knows) << name;
  }
}

TEST(Replay, TimelineAndKnowledgeAreWritten) {
  const test::TemporaryDirectory directory;
  const test::Outcome outcome = test::run_corun(
      {"replay", "--set", "replications=2", "-q", "--timeline", "events", "--knowledge", "kb.csv"},
      directory.path());
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string events = test::read_file(directory.path("events/min-slowdown.csv"));
  EXPECT_EQ(events.rfind("time_ns,event,job,gpus\n", 0), 0U);
  EXPECT_NE(events.find("start,J7-205,"), std::string::npos);
  const std::string kb = test::read_file(directory.path("kb.csv"));
  EXPECT_NE(kb.find("min-slowdown,"), std::string::npos);
}

TEST(Replay, RowsThatDoNotFitInMemoryAreRefusedBeforeTheRun) {
  EXPECT_EQ(rows_problem(100'000, 6, 10, 4e9), "");
  EXPECT_EQ(rows_problem(100'000, 6, 11, 4e9),
            "6600000 rows of jobs (100000 jobs x 6 policies x 11 replications) take about 4.2 GB "
            "of memory, "
            "this machine has 4.0 GB; use fewer replications or policies, or leave the option out: "
            "tables "
            "keep no rows");
  const test::TemporaryDirectory directory;
  const test::Outcome outcome = test::run_corun(
      {"replay", "--set", "replications=100000", "--set", "workload.source=jrs-resampled", "--set",
       "workload.jobs=100000", "--set", "workload.load=0.7", "--output", "r.h5"},
      directory.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("rows of jobs (100000 jobs x "), std::string::npos) << outcome.err;
}

/// Without pairs it is fifo: also where the seed, not the row, gives the order of arrival.
TEST(Replay, FifoPackedWithoutPairsIsFifo) {
  const test::TemporaryDirectory directory;
  directory.write("late_first.csv", "job,submit_s,solo_s\nlate,50,100\nearly,0,100\nlast,60,10\n");
  for (const std::string& workload :
       {std::string("workload.order=shuffled"), std::string("workload.source=csv")}) {
    const test::Outcome outcome = test::run_corun(
        {"replay", "--set", "replications=10", "-q", "--timeline", "events", "--force", "--set",
         workload, "--set", "world.model=none", "--set", "cluster.nodes=1", "--set",
         workload.ends_with("csv") ? "workload.path=late_first.csv" : "cluster.gpus_per_node=1",
         "--set", "policies=[{name: fifo}, {name: fifo-packed, threshold: 2}]"},
        directory.path());
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::string fifo = test::read_file(directory.path("events/fifo.csv"));
    EXPECT_EQ(fifo, test::read_file(directory.path("events/fifo-packed.csv"))) << workload;
    EXPECT_EQ(fifo.find("preempt"), std::string::npos);
    EXPECT_NE(fifo.find("finish"), std::string::npos);
  }
}

/// Every policy with a belief about clusters writes rows after its initial ones.
TEST(Replay, KnowledgeIsWrittenOfEveryPolicyThatLearnsByClusters) {
  const test::TemporaryDirectory directory;
  const test::Outcome outcome =
      test::run_corun({"replay", "--set", "replications=1", "-q", "--knowledge", "kb.csv", "--set",
                       "policies=[{name: balance}, {name: fifo-packed, threshold: 0}, "
                       "{name: incremental-matching}]"},
                      directory.path());
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string kb = test::read_file(directory.path("kb.csv"));
  for (const std::string policy : {"balance", "fifo-packed", "incremental-matching"}) {
    EXPECT_NE(kb.find(policy + ",0,0,isd,"), std::string::npos) << policy;
    const auto learnt = kb.find(",1,isd,", kb.find(policy + ",0,0,isd,"));
    ASSERT_NE(learnt, std::string::npos) << policy;
    const auto line = kb.rfind('\n', learnt) + 1;
    EXPECT_EQ(kb.substr(line, policy.size() + 1), policy + ",");
  }
}

}  // namespace
}  // namespace corun::replay_test
