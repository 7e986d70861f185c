#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/onnx/onnx_import.hpp"
#include "sim/rng.hpp"
#include "tests/predictors/onnx/file_builder.hpp"

/// Files that are broken, contradict themselves, or ask for too much: each is refused in one line that says
/// why, or read. Then thousands of broken forms of a good file.
namespace corun::onnx_hostile_test {
namespace {

using namespace test::onnx_files;

/// What was said, or nothing where the bytes were read.
std::string error_of(const std::string& bytes) {
  try {
    const OnnxModel model = import_onnx(bytes);
    totals_of(model.graph);
    return "";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

void expect_refused(const std::string& bytes, const std::string& reason) {
  const std::string error = error_of(bytes);
  EXPECT_NE(error.find(reason), std::string::npos) << "'" << error << "' lacks '" << reason << "'";
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  EXPECT_LT(error.size(), 1000U) << error;
}

void expect_refused(FileBuilder& file, const std::string& reason) {
  expect_refused(file.bytes(), reason);
}

/// A small file with a bit of everything.
FileBuilder good_file() {
  FileBuilder file;
  file.input("image", {1, 3, 8, 8}).open(0, 0, "N").output("y", {1, 4});
  file.weight("w", {4, 3, 3, 3}).weight("fc", {64, 4}).weight("bias", {4});
  file.numbers("sizes", {0, -1}).numbers("starts", {0}).numbers("ends", {8}).numbers("axes", {2});
  file.node("Conv", {"image", "w", "bias"}, {"c"},
            {{"pads", Numbers{1, 1, 1, 1}}, {"strides", Numbers{1, 1}}, {"group", 1}});
  file.node("Relu", {"c"}, {"r"});
  file.node("MaxPool", {"r"}, {"p"}, {{"kernel_shape", Numbers{2, 2}}, {"strides", Numbers{2, 2}}});
  file.node("Slice", {"p", "starts", "ends", "axes"}, {"s"});
  file.node("Split", {"s"}, {"a", "b"}, {{"axis", 1}});
  file.node("Concat", {"a", "b"}, {"k"}, {{"axis", 1}});
  file.node("Resize", {"k", "", "scales"}, {"u"}, {{"mode", "nearest"}});
  file.reals("scales", {1, 1, 1, 1}).reals("one", {1}).numbers("open", {-1});
  file.weight("wi", {1, 32, 8}).weight("wh", {1, 32, 8});
  file.node("Reshape", {"u", "sizes"}, {"f"});
  file.node("ReduceMean", {"f"}, {"mean"}, {{"axes", Numbers{-1}}});
  file.node("Sub", {"f", "mean"}, {"d"});
  file.node("Mul", {"d", "d"}, {"q"});
  file.node("ReduceMean", {"q"}, {"v"}, {{"axes", Numbers{-1}}});
  file.node("Add", {"v", "one"}, {"e"});
  file.node("Sqrt", {"e"}, {"root"});
  file.node("Div", {"d", "root"}, {"norm"});
  file.node("Mul", {"norm", "one"}, {"scaled"});
  file.node("Add", {"scaled", "one"}, {"shifted"});
  file.node("Sigmoid", {"shifted"}, {"gate"});
  file.node("Mul", {"shifted", "gate"}, {"swish"});
  file.node("Shape", {"image"}, {"shape"});
  file.node("Gather", {"shape", "starts"}, {"samples"});
  file.node("Concat", {"samples", "ends", "open"}, {"steps"}, {{"axis", 0}});
  file.node("Reshape", {"swish", "steps"}, {"sequence"});
  file.node("Transpose", {"sequence"}, {"turned"}, {{"perm", Numbers{1, 0, 2}}});
  file.node("LSTM", {"turned", "wi", "wh"}, {"states", "last"}, {{"hidden_size", 8}});
  file.node("Einsum", {"turned", "states"}, {"pairs"}, {{"equation", "tnf,tdnf->tndf"}});
  file.node("Flatten", {"swish"}, {"flat"});
  file.node("Gemm", {"flat", "fc"}, {"g"});
  file.node("Add", {"g", "bias"}, {"h"});
  file.node("Softmax", {"h"}, {"y"}, {{"axis", -1}});
  return file;
}

TEST(OnnxHostile, TheGoodFileIsGood) { EXPECT_EQ(error_of(good_file().bytes()), ""); }

TEST(OnnxHostile, BytesThatAreNoModel) {
  expect_refused("", "the file is empty");
  expect_refused(std::string("not a model at all, but a text"), "not an ONNX model");
  expect_refused("\x89PNG\r\n\x1a\n", "not an ONNX model");
  expect_refused(std::string(100000, '\0'), "not an ONNX model");
  expect_refused(std::string("\x08\x08"), "no graph found");
  expect_refused(std::string(1000, '\xff'), "not an ONNX model");
  const std::string whole = good_file().bytes();
  int refused = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string error = error_of(whole.substr(0, length));
    EXPECT_EQ(error.find('\n'), std::string::npos);
    refused += !error.empty();
  }
  EXPECT_GE(refused, static_cast<int>(whole.size()) - 10) << "but for the end of optional fields";
}

TEST(OnnxHostile, TensorsThatAreNotThereOrTwice) {
  {
    FileBuilder file;
    file.input("x", {1}).output("y").node("Add", {"x", "ghost"}, {"y"});
    expect_refused(file, "reads tensor 'ghost', which nothing writes");
  }
  {
    FileBuilder file;
    file.input("x", {1}).output("y");
    file.node("Add", {"x", "y"}, {"z"});
    file.node("Relu", {"z"}, {"y"});
    expect_refused(file, "Add 'z': it reads tensor 'y', which only it or a later operation writes");
  }
  {
    FileBuilder file;
    file.input("x", {1}).output("y").node("Add", {"x", "y"}, {"y"});
    expect_refused(file, "a cycle");
  }
  {
    FileBuilder file;
    file.input("x", {1}).output("y");
    file.node("Relu", {"x"}, {"y"});
    file.node("Neg", {"x"}, {"y"});
    expect_refused(file, "a second tensor 'y'");
  }
  {
    FileBuilder file;
    file.input("x", {1}).input("x", {1});
    expect_refused(file, "a second tensor 'x'");
  }
  {
    FileBuilder file;
    file.weight("w", {1}).weight("w", {1});
    expect_refused(file, "a second tensor 'w'");
  }
  {
    FileBuilder file;
    file.input("x", {1}).output("nowhere").node("Relu", {"x"}, {"y"});
    expect_refused(file, "output 'nowhere' is written by nothing");
  }
}

TEST(OnnxHostile, SizesThatNoTensorHas) {
  const auto with_size = [](std::int64_t size) {
    FileBuilder file;
    file.input("x", {1, size, 1024}).output("y").node("Relu", {"x"}, {"y"});
    return file.bytes();
  };
  expect_refused(with_size(-1), "dimension 1 of input 'x' is open; a size for 'x.1' is needed");
  expect_refused(with_size(-2), "input 'x' has a size of -2");
  expect_refused(with_size(2'000'000'000'000), "more than 2^42 elements");
  expect_refused(with_size(INT64_MAX), "more than 2^42 elements");
  expect_refused(with_size(INT64_MIN), "has a size of -9223372036854775808");
  const auto weight_of = [](const Shape& dims) {
    FileBuilder file;
    file.input("x", {1}).weight("w", {1});
    auto* weight = file.graph().mutable_initializer(0);
    weight->clear_dims();
    for (const std::int64_t dim : dims) weight->add_dims(dim);
    return file.bytes();
  };
  expect_refused(weight_of({-4}), "tensor 'w' has a size of -4");
  expect_refused(weight_of({1LL << 40, 1LL << 40}), "tensor 'w' is too large");
  expect_refused(weight_of({2}), "tensor 'w' has 1 numbers; its sizes, 2, ask for 2");
  expect_refused(weight_of(Shape(33, 1)), "has 33 dimensions; at most 32 are read");
  FileBuilder file;
  file.input("x", Shape(1000, 1));
  expect_refused(file, "has 1000 dimensions");
}

TEST(OnnxHostile, AttributesThatAreWrong) {
  FileBuilder file;
  file.input("x", {1, 2, 8, 8}).weight("w", {2, 2, 3, 3}).output("y");
  auto& node = file.node("Conv", {"x", "w"}, {"y"}, {{"group", "many"}});
  expect_refused(file, "Conv 'y': attribute 'group' has another type; a whole number was expected");
  node.mutable_attribute(0)->set_type(onnx::AttributeProto::INT);
  expect_refused(file, "0 groups");
  node.clear_attribute();
  FileBuilder::add(node, {"group", INT64_MAX});
  expect_refused(file, "9223372036854775807 groups");
  node.clear_attribute();
  FileBuilder::add(node, {"pads", Numbers(4, INT64_MAX)});
  expect_refused(file, "'pads' has 9223372036854775807");
  node.clear_attribute();
  FileBuilder::add(node, {"kernel_shape", Numbers(1'000'000, 1)});
  EXPECT_EQ(error_of(file.bytes()), "") << "the weights' own sizes count";
}

TEST(OnnxHostile, OperationsWithoutOutputs) {
  FileBuilder file;
  file.input("x", {1, 4});
  for (const char* operation : {"Relu", "Split", "ArgMax", "Unheard", "Shape", "Constant"}) {
    file.node(operation, {"x"}, {});
  }
  EXPECT_EQ(error_of(file.bytes()), "");
}

TEST(OnnxHostile, NamesAreCutAndMadePrintable) {
  FileBuilder file;
  std::string name = "\x1b[2J\n";
  name.resize(10'000'000, 'x');
  file.input("x", {1}).output("y").node("Add", {"x", name}, {"y"}).set_name(name);
  expect_refused(file, "\\x1b[2J\\x0axxx");
}

TEST(OnnxHostile, MillionsOfSmallThings) {
  {
    FileBuilder file;
    file.input("x", {1});
    for (int i = 0; i < 300'000; ++i) file.graph().add_node();
    expect_refused(file, "300000 operations; at most 200000 are read");
    file.graph().mutable_node()->DeleteSubrange(0, 150'000);
    EXPECT_EQ(error_of(file.bytes()), "") << "nameless operations without inputs";
  }
  {
    FileBuilder file;
    file.input("x", {1});
    auto& node = file.node("Relu", {"x"}, {"y"});
    for (int i = 0; i < 3'000'000; ++i) node.add_attribute();
    expect_refused(file, "needs more than 512 MiB");
  }
  {
    FileBuilder file;
    file.input("x", {1 << 20, 1 << 20}).output("c");
    file.node("Concat", Names(200'000, "x"), {"c"}, {{"axis", 0}});
    expect_refused(file, "more than 2^42 elements");
  }
  {  // each would fold to a thousand numbers
    FileBuilder file;
    file.numbers("n", {1024}).input("x", {1});
    for (int i = 0; i < 50'000; ++i) {
      file.node("ConstantOfShape", {"n"}, {"c" + std::to_string(i)});
    }
    EXPECT_EQ(error_of(file.bytes()), "");
  }
}

TEST(OnnxHostile, BodiesInBodies) {
  const auto nested = [](int depth) {
    FileBuilder file;
    file.input("x", {1}).output("y");
    onnx::NodeProto* node = &file.node("Loop", {"x"}, {"y"});
    for (int i = 0; i < depth; ++i) {
      auto* body = node->add_attribute();
      body->set_name("body");
      body->set_type(onnx::AttributeProto::GRAPH);
      node = body->mutable_g()->add_node();
      node->set_op_type("Loop");
    }
    return file.bytes();
  };
  EXPECT_EQ(error_of(nested(10)), "");
  expect_refused(nested(25), "messages lie in each other");
  expect_refused(nested(2'000), "messages lie in each other");
  // Not of our messages: protobuf's own limit.
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) bytes += '\x0b';  // a group begins
  expect_refused("\x3a" + std::string("\x01") + bytes, "not an ONNX model");
}

TEST(OnnxHostile, ChainsOfConstantsTakeLinearTime) {
  FileBuilder file;
  file.input("x", {2, 2}).weight("c0", {2, 2}).output("y");
  constexpr int kLength = 50'000;
  for (int i = 1; i < kLength; ++i) {
    file.node("Add", {"c" + std::to_string(i - 1), "c" + std::to_string(i / 2)},
              {"c" + std::to_string(i)});
  }
  for (int i = 0; i < kLength; ++i) {
    file.node("MatMul", {"x", "c" + std::to_string(i)}, {"y" + std::to_string(i)});
  }
  file.node("Identity", {"y0"}, {"y"});
  const OnnxModel model = import_onnx(file.bytes());
  EXPECT_EQ(totals_of(model.graph).parameters, 4);
}

/// A whole number from the environment, for longer runs than that of the test suite.
std::uint64_t number_of_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Whether it was read.
bool expect_read_or_refused(const std::string& bytes, std::size_t round) {
  SCOPED_TRACE(round);
  try {
    const std::string error = error_of(bytes);
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_LT(error.size(), 2000U);
    return error.empty();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "neither read nor refused: " << e.what();
    return false;
  }
}

TEST(OnnxHostile, DamagedBytes) {
  const std::string whole = good_file().bytes();
  const std::uint64_t rounds = number_of_environment("CORUN_FUZZ_ROUNDS", 4000);
  const std::uint64_t seed = number_of_environment("CORUN_FUZZ_SEED", 1);
  for (std::size_t round = 0; round < rounds; ++round) {
    Rng rng(seed, Stream::kTest, round);
    std::string bytes = whole;
    const std::uint32_t changes = 1 + rng.below(8);
    for (std::uint32_t i = 0; i < changes; ++i) {
      const auto at = rng.below(static_cast<std::uint32_t>(bytes.size()));
      switch (rng.below(4)) {
        case 0:
          bytes[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
          break;
        case 2:
          bytes.insert(at, 1 + rng.below(9), static_cast<char>(rng.below(256)));
          break;
        default:
          bytes.erase(at, 1 + rng.below(9));
          break;
      }
    }
    expect_read_or_refused(bytes, round);
  }
}

/// A number that breaks things, or a small one.
std::int64_t odd_number(Rng& rng) {
  constexpr std::int64_t kOdd[] = {0,         -1,        1,         2,        1 << 20,
                                   1LL << 42, INT64_MAX, INT64_MIN, 1LL << 62};
  return rng.below(2) == 0 ? kOdd[rng.below(std::size(kOdd))]
                           : static_cast<std::int64_t>(rng.below(12)) - 3;
}

/// A file that any parser reads, with another meaning.
void mutate(onnx::GraphProto& graph, Rng& rng) {
  const auto pick = [&](int size) {
    return static_cast<int>(rng.below(static_cast<std::uint32_t>(size)));
  };
  auto& node = *graph.mutable_node(pick(graph.node_size()));
  auto& weight = *graph.mutable_initializer(pick(graph.initializer_size()));
  static const std::vector<std::string> operators{"Conv",
                                                  "ConvTranspose",
                                                  "Gemm",
                                                  "MatMul",
                                                  "Einsum",
                                                  "LSTM",
                                                  "GRU",
                                                  "MaxPool",
                                                  "AveragePool",
                                                  "LpPool",
                                                  "MaxUnpool",
                                                  "Concat",
                                                  "Split",
                                                  "Slice",
                                                  "Gather",
                                                  "GatherND",
                                                  "Pad",
                                                  "Expand",
                                                  "Tile",
                                                  "Resize",
                                                  "Upsample",
                                                  "Reshape",
                                                  "Flatten",
                                                  "Shape",
                                                  "Squeeze",
                                                  "Unsqueeze",
                                                  "Transpose",
                                                  "OneHot",
                                                  "TopK",
                                                  "ReduceSum",
                                                  "ArgMax",
                                                  "Range",
                                                  "ConstantOfShape",
                                                  "Where",
                                                  "Cast",
                                                  "RoiAlign",
                                                  "DepthToSpace",
                                                  "SpaceToDepth",
                                                  "BatchNormalization",
                                                  "LayerNormalization",
                                                  "Constant",
                                                  "Add",
                                                  "Div",
                                                  "Mod",
                                                  "Dropout",
                                                  "GridSample",
                                                  "Loop"};
  static const std::vector<std::string> attributes{
      "axis",     "axes",      "pads",           "strides",      "kernel_shape", "dilations",
      "group",    "perm",      "starts",         "ends",         "split",        "keepdims",
      "to",       "blocksize", "transB",         "layout",       "shape",        "scales",
      "equation", "auto_pad",  "output_padding", "output_shape", "batch_dims",   "allowzero",
      "k",        "value",     "hidden_size",    "ceil_mode",    "output_height"};
  switch (rng.below(9)) {
    case 0:
      node.set_op_type(operators[rng.below(static_cast<std::uint32_t>(operators.size()))]);
      break;
    case 1:
      if (node.input_size() > 0) {
        const auto& other = graph.node(pick(graph.node_size()));
        node.set_input(pick(node.input_size()),
                       other.output_size() > 0 ? other.output(0) : std::string());
      }
      break;
    case 2:
      node.add_input(weight.name());
      break;
    case 3: {
      Numbers numbers(rng.below(6));
      for (std::int64_t& number : numbers) number = odd_number(rng);
      const std::string& name =
          attributes[rng.below(static_cast<std::uint32_t>(attributes.size()))];
      node.clear_attribute();
      switch (rng.below(4)) {
        case 0:
          FileBuilder::add(node, {name, odd_number(rng)});
          break;
        case 1:
          FileBuilder::add(node, {name, 1e30 * rng.normal()});
          break;
        case 2:
          FileBuilder::add(node, {name, "SAME_UPPER"});
          break;
        default:
          FileBuilder::add(node, {name, numbers});
          break;
      }
      break;
    }
    case 4:
      if (weight.dims_size() > 0) weight.set_dims(pick(weight.dims_size()), odd_number(rng));
      weight.clear_raw_data();
      break;
    case 5: {
      auto& dims = *graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
      dims.mutable_dim(pick(dims.dim_size()))->set_dim_value(odd_number(rng));
      break;
    }
    case 6:
      for (std::int64_t& value : *weight.mutable_int64_data()) value = odd_number(rng);
      break;
    case 7:
      weight.set_data_type(static_cast<int>(rng.below(20)));
      break;
    default:
      node.add_output("more" + std::to_string(rng.below(1000000)));
      break;
  }
}

TEST(OnnxHostile, OtherMeanings) {
  const std::uint64_t rounds = number_of_environment("CORUN_FUZZ_ROUNDS", 6000);
  const std::uint64_t seed = number_of_environment("CORUN_FUZZ_SEED", 2);
  std::uint64_t read = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    Rng rng(seed, Stream::kTest, round);
    FileBuilder file = good_file();
    const std::uint32_t changes = 1 + rng.below(5);
    for (std::uint32_t i = 0; i < changes; ++i) mutate(file.graph(), rng);
    const std::string bytes = file.bytes();
    read += expect_read_or_refused(bytes, round) ? 1 : 0;
  }
  EXPECT_GT(read, rounds / 12) << "most rounds would test the first check alone";
}

}  // namespace
}  // namespace corun::onnx_hostile_test
