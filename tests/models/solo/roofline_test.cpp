#include "models/solo/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/public_data.hpp"
#include "traces/csv_reader.hpp"
#include "traces/gpu_catalog.hpp"

namespace corun::test::roofline_test {
namespace {

constexpr JobId kJob{0};

TEST(Roofline, IsTheWeightedMeanOfBothRatiosInLogarithms) {
  const GpuSpec from{.bandwidth_gbs = 100, .fp32_tflops = 10};
  GpuSpec to{.bandwidth_gbs = 800, .fp32_tflops = 10};
  EXPECT_DOUBLE_EQ(Roofline().predict(kJob, from, to)->speed, 4);  // 8^(2/3)
  to.fp32_tflops = 80;
  EXPECT_DOUBLE_EQ(Roofline().predict(kJob, from, to)->speed, 8);
  EXPECT_DOUBLE_EQ(Roofline().predict(kJob, to, from)->speed, 1.0 / 8);
  EXPECT_FALSE(Roofline().predict(kJob, from, GpuSpec{}));
  EXPECT_FALSE(Roofline().predict(kJob, GpuSpec{}, to));
}

TEST(Roofline, ContextsGrowWithResidentThreads) {
  const double v100 = context_mib(*find_gpu("V100-16GB")).value();
  const double rtx5000 = context_mib(*find_gpu("Quadro RTX 5000")).value();
  EXPECT_NEAR(v100 - rtx5000, 256, 20) << "Lambda measured 256 MiB";
  EXPECT_NEAR(
      context_mib(*find_gpu("RTX 2080")).value() - context_mib(*find_gpu("RTX 2070 Max-Q")).value(),
      24, 2)
      << "10 SMs of 1,024 threads: 24 MiB";
  EXPECT_FALSE(context_mib(*find_gpu("G1")));
}

/// Log speeds by job and GPU type.
using Table = std::map<std::string, std::map<std::string, std::vector<double>>>;

/// Standard deviations of the logarithm of the error, over all ordered pairs of types: of the mean of a pair
/// of types, and of the jobs around it.
std::pair<double, double> deviations(const Table& table) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> errors;
  for (const auto& [job, types] : table) {
    for (const auto& [a, of_a] : types) {
      for (const auto& [b, of_b] : types) {
        if (a == b) continue;
        const auto found = Roofline().predict(kJob, *find_gpu(a), *find_gpu(b));
        const auto median = [](std::vector<double> x) {
          std::ranges::sort(x);
          return x[x.size() / 2];
        };
        errors[{a, b}].push_back(median(of_b) - median(of_a) - std::log(found->speed));
      }
    }
  }
  double between = 0;
  double within = 0;
  double n = 0;
  for (const auto& [pair, e] : errors) {
    double mean = 0;
    for (const double x : e) mean += x / static_cast<double>(e.size());
    between += mean * mean;
    for (const double x : e) within += (x - mean) * (x - mean) / static_cast<double>(e.size());
    ++n;
  }
  return {std::sqrt(between / n), std::sqrt(within / n)};
}

TEST(Roofline, DeviatesOnPublicTablesAsItSays) {
  const std::string file = "jobs/lambda/lambda_single_gpu.csv";
  if (!has_public_data(file)) GTEST_SKIP() << not_checked(file);
  Table table;
  CsvReader csv(public_data(file),
                {{"system", true},
                 {"gpu_type", true},
                 {"test", true},
                 {"precision", true},
                 {"throughput", true},
                 {"suspect", true}},
                {.ignore_unknown = true});
  const auto system = csv.column("system");
  const auto type = csv.column("gpu_type");
  while (csv.next()) {
    const std::string where(csv.text(system));
    if (csv.text(csv.column("suspect")) != "0" || where.ends_with("_v1")) continue;
    if (csv.text(csv.column("precision")) != "FP32" || csv.text(type).empty()) continue;
    const std::string throughput(csv.text(csv.column("throughput")));
    if (throughput.empty() || throughput == "0.0") continue;  // it did not run
    const double rate = std::stod(throughput);
    table[std::string(csv.text(csv.column("test")))][find_gpu(csv.text(type))->name].push_back(
        std::log(rate));
  }
  const auto [between, within] = deviations(table);
  EXPECT_NEAR(between, Roofline::kTypeSigma, 0.1);
  EXPECT_NEAR(within, Roofline::kJobSigma, 0.1);
  RecordProperty("between_types", std::to_string(between));
  RecordProperty("within", std::to_string(within));
}

}  // namespace
}  // namespace corun::test::roofline_test
