#include "models/graph/execution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace corun {

namespace {

using Node = ComputationGraph::Node;

constexpr double kBytes = 4;  // of a number in single precision
constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

/// Tensors by the memory in which they lie: a view has that of its input.
struct Tensors {
  std::vector<Node> storage;           ///< by node: the node that allocated it
  std::vector<double> bytes;           ///< by node, 0 unless it allocates
  std::vector<std::size_t> last_read;  ///< by storage: the last operation that touches it
  std::vector<std::size_t>
      kept_for;                   ///< by storage: the first operation whose backward pass needs it
  std::vector<double> own_bytes;  ///< by node: masks and indices
};

Tensors tensors_of(const ComputationGraph& graph, double scale) {
  const std::size_t nodes = graph.size();
  Tensors tensors{std::vector<Node>(nodes), std::vector<double>(nodes, 0),
                  std::vector<std::size_t>(nodes, 0), std::vector<std::size_t>(nodes, kNever),
                  std::vector<double>(nodes, 0)};
  const auto keep = [&](Node storage, Node reader) {
    tensors.kept_for[storage] = std::min(tensors.kept_for[storage], reader);
  };
  for (Node node = 0; node < nodes; ++node) {
    const Operation& operation = graph[node];
    const std::vector<Node> inputs = graph.inputs(node);
    const double elements = static_cast<double>(graph.elements(node)) * scale;
    const bool shares = operation.in_place && !inputs.empty();
    tensors.storage[node] = shares ? tensors.storage[inputs[0]] : node;
    if (!shares) tensors.bytes[node] = kBytes * elements;
    tensors.own_bytes[node] = operation.kept.bytes_per_output * elements;
    tensors.last_read[tensors.storage[node]] = node;
    for (const Node input : inputs) {
      tensors.last_read[tensors.storage[input]] = node;
      if (operation.kept.inputs) keep(tensors.storage[input], node);
    }
    if (operation.kept.output) keep(tensors.storage[node], node);
    if (operation.kind == OperationKind::kInput) keep(node, node);  // the data loader holds it
  }
  return tensors;
}

MemoryNeed weights_of(const ComputationGraph& graph, double scale) {
  MemoryNeed need;
  for (Node node = 0; node < graph.size(); ++node) {
    need.weights_bytes += kBytes * static_cast<double>(graph[node].parameters);
    if (graph[node].kind != OperationKind::kConvolution) continue;
    double elements = static_cast<double>(graph.elements(node));
    for (const Node input : graph.inputs(node)) {
      elements += static_cast<double>(graph.elements(input));
    }
    need.workspace_bytes = std::max(need.workspace_bytes, kBytes * elements * scale);
  }
  return need;
}

double scale_of(const ComputationGraph& graph, double samples) {
  if (!(samples >= 1) || !std::isfinite(samples)) {
    throw std::invalid_argument("memory of less than one sample");
  }
  return samples / static_cast<double>(graph.samples());
}

}  // namespace

MemoryNeed training_memory(const ComputationGraph& graph, double samples, int optimiser_states) {
  if (optimiser_states < 0) throw std::invalid_argument("an optimiser with less than no states");
  const double scale = scale_of(graph, samples);
  MemoryNeed need = weights_of(graph, scale);
  need.gradients_bytes = need.weights_bytes;
  need.optimiser_bytes = need.weights_bytes * optimiser_states;
  const Tensors tensors = tensors_of(graph, scale);

  // Forward: tensors that no later operation reads, and no backward pass needs, are freed.
  const std::size_t nodes = graph.size();
  std::vector<std::vector<Node>> freed_after(nodes);
  std::vector<std::vector<Node>> freed_before(nodes);  // by the backward pass of the operation
  double live = 0;
  for (Node node = 0; node < nodes; ++node) {
    if (tensors.storage[node] != node) continue;
    if (tensors.kept_for[node] == kNever) {
      freed_after[tensors.last_read[node]].push_back(node);
    } else {
      freed_before[tensors.kept_for[node]].push_back(node);
    }
  }
  for (Node node = 0; node < nodes; ++node) {
    live += tensors.bytes[node] + tensors.own_bytes[node];
    need.peak_bytes = std::max(need.peak_bytes, live);
    for (const Node freed : freed_after[node]) live -= tensors.bytes[freed];
  }
  need.kept_bytes = live;

  // Backward: an operation's pass reads the gradient of its output, writes those of its inputs, and frees.
  std::vector<bool> has_gradient(nodes, false);
  const auto gradient_bytes = [&](Node node) {
    return kBytes * static_cast<double>(graph.elements(node)) * scale;
  };
  for (Node node = nodes; node-- > 0;) {
    if (graph[node].kind == OperationKind::kInput) continue;
    if (!has_gradient[node]) {  // the loss, and outputs that nothing reads
      has_gradient[node] = true;
      live += gradient_bytes(node);
    }
    const bool passes_on = graph[node].backward_kernels == 0;
    bool taken = false;
    for (const Node input : graph.inputs(node)) {
      if (has_gradient[input] || graph[input].kind == OperationKind::kInput) continue;
      has_gradient[input] = true;
      // A sum or view hands its gradient to one input of the same size.
      if (passes_on && !taken && graph.elements(input) == graph.elements(node)) {
        taken = true;
        continue;
      }
      live += gradient_bytes(input);
    }
    need.peak_bytes = std::max(need.peak_bytes, live);
    if (!taken) live -= gradient_bytes(node);
    live -= tensors.own_bytes[node];
    for (const Node freed : freed_before[node]) live -= tensors.bytes[freed];
  }
  return need;
}

MemoryNeed inference_memory(const ComputationGraph& graph, double samples) {
  const double scale = scale_of(graph, samples);
  MemoryNeed need = weights_of(graph, scale);
  const Tensors tensors = tensors_of(graph, scale);
  std::vector<std::vector<Node>> freed_after(graph.size());
  for (Node node = 0; node < graph.size(); ++node) {
    if (tensors.storage[node] == node) freed_after[tensors.last_read[node]].push_back(node);
  }
  double live = 0;
  for (Node node = 0; node < graph.size(); ++node) {
    live += tensors.bytes[node];
    need.peak_bytes = std::max(need.peak_bytes, live);
    for (const Node freed : freed_after[node]) live -= tensors.bytes[freed];
  }
  return need;
}

}  // namespace corun
