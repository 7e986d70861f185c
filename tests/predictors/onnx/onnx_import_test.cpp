#include "predictors/onnx/onnx_import.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/graph/execution.hpp"
#include "predictors/graph/graph_builder.hpp"
#include "tests/predictors/onnx/file_builder.hpp"

/// Whole models: networks, shape arithmetic of exported programs, open dimensions, unknown operators.
namespace corun::onnx_import_test {
namespace {

using namespace test::onnx_files;

std::string error_of(const std::string& bytes, const OnnxOptions& options = {}) {
  try {
    import_onnx(bytes, options);
    return "";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

void expect_equal(const GraphTotals& a, const GraphTotals& b) {
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.parameter_tensors, b.parameter_tensors);
  EXPECT_EQ(a.multiply_adds, b.multiply_adds);
  EXPECT_EQ(a.grouped_multiply_adds, b.grouped_multiply_adds);
  EXPECT_EQ(a.input_elements, b.input_elements);
  EXPECT_EQ(a.activation_elements, b.activation_elements);
  EXPECT_EQ(a.weighted_outputs, b.weighted_outputs);
  EXPECT_EQ(a.bytes_moved, b.bytes_moved);
  EXPECT_EQ(a.operations, b.operations);
  EXPECT_EQ(a.elements, b.elements);
  EXPECT_EQ(a.forward_kernels, b.forward_kernels);
  EXPECT_EQ(a.backward_kernels, b.backward_kernels);
}

constexpr std::int64_t kSamples = 4;
constexpr int kBlocks = 8;

/// A residual network of kBlocks blocks with a shortcut by convolution where the width grows.
ComputationGraph built_network() {
  GraphBuilder b(kSamples);
  const auto convolution = [&](auto in, std::int64_t channels, std::int64_t size,
                               std::int64_t stride) {
    return b.batch_norm(
        "",
        b.convolution(
            "", in,
            {.channels = channels, .kernel = {size}, .stride = {stride}, .padding = {size / 2}}));
  };
  auto x = b.input("image", {kSamples, 3, 64, 64});
  x = b.relu("", convolution(x, 16, 7, 2));
  x = b.pooling("", x, {.kernel = {3}, .stride = {2}, .padding = {1}});
  for (int block = 0; block < kBlocks; ++block) {
    const std::int64_t channels = 16LL << (block / 2);
    const std::int64_t stride = block % 2 == 0 && block > 0 ? 2 : 1;
    auto y = b.relu("", convolution(x, channels, 3, stride));
    y = convolution(y, channels, 3, 1);
    if (stride == 2) x = convolution(x, channels, 1, 2);
    x = b.relu("", b.sum("", y, x));
  }
  x = b.flatten("", b.global_pooling("", x));
  b.linear("", x, 10, true);
  return b.take();
}

class NetworkFile {
 public:
  std::string bytes() {
    file_.input("image", {kSamples, 3, 64, 64});
    std::string x = convolution("image", 3, 16, 7, 2);
    x = add("Relu", {x});
    x = add("MaxPool", {x},
            {{"kernel_shape", Numbers{3, 3}},
             {"strides", Numbers{2, 2}},
             {"pads", Numbers{1, 1, 1, 1}}});
    std::int64_t width = 16;
    for (int block = 0; block < kBlocks; ++block) {
      const std::int64_t channels = 16LL << (block / 2);
      const std::int64_t stride = block % 2 == 0 && block > 0 ? 2 : 1;
      std::string y = add("Relu", {convolution(x, width, channels, 3, stride)});
      y = convolution(y, channels, channels, 3, 1);
      if (stride == 2) x = convolution(x, width, channels, 1, 2);
      x = add("Relu", {add("Add", {y, x})});
      width = channels;
    }
    x = add("Flatten", {add("GlobalAveragePool", {x})});
    file_.weight("fc", {10, width}).weight("bias", {10});
    x = add("Gemm", {x, "fc", "bias"}, {{"transB", 1}});
    file_.output(x, {kSamples, 10});
    return file_.bytes();
  }

 private:
  std::string add(const std::string& operation, const Names& inputs,
                  const std::vector<Setting>& settings = {}) {
    std::string output = "t" + std::to_string(next_++);
    file_.node(operation, inputs, {output}, settings);
    return output;
  }

  std::string convolution(const std::string& in, std::int64_t from, std::int64_t to,
                          std::int64_t size, std::int64_t stride) {
    const std::string id = std::to_string(next_);
    file_.weight("w" + id, {to, from, size, size});
    const std::string x = add("Conv", {in, "w" + id},
                              {{"kernel_shape", Numbers{size, size}},
                               {"strides", Numbers{stride, stride}},
                               {"pads", Numbers(4, size / 2)}});
    Names norm{x};
    for (const char* what : {"scale", "shift", "mean", "variance"}) {
      norm.push_back(what + id);
      file_.weight(norm.back(), {to});
    }
    return add("BatchNormalization", norm);
  }

  FileBuilder file_;
  int next_ = 0;
};

TEST(OnnxImport, NetworkIsThatOfTheBuilder) {
  const ComputationGraph built = built_network();
  const OnnxModel model = import_onnx(NetworkFile().bytes());
  EXPECT_EQ(model.samples_in_file, kSamples);
  EXPECT_EQ(model.unknown_count(), 0);
  EXPECT_TRUE(model.notes.empty()) << model.notes[0];
  EXPECT_EQ(model.graph.size(), built.size());
  expect_equal(totals_of(model.graph), totals_of(built));
  const MemoryNeed a = training_memory(model.graph, 32, 1);
  const MemoryNeed b = training_memory(built, 32, 1);
  EXPECT_EQ(a.total_bytes(), b.total_bytes());
  EXPECT_EQ(a.kept_bytes, b.kept_bytes);
  EXPECT_EQ(a.workspace_bytes, b.workspace_bytes);
}

TEST(OnnxImport, InPlaceOnlyWhereNothingElseReadsTheInput) {
  FileBuilder file;
  file.input("x", {1, 4}).output("s", {1, 4});
  file.node("Neg", {"x"}, {"n"});
  file.node("Relu", {"n"}, {"r"});
  file.node("Relu", {"r"}, {"q"});
  file.node("Add", {"n", "q"}, {"s"});
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_FALSE(model.graph[2].in_place);
  EXPECT_TRUE(model.graph[3].in_place);
}

/// The view that PyTorch exports for x.view(x.size(0), x.size(1) * x.size(2), -1).
TEST(OnnxImport, ShapeArithmeticIsFoldedAway) {
  FileBuilder file;
  file.input("x", {2, 3, 4, 5}).output("y").numbers("zero", {0}, true);
  file.numbers("first", {1}).numbers("last", {3}).numbers("axes", {0}).numbers("open", {-1});
  file.node("Shape", {"x"}, {"shape"});
  file.node("Gather", {"shape", "zero"}, {"batch"}, {{"axis", 0}});
  file.node("Unsqueeze", {"batch", "axes"}, {"batch1"});
  file.node("Slice", {"shape", "first", "last", "axes"}, {"middle"});
  file.node("ReduceProd", {"middle"}, {"product"}, {{"keepdims", 1}});
  file.node("Concat", {"batch1", "product", "open"}, {"to"}, {{"axis", 0}});
  file.node("Reshape", {"x", "to"}, {"y"});
  OnnxOptions options;
  options.use_stated_shapes = false;
  const OnnxModel model = import_onnx(file.bytes(), options);
  ASSERT_EQ(model.graph.size(), 2U);
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{2, 12, 5}));
  EXPECT_TRUE(model.outputs[0].derived);
  EXPECT_EQ(totals_of(model.graph).parameters, 0);
}

/// An upsampling to twice the lengths by floating-point arithmetic, and a range of positions.
TEST(OnnxImport, FoldsCastsDivisionsAndRanges) {
  FileBuilder file;
  file.input("x", {2, 3, 5, 7}).output("y").output("z").reals("scales", {1, 1, 2, 2});
  file.numbers("zero", {0}, true).numbers("one", {1}, true).numbers("two", {2}, true);
  file.node("Shape", {"x"}, {"shape"});
  file.node("Cast", {"shape"}, {"real"}, {{"to", 1}});
  file.node("Mul", {"real", "scales"}, {"scaled"});
  file.node("Floor", {"scaled"}, {"floored"});
  file.node("Cast", {"floored"}, {"sizes"}, {{"to", 7}});
  file.node("Resize", {"x", "", "", "sizes"}, {"y"});
  file.node("Gather", {"shape", "one"}, {"channels"});
  file.node("Div", {"channels", "two"}, {"half"});  // 3 / 2 is 1
  file.node("Range", {"zero", "half", "one"}, {"positions"});
  file.node("Gather", {"x", "positions"}, {"z"}, {{"axis", 1}});
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{2, 3, 10, 14}));
  EXPECT_EQ(model.outputs.at(1).shape, (Shape{2, 1, 5, 7}));
  EXPECT_EQ(model.graph.size(), 3U);
}

TEST(OnnxImport, OpenDimensions) {
  FileBuilder file;
  file.input("ids", {1, 1}, onnx::TensorProto::INT64).open(0, 0, "N").open(0, 1, "tokens");
  file.weight("table", {100, 8}).output("y", {1, 1, 8});
  file.node("Gather", {"table", "ids"}, {"y"});
  EXPECT_EQ(error_of(file.bytes()),
            "dimension 1 of input 'ids' is open; a size for 'tokens' is needed");
  OnnxOptions options;
  options.sizes["tokens"] = 16;
  EXPECT_EQ(import_onnx(file.bytes(), options).graph.samples(), 1);
  options.samples = 5;
  const OnnxModel model = import_onnx(file.bytes(), options);
  EXPECT_EQ(model.samples_in_file, 0);
  EXPECT_EQ(model.graph.samples(), 5);
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{5, 16, 8}));
  options.sizes["tokens"] = -3;
  EXPECT_EQ(error_of(file.bytes(), options), "input 'ids' has a size of -3");
  options.samples = 0;
  EXPECT_EQ(error_of(file.bytes(), options), "0 samples were asked for");
}

TEST(OnnxImport, AFixedNumberOfSamplesStays) {
  FileBuilder file;
  file.input("x", {3, 4}).output("y", {3, 4}).node("Relu", {"x"}, {"y"});
  OnnxOptions options;
  options.samples = 8;
  const OnnxModel model = import_onnx(file.bytes(), options);
  EXPECT_EQ(model.graph.samples(), 3);
  EXPECT_EQ(model.notes,
            (std::vector<std::string>{"the file is for 3 samples; the 8 asked for are not used"}));
}

TEST(OnnxImport, TiedWeightsCountOnce) {
  FileBuilder file;
  file.input("ids", {1, 6}, onnx::TensorProto::INT64).weight("table", {100, 8}).output("y");
  file.node("Gather", {"table", "ids"}, {"x"});
  file.node("Transpose", {"table"}, {"turned"}, {{"perm", Numbers{1, 0}}});
  file.node("MatMul", {"x", "turned"}, {"y"});
  const OnnxModel model = import_onnx(file.bytes());
  ASSERT_EQ(model.graph.size(), 3U);
  EXPECT_EQ(model.graph[1].parameters, 800);
  EXPECT_EQ(model.graph[2].parameters, 0);
  EXPECT_EQ(model.graph[2].kind, OperationKind::kLinear);
  EXPECT_EQ(model.graph[2].multiply_adds, 6.0 * 800);
  EXPECT_EQ(totals_of(model.graph).parameter_tensors, 1);
}

TEST(OnnxImport, UnknownOperatorsAreNamedCountedAndKept) {
  FileBuilder file;
  file.input("x", {2, 8}).output("y").weight("w", {8, 3}).weight("v", {5, 7});
  file.value_info("b", {2, 5});
  file.node("Attention", {"x", "w"}, {"a"}).set_domain("com.example");
  file.node("Attention", {"a"}, {"b"}).set_domain("com.example");
  file.node("Spectrum", {"b"}, {"c"});
  file.node("MatMul", {"c", "w"}, {"y"});  // does not fit the guess, which may be wrong
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(
      model.unknown_operators,
      (std::map<std::string, int>{{"com.example.Attention", 2}, {"Spectrum", 1}, {"MatMul", 1}}));
  ASSERT_EQ(model.graph.size(), 5U);
  EXPECT_EQ(model.graph[1].type, "com.example.Attention");
  EXPECT_EQ(model.graph[1].output, (Shape{2, 8})) << "of the input";
  EXPECT_EQ(model.graph[1].parameters, 24);
  EXPECT_EQ(model.graph[2].output, (Shape{2, 5})) << "as the file says";
  EXPECT_EQ(model.graph.inputs(3), (std::vector<ComputationGraph::Node>{2}));
  EXPECT_FALSE(model.outputs.at(0).derived);
}

TEST(OnnxImport, BodiesOfControlFlowAreCounted) {
  FileBuilder file;
  file.input("x", {2, 8}).input("go", {}, onnx::TensorProto::BOOL).output("y");
  auto& loop = file.node("If", {"go"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* branch = loop.add_attribute();
    branch->set_name(name);
    branch->set_type(onnx::AttributeProto::GRAPH);
    for (int i = 0; i < 3; ++i) {
      auto* node = branch->mutable_g()->add_node();
      node->set_op_type("Relu");
      node->add_input(i == 0 ? "x" : "t" + std::to_string(i));
      node->add_output("t" + std::to_string(i + 1));
    }
  }
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(model.unknown_operators, (std::map<std::string, int>{{"If (6 operators inside)", 1}}));
  const auto inputs = model.graph.inputs(2);
  EXPECT_NE(std::ranges::find(inputs, 0U), inputs.end()) << "the bodies read x";
}

TEST(OnnxImport, EmptyTensorsAreLeftOut) {
  FileBuilder file;
  file.input("cache", {1, 0, 8}).input("x", {1, 4, 8}).output("y");
  file.node("Concat", {"cache", "x"}, {"y"}, {{"axis", 1}});
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(model.graph.size(), 2U);
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{1, 4, 8}));
}

TEST(OnnxImport, WholeNumbersHaveNoBackwardPass) {
  FileBuilder file;
  file.input("x", {1, 4}).output("y");
  file.node("ArgMax", {"x"}, {"i"}, {{"axis", 1}});
  file.node("Add", {"i", "i"}, {"y"});
  const OnnxModel model = import_onnx(file.bytes());
  for (const std::size_t node : {1, 2}) {
    EXPECT_EQ(model.graph[node].kind, OperationKind::kCopy);
    EXPECT_EQ(model.graph[node].backward_kernels, 0);
  }
}

TEST(OnnxImport, WeightsInOtherFilesAndWithoutNumbers) {
  FileBuilder file;
  file.input("x", {2, 8}).output("y").weight("w", {8, 3}).weight("v", {3, 4});
  auto* first = file.graph().mutable_initializer(0);
  first->clear_raw_data();
  first->set_data_location(onnx::TensorProto::EXTERNAL);
  file.graph().mutable_initializer(1)->clear_raw_data();
  file.node("MatMul", {"x", "w"}, {"h"});
  file.node("MatMul", {"h", "v"}, {"y"});
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(totals_of(model.graph).parameters, 36);
  EXPECT_EQ(model.notes.size(), 1U);
}

}  // namespace
}  // namespace corun::onnx_import_test
