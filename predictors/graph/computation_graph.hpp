#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/graph/adjacency_list.hpp>

#include "predictors/graph/operation.hpp"

/// The computation graph of a deep-learning model (Util20 section 2; Gao et al., DNNMem 2020): a directed
/// acyclic graph of operations. An edge leads from an operation to one that reads its output.
namespace corun::inline predictors {

class ComputationGraph {
 public:
  using Node = std::size_t;
  using Edges = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Operation>;

  static constexpr std::size_t kMostOperations = 200'000;

  /// A graph of which all shapes are for `samples` samples; std::invalid_argument below 1.
  explicit ComputationGraph(std::int64_t samples = 1);

  /// Adds an operation that reads the outputs of `inputs`, in this order. Inputs must be in the graph
  /// already (std::logic_error), so nodes are in an order of execution and there are no cycles.
  /// std::invalid_argument for a shape that elements_of() refuses, numbers below 0, and more operations
  /// than kMostOperations.
  Node add(Operation operation, std::span<const Node> inputs);

  std::int64_t samples() const { return samples_; }
  std::size_t size() const { return boost::num_vertices(edges_); }
  const Operation& operator[](Node node) const { return edges_[node]; }
  /// Elements of the operation's output.
  std::int64_t elements(Node node) const { return elements_[node]; }
  /// Bytes of the operation's output.
  double bytes(Node node) const {
    return edges_[node].bytes_per_element * static_cast<double>(elements_[node]);
  }
  std::vector<Node> inputs(Node node) const;
  const Edges& edges() const { return edges_; }

 private:
  std::int64_t samples_;
  Edges edges_;
  std::vector<std::int64_t> elements_;
};

/// Whether the graph multiplies numbers of this precision.
bool multiplies_in(const ComputationGraph& graph, Precision precision);

/// Sums over a graph. All counts of elements, multiply-adds and bytes are for one sample, and multiply-adds, bytes
/// moved and kernels are those of all trips of loops.
struct GraphTotals {
  std::int64_t parameters = 0;  ///< frozen ones included
  std::int64_t parameter_tensors = 0;
  double weight_bytes = 0;
  double multiply_adds = 0;          ///< forward
  double grouped_multiply_adds = 0;  ///< of grouped convolutions
  double input_elements = 0;
  double input_bytes = 0;
  /// Outputs of all layers, as Torchinfo counts them for SchedTune; sums and concatenations are no layers.
  double activation_elements = 0;
  double weighted_outputs = 0;  ///< outputs of convolutions, linear and recurrent layers
  double bytes_moved = 0;       ///< read and written forward, weights excepted
  std::array<int, kOperationKinds> operations{};   ///< number of operations by kind
  std::array<double, kOperationKinds> elements{};  ///< elements of their outputs, by kind
  double forward_kernels = 0;
  /// With the sums of gradients of tensors that several operations read.
  double backward_kernels = 0;

  int count(OperationKind kind) const { return operations[static_cast<std::size_t>(kind)]; }
};

GraphTotals totals_of(const ComputationGraph& graph);

}  // namespace corun::inline predictors
