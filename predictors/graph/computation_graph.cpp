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
      operation.backward_kernels < 0 || operation.frozen_parameters < 0 ||
      !(operation.frozen_bytes >= 0) || !(operation.bytes_per_element >= 0) ||
      !(operation.bytes_per_parameter >= 0) || !(operation.repeats >= 0)) {
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

bool multiplies_in(const ComputationGraph& graph, Precision precision) {
  for (ComputationGraph::Node node = 0; node < graph.size(); ++node) {
    if (graph[node].multiply_adds > 0 && graph[node].precision == precision) return true;
  }
  return false;
}

GraphTotals totals_of(const ComputationGraph& graph) {
  GraphTotals totals;
  const auto samples = static_cast<double>(graph.samples());
  for (ComputationGraph::Node node = 0; node < graph.size(); ++node) {
    const Operation& operation = graph[node];
    const double elements = static_cast<double>(graph.elements(node)) / samples;
    const double multiply_adds = operation.repeats * operation.multiply_adds / samples;
    const auto kind = static_cast<std::size_t>(operation.kind);
    ++totals.operations[kind];
    totals.elements[kind] += elements;
    totals.parameters += operation.parameters + operation.frozen_parameters;
    totals.parameter_tensors += operation.parameter_tensors;
    totals.weight_bytes += weight_bytes(operation);
    totals.multiply_adds += multiply_adds;
    if (operation.groups > 1) totals.grouped_multiply_adds += multiply_adds;
    totals.forward_kernels += operation.repeats * operation.forward_kernels;
    totals.backward_kernels += operation.repeats * operation.backward_kernels;
    if (operation.kind == OperationKind::kInput) {
      totals.input_elements += elements;
      totals.input_bytes += graph.bytes(node) / samples;
    } else if (operation.kind != OperationKind::kView) {
      if (is_layer(operation.kind)) totals.activation_elements += elements;
      totals.bytes_moved += operation.repeats * graph.bytes(node) / samples;
      for (const ComputationGraph::Node input : graph.inputs(node)) {
        totals.bytes_moved += operation.repeats * graph.bytes(input) / samples;
      }
    }
    if (operation.kind == OperationKind::kConvolution || operation.kind == OperationKind::kLinear ||
        operation.kind == OperationKind::kRecurrent) {
      totals.weighted_outputs += elements;
    }
    const auto readers = static_cast<double>(boost::out_degree(node, graph.edges()));
    if (readers > 1 && operation.kind != OperationKind::kInput) {
      totals.backward_kernels += operation.repeats * (readers - 1);
    }
  }
  return totals;
}

}  // namespace corun::inline predictors
