#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/graph/execution.hpp"
#include "predictors/graph/zoo/zoo.hpp"

/// What holds for the graph of every model of the zoo.
namespace corun::test::zoo_properties_test {
namespace {

using Node = ComputationGraph::Node;

constexpr double kBytes = 4;

/// Calls `check` with each model's entry and graph.
template <typename Check>
void for_each_model(const Check& check) {
  for (const ZooEntry& entry : zoo_catalog()) {
    SCOPED_TRACE(entry.name);
    check(entry, build_zoo_model(entry));
  }
}

bool is_input(const Operation& operation) { return operation.kind == OperationKind::kInput; }
bool is_view(const Operation& operation) { return operation.kind == OperationKind::kView; }

TEST(ZooProperties, OperationsReadEarlierOnesAndLeadToOneOutput) {
  for_each_model([](const ZooEntry&, const ComputationGraph& graph) {
    std::vector<bool> is_read(graph.size(), false);
    for (Node node = 0; node < graph.size(); ++node) {
      SCOPED_TRACE(graph[node].name);
      const std::vector<Node> inputs = graph.inputs(node);
      EXPECT_EQ(inputs.empty(), is_input(graph[node]));
      for (const Node input : inputs) {
        EXPECT_LT(input, node);
        is_read.at(input) = true;
      }
      EXPECT_FALSE(graph[node].name.empty());
      EXPECT_NE(graph[node].kind, OperationKind::kUnknown);
    }
    ASSERT_GT(graph.size(), 1U);
    is_read.back() = true;
    EXPECT_EQ(std::ranges::count(is_read, false), 0) << "an operation's output is not used";
  });
}

TEST(ZooProperties, OperationsOfOneSampleHaveFiniteCounts) {
  for_each_model([](const ZooEntry&, const ComputationGraph& graph) {
    EXPECT_EQ(graph.samples(), 1);
    for (Node node = 0; node < graph.size(); ++node) {
      const Operation& operation = graph[node];
      SCOPED_TRACE(operation.name);
      EXPECT_EQ(operation.output.at(0), 1) << text_of(operation.output);
      EXPECT_EQ(graph.elements(node), elements_of(operation.output));
      EXPECT_TRUE(std::isfinite(operation.multiply_adds));
      EXPECT_EQ(operation.parameters == 0, operation.parameter_tensors == 0);
      const bool costs = !is_input(operation) && !is_view(operation);
      EXPECT_EQ(operation.forward_kernels > 0, costs);
      EXPECT_TRUE(costs || operation.backward_kernels == 0);
      EXPECT_TRUE(operation.parameters == 0 || operation.backward_kernels > 0);
      if (operation.inner_length > 0) {
        EXPECT_DOUBLE_EQ(operation.multiply_adds,
                         static_cast<double>(graph.elements(node)) * operation.inner_length);
        EXPECT_GE(operation.backward_kernels, 2) << "gradients of both factors";
      } else {
        EXPECT_EQ(operation.multiply_adds, 0);
      }
    }
  });
}

TEST(ZooProperties, TotalsAreSumsOverOperations) {
  for_each_model([](const ZooEntry&, const ComputationGraph& graph) {
    const GraphTotals totals = totals_of(graph);
    int operations = 0;
    double elements = 0;
    for (int kind = 0; kind < kOperationKinds; ++kind) {
      operations += totals.operations.at(static_cast<std::size_t>(kind));
      elements += totals.elements.at(static_cast<std::size_t>(kind));
    }
    EXPECT_EQ(static_cast<std::size_t>(operations), graph.size());
    double expected = 0;
    for (Node node = 0; node < graph.size(); ++node) {
      expected += static_cast<double>(graph.elements(node));
    }
    EXPECT_EQ(elements, expected);
    EXPECT_GT(totals.input_elements, 0);
    EXPECT_GT(totals.weighted_outputs, 0);
    EXPECT_LT(totals.weighted_outputs, totals.activation_elements);
    EXPECT_LT(totals.activation_elements, elements);
    EXPECT_GE(totals.multiply_adds, totals.grouped_multiply_adds);
    EXPECT_GE(totals.multiply_adds, totals.weighted_outputs);
    EXPECT_GT(totals.bytes_moved, kBytes * totals.activation_elements);
    EXPECT_GT(totals.forward_kernels, 0);
    EXPECT_GT(totals.backward_kernels, totals.forward_kernels);
    EXPECT_GT(totals.parameter_tensors, 0);
  });
}

/// By operation: the one in whose memory its output lies.
std::vector<Node> storages_of(const ComputationGraph& graph) {
  std::vector<Node> storage;
  for (Node node = 0; node < graph.size(); ++node) {
    storage.push_back(graph[node].in_place ? storage.at(graph.inputs(node).at(0)) : node);
  }
  return storage;
}

/// Whether two outputs in one memory are slices of it, which do not overlap (DPN's two paths).
bool are_slices(const ComputationGraph& graph, Node storage, Node a, Node b) {
  const auto is_slice = [&](Node node) {
    return is_view(graph[node]) && graph.elements(node) < graph.elements(storage);
  };
  return a != b && is_slice(a) && is_slice(b);
}

/// PyTorch refuses the backward pass of a model that overwrites what it has kept, and an operation that reads
/// an overwritten tensor reads other numbers than the model's source.
TEST(ZooProperties, InPlaceOperationsOverwriteNothingThatIsStillNeeded) {
  for_each_model([](const ZooEntry&, const ComputationGraph& graph) {
    const std::vector<Node> storage = storages_of(graph);
    for (Node writer = 0; writer < graph.size(); ++writer) {
      if (!graph[writer].in_place || is_view(graph[writer])) continue;
      SCOPED_TRACE(graph[writer].name);
      const Node target = graph.inputs(writer).at(0);
      const auto overwrites = [&](Node node) {
        return node < writer && storage[node] == storage[writer] &&
               !are_slices(graph, storage[writer], node, target);
      };
      EXPECT_FALSE(is_input(graph[storage[writer]])) << "it overwrites the data";
      EXPECT_EQ(graph.elements(writer), graph.elements(target));
      for (Node node = 0; node < graph.size(); ++node) {
        EXPECT_FALSE(overwrites(node) && graph[node].kept.output) << graph[node].name << " is kept";
        if (node == writer || is_view(graph[node])) continue;
        for (const Node input : graph.inputs(node)) {
          if (!overwrites(input)) continue;
          EXPECT_LT(node, writer) << graph[node].name << " reads what was overwritten";
          EXPECT_FALSE(graph[node].kept.inputs) << graph[node].name << " keeps it";
        }
      }
    }
  });
}

/// Both memories from the definitions, tensor by tensor and step by step.
struct Reference {
  double kept = 0;
  double forward_peak = 0;  ///< of training
  double inference_peak = 0;
  double everything = 0;  ///< all tensors, masks and gradients at once
};

Reference reference_of(const ComputationGraph& graph) {
  const std::vector<Node> storage = storages_of(graph);
  std::vector<Node> last(graph.size(), 0);
  std::set<Node> kept;
  Reference reference;
  std::vector<double> masks(graph.size(), 0);
  for (Node node = 0; node < graph.size(); ++node) {
    const Kept& keeps = graph[node].kept;
    last[storage[node]] = node;
    for (const Node input : graph.inputs(node)) {
      last[storage[input]] = node;
      if (keeps.inputs) kept.insert(storage[input]);
    }
    if (keeps.output) kept.insert(storage[node]);
    if (is_input(graph[node])) kept.insert(node);
    const auto elements = static_cast<double>(graph.elements(node));
    masks[node] = keeps.bytes_per_output * elements;
    reference.everything += masks[node] + 2 * kBytes * elements;
  }
  double masks_so_far = 0;
  for (Node step = 0; step < graph.size(); ++step) {
    masks_so_far += masks[step];
    double training = masks_so_far;
    double inference = 0;
    for (Node tensor = 0; tensor <= step; ++tensor) {
      if (storage[tensor] != tensor) continue;
      const double bytes = kBytes * static_cast<double>(graph.elements(tensor));
      if (last[tensor] >= step) inference += bytes;
      if (last[tensor] >= step || kept.contains(tensor)) training += bytes;
    }
    reference.forward_peak = std::max(reference.forward_peak, training);
    reference.inference_peak = std::max(reference.inference_peak, inference);
  }
  reference.kept = masks_so_far;
  for (const Node tensor : kept) {
    reference.kept += kBytes * static_cast<double>(graph.elements(tensor));
  }
  return reference;
}

TEST(ZooProperties, MemoryAgreesWithItsDefinition) {
  for_each_model([](const ZooEntry&, const ComputationGraph& graph) {
    const Reference reference = reference_of(graph);
    const MemoryNeed training = training_memory(graph, 1, 0);
    const MemoryNeed inference = inference_memory(graph, 1);
    EXPECT_DOUBLE_EQ(training.kept_bytes, reference.kept);
    EXPECT_DOUBLE_EQ(inference.peak_bytes, reference.inference_peak);
    EXPECT_GE(training.peak_bytes, reference.forward_peak);
    EXPECT_LE(training.peak_bytes, reference.everything);
    EXPECT_LE(inference.peak_bytes, reference.forward_peak);
    EXPECT_EQ(training.weights_bytes, kBytes * static_cast<double>(totals_of(graph).parameters));
  });
}

TEST(ZooProperties, MemoryGrowsWithTheSamples) {
  for_each_model([](const ZooEntry&, const ComputationGraph& graph) {
    double before = 0, inference_before = 0;
    const MemoryNeed one = training_memory(graph, 1, 0);
    for (const double samples : {1.0, 2.0, 3.0, 8.0, 100.0}) {
      const MemoryNeed need = training_memory(graph, samples, 0);
      const MemoryNeed inference = inference_memory(graph, samples);
      EXPECT_NEAR(need.peak_bytes, samples * one.peak_bytes, 1e-9 * need.peak_bytes);
      EXPECT_EQ(need.weights_bytes, one.weights_bytes);
      EXPECT_GT(need.total_bytes(), before);
      EXPECT_GT(inference.total_bytes(), inference_before);
      EXPECT_GE(need.peak_bytes, need.kept_bytes);
      EXPECT_LT(inference.total_bytes(), need.total_bytes());
      before = need.total_bytes();
      inference_before = inference.total_bytes();
    }
    EXPECT_EQ(training_memory(graph, 1, 2).total_bytes(),
              one.total_bytes() + 2 * one.weights_bytes);
  });
}

TEST(ZooProperties, LargerInputsNeedMore) {
  for_each_model([](const ZooEntry& entry, const ComputationGraph& graph) {
    const ComputationGraph larger =
        build_zoo_model(entry, {.pixels = 2 * entry.pixels, .tokens = 2 * entry.tokens});
    const GraphTotals few = totals_of(graph), many = totals_of(larger);
    EXPECT_EQ(many.parameters, few.parameters);
    EXPECT_EQ(larger.size(), graph.size());
    EXPECT_GT(many.multiply_adds, few.multiply_adds);
    EXPECT_GT(many.activation_elements, few.activation_elements);
    EXPECT_GE(many.forward_kernels, few.forward_kernels);
    EXPECT_GT(training_memory(larger, 1, 0).peak_bytes, training_memory(graph, 1, 0).peak_bytes);
  });
}

}  // namespace
}  // namespace corun::test::zoo_properties_test
