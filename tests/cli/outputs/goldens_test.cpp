#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/interference/contention.hpp"
#include "models/interference/interference_world.hpp"
#include "models/interference/measured_speeds.hpp"
#include "policies/catalog.hpp"
#include "sim/engine/control_loop.hpp"
#include "sim/engine/simulated_backend.hpp"
#include "sim/records/metrics.hpp"
#include "tests/helpers/program.hpp"
#include "traces/measured/paper_tables.hpp"
#include "traces/paper_workloads.hpp"

// The papers' tables as goldens: the recommender must reproduce them from the knowledge base alone,
// the simulation from each measured row alone.
namespace corun::goldens_test {
namespace {

using Groups = std::set<std::set<std::string>>;

Groups printed_schedule(std::string_view table) {
  Groups groups;
  for (const PaperScheduleGroup& g : paper_schedule(table).groups) {
    groups.insert({g.jobs.begin(), g.jobs.end()});
  }
  return groups;
}

Groups recommended(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "recommend");
  arguments.insert(arguments.end(), {"--format", "json", "--quiet"});
  const test::Outcome outcome = test::run_corun(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  Groups groups;
  const auto json = nlohmann::json::parse(outcome.out);
  for (const auto& g : json["groups"]) {
    groups.insert(g["jobs"].get<std::set<std::string>>());
  }
  return groups;
}

TEST(Goldens, MinSlowdownFromTheJrsKnowledgeBaseIsTableIV) {
  const Groups groups = recommended({"--queue", "jrs-queue", "--kb", "jrs", "--objective",
                                     "min-slowdown", "--pairing", "matching", "--epsilon", "0"});
  EXPECT_EQ(groups.size(), 12U);
  EXPECT_EQ(groups, printed_schedule("JRS-IV"));
}

TEST(Goldens, BalanceFromPrirectsKnowledgeBaseIsTableVII) {
  const Groups groups = recommended({"--queue", "jrs-queue", "--kb", "prirect", "--objective",
                                     "balance", "--pairing", "greedy-rank", "--epsilon", "0"});
  EXPECT_EQ(groups.size(), 12U);
  EXPECT_EQ(groups, printed_schedule("JRS-VII"));
}

// The order of cluster pairs in Tables V and VI after their bins; no criterion on means gives it.
constexpr const char* kPackingOrder = "1-1,1-2,2-2,0-0,0-2";

TEST(Goldens, MaxPackingFillsTableVsBinAndItsPairs) {
  const Groups groups = recommended({"--objective", "max-packing", "--by", "utilisation",
                                     "--pairing", "given", "--order", kPackingOrder});
  EXPECT_TRUE(groups.contains({"J15-716", "J15-562", "J15-32", "J12-256", "J11-256"}));
  EXPECT_EQ(groups, printed_schedule("JRS-V"));
}

TEST(Goldens, MaxPackingAfterTableVIsBinGivesItsPairs) {
  const Groups groups =
      recommended({"--objective", "max-packing", "--by", "memory", "--pairing", "given", "--order",
                   kPackingOrder, "--bin",
                   "J15-562,J15-32,J15-716,J9-256,J10-256,J7-109,J7-180,J7-205,J8-256"});
  EXPECT_EQ(groups, printed_schedule("JRS-VI"));
}

TEST(Goldens, AnotherKnowledgeBaseGivesAnotherSchedule) {
  // Checks that the goldens above can fail: Table VII does not follow from the JRS knowledge base.
  EXPECT_NE(recommended({"--kb", "jrs", "--objective", "balance", "--pairing", "greedy-rank"}),
            printed_schedule("JRS-VII"));
}

/// Replays jobs that start together on one GPU in the world of this measurement alone.
RunRecord replay_alone(const Trace& trace, const CorunMeasurement& row) {
  std::vector<WorldJob> jobs;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    jobs.push_back({trace.jobs[j].key, trace.jobs[j].spec.profile});
  }
  WorkloadKeys fit_keys;
  const InterferenceWorld world(std::make_shared<MeasuredTable>(std::span(&row, 1)),
                                std::make_shared<ContentionModel>(ContentionModel::fit(speed_table(
                                    paper_measurements(fit_keys), ImputedProfiles::kBelieved))),
                                jobs, false);
  ClusterSpec cluster;
  cluster.nodes.resize(1);
  class Together final : public Policy {
   public:
    void decide(const ClusterView& view, std::vector<Decision>& out) override {
      out.push_back(StartGroup{{view.waiting().begin(), view.waiting().end()}, {GpuId{0}}});
    }
  } policy;
  std::vector<JobView> job_views;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    JobView job_view;
    job_view.id = JobId{static_cast<std::uint32_t>(j)};
    job_view.profile = jobs[j].profile;
    job_views.push_back(job_view);
  }
  const std::vector<JobId> arrivals = by_submit_time(trace);
  SimulatedBackend backend(cluster, workload_of(trace, arrivals), world, {});  // no noise
  ControlLoop(backend, {policy, "together"}, job_views, {}).run();
  return backend.take_record();
}

CorunMeasurement measurement_of(const Trace& trace, std::span<const PaperSide* const> sides) {
  CorunMeasurement m;
  m.source = "row";
  for (std::size_t j = 0; j < sides.size(); ++j) {
    m.members.push_back({trace.jobs[j].key, trace.jobs[j].spec.profile, sides[j]->solo_s,
                         sides[j]->corun_s, sides[j]->cluster});
  }
  return m;
}

void expect_row(const Trace& trace, std::span<const PaperSide* const> sides, double ps_pct,
                const std::string& what) {
  const RunRecord record = replay_alone(trace, measurement_of(trace, sides));
  for (std::size_t j = 0; j < sides.size(); ++j) {
    EXPECT_NEAR(to_seconds(record.jobs[j].corun()), sides[j]->corun_s, 0.005) << what;
  }
  ASSERT_EQ(record.episodes.size(), 1U) << what;
  EXPECT_NEAR(*record.episodes[0].ps() * 100, ps_pct, 0.005 + 1e-9) << what;
}

TEST(Goldens, EveryMeasuredPairReplayedAloneGivesBackItsTimesAndSaving) {
  std::size_t rows = 0;
  for (const auto pairs : {jrs_pairs(), prirect_pairs()}) {
    for (const PaperPair& pair : pairs) {
      if (!pair.use) continue;
      WorkloadKeys keys;
      const Trace trace = paper_row_trace(keys, pair);
      const std::array sides{&pair.a, &pair.b};
      const std::string what = std::string(pair.table) + " row " + std::to_string(pair.row);
      // ps_pct is recomputed from the times; the table prints it truncated to one digit, which
      // paper_tables_test checks.
      expect_row(trace, sides, pair.ps_pct, what);
      ++rows;
    }
  }
  EXPECT_EQ(rows, 116U);
}

TEST(Goldens, BothMeasuredBinsReplayedAloneGiveBackTheirTimes) {
  for (const PaperGroup& group : jrs_groups()) {
    WorkloadKeys keys;
    const Trace trace = paper_row_trace(keys, group);
    std::vector<const PaperSide*> sides;
    double solo = 0;
    double longest = 0;
    for (const PaperSide& s : group.members) {
      sides.push_back(&s);
      solo += s.solo_s;
      longest = std::max(longest, s.corun_s);
    }
    const CorunMeasurement row = measurement_of(trace, sides);
    const std::array world_rows{row};
    std::vector<WorldJob> jobs;
    for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
      jobs.push_back({trace.jobs[j].key, trace.jobs[j].spec.profile});
    }
    WorkloadKeys fit_keys;
    const auto fit_rows = paper_measurements(fit_keys);
    const InterferenceWorld world(std::make_shared<MeasuredTable>(world_rows),
                                  std::make_shared<ContentionModel>(ContentionModel::fit(
                                      speed_table(fit_rows, ImputedProfiles::kBelieved))),
                                  jobs, false);
    ClusterSpec cluster;
    cluster.nodes.resize(1);
    const std::vector<JobId> arrivals = by_submit_time(trace);
    SimulatedBackend backend(cluster, workload_of(trace, arrivals), world, {});
    std::vector<Report> reports;
    backend.advance(reports);
    std::vector<JobId> all;
    for (const Report& r : reports) all.push_back(r.job);
    const GpuId gpu{0};
    backend.start_group(all, std::span(&gpu, 1));
    while (backend.advance(reports)) {
    }
    const RunRecord record = backend.take_record();
    for (std::size_t j = 0; j < sides.size(); ++j) {
      EXPECT_NEAR(to_seconds(record.jobs[j].corun()), sides[j]->corun_s, 0.005) << group.name;
    }
    ASSERT_EQ(record.episodes.size(), 1U);
    EXPECT_NEAR(*record.episodes[0].ps(), (solo - longest) / solo, 1e-6);
    // The printed savings of the bins use solo times in whole seconds.
    EXPECT_NEAR(*record.episodes[0].ps() * 100, group.ps_pct_printed, 0.15);
  }
}

}  // namespace
}  // namespace corun::goldens_test
