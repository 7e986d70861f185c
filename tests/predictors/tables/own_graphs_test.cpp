#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "predictors/graph/zoo/zoo.hpp"
#include "predictors/tables/job_table.hpp"
#include "tests/helpers/public_data.hpp"

/// corun's graphs beside the shape-only execution of others: timm's memory sweep has the bytes that PyTorch's fake
/// tensors count.
namespace corun::own_graphs_test {
namespace {

TEST(OwnGraphs, AgreeWithFakeTensors) {
  const std::string file = "jobs/timm_memory_a100/timm_memory_clean.csv";
  const std::string path = test::public_data(file);
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  const std::map<std::string, std::string, std::less<>> zoo{
      {"mnasnet_050", "mnasnet0_5"},
      {"mnasnet_100", "mnasnet1_0"},
      {"mobilenetv2_100", "mobilenet_v2"},
      {"mobilenetv3_large_100", "mobilenet_v3_large"},
      {"mobilenetv3_small_100", "mobilenet_v3_small"},
      {"resnet34", "resnet34"},
      {"resnet101", "resnet101"},
      {"resnext50_32x4d", "resnext50_32x4d"},
      {"resnext101_64x4d", "resnext101_64x4d"},
      {"wide_resnet101_2", "wide_resnet101_2"},
      {"vgg11_bn", "vgg11_bn"},
      {"vgg16", "vgg16"},
      {"vgg16_bn", "vgg16_bn"}};
  const JobTable table = read_job_table(path, Target::kMemory, GpuTypes());
  std::size_t compared = 0;
  for (const JobTableRow& row : table.rows) {
    const auto name = zoo.find(row.names[0]);
    const JobFigures& theirs = row.job.figures;
    if (name == zoo.end() || theirs.batch < 32) continue;
    // The sweep ran all of them at 224 x 224; its img_px is another for the ResNets.
    JobFigures ours;
    set_graph(ours, build_zoo_model(*find_zoo_model(name->second), {.pixels = 224}), theirs.batch,
              true);
    EXPECT_NEAR(ours.kept_bytes / theirs.kept_bytes, 1, 0.04) << name->second;
    EXPECT_NEAR(ours.peak_bytes / theirs.peak_bytes, 1, 0.04) << name->second;
    ++compared;
  }
  EXPECT_GE(compared, 30U);
}

}  // namespace
}  // namespace corun::own_graphs_test
