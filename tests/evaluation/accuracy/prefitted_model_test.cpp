
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "knowledge/model_file.hpp"
#include "knowledge/model_origin.hpp"
#include "models/prefitted/prefitted.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/public_data.hpp"

/// The model that comes with corun.
namespace corun::prefitted_model_test {
namespace {

const std::string kSource = CORUN_SOURCE_DIR;
const std::string kHead =
    "job_a,solo_gpu_util_a,solo_gmem_util_a,solo_gmem_mib_a,job_b,solo_gpu_util_b,"
    "solo_gmem_util_b,solo_gmem_mib_b,gpu,sharing\n";

TEST(PrefittedModel, IsTheFileAndOfThisVersion) {
  EXPECT_EQ(prefitted_bytes(), test::read_file(kSource + "/models/prefitted/corun.model"));
  EXPECT_LT(prefitted_bytes().size(), 1'500'000u);
  WorkloadKeys keys;
  const ModelFile file = read_model_file("prefitted", keys, {});
  EXPECT_TRUE(is_of_several_campaigns(*file.model));
  EXPECT_TRUE(file.model->learns());
  for (const char* text : {"ResNet", "resnet", "batch size", "Recommendation", "mnist", "JRS"}) {
    EXPECT_EQ(prefitted_bytes().find(text), std::string_view::npos) << text;
  }
}

TEST(PrefittedModel, SaysWhereItHasMeasurements) {
  const test::TemporaryDirectory folder;
  const auto predict = [&](const std::string& name, const std::string& row) {
    folder.write(name, kHead + row);
    return test::run_corun(
        {"model", "predict", "--model", "prefitted", "--pairs", name, "--out", "o.csv", "--force"},
        folder.path());
  };
  const auto elsewhere = predict("new.csv", "x,50,20,1000,y,90,60,4000,A100-80GB,MPS\n");
  EXPECT_EQ(elsewhere.code, 0) << elsewhere.err;
  EXPECT_NE(elsewhere.err.find("on V100-16GB with time-slicing (114 pairs); A100-80GB with mps is "
                               "not among them: the level of the costs there is a guess"),
            std::string::npos)
      << elsewhere.err;
  const auto here = predict("old.csv", "x,50,20,1000,y,90,60,4000,V100,time-slicing\n");
  EXPECT_EQ(here.err.find("is not among them"), std::string::npos) << here.err;
  EXPECT_NE(here.err.find("measure some pairs"), std::string::npos) << here.err;
  const auto unknown = predict("unknown.csv", "x,50,20,1000,y,90,60,4000,,\n");
  EXPECT_NE(unknown.err.find("a GPU type that is not stated with a sharing mode that is not stated "
                             "is not among them"),
            std::string::npos)
      << unknown.err;
}

TEST(PrefittedModel, ServesSuggestEvalAndReplay) {
  const test::TemporaryDirectory folder;
  const auto suggest = test::run_corun({"model", "suggest", "--model", "prefitted", "--jobs",
                                        kSource + "/examples/jobs.csv", "--budget", "1"});
  EXPECT_EQ(suggest.code, 0) << suggest.err;
  EXPECT_NE(suggest.err.find("prefitted comes with corun"), std::string::npos);
  const auto on = [](const std::string& gpu, const std::string& sharing) {
    return test::run_corun({"model", "suggest", "--model", "prefitted", "--jobs",
                            kSource + "/examples/jobs.csv", "--budget", "1", "--gpu", gpu,
                            "--sharing", sharing});
  };
  EXPECT_EQ(on("V100", "time-slicing").err.find("is not among them"), std::string::npos);
  EXPECT_NE(on("T4", "mps").err.find("T4 with mps is not among them"), std::string::npos);
  EXPECT_NE(on("T4", "mps").out, on("V100", "time-slicing").out) << "another level of costs";
  EXPECT_EQ(on("T4", "both").code, 2);
  const auto eval = test::run_corun(
      {"model", "eval", "--model", "prefitted", "--split", "pairs", "--pairs", "papers"});
  EXPECT_EQ(eval.code, 0) << eval.err;
  EXPECT_NE(eval.out.find("prefitted"), std::string::npos);
  const auto replay = test::run_corun({"replay", "--set", "belief.initial=prefitted", "--set",
                                       "cluster.gpu_type=T4", "--set", "replications=2",
                                       "--policies", "min-slowdown,random"});
  EXPECT_EQ(replay.code, 0) << replay.err;
  const std::size_t at = replay.err.find("belief.initial: prefitted comes with corun");
  EXPECT_NE(at, std::string::npos) << replay.err;
  EXPECT_EQ(replay.err.find("belief.initial: prefitted comes", at + 1), std::string::npos)
      << "once";
  EXPECT_NE(replay.err.find("T4 with time-slicing is not among them"), std::string::npos);
  // The level of another machine and mode is another.
  const auto isd = [](const char* sharing) {
    return test::run_corun({"replay", "--set", "world.path=prefitted", "--set",
                            std::string("cluster.sharing=") + sharing, "--set", "world.noise=false",
                            "--set", "replications=1", "--policies", "min-slowdown", "--format",
                            "json", "--quiet"})
        .out;
  };
  EXPECT_NE(isd("mps"), isd("time-slicing"));
}

TEST(PrefittedModel, AFileOfYourOwnSaysOnlyThatItWasMeasuredElsewhere) {
  const test::TemporaryDirectory folder;
  ASSERT_EQ(test::run_corun({"model", "fit", "--pairs", "papers", "--model", "contention", "--out",
                             "m.model", "--quiet"},
                            folder.path())
                .code,
            0);
  const auto noted = [&](const std::string& machine) {
    folder.write("t.csv", kHead + "x,50,20,1000,y,90,60,4000," + machine + "\n");
    return test::run_corun({"model", "predict", "--model", "m.model", "--pairs", "t.csv", "--out",
                            "o.csv", "--force"},
                           folder.path())
        .err;
  };
  EXPECT_NE(
      noted("A100-80GB,MPS")
          .find("m.model was fitted to measurements on V100-16GB with time-slicing; A100-80GB with "
                "mps is not among them: the level of the costs there is a guess"),
      std::string::npos)
      << noted("A100-80GB,MPS");
  EXPECT_EQ(noted("V100,time-slicing").find("m.model was fitted"), std::string::npos);
  EXPECT_EQ(noted(",").find("m.model was fitted"), std::string::npos) << "not known to differ";
  const auto replay = [&](const std::string& world, const std::string& gpu,
                          const std::string& sharing) {
    return test::run_corun(
        {"replay", "--set", "world.path=" + world, "--set", "cluster.gpu_type=" + gpu, "--set",
         "cluster.sharing=" + sharing, "--set", "replications=1", "--policies", "random"},
        folder.path());
  };
  const std::string all = "modelled 0.0 %, extrapolated 100.0 %";
  const std::string none = "modelled 100.0 %, extrapolated 0.0 %";
  for (const char* world : {"m.model", "prefitted"}) {
    EXPECT_NE(replay(world, "V100-16GB", "time-slicing").out.find(none), std::string::npos);
    EXPECT_NE(replay(world, "T4", "time-slicing").out.find(all), std::string::npos) << world;
    // prefitted has pairs of a V100 with MPS, but of jobs with other features.
    EXPECT_NE(replay(world, "V100-16GB", "mps").out.find(all), std::string::npos) << world;
  }
  EXPECT_NE(replay("m.model", "T4", "time-slicing").err.find("T4 with time-slicing is not among"),
            std::string::npos);
  EXPECT_NE(replay("prefitted", "V100-16GB", "time-slicing")
                .err.find("it was fitted on 24 of these 24 jobs, and errs more on others"),
            std::string::npos);
}

TEST(PrefittedModel, TheNameIsNoFileAndNoOutput) {
  const test::TemporaryDirectory folder;
  const auto fit = [&](const std::string& out) {
    return test::run_corun(
        {"model", "fit", "--pairs", "papers", "--model", "contention", "--out", out, "--quiet"},
        folder.path());
  };
  const auto refused = fit("prefitted");
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("--out: 'prefitted' is the name of the model that comes with corun"),
            std::string::npos)
      << refused.err;
  ASSERT_EQ(fit("./prefitted").code, 0);
  folder.write("t.csv", kHead + "x,50,20,1000,y,90,60,4000,V100,time-slicing\n");
  const auto predict = [&](const std::string& model) {
    return test::run_corun(
        {"model", "predict", "--model", model, "--pairs", "t.csv", "--out", "o.csv", "--force"},
        folder.path());
  };
  EXPECT_NE(predict("prefitted").err.find("comes with corun"), std::string::npos);
  const auto by_path = predict("./prefitted");
  EXPECT_EQ(by_path.code, 0) << by_path.err;
  EXPECT_EQ(by_path.err.find("comes with corun"), std::string::npos) << by_path.err;
}

TEST(PrefittedModel, TheScriptMakesItsBytes) {
  for (const char* table : {"coruns/gavel2019_v100_pairs.csv", "coruns/gavel2019_k80_pairs.csv",
                            "gavel/gavel_p100_pairs.csv", "gavel/gavel_k80_pairs.csv"}) {
    if (!test::has_public_data(table)) GTEST_SKIP() << test::not_checked(table);
  }
  const test::TemporaryDirectory folder;
  const std::string out = folder.path("again.model");
  const std::string command = "CORUN='" + std::string(CORUN_PROGRAM) + "' bash '" + kSource +
                              "/experiments/interference/prefit.sh' '" + out + "' >/dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(test::read_file(out), prefitted_bytes());
}

}  // namespace
}  // namespace corun::prefitted_model_test
