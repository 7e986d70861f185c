#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "tests/report/report_fixture.hpp"

// The data of a report beside what the program prints of the same run.
namespace corun::report_test {
namespace {

const std::vector<std::string> kQueue{"replay", "--policies", "fcfs,balance,exclusive",
                                      "--replications", "4"};

Json printed(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--quiet", "--format", "json"});
  const test::Outcome outcome = test::run_corun(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return Json::parse(outcome.out);
}

void expect_near(const Json& shown, const Json& exact, const std::string& what) {
  if (exact.is_null()) {
    EXPECT_TRUE(shown.is_null()) << what;
    return;
  }
  ASSERT_TRUE(shown.is_number()) << what << ": " << shown;
  EXPECT_NEAR(shown.get<double>(), exact.get<double>(), 1e-5 * std::abs(exact.get<double>()))
      << what;
}

class ReportOfAQueue : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    results_ = new Results(kQueue);
    data_ = new Json(report_json(results_->path()));
  }
  static void TearDownTestSuite() {
    delete data_;
    delete results_;
  }
  static const Json& data() { return *data_; }
  static const Results& results() { return *results_; }

  static std::size_t metric(const std::string& name) {
    const Json& metrics = data()["metrics"];
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      if (metrics[m]["name"] == name) return m;
    }
    ADD_FAILURE() << "no metric " << name;
    return 0;
  }

 private:
  static inline Results* results_ = nullptr;
  static inline Json* data_ = nullptr;
};

TEST_F(ReportOfAQueue, HasTheIntervalsAndPairedDifferencesThatReplayPrints) {
  const Json json = printed(kQueue);
  ASSERT_EQ(data()["policies"].size(), 3U);
  for (std::size_t p = 0; p < 3; ++p) {
    const Json& policy = json["policies"][p];
    EXPECT_EQ(data()["policies"][p]["label"], policy["label"]);
    for (const std::string name : {"isd", "ps", "jct_s", "queue_s", "makespan_s", "jain"}) {
      const Json& shown = data()["summary"][p][metric(name)];
      expect_near(shown[0], policy["metrics"][name]["mean"], name);
      expect_near(shown[1], policy["metrics"][name]["lo"], name);
      expect_near(shown[2], policy["metrics"][name]["hi"], name);
      for (std::size_t q = 0; q < 3; ++q) {
        if (q == p) continue;
        const std::string other = json["policies"][q]["label"];
        const Json& difference = data()["versus"][p][q][metric(name)];
        expect_near(difference[0], policy["versus"][other][name]["mean"], name + " - " + other);
        expect_near(difference[1], policy["versus"][other][name]["lo"], name + " - " + other);
      }
    }
  }
  for (const std::string part : {"measured", "modelled", "extrapolated"}) {
    expect_near(data()["coverage"][part], json["coverage"][part], part);
  }
}

TEST_F(ReportOfAQueue, SaysWhereItComesFrom) {
  EXPECT_EQ(data()["kind"], "replay");
  EXPECT_EQ(data()["source"]["file"], "results.h5");
  EXPECT_EQ(data()["source"]["workload"], "jrs-queue");
  EXPECT_EQ(data()["source"]["sha256"].get<std::string>().size(), 64U);
  EXPECT_EQ(data()["source"]["replications"], 4);
  EXPECT_EQ(data()["source"]["complete"], true);
  EXPECT_NE(data()["source"]["config"].get<std::string>().find("policies:"), std::string::npos);
  EXPECT_FALSE(data()["warnings"].empty()) << "the queue's jobs have no memory demand";
  EXPECT_EQ(data()["source"]["real_runs"], "held against a real run: none (docs/validity.md)");
}

TEST_F(ReportOfAQueue, ExplainsEachPolicyByTheCatalogue) {
  for (const Json& policy : data()["policies"]) {
    const PolicyEntry* entry = find_policy(policy["name"].get<std::string>());
    ASSERT_NE(entry, nullptr) << policy["name"];
    EXPECT_EQ(policy["description"], std::string(entry->description));
  }
}

TEST_F(ReportOfAQueue, CurvesRiseToAllJobs) {
  for (const char* column : {"jct_s", "queue_s", "isd"}) {
    for (const Json& curve : data()["curves"][column]) {
      EXPECT_EQ(curve["n"], 4 * 24);
      ASSERT_EQ(curve["x"].size(), curve["y"].size());
      const auto x = curve["x"].get<std::vector<double>>();
      const auto y = curve["y"].get<std::vector<double>>();
      EXPECT_TRUE(std::is_sorted(x.begin(), x.end())) << column;
      EXPECT_TRUE(std::is_sorted(y.begin(), y.end())) << column;
      EXPECT_EQ(y.back(), 1.0) << column;
    }
  }
}

TEST_F(ReportOfAQueue, TimelineHasEachJobOnceAndLanesDoNotOverlap) {
  const Json& timeline = data()["timeline"];
  EXPECT_EQ(timeline["names"].size(), 24U);
  const double t0 = timeline["span"][0];
  const double t1 = timeline["span"][1];
  for (std::size_t p = 0; p < 3; ++p) {
    const Json& bars = timeline["policies"][p];
    ASSERT_EQ(bars["mode"], "bars");
    const auto start = numbers_of<std::uint32_t>(bars["start"]);
    const auto end = numbers_of<std::uint32_t>(bars["end"]);
    auto job = numbers_of<std::uint32_t>(bars["job"]);
    const auto first = bars["lane_first"].get<std::vector<std::size_t>>();
    ASSERT_EQ(first.back(), start.size());
    for (std::size_t lane = 0; lane + 1 < first.size(); ++lane) {
      for (std::size_t i = first[lane]; i < first[lane + 1]; ++i) {
        EXPECT_LT(start[i], end[i]);
        if (i == first[lane]) continue;
        EXPECT_GE(start[i], end[i - 1]) << "lane " << lane;
      }
    }
    // No job of this queue runs twice.
    std::sort(job.begin(), job.end());
    std::vector<std::uint32_t> each(24);
    for (std::uint32_t j = 0; j < 24; ++j) each[j] = j;
    EXPECT_EQ(job, each);
    // Alone, a bar is as long as the job's work on the GPU: their sum is the busy time.
    if (data()["policies"][p]["label"] != "exclusive") continue;
    double sum = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
      sum += (static_cast<double>(end[i]) - start[i]) / 4294967296.0 * (t1 - t0);
    }
    double busy = 0;
    const Json& over_time = data()["over_time"][p];
    double from = over_time["start"];
    for (std::size_t i = 0; i < over_time["end"].size(); ++i) {
      const double to = over_time["end"][i];
      busy += (to - from) * over_time["busy"][i].get<double>();
      from = to;
    }
    EXPECT_NEAR(sum, busy, 1e-3 * busy);
  }
}

TEST_F(ReportOfAQueue, KnowsWhoSharedWithWhomAndWhatWasBelieved) {
  EXPECT_EQ(data()["policies"][0]["shares"], true);
  EXPECT_EQ(data()["policies"][2]["shares"], false) << "exclusive";
  const Json& sharing = data()["sharing"];
  EXPECT_GT(sharing["clusters"], 1);
  EXPECT_EQ(sharing["left_out"], 0);
  EXPECT_EQ(sharing["replications"], 4);
  EXPECT_EQ(sharing["groups"]["by"], "job");
  ASSERT_EQ(sharing["sets"].size(), 4U) << "all together, then each policy";
  const Json& balance = sharing["sets"][2];
  EXPECT_EQ(balance["policy"], 1);
  EXPECT_GT(balance["isd"]["n"], 0) << "balance has a belief";
  EXPECT_EQ(sharing["sets"][1]["isd"]["n"], 0) << "fcfs has none";
  EXPECT_TRUE(sharing["sets"][3]["pairs"].empty()) << "exclusive shares nothing";
  // Of all is the sum; a beside b as long as b beside a.
  std::map<std::pair<int, int>, Json> all;
  for (const Json& pair : sharing["sets"][0]["pairs"]) all[{pair[0], pair[1]}] = pair;
  std::map<std::pair<int, int>, int> co_runs;
  for (std::size_t s = 1; s < 4; ++s) {
    for (const Json& pair : sharing["sets"][s]["pairs"]) {
      co_runs[{pair[0], pair[1]}] += pair[2].get<int>();
    }
  }
  EXPECT_EQ(co_runs.size(), all.size());
  for (const auto& [who, pair] : all) {
    EXPECT_EQ(pair[2], co_runs[who]);
    EXPECT_EQ(pair[3], (all[{who.second, who.first}][3]));
  }
  for (const char* boxes : {"isd_boxes", "ps_boxes"}) {
    ASSERT_FALSE(balance[boxes].empty()) << boxes;
    for (const Json& box : balance[boxes]) {
      const std::vector<double> five{box[3], box[4], box[5], box[6], box[7]};
      EXPECT_TRUE(std::is_sorted(five.begin(), five.end())) << box;
    }
  }
}

TEST_F(ReportOfAQueue, IsSummedUpWithinItsLimitsAndSaysSo) {
  const Json cut = report_json(
      results().path(), {.timeline_bytes = 500, .name_bytes = 10, .points = 5, .curve_points = 10});
  for (const Json& policy : cut["timeline"]["policies"]) {
    EXPECT_EQ(policy["mode"], "density");
    const auto busy = numbers_of<std::uint8_t>(policy["busy"]);
    EXPECT_EQ(busy.size(), policy["rows"].size() * policy["bins"].get<std::size_t>());
    EXPECT_EQ(*std::max_element(busy.begin(), busy.end()), 255) << "a GPU is busy for a while";
  }
  EXPECT_TRUE(cut["timeline"]["names"].is_null());
  EXPECT_LE(cut["curves"]["isd"][0]["x"].size(), 12U);
  EXPECT_EQ(cut["curves"]["isd"][0]["x"].back(), data()["curves"]["isd"][0]["x"].back());
  EXPECT_EQ(cut["sharing"]["sets"][2]["isd"]["truth"].size(), 5U);
  EXPECT_EQ(cut["sharing"]["sets"][2]["isd"]["bias"], data()["sharing"]["sets"][2]["isd"]["bias"])
      << "the figure is of all";
  const std::string said = cut["reductions"].dump();
  for (const char* part : {"shades", "distribution", "points"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " in " << said;
  }
  EXPECT_EQ(data()["reductions"].size(), 0U) << data()["reductions"];
}

TEST(ReportData, HasServicesWhereTheRunHasThem) {
  const std::string examples = CORUN_SOURCE_DIR "/examples/";
  const std::vector<std::string> arguments{
      "replay",         examples + "jobs.csv",
      "--replications", "3",
      "--policies",     "fcfs,kube-default",
      "--set",          "workload.services=" + examples + "services.csv",
      "--set",          "cluster.nodes=3"};
  const Results results(arguments);
  const Json data = report_json(results.path());
  const Json& services = data["services"];
  EXPECT_EQ(services["names"], Json({"shop", "cameras"}));
  EXPECT_EQ(services["goal_s"], Json({0.025, 0.06}));
  EXPECT_EQ(services["goal_share"], Json({0.99, 0.95}));
  const Json run = printed(arguments);
  bool shared = false;
  for (std::size_t p = 0; p < 2; ++p) {
    for (std::size_t s = 0; s < 3; ++s) {  // both, and all together
      const Json& within = run["policies"][p]["services"][s]["within_goal"];
      const Json& shown = services["within"][p][s];
      expect_near(shown[0], within["mean"], "mean");
      expect_near(shown[1], within["lo"], "lo");
      expect_near(shown[2], within["hi"], "hi");
    }
    const Json& shop = services["over_time"][p][0];
    ASSERT_EQ(shop["end"].size(), 120U) << "minutes";
    double most = 0;
    double mean = 0;
    for (std::size_t i = 0; i < 120; ++i) {
      most = std::max(most, shop["sharing"][i].get<double>());
      mean += shop["load"][i].get<double>() / 120;
    }
    EXPECT_NEAR(mean, 150 * (1 - 0.5 * 0.955), 0.6)
        << "the first two hours of a day whose peak is at 14 h";
    EXPECT_EQ(most > 0, services["sharers"][p][0]["jobs"].get<int>() > 0);
    shared = shared || most > 0;
  }
  EXPECT_TRUE(shared);
  EXPECT_FALSE(report_json(Results(kQueue).path()).contains("services"));
}

TEST(ReportData, WithoutDetailsHasTheRest) {
  const Results results({"replay", "--policies", "fcfs,exclusive", "--replications", "3", "--set",
                         "measure.details=false"});
  const Json data = report_json(results.path());
  EXPECT_TRUE(data["sharing"].is_null());
  EXPECT_TRUE(data["over_time"].is_null());
  // The last attempts of the jobs are known from /runs.
  const Json& bars = data["timeline"]["policies"][0];
  EXPECT_EQ(bars["mode"], "bars");
  EXPECT_EQ(numbers_of<std::uint32_t>(bars["job"]).size(), 24U);
  EXPECT_NE(data["reductions"].dump().find("no events"), std::string::npos);
}

TEST(ReportData, SaysOfHowManyReplicationsItHasCoRuns) {
  const Results results({"replay", "--policies", "fcfs", "--replications", "23"});
  const Json data = report_json(results.path());
  EXPECT_EQ(data["source"]["replications"], 23);
  EXPECT_EQ(data["sharing"]["replications"], 20) << "results files keep no more";
}

TEST(ReportData, GpusOfVirtualClustersHaveTheirOwners) {
  const test::TemporaryDirectory directory;
  directory.write(
      "jobs.csv",
      "job,submit_s,solo_s,virtual_cluster\na,0,100,one\nb,0,100,<two>\nc,0,100,<two>\n");
  directory.write("owners.csv", "vc,nodes\none,1\n<two>,2\n");
  directory.write(
      "replay.yaml",
      "workload: {source: csv, path: jobs.csv}\ncluster: {virtual_clusters: owners.csv}\n"
      "policies: [fifo]\nreplications: 1\n");
  const test::Outcome outcome = test::run_corun(
      {"replay", "replay.yaml", "--quiet", "--output", "results.h5"}, directory.path());
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json data = report_json(directory.path("results.h5"));
  EXPECT_EQ(data["source"]["workload"], "jobs.csv");
  const Json& owner = data["timeline"]["gpus"]["owner"];
  EXPECT_EQ(owner, Json::parse(R"(["one", "<two>", "<two>"])"));
  // Each job ran on a GPU of its own cluster.
  const Json& bars = data["timeline"]["policies"][0];
  const auto job = numbers_of<std::uint32_t>(bars["job"]);
  const auto first = bars["lane_first"].get<std::vector<std::size_t>>();
  ASSERT_EQ(job.size(), 3U);
  for (std::size_t lane = 0; lane + 1 < first.size(); ++lane) {
    for (std::size_t i = first[lane]; i < first[lane + 1]; ++i) {
      EXPECT_EQ(owner[bars["lane_gpu"][lane].get<std::size_t>()], job[i] == 0 ? "one" : "<two>");
    }
  }
}

TEST(ReportData, OneReplicationHasNoInterval) {
  const Results results({"replay", "--policies", "fcfs,exclusive", "--replications", "1"});
  const Json data = report_json(results.path());
  EXPECT_TRUE(data["summary"][0][0][0].is_number());
  EXPECT_TRUE(data["summary"][0][0][1].is_null());
  EXPECT_TRUE(data["timeline"]["gpus"]["owner"].is_null()) << "no virtual clusters";
}

TEST(ReportData, EqualFilesGiveEqualReports) {
  const Results one({"replay", "--policies", "balance", "--replications", "3", "--threads", "1"});
  const Results two({"replay", "--policies", "balance", "--replications", "3", "--threads", "3"});
  EXPECT_EQ(report_json(one.path()).dump(), report_json(two.path()).dump());
}

TEST(ReportData, GangsAndPreemptionsFillTheirGpus) {
  // The gang b has less left than a, and c less than b: a is preempted on one GPU, b on two, and runs again.
  const Results results(
      {"replay", "jobs.csv", "--gpus", "2", "--policies", "srtf", "--replications", "1"},
      "job,submit_s,solo_s,gpus\na,0,1000,1\nb,10,100,2\nc,20,50,1\n");
  const Json data = report_json(results.path());
  const Json& bars = data["timeline"]["policies"][0];
  ASSERT_EQ(bars["mode"], "bars");
  const auto kinds = numbers_of<std::uint8_t>(bars["kind"]);
  const auto jobs = numbers_of<std::uint32_t>(bars["job"]);
  EXPECT_EQ(std::ranges::count(jobs, 1U), 4) << "the gang, twice on each GPU";
  EXPECT_EQ(std::ranges::count(kinds, std::uint8_t{1 << 2}), 3) << "bars that end preempted";
}

/// A log of gangs and users under a policy that preempts: the figures of `corun replay --by`.
TEST(ReportData, GroupsOfJobsAreThoseThatReplayPrints) {
  std::string log = "job,submit_s,solo_s,gpus,user,id\n";
  for (int j = 0; j < 60; ++j) {
    log += fmt::format("j{},{},{},{},{},{}\n", j, 20 * j, 100 + 370 * j % 900, 1 + j % 3,
                       j % 4 == 0   ? "eve"
                       : j % 4 == 1 ? "<b>bob</b>"
                                    : "",
                       j);
  }
  const std::vector<std::string> arguments{
      "replay",         "jobs.csv",  "--gpus", "4",
      "--policies",     "fifo,srtf", "--set",  "preemption={save_s: 5, restore_s: 10}",
      "--replications", "3"};
  const Results results(arguments, log);
  const Json data = report_json(results.path());
  std::vector<std::string> by = arguments;
  by.insert(by.end(), {"--by", "gpus,length,user,worst", "--quiet", "--format", "json"});
  const test::Outcome outcome = test::run_corun(by, results.directory().path());
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json printed = Json::parse(outcome.out)["by"];
  const Json& sets = data["groups"]["sets"];
  ASSERT_EQ(sets.size(), 3U) << "not by id, which no two jobs share";
  EXPECT_EQ(data["groups"]["replications"], 3);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(sets[s]["by"], printed[s]["by"]);
    const Json& groups = printed[s]["groups"];
    ASSERT_EQ(sets[s]["names"].size(), groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      EXPECT_EQ(sets[s]["names"][g], groups[g]["group"]);
      EXPECT_EQ(sets[s]["jobs"][g], groups[g]["jobs"]);
      expect_near(sets[s]["work"][g], groups[g]["work_share"], "work");
      expect_near(sets[s]["jct_s"][0][g], groups[g]["jct_s"]["fifo"], "fifo");
      expect_near(sets[s]["jct_s"][1][g], groups[g]["jct_s"]["srtf"], "srtf");
    }
    for (const Json& worst : sets[s]["worst"]) {
      double sum = 0;
      for (const Json& share : worst) sum += share.get<double>();
      EXPECT_NEAR(sum, 1, 1e-4);
    }
  }
  for (std::size_t k = 0; k < 2; ++k) {
    expect_near(data["groups"]["tenths"][0][k], printed[3]["groups"][k]["jct_s"]["fifo"], "tenth");
    expect_near(data["groups"]["tenths"][1][k], printed[3]["groups"][k]["jct_s"]["srtf"], "tenth");
  }
  EXPECT_EQ(data["preemptions"][0]["times"], 0);
  EXPECT_EQ(data["preemptions"][0]["isd"], nullptr);
  EXPECT_GT(data["preemptions"][1]["times"], 0);
  // A part of the replications is made of whole ones, and said.
  const Json first = report_json(results.path(), {.group_rows = 130});
  EXPECT_EQ(first["groups"]["replications"], 1);
  EXPECT_NE(first["reductions"].dump().find("first 1 of 3"), std::string::npos);
}

/// Two GPUs. a holds one from 0, b takes it from 10 to 110 (5 s are lost to saving and restoring), a goes on.
TEST(ReportData, PreemptionsCostWhatTheJobsLost) {
  const Results results({"replay", "jobs.csv", "--gpus", "1", "--policies", "srtf",
                         "--replications", "1", "--set", "preemption={save_s: 2, restore_s: 3}"},
                        "job,submit_s,solo_s,gpus\na,0,1000,1\nb,10,100,1\nc,2000,50,1\n");
  const Json one = report_json(results.path())["preemptions"][0];
  EXPECT_EQ(one["times"], 1);
  EXPECT_EQ(one["most"], 1);
  EXPECT_NEAR(one["jobs"].get<double>(), 1.0 / 3, 1e-5);
  EXPECT_NEAR(one["lost_gpu_s"].get<double>(), 5, 1e-5);
  EXPECT_NEAR(one["isd"].get<double>(), 0.005, 1e-6);
  EXPECT_EQ(one["isd_other"], 0);
  const Results calm(
      {"replay", "jobs.csv", "--gpus", "1", "--policies", "fifo", "--replications", "1"},
      "job,submit_s,solo_s\na,0,1000\nb,10,100\n");
  EXPECT_TRUE(report_json(calm.path())["preemptions"].is_null());
}

TEST(ReportData, ASweepHasItsNotesAmongTheWarnings) {
  const test::TemporaryDirectory directory;
  directory.write(
      "s.yaml",
      "replications: 2\npolicies: [fcfs, random]\nsweep: {grid: {cluster.nodes: [1, 2]}}\n");
  ASSERT_EQ(test::run_corun({"sweep", "s.yaml", "-q", "--output", "s.h5"}, directory.path()).code,
            0);
  const Json data = report_json(directory.path("s.h5"));
  ASSERT_FALSE(data["warnings"].empty());
  EXPECT_NE(data["warnings"].dump().find(" [all points]"), std::string::npos) << data["warnings"];
}

}  // namespace
}  // namespace corun::report_test
