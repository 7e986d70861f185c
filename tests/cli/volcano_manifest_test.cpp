#include "results/export/volcano_manifest.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "sim/error.hpp"
#include "tests/helpers/program.hpp"

namespace corun::volcano_manifest_test {
namespace {

ContainerTable containers() {
  ContainerTable table;
  table.name = "containers.csv";
  table.jobs["ResNet 50"] = {"registry.example/resnet:2", {"python", "train.py"}, {"--batch", "1"}};
  table.jobs["yes"] = {"image", {}, {}};
  return table;
}

TEST(VolcanoManifest, AJobNamesSchedulerNodeAndMemory) {
  const std::vector<PlacedJob> jobs{{"ResNet 50", 3, 8141}, {"yes", 0, 7}};
  const std::vector<YAML::Node> documents = YAML::LoadAll(volcano_manifest(jobs, containers()));
  ASSERT_EQ(documents.size(), 2U);
  const YAML::Node& first = documents[0];
  EXPECT_EQ(first["apiVersion"].as<std::string>(), "batch/v1");
  EXPECT_EQ(first["kind"].as<std::string>(), "Job");
  EXPECT_EQ(first["metadata"]["annotations"]["corun/job"].as<std::string>(), "ResNet 50");
  const YAML::Node pod = first["spec"]["template"]["spec"];
  EXPECT_EQ(pod["schedulerName"].as<std::string>(), "volcano");
  EXPECT_EQ(pod["restartPolicy"].as<std::string>(), "Never");
  EXPECT_EQ(pod["nodeSelector"]["corun/node"].as<std::string>(), "3");
  ASSERT_EQ(pod["containers"].size(), 1U);
  const YAML::Node container = pod["containers"][0];
  EXPECT_EQ(container["name"].as<std::string>(), first["metadata"]["name"].as<std::string>());
  EXPECT_EQ(container["image"].as<std::string>(), "registry.example/resnet:2");
  EXPECT_EQ(container["command"].as<std::vector<std::string>>(),
            (std::vector<std::string>{"python", "train.py"}));
  EXPECT_EQ(container["args"].as<std::vector<std::string>>(),
            (std::vector<std::string>{"--batch", "1"}));
  EXPECT_EQ(container["resources"]["limits"]["volcano.sh/gpu-memory"].as<int>(), 8141);
  EXPECT_FALSE(documents[1]["spec"]["template"]["spec"]["containers"][0]["command"]);
}

TEST(VolcanoManifest, TextsThatLookLikeOtherTypesAreQuoted) {
  const std::string text = volcano_manifest(std::vector<PlacedJob>{{"yes", 0, 7}}, containers());
  EXPECT_NE(text.find("name: \"yes\""), std::string::npos) << text;
  EXPECT_NE(text.find("corun/node: \"0\""), std::string::npos) << text;
}

TEST(VolcanoManifest, AJobWithoutAContainerIsRefused) {
  try {
    volcano_manifest(std::vector<PlacedJob>{{"other", 0, 7}}, containers());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("containers.csv: no row for job 'other'"),
              std::string::npos);
  }
  EXPECT_THROW(volcano_manifest(std::vector<PlacedJob>{{"yes", 0, 7}, {"yes", 1, 7}}, containers()),
               std::logic_error);
}

class ReplayVolcano : public testing::Test {
 protected:
  test::TemporaryDirectory directory_;
  std::string jobs_ = directory_.write(
      "jobs.csv", "job,submit_s,solo_s,mem_used_mib\na,0,100,4000\nb,0,100,7000\nc,1,50,\n");
  std::string images_ = directory_.write("images.csv", "job,image\na,one\nb,two\nc,three\n");
  std::string out_ = directory_.path("jobs.yaml");

  test::Outcome replay(std::vector<std::string> more) {
    std::vector<std::string> all{"replay",         jobs_,  "--cluster", "1x1:T4+1x1:P4",
                                 "--replications", "1",    "--volcano", out_,
                                 "--containers",   images_};
    all.insert(all.end(), more.begin(), more.end());
    return test::run_corun(all);
  }
};

TEST_F(ReplayVolcano, HandsOverTheMemoryWithTheMargin) {
  const auto run = replay({"--policies", "schedtune"});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::vector<YAML::Node> documents = YAML::LoadAllFromFile(out_);
  ASSERT_EQ(documents.size(), 3U);
  for (const YAML::Node& job : documents) {
    const std::string name = job["metadata"]["name"].as<std::string>();
    const YAML::Node pod = job["spec"]["template"]["spec"];
    const int asked =
        pod["containers"][0]["resources"]["limits"]["volcano.sh/gpu-memory"].as<int>();
    const std::string node = pod["nodeSelector"]["corun/node"].as<std::string>();
    if (name == "a") EXPECT_EQ(asked, 4360);  // 4,000 and 8.98 %, rounded up
    if (name == "b") EXPECT_EQ(asked, 7629);
    // Of unknown memory: the whole of the larger GPU.
    if (name == "c") EXPECT_EQ(asked, 16384);
    if (name == "c") EXPECT_EQ(node, "0");
  }
}

TEST_F(ReplayVolcano, Refusals) {
  const auto refused = [&](const std::vector<std::string>& more, const std::string& why) {
    const auto run = replay(more);
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.err.find(why), std::string::npos) << run.err;
  };
  refused({"--policies", "fifo,sjf"}, "--volcano: found 2 policies");
  images_ = directory_.write("few.csv", "job,image\na,one\n");
  refused({"--policies", "fifo"}, "no row for job 'b'");
  jobs_ = directory_.write("gang.csv", "job,submit_s,solo_s,gpus\na,0,100,2\n");
  refused({"--policies", "fifo"}, "job 'a' wants 2 GPUs");
  const auto alone = test::run_corun({"replay", jobs_, "--gpus", "2", "--containers", images_});
  EXPECT_EQ(alone.code, 2);
  EXPECT_NE(alone.err.find("--containers: goes with --volcano"), std::string::npos) << alone.err;
  const auto without = test::run_corun({"replay", jobs_, "--gpus", "2", "--volcano", out_});
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("--volcano: needs the images"), std::string::npos) << without.err;
  const auto gang = test::run_corun({"replay", jobs_, "--gpus", "2", "--policies", "fifo",
                                     "--volcano", out_, "--containers", images_});
  EXPECT_EQ(gang.code, 2);
  EXPECT_NE(gang.err.find("job 'a' wants 2 GPUs"), std::string::npos) << gang.err;
}

}  // namespace
}  // namespace corun::volcano_manifest_test
