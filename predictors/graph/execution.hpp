#pragma once

#include <cstdint>

#include "predictors/graph/computation_graph.hpp"

/// Shape-only execution of a computation graph: the memory of a step of training or inference without running
/// it, as DNNMem (Gao et al. 2020) and PyTorch's fake tensors do. A tensor lives from the operation that writes
/// it to the last one that reads it; in training also until the backward pass of each operation that keeps it
/// (Kept). The backward pass runs in reverse order; the gradient of a tensor lives from the first reader's
/// backward pass to its own operation's. Views and in-place operations share the memory of their input.
///
/// Not included: the context of the process, the allocator's rounding and caching, workspaces that libraries
/// choose at run time. Predictors of memory learn these (predictors).
namespace corun::inline predictors {

struct MemoryNeed {
  double weights_bytes = 0;
  double gradients_bytes = 0;  ///< of weights that are learnt
  double optimiser_bytes = 0;  ///< states, one or more for each of these
  double kept_bytes = 0;       ///< tensors that live at the end of the forward pass, input included
  /// Most memory of tensors and their gradients at a time, at least kept_bytes.
  double peak_bytes = 0;
  /// The same with the gradients of weights, which the backward pass makes one by one.
  double peak_with_gradients_bytes = 0;
  double workspace_bytes = 0;  ///< the largest input and output of a convolution together

  /// Weights, their gradients, the optimiser's states and the peak.
  double total_bytes() const {
    return weights_bytes + gradients_bytes + optimiser_bytes + peak_bytes;
  }
};

/// A step of training with `samples` samples. `optimiser_states`: numbers that the
/// optimiser has for each weight (SGD 0, with momentum 1, Adam 2). std::invalid_argument for less than one
/// sample or a negative number of states.
MemoryNeed training_memory(const ComputationGraph& graph, double samples, int optimiser_states);

/// A step of inference: nothing is kept, and there are no gradients.
MemoryNeed inference_memory(const ComputationGraph& graph, double samples);

/// What a process of PyTorch holds after two steps of training: each tensor, gradient, mask and state of the
/// optimiser (two numbers per weight, as Adam has) goes through the caching allocator in the order of execution.
struct ReservedMemory {
  double live_bytes = 0;      ///< most of tensors at a time
  double reserved_bytes = 0;  ///< of the allocator
};

/// `workspace`: bytes that a convolution needs while it runs, as a share of its input and output; libraries that
/// copy both to another layout need 1. std::invalid_argument as training_memory(), and for a share below 0.
ReservedMemory reserved_memory(const ComputationGraph& graph, double samples, double workspace);

}  // namespace corun::inline predictors
