#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/helpers/program.hpp"
#include "tests/predictors/onnx/file_builder.hpp"

/// `corun predict --onnx` for files of other types, open dimensions, control flow and functions.
namespace corun::predict_onnx_test {
namespace {

using namespace test::onnx_files;
using Type = onnx::TensorProto;
using Arguments = std::vector<std::string>;

constexpr std::int64_t kWidth = 2048;
constexpr int kLayers = 8;

/// Products with weights of a type, of which the file has no numbers.
FileBuilder mlp(int type, const Shape& input, bool quantised = false) {
  FileBuilder file;
  file.input("x", input, quantised ? static_cast<int>(Type::FLOAT) : type);
  if (quantised) file.weight("scale", {1});
  std::string from = "x";
  for (int i = 0; i < kLayers; ++i) {
    const std::string id = std::to_string(i);
    file.weight_of_type("w" + id, {kWidth, kWidth}, type);
    if (quantised) file.node("DequantizeLinear", {"w" + id, "scale"}, {"d" + id});
    file.node("MatMul", {from, (quantised ? "d" : "w") + id}, {"y" + id});
    from = "y" + id;
  }
  file.output(from);
  return file;
}

class PredictOnnx : public testing::Test {
 protected:
  test::Outcome run(FileBuilder& file, const Arguments& more) {
    Arguments arguments{"predict", "--onnx", directory_.write("model.onnx", file.bytes()),
                        "--phase", "inference"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_corun(arguments, directory_.path());
  }
  /// On one GPU type.
  nlohmann::json json(FileBuilder& file, Arguments more, const std::string& gpu = "A100-80GB") {
    more.insert(more.end(), {"--gpu", gpu, "--format", "json"});
    const auto outcome = run(file, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    err_ = outcome.err;
    auto all = nlohmann::json::parse(outcome.out);
    all["gpu"] = all.at("gpu_types").at(0);
    return all;
  }
  double memory(FileBuilder& file, const Arguments& more) {
    return json(file, more).at("gpu").at("memory_mib").at("median");
  }
  void expect_refused(FileBuilder& file, const Arguments& more, const std::string& reason) {
    const auto outcome = run(file, more);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(reason), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  }

  test::TemporaryDirectory directory_;
  std::string err_;
};

TEST_F(PredictOnnx, WeightsTakeTheMemoryOfTheirType) {
  // A product of one row by one weight needs next to nothing else.
  FileBuilder single = mlp(Type::FLOAT, {-1, kWidth});
  const double of_single = memory(single, {"--batch", "1"});
  for (const auto& [type, bytes] : std::vector<std::pair<int, double>>{
           {Type::FLOAT16, 2}, {Type::BFLOAT16, 2}, {Type::DOUBLE, 8}}) {
    FileBuilder file = mlp(type, {-1, kWidth});
    EXPECT_EQ(json(file, {}).at("weight_bytes"), bytes * kLayers * kWidth * kWidth);
    EXPECT_NEAR(memory(file, {"--batch", "1"}) - of_single, 1.1 * (bytes - 4) * kLayers * 4, 2);
  }
}

/// O03: weights do not grow with the batch.
TEST_F(PredictOnnx, QuantisedWeightsDoNotGrowWithTheBatch) {
  FileBuilder file = mlp(Type::INT8, {-1, kWidth}, true);
  const auto one = json(file, {"--batch", "1"}), many = json(file, {"--batch", "320"});
  EXPECT_EQ(one.at("parameters"), kLayers * kWidth * kWidth);
  EXPECT_EQ(one.at("weight_bytes"), kLayers * kWidth * kWidth);
  EXPECT_EQ(one.at("multiply_adds"), kLayers * kWidth * kWidth);
  const double grown = many.at("gpu").at("memory_mib").at("median").get<double>() -
                       one.at("gpu").at("memory_mib").at("median").get<double>();
  EXPECT_GT(grown, 4);
  EXPECT_LT(grown, 8) << "twice 320 rows of 2048 numbers are 5 MiB";
}

TEST_F(PredictOnnx, HalfPrecisionIsFasterOrHasNoTime) {
  FileBuilder single = mlp(Type::FLOAT, {-1, kWidth}), half = mlp(Type::FLOAT16, {-1, kWidth});
  const Arguments batch{"--batch", "100000"};
  const auto time = [&](FileBuilder& file, const std::string& gpu) {
    return json(file, batch, gpu).at("gpu").at("step_ms").at("median");
  };
  const double least = 2.0 * 100000 * kLayers * kWidth * kWidth / 312e9;  // ms at 312 TFLOP/s
  EXPECT_GE(time(half, "A100-80GB"), least);
  EXPECT_LE(time(half, "A100-80GB").get<double>(), time(single, "A100-80GB").get<double>() / 2);
  EXPECT_NE(err_.find("note"), std::string::npos);
  EXPECT_TRUE(time(half, "P100-16GB").is_null());
  EXPECT_NE(err_.find("float16, of which no peak is known for P100-16GB: no time"),
            std::string::npos)
      << err_;
  FileBuilder other = mlp(Type::BFLOAT16, {-1, kWidth});
  EXPECT_TRUE(time(other, "V100-16GB").is_null());
  EXPECT_NE(err_.find("bfloat16, of which no peak"), std::string::npos) << err_;
}

TEST_F(PredictOnnx, SizesOfOpenDimensions) {
  FileBuilder file = mlp(Type::FLOAT, {-1, kWidth});
  expect_refused(file, {"--size", "heigth=512"},
                 "no dimension 'heigth' is open in the file; open are: x.0");
  expect_refused(file, {"--size", "x.0=8", "--batch", "9"}, "--size: x.0=8, but --batch is 9");
  expect_refused(file, {"--size", "x.0=0"}, "x.0=0: a step has 1 sample or more");
  expect_refused(file, {"--size", "x.0=-1"}, "a whole number, 0 or more");
  expect_refused(file, {"--size", "x.0=8", "--size", "x.0=7"}, "but 8 was given before");
  EXPECT_EQ(json(file, {"--size", "x.0=8", "--batch", "8"}), json(file, {"--batch", "8"}));
  EXPECT_EQ(json(file, {"--size", "x.0=8"}), json(file, {"--batch", "8"}));
  FileBuilder wide = mlp(Type::FLOAT, {-1, -1, kWidth});
  wide.open(0, 0, "seq").open(0, 1, "batch");
  expect_refused(wide, {"--batch", "8"}, "a size for 'seq' is needed; give --size seq=N");
  expect_refused(wide, {"--batch", "8", "--size", "batch=16", "--size", "seq=2"},
                 "--size: batch=16, but --batch is 8");
  EXPECT_EQ(json(wide, {"--batch", "8", "--size", "seq=2"}).at("multiply_adds"),
            2 * kLayers * kWidth * kWidth);
}

}  // namespace
}  // namespace corun::predict_onnx_test
