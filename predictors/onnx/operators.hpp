#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "predictors/onnx/call.hpp"

/// The operators that the import knows, by families: how each one's output follows from its inputs.
namespace corun::inline predictors::onnx_file {

/// What an operator does. Its name, and parameters of tensors in the file, are added by the import.
struct Layer {
  /// Of the first output. Its `output` is not used.
  Operation operation;
  std::vector<Shape> outputs;  ///< of all outputs that the operator can have; sizes from 0
  /// Inputs that are learnt if they are constant: weights.
  std::vector<std::size_t> weights;
  /// Inputs that are learnt if they are constant and large or come from the list of initialisers with more than one
  /// element: biases that are added, positions, scales of a layer.
  std::vector<std::size_t> additions;
  /// Inputs that do not count though they are constant.
  std::vector<std::size_t> uncounted;
  std::int64_t numbers_per_element =
      1;  ///< of weights that are not floating point: of bytes with two of four bits
  bool each_output = false;  ///< one operation for each output: a split
};

/// The type of the outputs' elements.
enum class OutputType {
  kFirst,   ///< of the first input
  kSecond,  ///< of the second input
  kThird,
  kWhole,      ///< 64-bit integers
  kInteger,    ///< 32-bit integers
  kQuantised,  ///< of the zero point, input 7 of an operator that has so many, else 2; else bytes
  kTruth,      ///< booleans
  kStated,     ///< attribute `to` or `dtype`, else single precision
  kFilling,    ///< of the tensor that is attribute `value`, else single precision
};

struct Operator {
  std::string_view name;
  OperationKind kind;  ///< if the shape comes from the file
  OutputType type;
  /// None if the shape depends on numbers that are not known.
  std::optional<Layer> (*infer)(const Call&);
  bool random = false;  ///< has another output at each step, though its inputs are constant
  OutputType others = OutputType::kFirst;  ///< of outputs behind the first
};

/// nullptr for an unknown operator.
const Operator* find_operator(std::string_view name);

/// Families. Each returns entries of the table.
std::vector<Operator> window_operators();    ///< convolutions and pooling
std::vector<Operator> product_operators();   ///< products, recurrent layers
std::vector<Operator> element_operators();   ///< functions of elements, normalisations, losses
std::vector<Operator> movement_operators();  ///< views, copies
std::vector<Operator> reduction_operators();

/// A layer with one output.
Layer layer_of(OperationKind kind, Shape output);
Layer layer_of(Operation operation);

}  // namespace corun::inline predictors::onnx_file
