#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/replay/replay.hpp"
#include "sim/error.hpp"
#include "tests/helpers/effort.hpp"
#include "tests/helpers/lucid_pairs.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/public_data.hpp"

/// Workload, world and belief from tables of measured pairs, through the whole program.
namespace corun::pair_experiment_test {
namespace {

const std::string kGavel =
    "gpu,job_a,family_a,job_b,family_b,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_b,solo_p100_b,"
    "solo_k80_b,failed,norm_a,norm_b\n"
    "p100,x,X,y,Y,1,2,3,4,5,0,0,0.5,0.25\n"
    "p100,x,X,z,Z,1,2,3,9,8,7,0,0.75,0.8\n"
    "p100,y,Y,z,Z,4,5,0,9,8,7,1,0,0\n";

const std::string kBeliefEffort = std::string("belief.effort=") + test::kLittleEffortText;
/// The same in the map of `belief`.
const std::string kLittle = std::string(", effort: ") + test::kLittleEffortText;

std::vector<std::string> settings(const std::string& table, const std::string& gpu_type) {
  return {"workload={source: pairs, path: '" + table + "', jobs: 8}",
          "world={path: '" + table + "', fallback: cluster-mean}",
          "belief={model: cluster-mean, initial: '" + table + "'}", "cluster.gpu_type=" + gpu_type,
          "replications=4"};
}

Experiment experiment_of(std::vector<std::string> all, const std::vector<std::string>& more = {}) {
  all.insert(all.end(), more.begin(), more.end());
  return Experiment(default_config_with(parse_overrides(all), policy_catalog()), "");
}

std::string error_of(const std::vector<std::string>& all, const std::vector<std::string>& more) {
  try {
    experiment_of(all, more).run(0);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PairExperiment, TwoJobsRunAtTheMeasuredSpeeds) {
  const test::TemporaryDirectory folder;
  const std::string table = folder.write("pairs.csv", kGavel);
  const std::map<std::string, std::map<std::string, double>> speeds{
      {"x", {{"y", 0.5}, {"z", 0.75}}}, {"y", {{"x", 0.25}}}, {"z", {{"x", 0.8}}}};
  const Experiment e = experiment_of(
      settings(table, "P100-16GB"),
      {"workload.jobs=2", "cluster.nodes=1", "policies=[{name: fcfs}]", "replications=60"});
  int measured = 0;
  for (std::size_t r = 0; r < 60; ++r) {
    const Replication replication = e.run(r);
    const Trace& trace = *replication.trace;
    const std::array<std::string, 2> names{trace.jobs[0].name.substr(0, 1),
                                           trace.jobs[1].name.substr(0, 1)};
    const RunRecord& record = replication.runs[0].record;
    const UsageRecord& usage = record.usage;
    const auto of = [&](Provenance p) { return usage.corun_s[static_cast<std::size_t>(p)]; };
    EXPECT_EQ(of(Provenance::kExtrapolated), 0);
    const auto beside = speeds.at(names[0]).find(names[1]);
    // y and z did not fit together, and pairs of equal jobs were not measured.
    if (beside == speeds.at(names[0]).end()) {
      EXPECT_EQ(of(Provenance::kMeasured), 0);
      continue;
    }
    EXPECT_EQ(of(Provenance::kModelled), 0);
    ++measured;
    const std::array<double, 2> speed{beside->second, speeds.at(names[1]).at(names[0])};
    std::array<double, 2> alone{};  // finish if the co-runners stayed
    std::array<double, 2> solo{};
    for (std::size_t k = 0; k < 2; ++k) {
      solo[k] = to_seconds(trace.jobs[k].spec.work);
      alone[k] = solo[k] / speed[k];
    }
    const std::size_t first = alone[0] <= alone[1] ? 0 : 1;
    const double last = alone[first] + solo[1 - first] - alone[first] * speed[1 - first];
    EXPECT_NEAR(to_seconds(record.jobs[first].finish), alone[first], 1e-6);
    EXPECT_NEAR(to_seconds(record.jobs[1 - first].finish), last, 1e-6);
  }
  EXPECT_GT(measured, 10);
}

TEST(PairExperiment, AnotherGpuTypeIsExtrapolatedAndTheTablesOwnIsNot) {
  const test::TemporaryDirectory folder;
  const std::string table = folder.write("pairs.csv", test::lucid_pairs());
  for (const bool own : {true, false}) {
    const Experiment e =
        experiment_of(settings(table, own ? "RTX-3090" : "V100-16GB"), {"policies=[{name: fcfs}]"});
    const Coverage coverage = replay(e, {}).coverage;
    EXPECT_NEAR(own ? coverage.measured : coverage.extrapolated, 1, 1e-12);
    const Note* const note = find_note(e.notes(), NoteCode::kMeasuredElsewhere);
    EXPECT_EQ(note != nullptr, !own);
    if (note != nullptr) EXPECT_NE(note->text.find("RTX-3090"), std::string::npos) << note->text;
  }
}

TEST(PairExperiment, ATableOfSeveralGpuTypesAndModesIsExtrapolated) {
  const test::TemporaryDirectory folder;
  const std::string table = folder.write(
      "several.csv",
      "gpu,sharing,job_a,model_a,solo_gpu_util_a,solo_gmem_util_a,solo_gmem_mib_a,norm_a,job_b,"
      "model_b,solo_gpu_util_b,solo_gmem_util_b,solo_gmem_mib_b,norm_b\n"
      "V100,MPS,a,A,40,20,2000,0.7,b,B,50,20,3000,0.8\n"
      "A100,,a,A,30,10,2000,0.9,b,B,40,10,3000,0.9\n"
      "V100,MPS,a,A,40,20,2000,0.6,a,A,40,20,2000,0.6\n");
  const Experiment e = experiment_of(settings(table, "V100-16GB"), {"policies=[{name: fcfs}]"});
  EXPECT_EQ(replay(e, {}).coverage.measured, 0);
  for (const std::string said :
       {"on several GPU types (several.csv), not on V100-16GB", "with several sharing modes"}) {
    EXPECT_TRUE(std::ranges::any_of(e.notes(), [&](const Note& note) {
      return note.code == NoteCode::kMeasuredElsewhere && note.text.find(said) != note.text.npos;
    })) << said;
  }
}

TEST(PairExperiment, ReadsAFileOnceHoweverOftenItIsNamed) {
  const test::TemporaryDirectory folder;
  const std::string table = folder.write("pairs.csv", test::lucid_pairs());
  EXPECT_EQ(experiment_of(settings(table, "RTX-3090")).inputs().size(), 1U);
}

TEST(PairExperiment, ABeliefThatKnowsEveryPairPlansAsTheOracleWould) {
  const test::TemporaryDirectory folder;
  const std::string table = folder.write("pairs.csv", test::lucid_pairs());
  const Experiment e =
      experiment_of(settings(table, "RTX-3090"),
                    {"belief.model=factors", kBeliefEffort, "workload.jobs=24", "replications=12",
                     "policies=[{name: min-slowdown}, {name: random}, {name: oracle}]"});
  const ReplayResult result = replay(e, {});
  const auto isd = [&](std::size_t p) {
    return result.comparison.policies[p][static_cast<std::size_t>(Metric::kIsd)].mean;
  };
  EXPECT_LT(isd(0), isd(1) - 0.6 * (isd(1) - isd(2)));
}

/// Mean ISD of each replication.
std::vector<double> isd_of(const Experiment& e, unsigned threads) {
  ReplayOptions options;
  options.threads = threads;
  std::vector<double> isd;
  for (const Replication& r : replay(e, options).replications) {
    for (const PolicyRun& run : r.runs) {
      isd.push_back(run.metrics[static_cast<std::size_t>(Metric::kIsd)]);
    }
  }
  return isd;
}

TEST(PairExperiment, KnownSubsetsAreKeyedByReplicationAndSharedByPolicies) {
  const test::TemporaryDirectory folder;
  const std::string table = folder.write("pairs.csv", test::lucid_pairs());
  const std::vector<std::string> base = settings(table, "RTX-3090");
  const std::vector<std::string> known{
      "belief={model: factors, initial: '" + table + "', known: 0.4" + kLittle + "}",
      "workload.jobs=16",
      "policies=[{name: min-slowdown}, {name: min-slowdown, label: again}, {name: balance}]"};
  const std::vector<double> one = isd_of(experiment_of(base, known), 1);
  EXPECT_EQ(one, isd_of(experiment_of(base, known), 3)) << "threads change nothing";
  for (std::size_t i = 0; i < one.size(); i += 3) EXPECT_EQ(one[i], one[i + 1]);

  // Replication 2 of seed 1 is replication 0 of seed 3.
  std::vector<std::string> later = known;
  later.insert(later.end(), {"seed=3", "replications=1"});
  const std::vector<double> alone = isd_of(experiment_of(base, later), 1);
  EXPECT_EQ(alone, std::vector<double>(one.begin() + 6, one.begin() + 9));

  // Without the other policies the result is the same.
  std::vector<std::string> single = known;
  single.emplace_back("policies=[{name: balance}]");
  const std::vector<double> balance = isd_of(experiment_of(base, single), 2);
  for (std::size_t r = 0; r < balance.size(); ++r) EXPECT_EQ(balance[r], one[3 * r + 2]);
}

TEST(PairExperiment, BeliefsLearnFromNothingByTheTablesFeatures) {
  const test::TemporaryDirectory folder;
  const std::string table = folder.write("pairs.csv", test::lucid_pairs());
  for (const std::string model : {"factors", "cluster-mean", "contention"}) {
    const Experiment e =
        experiment_of(settings(table, "RTX-3090"),
                      {"belief.model=" + model, "belief.known=0", kBeliefEffort, "workload.jobs=60",
                       "policies=[{name: min-slowdown}, {name: random}]", "replications=2"});
    for (const double isd : isd_of(e, 2)) EXPECT_TRUE(std::isfinite(isd));
  }
}

/// Another belief.seed gives another fit in the same world with the same queue.
TEST(PairExperiment, BeliefSeedDrawsTheFitAndNothingElse) {
  const auto isd = [](const std::string& model, const std::string& seed) {
    return isd_of(experiment_of({"belief={model: " + model + ", seed: " + seed + kLittle + "}",
                                 "replications=2", "workload.source=jrs-resampled",
                                 "policies=[{name: min-slowdown}, {name: random}]"}),
                  2);
  };
  const std::vector<double> one = isd("factors", "1");
  const std::vector<double> two = isd("factors", "2");
  EXPECT_EQ(one, isd("factors", "1"));
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_NE(one[2 * r], two[2 * r]);
    EXPECT_EQ(one[2 * r + 1], two[2 * r + 1]) << "random has no belief";
  }
  EXPECT_EQ(isd("contention", "1"), isd("contention", "2")) << "least squares draws nothing";
}

TEST(PairExperiment, BeliefOfFeaturesThatNoProfileHas) {
  const test::TemporaryDirectory folder;
  const std::string table = folder.write("pairs.csv", kGavel);
  for (const std::string model : {"factors", "cluster-mean"}) {
    const Experiment e =
        experiment_of(settings(table, "P100-16GB"),
                      {"belief.model=" + model, kBeliefEffort, "world.fallback=factors",
                       std::string("world.effort=") + test::kLittleEffortText,
                       "policies=[{name: min-slowdown}]"});
    for (const double isd : isd_of(e, 1)) EXPECT_TRUE(std::isfinite(isd));
  }
}

const std::string kGroups =
    "group,gpu,sharing,job,solo_gpu_util,solo_gmem_util,norm\n"
    "1,V100-16GB,time-slicing,a,40,20,0.9\n1,V100-16GB,time-slicing,b,60,30,0.8\n"
    "2,V100-16GB,time-slicing,a,40,20,0.6\n2,V100-16GB,time-slicing,b,60,30,0.5\n"
    "2,V100-16GB,time-slicing,c,50,25,0.4\n"
    "3,V100-16GB,time-slicing,c,50,25,0.7\n3,V100-16GB,time-slicing,b,60,30,0.75\n";

TEST(PairExperiment, WorldAndBeliefTakeEachFormAlike) {
  const test::TemporaryDirectory folder;
  const std::string source = CORUN_SOURCE_DIR;
  const std::vector<std::string> tables{
      folder.write("lucid.csv", test::lucid_pairs()), folder.write("gavel.csv", kGavel),
      folder.write("groups.csv", kGroups), source + "/examples/mine.corun.csv",
      source + "/examples/gavel_rates.json"};
  const std::string gpu = "cluster.gpu_type=P100-16GB";
  for (const std::string& table : tables) {
    const std::string type = table.ends_with("gavel.csv") ? gpu : "cluster.gpu_type=V100-16GB";
    for (const std::string key : {"world={fallback: factors, effort: 0.01, path: '",
                                  "world={model: factors, effort: 0.01, path: '",
                                  "belief={model: factors, effort: 0.01, initial: '"}) {
      EXPECT_EQ(error_of({key + table + "'}", type, "replications=1"}, {}), "no error")
          << key << table;
    }
  }
  // Other files are refused in the same words.
  const std::string config = folder.write("c.yaml", "replications: 3\n");
  const std::string json = folder.write("c.json", "{\"cluster\": {\"nodes\": 2}}\n");
  for (const std::string key : {"world={path: '", "belief={model: factors, initial: '"}) {
    const std::string found = error_of({key + config + "'}"}, {});
    EXPECT_NE(found.find("c.yaml: is a configuration, expected a table of measured co-runs"),
              std::string::npos)
        << found;
    const std::string of_json = error_of({key + json + "'}"}, {});  // no rates
    EXPECT_NE(of_json.find("c.json:1:"), std::string::npos) << of_json;
    EXPECT_EQ(of_json.find("rates"), std::string::npos) << of_json;
  }
}

TEST(PairExperiment, AMeasuredWorldHasTheGroupsOfItsTable) {
  const test::TemporaryDirectory folder;
  const std::string table = folder.write("groups.csv", kGroups);
  folder.write("jobs.csv",
               "job,workload,submit_s,solo_s\n1,a,0,600\n"
               "2,b,0,600\n3,c,0,600\n");
  const Experiment e =
      experiment_of({"workload={source: csv, path: '" + folder.path("jobs.csv") + "'}",
                     "world={path: '" + table + "', fallback: factors, effort: 0.01}",
                     "cluster={nodes: 1, gpus_per_node: 1, max_jobs_per_gpu: 3}",
                     "policies=[{name: kube-default, replicas: 3}]", "replications=1"});
  const RunRecord record = e.run(0).runs[0].record;
  // The cluster shares by time-slicing, as the table was measured: names of jobs are the table's. The speeds of three are
  // those of group 2, after which b and a are group 1.
  EXPECT_NEAR(record.usage.corun_s[static_cast<std::size_t>(Provenance::kModelled)], 0, 1e-9);
  EXPECT_GT(record.usage.corun_s[static_cast<std::size_t>(Provenance::kMeasured)], 900);
}

TEST(PairExperiment, RefusesWithThePlaceOfWhatIsWrong) {
  const test::TemporaryDirectory folder;
  const std::string table = folder.write("pairs.csv", test::lucid_pairs());
  const std::string to_predict =
      folder.write("predict.csv",
                   "job_a,solo_gpu_util_a,solo_gmem_util_a,solo_gmem_mib_a,job_b,solo_gpu_util_b,"
                   "solo_gmem_util_b,solo_gmem_mib_b\nA,10,10,100,B,10,10,100\n");
  std::string broken = test::lucid_pairs();
  broken.replace(broken.find("M1,25"), 5, "M1,x5");
  const std::string bad = folder.write("bad.csv", broken);
  const std::string gavel = folder.write("gavel.csv", kGavel);
  const std::vector<std::string> good = settings(table, "RTX-3090");
  struct Case {
    std::vector<std::string> more;
    std::string expected;
  };
  const std::vector<Case> cases{
      {{"workload={source: pairs}"}, "--set workload={source: pairs}: source 'pairs' reads a file"},
      {{"workload.path=none.csv"}, "--set workload.path=none.csv: no file 'none.csv'"},
      {{"workload.path='" + to_predict + "'"}, "predict.csv:1:1: found no pair"},
      {{"world.path='" + to_predict + "'"}, "predict.csv:1:1: found no pair"},
      {{"workload.path='" + bad + "'"}, "bad.csv:3:"},
      {{"belief.known=1.5"}, "belief.known: found '1.5', expected a number from 0 to 1"},
      {{"belief.knwon=1"}, "did you mean 'known'"},
      {{"belief={model: factors, initial: none, known: 0.5}"}, "a share of measured pairs"},
      {{"belief={model: cluster-mean, initial: jrs, known: 0.5}"}, "a share of measured pairs"},
      {{"belief.model=contention", "belief.known=0.5", "belief.initial='" + gavel + "'"},
       "has no feature gpu_util_pct"},
      {{"belief.model=truth"}, "belief.model truth learns nothing from measured co-runs"},
      {{"belief.overrides='" + table + "'"}, "has no clusters to override"},
      {{"workload.load=1e-6", "workload.jobs=1000000"}, "--set workload.load=1e-6: job"},
  };
  EXPECT_EQ(error_of(good, {}), "no error");
  for (const Case& c : cases) {
    const std::string found = error_of(good, c.more);
    EXPECT_NE(found.find(c.expected), std::string::npos) << c.expected << "\n" << found;
  }
}

TEST(PairExperiment, RunsOnLucidAndGavel) {
  const std::map<std::string, std::string> files{{"lucid/lucid_pairs.csv", "RTX-3090"},
                                                 {"gavel/gavel_k80_pairs.csv", "K80"}};
  for (const auto& [file, gpu_type] : files) {
    if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
    const Experiment e =
        experiment_of(settings(test::public_data(file), gpu_type),
                      {"belief.known=0.3", "workload.jobs=24", "replications=12",
                       "policies=[{name: min-slowdown}, {name: random}, {name: oracle}]"});
    const ReplayResult result = replay(e, {});
    const auto isd = [&](std::size_t p) {
      return result.comparison.policies[p][static_cast<std::size_t>(Metric::kIsd)].mean;
    };
    EXPECT_LT(isd(2), isd(0)) << file;
    EXPECT_LT(isd(2), isd(1)) << file;
    EXPECT_GT(result.coverage.measured, 0.6) << file;
    EXPECT_EQ(result.coverage.extrapolated, 0) << file;
  }
}

TEST(PairExperiment, TheProgramTellsWhatWasMeasured) {
  const test::TemporaryDirectory folder;
  folder.write("pairs.csv", test::lucid_pairs());
  const std::string config =
      folder.write("c.yaml",
                   "workload: {source: pairs, path: pairs.csv, jobs: 10, load: 1.2}\n"
                   "cluster: {gpu_type: RTX-3090}\n"
                   "world: {path: pairs.csv}\n"
                   "belief: {model: factors, initial: pairs.csv, known: 0.5" +
                       kLittle +
                       "}\n"
                       "policies: [{name: min-slowdown}, {name: random}]\nreplications: 3\n");
  const test::Outcome outcome = test::run_corun({"replay", config, "--format", "json", "-q"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json.at("config").at("belief").at("known"), 0.5);
  EXPECT_NEAR(json.at("coverage").at("measured").get<double>(), 1, 1e-9);
  EXPECT_EQ(test::run_corun({"replay", config, "--format", "json", "-q", "--threads", "3"}).out,
            outcome.out);
}

}  // namespace
}  // namespace corun::pair_experiment_test
