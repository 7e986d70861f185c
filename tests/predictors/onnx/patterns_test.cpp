#include "predictors/onnx/patterns.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/onnx/onnx_import.hpp"
#include "tests/predictors/onnx/file_builder.hpp"

/// Layers as PyTorch exports them: several operators.
namespace corun::onnx_patterns_test {
namespace {

using namespace test::onnx_files;

FileBuilder file_of_tokens() {
  FileBuilder file;
  file.input("x", {2, 7, 32}).output("y").reals("two", {2}).reals("half", {0.5}).reals("one", {1});
  file.weight("w", {32}).weight("b", {32});
  return file;
}

void expect_one(FileBuilder& file, OperationKind kind, std::int64_t parameters) {
  const OnnxModel model = import_onnx(file.bytes());
  ASSERT_EQ(model.graph.size(), 2U);
  EXPECT_EQ(model.graph[1].kind, kind);
  EXPECT_EQ(model.graph[1].output, (Shape{2, 7, 32}));
  EXPECT_EQ(totals_of(model.graph).parameters, parameters);
  // Another reader of what lies between them: nothing is joined if it counts.
  const std::string inner = file.graph().node(0).output(0);
  const int nodes = file.graph().node_size();
  file.node("Neg", {inner}, {"z"});
  EXPECT_EQ(import_onnx(file.bytes()).graph.size(), 2U);
  file.output("z");
  EXPECT_EQ(import_onnx(file.bytes()).graph.size(), static_cast<std::size_t>(nodes) + 2);
}

TEST(OnnxPatterns, Gates) {
  for (const char* gate : {"Sigmoid", "HardSigmoid"}) {
    FileBuilder file = file_of_tokens();
    file.node(gate, {"x"}, {"s"});
    file.node("Mul", {"x", "s"}, {"y"});
    expect_one(file, OperationKind::kActivation, 0);
  }
}

TEST(OnnxPatterns, Gelu) {
  for (const bool half_first : {false, true}) {
    FileBuilder file = file_of_tokens();
    file.node("Div", {"x", "two"}, {"d"});
    file.node("Erf", {"d"}, {"e"});
    file.node("Add", {"e", "one"}, {"a"});
    file.node("Mul", {"x", half_first ? "half" : "a"}, {"m"});
    file.node("Mul", {"m", half_first ? "a" : "half"}, {"y"});
    expect_one(file, OperationKind::kActivation, 0);
  }
}

TEST(OnnxPatterns, LayerNorm) {
  for (const bool power : {false, true}) {
    FileBuilder file = file_of_tokens();
    file.node("ReduceMean", {"x"}, {"mean"}, {{"axes", Numbers{-1}}});
    file.node("Sub", {"x", "mean"}, {"c"});
    file.node(power ? "Pow" : "Mul", {"c", power ? "two" : "c"}, {"q"});
    file.node("ReduceMean", {"q"}, {"v"}, {{"axes", Numbers{-1}}});
    file.node("Add", {"v", "half"}, {"e"});
    file.node("Sqrt", {"e"}, {"s"});
    file.node("Div", {"c", "s"}, {"n"});
    file.node("Mul", {"n", "w"}, {"g"});
    file.node("Add", {"g", "b"}, {"y"});
    expect_one(file, OperationKind::kNormalisation, 64);
  }
}

/// PyTorch's group norm: an instance norm of groups without weights, then weights of channels.
TEST(OnnxPatterns, GroupNormHasTheChannelsParameters) {
  FileBuilder file;
  file.input("x", {2, 8, 4, 4}).output("y").weight("w", {8, 1, 1}).weight("b", {8, 1, 1});
  file.numbers("groups", {0, 2, -1});
  for (const char* name : {"ones", "zeros"}) {
    auto* value = file.node("Constant", {}, {name}).add_attribute();
    value->set_name("value");
    value->set_type(onnx::AttributeProto::TENSOR);
    value->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
    value->mutable_t()->add_dims(2);
    value->mutable_t()->add_float_data(1);
    value->mutable_t()->add_float_data(1);
  }
  file.node("Reshape", {"x", "groups"}, {"r"});
  file.node("InstanceNormalization", {"r", "ones", "zeros"}, {"i"});
  file.node("Shape", {"x"}, {"shape"});
  file.node("Reshape", {"i", "shape"}, {"k"});
  file.node("Mul", {"k", "w"}, {"m"});
  file.node("Add", {"m", "b"}, {"y"});
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(totals_of(model.graph).parameters, 16);
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{2, 8, 4, 4}));
}

}  // namespace
}  // namespace corun::onnx_patterns_test
