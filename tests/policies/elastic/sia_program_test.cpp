#include "policies/elastic/sia_program.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/rng.hpp"
#include "tests/helpers/public_data.hpp"

/// Sia's integer program: by hand, beside all assignments of small ones, and beside the recorded ones of its simulator.
namespace corun {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

TEST(SiaProgram, ConfigurationsArePowersOfTwoThenWholeNodes) {
  const std::vector<SiaNodes> types{{.nodes = 3, .gpus_per_node = 4}, {1, 6}, {0, 8}};
  const std::vector<SiaConfiguration> expected{{0, 1, 1}, {0, 1, 2},  {0, 1, 4},
                                               {0, 2, 8}, {0, 3, 12}, {1, 1, 1},
                                               {1, 1, 2}, {1, 1, 4},  {1, 1, 6}};
  EXPECT_EQ(sia_configurations(types), expected);
}

TEST(SiaProgram, AJobThatRestartedOftenPaysMore) {
  EXPECT_EQ(restart_factor(20, 3, 25), 1);
  EXPECT_DOUBLE_EQ(restart_factor(100, 0, 25), 0.8);
  EXPECT_DOUBLE_EQ(restart_factor(100, 2, 25), 0.4);
  EXPECT_EQ(restart_factor(100, 9, 25), 0);
  EXPECT_EQ(restart_factor(100, 9, 0), 1);
}

TEST(SiaProgram, CostsArePowersOfGoodputRoundedAndLimited) {
  const std::vector<double> goodputs{2, 8, 0};
  const auto costs = sia_costs(goodputs, 1U, 0.5, -1);
  ASSERT_EQ(costs.size(), 3U);
  EXPECT_FLOAT_EQ(static_cast<float>(costs[0]), 2.0F);   // 1 / (0.5 * 1)
  EXPECT_FLOAT_EQ(static_cast<float>(costs[1]), 0.25F);  // it has this one
  EXPECT_EQ(costs[2], kNever);
  EXPECT_EQ(sia_costs(goodputs, 1U, 0, -1)[0], 3000);
  EXPECT_EQ(sia_costs(goodputs, std::nullopt, 0, -1)[0], 1);  // without GPUs no restart
  EXPECT_EQ(sia_costs(goodputs, 1U, 0, 0.5)[0], 0);
}

double value_of(const SiaProgram& program,
                const std::vector<std::optional<std::uint32_t>>& chosen) {
  std::vector<std::uint32_t> used(program.gpus.size(), 0);
  double value = 0;
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    const auto& job = program.jobs[j];
    if (job.keeps && chosen[j] != job.keeps) return kNever;
    if (!chosen[j]) {
      value += program.lambda;
      continue;
    }
    const SiaConfiguration& c = program.configurations[*chosen[j]];
    if ((used[c.type] += c.gpus) > program.gpus[c.type]) return kNever;
    if (std::isinf(job.costs[*chosen[j]])) return kNever;
    value += (program.p < 0 ? 1 : -1) * job.costs[*chosen[j]];
  }
  return value;
}

/// The least value over all assignments.
double least_of_all(const SiaProgram& program) {
  std::vector<std::optional<std::uint32_t>> chosen(program.jobs.size());
  double least = kNever;
  while (true) {
    least = std::min(least, value_of(program, chosen));
    std::size_t j = 0;
    for (; j < chosen.size(); ++j) {
      if (!chosen[j]) {
        chosen[j] = 0;
        break;
      }
      if (++*chosen[j] < program.configurations.size()) break;
      chosen[j].reset();
    }
    if (j == chosen.size()) return least;
  }
}

TEST(SiaProgram, RandomProgramsHaveTheOptimumOfAllAssignments) {
  Rng rng(7, Stream::kTest, 53);
  for (int trial = 0; trial < 60; ++trial) {
    SiaProgram program;
    const std::vector<SiaNodes> types{{1 + rng.below(2), 2}, {1, 4}};
    program.configurations = sia_configurations(types);
    program.gpus = {types[0].nodes * 2, 4};
    program.p = trial % 3 == 0 ? 0.5 : -0.5;
    const std::uint32_t jobs = 1 + rng.below(5);
    for (std::uint32_t j = 0; j < jobs; ++j) {
      std::vector<double> goodputs;
      for (const SiaConfiguration& c : program.configurations)
        goodputs.push_back(rng.below(6) == 0 ? 0 : c.gpus * (0.3 + rng.uniform()));
      std::optional<std::uint32_t> held;
      if (rng.below(2) == 0)
        held = rng.below(static_cast<std::uint32_t>(program.configurations.size()));
      SiaProgram::Job job{.costs = sia_costs(goodputs, held, 0.6, program.p), .keeps = {}};
      if (j == 0 && trial % 4 == 0 && held && goodputs[*held] > 0) job.keeps = held;
      program.jobs.push_back(std::move(job));
    }
    const SiaAssignment found = assign_configurations(program);
    EXPECT_NEAR(found.objective, least_of_all(program), 1e-9) << trial;
    EXPECT_NEAR(value_of(program, found.configurations), found.objective, 1e-9) << trial;
  }
}

TEST(SiaProgram, AJobThatCannotRunGetsNothing) {
  const SiaProgram program{.configurations = {{0, 1, 1}},
                           .gpus = {1},
                           .jobs = {{.costs = {kNever}, .keeps = {}}},
                           .p = -1};
  const SiaAssignment found = assign_configurations(program);
  EXPECT_EQ(found.configurations, std::vector<std::optional<std::uint32_t>>(1));
  EXPECT_EQ(found.objective, program.lambda);
}

// More jobs than GPUs, alike: the assignment is possible, worth what it says, and better than a GPU for each of the first.
TEST(SiaProgram, ManyLikeJobsHaveAGoodAssignment) {
  Rng rng(7, Stream::kTest, 54);
  SiaProgram program;
  program.configurations = sia_configurations(std::vector<SiaNodes>{{16, 4}});
  program.gpus = {64};
  constexpr std::uint32_t kJobs = 300;
  double one_gpu_each = 0;
  for (std::uint32_t j = 0; j < kJobs; ++j) {
    std::vector<double> goodputs;
    const double overhead = 0.02 + 0.1 * rng.uniform();
    for (const SiaConfiguration& c : program.configurations)
      goodputs.push_back(c.gpus / (1 + overhead * c.gpus));
    std::optional<std::uint32_t> held;
    if (j % 7 == 0) held = rng.below(4);
    program.jobs.push_back(
        {.costs = sia_costs(goodputs, held, rng.uniform(), program.p), .keeps = {}});
    one_gpu_each += j < 64 ? program.jobs.back().costs[0] : program.lambda;
  }
  const SiaAssignment found = assign_configurations(program);
  EXPECT_NEAR(value_of(program, found.configurations), found.objective, 1e-9);
  EXPECT_LT(found.objective, one_gpu_each);
}

struct RecordedProgram {
  SiaProgram program;
  std::vector<std::optional<std::uint32_t>> chosen;
  double objective = 0;
};

RecordedProgram read_program(const std::string& line) {
  constexpr double kNoGoodput = 1e-4;  // how a configuration that is not permitted was recorded
  const auto json = nlohmann::ordered_json::parse(line);
  const auto number = [](const auto& value) {
    return value.is_null() ? std::optional<std::uint32_t>() : value.template get<std::uint32_t>();
  };
  RecordedProgram r;
  r.program.p = json["p"];
  r.program.lambda = json["lambda_no_alloc"];
  std::map<std::string, std::uint32_t> types;
  for (const auto& [type, gpus] : json["gpus"].items()) {
    types.emplace(type, static_cast<std::uint32_t>(types.size()));
    r.program.gpus.push_back(gpus);
  }
  for (const auto& [name, c] : json["configs"].items())
    r.program.configurations.push_back({types.at(c[0].get<std::string>()), c[1], c[2]});
  for (std::size_t j = 0; j < json["jobs"].size(); ++j) {
    auto goodputs = json["normalised_goodput"][j].get<std::vector<double>>();
    for (double& goodput : goodputs)
      if (goodput <= kNoGoodput) goodput = 0;
    const auto held = number(json["previous_config"][j]);
    SiaProgram::Job job{.costs = sia_costs(goodputs, held, json["realloc_factor"][j], r.program.p),
                        .keeps = {}};
    for (const auto& kept : json["not_preemptible"])
      if (kept == json["jobs"][j]) job.keeps = held;
    r.program.jobs.push_back(std::move(job));
    r.chosen.push_back(number(json["chosen_config"][j]));
  }
  r.objective = json["objective"];
  return r;
}

/// How many assignments come within `tolerance` of the optimum: by GPUs used per type, job by job.
double optima(const SiaProgram& program, double tolerance) {
  struct Value {
    double cost = 0;
    double count = 1;
  };
  std::map<std::vector<std::uint32_t>, Value> reached{
      {std::vector<std::uint32_t>(program.gpus.size(), 0), {}}};
  for (const auto& job : program.jobs) {
    std::map<std::vector<std::uint32_t>, Value> next;
    const auto reach = [&](const std::vector<std::uint32_t>& used, double cost, double count) {
      const auto [at, fresh] = next.try_emplace(used, Value{cost, count});
      if (fresh) return;
      if (cost < at->second.cost - tolerance) {
        at->second = {cost, count};
      } else if (cost <= at->second.cost + tolerance) {
        at->second.count += count;
      }
    };
    for (const auto& [used, value] : reached) {
      if (!job.keeps) reach(used, value.cost + program.lambda, value.count);
      for (std::uint32_t c = 0; c < program.configurations.size(); ++c) {
        if (job.keeps ? *job.keeps != c : job.costs[c] > program.lambda + tolerance) continue;
        auto more = used;
        const SiaConfiguration& configuration = program.configurations[c];
        more[configuration.type] += configuration.gpus;
        if (more[configuration.type] > program.gpus[configuration.type]) continue;
        reach(more, value.cost + job.costs[c], value.count);
      }
    }
    reached = std::move(next);
  }
  double least = kNever;
  for (const auto& [used, value] : reached) least = std::min(least, value.cost);
  double count = 0;
  for (const auto& [used, value] : reached)
    if (value.cost <= least + tolerance) count += value.count;
  return count;
}

// Where several assignments have the optimum, the peer's solver picked one of them; the others are as good.
TEST(SiaPeer, RecordedProgramsHaveTheSameObjectiveAndChoice) {
  constexpr double kEqual = 1e-7;  // the last bits of 32-bit costs
  const std::string folder = "peers3/sia-sosp23/";
  std::size_t compared = 0;
  std::size_t same = 0;
  std::size_t tied = 0;
  for (const std::string name : {"sia-philly1-12", "sia-philly3-16-homog"}) {
    std::ifstream file(test::public_data(folder + name + "/milps.jsonl"));
    if (!file) GTEST_SKIP() << test::not_checked(folder + name + "/milps.jsonl");
    for (std::string line; std::getline(file, line); ++compared) {
      const RecordedProgram recorded = read_program(line);
      const SiaAssignment ours = assign_configurations(recorded.program);
      EXPECT_NEAR(ours.objective, recorded.objective, kEqual) << line;
      EXPECT_NEAR(value_of(recorded.program, recorded.chosen), recorded.objective, kEqual) << line;
      if (ours.configurations == recorded.chosen) {
        ++same;
      } else {
        EXPECT_GT(optima(recorded.program, kEqual), 1) << line;
        ++tied;
      }
    }
  }
  std::printf("%zu programs, %zu with the recorded choice, %zu with an equal optimum\n", compared,
              same, tied);
  EXPECT_GT(compared, 150U);
  EXPECT_LE(tied * 20, compared);
}

}  // namespace
}  // namespace corun
