#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/graph/execution.hpp"
#include "predictors/onnx/onnx_import.hpp"
#include "tests/predictors/onnx/file_builder.hpp"

/// Bodies of If, Loop and Scan, and functions.
namespace corun::onnx_control_flow_test {
namespace {

using namespace test::onnx_files;
using Type = onnx::TensorProto;

constexpr std::int64_t kWidth = 64;
constexpr std::int64_t kProduct = kWidth * kWidth;

std::string error_of(FileBuilder& file) {
  try {
    import_onnx(file.bytes());
    return "";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

/// `products` of x, one behind the other, by weights w0, w1, ... of the graph around, to `output`.
FileBuilder products(int count, const std::string& output, const std::string& prefix = "w") {
  FileBuilder body;
  std::string from = "x";
  for (int i = 0; i < count; ++i) {
    const std::string to = i + 1 == count ? output : output + std::to_string(i);
    body.node("MatMul", {from, prefix + std::to_string(i)}, {to});
    from = to;
  }
  body.output(output);
  return body;
}

FileBuilder choice_file(int then_products, int else_products) {
  FileBuilder file;
  file.input("x", {1, kWidth}).output("y");
  for (int i = 0; i < std::max(then_products, else_products); ++i) {
    file.weight("w" + std::to_string(i), {kWidth, kWidth});
  }
  auto& node = file.node("If", {"go"}, {"y"});
  FileBuilder then_body = products(then_products, "a"), else_body = products(else_products, "b");
  FileBuilder::add_body(node, "then_branch", then_body);
  FileBuilder::add_body(node, "else_branch", else_body);
  return file;
}

TEST(OnnxControlFlow, TheLargerBranchCounts) {
  for (const auto& [then_products, else_products] :
       std::vector<std::pair<int, int>>{{1, 3}, {3, 1}, {2, 2}}) {
    FileBuilder file = choice_file(then_products, else_products);
    file.input("go", {}, Type::BOOL);
    const OnnxModel model = import_onnx(file.bytes());
    const GraphTotals totals = totals_of(model.graph);
    const int larger = std::max(then_products, else_products);
    EXPECT_EQ(model.unknown_count(), 0);
    EXPECT_EQ(totals.multiply_adds, larger * kProduct);
    EXPECT_EQ(totals.parameters, larger * kProduct);
    EXPECT_EQ(model.outputs.at(0).shape, (Shape{1, kWidth}));
    EXPECT_TRUE(model.outputs[0].derived);
  }
}

TEST(OnnxControlFlow, AConstantConditionTakesItsBranch) {
  for (const bool go : {true, false}) {
    FileBuilder file = choice_file(1, 3);
    file.truth("go", go);
    EXPECT_EQ(totals_of(import_onnx(file.bytes()).graph).multiply_adds, (go ? 1 : 3) * kProduct);
  }
}

/// As exporters write a squeeze of a dimension that may be 1: one branch does not fit.
TEST(OnnxControlFlow, ABranchThatDoesNotFitDoesNotCount) {
  FileBuilder file;
  file.input("x", {2, 3}).input("go", {}, Type::BOOL).output("y").numbers("axes", {1});
  auto& node = file.node("If", {"go"}, {"y"});
  FileBuilder squeezed, kept;
  squeezed.output("a").node("Squeeze", {"x", "axes"}, {"a"});
  kept.output("b").node("Neg", {"x"}, {"b"});
  FileBuilder::add_body(node, "then_branch", squeezed);
  FileBuilder::add_body(node, "else_branch", kept);
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{2, 3}));
  EXPECT_EQ(model.notes.size(), 1U);
  node.mutable_attribute(1)->mutable_g()->mutable_node(0)->set_input(0, "ghost");
  EXPECT_EQ(error_of(file), "If 'y': Squeeze 'a': a view of 2 x 3 as 2") << "neither fits";
}

/// A loop of `trips` (none: an input) whose body multiplies the state by w.
FileBuilder loop_file(std::optional<std::int64_t> trips) {
  FileBuilder file;
  file.input("x", {1, kWidth}).output("y").weight("w", {kWidth, kWidth}).truth("go", true);
  if (trips) {
    file.numbers("trips", {*trips}, true);
  } else {
    file.input("trips", {}, Type::INT64);
  }
  FileBuilder body;
  body.input("i", {}, Type::INT64).input("on", {}, Type::BOOL).input("h", {1, kWidth});
  body.node("MatMul", {"h", "w"}, {"product"});
  body.node("Relu", {"product"}, {"next"});
  body.node("Identity", {"on"}, {"still"});
  body.output("still").output("next");
  auto& node = file.node("Loop", {"trips", "go", "x"}, {"y"});
  FileBuilder::add_body(node, "body", body);
  return file;
}

TEST(OnnxControlFlow, ALoopCountsForEachTrip) {
  for (const std::int64_t trips : {1, 3, 1000}) {
    FileBuilder file = loop_file(trips);
    const OnnxModel model = import_onnx(file.bytes());
    const GraphTotals totals = totals_of(model.graph);
    const auto times = static_cast<double>(trips);
    EXPECT_EQ(model.unknown_count(), 0);
    EXPECT_TRUE(model.notes.empty());
    EXPECT_EQ(totals.multiply_adds, times * kProduct);
    EXPECT_EQ(totals.parameters, kProduct);
    EXPECT_EQ(totals.weight_bytes, 4 * kProduct);
    EXPECT_EQ(totals.forward_kernels, times * 2) << "the product, the function";
    EXPECT_EQ(model.outputs.at(0).shape, (Shape{1, kWidth}));
    // Inference needs the memory of one trip, training what all of them keep.
    FileBuilder once = loop_file(1);
    const OnnxModel one = import_onnx(once.bytes());
    EXPECT_EQ(inference_memory(model.graph, 1).peak_bytes,
              inference_memory(one.graph, 1).peak_bytes);
    EXPECT_GE(training_memory(model.graph, 1, 0).kept_bytes, times * 4 * kWidth);
  }
}

TEST(OnnxControlFlow, TripsThatAreNoneOrNotKnown) {
  FileBuilder none = loop_file(0);
  const OnnxModel model = import_onnx(none.bytes());
  EXPECT_EQ(model.graph.size(), 1U);
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{1, kWidth}));
  FileBuilder negative = loop_file(-5);
  EXPECT_EQ(import_onnx(negative.bytes()).graph.size(), 1U);
  for (const auto& trips : {std::optional<std::int64_t>(), std::optional(INT64_MAX)}) {
    FileBuilder file = loop_file(trips);
    const OnnxModel unknown = import_onnx(file.bytes());
    EXPECT_EQ(totals_of(unknown.graph).multiply_adds, kProduct);
    ASSERT_EQ(unknown.notes.size(), 1U);
    EXPECT_NE(unknown.notes[0].find("trips is not known; the body counts once: Loop 'y'"),
              std::string::npos)
        << unknown.notes[0];
  }
}

TEST(OnnxControlFlow, LoopsInLoopsMultiply) {
  FileBuilder file = loop_file(10);
  FileBuilder inner = loop_file(20);
  inner.graph().mutable_node(0)->set_input(0, "more");
  inner.graph().mutable_node(0)->set_input(2, "h");
  inner.graph().mutable_node(0)->set_output(0, "next");
  auto* body = file.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  body->mutable_node()->DeleteSubrange(0, 2);
  *body->add_node() = inner.graph().node(0);
  file.numbers("more", {20}, true);
  EXPECT_EQ(totals_of(import_onnx(file.bytes()).graph).multiply_adds, 200 * kProduct);
}

TEST(OnnxControlFlow, WhatTripsWriteIsStacked) {
  FileBuilder file;
  file.input("x", {1, kWidth}).output("all").output("last").numbers("trips", {7}, true);
  FileBuilder body;
  body.input("i", {}, Type::INT64).input("on", {}, Type::BOOL).input("h", {1, kWidth});
  body.node("Neg", {"h"}, {"next"});
  body.node("Transpose", {"next"}, {"turned"});
  body.output("on").output("next").output("turned");
  auto& node = file.node("Loop", {"trips", "", "x"}, {"last", "all"});
  FileBuilder::add_body(node, "body", body);
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{7, kWidth, 1}));
  EXPECT_EQ(model.outputs.at(1).shape, (Shape{1, kWidth}));
  EXPECT_TRUE(model.outputs[0].derived);
}

TEST(OnnxControlFlow, AScanHasATripForEachStep) {
  FileBuilder file;
  file.input("x", {9, kWidth}).output("all").output("sum");
  file.weight("w", {kWidth, kWidth}).weight("start", {kWidth});
  FileBuilder body;
  body.input("s", {kWidth}).input("step", {kWidth});
  body.node("MatMul", {"step", "w"}, {"h"});
  body.node("Add", {"s", "h"}, {"next"});
  body.output("next").output("h");
  auto& node = file.node("Scan", {"start", "x"}, {"sum", "all"}, {{"num_scan_inputs", 1}});
  FileBuilder::add_body(node, "body", body);
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{9, kWidth}));
  EXPECT_EQ(totals_of(model.graph).multiply_adds, 9.0 * kProduct / 9) << "for one of 9 samples";
  EXPECT_EQ(totals_of(model.graph).parameters, kProduct);
}

TEST(OnnxControlFlow, FunctionsAreTheirBodies) {
  FileBuilder file;
  file.input("x", {1, kWidth}).output("y").weight("w0", {kWidth, kWidth});
  file.weight("w1", {kWidth, kWidth});
  FileBuilder linear;
  linear.node("MatMul", {"a", "b"}, {"c"});
  linear.node("LeakyRelu", {"c"}, {"d"}).add_attribute()->set_name("alpha");
  linear.graph().mutable_node(1)->mutable_attribute(0)->set_ref_attr_name("slope");
  linear.graph().mutable_node(1)->mutable_attribute(0)->set_type(onnx::AttributeProto::FLOAT);
  FileBuilder twice;
  twice.call("Linear", {"p", "q"}, {"t"}, {{"slope", 0.1}});
  twice.call("Linear", {"t", "r"}, {"u"});
  file.function("Twice", {"p", "q", "r"}, {"u"}, twice);
  file.function("Linear", {"a", "b"}, {"d"}, linear);
  file.call("Twice", {"x", "w0", "w1"}, {"y"});
  FileBuilder plain;
  plain.input("x", {1, kWidth}).output("y").weight("w0", {kWidth, kWidth});
  plain.weight("w1", {kWidth, kWidth});
  plain.node("MatMul", {"x", "w0"}, {"c0"});
  plain.node("LeakyRelu", {"c0"}, {"d0"});
  plain.node("MatMul", {"d0", "w1"}, {"c1"});
  plain.node("LeakyRelu", {"c1"}, {"y"});
  const OnnxModel model = import_onnx(file.bytes()), expected = import_onnx(plain.bytes());
  EXPECT_EQ(model.unknown_count(), 0);
  ASSERT_EQ(model.graph.size(), expected.graph.size());
  for (std::size_t i = 0; i < model.graph.size(); ++i) {
    EXPECT_EQ(model.graph[i].kind, expected.graph[i].kind);
    EXPECT_EQ(model.graph[i].in_place, expected.graph[i].in_place);
    EXPECT_EQ(model.graph[i].parameters, expected.graph[i].parameters);
  }
  EXPECT_EQ(training_memory(model.graph, 8, 1).total_bytes(),
            training_memory(expected.graph, 8, 1).total_bytes());
}

TEST(OnnxControlFlow, AttributesOfCallsReachTheBody) {
  FileBuilder file;
  file.input("x", {2, 3, 5}).output("y").output("z");
  FileBuilder body;
  auto* attribute = body.node("Transpose", {"a"}, {"b"}).add_attribute();
  attribute->set_name("perm");
  attribute->set_ref_attr_name("order");
  attribute->set_type(onnx::AttributeProto::INTS);
  file.function("Turn", {"a"}, {"b"}, body);
  file.call("Turn", {"x"}, {"y"}, {{"order", Numbers{1, 0, 2}}});
  file.call("Turn", {"x"}, {"z"});
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{3, 2, 5}));
  EXPECT_EQ(model.outputs.at(1).shape, (Shape{5, 3, 2})) << "without it";
}

TEST(OnnxControlFlow, OnlyWhatACallUsesCounts) {
  FileBuilder file;
  file.input("x", {1, kWidth}).output("y").weight("w0", {kWidth, kWidth});
  FileBuilder body = products(1, "unused", "v");
  body.node("Neg", {"x"}, {"b"});
  file.function("Both", {"x", "v0"}, {"b", "unused"}, body);
  file.call("Both", {"x", "w0"}, {"y", "aside"});
  EXPECT_EQ(totals_of(import_onnx(file.bytes()).graph).multiply_adds, 0);
}

TEST(OnnxControlFlow, FunctionsWithoutEndAreRefused) {
  FileBuilder file;
  file.input("x", {1, 4}).output("y");
  FileBuilder a, b;
  a.call("B", {"x"}, {"y"});
  b.call("A", {"x"}, {"y"});
  file.function("A", {"x"}, {"y"}, a).function("B", {"x"}, {"y"}, b);
  file.call("A", {"x"}, {"y"});
  EXPECT_EQ(error_of(file), "function own.A calls itself; an ONNX function may not");

  // Each calls the next one ten times.
  FileBuilder many;
  many.input("x", {1, 4}).output("y");
  constexpr int kLevels = 12;
  for (int level = 0; level < kLevels; ++level) {
    FileBuilder body;
    std::string from = "x";
    for (int i = 0; i < 10; ++i) {
      const std::string to = i == 9 ? "y" : "t" + std::to_string(i);
      if (level + 1 < kLevels) {
        body.call("F" + std::to_string(level + 1), {from}, {to});
      } else {
        body.node("Neg", {from}, {to});
      }
      from = to;
    }
    many.function("F" + std::to_string(level), {"x"}, {"y"}, body);
  }
  many.call("F0", {"x"}, {"y"});
  EXPECT_NE(error_of(many).find("more than"), std::string::npos) << error_of(many);

  FileBuilder deep;
  deep.input("x", {1, 4}).output("y");
  for (int level = 0; level < 5000; ++level) {
    FileBuilder body;
    body.call("F" + std::to_string(level + 1), {"x"}, {"y"});
    deep.function("F" + std::to_string(level), {"x"}, {"y"}, body);
  }
  deep.call("F0", {"x"}, {"y"});
  EXPECT_NE(error_of(deep).find("more than 100 deep"), std::string::npos) << error_of(deep);
}

TEST(OnnxControlFlow, MistakesInsideAreNamedWithTheirCaller) {
  FileBuilder file;
  file.input("x", {1, kWidth}).output("y").weight("w0", {3, 3});
  FileBuilder body = products(1, "b", "v");
  file.function("F", {"x", "v0"}, {"b"}, body);
  file.call("F", {"x", "w0"}, {"y"});
  EXPECT_EQ(error_of(file), "own.F 'y': MatMul 'b': a matrix product of 1 x 64 and 3 x 3");
  file.graph().mutable_node(0)->add_input("x");
  EXPECT_NE(error_of(file).find("3 inputs and 1 outputs; the function has 2 and 1"),
            std::string::npos)
      << error_of(file);
}

/// Trips of trips of trips: figures grow beyond any machine, and stay numbers.
TEST(OnnxControlFlow, ManyTripsDoNotOverflow) {
  FileBuilder file = loop_file(1'000'000'000);
  for (int level = 0; level < 15; ++level) {
    FileBuilder outer = loop_file(1'000'000'000);
    auto* body = outer.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
    body->mutable_node()->DeleteSubrange(0, 2);
    auto* inner = body->add_node();
    *inner = file.graph().node(0);
    inner->set_input(2, "h");
    inner->set_output(0, "next");
    file = outer;
  }
  const GraphTotals totals = totals_of(import_onnx(file.bytes()).graph);
  EXPECT_DOUBLE_EQ(totals.multiply_adds / kProduct, 1e144);
  EXPECT_EQ(totals.parameters, kProduct);
}

}  // namespace
}  // namespace corun::onnx_control_flow_test
