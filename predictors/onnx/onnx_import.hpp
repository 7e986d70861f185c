#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "predictors/graph/computation_graph.hpp"

/// Reads a computation graph from the bytes of an ONNX file (onnx.ai).
///
/// Every operation's shape follows from its inputs; what the file says of a tensor is used where that is not
/// possible. Tensors that are the same for all samples (weights, and what is computed from weights and shapes
/// alone) are no operations of the graph. The others are, with these rules:
/// - An operation that is not known, or whose shape follows neither from its inputs nor from the file, is
///   of kind kUnknown and has the shape of its first input.
/// - Elements have the bytes of their type in the file; packed numbers of four bits half a byte.
/// - One that writes whole numbers or truth values has no backward pass, and is a copy unless it multiplies;
///   a view stays a view.
/// - What no output of the model depends on is left out, as are tensors without elements, such as an empty cache,
///   and operations that write no others.
/// - Each output of a split is a copy. Other outputs than the first share the operation of the first.
/// - Several operators that a GELU, SiLU or layer norm was exported as are one operation (patterns.hpp).
/// - A function that the file defines is its body's operations, for each call.
/// - Of If, the branch counts that its constant condition takes, else the larger one, by multiply-adds and elements
///   written. The body of Loop or Scan counts for each trip (Operation::repeats); once, with a note, if the trips of
///   Loop are not a constant up to 10^9.
///
/// Parameters are numbers of weights: of convolutions, products, normalisations, recurrent layers and tables; and of
/// the initialisers with more than one element that are added, multiplied or concatenated, as biases and positions
/// are. Casts, transposes, dequantisations and the like of weights are weights. A weight that several operations
/// read counts for the first. Running means and variances are none. Quantised weights are frozen ones; so are the
/// bytes of scales, masks and other constants of more than 1024 elements.
namespace corun::inline predictors {

struct OnnxOptions {
  std::int64_t samples = 1;  ///< if the file leaves the number open
  /// Sizes, from 0, of named dimensions that the file leaves open; any one is "INPUT.DIMENSION" too, as "ids.1".
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
  /// The open dimension that counts the samples: one called after batches, else the first of the first input.
  std::string samples_name;
  bool samples_given = false;  ///< OnnxOptions::sizes has it
  std::vector<OnnxOutput> outputs;
  std::vector<std::string> notes;  ///< for the user, a sentence each

  int unknown_count() const;
};

/// A size that `OnnxOptions::sizes` lacks.
struct MissingSize : std::invalid_argument {
  MissingSize(std::string dimension, const std::string& message)
      : std::invalid_argument(message), name(std::move(dimension)) {}
  std::string name;
};

/// std::invalid_argument, one line, if the bytes are no ONNX model, if it contradicts itself (an operation
/// reads a tensor that nothing has written before, shapes do not fit, an attribute has another type, a function
/// calls itself), and if `options` lack a size (MissingSize) or have one of a dimension that is not open.
/// A dimension of 0 is open; if the model then lacks a size or contradicts itself, but not with tensors without
/// elements there, it is those.
OnnxModel import_onnx(std::string_view bytes, const OnnxOptions& options = {});

}  // namespace corun::inline predictors
