#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "predictors/graph/computation_graph.hpp"

/// Reads a computation graph from the bytes of an ONNX file (onnx.ai, format of version 1.12 and before).
///
/// Every operation's shape follows from its inputs; what the file says of a tensor is used where that is not
/// possible. Tensors that are the same for all samples (weights, and what is computed from weights and shapes
/// alone) are no operations of the graph. The others are, with these rules:
/// - An operation that is not known, or whose shape follows neither from its inputs nor from the file, is
///   of kind kUnknown and has the shape of its first input. Bodies of If, Loop and Scan are counted, no more.
/// - One that writes whole numbers or truth values is a copy without a backward pass; a view stays a view.
///   All elements count as four bytes.
/// - Tensors without elements, such as an empty cache, and operations that write no others, are left out.
/// - Each output of a split is a copy. Other outputs than the first share the operation of the first.
/// - Several operators that a GELU, SiLU or layer norm was exported as are one operation (patterns.hpp).
///
/// Parameters are numbers of floating-point weights: of convolutions, products, normalisations, recurrent
/// layers and tables; and of the initialisers with more than one element that are added, multiplied or
/// concatenated, as biases and positions are. A weight that several operations read counts for the first.
/// Running means and variances are none.
namespace corun::inline predictors {

struct OnnxOptions {
  std::int64_t samples = 1;  ///< if the file leaves the number open
  /// Sizes of named dimensions that the file leaves open; a nameless one is "INPUT.DIMENSION", as "ids.1".
  std::map<std::string, std::int64_t> sizes;
  bool use_stated_shapes = true;  ///< what the file says of tensors whose shape cannot be derived
  /// Memory in bytes that the model without its weights may need, about.
  std::size_t most_memory = std::size_t{1} << 29;
};

struct OnnxOutput {
  std::string name;
  Shape shape;           ///< sizes from 0
  bool derived = false;  ///< else it is stated in the file, or a guess
};

struct OnnxModel {
  ComputationGraph graph;
  /// Number of operations by type, such as "com.example.Attention" or "Loop (12 operators inside)".
  std::map<std::string, int> unknown_operators;
  std::int64_t samples_in_file = 0;  ///< 0: left open
  std::vector<OnnxOutput> outputs;
  std::vector<std::string> notes;  ///< for the user, a sentence each

  int unknown_count() const;
};

/// std::invalid_argument, one line, if the bytes are no ONNX model, if it contradicts itself (an operation
/// reads a tensor that nothing has written before, shapes do not fit, an attribute has another type), and if
/// `options` lack a size.
OnnxModel import_onnx(std::string_view bytes, const OnnxOptions& options = {});

}  // namespace corun::inline predictors
