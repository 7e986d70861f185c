#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/graph/execution.hpp"
#include "predictors/onnx/onnx_import.hpp"
#include "predictors/physics/time_terms.hpp"
#include "tests/predictors/onnx/file_builder.hpp"
#include "traces/gpu_catalog.hpp"

/// Bytes by type, weights that are not floating point or not initialisers, time by precision.
namespace corun::onnx_data_types_test {
namespace {

using namespace test::onnx_files;
using Type = onnx::TensorProto;

constexpr int kUint4 = 21, kInt4 = 22;  // of versions after 1.12
constexpr std::int64_t kWidth = 256;
constexpr std::int64_t kNumbers = kWidth * kWidth;

/// x times a tensor "w", which the caller adds.
FileBuilder product_file(int type, const std::string& weights = "w") {
  FileBuilder file;
  file.input("x", {1, kWidth}, type).open(0, 0, "N").output("y");
  file.node("MatMul", {"x", weights}, {"y"});
  return file;
}

GraphTotals totals_of_file(FileBuilder& file) {
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(model.unknown_count(), 0);
  return totals_of(model.graph);
}

TEST(OnnxDataTypes, FloatingWeightsAndActivationsHaveTheirBytes) {
  const std::vector<std::pair<int, double>> types{
      {Type::FLOAT, 4}, {Type::FLOAT16, 2}, {Type::BFLOAT16, 2}, {Type::DOUBLE, 8}};
  for (const auto& [type, bytes] : types) {
    FileBuilder file = product_file(type);
    file.weight_of_type("w", {kWidth, kWidth}, type);
    const OnnxModel model = import_onnx(file.bytes());
    const GraphTotals totals = totals_of(model.graph);
    EXPECT_EQ(totals.parameters, kNumbers) << type;
    EXPECT_EQ(totals.weight_bytes, bytes * kNumbers) << type;
    EXPECT_EQ(totals.input_bytes, bytes * kWidth) << type;
    EXPECT_EQ(totals.bytes_moved, 2 * bytes * kWidth) << type;
    EXPECT_EQ(totals.multiply_adds, kNumbers) << type;
    const MemoryNeed inference = inference_memory(model.graph, 8);
    EXPECT_EQ(inference.weights_bytes, bytes * kNumbers) << type;
    EXPECT_EQ(inference.peak_bytes, 8 * 2 * bytes * kWidth) << type;
    const MemoryNeed training = training_memory(model.graph, 8, 2);
    EXPECT_EQ(training.gradients_bytes, bytes * kNumbers) << type;
    EXPECT_EQ(training.optimiser_bytes, 2 * bytes * kNumbers) << type;
  }
}

TEST(OnnxDataTypes, WholeNumbersHaveTheirBytes) {
  for (const auto& [type, bytes] : std::vector<std::pair<int, double>>{
           {Type::INT64, 8}, {Type::INT32, 4}, {Type::UINT8, 1}, {Type::BOOL, 1}}) {
    FileBuilder file;
    file.input("x", {1, 64}, type).output("y");
    file.node("Transpose", {"x"}, {"y"});
    const OnnxModel model = import_onnx(file.bytes());
    EXPECT_EQ(model.graph.bytes(0), 64 * bytes) << type;
    EXPECT_EQ(model.graph.bytes(1), 64 * bytes) << type;
  }
}

TEST(OnnxDataTypes, QuantisedWeightsAreWeightsBehindAnyView) {
  for (const auto& [type, bytes] : std::vector<std::pair<int, double>>{
           {Type::INT8, 1}, {Type::UINT8, 1}, {kInt4, 0.5}, {kUint4, 0.5}}) {
    FileBuilder file = product_file(Type::FLOAT, "turned");
    file.weight_of_type("q", {kNumbers}, type).reals("scale", {1}).numbers("to", {kWidth, kWidth});
    file.graph().mutable_node()->Clear();
    file.node("Reshape", {"q", "to"}, {"square"});
    file.node("DequantizeLinear", {"square", "scale"}, {"w"});
    file.node("Cast", {"w"}, {"cast"}, {{"to", Type::FLOAT}});
    file.node("Transpose", {"cast"}, {"turned"});
    file.node("MatMul", {"x", "turned"}, {"y"});
    const OnnxModel model = import_onnx(file.bytes());
    const GraphTotals totals = totals_of(model.graph);
    EXPECT_EQ(model.graph.size(), 2U) << "the input and the product";
    EXPECT_EQ(totals.parameters, kNumbers) << type;
    EXPECT_EQ(totals.weight_bytes, bytes * kNumbers) << type;
    EXPECT_EQ(totals.multiply_adds, kNumbers) << type;
    // Training changes none of them.
    const MemoryNeed training = training_memory(model.graph, 1, 2);
    EXPECT_EQ(training.weights_bytes, bytes * kNumbers);
    EXPECT_EQ(training.gradients_bytes + training.optimiser_bytes, 0);
  }
}

TEST(OnnxDataTypes, PackedDataIsHalfAByte) {
  const auto with = [](std::size_t bytes) {
    FileBuilder file = product_file(Type::FLOAT, "w");
    file.graph().mutable_node()->Clear();
    file.weight_of_type("q", {3, 5}, kInt4).reals("scale", {1});
    file.graph().mutable_initializer(0)->set_raw_data(std::string(bytes, '\1'));
    file.node("DequantizeLinear", {"q", "scale"}, {"w"});
    file.node("Neg", {"x"}, {"y"});
    return file.bytes();
  };
  EXPECT_NO_THROW(import_onnx(with(8))) << "15 numbers, the last half byte is free";
  EXPECT_THROW(import_onnx(with(7)), std::invalid_argument);
  EXPECT_THROW(import_onnx(with(15)), std::invalid_argument);
}

TEST(OnnxDataTypes, OperatorsOfQuantisedNumbers) {
  FileBuilder file;
  file.input("x", {2, 3, 8, 8}, Type::UINT8).output("y").output("z");
  file.weight_of_type("k", {4, 3, 3, 3}, Type::INT8).weight_of_type("w", {144, 10}, Type::INT8);
  file.weight_of_type("zero", {}, Type::UINT8).reals("scale", {1}).numbers("to", {2, -1});
  file.node("QLinearConv", {"x", "scale", "zero", "k", "scale", "zero", "scale", "zero"}, {"c"});
  file.node("Reshape", {"c", "to"}, {"f"});
  file.node("QLinearMatMul", {"f", "scale", "zero", "w", "scale", "zero", "scale", "zero"}, {"y"});
  file.node("MatMulInteger", {"f", "w"}, {"z"});
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(model.unknown_count(), 0);
  ASSERT_EQ(model.graph.size(), 5U);
  EXPECT_EQ(model.graph[1].kind, OperationKind::kConvolution);
  EXPECT_EQ(model.graph[1].multiply_adds, 2 * 4 * 36 * 27);
  EXPECT_EQ(model.graph[1].frozen_parameters, 4 * 27);
  EXPECT_EQ(model.graph.bytes(1), 2 * 144);
  EXPECT_EQ(model.graph[3].frozen_bytes, 1440);
  EXPECT_EQ(model.graph[3].backward_kernels, 0);
  EXPECT_EQ(model.graph[4].frozen_bytes, 0) << "counted for the first";
  EXPECT_EQ(model.graph.bytes(4), 2 * 10 * 4);
}

/// O02: weights that an operator of ONNX Runtime unpacks, and one that nobody knows.
TEST(OnnxDataTypes, PackedWeightsOfOtherOperators) {
  FileBuilder file;
  file.input("x", {1, 128}).output("y");
  file.weight_of_type("w", {64, 4, 16}, Type::UINT8).weight_of_type("s", {64 * 4}, Type::FLOAT);
  file.node("MatMulNBits", {"x", "w", "s"}, {"h"}, {{"K", 128}, {"N", 64}, {"bits", 4}})
      .set_domain("com.microsoft");
  file.weight_of_type("v", {8192}, Type::UINT8).weight_of_type("u", {3, 3}, Type::UINT8);
  file.node("Unheard", {"h", "v", "u"}, {"y"}).set_domain("com.example");
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(model.unknown_operators, (std::map<std::string, int>{{"com.example.Unheard", 1}}));
  EXPECT_EQ(model.graph[1].output, (Shape{1, 64}));
  EXPECT_EQ(model.graph[1].multiply_adds, 128 * 64);
  EXPECT_EQ(model.graph[1].frozen_parameters, 128 * 64);
  EXPECT_EQ(model.graph[1].frozen_bytes, 128 * 64 / 2);
  EXPECT_EQ(model.graph[2].frozen_bytes, 8192);
}

TEST(OnnxDataTypes, GeneratedWeightsAreWeights) {
  {
    FileBuilder file = product_file(Type::FLOAT);
    file.graph().mutable_node()->Clear();
    file.numbers("size", {kWidth, kWidth});
    file.node("ConstantOfShape", {"size"}, {"w"});
    file.node("MatMul", {"x", "w"}, {"y"});
    const GraphTotals totals = totals_of_file(file);
    EXPECT_EQ(totals.parameters, kNumbers);
    EXPECT_EQ(totals.weight_bytes, 4 * kNumbers);
  }
  {
    FileBuilder file = product_file(Type::FLOAT16);
    file.graph().mutable_node()->Clear();
    for (const char* name : {"w", "bias"}) {
      auto* value = file.node("Constant", {}, {name}).add_attribute();
      value->set_name("value");
      value->set_type(onnx::AttributeProto::TENSOR);
      FileBuilder::describe(*value->mutable_t(), {kWidth, kWidth}, Type::FLOAT16);
    }
    file.node("MatMul", {"x", "w"}, {"h"});
    file.node("Add", {"h", "bias"}, {"y"});
    const GraphTotals totals = totals_of_file(file);
    EXPECT_EQ(totals.parameters, 2 * kNumbers);
    EXPECT_EQ(totals.weight_bytes, 2 * 2 * kNumbers);
  }
}

/// A mask is no weight, but lies in memory.
TEST(OnnxDataTypes, MasksAreBuffers) {
  FileBuilder file;
  file.input("x", {1, 64, 64}).output("y").reals("least", {-1e9F});
  file.weight_of_type("mask", {1, 64, 64}, Type::BOOL);
  file.node("Where", {"mask", "x", "least"}, {"y"});
  const GraphTotals totals = totals_of_file(file);
  EXPECT_EQ(totals.parameters, 0);
  EXPECT_EQ(totals.weight_bytes, 64 * 64);
}

TEST(OnnxDataTypes, WhatReachesNoOutputDoesNotCount) {
  FileBuilder file = product_file(Type::FLOAT);
  file.weight("w", {kWidth, kWidth}).weight("v", {kWidth, 512});
  file.input("unused", {1, 1}).open(1, 1, "open");
  file.node("MatMul", {"x", "v"}, {"aside"});
  file.node("Relu", {"aside"}, {"dead"});
  file.node("Neg", {"unused"}, {"also"});
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(model.graph.size(), 2U);
  EXPECT_EQ(totals_of(model.graph).parameters, kNumbers);
  EXPECT_EQ(model.notes,
            (std::vector<std::string>{"operations that reach no output do not count: 3"}));
}

TEST(OnnxDataTypes, HalfPrecisionGoesByTheTensorPeak) {
  const auto terms = [](int type, const char* gpu) {
    FileBuilder file = product_file(type);
    file.weight_of_type("w", {kWidth, kWidth}, type);
    const OnnxModel model = import_onnx(file.bytes());
    JobFigures figures;
    set_graph(figures, model.graph, 64, false);
    set_gpu(figures, *find_gpu(gpu));
    const TimeTerms all = time_terms(model.graph, figures);
    return all[static_cast<std::size_t>(TimeTerm::kProducts)];
  };
  const double flops = 2.0 * 64 * kNumbers;
  const auto ms = [&](double tflops) { return flops / (tflops * 1e9); };
  // Tensor cores x clock x operations per clock: the makers' peaks of 312, 65 and 125 TFLOP/s.
  EXPECT_NEAR(terms(Type::FLOAT16, "A100-80GB") / ms(312), 1, 0.01);
  EXPECT_NEAR(terms(Type::BFLOAT16, "A100-80GB") / ms(312), 1, 0.01);
  EXPECT_NEAR(terms(Type::FLOAT16, "T4") / ms(65.1), 1, 0.01);
  EXPECT_NEAR(terms(Type::FLOAT16, "V100-16GB") / ms(125), 1, 0.01);
  EXPECT_TRUE(std::isnan(terms(Type::BFLOAT16, "V100-16GB")));
  EXPECT_TRUE(std::isnan(terms(Type::FLOAT16, "P100-16GB")));
  EXPECT_TRUE(std::isnan(terms(Type::DOUBLE, "A100-80GB")));
  EXPECT_GT(terms(Type::FLOAT, "P100-16GB"), 0);
}

}  // namespace
}  // namespace corun::onnx_data_types_test
