#include "predictors/graph/execution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "predictors/graph/caching_allocator.hpp"

namespace corun::inline predictors {

namespace {

using Node = ComputationGraph::Node;

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

/// `training`: what a loop's body keeps for its backward pass is there once for each trip.
Tensors tensors_of(const ComputationGraph& graph, double scale, bool training) {
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
    if (!shares) tensors.bytes[node] = graph.bytes(node) * scale;
    tensors.own_bytes[node] = operation.kept.bytes_per_output * elements;
    if (training) tensors.own_bytes[node] *= operation.repeats;
    tensors.last_read[tensors.storage[node]] = node;
    for (const Node input : inputs) {
      tensors.last_read[tensors.storage[input]] = node;
      if (operation.kept.inputs) keep(tensors.storage[input], node);
    }
    if (operation.kept.output) keep(tensors.storage[node], node);
    if (operation.kind == OperationKind::kInput) keep(node, node);  // the data loader holds it
  }
  for (Node node = 0; training && node < nodes; ++node) {
    if (tensors.kept_for[node] != kNever) tensors.bytes[node] *= graph[node].repeats;
  }
  return tensors;
}

MemoryNeed weights_of(const ComputationGraph& graph, double scale) {
  MemoryNeed need;
  for (Node node = 0; node < graph.size(); ++node) {
    need.weights_bytes += weight_bytes(graph[node]);
    if (graph[node].kind != OperationKind::kConvolution) continue;
    double bytes = graph.bytes(node);
    for (const Node input : graph.inputs(node)) bytes += graph.bytes(input);
    need.workspace_bytes = std::max(need.workspace_bytes, bytes * scale);
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
  for (Node node = 0; node < graph.size(); ++node)
    need.gradients_bytes += learnt_bytes(graph[node]);
  need.optimiser_bytes = need.gradients_bytes * optimiser_states;
  const Tensors tensors = tensors_of(graph, scale, true);

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
  need.peak_with_gradients_bytes = need.peak_bytes;

  // Backward: an operation's pass reads the gradient of its output, writes those of its inputs and weights, and frees.
  double of_weights = 0;
  std::vector<bool> has_gradient(nodes, false);
  const auto gradient_bytes = [&](Node node) { return graph.bytes(node) * scale; };
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
    of_weights += learnt_bytes(graph[node]);
    need.peak_with_gradients_bytes = std::max(need.peak_with_gradients_bytes, live + of_weights);
    if (!taken) live -= gradient_bytes(node);
    live -= tensors.own_bytes[node];
    for (const Node freed : freed_before[node]) live -= tensors.bytes[freed];
  }
  return need;
}

MemoryNeed inference_memory(const ComputationGraph& graph, double samples) {
  const double scale = scale_of(graph, samples);
  MemoryNeed need = weights_of(graph, scale);
  const Tensors tensors = tensors_of(graph, scale, false);
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
  need.peak_with_gradients_bytes = need.peak_bytes;
  return need;
}

namespace {

/// Two steps of training through an allocator.
class AllocatedSteps {
 public:
  AllocatedSteps(const ComputationGraph& graph, double samples, double workspace)
      : graph_(graph),
        workspace_(workspace),
        scale_(scale_of(graph, samples)),
        tensors_(tensors_of(graph, scale_, true)),
        readers_(graph.size(), 0),
        memory_(graph.size(), kNone),
        mask_(graph.size(), kNone),
        gradient_(graph.size(), kNoGradient) {
    for (Node node = 0; node < graph.size(); ++node) {
      for (const Node input : graph.inputs(node)) ++readers_[tensors_.storage[input]];
    }
  }

  ReservedMemory run() {
    std::vector<Handle> lasting;  // weights, then states
    for (Node node = 0; node < graph_.size(); ++node) {
      const double bytes = weight_bytes(graph_[node]);
      if (bytes > 0) lasting.push_back(allocator_.allocate(bytes));
    }
    for (int step = 0; step < 2; ++step) {
      forward();
      backward();
      if (step == 0) {
        for (Node node = 0; node < graph_.size(); ++node) {
          if (graph_[node].parameters == 0) continue;
          for (int state = 0; state < 2; ++state) allocator_.allocate(learnt_bytes(graph_[node]));
        }
      }
      for (const Handle handle : weight_gradients_) allocator_.free(handle);
      weight_gradients_.clear();
    }
    return {allocator_.peak_live_bytes(), allocator_.reserved_bytes()};
  }

 private:
  using Handle = CachingAllocator::Handle;
  static constexpr Handle kNone = std::numeric_limits<Handle>::max();
  static constexpr std::size_t kNoGradient = std::numeric_limits<std::size_t>::max();

  /// Memory of a gradient, which several tensors may share.
  struct Gradient {
    Handle handle = kNone;
    int users = 0;
  };

  double tensor(Node node) const { return graph_.bytes(node) * scale_; }
  void use_workspace(Node node) {
    if (graph_[node].kind != OperationKind::kConvolution || workspace_ == 0) return;
    double bytes = tensor(node);
    for (const Node input : graph_.inputs(node)) bytes += tensor(input);
    allocator_.free(allocator_.allocate(workspace_ * bytes));
  }
  void release(Node storage) {
    if (--uses_[storage] > 0) return;
    allocator_.free(memory_[storage]);
    memory_[storage] = kNone;
  }

  void forward() {
    // A tensor is used by its readers, by the operations that keep it, and, without readers or as the batch, by the
    // loop until the step ends.
    uses_.assign(graph_.size(), 0);
    for (Node node = 0; node < graph_.size(); ++node) {
      const Operation& operation = graph_[node];
      const Node storage = tensors_.storage[node];
      if (storage == node) {
        memory_[node] = allocator_.allocate(tensors_.bytes[node]);
        uses_[node] = readers_[node];
        if (readers_[node] == 0 || operation.kind == OperationKind::kInput) ++uses_[node];
      }
      use_workspace(node);
      if (tensors_.own_bytes[node] > 0) {
        mask_[node] = allocator_.allocate(tensors_.own_bytes[node]);
      }
      const std::vector<Node> inputs = graph_.inputs(node);
      if (operation.kept.output) ++uses_[storage];
      if (operation.kept.inputs) {
        for (const Node input : inputs) ++uses_[tensors_.storage[input]];
      }
      for (const Node input : inputs) release(tensors_.storage[input]);
    }
  }

  void drop(std::size_t gradient) {
    if (--gradients_[gradient].users == 0) allocator_.free(gradients_[gradient].handle);
  }

  std::size_t new_gradient(Node node) {
    gradients_.push_back({allocator_.allocate(tensor(node)), 1});
    return gradients_.size() - 1;
  }

  /// The gradient `one` reaches the output of `node`: another one there is summed into new memory.
  void arrive(Node node, std::size_t one) {
    if (gradient_[node] == kNoGradient) {
      gradient_[node] = one;
      return;
    }
    const std::size_t sum = new_gradient(node);
    drop(gradient_[node]);
    drop(one);
    gradient_[node] = sum;
  }

  void backward() {
    gradients_.clear();
    std::ranges::fill(gradient_, kNoGradient);
    for (Node node = graph_.size(); node-- > 0;) {
      const Operation& operation = graph_[node];
      if (operation.kind == OperationKind::kInput) continue;
      const std::size_t own = gradient_[node] == kNoGradient ? new_gradient(node) : gradient_[node];
      const std::vector<Node> inputs = graph_.inputs(node);
      std::vector<std::pair<Node, std::size_t>> made;
      for (const Node input : inputs) {
        if (graph_[input].kind == OperationKind::kInput) continue;
        if (operation.backward_kernels == 0 && graph_.elements(input) == graph_.elements(node)) {
          ++gradients_[own].users;  // passed on as it is
          made.emplace_back(input, own);
        } else {
          made.emplace_back(input, new_gradient(input));
        }
      }
      if (!made.empty()) use_workspace(node);
      if (operation.parameters > 0) {
        weight_gradients_.push_back(allocator_.allocate(learnt_bytes(operation)));
      }
      use_workspace(node);
      drop(own);
      for (const auto& [input, gradient] : made) arrive(input, gradient);
      if (mask_[node] != kNone) {
        allocator_.free(mask_[node]);
        mask_[node] = kNone;
      }
      if (operation.kept.output) release(tensors_.storage[node]);
      if (operation.kept.inputs) {
        for (const Node input : inputs) release(tensors_.storage[input]);
      }
    }
    // What the loop holds.
    for (Node node = 0; node < graph_.size(); ++node) {
      if (tensors_.storage[node] == node && memory_[node] != kNone) release(node);
    }
  }

  const ComputationGraph& graph_;
  double workspace_;
  double scale_;
  Tensors tensors_;
  std::vector<int> readers_;  ///< by storage
  CachingAllocator allocator_;
  std::vector<Handle> memory_;         ///< by storage
  std::vector<Handle> mask_;           ///< by node
  std::vector<int> uses_;              ///< by storage
  std::vector<std::size_t> gradient_;  ///< by node: its place in gradients_
  std::vector<Gradient> gradients_;    ///< of the present step
  std::vector<Handle> weight_gradients_;
};

}  // namespace

ReservedMemory reserved_memory(const ComputationGraph& graph, double samples, double workspace) {
  if (!(workspace >= 0)) throw std::invalid_argument("a workspace of less than nothing");
  return AllocatedSteps(graph, samples, workspace).run();
}

}  // namespace corun::inline predictors
