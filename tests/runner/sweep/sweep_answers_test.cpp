#include "runner/sweep/sweep_answers.hpp"

#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "policies/catalog.hpp"
#include "runner/sweep/sweep_output.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::sweep_answers_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Results with ISD and PS from a function of (point, policy, replication) and all other metrics 1.
using Truth = std::function<std::pair<double, double>(std::size_t, std::size_t, std::size_t)>;
SweepResults results_of(const std::string& section, const std::vector<std::string>& labels,
                        std::size_t replications, const Truth& truth) {
  SweepResults results{
      SweepPlan::parse("replications: " + std::to_string(replications) + "\n" + section, "s.yaml",
                       {}, policy_catalog()),
      true,
      {},
      {}};
  for (std::size_t q = 0; q < labels.size(); ++q) {
    SweepResults::PolicyColumn column{labels[q], labels[q] == "oracle", {}};
    column.values.resize(results.plan.points());
    for (std::size_t p = 0; p < results.plan.points(); ++p) {
      for (std::size_t r = 0; r < replications; ++r) {
        MetricValues values;
        values.fill(1);
        const auto [isd, ps] = truth(p, q, r);
        at(values, Metric::kIsd) = isd;
        at(values, Metric::kPs) = ps;
        column.values[p].push_back(values);
      }
    }
    results.policies.push_back(std::move(column));
  }
  return results;
}

double noise(std::size_t replication, std::size_t what) {
  return Rng(replication, Stream::kTest, what).normal();
}

/// All keys are choices.
constexpr const char* kGrid =
    "sweep: {scenario: [], grid: {cluster.nodes: [2, 4, 8], belief.known: [0, 1]}}\n";

/// ISD = 0.2 + 0.03 * (level of nodes) + 0.1 for policy b + common noise; `known` has no effect. b
/// and c differ by independent noise only.
std::pair<double, double> known_truth(std::size_t p, std::size_t q, std::size_t r) {
  const std::size_t level = p / 2;
  const auto nodes = static_cast<double>(level);
  const double common = 0.05 * noise(r, 0);
  const double own = 0.002 * noise(r, 1 + 10 * q + 100 * p);
  const double isd = 0.2 + 0.03 * nodes + (q > 0 ? 0.1 : 0.0) + common + own;
  return {isd, isd / 2};
}

TEST(SweepAnswers, FindWhatWasPutIn) {
  const SweepResults results = results_of(kGrid, {"a", "b", "c", "oracle"}, 20, known_truth);
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd, Metric::kPs});
  EXPECT_EQ(answers.policies, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(answers.left_out.size(), 1U);  // oracle is a bound
  EXPECT_EQ(answers.points, 6U);

  const BestAnswer& isd = answers.best.at(0);
  EXPECT_EQ(isd.best, 0U);
  EXPECT_TRUE(isd.undecided.empty());
  EXPECT_EQ(isd.best_at[0], 6U);
  EXPECT_LE(isd.means[0].lo, isd.means[0].mean);
  EXPECT_LT(isd.means[0].lo, 0.23);
  EXPECT_GT(isd.means[0].hi, 0.23);
  const BestAnswer& ps = answers.best.at(1);  // greater is better
  EXPECT_NE(ps.best, 0U);
  EXPECT_EQ(ps.undecided.size(), 1U);  // b and c are alike
  EXPECT_NE(ps.undecided.at(0), 0U);

  // Three policies at 0, 0.1, 0.1 and three levels at 0, 0.03, 0.06, crossed: variances 0.1^2 * 2/9
  // and 0.03^2 * 2/3.
  const double of_policy = 0.01 * 2 / 9;
  const double of_nodes = 0.0009 * 2 / 3;
  const auto effect = [&](const std::string& factor, const std::string& policy) {
    for (const EffectAnswer& e : answers.effects) {
      if (e.metric == Metric::kIsd && e.factor == factor && e.policy == policy) return e;
    }
    ADD_FAILURE() << factor;
    return EffectAnswer{};
  };
  EXPECT_NEAR(effect("policy", "").share, of_policy / (of_policy + of_nodes), 0.01);
  EXPECT_NEAR(effect("cluster.nodes", "").share, of_nodes / (of_policy + of_nodes), 0.01);
  EXPECT_LT(effect("belief.known", "").share, 0.001);
  const EffectAnswer nodes = effect("cluster.nodes", "a");
  EXPECT_GT(nodes.share, 0.98);
  EXPECT_EQ(nodes.levels[nodes.least].text, "2");
  EXPECT_EQ(nodes.levels[nodes.most].text, "8");
  EXPECT_NEAR(nodes.difference.mean, 0.06, 0.002);
  EXPECT_LE(nodes.difference.lo, nodes.difference.mean);
  EXPECT_GE(nodes.difference.hi, nodes.difference.mean);
  EXPECT_LT(nodes.difference.hi - nodes.difference.lo, 0.005);  // paired: common noise cancels

  for (const DifferenceAnswer& d : answers.differences) {
    const bool alike = d.better != 0 && d.worse != 0;
    if (alike) {
      EXPECT_GT(d.p_holm, 0.05);
      EXPECT_LE(d.wins + d.losses, 1U);
    } else {
      EXPECT_LT(d.p_holm, 1e-6);
      EXPECT_EQ(d.wins, 6U);
      EXPECT_EQ(d.losses, 0U);
      EXPECT_NEAR(std::abs(d.difference.mean), d.metric == Metric::kIsd ? 0.1 : 0.05, 0.002);
    }
  }
}

TEST(SweepAnswers, TheBestConfigurationIsAPointAndAPolicy) {
  // Policy a is best at the points 0 and 1 (two nodes), which differ by independent noise only.
  const SweepResults results = results_of(kGrid, {"a", "b", "c", "oracle"}, 20, known_truth);
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd, Metric::kPs});
  ASSERT_EQ(answers.rankings.size(), 2U);
  const std::vector<ConfigurationAnswer>& isd = answers.rankings[0].ranked;
  ASSERT_EQ(isd.size(), 18U);  // oracle is left out
  EXPECT_EQ(isd[0].policy, 0U);
  EXPECT_LE(isd[0].point, 1U);
  EXPECT_EQ(isd[1].policy, 0U);
  EXPECT_EQ(isd[0].point + isd[1].point, 1U);
  EXPECT_LT(isd[0].mean.lo, isd[0].mean.mean);
  EXPECT_TRUE(std::isnan(isd[0].minus_best.mean));
  EXPECT_GT(isd[1].minus_best.mean, 0);
  EXPECT_FALSE(isd[1].significant());
  for (std::size_t i = 2; i < isd.size(); ++i) {
    EXPECT_TRUE(isd[i].significant()) << i;
    EXPECT_GE(isd[i].minus_best.mean, isd[i - 1].minus_best.mean);
    EXPECT_GT(isd[i].minus_best.lo, 0);
    // Paired: the common noise, 0.05, cancels.
    EXPECT_LT(isd[i].minus_best.hi - isd[i].minus_best.lo, 0.005);
    EXPECT_GE(isd[i].p_holm, isd[i].p);
  }
  EXPECT_NEAR(isd[2].minus_best.mean, 0.03, 0.002);  // four nodes
  const ConfigurationAnswer& ps = answers.rankings[1].ranked.at(0);
  EXPECT_NE(ps.policy, 0U);
  EXPECT_GE(ps.point, 4U);  // more is better: eight nodes

  const auto json = answers_json(results, answers)["configurations"][0];
  EXPECT_EQ(json["metric"], "isd");
  EXPECT_EQ(json["not_significantly_different"], 1);
  EXPECT_EQ(json["ranked"][0]["policy"], "a");
  EXPECT_EQ(json["ranked"][0]["values"]["cluster.nodes"], "2");
  EXPECT_TRUE(json["ranked"][0]["minus_best"].is_null());
  EXPECT_EQ(json["ranked"].size(), 18U);
  const std::string csv = answers_csv(results, answers);
  EXPECT_EQ(csv.find("\nconfiguration,isd,a,\"cluster.nodes=2, belief.known="), csv.find('\n'));
  EXPECT_NE(csv.find("\nminus-best,isd,c,"), std::string::npos) << csv;
  const std::string table = answers_table(results, answers);
  const std::size_t first =
      table.find("\nbest configuration in isd %, less is better\n  rank  policy");
  EXPECT_LT(first, table.find("best at")) << table;
  EXPECT_NE(table.find("\n  not significantly different from the best: 1 of 17 others\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("--set seed=21\n"), std::string::npos) << table;
}

/// Fewer jobs, or more nodes, make everything better: no choice.
TEST(SweepAnswers, AScenarioIsNeverTheBest) {
  const std::string grid =
      "sweep: {grid: {workload.jobs: [48, 12], belief.known: [0, 1], cluster.nodes: [10, 2]}}\n";
  // ISD: 0.1 for 48 jobs, 0.05 for 2 nodes; a is better by 0.02 with 48 jobs, b by 0.01 with 12; known: -0.004.
  const SweepResults results =
      results_of(grid, {"a", "b"}, 10, [](std::size_t p, std::size_t q, std::size_t r) {
        const bool many = p < 4;
        const bool known = p / 2 % 2 == 1;
        const bool small = p % 2 == 1;
        double isd = 0.3 + (many ? 0.1 : 0) + (small ? 0.05 : 0) - (known ? 0.004 : 0);
        isd += many ? (q == 1 ? 0.02 : 0) : (q == 0 ? 0.01 : 0);
        return std::pair(isd + 0.01 * noise(r, 0) + 1e-4 * noise(r, 1 + q + 10 * p), 0.1);
      });
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd});
  // Over all scenarios: four configurations, each in four scenarios.
  const std::vector<ConfigurationAnswer>& all = answers.rankings.at(0).ranked;
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].policy, 0U);
  EXPECT_EQ(all[0].point, 2U) << "the first point with belief.known 1";
  EXPECT_NEAR(all[0].mean.mean, 0.3 + 0.05 + 0.025 - 0.004 + 0.005, 0.01);
  EXPECT_NEAR(all[1].minus_best.mean, 0.004, 0.001);
  EXPECT_EQ(all[1].policy, 0U);
  EXPECT_NEAR(all[2].minus_best.mean, 0.005, 0.001) << "b, known";
  // Numbers in order, whatever the order of the sweep: 12 and 48 jobs, 2 and 10 nodes.
  ASSERT_EQ(answers.scenarios.size(), 4U);
  const auto value = [&](std::size_t s, std::size_t key) {
    return results.plan.text(answers.scenarios[s].point, key);
  };
  for (std::size_t s = 0; s < 4; ++s) {
    EXPECT_EQ(value(s, 0), s < 2 ? "12" : "48");
    EXPECT_EQ(value(s, 2), s % 2 == 0 ? "2" : "10");
    const ConfigurationAnswer& best = answers.scenarios[s].rankings.at(0).ranked.at(0);
    EXPECT_EQ(best.policy, s < 2 ? 1U : 0U) << s;
    EXPECT_EQ(results.plan.text(best.point, 1), "1");
  }
  const std::string table = answers_table(results, answers);
  EXPECT_NE(table.find("\nscenarios: workload.jobs, cluster.nodes; choices: policy, belief.known "),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("\nbest configuration of each scenario in isd %, less is better\n"
                       "  workload.jobs  cluster.nodes  best policy  belief.known  mean"),
            std::string::npos)
      << table;
  EXPECT_NE(
      table.find("\nbest configuration in isd %, less is better, means over all 4 scenarios\n"),
      std::string::npos)
      << table;
  const auto json = answers_json(results, answers);
  EXPECT_EQ(json["scenarios"].size(), 4U);
  EXPECT_EQ(json["scenarios"][0]["values"]["workload.jobs"], "12");
  EXPECT_EQ(json["scenarios"][0]["best"][0]["policy"], "b");
  EXPECT_FALSE(json["configurations"][0]["ranked"][0]["values"].contains("cluster.nodes"));
  const std::string csv = answers_csv(results, answers);
  EXPECT_NE(csv.find("\nscenario-best,isd,b,\"workload.jobs=12, belief.known=1, cluster.nodes=2\""),
            std::string::npos)
      << csv;
}

TEST(SweepAnswers, AConfigurationThatNoScenarioSharesIsRankedInItsOwn) {
  const SweepResults results = results_of(
      "sweep: {list: [{cluster.nodes: 2, belief.known: 0}, {cluster.nodes: 4, belief.known: 1}]}\n",
      {"a", "b"}, 5, known_truth);
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd});
  EXPECT_TRUE(answers.rankings.at(0).ranked.empty());
  EXPECT_EQ(answers.scenarios.size(), 2U);
  EXPECT_NE(answers_table(results, answers).find("no configuration was run in all scenarios"),
            std::string::npos);
}

TEST(SweepPlanScenario, IsAListOfSweptKeysAndADumpKeepsIt) {
  const auto plan = [](const std::string& text) {
    return SweepPlan::parse(text, "s.yaml", {}, policy_catalog());
  };
  const std::string grid = "grid: {cluster.nodes: [2, 4], belief.known: [0, 1]}";
  EXPECT_TRUE(plan("sweep: {" + grid + "}\n").is_scenario(0));
  EXPECT_FALSE(plan("sweep: {" + grid + "}\n").is_scenario(1));
  const SweepPlan told = plan("sweep: {scenario: [belief.known], " + grid + "}\n");
  EXPECT_FALSE(told.is_scenario(0));
  EXPECT_TRUE(told.is_scenario(1));
  const SweepPlan again = plan(told.dump_yaml());
  EXPECT_EQ(again.dump_yaml(), told.dump_yaml());
  EXPECT_TRUE(again.is_scenario(1));
  EXPECT_EQ(plan("sweep: {" + grid + "}\n").dump_yaml().find("scenario"), std::string::npos);
  for (const char* wrong : {"cluster.nodes", "[seed]", "[[cluster.nodes]]", "{cluster.nodes: 1}"}) {
    try {
      plan("sweep: {" + grid + ", scenario: " + wrong + "}\n");
      ADD_FAILURE() << wrong << " was taken";
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("sweep.scenario"), std::string::npos) << e.what();
    }
  }
}

TEST(SweepAnswers, AConfigurationThatNeverSharesIsNotBestInIsd) {
  // Policy b shares at two nodes only.
  const SweepResults results = results_of(
      "sweep: {scenario: [], grid: {cluster.nodes: [2, 4]}}\n", {"a", "b"}, 5,
      [](std::size_t p, std::size_t q, std::size_t r) {
        if (q == 1 && p == 1) return std::pair(0.0, 0.0);
        return std::pair(0.2 + 0.1 * static_cast<double>(q) + 0.001 * noise(r, q + 2 * p), 0.1);
      });
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd});
  ASSERT_EQ(answers.rankings.at(0).ranked.size(), 3U);
  EXPECT_EQ(answers.rankings[0].ranked[0].policy, 0U);
}

TEST(SweepAnswers, ConfigurationsWithEqualValuesShareALine) {
  // `known` does not affect any policy.
  const SweepResults results = results_of(
      kGrid, {"a", "b"}, 5,
      [](std::size_t p, std::size_t q, std::size_t r) { return known_truth(p - p % 2, q, r); });
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd});
  const std::string table = answers_table(results, answers);
  EXPECT_NE(table.find("\n  1     a       0 (+1 equal)  2 "), std::string::npos) << table;
  EXPECT_NE(table.find("\n  3     a       2 (+1 equal)  4 "), std::string::npos) << table;
}

TEST(SweepAnswers, TheFrontIsWhatNobodyBeats) {
  // (isd, ps) by policy q: points on a known front, and one that is dominated.
  const std::vector<std::pair<double, double>> at = {
      {0.0, 0.0}, {0.1, 0.2}, {0.2, 0.3}, {0.3, 0.25}};
  const SweepResults results =
      results_of("sweep: {grid: {cluster.nodes: [2, 4]}}\n", {"none", "some", "much", "silly"}, 8,
                 [&](std::size_t p, std::size_t q, std::size_t r) {
                   const double luck = 0.001 * noise(r, q);
                   const double worse = p == 0 || q == 0 ? 0 : 0.01;
                   return std::pair(q == 0 ? 0 : at[q].first + luck + worse,
                                    q == 0 ? 0 : at[q].second - worse);
                 });
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd});
  ASSERT_EQ(answers.policy_front.size(), 3U);
  for (std::size_t q = 0; q < 3; ++q) {
    EXPECT_EQ(answers.policy_front[q].policy, q);
    EXPECT_EQ(answers.policy_front[q].point, kNoPoint);
    EXPECT_NEAR(answers.policy_front[q].stays, 1, 1e-9);
  }
  // Both points of `none` are equal; of the others the first point is better in both metrics.
  ASSERT_EQ(answers.front.size(), 4U);
  EXPECT_EQ(answers.front[1].point, 1U);
  EXPECT_EQ(answers.front[2].policy, 1U);
  EXPECT_EQ(answers.front[2].point, 0U);
  // A policy that never shares is not the best in ISD.
  EXPECT_EQ(answers.policies[answers.best.at(0).best], "some");
}

TEST(SweepAnswers, UndefinedValuesAreLeftOutForAllPolicies) {
  const SweepResults results = results_of("sweep: {grid: {cluster.nodes: [2, 4]}}\n", {"a", "b"}, 6,
                                          [](std::size_t p, std::size_t q, std::size_t r) {
                                            // Where b is undefined, a is far off: their difference
                                            // must ignore that.
                                            if (p == 1 && r < 3)
                                              return std::pair(q == 1 ? kNaN : 50.0, 0.1);
                                            return std::pair(q == 0 ? 0.1 : 0.2, 0.1);
                                          });
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd});
  EXPECT_NEAR(answers.differences.at(0).difference.mean, -0.1, 1e-12);
  EXPECT_NEAR(answers.best.at(0).means[0].mean, 0.1, 1e-12);
}

TEST(SweepAnswers, ManyValuesBecomeRanges) {
  const SweepResults results =
      results_of("sweep: {random: {points: 80, space: {belief.known: {uniform: [0, 1]}}}}\n", {"a"},
                 2, [](std::size_t p, std::size_t, std::size_t) {
                   return std::pair(static_cast<double>(p), 0.5);
                 });
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd});
  ASSERT_EQ(answers.effects.size(), 1U);
  ASSERT_EQ(answers.effects[0].levels.size(), 4U);
  for (const auto& level : answers.effects[0].levels) EXPECT_EQ(level.cells, 20U);
  EXPECT_NE(answers.effects[0].levels[0].text.find(" to "), std::string::npos);
  EXPECT_LT(answers.effects[0].levels[0].position, answers.effects[0].levels[3].position);
}

TEST(SweepAnswers, PoliciesThatSomePointsLackAreLeftOutAndNamed) {
  SweepResults results = results_of("sweep: {grid: {cluster.nodes: [2, 4]}}\n", {"a", "b"}, 3,
                                    [](auto...) { return std::pair(0.1, 0.1); });
  results.policies[1].values[0].clear();
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd});
  EXPECT_EQ(answers.policies, std::vector<std::string>{"a"});
  EXPECT_EQ(answers.left_out, std::vector<std::string>{"b (at 1 of 2 points only)"});
  results.policies[0].values[1].clear();
  EXPECT_THROW(answer_sweep(results, {Metric::kIsd}), InputError);
}

TEST(SweepAnswers, ShownAsTextJsonCsvAndPicture) {
  const SweepResults results = results_of(kGrid, {"a", "b"}, 5, known_truth);
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd, Metric::kPs});
  const std::string table = answers_table(results, answers);
  EXPECT_NE(table.find("\n2 of 2 differences between two policies are significant (*) at 5 %"),
            std::string::npos)
      << table;
  // Each metric lists its policies, the best first, then the effect of each setting.
  const std::size_t isd = table.find("\nisd %, less is better\n  policy  mean [95 %]");
  const std::size_t ps = table.find("\nps %, more is better\n  policy  mean [95 %]");
  ASSERT_NE(isd, std::string::npos) << table;
  ASSERT_NE(ps, std::string::npos) << table;
  const std::string first = table.substr(isd, ps - isd);
  EXPECT_LT(first.find("\n  a  "), first.find("\n  b  ")) << first;
  EXPECT_NE(first.find("  10.0 ~[9.9"), std::string::npos) << first;  // b - a
  EXPECT_NE(first.find("effect of each setting"), std::string::npos);
  const std::string second = table.substr(ps);
  EXPECT_LT(second.find("\n  b  "), second.find("\n  a  ")) << second;
  EXPECT_NE(second.find("  -5.01 ~[-5.0"), std::string::npos) << second;
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = table.find('\n', at);
    EXPECT_LE(std::min(end, table.size()) - at, 115U) << table.substr(at, end - at);
  }
  const auto json = answers_json(results, answers);
  EXPECT_EQ(json["best"][0]["policy"], "a");
  EXPECT_EQ(json["effects"].size(), 2 * (3 + 2 * 2));
  EXPECT_TRUE(json["differences"][0]["significant"]);
  const std::string csv = answers_csv(results, answers);
  EXPECT_EQ(csv.rfind("question,metric,a,b,value,lo,hi,share,points\n", 0), 0U);
  EXPECT_NE(csv.find("\nbest,isd,a,,"), std::string::npos) << csv;
  const std::string figure = answers_figure(results, answers);
  EXPECT_EQ(figure.rfind("<svg", 0), 0U);
  for (const char* title :
       {">isd % (less is better)<", ">ps % (more is better)<", ">isd % by cluster.nodes<",
        ">ps % by belief.known<", ">ps % against isd %, point by point<"}) {
    EXPECT_NE(figure.find(title), std::string::npos) << title;
  }
}

TEST(SweepAnswers, TimesHaveTheUnitOfTablesOfReplays) {
  SweepResults results = results_of(kGrid, {"a", "b"}, 5, known_truth);
  const auto set = [&](double a_s, double b_s) {
    for (std::size_t q = 0; q < 2; ++q) {
      for (auto& point : results.policies[q].values) {
        for (MetricValues& values : point) at(values, Metric::kJctS) = q == 0 ? a_s : b_s;
      }
    }
    return answer_sweep(results, {Metric::kJctS});
  };
  const SweepAnswers minutes = set(1200, 3000);
  const std::string table = answers_table(results, minutes);
  EXPECT_NE(table.find("\nbest configuration in jct min, less is better\n"), std::string::npos)
      << table;
  EXPECT_NE(table.find("\njct min, less is better\n"), std::string::npos) << table;
  EXPECT_NE(table.find("\n  a       20.0 "), std::string::npos) << table;
  EXPECT_NE(table.find("\n  b       50.0 "), std::string::npos) << table;
  EXPECT_NE(table.find(" 30.0"), std::string::npos) << "difference: " << table;
  EXPECT_EQ(table.find("jct_s"), std::string::npos) << table;
  const std::string figure = answers_figure(results, minutes);
  EXPECT_NE(figure.find(">jct min (less is better)<"), std::string::npos);
  EXPECT_NE(figure.find(">jct min by cluster.nodes<"), std::string::npos);
  EXPECT_EQ(answers_json(results, minutes)["best"][0]["metric"], "jct_s");
  EXPECT_EQ(answers_json(results, minutes)["best"][0]["means"]["a"]["mean"], 1200);
  EXPECT_NE(answers_csv(results, minutes).find("\nbest,jct_s,a,,1200,"), std::string::npos);
  const std::string seconds = answers_table(results, set(120, 300));
  EXPECT_NE(seconds.find("\njct_s, less is better\n"), std::string::npos) << seconds;
}

TEST(SweepAnswers, WordsAreDrawnAndWhoNeverSharesIsSaid) {
  const SweepResults results =
      results_of("sweep: {grid: {world.fallback: [contention, cluster-mean]}}\n", {"alone", "mine"},
                 4, [](std::size_t p, std::size_t q, std::size_t r) {
                   const double isd = q == 0 ? 0 : 0.1 + 0.1 * static_cast<double>(p);
                   return std::pair(isd + (q == 0 ? 0 : 0.001 * noise(r, p)), 0.2);
                 });
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd});
  const std::string figure = answers_figure(results, answers);
  EXPECT_NE(figure.find(">isd % by world.fallback<"), std::string::npos);
  EXPECT_NE(figure.find(">cluster-mean<"), std::string::npos);
  const std::string table = answers_table(results, answers);
  EXPECT_NE(table.find("never shares a GPU"), std::string::npos) << table;
  EXPECT_LT(table.find("\n  mine  "), table.find("\n  alone  ")) << table;
}

TEST(SweepAnswers, WithOneReplicationNothingIsSignificant) {
  const SweepResults results = results_of(kGrid, {"a", "b"}, 1, known_truth);
  const SweepAnswers answers = answer_sweep(results, {Metric::kIsd});
  EXPECT_TRUE(std::isnan(answers.differences.at(0).p_holm));
  EXPECT_EQ(answers.differences.at(0).wins, 0U);
  const ConfigurationAnswer& next = answers.rankings.at(0).ranked.at(1);
  EXPECT_TRUE(std::isnan(next.p_holm));
  EXPECT_FALSE(next.minus_best.known());
  const std::string table = answers_table(results, answers);
  EXPECT_NE(table.find("fewer than 3 replications: no interval, no significance"),
            std::string::npos)
      << table;
}

TEST(Holm, IsTheTextbookExample) {
  // Ordered 0.005, 0.01, 0.03, 0.04: times 4, 3, 2, 1, and never less than the one before.
  const std::vector<double> adjusted = holm({0.01, 0.04, 0.03, 0.005, kNaN});
  EXPECT_NEAR(adjusted[3], 0.02, 1e-15);
  EXPECT_NEAR(adjusted[0], 0.03, 1e-15);
  EXPECT_NEAR(adjusted[2], 0.06, 1e-15);
  EXPECT_NEAR(adjusted[1], 0.06, 1e-15);
  EXPECT_TRUE(std::isnan(adjusted[4]));
  EXPECT_EQ(holm({0.9, 0.8})[1], 1);
}

TEST(ParetoFront, KeepsEqualsAndDropsTheBeaten) {
  const std::vector<double> cost = {1, 1, 2, 2, 3, kNaN, 3};
  const std::vector<double> gain = {5, 5, 5, 6, 6, 9, 7};
  EXPECT_EQ(pareto_front(cost, gain), (std::vector<std::size_t>{0, 1, 3, 6}));
}

}  // namespace
}  // namespace corun::sweep_answers_test
