#include "runner/builders/model_files.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/error.hpp"
#include "tests/helpers/effort.hpp"
#include "tests/helpers/lucid_pairs.hpp"
#include "tests/helpers/program.hpp"

/// Fitted models as belief and as world, and fits that experiments share.
namespace corun::model_files_test {
namespace {

const std::string kRates =
    "gpu,job_a,family_a,job_b,family_b,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_b,solo_p100_b,"
    "solo_k80_b,failed,norm_a,norm_b\n"
    "p100,x,X,y,Y,1,2,3,4,5,6,0,0.5,0.25\n"
    "p100,x,X,z,Z,1,2,3,9,8,7,0,0.75,0.8\n"
    "p100,y,Y,z,Z,4,5,6,9,8,7,0,0.9,0.7\n";

std::string fitted(const test::TemporaryDirectory& folder, const std::string& pairs,
                   const std::string& model) {
  std::string path = folder.path(model + ".model");
  const auto fit = test::run_corun({"model", "fit", "--pairs", pairs, "--model", model, "--effort",
                                    test::kLittleEffortText, "--out", path, "--quiet"});
  EXPECT_EQ(fit.code, 0) << fit.err;
  return path;
}

Config configured(const std::vector<std::string>& settings) {
  return parse_config("replications: 2\n", "c.yaml", parse_overrides(settings), policy_catalog());
}

std::string error_of(const std::vector<std::string>& settings) {
  try {
    Experiment(configured(settings), "");
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

void expect_error(const std::vector<std::string>& settings, const std::string& part) {
  const std::string error = error_of(settings);
  EXPECT_NE(error.find(part), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

/// All metrics of all policies of some replications; NaN as -1.
std::vector<double> metrics_of(const Experiment& experiment,
                               const std::vector<std::size_t>& replications) {
  std::vector<double> all;
  for (const std::size_t r : replications) {
    for (const PolicyRun& run : experiment.run(r).runs) {
      for (const double x : run.metrics) all.push_back(std::isnan(x) ? -1 : x);
    }
  }
  return all;
}

const std::string kPolicies = "policies=[random, min-slowdown, oracle]";

TEST(ModelFiles, ABeliefFromAFileIsTheModelOfTheFile) {
  const test::TemporaryDirectory folder;
  const std::string pairs = folder.write("pairs.csv", test::lucid_pairs());
  const std::vector<std::string> jobs{"workload={source: pairs, path: '" + pairs + "', jobs: 8}",
                                      "world.path=" + pairs, "cluster.nodes=2", kPolicies};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), jobs.begin(), jobs.end());
    return more;
  };
  // Eight jobs give fewer co-runs than a new fit needs, so a fit to the same table believes the same.
  for (const std::string model : {"ensemble", "contention", "gp"}) {
    const std::string file = fitted(folder, pairs, model);
    const Experiment from_file(configured(with({"belief.initial=" + file})), "");
    const Experiment from_table(
        configured(with({"belief.model=" + model, "belief.initial=" + pairs})), "");
    EXPECT_EQ(from_file.config().belief.model.text(), model);
    EXPECT_EQ(metrics_of(from_file, {0, 1}), metrics_of(from_table, {0, 1})) << model;
  }
}

TEST(ModelFiles, AWorldFromAFileIsTheModelOfTheFile) {
  const test::TemporaryDirectory folder;
  const std::string pairs = folder.write("pairs.csv", test::lucid_pairs());
  const std::string file = fitted(folder, pairs, "cluster-mean");
  const std::vector<std::string> jobs{"workload={source: pairs, path: '" + pairs + "', jobs: 8}",
                                      "cluster.nodes=2", kPolicies};
  std::vector<std::string> one = jobs, other = jobs;
  one.push_back("world.path=" + file);
  other.insert(other.end(), {"world.path=" + pairs, "world.model=cluster-mean"});
  const Experiment from_file(configured(one), "");
  const Experiment from_table(configured(other), "");
  EXPECT_EQ(metrics_of(from_file, {0, 1}), metrics_of(from_table, {0, 1}));
  EXPECT_EQ(from_file.config().world.model.text(), "cluster-mean");
  EXPECT_EQ(from_file.config().world.fallback.text(), "cluster-mean");
}

TEST(ModelFiles, ReplicationsThatLearnLeaveTheModelAlone) {
  const test::TemporaryDirectory folder;
  const std::string file = fitted(folder, "papers", "ensemble");
  const std::vector<std::string> settings{"belief.initial=" + file, kPolicies};
  const Experiment experiment(configured(settings), "");
  const std::vector<double> first = metrics_of(experiment, {0, 1});
  EXPECT_EQ(metrics_of(experiment, {0, 1}), first);
  const Experiment alone(configured(settings), "");
  std::vector<double> reversed = metrics_of(alone, {1});
  const std::vector<double> zero = metrics_of(alone, {0});
  reversed.insert(reversed.begin(), zero.begin(), zero.end());
  EXPECT_EQ(reversed, first);
}

TEST(ModelFiles, ReproducedByTheDumpedConfigurationAndNamedAmongTheInputs) {
  const test::TemporaryDirectory folder;
  fitted(folder, "papers", "ensemble");
  const std::vector<std::string> run{"replay",
                                     "--set",
                                     "belief.initial=ensemble.model",
                                     "--set",
                                     "world.path=ensemble.model",
                                     "--set",
                                     "replications=2",
                                     "--set",
                                     kPolicies,
                                     "--quiet",
                                     "--format",
                                     "json"};
  std::vector<std::string> dump = run;
  dump.push_back("--dump-config");
  const auto dumped = test::run_corun(dump, folder.path());
  ASSERT_EQ(dumped.code, 0) << dumped.err;
  EXPECT_NE(dumped.out.find("  model: ensemble\n  initial: ensemble.model\n"), std::string::npos)
      << dumped.out;
  folder.write("dumped.yaml", dumped.out);
  const auto one = test::run_corun(run, folder.path());
  const auto other =
      test::run_corun({"replay", "dumped.yaml", "--quiet", "--format", "json"}, folder.path());
  EXPECT_EQ(one.out, other.out) << other.err;
  const auto sum = one.out.find(" ensemble.model\"");
  ASSERT_NE(sum, std::string::npos);
  EXPECT_EQ(one.out.rfind("\"sha256:", sum), sum - 72) << "one checksum, right before the name";
}

TEST(ModelFiles, ASweepThatGivesAnotherModelIsRefusedAsAReplayIs) {
  const test::TemporaryDirectory folder;
  fitted(folder, "papers", "contention");
  folder.write("s.yaml",
               "policies: [min-slowdown]\nreplications: 1\nbelief: {model: cluster-mean}\n"
               "sweep: {grid: {belief.initial: [jrs, contention.model]}}\n");
  const auto run =
      test::run_corun({"sweep", "s.yaml", "--output", "o.h5", "--quiet"}, folder.path());
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("s.yaml:3:17: belief.model: found cluster-mean, but belief.initial is "
                         "'contention.model'"),
            std::string::npos)
      << run.err;
}

TEST(ModelFiles, ASweepDumpedWithDefaultsStillRuns) {
  const test::TemporaryDirectory folder;
  fitted(folder, "papers", "contention");
  folder.write("s.yaml",
               "policies: [min-slowdown]\nreplications: 1\n"
               "sweep: {grid: {belief.initial: [jrs, contention.model]}}\n");
  const auto dumped = test::run_corun({"sweep", "s.yaml", "--dump-config"}, folder.path());
  ASSERT_EQ(dumped.code, 0) << dumped.err;
  folder.write("dumped.yaml", dumped.out);
  for (const char* plan : {"s.yaml", "dumped.yaml"}) {
    const auto run = test::run_corun({"sweep", plan, "--output", "o.h5", "--quiet"}, folder.path());
    EXPECT_EQ(run.code, 0) << plan << run.err;
  }
  const auto point =
      test::run_corun({"sweep", "s.yaml", "--dump-config", "--point", "1"}, folder.path());
  EXPECT_NE(point.out.find("model: contention\n  initial: contention.model"), std::string::npos);
}

TEST(ModelFiles, RefusesKeysThatContradictTheFile) {
  const test::TemporaryDirectory folder;
  const std::string file = fitted(folder, "papers", "contention");
  const std::string belief = "belief.initial=" + file;
  const std::string world = "world.path=" + file;
  for (const char* model : {"gp", "cluster-mean", "truth", "default"}) {
    expect_error({belief, std::string("belief.model=") + model},
                 std::string("belief.model: found ") + model + ", but belief.initial is '");
  }
  for (const char* model : {"gp", "measured", "none", "listed-pairs"}) {
    expect_error({world, std::string("world.model=") + model},
                 std::string("world.model: found ") + model + ", but world.path is '");
  }
  expect_error({world, "world.fallback=gp"}, "world.fallback: found gp, but world.path is '");
  expect_error({belief, "belief.known=0.5"}, "a model that is fitted already; leave it out");
  expect_error({belief, "belief.overrides=x.csv"}, "no clusters to override");
  expect_error({belief, "probing.probes=1"}, "learns by new fits only");
  EXPECT_EQ(error_of({belief, world, "belief.model=contention", "world.model=contention",
                      "world.fallback=contention"}),
            "no error");
}

TEST(ModelFiles, RefusesDamagedFiles) {
  const test::TemporaryDirectory folder;
  const std::string bytes = test::read_file(fitted(folder, "papers", "contention"));
  const std::string cut = folder.write("cut.model", bytes.substr(0, bytes.size() / 2));
  std::string flipped = bytes;
  flipped[flipped.size() - 5] ^= 1;
  const std::string damaged = folder.write("damaged.model", flipped);
  for (const char* key : {"belief.initial=", "world.path="}) {
    expect_error({key + cut}, "cut.model: ");
    expect_error({key + cut}, "the file was cut short");
    expect_error({key + damaged}, "the file is damaged");
  }
}

TEST(ModelFiles, RefusesModelsWhoseFeaturesTheJobsLack) {
  const test::TemporaryDirectory folder;
  const std::string file = fitted(folder, folder.write("rates.csv", kRates), "ensemble");
  for (const char* key : {"belief.initial", "world.path"}) {
    expect_error({std::string(key) + "=" + file}, "the jobs have no ");
    expect_error({std::string(key) + "=" + file}, key + std::string("="));
  }
  // Jobs without any profile, of workloads that the model does not know.
  const std::string jobs = folder.write("jobs.csv", "job,submit_s,solo_s\na,0,100\nb,0,100\n");
  expect_error({"workload={source: csv, path: '" + jobs + "'}",
                "belief.initial=" + fitted(folder, "papers", "contention")},
               "the jobs have no gpu_util_pct");
}

// ---- fits that are shared -----------------------------------------------------------------------

TEST(SharedFits, PointsThatLearnFromTheSameRowsFitOnceAndComeOutAsAlone) {
  const auto cache = std::make_shared<InputCache>(2);
  for (const char* nodes : {"2", "4", "8"}) {
    const std::vector<std::string> settings{
        "workload={source: jrs-resampled, jobs: 12}",
        std::string("belief={model: default, initial: jrs, effort: ") + test::kLittleEffortText +
            "}",
        std::string("cluster.nodes=") + nodes, kPolicies};
    const Experiment sharing(configured(settings), "", {}, nullptr, cache);
    const Experiment alone(configured(settings), "");
    EXPECT_EQ(metrics_of(sharing, {0, 1}), metrics_of(alone, {0, 1})) << nodes;
  }
  EXPECT_EQ(cache->models().fits(), 2U) << "one of the belief, one of the world's fallback";
}

TEST(SharedFits, OtherRowsSeedsAndModelsAreOtherFits) {
  const auto cache = std::make_shared<InputCache>();
  const auto fits_with = [&](const std::string& belief) {
    const std::size_t before = cache->models().fits();
    const Experiment experiment(configured({"belief=" + belief, kPolicies}), "", {}, nullptr,
                                cache);
    return cache->models().fits() - before;
  };
  EXPECT_EQ(fits_with("{model: low-rank, initial: jrs}"), 2U);
  EXPECT_EQ(fits_with("{model: low-rank, initial: jrs}"), 0U);
  EXPECT_EQ(fits_with("{model: low-rank, initial: jrs, seed: 2}"), 1U);
  EXPECT_EQ(fits_with("{model: low-rank, initial: jrs, effort: 0.5}"), 1U);
  EXPECT_EQ(fits_with("{model: low-rank, initial: prirect}"), 1U);
  EXPECT_EQ(fits_with("{model: contention, initial: jrs}"), 1U);
}

TEST(Efforts, AreToldAndRefusedForAModelThatIsFitted) {
  const auto told = [](const std::vector<std::string>& settings) {
    std::vector<std::string> all = settings;
    all.emplace_back(kPolicies);
    const Experiment experiment(configured(all), "");
    std::string text;
    for (const Note& note : experiment.notes()) text += note.text + "\n";
    return text;
  };
  const std::string rest = " is fitted at effort 0.2: it is for trials";
  EXPECT_NE(told({"belief={model: low-rank, initial: jrs, effort: 0.2}"})
                .find("the belief's model" + rest),
            std::string::npos);
  EXPECT_NE(told({"world={fallback: low-rank, effort: 0.2}"}).find("the world's model" + rest),
            std::string::npos);
  EXPECT_EQ(
      told({"world={fallback: low-rank}", "belief={model: low-rank, initial: jrs}"}).find("effort"),
      std::string::npos);
  const test::TemporaryDirectory folder;
  const std::string file = fitted(folder, "papers", "measured");
  expect_error({"belief={initial: '" + file + "', effort: 0.2}"},
               "belief.effort is of a fit, and '" + file + "' is a model that is fitted already");
  expect_error({"world={path: '" + file + "', effort: 0.2}"},
               "world.effort is of a fit, and '" + file + "' is a model that is fitted already");
  expect_error({"belief.effort=0"}, "expected a number from 0.001 to 1");
}

TEST(SharedFits, ReplicationsWithTheSameKnownPairsShareTheirFit) {
  const test::TemporaryDirectory folder;
  const std::string pairs = folder.write("pairs.csv", test::lucid_pairs());
  const auto cache = std::make_shared<InputCache>();
  std::vector<std::size_t> fits;
  for (const char* nodes : {"1", "2"}) {
    const std::vector<std::string> settings{
        "workload={source: pairs, path: '" + pairs + "', jobs: 8}", "world.path=" + pairs,
        "belief={model: low-rank, initial: '" + pairs + "', known: 0.5}",
        std::string("cluster.nodes=") + nodes, kPolicies};
    const Experiment sharing(configured(settings), "", {}, nullptr, cache);
    const Experiment alone(configured(settings), "");
    EXPECT_EQ(metrics_of(sharing, {0, 1}), metrics_of(alone, {0, 1})) << nodes;
    fits.push_back(cache->models().fits());
  }
  EXPECT_EQ(fits, (std::vector<std::size_t>{4, 4}));
}

}  // namespace
}  // namespace corun::model_files_test
