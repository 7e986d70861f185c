#include "runner/sweep/sweep_until.hpp"

#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/sweep/sweep.hpp"
#include "runner/sweep/sweep_plan.hpp"
#include "runner/sweep/sweep_results.hpp"
#include "runner/sweep/sweep_store.hpp"
#include "runner/sweep/sweep_worker.hpp"
#include "sim/error.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// Points that stop when they have enough replications (docs/design.md, 4.23).
namespace corun::sweep_until_test {
namespace {

constexpr std::size_t kIsd = static_cast<std::size_t>(Metric::kIsd);

/// `values[policy][replication]` of ISD.
SweepPointRuns runs_of(const std::vector<std::vector<double>>& values,
                       std::vector<bool> granted_truth = {}) {
  SweepPointRuns point;
  point.granted_truth = std::move(granted_truth);
  point.granted_truth.resize(values.size());
  for (std::size_t r = 0; r < values.front().size(); ++r) {
    std::vector<SweepRun> runs(values.size());
    for (std::size_t q = 0; q < values.size(); ++q) runs[q][kIsd] = values[q][r];
    point.runs.push_back(std::move(runs));
  }
  return point;
}

SweepUntil until(double width, SweepUntil::Of of) {
  SweepUntil rule;
  rule.width = width;
  rule.of = of;
  return rule;
}

TEST(SweepUntil, LooksGrowByHalf) {
  std::vector<std::size_t> looks;
  for (std::size_t n = 0; n < 30;) looks.push_back(n = next_look(n, 30));
  EXPECT_EQ(looks, (std::vector<std::size_t>{3, 5, 8, 12, 18, 27, 30}));
  EXPECT_EQ(next_look(0, 2), 2U);
}

TEST(SweepUntil, MeansAreNarrowEnoughByTheLevelOfTheLook) {
  // Mean 2, standard deviation 1: half of the interval is t / sqrt(3). By tables of t with two degrees of freedom it is
  // 4.303 at 2.5 % per side, 6.205 at 1.25 %; looks 1 and 2 have 1.25 % and 0.4167 % (10.886).
  const SweepPointRuns point = runs_of({{1, 2, 3}});
  const double half = 6.2053 / std::sqrt(3) / 2;
  EXPECT_TRUE(is_enough(until(half + 0.001, SweepUntil::Of::kPolicies), point, 3, 1));
  EXPECT_FALSE(is_enough(until(half - 0.001, SweepUntil::Of::kPolicies), point, 3, 1));
  EXPECT_FALSE(is_enough(until(half + 0.001, SweepUntil::Of::kPolicies), point, 3, 2));
  EXPECT_TRUE(is_enough(until(0.01, SweepUntil::Of::kPolicies), runs_of({{2, 2, 2}}), 3, 1));
  // Policies that know the true costs are not asked about.
  EXPECT_TRUE(is_enough(until(0.01, SweepUntil::Of::kPolicies),
                        runs_of({{2, 2, 2}, {1, 5, 9}}, {false, true}), 3, 1));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(is_enough(until(1, SweepUntil::Of::kPolicies), runs_of({{2, 2, nan}}), 3, 1));
}

TEST(SweepUntil, DifferencesFromTheBestAreToldApartOrSmall) {
  const auto enough = [](const std::vector<std::vector<double>>& values, double width) {
    return is_enough(until(width, SweepUntil::Of::kDifferences), runs_of(values), values[0].size(),
                     1);
  };
  EXPECT_TRUE(enough({{1, 5, 9}, {2, 6, 10}}, 0.01));             // told apart by pairs
  EXPECT_FALSE(enough({{1, 5, 9}, {2, 4, 10}}, 0.01));            // not
  EXPECT_TRUE(enough({{1, 5, 9}, {1, 5, 9}}, 0.01));              // equal
  EXPECT_TRUE(enough({{100, 101, 99}, {100, 101, 99.1}}, 0.01));  // too near to matter
  // A policy that never shares a GPU is not the best in ISD.
  EXPECT_FALSE(enough({{0, 0, 0}, {1, 5, 9}, {2, 4, 10}}, 0.01));
}

/// Points of which some stop early, at most 40 replications each.
constexpr const char* kAsNeeded =
    "policies: [fcfs, random, min-slowdown]\nworkload: {source: jrs-resampled, jobs: 12, load: 1}\n"
    "replications: 40\nsweep:\n  until: {width: 0.3, of: policies, metrics: [isd, jct_s]}\n"
    "  grid: {cluster.nodes: [1, 2, 4, 8], workload.load: [0.5, 1.2]}\n";

class SweepsAsNeeded : public testing::Test {
 protected:
  static SweepPlan plan_of(const std::string& text) {
    return SweepPlan::parse(text, "s.yaml", {}, policy_catalog());
  }
  /// Runs into a journal, on from `done`; `most`: stops after so many replications.
  SweepOutcome run(const std::string& name, SweepOptions options, std::size_t most = 1'000'000) {
    std::atomic<bool> stop{false};
    options.stop = &stop;
    std::size_t now = 0;
    options.on_finished = [&](std::size_t, std::size_t) {
      if (++now >= most) stop = true;
    };
    const std::string path = directory_.path(name);
    SweepJournalWriter journal(path, "--output");
    std::unique_ptr<SweepJournalIndex> done;
    if (std::filesystem::file_size(path) > 0) {
      done = std::make_unique<SweepJournalIndex>(path);
      journal.resume(*done);
    } else {
      journal.begin(sweep_identity(plan_));
    }
    return run_sweep(plan_, journal, done.get(), options);
  }
  std::string merged(const std::vector<std::string>& names) {
    std::vector<std::unique_ptr<SweepJournalIndex>> journals;
    for (const std::string& name : names) {
      journals.push_back(std::make_unique<SweepJournalIndex>(directory_.path(name)));
    }
    write_sweep_results(directory_.path("results.h5"), journals, false);
    return test::read_file(directory_.path("results.h5"));
  }

  test::TemporaryDirectory directory_;
  SweepPlan plan_ = plan_of(kAsNeeded);
};

TEST_F(SweepsAsNeeded, PointsHaveWhatTheyNeed) {
  const SweepOutcome outcome = run("one", {});
  EXPECT_FALSE(outcome.interrupted());
  merged({"one"});
  const SweepResults results = read_sweep_results(directory_.path("results.h5"));
  std::size_t all = 0;
  std::size_t fewer = 0;
  for (std::size_t p = 0; p < plan_.points(); ++p) {
    const std::size_t n = results.replications(p);
    all += n;
    fewer += n < 40 ? 1 : 0;
    EXPECT_GE(n, 3U);
    // The rule is met by these, and by no earlier look.
    SweepPointRuns point;
    for (std::size_t r = 0; r < n; ++r) {
      point.runs.emplace_back();
      for (const auto& policy : results.policies) {
        point.runs.back().emplace_back();
        std::ranges::copy(policy.values[p][r], point.runs.back().back().begin());
      }
    }
    point.granted_truth.resize(results.policies.size());
    std::size_t look = 0;
    for (std::size_t count = 0; count < n;) {
      count = next_look(count, 40);
      ++look;
      EXPECT_EQ(count == 40 || is_enough(plan_.until(), point, count, look), count == n) << count;
    }
  }
  EXPECT_GT(fewer, 0U);
  EXPECT_LT(fewer, plan_.points());
  EXPECT_EQ(outcome.finished, all);
  EXPECT_EQ(outcome.total, all);
}

TEST_F(SweepsAsNeeded, AreTheSameBytesHoweverTheyRun) {
  run("one", {});
  const std::string whole = merged({"one"});
  for (const unsigned threads : {2U, 5U}) {
    SweepOptions options;
    options.threads = threads;
    const std::string name = "threads" + std::to_string(threads);
    run(name, options);
    EXPECT_EQ(merged({name}), whole) << threads;
  }
  // Stopped again and again.
  for (int i = 0;; ++i) {
    ASSERT_LT(i, 200);
    SweepOptions options;
    options.threads = 1 + static_cast<unsigned>(i % 3);
    if (!run("stopped", options, 7).interrupted()) break;
  }
  EXPECT_EQ(merged({"stopped"}), whole);
  // In shards.
  for (const std::size_t number : {1U, 2U, 3U}) {
    SweepOptions options;
    options.shard = {number, 3};
    run("shard" + std::to_string(number), options);
  }
  EXPECT_EQ(merged({"shard3", "shard1", "shard2"}), whole);
  EXPECT_THROW(merged({"shard1", "shard2"}), InputError);
  // By workers, whose chunks may have fewer units than a point.
  for (const std::size_t chunk_units : {7U, 90U, 1000U}) {
    const std::string folder = directory_.path("store" + std::to_string(chunk_units));
    const SweepStore store = SweepStore::open_for(open_object_store(folder, "--worker", true),
                                                  plan_, [=] { return chunk_units; });
    SweepWorkerOptions worker;
    worker.worker = "w";
    worker.scratch = directory_.path();
    run_worker(plan_, store, worker);
    {
      SweepJournalWriter journal(directory_.path("chunks"), "--output");
      EXPECT_TRUE(
          write_journal(SweepStore::open(open_object_store(folder, "--merge", false)), journal)
              .empty());
    }
    EXPECT_EQ(merged({"chunks"}), whole) << chunk_units;
    std::filesystem::remove(directory_.path("chunks"));
  }
}

TEST_F(SweepsAsNeeded, TheRuleIsPartOfTheSweep) {
  const SweepPlan again = plan_of(plan_.dump_yaml());
  EXPECT_EQ(again.dump_yaml(), plan_.dump_yaml());
  EXPECT_EQ(again.until().width, 0.3);
  EXPECT_EQ(again.until().metrics, (std::vector<Metric>{Metric::kIsd, Metric::kJctS}));
  EXPECT_NE(plan_of("sweep: {until: {width: 0.1}, list: [{cluster.nodes: 1}]}").dump_yaml(),
            plan_of("sweep: {list: [{cluster.nodes: 1}]}").dump_yaml());
}

TEST(SweepUntil, MistakesAreNamedWithTheirPlace) {
  const auto error_of = [](const std::string& section) -> std::string {
    try {
      SweepPlan::parse("sweep: {list: [{cluster.nodes: 1}], until: " + section + "}", "s.yaml", {},
                       policy_catalog());
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of("{width: 0}"),
            "s.yaml:1:52: sweep.until.width: found '0', expected a share of the mean above 0, at "
            "most 1, such as 0.05");
  EXPECT_NE(error_of("{width: .nan}").find("sweep.until.width: found"), std::string::npos);
  EXPECT_NE(error_of("{of: policies}").find("a key 'width'"), std::string::npos);
  EXPECT_NE(error_of("{width: 0.1, of: means}").find("one of policies, differences"),
            std::string::npos);
  EXPECT_NE(error_of("{width: 0.1, metric: isd}").find("unknown key 'metric'"), std::string::npos);
  EXPECT_NE(error_of("{width: 0.1, metrics: [nothing]}").find("nothing"), std::string::npos);
  EXPECT_NE(error_of("0.1").find("expected keys such as"), std::string::npos);
}

}  // namespace
}  // namespace corun::sweep_until_test
