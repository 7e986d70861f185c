#include <algorithm>
#include <fstream>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/error.hpp"
#include "tests/helpers/public_data.hpp"
#include "tests/helpers/trace_columns.hpp"

/// Gavel's own simulator (stanford-futuredata/gavel, commit c4fa400), case by case: its average JCT, its
/// makespan, and every job's JCT, to 1 ms.
namespace corun::gavel_peers_test {
namespace {

struct Case {
  std::string trace;
  int gpus;
  bool packed;
  double jct_s;       ///< printed by Gavel
  double makespan_s;  ///< end of the last round

  std::string name() const {
    return trace + (packed ? "_fifo_packed_" : "_fifo_") + std::to_string(gpus);
  }
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name(); }

Experiment experiment(const Case& c, std::vector<std::string> settings = {}) {
  settings.push_back("workload.path=peers/gavel/trace_" + c.trace + ".csv");
  settings.push_back("cluster.nodes=" + std::to_string(c.gpus));
  return Experiment(read_config(std::string(CORUN_SOURCE_DIR "/experiments/peers/gavel-fifo") +
                                    (c.packed ? "-packed" : "") + ".yaml",
                                parse_overrides(settings), policy_catalog()),
                    test::public_data(""));
}

class GavelPeers : public testing::TestWithParam<Case> {};

TEST_P(GavelPeers, EveryJobToOneMillisecond) {
  const Case& c = GetParam();
  const std::string file = "peers/gavel/jct_y_" + c.name() + ".csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  const Replication r = experiment(c).run(0);
  const RunRecord& record = r.runs.at(0).record;
  EXPECT_NEAR(at(r.runs[0].metrics, Metric::kJctS), c.jct_s, 0.001);
  EXPECT_NEAR(at(r.runs[0].metrics, Metric::kLastEndS), c.makespan_s, 0.001);

  std::ifstream in(test::public_data(file));
  std::string line;
  std::getline(in, line);
  std::size_t job = 0;
  for (; std::getline(in, line); ++job) {
    ASSERT_LT(job, record.jobs.size());
    ASSERT_EQ(line.substr(0, line.find(',')), std::to_string(job));
    const JobRecord& found = record.jobs[job];
    EXPECT_NEAR(to_seconds(found.finish - found.submit), std::stod(line.substr(line.find(',') + 1)),
                0.001)
        << job;
  }
  EXPECT_EQ(job, record.jobs.size());
}

INSTANTIATE_TEST_SUITE_P(
    Published, GavelPeers,
    testing::Values(Case{"medium_test", 4, false, 24380.481, 53666.762},
                    Case{"medium_test", 8, false, 14409.110, 32067.746},
                    Case{"medium_test", 16, false, 9477.206, 21267.953},
                    Case{"medium_test", 4, true, 20345.558, 45747.411},
                    Case{"medium_test", 8, true, 12902.467, 27747.834},
                    Case{"medium_test", 16, true, 9000.526, 15410.355},
                    Case{"minimize_makespan_g1", 4, false, 112433.081, 218634.353},
                    Case{"minimize_makespan_g1", 8, false, 59652.242, 116358.261},
                    Case{"minimize_makespan_g1", 16, false, 32652.884, 59119.573},
                    Case{"minimize_makespan_g1", 4, true, 95917.592, 181195.676},
                    Case{"minimize_makespan_g1", 8, true, 51313.169, 96503.237},
                    Case{"minimize_makespan_g1", 16, true, 28293.058, 49736.214}),
    [](const testing::TestParamInfo<Case>& c) { return c.param.name(); });

/// The JCT by the documented rules, simulated round by round, for cases without published results
/// of Gavel: pairs, the other GPU types, and jobs that arrive over time.
std::vector<double> by_the_rules(const Trace& trace, int gpus, bool packed, const World& world) {
  struct Group {
    std::vector<std::size_t> jobs;
    std::vector<std::int64_t> steps;
    double finish = 0;
  };
  const auto jobs = test::specs_of(trace);
  const auto speeds = [&](std::size_t a, std::size_t b) {
    std::vector<World::PairOutcome> out;
    const JobId first{static_cast<std::uint32_t>(a)}, second{static_cast<std::uint32_t>(b)};
    if (!world.fits_together(first, second, 0)) return std::pair{0.0, 0.0};
    world.World::pair_outcomes(first, second, out);
    return std::pair{out[0].speed_a, out[0].speed_b};
  };
  std::vector<std::int64_t> left;
  std::vector<double> jct(jobs.size(), -1);
  for (const JobSpec& j : jobs) left.push_back(j.steps);
  std::vector<std::size_t> active;
  std::vector<Group> groups;
  std::size_t next = 0, done = 0;
  double t = to_seconds(jobs[0].submit), last_reset = 0;
  bool changed = false;
  while (done < jobs.size()) {
    if (!groups.empty()) {
      for (const Group& g : groups) t = std::max(t, g.finish);
    } else if (next < jobs.size()) {
      t = std::max(t, to_seconds(jobs[next].submit));
    } else {
      last_reset = 0;
    }
    for (const Group& g : groups) {
      for (std::size_t i = 0; i < g.jobs.size(); ++i) {
        left[g.jobs[i]] -= g.steps[i];
        if (left[g.jobs[i]] > 0) continue;
        jct[g.jobs[i]] = g.finish - to_seconds(jobs[g.jobs[i]].submit);
        ++done;
        changed = true;
        std::erase(active, g.jobs[i]);
      }
    }
    std::erase_if(groups, [&](const Group& g) {
      return std::ranges::any_of(g.jobs, [&](std::size_t j) { return left[j] <= 0; });
    });
    for (; next < jobs.size() && to_seconds(jobs[next].submit) <= t; ++next) {
      active.push_back(next);
      changed = true;
    }
    if (changed && (t - last_reset >= 1920 || last_reset == 0)) {
      last_reset = t;
      changed = false;
      if (packed) groups.clear();
      std::vector<std::size_t> others;
      for (const std::size_t j : active) {
        const bool runs = std::ranges::any_of(
            groups, [&](const Group& g) { return std::ranges::find(g.jobs, j) != g.jobs.end(); });
        if (runs) continue;
        if (groups.size() < static_cast<std::size_t>(gpus)) {
          groups.push_back({{j}, {}, 0});
        } else {
          others.push_back(j);
        }
      }
      for (const std::size_t j : packed ? others : std::vector<std::size_t>{}) {
        Group* best = nullptr;
        double best_sum = 1.5;
        for (Group& g : groups) {
          if (g.jobs.size() > 1) continue;
          const auto [a, b] = speeds(j, g.jobs[0]);
          if (a + b <= best_sum) continue;
          best_sum = a + b;
          best = &g;
        }
        if (best == nullptr) break;
        best->jobs.push_back(j);
      }
    }
    for (Group& g : groups) {
      g.steps.clear();
      g.finish = t;
      for (std::size_t i = 0; i < g.jobs.size(); ++i) {
        double rate = jobs[g.jobs[i]].steps_per_s;
        if (g.jobs.size() == 2) rate *= speeds(g.jobs[i], g.jobs[1 - i]).first;
        g.steps.push_back(std::min(left[g.jobs[i]], static_cast<std::int64_t>(rate * 360)));
        g.finish = std::max(g.finish, t + static_cast<double>(g.steps.back()) / rate);
      }
    }
  }
  return jct;
}

TEST(GavelPeers, RulesHoldForOtherGpusAndArrivalsOverTime) {
  const std::string file = "gavel/simulation_throughputs.json";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  for (const std::string gpu : {"K80", "p100", "V100-16GB"}) {
    for (const bool packed : {false, true}) {
      for (const int gpus : {1, 3, 10}) {
        const Experiment e =
            experiment({"minimize_makespan_g1", gpus, packed, 0, 0}, {"cluster.gpu_type=" + gpu});
        Trace trace = *e.make_trace(0);
        Time submit{0};
        for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
          trace.jobs[j].spec.submit = submit;
          if (j % 3 != 1) submit += std::chrono::seconds{(j * j * 7919) % (5000 * gpus)} / gpus;
        }
        const PolicyRun run = e.run_policy(trace, 0, e.policies()[0], {});
        const std::vector<double> expected =
            by_the_rules(trace, gpus, packed, *e.make_world(trace));
        for (std::size_t j = 0; j < expected.size(); ++j) {
          const JobRecord& found = run.record.jobs[j];
          EXPECT_NEAR(to_seconds(found.finish - found.submit), expected[j], 1e-3)
              << gpu << " " << packed << " " << gpus << " " << j;
        }
      }
    }
  }
}

std::string refusal(const std::vector<std::string>& settings) {
  try {
    Experiment(read_config(CORUN_SOURCE_DIR "/experiments/peers/gavel-fifo.yaml",
                           parse_overrides(settings), policy_catalog()),
               test::public_data(""))
        .run(0);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(GavelPeers, WhatCannotBeIsRefused) {
  const std::string file = "gavel/simulation_throughputs.json";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  const auto says = [](const std::string& said, const std::string& expected) {
    EXPECT_NE(said.find(expected), std::string::npos) << said;
  };
  says(refusal({"world.path=null"}), "source 'gavel' counts steps: set world.path to the rates");
  says(refusal({"world.path=gavel/gavel_v100_pairs.csv"}), "this file has no rates");
  says(refusal({"cluster.gpu_type=A10"}), "Gavel has rates for V100-16GB, P100-16GB and K80");
  says(refusal({"policies=[kube-default]"}), "places jobs beside running ones");
}

}  // namespace
}  // namespace corun::gavel_peers_test
