#include "models/interference/groups/saturations.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/interference/catalog.hpp"
#include "models/interference/groups/campaigns.hpp"

namespace corun::saturations_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kFamily = 7;
constexpr std::uint32_t kPrograms = 5;
constexpr std::uint32_t kShares = 3;

/// Program p alone reaches 100 2^p, its capacity is 400 times the share times its efficiency. So the largest programs
/// saturate every share and the smallest none.
double efficiency(std::uint32_t program) { return 0.8 + 0.05 * program; }
double capacity(std::uint32_t program, std::uint32_t share) {
  return 400 * (share + 1) * efficiency(program);
}
double rate(std::uint32_t program, std::uint32_t share) {
  return std::min(100.0 * std::pow(2.0, program), 0.98 * capacity(program, share));
}
double true_load(std::uint32_t program, std::uint32_t share) {
  return rate(program, share) / capacity(program, share);
}

SpeedTable table_of_family() {
  SpeedTable table;
  table.campaigns.front().sharing = Sharing::kMps;
  table.campaigns.front().gpu = "one";
  table.features = {{"sm_share_pct", FeatureScale::kLinear}, {"solo_rate", FeatureScale::kLog}};
  for (std::uint32_t share = 0; share < kShares; ++share) {
    for (std::uint32_t program = 0; program < kPrograms; ++program) {
      const auto job = static_cast<std::uint32_t>(table.jobs.size());
      table.jobs.push_back(static_cast<WorkloadKey>(100 + job));
      table.values.insert(table.values.end(),
                          {100.0 / kShares * (share + 1), rate(program, share)});
      table.families.push_back(kFamily);
      table.programs.push_back(1 + program);
      const double speed =
          std::exp(speed_by_load({std::log(true_load(program, share)), 0}, 2).log_speed);
      table.rows.push_back({job, job, speed, speed});
    }
  }
  return table;
}

TEST(Saturations, FullSpeedPairsAreToldApart) {
  const SpeedTable table = table_of_family();
  const auto found = saturations_of(table).jobs;
  ASSERT_EQ(found.size(), kPrograms * kShares);
  for (std::uint32_t share = 0; share < kShares; ++share) {
    for (std::uint32_t program = 0; program < kPrograms; ++program) {
      const Saturation& job = found.at(table.jobs[share * kPrograms + program]);
      const double load = std::log(true_load(program, share));
      EXPECT_NEAR(job.log_load, load, 0.25) << share << ' ' << program;
      EXPECT_NEAR(job.log_load, load, 2.5 * std::sqrt(job.load_variance))
          << share << ' ' << program;
    }
  }
  // On the largest share both run at full speed with a copy. Five of the first do, five of the second do not.
  const Saturation& small = found.at(table.jobs[2 * kPrograms]);
  const Saturation& larger = found.at(table.jobs[2 * kPrograms + 2]);
  EXPECT_GT(std::min(table.rows[2 * kPrograms].speed_a, table.rows[2 * kPrograms + 2].speed_a),
            0.97);
  EXPECT_GT(std::exp(speed_by_load(small, 5).log_speed), 0.95);
  EXPECT_LT(std::exp(speed_by_load(larger, 5).log_speed), 0.7);
}

// Without programs the other jobs on the share tell it still.
TEST(Saturations, ProgramsNeedNotBeKnown) {
  SpeedTable table = table_of_family();
  const auto with = saturations_of(table).jobs;
  table.programs.clear();
  const auto without = saturations_of(table).jobs;
  ASSERT_EQ(without.size(), with.size());
  for (std::uint32_t job = 0; job < table.jobs.size(); ++job) {
    const Saturation& found = without.at(table.jobs[job]);
    const double load = std::log(true_load(job % kPrograms, job / kPrograms));
    EXPECT_NEAR(found.log_load, load, 2.5 * std::sqrt(found.load_variance)) << job;
  }
}

TEST(Saturations, GroupsOfEqualJobsGoByThem) {
  const SpeedTable table = table_of_family();
  const auto model = find_interference_model("measured")->fit(table, {});
  const Saturation job = model->groups().saturations.jobs.at(table.jobs[2 * kPrograms + 2]);
  const std::vector<PairJob> copies(5, {table.jobs[2 * kPrograms + 2], {}});
  const LogSpeed expected =
      log_speed_among_equals(job, 5, model->predict(copies[0], copies[1]).speed);
  const std::vector<SpeedPrediction> five = model->predict_co_runners(copies);
  ASSERT_EQ(five.size(), 5U);
  for (const SpeedPrediction& one : five) {
    EXPECT_NEAR(std::log(one.speed), expected.mean, 1e-12);
    EXPECT_NEAR(one.sd / one.speed, expected.sd, 1e-12);
    EXPECT_LT(one.lo, one.speed);
    EXPECT_LE(one.hi, 1);
  }
  // Not faster than the pair, and other groups by the rule.
  const std::vector<PairJob> three(3, copies[0]);
  EXPECT_LE(model->predict_co_runners(three)[0].speed, model->predict(copies[0], copies[1]).speed);
  std::vector<PairJob> mixed = three;
  mixed[2].workload = table.jobs[2 * kPrograms];
  EXPECT_EQ(model->predict_co_runners(mixed)[0].speed, model->by_rule(mixed, kMpsRule)[0].speed);
  // Copies, files of several campaigns and other machines.
  EXPECT_EQ(model->clone()->groups().saturations, model->groups().saturations);
  const auto known_on = [&](const std::string& gpu, Sharing sharing) {
    const SpeedTable::Campaign asked{.gpu = gpu, .sharing = sharing};
    return CampaignModel(model->clone()).on(asked, table.jobs)->groups().saturations.jobs.size();
  };
  EXPECT_EQ(known_on("one", Sharing::kMps), table.jobs.size());
  EXPECT_EQ(known_on("", Sharing::kUnknown), table.jobs.size());
  EXPECT_EQ(known_on("another", Sharing::kMps), 0U);
  EXPECT_EQ(known_on("one", Sharing::kTimeSlicing), 0U);
}

TEST(Saturations, AreNotKnownWithoutWhatTheyGoBy) {
  const auto known = [](auto change) {
    SpeedTable table = table_of_family();
    change(table);
    return saturations_of(table).jobs.size();
  };
  const std::size_t all = kPrograms * kShares;
  EXPECT_EQ(known([](SpeedTable& t) {
              t.features[0].name = "other";  // all use the whole GPU
              t.programs.clear();
            }),
            all);
  EXPECT_EQ(known([](SpeedTable& t) { t.features[0].name = "other"; }), 0U);
  EXPECT_EQ(known([](SpeedTable& t) { t.features[1].name = "rate"; }), 0U);
  EXPECT_EQ(known([](SpeedTable& t) { t.programs.clear(); }), all);
  EXPECT_EQ(known([](SpeedTable& t) { t.families.clear(); }), 0U);
  EXPECT_EQ(known([](SpeedTable& t) { t.campaigns.front().sharing = Sharing::kTimeSlicing; }), 0U);
  EXPECT_EQ(known([](SpeedTable& t) { t.values[1] = kNaN; }), all - 1);
  EXPECT_EQ(known([](SpeedTable& t) { t.rows[1].speed_a = t.rows[1].speed_b = kNaN; }), all - 1);
  EXPECT_EQ(known([](SpeedTable& t) { t.rows[1].speed_a = kNaN; }), all);
  EXPECT_EQ(known([](SpeedTable& t) { t.rows.resize(kPrograms + 2); }), kPrograms);  // two jobs
  // A share that one of them lacks is not the whole GPU.
  EXPECT_EQ(known([](SpeedTable& t) { t.values[0] = kNaN; }), all - 1);
  // A program with two rates on one share: more differs than is known.
  EXPECT_EQ(known([](SpeedTable& t) { t.programs.assign(t.jobs.size(), 1); }), 0U);
  // Jobs of another machine, or of two, whose rates may be the other's.
  EXPECT_EQ(known([](SpeedTable& t) {
              t.campaigns.push_back(t.campaigns.front());
              t.rows[2].campaign = 1;
            }),
            all - 1);
  EXPECT_EQ(known([](SpeedTable& t) {
              t.campaigns.push_back(t.campaigns.front());
              t.groups.push_back({{2, 2, 2}, {0.5, 0.5, 0.5}, Sharing::kMps, 1});
            }),
            all - 1);
}

// Groups of other jobs, and pairs that are there twice.
TEST(Saturations, OnlyCopiesCount) {
  SpeedTable table = table_of_family();
  const Saturations before = saturations_of(table);
  table.rows.push_back({0, 4, 0.5, 0.5});
  table.groups.push_back({{0, 0, 4}, {0.5, 0.5, 0.5}, Sharing::kMps});
  table.rows.push_back(table.rows[4]);
  EXPECT_EQ(saturations_of(table), before);
}

// Three copies of the smallest program on the largest share tell its load, which no pair does.
TEST(Saturations, MeasuredGroupsTellMore) {
  SpeedTable table = table_of_family();
  const std::uint32_t job = 2 * kPrograms;
  const Saturation before = saturations_of(table).jobs.at(table.jobs[job]);
  EXPECT_GT(std::exp(speed_by_load(before, 4).log_speed), 0.95);
  table.groups.push_back({{job, job, job, job}, {0.7, 0.7, kNaN, 0.7}, Sharing::kMps});
  const Saturation after = saturations_of(table).jobs.at(table.jobs[job]);
  EXPECT_LT(std::exp(speed_by_load(after, 4).log_speed), 0.85);
  EXPECT_LT(after.load_variance, before.load_variance);
}

// Rates that no GPU has are no reason to fail.
TEST(Saturations, AreFiniteWhateverWasWritten) {
  for (const double low : {1e-300, 1e-12, 1.0}) {
    for (const double high : {1e-12, 1.0, 1e12}) {
      for (const double speed : {0.001, 1.0, 2.0}) {
        SpeedTable table = table_of_family();
        for (std::size_t job = 0; job < table.jobs.size(); ++job) {
          table.values[2 * job + 1] = job % 2 == 0 ? low : high;
          table.rows[job].speed_a = table.rows[job].speed_b = job % 3 == 0 ? speed : 0.001;
        }
        for (const auto& [key, job] : saturations_of(table).jobs) {
          EXPECT_TRUE(job.is_possible()) << low << ' ' << high << ' ' << speed;
          const LogSpeed four = log_speed_among_equals(job, 4, speed);
          EXPECT_TRUE(std::isfinite(four.mean) && std::isfinite(four.sd));
          EXPECT_LE(four.mean, 0);
        }
      }
    }
  }
}

TEST(Saturations, ManyJobsOfOneFamilyAreLeftToTheRule) {
  SpeedTable table = table_of_family();
  while (table.jobs.size() < 101) {
    const auto job = static_cast<std::uint32_t>(table.jobs.size());
    table.jobs.push_back(static_cast<WorkloadKey>(100 + job));
    table.values.insert(table.values.end(), {100.0, 50.0 + job});
    table.families.push_back(kFamily);
    table.programs.push_back(100 + job);
    table.rows.push_back({job, job, 0.9, 0.9});
  }
  EXPECT_TRUE(saturations_of(table).jobs.empty());
}

}  // namespace
}  // namespace corun::saturations_test
