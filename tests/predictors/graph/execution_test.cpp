#include "predictors/graph/execution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "predictors/graph/graph_builder.hpp"
#include "tests/predictors/graph/refusal.hpp"

namespace corun::test::execution_test {
namespace {

using Node = GraphBuilder::Node;

constexpr double kBytes = 4;

// Elements of the tensors of the graphs below, for one sample.
constexpr double kImage = 3 * 8 * 8;
constexpr double kFeatures = 16 * 8 * 8;

Node image_of(GraphBuilder& graph) {
  return graph.input("image", {graph.graph().samples(), 3, 8, 8});
}

/// A convolution that keeps the size, to 16 channels.
Node convolution(GraphBuilder& graph, Node in) {
  return graph.convolution("conv", in, {.channels = 16, .kernel = {3}, .padding = {1}});
}

struct Needs {
  MemoryNeed training, inference;
};

Needs needs_of(const GraphBuilder& graph) {
  return {training_memory(graph.graph(), 1, 0), inference_memory(graph.graph(), 1)};
}

/// A residual block behind a convolution.
ComputationGraph residual_block(std::int64_t samples) {
  GraphBuilder graph(samples);
  const Node in = graph.relu("relu", graph.batch_norm("norm", convolution(graph, image_of(graph))));
  const Node branch = graph.batch_norm("norm", convolution(graph, in));
  graph.relu("relu", graph.sum_in_place("sum", branch, in));
  return graph.take();
}

TEST(Execution, ConvolutionNormAndReluInPlaceKeepTwoOutputs) {
  GraphBuilder graph;
  graph.relu("relu", graph.batch_norm("norm", convolution(graph, image_of(graph))));
  const auto [training, inference] = needs_of(graph);
  // The image, the convolution's output for the norm, and the ReLU's, which lies where the norm's was.
  EXPECT_EQ(training.kept_bytes, kBytes * (kImage + 2 * kFeatures));
  // The ReLU's backward pass has the gradients of its output and its input.
  EXPECT_EQ(training.peak_bytes, kBytes * (kImage + 4 * kFeatures));
  // The norm reads one tensor and writes another; the image is gone.
  EXPECT_EQ(inference.peak_bytes, kBytes * 2 * kFeatures);
  EXPECT_EQ(training.workspace_bytes, kBytes * (kImage + kFeatures));
  EXPECT_EQ(inference.workspace_bytes, training.workspace_bytes);
}

TEST(Execution, ReluWithMemoryOfItsOwnKeepsNoMore) {
  GraphBuilder graph;
  const Node norm = graph.batch_norm("norm", convolution(graph, image_of(graph)));
  graph.relu("relu", graph.relu("first", norm, false), false);
  const auto [training, inference] = needs_of(graph);
  // The norm's output is freed, and each ReLU's kept.
  EXPECT_EQ(training.kept_bytes, kBytes * (kImage + 3 * kFeatures));
  EXPECT_EQ(inference.peak_bytes, kBytes * 2 * kFeatures);
}

TEST(Execution, SmoothActivationKeepsItsInputToo) {
  GraphBuilder graph;
  const Node norm = graph.batch_norm("norm", convolution(graph, image_of(graph)));
  convolution(graph, graph.smooth_activation("gelu", norm));
  // The convolution's, the norm's and the activation's output.
  EXPECT_EQ(needs_of(graph).training.kept_bytes, kBytes * (kImage + 3 * kFeatures));
}

TEST(Execution, ResidualBlockKeepsItsInputOnce) {
  const ComputationGraph graph = residual_block(1);
  const MemoryNeed training = training_memory(graph, 1, 0);
  // Two outputs of convolutions and two of ReLUs; the first ReLU's is also the second convolution's input.
  EXPECT_EQ(training.kept_bytes, kBytes * (kImage + 4 * kFeatures));
  // The last ReLU has two gradients. The second norm has three, one of them for the branch around it, but the
  // last ReLU's output is freed by then.
  EXPECT_EQ(training.peak_bytes, kBytes * (kImage + 6 * kFeatures));
  // The second norm's input and output, and the branch around it.
  EXPECT_EQ(inference_memory(graph, 1).peak_bytes, kBytes * 3 * kFeatures);
}

// Two linear layers without biases: the second's gradient of weights is there when the first's is made, and the
// tensors between them are freed by then.
TEST(Execution, GradientsOfWeightsComeOneByOne) {
  constexpr std::int64_t kIn = 10, kMiddle = 200, kOut = 30;
  GraphBuilder graph;
  graph.linear("second", graph.linear("first", graph.input("in", {1, kIn}), kMiddle, false), kOut,
               false);
  const MemoryNeed need = training_memory(graph.graph(), 1, 0);
  const double at_second = kIn + 2 * kMiddle + kOut + kMiddle * kOut;
  const double at_first = kIn + kMiddle + kMiddle * kOut + kIn * kMiddle;
  EXPECT_EQ(need.peak_with_gradients_bytes, kBytes * std::max(at_second, at_first));
  EXPECT_EQ(need.peak_bytes, kBytes * (kIn + 2 * kMiddle + kOut));
  EXPECT_EQ(inference_memory(graph.graph(), 1).peak_with_gradients_bytes,
            inference_memory(graph.graph(), 1).peak_bytes);
}

TEST(Execution, ViewsShareMemoryAndGradients) {
  constexpr std::int64_t kClasses = 10;
  GraphBuilder graph;
  graph.linear("linear", graph.flatten("flatten", convolution(graph, image_of(graph))), kClasses,
               true);
  const auto [training, inference] = needs_of(graph);
  EXPECT_EQ(training.kept_bytes, kBytes * (kImage + kFeatures));
  // The gradient of the flat view is that of the convolution's output.
  EXPECT_EQ(training.peak_bytes, kBytes * (kImage + 2 * kFeatures + kClasses));
  EXPECT_EQ(inference.peak_bytes, kBytes * (kImage + kFeatures));
}

TEST(Execution, DropoutKeepsAByteForEachElement) {
  constexpr std::int64_t kIn = 100, kOut = 300;
  GraphBuilder graph;
  graph.dropout("dropout", graph.linear("linear", graph.input("in", {1, kIn}), kOut, false));
  const auto [training, inference] = needs_of(graph);
  EXPECT_EQ(training.kept_bytes, kBytes * kIn + kOut) << "the linear layer's output is freed";
  EXPECT_EQ(training.peak_bytes, kBytes * (kIn + 2 * kOut) + kOut);
  EXPECT_EQ(inference.peak_bytes, kBytes * 2 * kOut) << "there is no mask";
}

TEST(Execution, PoolingKeepsIndicesOfMaxima) {
  constexpr double kPooled = kFeatures / 4;
  for (const bool average : {false, true}) {
    GraphBuilder graph;
    graph.pooling("pool", convolution(graph, image_of(graph)), {.average = average});
    const double indices = average ? 0 : 8 * kPooled;
    const auto [training, inference] = needs_of(graph);
    EXPECT_EQ(training.kept_bytes, kBytes * (kImage + kFeatures) + indices);
    EXPECT_EQ(training.peak_bytes, kBytes * (kImage + 2 * kFeatures + kPooled) + indices);
    EXPECT_EQ(inference.peak_bytes, kBytes * std::max(kImage + kFeatures, kFeatures + kPooled));
  }
}

TEST(Execution, ConcatenationCopiesItsInputs) {
  GraphBuilder graph;
  const Node image = image_of(graph);
  const std::array<Node, 3> parts{convolution(graph, image), convolution(graph, image),
                                  convolution(graph, image)};
  graph.batch_norm("norm", graph.concatenation("all", parts, 1));
  constexpr double kAll = 3 * kFeatures;
  const auto [training, inference] = needs_of(graph);
  // The parts are freed when they are copied.
  EXPECT_EQ(training.kept_bytes, kBytes * (kImage + kAll));
  // The norm's input, and the gradients of its output and its input.
  EXPECT_EQ(training.peak_bytes, kBytes * (kImage + 3 * kAll));
  EXPECT_EQ(inference.peak_bytes, kBytes * 2 * kAll);
}

TEST(Execution, GradientsOfBranchesAreSummedInOneTensor) {
  constexpr std::int64_t kIn = 10, kHidden = 50, kLargest = 30;
  GraphBuilder graph;
  const Node hidden = graph.linear("hidden", graph.input("in", {1, kIn}), kHidden, false);
  for (const std::int64_t out : {kLargest, std::int64_t{20}, std::int64_t{7}}) {
    graph.linear("head", hidden, out, false);
  }
  const auto [training, inference] = needs_of(graph);
  EXPECT_EQ(training.kept_bytes, kBytes * (kIn + kHidden));
  // The first head's backward pass is the last one, and still needs the hidden features.
  EXPECT_EQ(training.peak_bytes, kBytes * (kIn + 2 * kHidden + kLargest));
  EXPECT_EQ(inference.peak_bytes, kBytes * (kHidden + kLargest));
}

TEST(Execution, BackwardPassFreesWhatItHasUsed) {
  constexpr std::int64_t kIn = 10, kWide = 400, kNarrow = 100;
  const auto narrow_of = [](GraphBuilder& graph) {
    const Node wide = graph.linear("wide", graph.input("in", {1, kIn}), kWide, false);
    return graph.linear("narrow", graph.smooth_activation("gelu", wide), kNarrow, false);
  };
  // The peak is the backward pass of the narrow layer: two wide tensors are kept, and there are the gradients of
  // its output and of its input. What comes after it is gone.
  constexpr double kPeak = kBytes * (kIn + 3 * kWide + kNarrow);
  GraphBuilder with_view;
  const Node view = with_view.view("view", narrow_of(with_view), {1, 10, 10});
  with_view.linear("out", view, 1, false);
  EXPECT_EQ(needs_of(with_view).training.peak_bytes, kPeak) << "the view's gradient is the layer's";
  GraphBuilder with_mask;
  with_mask.dropout("dropout", narrow_of(with_mask));
  EXPECT_EQ(needs_of(with_mask).training.peak_bytes, kPeak) << "the mask is freed";
  GraphBuilder with_product;
  const Node factor = narrow_of(with_product);
  with_product.product("square", factor, factor);
  EXPECT_EQ(needs_of(with_product).training.peak_bytes, kPeak) << "the factor is freed";
}

TEST(Execution, SumHandsItsGradientToOneInput) {
  constexpr std::int64_t kWidth = 50;
  GraphBuilder graph;
  const Node in = graph.input("in", {1, kWidth});
  const Node a = graph.linear("a", in, kWidth, false);
  const Node b = graph.linear("b", in, kWidth, false);
  graph.sum("sum", a, b);
  // Forward: the input, both linear layers' outputs and the sum. Backward: the input and two gradients.
  EXPECT_EQ(needs_of(graph).training.peak_bytes, kBytes * 4 * kWidth);

  GraphBuilder products;
  const Node x = products.linear("x", products.input("in", {1, kWidth}), kWidth, false);
  products.product("square", x, x);
  // The input, x for the product, and the gradients of the product and of x.
  EXPECT_EQ(needs_of(products).training.peak_bytes, kBytes * 4 * kWidth);
  EXPECT_EQ(needs_of(products).training.kept_bytes, kBytes * 2 * kWidth);
}

TEST(Execution, RecurrentLayerKeepsItsGatesAndCells) {
  constexpr std::int64_t kTokens = 5, kIn = 6, kHidden = 8;
  GraphBuilder graph;
  graph.recurrent("lstm", graph.input("in", {1, kTokens, kIn}), {.hidden = kHidden});
  const auto [training, inference] = needs_of(graph);
  constexpr double kOut = kTokens * kHidden;
  EXPECT_EQ(training.kept_bytes, kBytes * (kTokens * kIn + kOut + 5 * kOut));
  EXPECT_EQ(training.peak_bytes, training.kept_bytes + kBytes * kOut);
  EXPECT_EQ(inference.peak_bytes, kBytes * (kTokens * kIn + kOut));
}

TEST(Execution, WeightsHaveGradientsAndStates) {
  GraphBuilder graph;
  graph.linear("linear", graph.input("in", {1, 100}), 30, true);
  constexpr double kWeights = kBytes * (100 * 30 + 30);
  for (const int states : {0, 1, 2}) {
    const MemoryNeed need = training_memory(graph.graph(), 1, states);
    EXPECT_EQ(need.weights_bytes, kWeights);
    EXPECT_EQ(need.gradients_bytes, kWeights);
    EXPECT_EQ(need.optimiser_bytes, states * kWeights);
    EXPECT_EQ(need.total_bytes(), (2 + states) * kWeights + need.peak_bytes);
    EXPECT_EQ(need.workspace_bytes, 0) << "no convolution";
  }
  const MemoryNeed inference = inference_memory(graph.graph(), 1);
  EXPECT_EQ(inference.weights_bytes, kWeights);
  EXPECT_EQ(inference.gradients_bytes, 0);
  EXPECT_EQ(inference.optimiser_bytes, 0);
  EXPECT_EQ(inference.kept_bytes, 0);
  EXPECT_EQ(inference.total_bytes(), kWeights + kBytes * (100 + 30));
}

TEST(Execution, GrowsInProportionToTheSamples) {
  const ComputationGraph graph = residual_block(1);
  const MemoryNeed one = training_memory(graph, 1, 2);
  const MemoryNeed one_inference = inference_memory(graph, 1);
  for (const double samples : {2.0, 7.0, 512.0}) {
    const MemoryNeed need = training_memory(graph, samples, 2);
    EXPECT_DOUBLE_EQ(need.kept_bytes, samples * one.kept_bytes);
    EXPECT_DOUBLE_EQ(need.peak_bytes, samples * one.peak_bytes);
    EXPECT_DOUBLE_EQ(need.workspace_bytes, samples * one.workspace_bytes);
    EXPECT_EQ(need.weights_bytes, one.weights_bytes);
    EXPECT_EQ(need.gradients_bytes, one.gradients_bytes);
    EXPECT_EQ(need.optimiser_bytes, one.optimiser_bytes);
    EXPECT_DOUBLE_EQ(inference_memory(graph, samples).peak_bytes,
                     samples * one_inference.peak_bytes);
  }
}

TEST(Execution, DoesNotDependOnTheSamplesOfTheGraph) {
  const MemoryNeed one = training_memory(residual_block(1), 24, 1);
  const MemoryNeed eight = training_memory(residual_block(8), 24, 1);
  EXPECT_DOUBLE_EQ(one.kept_bytes, eight.kept_bytes);
  EXPECT_DOUBLE_EQ(one.peak_bytes, eight.peak_bytes);
  EXPECT_DOUBLE_EQ(one.total_bytes(), eight.total_bytes());
  EXPECT_DOUBLE_EQ(inference_memory(residual_block(1), 24).peak_bytes,
                   inference_memory(residual_block(8), 24).peak_bytes);
}

TEST(Execution, RefusesLessThanOneSample) {
  const ComputationGraph graph = residual_block(1);
  for (const double samples :
       {0.0, 0.5, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(refusal_of([&] { training_memory(graph, samples, 0); }),
              "memory of less than one sample")
        << samples;
    EXPECT_EQ(refusal_of([&] { inference_memory(graph, samples); }),
              "memory of less than one sample")
        << samples;
  }
  EXPECT_EQ(refusal_of([&] { training_memory(graph, 1, -1); }),
            "an optimiser with less than no states");
}

TEST(Execution, EmptyGraphNeedsNothing) {
  const MemoryNeed need = training_memory(ComputationGraph(), 1, 2);
  EXPECT_EQ(need.total_bytes(), 0);
  EXPECT_EQ(inference_memory(ComputationGraph(), 1).total_bytes(), 0);
}

}  // namespace
}  // namespace corun::test::execution_test
