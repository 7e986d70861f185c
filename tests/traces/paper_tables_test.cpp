#include "traces/measured/paper_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace corun::paper_tables_test {
namespace {

using JobKey = std::pair<std::string_view, int>;  // model, batch size

std::vector<PaperPair> all_pairs() {
  std::vector<PaperPair> pairs(jrs_pairs().begin(), jrs_pairs().end());
  pairs.insert(pairs.end(), prirect_pairs().begin(), prirect_pairs().end());
  return pairs;
}

std::string label(const PaperPair& pair) {
  return std::string(pair.table) + " row " + std::to_string(pair.row);
}

JobKey key(const PaperSide& side) { return {side.model, side.batch_size}; }

bool same_job(const PaperSide& x, const PaperSide& y) {
  return key(x) == key(y) && x.epochs == y.epochs;
}

/// The solo time that the row's own J_c and printed ISD imply [s].
double implied_solo_s(const PaperSide& side) {
  return side.corun_s / (1.0 + side.isd_pct_printed / 100.0);
}

double mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

const PaperProfile* find_profile(std::string_view model, int batch_size) {
  const auto profiles = paper_profiles();
  const auto found = std::ranges::find_if(profiles, [&](const PaperProfile& profile) {
    return profile.model == model && profile.batch_size == batch_size;
  });
  return found == profiles.end() ? nullptr : &*found;
}

const PaperSolo* find_solo(std::string_view session, std::string_view model, int batch_size,
                           int epochs) {
  const auto solos = paper_solo_times();
  const auto found = std::ranges::find_if(solos, [&](const PaperSolo& solo) {
    return solo.session == session && solo.model == model && solo.batch_size == batch_size &&
           solo.epochs == epochs;
  });
  return found == solos.end() ? nullptr : &*found;
}

bool is_autoencoder(std::string_view model) { return model.starts_with("AE-"); }

TEST(PaperTables, HaveTheRowsOfThePapers) {
  std::map<std::string_view, int> rows;
  std::map<std::string_view, int> used;
  for (const PaperPair& pair : all_pairs()) {
    ++rows[pair.table];
    used[pair.table] += pair.use ? 1 : 0;
  }
  using Counts = std::map<std::string_view, int>;
  EXPECT_EQ(rows, (Counts{{"JRS-II", 31},
                          {"JRS-III", 16},
                          {"JRS-IV", 12},
                          {"JRS-V", 9},
                          {"JRS-VI", 7},
                          {"JRS-VII", 12},
                          {"PRI-III", 16},
                          {"PRI-IV", 16},
                          {"PRI-draft-IV", 2}}));
  // II row 22 repeats row 21; VII rows 9 to 12 repeat V rows 7 to 10.
  EXPECT_EQ(used, (Counts{{"JRS-II", 30},
                          {"JRS-III", 16},
                          {"JRS-IV", 12},
                          {"JRS-V", 9},
                          {"JRS-VI", 7},
                          {"JRS-VII", 8},
                          {"PRI-III", 16},
                          {"PRI-IV", 16},
                          {"PRI-draft-IV", 2}}));
  EXPECT_EQ(jrs_pairs().size(), 87u);
  EXPECT_EQ(prirect_pairs().size(), 34u);
  ASSERT_EQ(jrs_groups().size(), 2u);
  EXPECT_EQ(jrs_groups()[0].members.size(), 5u);
  EXPECT_EQ(jrs_groups()[1].members.size(), 9u);
  EXPECT_EQ(paper_profiles().size(), 52u);
  EXPECT_EQ(paper_solo_times().size(), 69u);
  EXPECT_EQ(jrs_queue().size(), 24u);
}

TEST(PaperTables, RowsAreInOrderAndUnique) {
  const std::vector<PaperPair> pairs = all_pairs();
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    if (pairs[i].table == pairs[i - 1].table) {
      EXPECT_EQ(pairs[i].row, pairs[i - 1].row + 1) << label(pairs[i]);
    } else {
      // Row 1 of JRS V and VI is a bin, not a pair.
      const bool after_bin = pairs[i].table == "JRS-V" || pairs[i].table == "JRS-VI";
      EXPECT_EQ(pairs[i].row, after_bin ? 2 : 1) << label(pairs[i]);
    }
  }
}

TEST(PaperTables, RowsNotUsedRepeatAnother) {
  const std::vector<PaperPair> pairs = all_pairs();
  for (const PaperPair& pair : pairs) {
    const auto repeats = std::ranges::count_if(pairs, [&](const PaperPair& other) {
      const auto same = [](const PaperSide& x, const PaperSide& y) {
        return same_job(x, y) && x.corun_s == y.corun_s;
      };
      return other.use && other.session == pair.session &&
             ((same(other.a, pair.a) && same(other.b, pair.b)) ||
              (same(other.a, pair.b) && same(other.b, pair.a)));
    });
    EXPECT_EQ(repeats, 1) << label(pair);
  }
}

// A percentage cut to 0.1 points moves J_c / (1 + ISD) by at most 0.1 %. Beyond it: J_c and the
// solo estimate, printed to 0.01 s (0.02 % of the shortest run), hence 0.12 % for all pairs.
TEST(PaperTables, SlowdownsGiveTheSoloTimesOfTheSession) {
  for (const PaperPair& pair : all_pairs()) {
    for (const PaperSide& side : {pair.a, pair.b}) {
      EXPECT_NEAR(implied_solo_s(side) / side.solo_s, 1.0, 0.0012)
          << label(pair) << " " << side.model;
    }
  }
}

// The bins print whole seconds, and their ISDs fit solo times of about whole seconds, cut: 91 s at
// 24.6 % is 73.0 s where all other rows give 73.9 s.
TEST(PaperTables, BinsGiveTheSoloTimesWithinTheirWholeSeconds) {
  for (const PaperGroup& group : jrs_groups()) {
    double solo_sum_s = 0.0;
    double longest_s = 0.0;
    for (const PaperSide& side : group.members) {
      EXPECT_NEAR(implied_solo_s(side), side.solo_s, 1.1) << group.name << " " << side.model;
      EXPECT_TRUE(std::isnan(side.uncertainty)) << group.name << " " << side.model;
      const PaperSolo* solo = find_solo(group.session, side.model, side.batch_size, side.epochs);
      ASSERT_NE(solo, nullptr) << group.name << " " << side.model;
      EXPECT_EQ(solo->solo_s, side.solo_s) << group.name << " " << side.model;
      solo_sum_s += side.solo_s;
      longest_s = std::max(longest_s, side.corun_s);
    }
    EXPECT_NEAR((solo_sum_s - longest_s) / solo_sum_s * 100.0, group.ps_pct_printed, 0.12)
        << group.name;
  }
}

TEST(PaperTables, PackingSavingFollowsFromTheTimes) {
  for (const PaperPair& pair : all_pairs()) {
    const double solo_sum_s = pair.a.solo_s + pair.b.solo_s;
    const double longest_s = std::max(pair.a.corun_s, pair.b.corun_s);
    EXPECT_NEAR(pair.ps_pct, (solo_sum_s - longest_s) / solo_sum_s * 100.0, 0.02) << label(pair);
  }
}

// The papers cut PS to one digit: the printed value lies up to 0.1 below the recomputed one and
// not above it. In PriRecT, whose solo times were measured, that is exact. In JRS solo times come
// from ISDs taken as rounded; if those are cut too, they are up to 0.05 % too long, which raises PS
// by up to 0.05 * max J_c / sum J_a < 0.05 points. III rows 1 and 11 fall 0.02 and 0.01 below.
TEST(PaperTables, PrintedPackingSavingIsTheRecomputedOneCut) {
  // VI row 7 prints 20.1 where its times give 20.94.
  const auto misprinted = [](const PaperPair& pair) {
    return pair.table == "JRS-VI" && pair.row == 7;
  };
  for (const PaperPair& pair : all_pairs()) {
    const bool measured_solo = pair.session == "PriRecT";
    const double excess = pair.ps_pct - pair.ps_pct_printed;
    if (misprinted(pair)) {
      EXPECT_NEAR(excess, 0.84, 1e-6) << label(pair);
    } else {
      EXPECT_GT(excess, measured_solo ? -0.001 : -0.021) << label(pair);
      EXPECT_LT(excess, measured_solo ? 0.1 : 0.15) << label(pair);
    }
  }
}

TEST(PaperTables, EveryPairHasItsSoloTimes) {
  for (const PaperPair& pair : all_pairs()) {
    for (const PaperSide& side : {pair.a, pair.b}) {
      const PaperSolo* solo = find_solo(pair.session, side.model, side.batch_size, side.epochs);
      ASSERT_NE(solo, nullptr) << label(pair) << " " << side.model;
      EXPECT_EQ(solo->solo_s, side.solo_s) << label(pair) << " " << side.model;
    }
  }
}

TEST(PaperTables, ProfilesAndSoloTimesAreUniqueAndAllUsed) {
  std::set<JobKey> in_tables;
  std::set<std::pair<std::string_view, JobKey>> solo_in_tables;
  for (const PaperPair& pair : all_pairs()) {
    for (const PaperSide& side : {pair.a, pair.b}) {
      if (!is_autoencoder(side.model)) in_tables.insert(key(side));
      solo_in_tables.insert({pair.session, key(side)});
    }
  }
  std::set<JobKey> profiled;
  for (const PaperProfile& profile : paper_profiles()) {
    EXPECT_TRUE(profiled.insert({profile.model, profile.batch_size}).second) << profile.model;
  }
  EXPECT_EQ(profiled, in_tables);
  std::set<std::pair<std::string_view, JobKey>> timed;
  for (const PaperSolo& solo : paper_solo_times()) {
    EXPECT_TRUE(timed.insert({solo.session, {solo.model, solo.batch_size}}).second) << solo.model;
  }
  EXPECT_EQ(timed, solo_in_tables);
}

// Reproduced distances agree with the printed ones to 0.09. InceptionV3 BS=869 prints the distance
// of EfficientNetV2 BS=869 throughout.
TEST(PaperTables, ClustersAndDistancesAgreeWithTheProfiles) {
  for (const PaperPair& pair : all_pairs()) {
    const bool prints_distance = pair.table != "JRS-II" && pair.table != "JRS-III";
    for (const PaperSide& side : {pair.a, pair.b}) {
      EXPECT_EQ(std::isnan(side.uncertainty), !prints_distance) << label(pair);
      const PaperProfile* profile = find_profile(side.model, side.batch_size);
      if (profile == nullptr) continue;
      EXPECT_EQ(side.cluster, profile->cluster) << label(pair) << " " << side.model;
      if (!prints_distance) continue;
      if (key(side) == JobKey{"InceptionV3", 869}) {
        EXPECT_EQ(side.uncertainty, 234.35) << label(pair);
        EXPECT_EQ(profile->uncertainty, 176.29) << label(pair);
      } else {
        EXPECT_NEAR(side.uncertainty, profile->uncertainty, 0.091)
            << label(pair) << " " << side.model;
      }
    }
  }
  for (const PaperGroup& group : jrs_groups()) {
    for (const PaperSide& side : group.members) {
      const PaperProfile* profile = find_profile(side.model, side.batch_size);
      if (profile != nullptr) {
        EXPECT_EQ(side.cluster, profile->cluster) << side.model;
      }
    }
  }
}

// Sum of the distances to the three centres of the best k-means optimum over the data set.
TEST(PaperTables, ProfilesGiveTheirUncertainty) {
  constexpr double kCentres[3][3] = {
      {61.423, 43.245, 24.456}, {21.394, 8.046, 5.361}, {88.779, 56.377, 51.394}};
  for (const PaperProfile& profile : paper_profiles()) {
    double sum = 0.0;
    for (const auto& centre : kCentres) {
      sum += std::hypot(profile.gpu_util_pct - centre[0], profile.mem_alloc_pct - centre[1],
                        profile.mem_time_pct - centre[2]);
    }
    EXPECT_NEAR(sum, profile.uncertainty, 0.01) << profile.model << " " << profile.batch_size;
  }
}

TEST(JrsQueue, IsInTaskOrderWithEightJobsPerCluster) {
  const std::vector<std::string_view> expected = {
      "J1-205",  "J2-716",  "J3-230",  "J3-1024", "J4-409",  "J4-869", "J5-562",  "J6-230",
      "J6-716",  "J7-109",  "J7-180",  "J7-205",  "J7-1024", "J8-256", "J8-1024", "J9-256",
      "J10-256", "J11-256", "J12-256", "J13-256", "J14-256", "J15-32", "J15-562", "J15-716"};
  std::vector<std::string_view> ids;
  std::array<int, 3> per_cluster{};
  for (const QueueJob& job : jrs_queue()) {
    ids.push_back(job.id);
    ++per_cluster.at(static_cast<std::size_t>(job.cluster));
    EXPECT_TRUE(job.id.ends_with("-" + std::to_string(job.batch_size))) << job.id;
  }
  EXPECT_EQ(ids, expected);
  EXPECT_EQ(per_cluster, (std::array<int, 3>{8, 8, 8}));
}

TEST(JrsQueue, HoldsTheJobsOfTableFour) {
  std::map<JobKey, PaperSide> table_four;
  for (const PaperPair& pair : jrs_pairs()) {
    if (pair.table != "JRS-IV") continue;
    for (const PaperSide& side : {pair.a, pair.b}) table_four.insert({key(side), side});
  }
  ASSERT_EQ(table_four.size(), 24u);
  for (const QueueJob& job : jrs_queue()) {
    const auto found = table_four.find({job.model, job.batch_size});
    ASSERT_NE(found, table_four.end()) << job.id;
    EXPECT_EQ(job.epochs, found->second.epochs) << job.id;
    EXPECT_EQ(job.cluster, found->second.cluster) << job.id;
    EXPECT_EQ(job.uncertainty, found->second.uncertainty) << job.id;
  }
}

TEST(JrsQueue, AllButTheAutoencodersHaveAProfile) {
  for (const QueueJob& job : jrs_queue()) {
    EXPECT_EQ(job.has_profile, !is_autoencoder(job.model)) << job.id;
    EXPECT_EQ(find_profile(job.model, job.batch_size) != nullptr, job.has_profile) << job.id;
  }
}

TEST(JrsQueue, SoloTimesAreThoseOfItsSession) {
  for (const QueueJob& job : jrs_queue()) {
    const PaperSolo* solo = find_solo("JRS-perf", job.model, job.batch_size, job.epochs);
    ASSERT_NE(solo, nullptr) << job.id;
    EXPECT_EQ(solo->solo_s, job.solo_s) << job.id;
  }
}

// Means of the knowledge base of JRS for each kind of pair, from Tables II and III.
TEST(JrsKnowledgeBase, HasTheKnownMeans) {
  using Clusters = std::pair<int, int>;
  std::map<Clusters, std::vector<double>> isd_pct;  // ISD of the first cluster's job
  std::map<Clusters, std::vector<double>> ps_pct;
  for (const PaperPair& pair : jrs_pairs()) {
    if (!pair.use || pair.session != "JRS-KB") continue;
    isd_pct[{pair.a.cluster, pair.b.cluster}].push_back(pair.a.isd_pct_printed);
    isd_pct[{pair.b.cluster, pair.a.cluster}].push_back(pair.b.isd_pct_printed);
    ps_pct[std::minmax(pair.a.cluster, pair.b.cluster)].push_back(pair.ps_pct_printed);
  }
  const std::map<Clusters, double> mean_isd_pct = {{{0, 0}, 12.8}, {{0, 1}, 5.2},  {{1, 0}, 16.3},
                                                   {{0, 2}, 23.0}, {{2, 0}, 12.7}, {{1, 1}, 7.0},
                                                   {{1, 2}, 29.3}, {{2, 1}, 11.3}, {{2, 2}, 41.7}};
  const std::map<Clusters, double> mean_ps_pct = {{{0, 0}, 28.1}, {{0, 1}, 33.8}, {{0, 2}, 35.1},
                                                  {{1, 1}, 36.1}, {{1, 2}, 26.8}, {{2, 2}, 24.4}};
  ASSERT_EQ(isd_pct.size(), mean_isd_pct.size());
  ASSERT_EQ(ps_pct.size(), mean_ps_pct.size());
  for (const auto& [clusters, expected] : mean_isd_pct) {
    EXPECT_NEAR(mean(isd_pct[clusters]), expected, 0.06) << clusters.first << clusters.second;
  }
  for (const auto& [clusters, expected] : mean_ps_pct) {
    EXPECT_NEAR(mean(ps_pct[clusters]), expected, 0.06) << clusters.first << clusters.second;
  }
}

}  // namespace
}  // namespace corun::paper_tables_test
