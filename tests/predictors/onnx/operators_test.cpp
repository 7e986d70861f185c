#include "predictors/onnx/operators.hpp"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/onnx/onnx_import.hpp"
#include "tests/predictors/onnx/file_builder.hpp"

/// Each family of operators against shapes, parameters and multiply-adds in closed form: a file of one
/// operation.
namespace corun::onnx_operators_test {
namespace {

using namespace test::onnx_files;

struct Input {
  enum Kind { kActivation, kWeight, kNumbers, kReals, kIds, kNone } kind;
  Shape shape;
  Numbers numbers{};
  std::vector<float> reals{};
};

Input x(Shape shape) { return {Input::kActivation, std::move(shape)}; }
Input w(Shape shape) { return {Input::kWeight, std::move(shape)}; }
Input ids(Shape shape) { return {Input::kIds, std::move(shape)}; }
Input n(Numbers numbers) { return {Input::kNumbers, {}, std::move(numbers)}; }
Input r(std::vector<float> reals) { return {Input::kReals, {}, {}, std::move(reals)}; }
Input none() { return {Input::kNone, {}}; }

struct Expected {
  OperationKind kind;
  std::vector<Shape> outputs;
  std::int64_t parameters = 0;
  double multiply_adds = 0;
};

struct Case {
  std::string operation;
  std::vector<Input> inputs;
  std::vector<Setting> settings;
  Expected expected;
  std::int64_t operator_set = 17;
};

OnnxModel imported(const Case& test) {
  FileBuilder file(test.operator_set);
  Names names;
  for (const Input& input : test.inputs) {
    const std::string name = "in" + std::to_string(names.size());
    names.push_back(input.kind == Input::kNone ? "" : name);
    switch (input.kind) {
      case Input::kActivation:
        file.input(name, input.shape);
        break;
      case Input::kIds:
        file.input(name, input.shape, onnx::TensorProto::INT64);
        break;
      case Input::kWeight:
        file.weight(name, input.shape);
        break;
      case Input::kNumbers:
        file.numbers(name, input.numbers);
        break;
      case Input::kReals:
        file.reals(name, input.reals);
        break;
      case Input::kNone:
        break;
    }
  }
  Names outputs;
  for (const Shape& shape : test.expected.outputs) {
    static_cast<void>(shape);
    outputs.push_back("out" + std::to_string(outputs.size()));
    file.output(outputs.back());
  }
  file.node(test.operation, names, outputs, test.settings);
  OnnxOptions options;
  options.use_stated_shapes = false;
  return import_onnx(file.bytes(), options);
}

void expect(const Case& test) {
  SCOPED_TRACE(test.operation);
  try {
    const OnnxModel model = imported(test);
    EXPECT_EQ(model.unknown_count(), 0);
    for (std::size_t i = 0; i < test.expected.outputs.size(); ++i) {
      EXPECT_EQ(text_of(model.outputs.at(i).shape), text_of(test.expected.outputs[i]));
    }
    const GraphTotals totals = totals_of(model.graph);
    EXPECT_EQ(totals.parameters, test.expected.parameters);
    EXPECT_EQ(totals.multiply_adds * static_cast<double>(model.graph.samples()),
              test.expected.multiply_adds);
    const Operation& last = model.graph[model.graph.size() - 1];
    EXPECT_STREQ(name_of(last.kind), name_of(test.expected.kind));
  } catch (const std::invalid_argument& e) {
    ADD_FAILURE() << e.what();
  }
}

void expect_all(const std::vector<Case>& cases) {
  for (const Case& test : cases) expect(test);
}

std::string error_of(const Case& test) {
  try {
    imported(test);
    return "";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

using enum OperationKind;

TEST(OnnxOperators, Convolutions) {
  expect_all({
      {"Conv",
       {x({2, 3, 32, 32}), w({8, 3, 3, 3}), w({8})},
       {{"pads", Numbers{1, 1, 1, 1}}},
       {kConvolution, {{2, 8, 32, 32}}, 8 * 27 + 8, 2.0 * 8 * 32 * 32 * 27}},
      {"Conv",
       {x({1, 6, 9, 8}), w({4, 3, 3, 2})},
       {{"group", 2}, {"strides", Numbers{2, 1}}, {"dilations", Numbers{1, 3}}},
       {kConvolution, {{1, 4, 4, 5}}, 4 * 3 * 6, 4.0 * 4 * 5 * 18}},
      {"Conv",
       {x({1, 3, 224, 224}), w({32, 3, 3, 3})},
       {{"auto_pad", "SAME_UPPER"}, {"strides", Numbers{2, 2}}},
       {kConvolution, {{1, 32, 112, 112}}, 864, 32.0 * 112 * 112 * 27}},
      {"Conv",
       {x({1, 2, 10}), w({5, 2, 4})},
       {{"auto_pad", "VALID"}},
       {kConvolution, {{1, 5, 7}}, 40, 5.0 * 7 * 8}},
      {"Conv",
       {x({1, 2, 8, 8, 8}), w({3, 2, 3, 3, 3})},
       {{"pads", Numbers{1, 1, 1, 0, 0, 0}}},
       {kConvolution, {{1, 3, 7, 7, 7}}, 162, 3.0 * 343 * 54}},
      {"Conv",
       {x({1, 3, 8, 8}), x({4, 3, 3, 3})},
       {},
       {kConvolution, {{1, 4, 6, 6}}, 0, 4.0 * 36 * 27}},
      {"ConvTranspose",
       {x({1, 4, 5, 5}), w({4, 2, 3, 3}), w({2})},
       {{"strides", Numbers{2, 2}},
        {"pads", Numbers{1, 1, 1, 1}},
        {"output_padding", Numbers{1, 1}}},
       {kConvolution, {{1, 2, 10, 10}}, 72 + 2, 100.0 * 18}},
      {"ConvTranspose",
       {x({1, 4, 5, 5}), w({4, 2, 3, 3})},
       {{"strides", Numbers{3, 3}}, {"output_shape", Numbers{10, 16}}},
       {kConvolution, {{1, 2, 10, 16}}, 72, 100.0 * 18}},
      {"ConvTranspose",
       {x({1, 4, 5}), w({4, 1, 4})},
       {{"strides", Numbers{2}}, {"auto_pad", "SAME_LOWER"}, {"group", 2}},
       {kConvolution, {{1, 2, 10}}, 16, 20.0 * 4}},
  });
}

TEST(OnnxOperators, Pooling) {
  expect_all({
      {"MaxPool",
       {x({1, 64, 112, 112})},
       {{"kernel_shape", Numbers{3, 3}}, {"strides", Numbers{2, 2}}, {"pads", Numbers{1, 1, 1, 1}}},
       {kPooling, {{1, 64, 56, 56}}}},
      {"MaxPool",
       {x({1, 3, 6, 6})},
       {{"kernel_shape", Numbers{3, 3}}, {"strides", Numbers{2, 2}}, {"ceil_mode", 1}},
       {kPooling, {{1, 3, 3, 3}, {1, 3, 3, 3}}}},
      {"AveragePool", {x({1, 3, 7})}, {{"kernel_shape", Numbers{2}}}, {kPooling, {{1, 3, 6}}}},
      {"LpPool",
       {x({1, 3, 8, 8})},
       {{"kernel_shape", Numbers{2, 2}}, {"strides", Numbers{2, 2}}},
       {kPooling, {{1, 3, 4, 4}}}},
      {"GlobalAveragePool", {x({2, 512, 7, 7})}, {}, {kPooling, {{2, 512, 1, 1}}}},
      {"GlobalMaxPool", {x({2, 5, 7, 7, 7})}, {}, {kPooling, {{2, 5, 1, 1, 1}}}},
      {"MaxUnpool",
       {x({1, 1, 2, 2}), ids({1, 1, 2, 2})},
       {{"kernel_shape", Numbers{2, 2}}, {"strides", Numbers{2, 2}}},
       {kPooling, {{1, 1, 4, 4}}}},
      {"RoiAlign",
       {x({1, 8, 20, 20}), x({9, 4}), ids({9})},
       {{"output_height", 7}, {"output_width", 6}},
       {kPooling, {{9, 8, 7, 6}}}},
  });
}

TEST(OnnxOperators, Products) {
  expect_all({
      {"Gemm",
       {x({4, 10}), w({3, 10}), w({3})},
       {{"transB", 1}},
       {kLinear, {{4, 3}}, 33, 4.0 * 30}},
      {"Gemm", {x({10, 4}), w({10, 3})}, {{"transA", 1}}, {kLinear, {{4, 3}}, 30, 120}},
      {"Gemm", {x({4, 10}), x({10, 3})}, {}, {kMatrixProduct, {{4, 3}}, 0, 120}},
      {"MatMul", {x({2, 7, 16}), w({16, 5})}, {}, {kLinear, {{2, 7, 5}}, 80, 14.0 * 80}},
      {"MatMul",
       {x({2, 4, 7, 16}), x({2, 4, 16, 7})},
       {},
       {kMatrixProduct, {{2, 4, 7, 7}}, 0, 8.0 * 49 * 16}},
      {"MatMul",
       {x({3, 1, 2, 4}), x({5, 4, 6})},
       {},
       {kMatrixProduct, {{3, 5, 2, 6}}, 0, 180.0 * 4}},
      {"MatMul", {x({4}), x({4})}, {}, {kMatrixProduct, {{}}, 0, 4}},
      {"MatMul", {x({5, 4}), x({4})}, {}, {kMatrixProduct, {{5}}, 0, 20}},
      {"Einsum",
       {x({2, 3, 4, 5}), x({2, 3, 6, 5})},
       {{"equation", "bhid, bhjd -> bhij"}},
       {kMatrixProduct, {{2, 3, 4, 6}}, 0, 144.0 * 5}},
      {"Einsum",
       {x({2, 7, 4}), w({4, 3})},
       {{"equation", "...i,ij->...j"}},
       {kLinear, {{2, 7, 3}}, 12, 14.0 * 12}},
      {"Einsum", {x({2, 3})}, {{"equation", "ij->ji"}}, {kCopy, {{3, 2}}}},
      {"Einsum", {x({2, 3})}, {{"equation", "ij->i"}}, {kReduction, {{2}}}},
  });
}

TEST(OnnxOperators, RecurrentLayersHaveUtil20sCounts) {
  const double steps = 7 * 2;
  expect_all({
      {"LSTM",
       {x({7, 2, 5}), w({1, 4 * 6, 5}), w({1, 4 * 6, 6}), w({1, 8 * 6})},
       {{"hidden_size", 6}},
       {kRecurrent, {{7, 1, 2, 6}, {1, 2, 6}, {1, 2, 6}}, 24 * 11 + 48, steps * 24 * 11}},
      {"GRU",
       {x({7, 2, 5}), w({2, 18, 5}), w({2, 18, 6})},
       {{"hidden_size", 6}},
       {kRecurrent, {{7, 2, 2, 6}}, 2 * 18 * 11, steps * 2 * 18 * 11}},
      {"RNN",
       {x({2, 7, 5}), w({1, 6, 5}), w({1, 6, 6})},
       {{"layout", 1}},
       {kRecurrent, {{2, 7, 1, 6}, {2, 1, 6}}, 66, steps * 66}},
  });
}

TEST(OnnxOperators, Normalisations) {
  expect_all({
      {"BatchNormalization",
       {x({2, 8, 4, 4}), w({8}), w({8}), w({8}), w({8})},
       {},
       {kNormalisation, {{2, 8, 4, 4}}, 16}},
      {"InstanceNormalization",
       {x({2, 8, 4, 4}), w({8}), w({8})},
       {},
       {kNormalisation, {{2, 8, 4, 4}}, 16}},
      {"LayerNormalization",
       {x({2, 7, 32}), w({32}), w({32})},
       {{"axis", -1}},
       {kNormalisation, {{2, 7, 32}, {2, 7, 1}, {2, 7, 1}}, 64}},
      {"GroupNormalization",
       {x({2, 8, 4, 4}), w({8}), w({8})},
       {{"num_groups", 2}},
       {kNormalisation, {{2, 8, 4, 4}}, 16}},
      {"LRN", {x({2, 8, 4, 4})}, {{"size", 5}}, {kNormalisation, {{2, 8, 4, 4}}}},
  });
}

TEST(OnnxOperators, FunctionsOfElements) {
  for (const char* name : {"Relu", "LeakyRelu", "Clip", "Sigmoid", "Tanh", "Elu", "HardSigmoid",
                           "Selu", "Erf", "Softplus", "HardSwish", "Softsign"}) {
    expect({name, {x({2, 3, 5})}, {}, {kActivation, {{2, 3, 5}}}});
  }
  expect({"PRelu", {x({2, 3, 5}), w({3, 1})}, {}, {kActivation, {{2, 3, 5}}, 3}});
  expect({"Softmax", {x({2, 3, 5})}, {{"axis", 1}}, {kSoftmax, {{2, 3, 5}}}});
  expect({"LogSoftmax", {x({2, 5})}, {}, {kSoftmax, {{2, 5}}}});
  expect({"Dropout", {x({2, 5})}, {}, {kDropout, {{2, 5}, {2, 5}}}});
  for (const char* name : {"Sqrt", "Exp", "Neg", "Floor"}) {
    expect({name, {x({2, 5})}, {}, {kElementwise, {{2, 5}}}});
  }
  for (const char* name : {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean"}) {
    expect({name, {x({2, 1, 5}), x({3, 1})}, {}, {kElementwise, {{2, 3, 5}}}});
  }
  expect({"Add", {x({2, 7, 5}), w({5})}, {}, {kElementwise, {{2, 7, 5}}, 5}});
  expect({"Mul", {x({2, 7, 5}), w({})}, {}, {kElementwise, {{2, 7, 5}}, 0}});
  expect({"Add",
          {x({2, 3, 4, 5}), x({3, 4})},
          {{"axis", 1}, {"broadcast", 1}},
          {kElementwise, {{2, 3, 4, 5}}},
          6});
  expect({"Equal", {x({2, 5}), x({1, 5})}, {}, {kCopy, {{2, 5}}}});
  expect({"Where", {ids({2, 1}), x({2, 5}), x({5})}, {}, {kElementwise, {{2, 5}}}});
  expect({"Cast", {x({2, 5})}, {{"to", 10}}, {kCopy, {{2, 5}}}});
  expect({"SoftmaxCrossEntropyLoss", {x({2, 5}), ids({2})}, {}, {kLoss, {{}, {2, 5}}}});
  expect({"NegativeLogLikelihoodLoss",
          {x({2, 5, 3}), ids({2, 3})},
          {{"reduction", "none"}},
          {kLoss, {{2, 3}}}});
}

TEST(OnnxOperators, Views) {
  expect_all({
      {"Reshape", {x({2, 3, 4}), n({0, -1})}, {}, {kView, {{2, 12}}}},
      {"Reshape", {x({2, 3, 4})}, {{"shape", Numbers{6, 4}}}, {kView, {{6, 4}}}, 1},
      {"Flatten", {x({2, 3, 4, 5})}, {{"axis", 2}}, {kView, {{6, 20}}}},
      {"Flatten", {x({2, 3, 4, 5})}, {{"axis", -1}}, {kView, {{24, 5}}}},
      {"Squeeze", {x({2, 1, 4, 1}), n({1})}, {}, {kView, {{2, 4, 1}}}},
      {"Squeeze", {x({2, 1, 4, 1})}, {}, {kView, {{2, 4}}}},
      {"Squeeze", {x({2, 1, 4, 1})}, {{"axes", Numbers{-1}}}, {kView, {{2, 1, 4}}}, 11},
      {"Unsqueeze", {x({2, 4}), n({0, -1})}, {}, {kView, {{1, 2, 4, 1}}}},
      {"Identity", {x({2, 4})}, {}, {kView, {{2, 4}}}},
  });
}

TEST(OnnxOperators, Copies) {
  expect_all({
      {"Concat", {x({2, 3, 4}), x({2, 5, 4})}, {{"axis", 1}}, {kConcatenation, {{2, 8, 4}}}},
      {"Concat", {x({2, 3}), x({2, 3})}, {{"axis", -1}}, {kConcatenation, {{2, 6}}}},
      {"Split", {x({2, 7}), n({3, 4})}, {{"axis", 1}}, {kCopy, {{2, 3}, {2, 4}}}},
      {"Split", {x({2, 7})}, {{"axis", 1}}, {kCopy, {{2, 4}, {2, 3}}}},
      {"Slice", {x({2, 10}), n({-3}), n({9223372036854775807}), n({1})}, {}, {kCopy, {{2, 3}}}},
      {"Slice", {x({2, 10}), n({8}), n({1}), n({1}), n({-2})}, {}, {kCopy, {{2, 4}}}},
      {"Slice",
       {x({2, 10}), n({-1}), n({-9223372036854775807}), n({1}), n({-1})},
       {},
       {kCopy, {{2, 10}}}},
      {"Slice",
       {x({4, 10})},
       {{"starts", Numbers{1, 2}}, {"ends", Numbers{3, 100}}, {"axes", Numbers{0, 1}}},
       {kCopy, {{2, 8}}},
       9},
      {"Gather", {x({5, 6, 7}), n({0, 3})}, {{"axis", 1}}, {kCopy, {{5, 2, 7}}}},
      {"Gather", {w({100, 16}), ids({2, 9})}, {}, {kEmbedding, {{2, 9, 16}}, 1600}},
      {"GatherElements", {x({5, 6}), ids({2, 3})}, {}, {kCopy, {{2, 3}}}},
      {"GatherND", {x({5, 6, 7}), ids({4, 2})}, {}, {kCopy, {{4, 7}}}},
      {"Pad", {x({2, 3, 4}), n({0, 1, 2, 0, 1, 0})}, {}, {kCopy, {{2, 5, 6}}}},
      {"Pad", {x({2, 3})}, {{"pads", Numbers{0, 1, 0, -1}}}, {kCopy, {{2, 3}}}, 9},
      {"Expand", {x({2, 1}), n({3, 1, 4})}, {}, {kCopy, {{3, 2, 4}}}},
      {"Tile", {x({2, 3}), n({2, 3})}, {}, {kCopy, {{4, 9}}}},
      {"Resize", {x({1, 3, 4, 5}), none(), r({1, 1, 2, 1.5})}, {}, {kCopy, {{1, 3, 8, 7}}}},
      {"Resize", {x({1, 3, 4, 5}), none(), none(), n({1, 3, 9, 9})}, {}, {kCopy, {{1, 3, 9, 9}}}},
      {"Upsample", {x({1, 3, 4, 5}), r({1, 1, 2, 3})}, {}, {kCopy, {{1, 3, 8, 15}}}, 9},
      {"Transpose", {x({2, 3, 4})}, {}, {kCopy, {{4, 3, 2}}}},
      {"Transpose", {x({2, 3, 4})}, {{"perm", Numbers{0, 2, 1}}}, {kCopy, {{2, 4, 3}}}},
      {"DepthToSpace", {x({1, 8, 2, 3})}, {{"blocksize", 2}}, {kCopy, {{1, 2, 4, 6}}}},
      {"SpaceToDepth", {x({1, 2, 4, 6})}, {{"blocksize", 2}}, {kCopy, {{1, 8, 2, 3}}}},
      {"GridSample", {x({1, 3, 9, 9}), x({1, 4, 5, 2})}, {}, {kCopy, {{1, 3, 4, 5}}}},
      {"OneHot", {ids({2, 3}), n({10}), r({0, 1})}, {}, {kCopy, {{2, 3, 10}}}},
  });
}

TEST(OnnxOperators, Reductions) {
  for (const char* name : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2"}) {
    expect({name, {x({2, 3, 4})}, {{"axes", Numbers{-1}}}, {kReduction, {{2, 3, 1}}}, 11});
    expect({name, {x({2, 3, 4}), n({0, 2})}, {{"keepdims", 0}}, {kReduction, {{3}}}, 18});
    expect({name, {x({2, 3, 4})}, {{"keepdims", 0}}, {kReduction, {{}}}});
  }
  expect({"ArgMax", {x({2, 3, 4})}, {{"axis", 1}}, {kCopy, {{2, 1, 4}}}});
  expect({"TopK", {x({2, 10}), n({3})}, {}, {kReduction, {{2, 3}, {2, 3}}}});
}

TEST(OnnxOperators, WhatDoesNotFitIsRefusedWithTheNumbers) {
  const auto has = [](const Case& test, const std::string& text) {
    const std::string error = error_of(test);
    EXPECT_NE(error.find(text), std::string::npos) << test.operation << ": " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  };
  has({"Conv", {x({1, 4, 8, 8}), w({8, 3, 3, 3})}, {}, {kConvolution, {{}}}}, "for 3 channels");
  has({"Conv", {x({1, 3, 2, 2}), w({8, 3, 3, 3})}, {}, {kConvolution, {{}}}},
      "a window of 3 on a length of 2");
  has({"Conv", {x({1, 3, 8, 8}), w({8, 3, 3, 3})}, {{"pads", Numbers{1, 1}}}, {kConvolution, {{}}}},
      "'pads' has 2 numbers; 4 were expected");
  has({"Conv",
       {x({1, 3, 8, 8}), w({8, 3, 3, 3})},
       {{"pads", Numbers{1, 1, 1LL << 40, 1}}},
       {kConvolution, {{}}}},
      "'pads' has 1099511627776; 0 to 1000000");
  has({"Conv",
       {x({1, 3, 8, 8}), w({8, 3, 3, 3})},
       {{"strides", Numbers{0, 1}}},
       {kConvolution, {{}}}},
      "'strides' has 0");
  has({"Conv", {x({1, 3, 8, 8}), w({8, 3, 3, 3})}, {{"strides", "two"}}, {kConvolution, {{}}}},
      "'strides' has another type; a list of whole numbers");
  has({"Conv", {x({1, 3, 8, 8})}, {}, {kConvolution, {{}}}}, "input 2 is missing");
  has({"MaxPool", {x({1, 3, 8, 8})}, {}, {kPooling, {{}}}}, "'kernel_shape' is missing");
  has({"MaxPool", {x({1, 3, 8, 8})}, {{"kernel_shape", Numbers{1LL << 50, 1}}}, {kPooling, {{}}}},
      "'kernel_shape' has");
  has({"MatMul", {x({2, 3}), w({4, 5})}, {}, {kLinear, {{}}}}, "2 x 3 and 4 x 5");
  has({"Add", {x({2, 3}), x({2, 4})}, {}, {kElementwise, {{}}}}, "2 x 3 and 2 x 4 do not agree");
  has({"Reshape", {x({2, 3}), n({4, 2})}, {}, {kView, {{}}}}, "a view of 2 x 3 as 4 x 2");
  has({"Reshape", {x({2, 3}), n({-5, -1})}, {}, {kView, {{}}}}, "a tensor of -5 x 1");
  has({"Transpose", {x({2, 3})}, {{"perm", Numbers{0, 0}}}, {kCopy, {{}}}}, "dimensions 0, 0");
  has({"Concat", {x({2, 3}), x({3, 3})}, {{"axis", 1}}, {kConcatenation, {{}}}}, "a concatenation");
  has({"Concat", {x({2, 3}), x({3, 3})}, {{"axis", 7}}, {kConcatenation, {{}}}}, "dimension 7");
  has({"Tile", {x({2, 3}), n({1LL << 62, 1})}, {}, {kCopy, {{}}}}, "repeats");
  has({"Expand", {x({2, 3}), n({1LL << 41, 1, 1})}, {}, {kCopy, {{}}}}, "more than 2^42");
  has({"Pad", {x({2, 3}), n({1LL << 62, 1, 1, 1})}, {}, {kCopy, {{}}}}, "a padding of");
  has({"Softmax", {x({2, 3})}, {{"axis", 2}}, {kSoftmax, {{}}}}, "dimension 2");
}

}  // namespace
}  // namespace corun::onnx_operators_test
