#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "predictors/graph/operation.hpp"

/// What an ONNX file says, checked piece by piece but not yet as a whole. The numbers of element types are
/// those of the format's TensorProto.DataType.
namespace corun::inline predictors::onnx_file {

enum ElementType : int {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kHalf = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  // Of versions after 1.12.
  kFloat8E4m3fn = 17,
  kFloat8E4m3fnuz = 18,
  kFloat8E5m2 = 19,
  kFloat8E5m2fnuz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2m1 = 23,
  kFloat8E8m0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

/// "'name'", for messages.
std::string in_quotes(const std::string& name);

/// Real or complex numbers, which a gradient can flow through.
bool is_floating(int type);

/// Bytes of an element: 0.5 for packed numbers of four bits. Texts and types newer than ours count as four.
double bytes_of_element(int type);

/// Tensors of at most this many elements have their values read: shapes, axes, scales.
inline constexpr std::int64_t kMostValues = 1024;

/// Tensors have at most this many dimensions.
inline constexpr std::size_t kMostDimensions = 32;

struct Tensor {
  std::string name;
  int type = kUndefined;
  Shape dims;  ///< sizes from 0, at most 2^42 elements
  /// Of small tensors of numbers. Whole numbers beyond 2^53 are rounded: they only mean "to the end".
  std::optional<std::vector<double>> values;
  bool external = false;  ///< its numbers lie in another file
  bool left_out = false;  ///< the file has no numbers for it
};

struct Graph;

struct Attribute {
  using Bodies = std::vector<Graph>;  ///< of a control-flow operator
  using Value =
      std::variant<std::monostate, std::int64_t, double, std::string, std::vector<std::int64_t>,
                   std::vector<double>, std::vector<std::string>, Tensor, Bodies>;
  std::string name;
  std::string refers_to;  ///< the attribute of the call of a function that gives the value
  Value value;            ///< none: of a type that no operator of ours has
};

struct Node {
  std::string name;                 ///< the node's, else its first output's; fit for messages
  std::string operation;            ///< with the domain before it unless that is the standard one
  std::vector<std::string> inputs;  ///< empty: an optional input that is left out
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
  std::int64_t operator_set = 1;  ///< version of the standard operators
};

struct Dimension {
  std::optional<std::int64_t> size;
  std::string symbol;  ///< if there is no size; may be empty
};

/// What the file says of a tensor.
struct Statement {
  std::string name;
  bool is_tensor = false;  ///< else a sequence, map, ...
  int type = kUndefined;
  std::optional<std::vector<Dimension>> shape;
};

/// The main graph, the body of a control-flow operator or of a function.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Tensor> initialisers;
  std::vector<Statement> inputs, outputs, others;
  std::vector<std::string> captured;  ///< tensors of the graph around it that a body reads
};

/// An operator that the file defines.
struct Function {
  Graph body;
  std::vector<Attribute> defaults;  ///< of attributes that a call may leave out
};

struct Model {
  Graph graph;
  /// By the operation of the nodes that call them. Where two have one name, neither is here.
  std::map<std::string, Function, std::less<>> functions;
  std::size_t removed_nodes = 0;  ///< of the main graph, by remove_dead_nodes()
};

/// The bodies of a control-flow operator.
std::vector<const Graph*> bodies_of(const Node& node);
/// Nodes of a graph, with those of bodies inside it.
std::int64_t operators_in(const Graph& graph);

/// Reads the bytes of a file. Large data of initialisers is looked at only for its length.
/// std::invalid_argument for bytes that are no ONNX model, tensors whose data does not fit their sizes, more
/// than `most_nodes` nodes, and models that would need more than about `most_memory` bytes.
Model read_model(std::string_view bytes, std::size_t most_nodes, std::size_t most_memory);

}  // namespace corun::inline predictors::onnx_file
