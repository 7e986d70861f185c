#include "predictors/graph/computation_graph.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/graph/graph_builder.hpp"
#include "tests/predictors/graph/refusal.hpp"

namespace corun::test::computation_graph_test {
namespace {

using Node = ComputationGraph::Node;

TEST(ComputationGraph, HasItsNodesInOrder) {
  GraphBuilder builder(4);
  const Node a = builder.input("a", {4, 3});
  const Node b = builder.input("b", {4, 3});
  const Node difference = builder.sum("difference", b, a);
  const ComputationGraph graph = builder.take();
  EXPECT_EQ(graph.samples(), 4);
  EXPECT_EQ(graph.size(), 3U);
  EXPECT_EQ(graph.inputs(difference), (std::vector<Node>{b, a})) << "as given";
  EXPECT_TRUE(graph.inputs(a).empty());
  EXPECT_EQ(graph.elements(difference), 12);
  EXPECT_EQ(graph[difference].name, "difference");
}

TEST(ComputationGraph, RefusesWhatIsNoGraph) {
  EXPECT_THROW(ComputationGraph(0), std::invalid_argument);
  EXPECT_THROW(ComputationGraph(-1), std::invalid_argument);
  GraphBuilder graph;
  EXPECT_THROW(graph.add(Operation{}, {0}), std::logic_error) << "it cannot read itself";
  const auto message = [&](const auto& change) {
    Operation operation;
    change(operation);
    return refusal_of([&] { graph.add(operation, {}); });
  };
  constexpr const char* kBelow = "an operation with a count below 0";
  EXPECT_EQ(message([](Operation& o) { o.parameters = -1; }), kBelow);
  EXPECT_EQ(message([](Operation& o) { o.parameter_tensors = -1; }), kBelow);
  EXPECT_EQ(message([](Operation& o) { o.multiply_adds = -1; }), kBelow);
  EXPECT_EQ(message([](Operation& o) { o.multiply_adds = std::nan(""); }), kBelow);
  EXPECT_EQ(message([](Operation& o) { o.forward_kernels = -1; }), kBelow);
  EXPECT_EQ(message([](Operation& o) { o.backward_kernels = -1; }), kBelow);
  EXPECT_EQ(message([](Operation& o) { o.output = {0}; }), "a tensor of 0 has a size below 1");
  EXPECT_EQ(graph.graph().size(), 0U) << "nothing refused is added";
  EXPECT_EQ(refusal_of([&] {
              for (std::size_t i = 0; i <= ComputationGraph::kMostOperations; ++i) {
                graph.input("", {1});
              }
            }),
            "more than 200000 operations");
}

TEST(GraphTotals, AreForOneSample) {
  GraphBuilder builder(2);
  const Node in = builder.input("in", {2, 4, 6, 6});
  const Node conv = builder.convolution(
      "conv", in, {.channels = 8, .kernel = {3}, .padding = {1}, .groups = 2, .bias = true});
  const Node relu = builder.relu("relu", conv);
  const Node sum = builder.sum("sum", relu, relu);
  const Node flat = builder.flatten("flat", sum);
  builder.linear("linear", flat, 10, true);
  const GraphTotals totals = totals_of(builder.graph());
  constexpr double kImage = 4 * 36, kHidden = 8 * 36, kOut = 10;
  EXPECT_EQ(totals.parameters, (8 * 2 * 9 + 8) + (288 * 10 + 10));
  EXPECT_EQ(totals.parameter_tensors, 4);
  EXPECT_EQ(totals.grouped_multiply_adds, kHidden * 2 * 9);
  EXPECT_EQ(totals.multiply_adds, kHidden * 2 * 9 + 288 * 10);
  EXPECT_EQ(totals.input_elements, kImage);
  EXPECT_EQ(totals.activation_elements, 2 * kHidden + kOut) << "the sum and the view are no layers";
  EXPECT_EQ(totals.weighted_outputs, kHidden + kOut);
  // conv, relu, sum of two and linear read and write; the view does not.
  EXPECT_EQ(totals.bytes_moved,
            4 * ((kImage + kHidden) + 2 * kHidden + 3 * kHidden + (kHidden + kOut)));
  EXPECT_EQ(totals.count(OperationKind::kActivation), 1);
  EXPECT_EQ(totals.elements[static_cast<std::size_t>(OperationKind::kView)], kHidden);
  EXPECT_EQ(totals.forward_kernels, 4);
  EXPECT_EQ(totals.backward_kernels, 3 + 1 + 0 + 0 + 3 + 1)
      << "both gradients of the ReLU's output are summed";
}

}  // namespace
}  // namespace corun::test::computation_graph_test
