#include "predictors/graph/graph_builder.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/predictors/graph/refusal.hpp"

namespace corun::test::graph_builder_test {
namespace {

using Node = GraphBuilder::Node;

constexpr std::int64_t kMostElements = std::int64_t{1} << 42;

/// What a layer has, in the words of its Operation.
struct Layer {
  Shape output;
  std::int64_t parameters = 0;
  int parameter_tensors = 0;
  double multiply_adds = 0;
  int forward_kernels = 1;
  int backward_kernels = 1;
};

void expect_layer(const GraphBuilder& graph, Node node, OperationKind kind, const Layer& layer) {
  const Operation& operation = graph.graph()[node];
  SCOPED_TRACE(operation.name);
  EXPECT_STREQ(name_of(operation.kind), name_of(kind));
  EXPECT_EQ(operation.output, layer.output) << "found " << text_of(operation.output);
  EXPECT_EQ(operation.parameters, layer.parameters);
  EXPECT_EQ(operation.parameter_tensors, layer.parameter_tensors);
  EXPECT_EQ(operation.multiply_adds, layer.multiply_adds);
  EXPECT_EQ(operation.forward_kernels, layer.forward_kernels);
  EXPECT_EQ(operation.backward_kernels, layer.backward_kernels);
}

void expect_kept(const GraphBuilder& graph, Node node, const Kept& kept) {
  const Operation& operation = graph.graph()[node];
  SCOPED_TRACE(operation.name);
  EXPECT_EQ(operation.kept.inputs, kept.inputs);
  EXPECT_EQ(operation.kept.output, kept.output);
  EXPECT_EQ(operation.kept.bytes_per_output, kept.bytes_per_output);
}

/// The message with which building a graph is refused.
std::string refusal(const std::function<void(GraphBuilder&)>& build) {
  GraphBuilder graph;
  return refusal_of([&] { build(graph); });
}

TEST(Stretched, FollowsTheRulesOfNumPy) {
  EXPECT_EQ(stretched({2, 3}, {2, 3}), Shape({2, 3}));
  EXPECT_EQ(stretched({2, 1}, {1, 3}), Shape({2, 3}));
  EXPECT_EQ(stretched({4, 1, 3}, {5, 1}), Shape({4, 5, 3}));
  EXPECT_EQ(stretched({5, 1}, {4, 1, 3}), Shape({4, 5, 3})) << "in either order";
  EXPECT_EQ(stretched({}, {2, 3}), Shape({2, 3}));
  EXPECT_EQ(stretched({}, {}), Shape{});
  EXPECT_EQ(refusal([](GraphBuilder&) {
              stretched({2, 3}, {2, 4});
            }),
            "shapes 2 x 3 and 2 x 4 do not agree");
  EXPECT_EQ(refusal([](GraphBuilder&) {
              stretched({2, 3}, {2});
            }),
            "shapes 2 x 3 and 2 do not agree");
}

TEST(GraphBuilder, ConvolutionFollowsItsClosedForm) {
  GraphBuilder graph(2);
  const Node in = graph.input("in", {2, 6, 11, 9});
  // Lengths (11 + 2 - 3) / 2 + 1 = 6 and (9 + 4 - 5) / 1 + 1 = 9.
  const Node plain = graph.convolution(
      "plain", in, {.channels = 4, .kernel = {3, 5}, .stride = {2, 1}, .padding = {1, 2}});
  constexpr std::int64_t kOutputs = 2 * 4 * 6 * 9;
  expect_layer(graph, plain, OperationKind::kConvolution,
               {{2, 4, 6, 9}, 4 * 6 * 15, 1, kOutputs * 6.0 * 15, 1, 2});
  expect_kept(graph, plain, {.inputs = true});
  EXPECT_EQ(graph.graph()[plain].inner_length, 6 * 15);
  EXPECT_EQ(graph.graph()[plain].window, 15);
  EXPECT_TRUE(graph.graph()[plain].strided);

  // The window of 3 with dilation 2 reaches over 5: 11 - 5 + 1 = 7 and 9 - 5 + 1 = 5.
  const Node grouped = graph.convolution(
      "grouped", in, {.channels = 4, .kernel = {3}, .dilation = {2}, .groups = 2, .bias = true});
  expect_layer(graph, grouped, OperationKind::kConvolution,
               {{2, 4, 7, 5}, 4 * 3 * 9 + 4, 2, 2 * 4 * 7 * 5 * 3.0 * 9, 1, 3});
  EXPECT_EQ(graph.graph()[grouped].groups, 2);
  EXPECT_FALSE(graph.graph()[grouped].strided);

  // Paddings before (1, 0) and behind (2, 3) the lengths: 11 + 3 and 9 + 3.
  const Node sided = graph.convolution("sided", in, {.channels = 1, .padding = {1, 0, 2, 3}});
  EXPECT_EQ(graph.shape(sided), Shape({2, 1, 14, 12}));
}

TEST(GraphBuilder, ConvolutionsHaveAnyNumberOfLengths) {
  GraphBuilder graph;
  const ConvolutionLayer layer{.channels = 2, .kernel = {3}};
  const Node sound = graph.convolution("sound", graph.input("in", {1, 4, 10}), layer);
  expect_layer(graph, sound, OperationKind::kConvolution,
               {{1, 2, 8}, 2 * 4 * 3, 1, 2 * 8 * 4.0 * 3, 1, 2});
  const Node video = graph.convolution("video", graph.input("in", {1, 4, 10, 9, 8}), layer);
  expect_layer(graph, video, OperationKind::kConvolution,
               {{1, 2, 8, 7, 6}, 2 * 4 * 27, 1, 2 * 8 * 7 * 6 * 4.0 * 27, 1, 2});
}

TEST(GraphBuilder, TransposedConvolutionIsTheOtherDirection) {
  GraphBuilder graph;
  const ConvolutionLayer layer{
      .channels = 4, .kernel = {3}, .stride = {2}, .padding = {1}, .groups = 2, .bias = true};
  const Node in = graph.input("in", {1, 6, 5, 7});
  // Lengths 2 (5 - 1) + 3 - 2 + 1 = 10 and 2 (7 - 1) + 3 - 2 + 1 = 14.
  const Node up = graph.transposed_convolution("up", in, layer, {1});
  // Each input is multiplied with 9 weights for each of 2 outputs of its group.
  expect_layer(graph, up, OperationKind::kConvolution,
               {{1, 4, 10, 14}, 6 * 2 * 9 + 4, 2, 6 * 5 * 7 * 2.0 * 9, 1, 3});
  EXPECT_EQ(graph.graph()[up].groups, 2);
  // The convolution in the other direction has the same weights and work, and leads back to the same lengths.
  const Node down = graph.convolution(
      "down", up, {.channels = 6, .kernel = {3}, .stride = {2}, .padding = {1}, .groups = 2});
  EXPECT_EQ(graph.shape(down), graph.shape(in));
  EXPECT_EQ(graph.graph()[down].parameters, graph.graph()[up].parameters - 4);
  EXPECT_EQ(graph.graph()[down].multiply_adds, graph.graph()[up].multiply_adds);
}

TEST(GraphBuilder, RefusesConvolutionsThatDoNotFit) {
  const auto message = [](const Shape& in, const ConvolutionLayer& layer) {
    return refusal([&](GraphBuilder& graph) { graph.convolution("", graph.input("", in), layer); });
  };
  const Shape image{1, 3, 8, 8};
  EXPECT_EQ(message({1, 3}, {.channels = 1}),
            "a convolution needs samples x channels x lengths, found 1 x 3");
  EXPECT_EQ(message(image, {}), "a convolution of 3 to 0 channels in 1 groups");
  EXPECT_EQ(message(image, {.channels = 4, .groups = 2}),
            "a convolution of 3 to 4 channels in 2 groups");
  EXPECT_EQ(message(image, {.channels = 4, .groups = 3}),
            "a convolution of 3 to 4 channels in 3 groups");
  EXPECT_EQ(message(image, {.channels = 4, .groups = 0}),
            "a convolution of 3 to 4 channels in 0 groups");
  EXPECT_EQ(message(image, {.channels = 4, .kernel = {9}}), "a window of 9 on a length of 8");
  EXPECT_EQ(message(image, {.channels = 4, .kernel = {3}, .dilation = {4}}),
            "a window of 9 on a length of 8");
  EXPECT_EQ(message(image, {.channels = 4, .kernel = {1, 2, 3}}),
            "2 kernel sizes of a layer, found 3 numbers");
  EXPECT_EQ(message(image, {.channels = 4, .kernel = {}}),
            "2 kernel sizes of a layer, found 0 numbers");
  EXPECT_EQ(message(image, {.channels = 4, .kernel = {0}}), "kernel sizes of 0");
  EXPECT_EQ(message(image, {.channels = 4, .stride = {0}}), "strides of 0");
  EXPECT_EQ(message(image, {.channels = 4, .dilation = {-2}}), "dilations of -2");
  EXPECT_EQ(message(image, {.channels = 4, .padding = {0, -1}}), "paddings of -1");
  EXPECT_EQ(message(image, {.channels = 4, .padding = {0, 0, 0}}),
            "2 paddings of a layer, found 3 numbers");
  EXPECT_EQ(message(image, {.channels = 4, .stride = {1'000'001}}), "strides of 1000001");

  const auto transposed = [](const Shape& in, const ConvolutionLayer& layer, const Lengths& more) {
    return refusal([&](GraphBuilder& graph) {
      graph.transposed_convolution("", graph.input("", in), layer, more);
    });
  };
  EXPECT_EQ(transposed({1, 3}, {.channels = 1}, {0}),
            "a transposed convolution needs samples x channels x lengths, found 1 x 3");
  EXPECT_EQ(transposed(image, {.channels = 4, .groups = 2}, {0}),
            "a convolution of 3 to 4 channels in 2 groups");
  EXPECT_EQ(transposed(image, {.channels = 4}, {-1}), "output paddings of -1");
  EXPECT_EQ(transposed(image, {.channels = 4, .padding = {4}}, {0}),
            "a tensor of 1 x 4 x 0 x 0 has a size below 1");
  EXPECT_NE(transposed({1, 1, kMostElements}, {.channels = 1, .stride = {1'000'000}}, {0})
                .find("has more than 2^42 elements"),
            std::string::npos);
}

TEST(GraphBuilder, LinearLayersMultiplyTheLastDimension) {
  GraphBuilder graph;
  const Node in = graph.input("in", {2, 5, 8});
  const Node biased = graph.linear("biased", in, 3, true);
  expect_layer(graph, biased, OperationKind::kLinear,
               {{2, 5, 3}, 8 * 3 + 3, 2, 2 * 5 * 3 * 8.0, 1, 3});
  expect_kept(graph, biased, {.inputs = true});
  expect_layer(graph, graph.linear("plain", in, 3, false), OperationKind::kLinear,
               {{2, 5, 3}, 8 * 3, 1, 2 * 5 * 3 * 8.0, 1, 2});
  expect_layer(graph, graph.tied_linear("tied", in, 3), OperationKind::kLinear,
               {{2, 5, 3}, 0, 0, 2 * 5 * 3 * 8.0, 1, 2});
  constexpr const char* kMessage = "a linear layer without features";
  EXPECT_EQ(refusal([](auto& g) { g.linear("", g.input("", {2}), 0, true); }), kMessage);
  EXPECT_EQ(refusal([](auto& g) { g.linear("", g.input("", {}), 2, true); }), kMessage);
  EXPECT_EQ(refusal([](auto& g) { g.tied_linear("", g.input("", {2}), -1); }), kMessage);
  EXPECT_EQ(refusal([](auto& g) { g.tied_linear("", g.input("", {}), 2); }), kMessage);
  EXPECT_EQ(refusal([](auto& g) {
              g.linear("", g.input("", {1, 1 << 22}), 1 << 21, true);
            }),
            "a tensor of 4194304 x 2097152 has more than 2^42 elements");
}

TEST(GraphBuilder, MatrixProductsStretchTheOuterDimensions) {
  GraphBuilder graph;
  const Node left = graph.input("left", {2, 4, 5, 8});
  const Node product = graph.matrix_product("product", left, graph.input("right", {1, 4, 8, 3}));
  expect_layer(graph, product, OperationKind::kMatrixProduct,
               {{2, 4, 5, 3}, 0, 0, 2 * 4 * 5 * 3 * 8.0, 1, 2});
  expect_kept(graph, product, {.inputs = true});
  EXPECT_EQ(graph.shape(graph.matrix_product("flat", left, graph.input("right", {8, 3}))),
            Shape({2, 4, 5, 3}));

  const auto message = [](const Shape& a, const Shape& b) {
    return refusal([&](GraphBuilder& g) {
      const Node first = g.input("", a);
      g.matrix_product("", first, g.input("", b));
    });
  };
  EXPECT_EQ(message({2, 3}, {2, 3}), "a matrix product of 2 x 3 and 2 x 3");
  EXPECT_EQ(message({3}, {3, 2}), "a matrix product of 3 and 3 x 2");
  EXPECT_EQ(message({2, 3}, {3}), "a matrix product of 2 x 3 and 3");
  EXPECT_EQ(message({2, 4, 3}, {3, 3, 2}), "shapes 2 and 3 do not agree");
}

TEST(GraphBuilder, NormalisationsHaveParametersPerChannelOrFeature) {
  GraphBuilder graph;
  const Node in = graph.input("in", {2, 6, 5, 8});
  const Shape shape = graph.shape(in);
  const Node batch = graph.batch_norm("batch", in);
  expect_layer(graph, batch, OperationKind::kNormalisation, {shape, 2 * 6, 2});
  expect_kept(graph, batch, {.inputs = true});
  for (const int parameters : {0, 1, 2}) {
    expect_layer(graph, graph.layer_norm("layer", in, parameters), OperationKind::kNormalisation,
                 {shape, parameters * 8, parameters});
  }
  expect_layer(graph, graph.normalisation("group", in, 12, 3), OperationKind::kNormalisation,
               {shape, 12, 3});
  EXPECT_EQ(refusal([](auto& g) { g.batch_norm("", g.input("", {2})); }), "a batch norm of 2");
  EXPECT_EQ(refusal([](auto& g) { g.layer_norm("", g.input("", {})); }),
            "a layer norm of one number");
  EXPECT_EQ(refusal([](auto& g) { g.layer_norm("", g.input("", {2}), 3); }),
            "a layer norm with 3 parameters per feature");
  EXPECT_EQ(refusal([](auto& g) { g.layer_norm("", g.input("", {2}), -1); }),
            "a layer norm with -1 parameters per feature");
  EXPECT_EQ(refusal([](auto& g) { g.normalisation("", g.input("", {2}), -1, 1); }),
            "an operation with a count below 0");
}

TEST(GraphBuilder, FunctionsOfElementsKeepWhatTheirGradientNeeds) {
  GraphBuilder graph;
  const Node in = graph.input("in", {2, 6});
  const Node relu = graph.relu("relu", in);
  const Node tanh = graph.relu("tanh", in, false);
  const Node gelu = graph.smooth_activation("gelu", in);
  const Node softmax = graph.softmax("softmax", in);
  const Node dropout = graph.dropout("dropout", in);
  for (const Node node : {relu, tanh, gelu}) {
    expect_layer(graph, node, OperationKind::kActivation, {{2, 6}});
  }
  expect_layer(graph, softmax, OperationKind::kSoftmax, {{2, 6}});
  expect_layer(graph, dropout, OperationKind::kDropout, {{2, 6}});
  EXPECT_TRUE(graph.graph()[relu].in_place);
  for (const Node node : {tanh, gelu, softmax, dropout}) {
    EXPECT_FALSE(graph.graph()[node].in_place) << graph.graph()[node].name;
  }
  for (const Node node : {relu, tanh, softmax}) expect_kept(graph, node, {.output = true});
  expect_kept(graph, gelu, {.inputs = true});
  expect_kept(graph, dropout, {.bytes_per_output = 1});
}

TEST(GraphBuilder, PoolingCountsWindows) {
  GraphBuilder graph;
  const auto length = [&](std::int64_t in, const PoolingLayer& layer) {
    return graph.shape(graph.pooling("", graph.input("", {1, 1, in}), layer)).at(2);
  };
  EXPECT_EQ(length(6, {}), 3);
  EXPECT_EQ(length(7, {}), 3) << "the last number is left out";
  EXPECT_EQ(length(7, {.round_up = true}), 4);
  EXPECT_EQ(length(7, {.kernel = {3}, .stride = {2}, .padding = {1}}), 4);
  EXPECT_EQ(length(7, {.kernel = {3}, .stride = {1}, .dilation = {2}}), 3);
  // A third window would begin at 6 of 1 + 5 numbers: behind the input.
  EXPECT_EQ(length(5, {.kernel = {2}, .stride = {3}, .padding = {1}, .round_up = true}), 2);
  EXPECT_EQ(length(6, {.kernel = {2}, .stride = {3}, .padding = {1}, .round_up = true}), 3);

  const Node image = graph.input("image", {2, 3, 8, 6});
  const Node largest = graph.pooling("largest", image, {.stride = {2, 1}});
  expect_layer(graph, largest, OperationKind::kPooling, {{2, 3, 4, 5}});
  expect_kept(graph, largest, {.inputs = true, .bytes_per_output = 8});
  const Node mean = graph.pooling("mean", image, {.average = true});
  expect_layer(graph, mean, OperationKind::kPooling, {{2, 3, 4, 3}});
  expect_kept(graph, mean, {.inputs = true});
  const Node channels = graph.global_pooling("channels", image);
  expect_layer(graph, channels, OperationKind::kPooling, {{2, 3, 1, 1}});
  expect_kept(graph, channels, {});
  expect_layer(graph, graph.adaptive_pooling("grid", image, 7, 5), OperationKind::kPooling,
               {{2, 3, 7, 5}});

  EXPECT_EQ(refusal([](auto& g) {
              g.pooling("", g.input("", {1, 1}), {});
            }),
            "a pooling layer needs samples x channels x lengths, found 1 x 1");
  EXPECT_EQ(refusal([](auto& g) {
              g.pooling("", g.input("", {1, 1, 1}), {});
            }),
            "a window of 2 on a length of 1");
  EXPECT_EQ(refusal([](auto& g) {
              g.global_pooling("", g.input("", {1, 1}));
            }),
            "a global pooling layer needs samples x channels x lengths, found 1 x 1");
  EXPECT_EQ(refusal([](auto& g) {
              g.adaptive_pooling("", g.input("", {1, 1, 1}), 1, 1);
            }),
            "an adaptive pooling of 1 x 1 x 1");
  EXPECT_EQ(refusal([](auto& g) {
              g.adaptive_pooling("", g.input("", {1, 1, 1, 1}), 0, 1);
            }),
            "a tensor of 1 x 1 x 0 x 1 has a size below 1");
}

TEST(GraphBuilder, SumsPassGradientsOnAndProductsComputeThem) {
  GraphBuilder graph;
  const Node a = graph.input("a", {2, 3, 1});
  const Node b = graph.input("b", {3, 4});
  const Node c = graph.input("c", {2, 3, 1});
  const Node sum = graph.sum("sum", a, b);
  expect_layer(graph, sum, OperationKind::kElementwise, {{2, 3, 4}, 0, 0, 0, 1, 0});
  expect_kept(graph, sum, {});
  const Node product = graph.product("product", a, b);
  expect_layer(graph, product, OperationKind::kElementwise, {{2, 3, 4}, 0, 0, 0, 1, 2});
  expect_kept(graph, product, {.inputs = true});
  const Node in_place = graph.sum_in_place("in place", a, c);
  expect_layer(graph, in_place, OperationKind::kElementwise, {{2, 3, 1}, 0, 0, 0, 1, 0});
  EXPECT_TRUE(graph.graph()[in_place].in_place);
  EXPECT_FALSE(graph.graph()[sum].in_place);
  const std::array<Node, 3> all{a, b, c};
  expect_layer(graph, graph.elementwise("all", all, true), OperationKind::kElementwise,
               {{2, 3, 4}, 0, 0, 0, 1, 3});

  EXPECT_EQ(refusal([](auto& g) { g.elementwise("", {}, false); }),
            "an elementwise operation without inputs");
  const auto message = [](Node (GraphBuilder::*combine)(std::string, Node, Node)) {
    return refusal([&](GraphBuilder& g) {
      const Node first = g.input("", {2, 3});
      (g.*combine)("", first, g.input("", {1, 4}));
    });
  };
  EXPECT_EQ(message(&GraphBuilder::sum), "shapes 2 x 3 and 1 x 4 do not agree");
  EXPECT_EQ(message(&GraphBuilder::product), "shapes 2 x 3 and 1 x 4 do not agree");
  EXPECT_EQ(message(&GraphBuilder::sum_in_place), "a sum in place of 2 x 3 and 1 x 4");
}

TEST(GraphBuilder, ConcatenationAddsSizesOfOneDimension) {
  GraphBuilder graph;
  const std::array<Node, 3> in{graph.input("a", {2, 3, 4}), graph.input("b", {2, 1, 4}),
                               graph.input("c", {2, 5, 4})};
  expect_layer(graph, graph.concatenation("all", in, 1), OperationKind::kConcatenation,
               {{2, 9, 4}, 0, 0, 0, 1, 3});

  const auto message = [](const std::vector<Shape>& shapes, std::size_t dimension) {
    return refusal([&](GraphBuilder& g) {
      std::vector<Node> nodes;
      for (const Shape& shape : shapes) nodes.push_back(g.input("", shape));
      g.concatenation("", nodes, dimension);
    });
  };
  EXPECT_EQ(message({}, 0), "a concatenation of nothing");
  EXPECT_EQ(message({{2, 3}}, 2), "a concatenation of 2 x 3 along dimension 2");
  EXPECT_EQ(message({{2, 3}, {3, 3}}, 1), "a concatenation of 2 x 3 and 3 x 3");
  EXPECT_EQ(message({{2, 3}, {2}}, 0), "a concatenation of 2 x 3 and 2");
  EXPECT_EQ(message({{2, 3}, {2, 4}, {1, 3}}, 1), "a concatenation of 2 x 7 and 1 x 3");
}

TEST(GraphBuilder, EmbeddingAddsADimension) {
  GraphBuilder graph;
  const Node rows = graph.embedding("rows", graph.input("tokens", {2, 7}), 100, 16);
  expect_layer(graph, rows, OperationKind::kEmbedding, {{2, 7, 16}, 1600, 1});
  expect_kept(graph, rows, {});
  EXPECT_EQ(refusal([](auto& g) { g.embedding("", g.input("", {1}), 0, 4); }),
            "a tensor of 0 x 4 has a size below 1");
  EXPECT_EQ(refusal([](auto& g) { g.embedding("", g.input("", {1}), 4, -1); }),
            "a tensor of 4 x -1 has a size below 1");
}

TEST(GraphBuilder, RecurrentLayersFollowPyTorch) {
  GraphBuilder graph;
  constexpr std::int64_t kSamples = 2, kTokens = 5, kIn = 6, kHidden = 8;
  constexpr double kSteps = kSamples * kTokens;
  const Node in = graph.input("in", {kSamples, kTokens, kIn});

  const Node lstm = graph.recurrent("lstm", in, {.hidden = kHidden});
  constexpr std::int64_t kWeights = 4 * kHidden * (kIn + kHidden);
  expect_layer(graph, lstm, OperationKind::kRecurrent,
               {{kSamples, kTokens, kHidden},
                kWeights + 2 * 4 * kHidden,
                4,
                kSteps * kWeights,
                1 + 2 * kTokens,
                2 * (1 + 2 * kTokens)});
  expect_kept(graph, lstm, {.inputs = true, .output = true, .bytes_per_output = 4 * 5});

  // The second of two layers in two directions reads both directions' states.
  const Node gru =
      graph.recurrent("gru", in, {.hidden = kHidden, .gates = 3, .layers = 2, .directions = 2});
  constexpr std::int64_t kFirst = 3 * kHidden * (kIn + kHidden);
  constexpr std::int64_t kSecond = 3 * kHidden * (2 * kHidden + kHidden);
  expect_layer(graph, gru, OperationKind::kRecurrent,
               {{kSamples, kTokens, 2 * kHidden},
                2 * (kFirst + kSecond + 2 * 2 * 3 * kHidden),
                16,
                kSteps * 2 * (kFirst + kSecond),
                4 * (1 + 2 * kTokens),
                8 * (1 + 2 * kTokens)});

  const Node one_bias =
      graph.recurrent("rnn", in, {.hidden = kHidden, .gates = 1, .one_bias = true});
  EXPECT_EQ(graph.graph()[one_bias].parameters, kHidden * (kIn + kHidden) + kHidden);
  EXPECT_EQ(graph.graph()[one_bias].parameter_tensors, 3);

  // The state is projected from 8 to 4 numbers by a matrix of its own.
  const Node projected = graph.recurrent("projected", in, {.hidden = kHidden, .projection = 4});
  constexpr std::int64_t kProjected = 4 * kHidden * (kIn + 4) + kHidden * 4;
  EXPECT_EQ(graph.shape(projected), Shape({kSamples, kTokens, 4}));
  EXPECT_EQ(graph.graph()[projected].parameters, kProjected + 2 * 4 * kHidden);
  EXPECT_EQ(graph.graph()[projected].parameter_tensors, 5);
  EXPECT_EQ(graph.graph()[projected].multiply_adds, kSteps * kProjected);
  expect_kept(graph, projected, {.inputs = true, .output = true, .bytes_per_output = 4 * 5 * 2});
}

TEST(GraphBuilder, RefusesRecurrentLayersThatDoNotFit) {
  const auto message = [](const Shape& in, const RecurrentLayer& layer) {
    return refusal([&](GraphBuilder& graph) { graph.recurrent("", graph.input("", in), layer); });
  };
  const Shape text{1, 2, 3};
  EXPECT_EQ(message({1, 2}, {.hidden = 1}),
            "a recurrent layer needs samples x tokens x features, found 1 x 2");
  constexpr const char* kMessage =
      "a recurrent layer needs samples x tokens x features, found 1 x 2 x 3";
  EXPECT_EQ(message(text, {}), kMessage);
  EXPECT_EQ(message(text, {.hidden = 1, .gates = 0}), kMessage);
  EXPECT_EQ(message(text, {.hidden = 1, .layers = 0}), kMessage);
  EXPECT_EQ(message(text, {.hidden = 1, .directions = 0}), kMessage);
  EXPECT_EQ(message(text, {.hidden = 1, .projection = -1}), kMessage);
  constexpr const char* kSteps = "a recurrent layer of too many steps";
  EXPECT_EQ(message({1, 5'000'000, 1}, {.hidden = 1}), kSteps);
  EXPECT_EQ(message(text, {.hidden = 1, .layers = 2'000'001}), kSteps);
  EXPECT_EQ(message(text, {.hidden = 1, .directions = std::int64_t{1} << 62}), kSteps);
  EXPECT_EQ(message({1, 1, 1}, {.hidden = std::int64_t{1} << 36, .projection = 1}),
            "a recurrent layer that keeps 1374389534720 bytes for each number of its output");
  for (const RecurrentLayer& layer :
       {RecurrentLayer{.hidden = std::int64_t{1} << 40},
        RecurrentLayer{.hidden = 1, .gates = std::int64_t{1} << 62},
        RecurrentLayer{.hidden = 1, .projection = std::int64_t{1} << 62},
        RecurrentLayer{.hidden = 1'000'000, .directions = 1'000'000},
        RecurrentLayer{.hidden = 100'000, .layers = 100'000}}) {
    EXPECT_NE(message(text, layer).find("has more than 2^42 elements"), std::string::npos)
        << message(text, layer);
  }
}

TEST(GraphBuilder, ViewsHaveTheSameElementsAndNoKernel) {
  GraphBuilder graph;
  const Node in = graph.input("in", {2, 3, 4, 5});
  const Layer view{{2, 60}, 0, 0, 0, 0, 0};
  for (const Node node : {graph.view("view", in, {2, 60}), graph.view("rest", in, {2, -1}),
                          graph.flatten("flatten", in)}) {
    expect_layer(graph, node, OperationKind::kView, view);
    EXPECT_TRUE(graph.graph()[node].in_place);
  }
  EXPECT_EQ(graph.shape(graph.flatten("", in, 0)), Shape({120}));
  EXPECT_EQ(graph.shape(graph.flatten("", in, 3)), Shape({2, 3, 4, 5}));
  EXPECT_EQ(graph.shape(graph.flatten("", in, 4)), Shape({2, 3, 4, 5, 1}));

  const auto message = [](const Shape& to) {
    return refusal([&](GraphBuilder& g) { g.view("", g.input("", {2, 3}), to); });
  };
  EXPECT_EQ(message({5}), "a view of 2 x 3 as 5");
  EXPECT_EQ(message({}), "a view of 2 x 3 as one number");
  EXPECT_EQ(message({-1, 4}), "a view of 2 x 3 as 1 x 4");
  EXPECT_EQ(message({-1, -1}), "a tensor of 1 x -1 has a size below 1");
  EXPECT_EQ(message({-1, 7}), "a tensor of 0 x 7 has a size below 1");
  EXPECT_EQ(message({0, 6}), "a tensor of 0 x 6 has a size below 1");
  EXPECT_EQ(refusal([](auto& g) {
              g.flatten("", g.input("", {2, 3}), 3);
            }),
            "a flat view of 2 x 3");
}

TEST(GraphBuilder, CopiesAndReductionsHaveTheShapeGiven) {
  GraphBuilder graph;
  const Node in = graph.input("in", {2, 3});
  expect_layer(graph, in, OperationKind::kInput, {{2, 3}, 0, 0, 0, 0, 0});
  expect_layer(graph, graph.copy("copy", in, {3, 2}), OperationKind::kCopy, {{3, 2}});
  expect_layer(graph, graph.reduction("mean", in, {2}), OperationKind::kReduction, {{2}});
  EXPECT_EQ(refusal([](auto& g) { g.copy("", g.input("", {1}), {0}); }),
            "a tensor of 0 has a size below 1");
  EXPECT_EQ(refusal([](auto& g) { g.reduction("", g.input("", {1}), {-1}); }),
            "a tensor of -1 has a size below 1");
  EXPECT_EQ(refusal([](auto& g) { g.input("", {1, 0}); }), "a tensor of 1 x 0 has a size below 1");
}

}  // namespace
}  // namespace corun::test::graph_builder_test
