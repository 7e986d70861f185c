#include "models/interference/interference_world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/featureless_model.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::interference_world_test {
namespace {

/// A model of one number: every job has this excess per other resident.
class FlatModel final : public test::FeaturelessModel {
 public:
  FlatModel(double excess, double sigma) : excess_(excess), sigma_(sigma) {}
  void speeds(std::span<const PairJob> residents, std::span<double> out) const override {
    for (double& s : out) s = 1 / (1 + excess_ * static_cast<double>(residents.size() - 1));
  }
  double residual_sigma() const override { return sigma_; }

 private:
  double excess_;
  double sigma_;
};

constexpr double kModelExcess = 0.3;

CorunMeasurement row(const std::vector<WorkloadKey>& workloads,
                     const std::vector<std::pair<double, double>>& solo_and_corun) {
  CorunMeasurement m;
  m.source = "row under test";
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    CorunMember member;
    member.workload = workloads[i];
    member.solo_s = solo_and_corun[i].first;
    member.corun_s = solo_and_corun[i].second;
    m.members.push_back(member);
  }
  return m;
}

/// Jobs 0, 1, 2, ... with these workloads.
InterferenceWorld world(const std::vector<CorunMeasurement>& rows,
                        const std::vector<WorkloadKey>& workloads, double sigma = 0.5,
                        bool extrapolated = false) {
  std::vector<WorldJob> jobs;
  for (const WorkloadKey w : workloads) jobs.push_back({w, Profile{}});
  return {std::make_shared<const MeasuredTable>(rows),
          std::make_shared<const FlatModel>(kModelExcess, sigma), jobs, extrapolated};
}

struct Answer {
  std::vector<double> speeds;
  Provenance provenance;
};

Answer ask(const World& world, const std::vector<std::uint32_t>& residents,
           const std::vector<std::uint32_t>& formed, std::optional<std::uint64_t> seed = {}) {
  std::vector<JobId> now;
  std::vector<JobId> then;
  for (const auto j : residents) now.push_back(JobId{j});
  for (const auto j : formed) then.push_back(JobId{j});
  Answer answer{std::vector<double>(residents.size(), -1), Provenance::kAlone};
  answer.provenance = world.speeds({now, then}, seed, answer.speeds);
  return answer;
}

TEST(InterferenceWorld, AloneIsOne) {
  const auto w = world({}, {7});
  const auto [speeds, provenance] = ask(w, {0}, {0}, 1);
  EXPECT_EQ(speeds[0], 1.0);
  EXPECT_EQ(provenance, Provenance::kAlone);
}

TEST(InterferenceWorld, MeasuredPair) {
  // Workload 5 ends first, at speed 0.8; workload 2 has then done 25 of 200 s.
  const auto w = world({row({5, 2}, {{100, 125}, {200, 300}})}, {2, 5, 2, 9});
  for (const std::optional<std::uint64_t> seed : {std::optional<std::uint64_t>{}, {1}, {2}}) {
    const auto [speeds, provenance] = ask(w, {0, 1}, {0, 1}, seed);
    EXPECT_NEAR(speeds[0], 0.2, 1e-12);
    EXPECT_NEAR(speeds[1], 0.8, 1e-12);
    EXPECT_EQ(provenance, Provenance::kMeasured);
    // Another job of the same workload, on the other side of the pair.
    const auto other = ask(w, {1, 2}, {1, 2}, seed);
    EXPECT_NEAR(other.speeds[0], 0.8, 1e-12);
    EXPECT_NEAR(other.speeds[1], 0.2, 1e-12);
  }
  const auto modelled = ask(w, {0, 3}, {0, 3});
  EXPECT_EQ(modelled.provenance, Provenance::kModelled);
  EXPECT_DOUBLE_EQ(modelled.speeds[0], 1 / (1 + kModelExcess));
  // Two of the same workload were not measured together.
  EXPECT_EQ(ask(w, {0, 2}, {0, 2}).provenance, Provenance::kModelled);
}

TEST(InterferenceWorld, UnknownWorkloadsAreNeverMeasured) {
  const auto w =
      world({row({kUnknownWorkload, 2}, {{100, 125}, {100, 125}})}, {kUnknownWorkload, 2});
  EXPECT_EQ(ask(w, {0, 1}, {0, 1}).provenance, Provenance::kModelled);
}

TEST(InterferenceWorld, MeasuredGroupShrinks) {
  // All end together: excess per other resident 0.5, 0.125 and 0.
  const auto w = world({row({1, 2, 3}, {{100, 200}, {160, 200}, {200, 200}})}, {1, 2, 3});
  const auto all = ask(w, {0, 1, 2}, {0, 1, 2});
  EXPECT_EQ(all.provenance, Provenance::kMeasured);
  EXPECT_NEAR(all.speeds[0], 0.5, 1e-12);
  EXPECT_NEAR(all.speeds[1], 0.8, 1e-12);
  EXPECT_NEAR(all.speeds[2], 1.0, 1e-12);
  // One has left: the same excess per resident, with one other resident.
  const auto two = ask(w, {0, 2}, {0, 1, 2});
  EXPECT_EQ(two.provenance, Provenance::kMeasured);
  EXPECT_NEAR(two.speeds[0], 1 / 1.5, 1e-12);
  EXPECT_NEAR(two.speeds[1], 1.0, 1e-12);
  // The same two as a pair were not measured.
  EXPECT_EQ(ask(w, {0, 2}, {0, 2}).provenance, Provenance::kModelled);
}

TEST(InterferenceWorld, PairThatIsLeftOfAnUnmeasuredGroupIsAMeasuredPair) {
  const auto w = world({row({1, 2}, {{100, 200}, {160, 200}})}, {1, 2, 3});
  EXPECT_EQ(ask(w, {0, 1, 2}, {0, 1, 2}).provenance, Provenance::kModelled);
  const auto left = ask(w, {0, 1}, {0, 1, 2});
  EXPECT_EQ(left.provenance, Provenance::kMeasured);
  EXPECT_NEAR(left.speeds[0], 0.5, 1e-12);
}

TEST(InterferenceWorld, RepeatedPairDrawsOneOfItsRows) {
  // Measured speeds 0.5 and 0.8, and 0.9 and 0.6: a draw never mixes both rows.
  const std::vector<CorunMeasurement> rows{row({1, 2}, {{100, 200}, {160, 200}}),
                                           row({2, 1}, {{120, 200}, {180, 200}})};
  const auto w = world(rows, {1, 2});
  int first = 0;
  constexpr int kSeeds = 400;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto speeds = ask(w, {0, 1}, {0, 1}, seed).speeds;
    if (speeds[0] < 0.7) {
      ++first;
      EXPECT_NEAR(speeds[0], 0.5, 1e-12);
      EXPECT_NEAR(speeds[1], 0.8, 1e-12);
    } else {
      EXPECT_NEAR(speeds[0], 0.9, 1e-12);
      EXPECT_NEAR(speeds[1], 0.6, 1e-12);
    }
  }
  EXPECT_NEAR(first, kSeeds / 2.0, 5 * std::sqrt(kSeeds / 4.0));
  // Without noise: the mean speed.
  const auto expected = ask(w, {0, 1}, {0, 1}).speeds;
  EXPECT_NEAR(expected[0], 0.7, 1e-12);
  EXPECT_NEAR(expected[1], 0.7, 1e-12);
}

TEST(InterferenceWorld, NoiseBelongsToTheSetOfJobs) {
  const auto w = world({}, {1, 2, 3, 4});
  const auto once = ask(w, {0, 1}, {0, 1}, 7).speeds;
  // The draw depends neither on calls in between nor on how the set was formed.
  ask(w, {2, 3}, {2, 3}, 7);
  EXPECT_EQ(ask(w, {0, 1}, {0, 1}, 7).speeds, once);
  EXPECT_EQ(ask(w, {0, 1}, {0, 1, 2}, 7).speeds, once);
  EXPECT_NE(ask(w, {0, 1}, {0, 1}, 8).speeds, once);
  EXPECT_NE(ask(w, {0, 2}, {0, 2}, 7).speeds, once);
  // The two jobs of a pair have different factors.
  EXPECT_NE(once[0], once[1]);
}

TEST(InterferenceWorld, NoiseHasMeanOne) {
  constexpr double kSigma = 0.65;
  const auto w = world({}, {1, 2}, kSigma);
  double sum = 0;
  double log_sum = 0;
  constexpr int kSeeds = 20000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const double s : ask(w, {0, 1}, {0, 1}, seed).speeds) {
      EXPECT_TRUE(s > 0 && s < 1);
      const double factor = (1 / s - 1) / kModelExcess;
      sum += factor;
      log_sum += std::log(factor);
    }
  }
  // Standard errors 0.004 and 0.003.
  EXPECT_NEAR(sum / (2 * kSeeds), 1, 0.02);
  EXPECT_NEAR(log_sum / (2 * kSeeds), -kSigma * kSigma / 2, 0.015);
  // No noise without a seed or without sigma.
  EXPECT_DOUBLE_EQ(ask(w, {0, 1}, {0, 1}).speeds[0], 1 / (1 + kModelExcess));
  EXPECT_DOUBLE_EQ(ask(world({}, {1, 2}, 0), {0, 1}, {0, 1}, 3).speeds[0], 1 / (1 + kModelExcess));
}

TEST(InterferenceWorld, ExtrapolatedIsMarked) {
  const auto w = world({row({1, 2}, {{100, 200}, {160, 200}})}, {1, 2, 3}, 0.5, true);
  EXPECT_EQ(ask(w, {0, 1}, {0, 1}).provenance, Provenance::kExtrapolated);
  EXPECT_EQ(ask(w, {0, 2}, {0, 2}).provenance, Provenance::kExtrapolated);
  EXPECT_EQ(ask(w, {0}, {0}).provenance, Provenance::kAlone);
}

TEST(MeasuredTable, PapersTables) {
  WorkloadKeys keys;
  const auto rows = paper_measurements(keys);
  const MeasuredTable table(rows);
  std::multiset<std::vector<WorkloadKey>> groups;
  for (const CorunMeasurement& m : rows) {
    std::vector<WorkloadKey> workloads;
    for (const CorunMember& member : m.members) workloads.push_back(member.workload);
    std::sort(workloads.begin(), workloads.end());
    groups.insert(workloads);
  }
  EXPECT_EQ(table.groups(), std::set(groups.begin(), groups.end()).size());
  for (const auto& g : groups) {
    ASSERT_NE(table.find(g), nullptr);
    EXPECT_EQ(table.find(g)->size(), groups.count(g));
  }
  EXPECT_EQ(table.find({1000, 1001}), nullptr);
}

TEST(MeasuredTable, ImpossibleTimesAreRefused) {
  const std::vector<CorunMeasurement> rows{row({1, 2}, {{100, 100}, {150, 300}})};
  EXPECT_THROW(MeasuredTable{rows}, InputError);
}

TEST(InterferenceWorld, PairsOfATableRunAtItsSpeeds) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  SpeedTable table;
  table.jobs = {7, 3, kUnknownWorkload};
  table.rows = {{0, 1, 0.6, 1.1}, {1, 1, 0.5, 0.5}, {0, 0, 0.9, kUnknown}, {0, 2, 0.25, 0.25}};
  const MeasuredTable measured(table);
  EXPECT_EQ(measured.groups(), 2U) << "no half rows, nobody unknown";
  const InterferenceWorld w(std::make_shared<const MeasuredTable>(measured),
                            std::make_shared<const FlatModel>(kModelExcess, 0),
                            {{7, {}}, {3, {}}, {3, {}}, {kUnknownWorkload, {}}}, false);
  const auto speeds = [&](const std::vector<JobId>& jobs) {
    std::vector<double> out(jobs.size());
    return std::pair(w.speeds({jobs, jobs}, std::nullopt, out), out);
  };
  const auto [provenance, out] = speeds({JobId{0}, JobId{2}});
  EXPECT_EQ(provenance, Provenance::kMeasured);
  EXPECT_NEAR(out[0], 0.6, 1e-15);
  EXPECT_NEAR(out[1], 1.1, 1e-15);
  EXPECT_NEAR(speeds({JobId{1}, JobId{2}}).second[1], 0.5, 1e-15);
  EXPECT_EQ(speeds({JobId{0}, JobId{3}}).first, Provenance::kModelled);
  table.rows[0].speed_a = 0;
  EXPECT_THROW(MeasuredTable{table}, std::invalid_argument);
}

TEST(InterferenceWorld, RefusesFeaturesOfAnotherModel) {
  EXPECT_THROW(InterferenceWorld(std::make_shared<const MeasuredTable>(),
                                 std::make_shared<const FlatModel>(kModelExcess, 0),
                                 {{7, {}, {1, 2}}}, false),
               std::invalid_argument);
}

}  // namespace
}  // namespace corun::interference_world_test
