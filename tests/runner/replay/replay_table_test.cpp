#include "runner/replay/replay_table.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/replay/replay.hpp"
#include "runner/replay/replay_columns.hpp"
#include "runner/replay/replay_output.hpp"
#include "sim/error.hpp"
#include "support/time_unit.hpp"
#include "tests/helpers/temporary_directory.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::replay_table_test {
namespace {

/// A replay of the default queue and what is printed of it.
class Replayed {
 public:
  explicit Replayed(const std::vector<std::string>& settings,
                    const std::optional<std::string>& baseline = {},
                    const std::optional<std::string>& metrics = {})
      : experiment(default_config_with(parse_overrides(settings), policy_catalog()), ""),
        view(replay_view(experiment, baseline, metrics)),
        result(replay(experiment, {.threads = 2})) {}

  std::string table() const {
    std::ostringstream out;
    print_table(out, experiment, result, view);
    return out.str();
  }
  std::string csv() const {
    std::ostringstream out;
    print_csv(out, experiment, result, view);
    return out.str();
  }

  Experiment experiment;
  ReplayView view;
  ReplayResult result;
};

/// The first line of the text that begins with `begin`, without it; fails if there is none.
std::string line(const std::string& text, const std::string& begin) {
  std::istringstream lines(text);
  for (std::string l; std::getline(lines, l);) {
    if (l.starts_with(begin)) return l.substr(begin.size());
  }
  ADD_FAILURE() << "no line begins with '" << begin << "':\n" << text;
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The texts between two blanks or more.
std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < row.size();) {
    const std::size_t end = std::min(row.find("  ", at), row.size());
    if (end > at) all.push_back(row.substr(at, end - at));
    at = row.find_first_not_of(' ', end);
  }
  return all;
}

TEST(TimeUnits, SecondsThenMinutesThenHoursThenDays) {
  const std::vector<std::pair<double, std::string>> cases{
      {0, "s"},       {999, "s"},        {1000, "min"},  {17'999, "min"},    {18'000, "h"},
      {345'599, "h"}, {345'600, "days"}, {1e12, "days"}, {std::nan(""), "s"}};
  for (const auto& [seconds, name] : cases) EXPECT_EQ(time_unit(seconds).name, name) << seconds;
  EXPECT_EQ(time_unit(1e6).seconds, 86'400);
}

/// A result whose policies have these means of a metric, each with an interval of +- 10 %.
ReplayResult with_means(Metric metric, const std::vector<double>& means) {
  ReplayResult result;
  const auto interval = [](double x) { return Interval{x, 0.9 * x, 1.1 * x}; };
  for (const double mean : means) {
    MetricIntervals metrics{};
    metrics[static_cast<std::size_t>(metric)] = interval(mean);
    result.comparison.policies.push_back(metrics);
    auto& row = result.comparison.versus.emplace_back();
    for (const double other : means) {
      MetricIntervals differences{};
      differences[static_cast<std::size_t>(metric)] = interval(mean - other);
      row.push_back(differences);
    }
  }
  return result;
}

TEST(ReplayColumns, OneUnitAndDigitsPerColumn) {
  struct Case {
    Metric metric;
    std::vector<double> means;
    std::string head;
    std::vector<std::string> cells;
  };
  const std::vector<Case> cases{
      {Metric::kMakespanS, {459, 733}, "m s", {"459", "733"}},
      {Metric::kMakespanS, {900, 1200}, "m min", {"15.0", "20.0"}},
      {Metric::kMakespanS, {60, 36'000}, "m h", {"0.02", "10.00"}},
      {Metric::kMakespanS, {864'000, 950'400}, "m days", {"10.0", "11.0"}},
      {Metric::kMakespanS, {0, 5.25}, "m s", {"0.00", "5.25"}},
      {Metric::kIsd, {0.125, -0.0001}, "m %", {"12.5", "0.0"}},
      {Metric::kOom, {0, 3}, "m", {"0", "3"}},
      {Metric::kStretch, {1.25, 12.5}, "m", {"1.25", "12.50"}},
      {Metric::kMakespanS, {kNaN, kNaN}, "m s", {"-", "-"}},
  };
  for (const Case& c : cases) {
    const ReplayResult result = with_means(c.metric, c.means);
    const ReplayColumn column = mean_column(result, {}, c.metric, "m", false);
    EXPECT_EQ(column.head, c.head);
    EXPECT_EQ(column.cells, c.cells) << c.head;
  }
}

TEST(ReplayColumns, QuantilesAndDelaysHaveTheUnitOfTheMeanJct) {
  ReplayResult result = with_means(Metric::kJctS, {10'800});
  result.comparison.policies[0][static_cast<std::size_t>(Metric::kJctP99S)].mean = 720'000;
  result.comparison.policies[0][static_cast<std::size_t>(Metric::kQueueS)].mean = 30;
  result.comparison.policies[0][static_cast<std::size_t>(Metric::kMakespanS)].mean = 864'000;
  const auto shown = [&](Metric metric) {
    const ReplayColumn column = mean_column(result, {}, metric, "m", false);
    return column.head + " " + column.cells.front();
  };
  EXPECT_EQ(shown(Metric::kJctS), "m min 180");
  EXPECT_EQ(shown(Metric::kJctP99S), "m min 12000");
  EXPECT_EQ(shown(Metric::kQueueS), "m min 0.500");
  EXPECT_EQ(shown(Metric::kMakespanS), "m days 10.0");
}

TEST(ReplayTable, TimesComeFirstThenSharing) {
  const Replayed run({"replications=4", "policies=[max-packing, random, oracle]"});
  const std::string table = run.table();
  const std::vector<std::string> times{"JCT s", "vs. random",       "p50 s",        "p95 s",
                                       "p99 s", "queueing delay s", "makespan min", "GPU util %"};
  EXPECT_EQ(cells(line(table, "policy")), times);
  const std::string rest = table.substr(table.find("\npolicy ") + 2);
  const std::vector<std::string> sharing{"ISD %", "vs. random", "PS %", "vs. random", "measured %"};
  EXPECT_EQ(cells(line(rest, "policy")), sharing);
  EXPECT_FALSE(has(table, "published"));
  EXPECT_TRUE(has(table, "; vs. random: paired difference\n"));
  EXPECT_TRUE(has(table, "\nleast JCT (without oracle): "));
  EXPECT_LT(table.find("\nleast JCT"), table.find("\nleast slowdown"));
  std::istringstream lines(table.substr(table.find("\npolicy ")));
  for (std::string l; std::getline(lines, l) && !l.starts_with("least");) {
    EXPECT_LE(l.size(), 130U) << l;
  }
}

TEST(ReplayTable, WhatWasPublishedIsAColumnOfWhoeverGivesIt) {
  const std::string table =
      Replayed({"replications=1", "policies=[{name: fcfs, published: 12 (IV)}, random]"}).table();
  const std::string rest = table.substr(table.rfind("\npolicy "));
  EXPECT_EQ(cells(line(rest, "policy")).back(), "published");
  EXPECT_EQ(cells(line(rest, "fcfs")).back(), "12 (IV)");
}

TEST(ReplayTable, ThePapersExperimentsGiveItsMeans) {
  int checked = 0;
  for (const char* file : {"main", "table-iv", "table-v", "table-vi", "table-vii"}) {
    const Config config = read_config(
        fmt::format("{}/experiments/jrs/{}.yaml", CORUN_SOURCE_DIR, file), {}, policy_catalog());
    for (const PolicyConfig& policy : config.policies) {
      if (!policy.published) continue;
      const std::string& text = *policy.published;
      const std::string table =
          text.substr(text.find('(') + 1, text.find(')') - text.find('(') - 1);
      const PaperReported means = paper_reported("JRS-" + table);
      EXPECT_EQ(text, fmt::format("{:.1f} / {:.1f} ({})", means.isd_with_bin_pct,
                                  means.ps_with_bin_pct, table));
      EXPECT_EQ(policy.name, paper_schedule("JRS-" + table).policy);
      ++checked;
    }
  }
  EXPECT_EQ(checked, 8);
}

TEST(ReplayTable, ExclusiveMayHaveTheLeastJct) {
  const Replayed run({"replications=3", "policies=[fcfs, exclusive]", "cluster.nodes=30"});
  EXPECT_TRUE(line(run.table(), "least JCT: ").starts_with("exclusive"));
  EXPECT_EQ(line(run.table(), "least slowdown (without exclusive): "), "fcfs");
}

TEST(ReplayTable, WithoutSharingThereIsOneTable) {
  const Replayed run({"replications=3", "policies=[fifo, exclusive]"});
  const std::string table = run.table();
  EXPECT_EQ(table.find("\npolicy "), table.rfind("\npolicy "));
  EXPECT_FALSE(has(table, "ISD"));
  EXPECT_TRUE(has(table, "\nno job shared a GPU: there is no slowdown and no packing saving\n"));
  EXPECT_EQ(cells(line(table, "policy")).back(), "GPU util %");
  EXPECT_TRUE(has(table, "; vs. fifo: paired difference\n"));
}

TEST(ReplayTable, ClockTicksKeepTheSlowdownInTheTable) {
  const Replayed run({"replications=1", "policies=[fifo, exclusive]",
                      "control={tick_s: 7, tick_rule: progress, start: join}"});
  EXPECT_TRUE(has(run.table(), "  ISD %"));
  EXPECT_FALSE(has(run.table(), "measured %"));
  EXPECT_TRUE(has(run.table(), "no job shared under fifo, exclusive: the ISD there is"));
}

TEST(ReplayTable, APolicyThatGaveUpJobsIsMarkedAndNotNamedBestWithoutThat) {
  const test::TemporaryDirectory folder;
  const std::string jobs = folder.write(
      "jobs.csv", "job,submit_s,solo_s,mem_used_mib\na,0,600,9000\nb,0,600,9000\nc,0,700,9000\n");
  const Replayed run({"replications=3", "policies=[fcfs, exclusive]", "workload.source=csv",
                      "workload.path=" + jobs, "cluster.nodes=1", "cluster.oom.retries=0"});
  const std::string table = run.table();
  EXPECT_GT(interval_of(run.result.comparison.policies[0], Metric::kFailed).mean, 0);
  EXPECT_NE(table.find("\nfcfs ^"), std::string::npos) << table;
  EXPECT_NE(line(table, "^ up to ").find("were given up"), std::string::npos);
  const std::string best = line(table, "least JCT: ");
  EXPECT_EQ(best.starts_with("fcfs"), best.starts_with("fcfs ^ (gave up ")) << best;
}

TEST(ReplayTable, PoliciesThatAreEqualInEveryDigitAreNamedWithTheReason) {
  const std::string waiting =
      Replayed({"replications=3", "policies=[exclusive, fifo, sjf]", "cluster.nodes=4"}).table();
  EXPECT_EQ(line(waiting, "equal in every digit: "),
            "exclusive, fifo: they made the same decisions in all replications");
  const std::string idle =
      Replayed({"replications=3", "policies=[fifo, sjf]", "cluster.nodes=64"}).table();
  EXPECT_EQ(line(idle, "equal in every digit: "),
            "fifo, sjf: no job waited, so that no decision differed");
  const std::string none = Replayed({"replications=3", "policies=[fcfs, exclusive]"}).table();
  EXPECT_EQ(none.find("equal in every digit"), std::string::npos) << none;
}

TEST(ReplayTable, OnePolicyHasNoDifferences) {
  const Replayed run({"replications=3", "policies=[random]"});
  EXPECT_FALSE(has(run.table(), "vs."));
  EXPECT_FALSE(has(run.table(), "least"));
  EXPECT_EQ(run.view.baseline, std::nullopt);
}

TEST(ReplayTable, MetricsAreColumnsInTheGivenOrder) {
  const Replayed run({"replications=3", "policies=[fcfs, exclusive]"}, {}, "makespan_s,isd,jobs");
  const std::string table = run.table();
  const std::vector<std::string> head{"makespan min", "vs. fcfs", "ISD %",
                                      "vs. fcfs",     "jobs",     "vs. fcfs"};
  EXPECT_EQ(cells(line(table, "policy")), head);
  EXPECT_TRUE(has(table, "\nleast makespan: fcfs"));
  EXPECT_TRUE(has(table, "\nleast ISD (without exclusive): fcfs"));
  EXPECT_FALSE(has(table, "most jobs"));  // neither direction is better
  EXPECT_TRUE(has(table, "\njobs: jobs that finished\n"));
  EXPECT_TRUE(has(table, "\nmakespan: last finish or failure - first submit; less is better\n"));
}

TEST(ReplayBaseline, LabelNameDefaultAndRefusals) {
  const std::vector<std::string> settings{
      "policies=[fcfs, {name: balance}, {name: balance, epsilon: 0.5}, random]"};
  const Experiment e(default_config_with(parse_overrides(settings), policy_catalog()), "");
  const auto at = [&](const std::optional<std::string>& text) {
    return replay_view(e, text, {}).baseline.value();
  };
  EXPECT_EQ(at({}), 3U);
  EXPECT_EQ(at("fcfs"), 0U);
  EXPECT_EQ(at("balance#2"), 2U);
  const auto refusal = [&](const std::string& text) {
    try {
      at(text);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  EXPECT_EQ(refusal("balance"),
            "--baseline: 'balance' names 2 policies; give a label: balance#1, balance#2");
  EXPECT_TRUE(refusal("fcsf").starts_with(
      "--baseline: no policy 'fcsf' in this run: did you mean 'fcfs'? known: fcfs, balance#1"));
}

TEST(ReplayCsv, OneRowPerPolicyAndMetric) {
  const Replayed run({"replications=3", "policies=[fcfs, exclusive]"}, "exclusive", "jct_s,isd");
  const std::string csv = run.csv();
  EXPECT_TRUE(csv.starts_with("policy,metric,mean,mean_lo,mean_hi,versus,diff,lo,hi\nfcfs,jct_s,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 5);
  EXPECT_EQ(line(csv, "exclusive,isd,"), "0,0,0,,,,");
  const std::string row = line(csv, "fcfs,isd,");
  EXPECT_TRUE(has(row, ",exclusive,"));
  // exclusive has ISD 0, so the difference is the mean itself.
  const std::size_t versus = row.find(",exclusive,");
  EXPECT_EQ(row.substr(0, versus), row.substr(versus + 11));
  const Replayed all({"replications=1", "policies=[fcfs]"});
  const std::string rows = all.csv();
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(rows, '\n')), 1 + kMetricCount);
  EXPECT_TRUE(line(rows, "fcfs,jobs,").ends_with("24,,,,,,"));
}

}  // namespace
}  // namespace corun::replay_table_test
