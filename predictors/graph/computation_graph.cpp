#include "predictors/graph/computation_graph.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace corun::inline predictors {

ComputationGraph::ComputationGraph(std::int64_t samples) : samples_(samples) {
  if (samples < 1) throw std::invalid_argument("a graph needs a sample");
}

ComputationGraph::Node ComputationGraph::add(Operation operation, std::span<const Node> inputs) {
  if (size() == kMostOperations) {
    throw std::invalid_argument(fmt::format("more than {} operations", kMostOperations));
  }
  const std::int64_t elements = elements_of(operation.output);
  if (operation.parameters < 0 || operation.parameter_tensors < 0 ||
      !(operation.multiply_adds >= 0) || operation.forward_kernels < 0 ||
      operation.backward_kernels < 0) {
    throw std::invalid_argument("an operation with a count below 0");
  }
  const Node node = size();
  for (const Node input : inputs) {
    if (input >= node) throw std::logic_error("an operation reads one that is not in the graph");
  }
  edges_[boost::add_vertex(edges_)] = std::move(operation);
  elements_.push_back(elements);
  for (const Node input : inputs) boost::add_edge(input, node, edges_);
  return node;
}

std::vector<ComputationGraph::Node> ComputationGraph::inputs(Node node) const {
  std::vector<Node> result;
  const auto [first, last] = boost::in_edges(node, edges_);
  for (auto edge = first; edge != last; ++edge) result.push_back(boost::source(*edge, edges_));
  return result;
}

namespace {

/// Whether a framework has the operation as a layer, and not as a function between layers.
bool is_layer(OperationKind kind) {
  switch (kind) {
    case OperationKind::kConvolution:
    case OperationKind::kLinear:
    case OperationKind::kNormalisation:
    case OperationKind::kActivation:
    case OperationKind::kSoftmax:
    case OperationKind::kPooling:
    case OperationKind::kDropout:
    case OperationKind::kEmbedding:
    case OperationKind::kRecurrent:
    case OperationKind::kUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace

GraphTotals totals_of(const ComputationGraph& graph) {
  constexpr double kBytes = 4;
  GraphTotals totals;
  const auto samples = static_cast<double>(graph.samples());
  for (ComputationGraph::Node node = 0; node < graph.size(); ++node) {
    const Operation& operation = graph[node];
    const double elements = static_cast<double>(graph.elements(node)) / samples;
    const auto kind = static_cast<std::size_t>(operation.kind);
    ++totals.operations[kind];
    totals.elements[kind] += elements;
    totals.parameters += operation.parameters;
    totals.parameter_tensors += operation.parameter_tensors;
    totals.multiply_adds += operation.multiply_adds / samples;
    if (operation.groups > 1) totals.grouped_multiply_adds += operation.multiply_adds / samples;
    totals.forward_kernels += operation.forward_kernels;
    totals.backward_kernels += operation.backward_kernels;
    if (operation.kind == OperationKind::kInput) {
      totals.input_elements += elements;
    } else if (operation.kind != OperationKind::kView) {
      if (is_layer(operation.kind)) totals.activation_elements += elements;
      totals.bytes_moved += kBytes * elements;
      for (const ComputationGraph::Node input : graph.inputs(node)) {
        totals.bytes_moved += kBytes * static_cast<double>(graph.elements(input)) / samples;
      }
    }
    if (operation.kind == OperationKind::kConvolution || operation.kind == OperationKind::kLinear ||
        operation.kind == OperationKind::kRecurrent) {
      totals.weighted_outputs += elements;
    }
    const auto readers = static_cast<int>(boost::out_degree(node, graph.edges()));
    if (readers > 1 && operation.kind != OperationKind::kInput) {
      totals.backward_kernels += readers - 1;
    }
  }
  return totals;
}

}  // namespace corun::inline predictors
