#include "models/interference/contention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "models/formulas/overlap.hpp"
#include "models/interference/measured_speeds.hpp"
#include "sim/rng.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::contention_test {
namespace {

using Coefficients = std::array<double, ContentionModel::kTerms>;

Profile profile(std::optional<double> u, std::optional<double> m, std::optional<double> t) {
  return {u, m, t, std::nullopt, false};
}

/// The four pressures on `own` beside one other job, from the equation of the header.
Coefficients pressures(const Profile& own, const Profile& other) {
  const double u = *own.gpu_util_pct / 100;
  const double m = *own.mem_alloc_pct / 100;
  const double t = *own.mem_time_pct / 100;
  const double v = *other.gpu_util_pct / 100;
  const double n = *other.mem_alloc_pct / 100;
  const double r = *other.mem_time_pct / 100;
  return {(1 - m) * u * (1 - n) * v, t * v, std::max(0.0, 1 - u / 0.1) * v,
          std::max(0.0, t + r - 0.5) - std::max(0.0, t - 0.5)};
}

double excess(const Coefficients& c, const Profile& own, const Profile& other) {
  const Coefficients p = pressures(own, other);
  return c[0] * p[0] + c[1] * p[1] + c[2] * p[2] + c[3] * p[3];
}

/// A pair whose members end together, at the speeds of these excesses.
CorunMeasurement pair_of(const Profile& a, const Profile& b, double excess_a, double excess_b) {
  constexpr double kEnd = 1000;
  CorunMeasurement row;
  row.source = "made up";
  row.members.push_back({0, a, kEnd / (1 + excess_a), kEnd, 0});
  row.members.push_back({1, b, kEnd / (1 + excess_b), kEnd, 0});
  return row;
}

std::vector<Profile> random_profiles(std::size_t n) {
  Rng rng(5, Stream::kTest);
  std::vector<Profile> all;
  for (std::size_t i = 0; i < n; ++i) {
    // Every third is a light job, on which the launch latency term is fitted.
    const double u = i % 3 == 0 ? 12 * rng.uniform() : 100 * rng.uniform();
    all.push_back(profile(u, 100 * rng.uniform(), 70 * rng.uniform()));
  }
  return all;
}

/// Rows that satisfy the equation exactly.
std::vector<CorunMeasurement> rows_of(const Coefficients& c) {
  const std::vector<Profile> all = random_profiles(30);
  std::vector<CorunMeasurement> rows;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const Profile& a = all[i];
    const Profile& b = all[i + 1];
    rows.push_back(pair_of(a, b, excess(c, a, b), excess(c, b, a)));
  }
  return rows;
}

/// Every member is a separate job, whatever its workload.
SpeedTable table_of(std::vector<CorunMeasurement> rows) {
  for (CorunMeasurement& row : rows) {
    for (CorunMember& m : row.members) m.workload = kUnknownWorkload;
  }
  return speed_table(rows, ImputedProfiles::kBelieved);
}

ContentionModel fit(const std::vector<CorunMeasurement>& rows) {
  return ContentionModel::fit(table_of(rows));
}

std::vector<double> speeds(const InterferenceModel& model, const std::vector<Profile>& residents) {
  std::vector<std::vector<double>> features;
  for (const Profile& p : residents) {
    features.push_back(feature_values(p, model.features(), ImputedProfiles::kBelieved));
  }
  std::vector<PairJob> jobs;
  for (const auto& x : features) jobs.push_back({kUnknownWorkload, x});
  std::vector<double> out(residents.size(), -1);
  model.speeds(jobs, out);
  return out;
}

constexpr Coefficients kKnown{0.8, 0.3, 0.4, 0.5};

TEST(Contention, FitFindsTheFormulaThatMadeTheRows) {
  const auto model = fit(rows_of(kKnown));
  for (std::size_t k = 0; k < kKnown.size(); ++k) {
    EXPECT_NEAR(model.coefficients()[k], kKnown[k], 1e-9) << k;
  }
  EXPECT_NEAR(model.residual_sigma(), 0, 1e-6);
}

TEST(Contention, PairByHand) {
  const auto model = fit(rows_of(kKnown));
  // The job: u 0.5, m 0.2, t 0.4; the other: u 0.8, m 0.5, t 0.3:
  //   0.8 * (0.8 * 0.5) * (0.5 * 0.8) + 0.3 * 0.4 * 0.8 + 0 + 0.5 * 0.2 = 0.324
  //   0.8 * (0.5 * 0.8) * (0.8 * 0.5) + 0.3 * 0.3 * 0.5 + 0 + 0.5 * 0.2 = 0.273
  const auto s = speeds(model, {profile(50, 20, 40), profile(80, 50, 30)});
  EXPECT_NEAR(s[0], 1 / 1.324, 1e-9);
  EXPECT_NEAR(s[1], 1 / 1.273, 1e-9);
  // A light job, u 0.05, m 0, t 0: 0.8 * 0.05 * 0.4 + 0 + 0.4 * 0.5 * 0.8 + 0 = 0.176.
  EXPECT_NEAR(speeds(model, {profile(5, 0, 0), profile(80, 50, 30)})[0], 1 / 1.176, 1e-9);
}

TEST(Contention, TripleByHand) {
  const auto model = fit(rows_of(kKnown));
  const auto s = speeds(model, {profile(50, 20, 40), profile(80, 50, 30), profile(5, 0, 60)});
  // First: the others' (1 - m) u sum to 0.4 + 0.05, u to 0.85, t to 0.9.
  EXPECT_NEAR(s[0], 1 / (1 + 0.8 * 0.4 * 0.45 + 0.3 * 0.4 * 0.85 + 0.5 * 0.8), 1e-9);
  EXPECT_NEAR(s[1], 1 / (1 + 0.8 * 0.4 * 0.45 + 0.3 * 0.3 * 0.55 + 0.5 * 0.8), 1e-9);
  // The third exceeds the knee alone (0.6), so only the part that the others add counts.
  EXPECT_NEAR(s[2],
              1 / (1 + 0.8 * 0.05 * 0.8 + 0.3 * 0.6 * 1.3 + 0.4 * 0.5 * 1.3 + 0.5 * (0.8 - 0.1)),
              1e-9);
}

TEST(Contention, AloneIsExactlyOne) {
  WorkloadKeys keys;
  const auto model = fit(paper_measurements(keys));
  for (const Profile& p : random_profiles(50)) EXPECT_EQ(speeds(model, {p})[0], 1.0);
  EXPECT_EQ(speeds(model, {Profile{}})[0], 1.0);
}

TEST(Contention, SpeedsAreInZeroToOneAndFallWithCoRunners) {
  WorkloadKeys keys;
  const auto model = fit(paper_measurements(keys));
  std::vector<Profile> residents;
  double before = 1;
  for (const Profile& p : random_profiles(12)) {
    residents.push_back(p);
    const auto s = speeds(model, residents);
    for (const double x : s) {
      EXPECT_GT(x, 0);
      EXPECT_LE(x, 1);
    }
    EXPECT_LE(s[0], before);
    before = s[0];
  }
}

TEST(Contention, FirstTermIsSymmetric) {
  const auto model = fit(rows_of({0.7, 0, 0, 0}));
  EXPECT_NEAR(model.coefficients()[0], 0.7, 1e-9);
  for (std::size_t k = 1; k < ContentionModel::kTerms; ++k) {
    EXPECT_NEAR(model.coefficients()[k], 0, 1e-9);
  }
  const auto s = speeds(model, {profile(50, 20, 40), profile(8, 50, 60)});
  EXPECT_LT(s[0], 1);
  EXPECT_NEAR(s[0], s[1], 1e-9);
}

/// Least squares with c >= 0 by coordinate descent, independent of the model's solver.
Coefficients descend(const std::vector<Coefficients>& a, const std::vector<double>& b) {
  Coefficients c{};
  for (int round = 0; round < 20000; ++round) {
    for (std::size_t k = 0; k < c.size(); ++k) {
      double slope = 0;
      double curve = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        double rest = b[i];
        for (std::size_t l = 0; l < c.size(); ++l) rest -= l == k ? 0 : a[i][l] * c[l];
        slope += a[i][k] * rest;
        curve += a[i][k] * a[i][k];
      }
      c[k] = curve > 0 ? std::max(0.0, slope / curve) : 0;
    }
  }
  return c;
}

/// The fit of the header by another method: weighted non-negative least squares, then the level.
struct SlowFit {
  Coefficients coefficients{};
  double level = 0;
};

SlowFit slow_fit(const std::vector<CorunMeasurement>& rows) {
  std::vector<Coefficients> a;
  std::vector<Coefficients> weighted;
  std::vector<double> b;
  double measured = 0;
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() != 2) continue;
    const std::vector<double> x = overlap_excess(row);
    for (std::size_t i = 0; i < 2; ++i) {
      const double s = std::min(1.0, 1 / (1 + x[i]));
      a.push_back(pressures(row.members[i].profile, row.members[1 - i].profile));
      weighted.push_back(a.back());
      for (double& p : weighted.back()) p *= s;
      b.push_back(s * x[i]);
      measured += x[i];
    }
  }
  SlowFit fit;
  fit.coefficients = descend(weighted, b);
  double predicted = 0;
  for (const Coefficients& p : a) {
    predicted += std::inner_product(p.begin(), p.end(), fit.coefficients.begin(), 0.0);
  }
  fit.level = measured / predicted;
  return fit;
}

void expect_same_fit(const std::vector<CorunMeasurement>& rows) {
  const auto model = fit(rows);
  const SlowFit slow = slow_fit(rows);
  for (std::size_t k = 0; k < ContentionModel::kTerms; ++k) {
    EXPECT_GE(model.coefficients()[k], 0);
    EXPECT_NEAR(model.coefficients()[k], slow.level * slow.coefficients[k], 1e-6) << k;
  }
}

TEST(Contention, NonNegativeLeastSquaresAgainstDescent) {
  WorkloadKeys keys;
  expect_same_fit(paper_measurements(keys));
  // Excesses that are independent of the profiles: some coefficients are at the bound.
  bool bound_reached = false;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Rng rng(seed, Stream::kTest);
    std::vector<CorunMeasurement> rows = rows_of(kKnown);
    for (CorunMeasurement& row : rows) {
      for (CorunMember& m : row.members) m.solo_s = m.corun_s / (1 + rng.exponential(0.3));
    }
    expect_same_fit(rows);
    const auto c = fit(rows).coefficients();
    bound_reached = bound_reached || std::ranges::count(c, 0.0) > 0;
  }
  EXPECT_TRUE(bound_reached);
}

TEST(Contention, PapersCoefficients) {
  WorkloadKeys keys;
  const auto rows = paper_measurements(keys);
  // An independent fit with other software, on these rows and two of a draft, without the level.
  const Coefficients expected{0.7985, 0.3382, 0.3864, 0.0088};
  const SlowFit slow = slow_fit(rows);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(slow.coefficients[k], expected[k], 0.05) << k;
  }
  // The weights favour small excesses; the level compensates for that.
  EXPECT_NEAR(slow.level, 1.34, 0.03);

  const auto model = fit(rows);
  EXPECT_GT(model.residual_sigma(), 0.4);
  EXPECT_LT(model.residual_sigma(), 1.0);
  double measured = 0;
  double predicted = 0;
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() != 2) continue;
    for (const double x : overlap_excess(row)) measured += x;
    for (const double s : speeds(model, {row.members[0].profile, row.members[1].profile})) {
      predicted += 1 / s - 1;
    }
  }
  EXPECT_NEAR(predicted / measured, 1, 1e-9);
}

TEST(Contention, MissingValuesTakeTheMeanOfTheFittedRows) {
  // Half the rows have u 40, the others 60, and so on: the means are u 50, m 20, t 40.
  const Profile low = profile(40, 10, 30);
  const Profile high = profile(60, 30, 50);
  const std::vector<CorunMeasurement> rows{pair_of(low, high, 0.2, 0.3),
                                           pair_of(high, low, 0.25, 0.35)};
  const auto model = fit(rows);
  const Profile other = profile(80, 50, 30);
  const auto known = speeds(model, {profile(50, 20, 40), other});
  for (const Profile& p :
       {profile({}, 20, 40), profile(50, {}, 40), profile(50, 20, {}), profile({}, {}, {})}) {
    const auto s = speeds(model, {p, other});
    EXPECT_NEAR(s[0], known[0], 1e-12);
    EXPECT_NEAR(s[1], known[1], 1e-12);
  }
  // Missing values, or a column without any value, are no error.
  std::vector<CorunMeasurement> gaps = rows;
  gaps[0].members[0].profile.gpu_util_pct.reset();
  for (CorunMeasurement& row : gaps) {
    for (CorunMember& m : row.members) m.profile.mem_alloc_pct.reset();
  }
  for (const double s : speeds(fit(gaps), {low, Profile{}})) {
    EXPECT_TRUE(s > 0 && s <= 1) << s;
  }
}

TEST(Contention, RowsWithoutInterferenceGiveNone) {
  const auto model = fit(rows_of({0, 0, 0, 0}));
  EXPECT_NEAR(speeds(model, {profile(90, 10, 60), profile(90, 10, 60)})[0], 1, 1e-9);
}

TEST(Contention, RefusesRowsWithoutPairs) {
  EXPECT_THROW(fit({}), std::invalid_argument);
  WorkloadKeys keys;
  PaperFilter bins;
  bins.jrs_bins = true;
  EXPECT_THROW(fit(paper_measurements(keys, bins)), std::invalid_argument);
}

TEST(Contention, NeedsTheUtilisation) {
  SpeedTable table = table_of(rows_of(kKnown));
  const std::size_t width = table.features.size();
  // One value suffices; a constant for all jobs would be no model of contention.
  for (std::size_t j = 1; j < table.jobs.size(); ++j) table.values[j * width] = std::nan("");
  EXPECT_NO_THROW(ContentionModel::fit(table));
  table.values[0] = std::nan("");
  EXPECT_THROW(ContentionModel::fit(table), std::invalid_argument);
  table.values[0] = 50;
  table.features[0].name = "solo_v100";
  EXPECT_THROW(ContentionModel::fit(table), std::invalid_argument);
}

TEST(Contention, TakesMemoryInMibWhereThereIsNoShare) {
  SpeedTable share = table_of(rows_of(kKnown));
  SpeedTable mib = share;
  mib.features[1].name = "mem_used_mib";
  double most = 0;
  for (std::size_t j = 0; j < share.jobs.size(); ++j) most = std::max(most, share.of(j)[1]);
  // In MiB, m is relative to the largest job: the model is the same if the largest job fills a GPU.
  for (std::size_t j = 0; j < share.jobs.size(); ++j) {
    share.values[3 * j + 1] *= 100 / most;
    mib.values[3 * j + 1] *= 160;
  }
  const auto a = ContentionModel::fit(share);
  const auto b = ContentionModel::fit(mib);
  for (std::size_t k = 0; k < kKnown.size(); ++k) {
    EXPECT_NEAR(a.coefficients()[k], b.coefficients()[k], 1e-9);
  }
}

}  // namespace
}  // namespace corun::contention_test
