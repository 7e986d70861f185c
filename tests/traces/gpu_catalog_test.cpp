#include "traces/gpu_catalog.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/public_data.hpp"
#include "traces/csv_reader.hpp"

namespace corun::test::gpu_catalog_test {
namespace {

std::string name_of(std::string_view alias) {
  const GpuSpec* found = find_gpu(alias);
  return found == nullptr ? "" : found->name;
}

TEST(GpuCatalog, NamesAndFiguresAgree) {
  std::set<std::string> names;
  for (const GpuSpec& type : gpu_catalog()) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_EQ(name_of(type.name), type.name);
    EXPECT_GT(type.memory_mib, 0) << type.name;
    if (type.sms == 0) continue;  // an undisclosed model
    const double peak = 2 * type.cuda_cores * type.boost_mhz / 1e6;
    EXPECT_NEAR(type.fp32_tflops / peak, 1, 0.02) << type.name;
    EXPECT_GT(type.bandwidth_gbs, 0) << type.name;
    EXPECT_GT(type.threads_per_sm, 0) << type.name;
    EXPECT_GT(type.l2_mib, 0) << type.name;
    EXPECT_EQ(type.cuda_cores % type.sms, 0) << type.name;
    EXPECT_EQ(type.tensor_cores % type.sms, 0) << type.name;
  }
}

TEST(GpuCatalog, FindsTheNamesOfPublicTables) {
  for (const auto& [alias, name] :
       std::vector<std::pair<const char*, const char*>>{{"RTX 3090", "RTX-3090"},
                                                        {"RTX-3090", "RTX-3090"},
                                                        {"GeForce RTX 3090", "RTX-3090"},
                                                        {"A100-PCIE-40", "A100-PCIe-40GB"},
                                                        {"v100", "V100-16GB"},
                                                        {"V100M32", "V100-32GB"},
                                                        {"Tesla V100-SXM2-32GB", "V100-32GB"},
                                                        {"Tesla V100-PCIE-32GB", "V100-PCIe-32GB"},
                                                        {"Tesla P100-PCIE-16GB", "P100-16GB"},
                                                        {"NVIDIA_A100_80GB_PCIe", "A100-PCIe-80GB"},
                                                        {"NVIDIA_H100_80GB_HBM3", "H100-80GB"},
                                                        {"AMD_Instinct_MI210", "MI210"},
                                                        {"3g.20gb", "A100-40GB:3g.20gb"},
                                                        {"GeForce GTX TITAN X", "TITAN-X-Maxwell"},
                                                        {"TITAN X", "TITAN-X-Pascal"}}) {
    EXPECT_EQ(name_of(alias), name) << alias;
  }
  EXPECT_EQ(find_gpu("V10"), nullptr);
  EXPECT_NE(GpuTypes().advice("V100-16GBs").find("V100-16GB"), std::string::npos);
  EXPECT_TRUE(GpuTypes().same("RTX 3090", "rtx_3090"));
  EXPECT_TRUE(GpuTypes().same("mine", "mine"));
  EXPECT_FALSE(GpuTypes().same("mine", "other"));
  EXPECT_EQ(gpu_of_gavel("Tesla K80"), "k80");
  EXPECT_EQ(gpu_of_gavel("T4"), "");
}

TEST(GpuCatalog, SlicesHaveTheirShare) {
  const GpuSpec& slice = *find_gpu("A100-40GB:3g.20gb");
  EXPECT_EQ(slice.sms, 42);
  EXPECT_DOUBLE_EQ(slice.bandwidth_gbs, 1555.0 / 2);
  EXPECT_NEAR(slice.fp32_tflops, 19.49 * 42 / 108, 1e-9);
  EXPECT_EQ(find_gpu("1g.5gb")->sms, 14);
  EXPECT_EQ(find_gpu("7g.40gb")->sms, 98);
}

/// All names in a column of a table are known.
void expect_known(const std::string& file, const std::string& column,
                  const std::set<std::string>& others = {}) {
  if (!has_public_data(file)) GTEST_SKIP() << not_checked(file);
  CsvReader csv(public_data(file), {{column, true}}, {.ignore_unknown = true});
  const auto at = csv.column(column);
  std::size_t rows = 0;
  for (; csv.next(); ++rows) {
    const std::string name(csv.text(at));
    if (name.empty() || others.contains(name)) continue;
    EXPECT_NE(find_gpu(name), nullptr) << file << ": " << name;
  }
  EXPECT_GT(rows, 0U);
}

TEST(GpuCatalog, KnowsTheTypesOfLambda) {
  expect_known("jobs/lambda/lambda_single_gpu.csv", "gpu_type");
}
TEST(GpuCatalog, KnowsTheTypesOfTheReferenceTable) {
  expect_known("jobs/reference/gpus.csv", "gpu");
}
TEST(GpuCatalog, KnowsTheTypesOfIterationTimes) {
  expect_known("jobs/pytorch_gpu_benchmark/iteration_times.csv", "gpu");
  expect_known("jobs/pytorch_gpu_benchmark/iteration_times.csv", "gpu_type");
}
TEST(GpuCatalog, KnowsTheTypesOfCnnTimes) {
  expect_known("jobs/cnn_benchmarks/cnn_times.csv", "gpu", {"c4.4xlarge"});
}
TEST(GpuCatalog, KnowsTheTypesOfNeusight) {
  expect_known("jobs/neusight/e2e_latency.csv", "gpu");
  expect_known("jobs/neusight/op_conv.csv", "gpu");
  expect_known("jobs/neusight/op_linear.csv", "gpu");
}
TEST(GpuCatalog, KnowsTheTypesOfSiaAndMiso) {
  expect_known("jobs/sia/sia_1gpu_steps.csv", "gpu_type");
  expect_known("jobs/miso/miso_mig_steps.csv", "slice");
}
TEST(GpuCatalog, KnowsTheTypesOfCoRuns) {
  expect_known("gavel/gavel_v100_pairs.csv", "gpu");
  expect_known("gavel/gavel_k80_pairs.csv", "gpu");
  expect_known("coruns/igniter_v100_pairs.csv", "gpu");
  expect_known("coruns/nos_groups.csv", "gpu");
  expect_known("coruns/parvagpu_groups.csv", "gpu");
}
TEST(GpuCatalog, KnowsTheTypesOfNodes) {
  expect_known("openb/openb_node_list_gpu_node.csv", "model");
}

TEST(GpuCatalog, AgreesWithTheReferenceTable) {
  const std::string file = "jobs/reference/gpus.csv";
  if (!has_public_data(file)) GTEST_SKIP() << not_checked(file);
  CsvReader csv(public_data(file),
                {{"gpu", true},
                 {"sms", true},
                 {"cuda_cores", true},
                 {"mem_bw_gbs", true},
                 {"fp32_tflops", true}},
                {.ignore_unknown = true});
  while (csv.next()) {
    const GpuSpec& type = *find_gpu(csv.text(csv.column("gpu")));
    const auto number = [&](const char* column) {
      return std::stod(std::string(csv.text(csv.column(column))));
    };
    EXPECT_EQ(type.sms, number("sms")) << type.name;
    EXPECT_EQ(type.cuda_cores, number("cuda_cores")) << type.name;
    EXPECT_NEAR(type.bandwidth_gbs, number("mem_bw_gbs"), 1e-9) << type.name;
    // The table's peak of the P100 belongs to a boost clock of 1,329 MHz, not to its 1,303.
    if (type.name == "P100-16GB") continue;
    EXPECT_NEAR(type.fp32_tflops, number("fp32_tflops"), 1e-9) << type.name;
  }
}

// Each row of gpu_figures.csv has what one public source says of a type. `differs` names its figures that are
// others than ours; docs/gpus.md gives the reasons.
TEST(GpuCatalog, FiguresAgreeWithTheirSources) {
  struct Figure {
    const char* column;
    double (*ours)(const GpuSpec&);
  };
  constexpr std::array<Figure, 8> kFigures{
      {{"sms", [](const GpuSpec& g) { return static_cast<double>(g.sms); }},
       {"cuda_cores", [](const GpuSpec& g) { return static_cast<double>(g.cuda_cores); }},
       {"tensor_cores", [](const GpuSpec& g) { return static_cast<double>(g.tensor_cores); }},
       {"memory_gib", [](const GpuSpec& g) { return g.memory_mib / 1024; }},
       {"bandwidth_gbs", [](const GpuSpec& g) { return g.bandwidth_gbs; }},
       {"boost_mhz", [](const GpuSpec& g) { return g.boost_mhz; }},
       {"fp32_tflops", [](const GpuSpec& g) { return g.fp32_tflops; }},
       {"l2_mib", [](const GpuSpec& g) { return g.l2_mib; }}}};
  std::vector<CsvColumn> columns{{"type", true}, {"source", true}, {"differs", true}};
  for (const Figure& figure : kFigures) columns.push_back({figure.column, true});
  CsvReader csv(CORUN_SOURCE_DIR "/tests/traces/gpu_figures.csv", columns);
  std::map<std::string, std::set<std::string>> sources;
  while (csv.next()) {
    const GpuSpec* type = find_gpu(csv.text(csv.column("type")));
    ASSERT_NE(type, nullptr) << csv.text(csv.column("type"));
    const std::string source(csv.text(csv.column("source")));
    EXPECT_TRUE(sources[type->name].insert(source).second) << type->name << " " << source;
    const std::string differs = " " + std::string(csv.text(csv.column("differs"))) + " ";
    for (const Figure& figure : kFigures) {
      const auto theirs = csv.number(csv.column(figure.column), {"a number", 0, 1e6});
      if (!theirs) continue;
      const double ours = figure.ours(*type);
      const bool near = std::fabs(ours - *theirs) <= 0.01 * std::max(ours, *theirs);
      const bool noted = differs.find(std::string(" ") + figure.column + " ") != differs.npos;
      EXPECT_NE(near, noted) << type->name << ": " << figure.column << " is " << ours << ", "
                             << source << " says " << *theirs;
    }
  }
  for (const GpuSpec& type : gpu_catalog()) {
    const bool is_slice = type.name.find(':') != type.name.npos;
    if (is_slice || type.sms == 0) continue;
    EXPECT_GE(sources[type.name].size(), 2U) << type.name;
  }
}

}  // namespace
}  // namespace corun::test::gpu_catalog_test
