#include "predictors/onnx/model_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "predictors/onnx/wire.hpp"
#include "sim/base/text.hpp"

namespace corun::inline predictors::onnx_file {

namespace {

/// Data of initialisers longer than this is not copied.
constexpr std::size_t kLargeField = 16384;

/// How many numbers a tensor has in fields that were not copied.
struct LeftOut {
  std::size_t raw_bytes = 0, floats = 0, doubles = 0;
};

/// Bits of an element; 0 for texts and types newer than ours.
std::size_t bits_of(int type) {
  switch (type) {
    case kUint2:
    case kInt2:
      return 2;
    case kUint4:
    case kInt4:
    case kFloat4E2m1:
      return 4;
    case kUint8:
    case kInt8:
    case kBool:
    case kFloat8E4m3fn:
    case kFloat8E4m3fnuz:
    case kFloat8E5m2:
    case kFloat8E5m2fnuz:
    case kFloat8E8m0:
      return 8;
    case kUint16:
    case kInt16:
    case kHalf:
    case kBfloat16:
      return 16;
    case kFloat:
    case kInt32:
    case kUint32:
      return 32;
    case kInt64:
    case kUint64:
    case kDouble:
    case kComplex64:
      return 64;
    case kComplex128:
      return 128;
    default:
      return 0;
  }
}

[[noreturn]] void refuse(const std::string& what, const std::string& problem) {
  throw std::invalid_argument(what + " " + problem);
}

Shape dims_of(const onnx::TensorProto& from, const std::string& what) {
  if (static_cast<std::size_t>(from.dims_size()) > kMostDimensions) {
    refuse(what, fmt::format("has {} dimensions; at most {} are read", from.dims_size(),
                             kMostDimensions));
  }
  Shape dims(from.dims().begin(), from.dims().end());
  Shape filled;
  for (const std::int64_t size : dims) {
    if (size < 0) refuse(what, fmt::format("has a size of {}", size));
    if (size > 0) filled.push_back(size);
  }
  try {
    elements_of(filled);
  } catch (const std::invalid_argument& e) {
    refuse(what, fmt::format("is too large: {}", e.what()));
  }
  return dims;
}

std::size_t elements_in(const Shape& dims) {
  return std::find(dims.begin(), dims.end(), 0) != dims.end()
             ? 0
             : static_cast<std::size_t>(elements_of(dims));
}

template <typename T>
std::vector<double> numbers_in(const std::string& raw) {
  std::vector<double> values;
  for (std::size_t at = 0; at + sizeof(T) <= raw.size(); at += sizeof(T)) {
    T value{};
    std::memcpy(&value, raw.data() + at, sizeof(T));
    values.push_back(static_cast<double>(value));
  }
  return values;
}

template <typename List>
std::vector<double> numbers_of(const List& list) {
  std::vector<double> values;
  for (const auto value : list) values.push_back(static_cast<double>(value));
  return values;
}

/// None for types that no shape is computed from.
std::optional<std::vector<double>> values_of(const onnx::TensorProto& from) {
  const bool raw = from.has_raw_data();
  switch (from.data_type()) {
    case kFloat:
      return raw ? numbers_in<float>(from.raw_data()) : numbers_of(from.float_data());
    case kDouble:
      return raw ? numbers_in<double>(from.raw_data()) : numbers_of(from.double_data());
    case kInt64:
      return raw ? numbers_in<std::int64_t>(from.raw_data()) : numbers_of(from.int64_data());
    case kInt32:
      return raw ? numbers_in<std::int32_t>(from.raw_data()) : numbers_of(from.int32_data());
    case kBool:
    case kUint8:
      return raw ? numbers_in<std::uint8_t>(from.raw_data()) : numbers_of(from.int32_data());
    case kInt8:
      return raw ? numbers_in<std::int8_t>(from.raw_data()) : numbers_of(from.int32_data());
    case kUint64:
      return raw ? numbers_in<std::uint64_t>(from.raw_data()) : numbers_of(from.uint64_data());
    default:
      return std::nullopt;
  }
}

/// Compares the numbers in the file with the sizes.
void check_data(const onnx::TensorProto& from, const LeftOut& left_out, const std::string& what,
                Tensor& tensor) {
  const std::size_t elements = elements_in(tensor.dims);
  const std::size_t raw = from.raw_data().size() + left_out.raw_bytes;
  const auto size = [](const auto& list) { return static_cast<std::size_t>(list.size()); };
  const std::size_t bits = bits_of(tensor.type);
  std::size_t found = 0;
  if (raw > 0) {
    if (bits == 0) return;  // text, or a type newer than ours
    found = 8 * raw / bits + (8 * raw % bits == 0 ? 0 : 1);
  } else {
    found = size(from.float_data()) + left_out.floats + size(from.double_data()) + left_out.doubles;
    if (tensor.type == kComplex64 || tensor.type == kComplex128) found /= 2;
    found += size(from.int32_data()) + size(from.int64_data()) + size(from.uint64_data()) +
             size(from.string_data());
    if (bits > 0 && bits < 8) found *= 8 / bits;  // each number of the list is a byte
  }
  tensor.left_out = found == 0 && elements > 0;
  // Packed numbers fill their last byte.
  if (bits > 0 && bits < 8 && found > elements && found - elements < 8 / bits) found = elements;
  if (found != elements && !tensor.left_out) {
    refuse(what, fmt::format("has {} numbers; its sizes, {}, ask for {}", found,
                             text_of(tensor.dims), elements));
  }
}

Tensor tensor_of(const onnx::TensorProto& from, const LeftOut& left_out) {
  const std::string what = "tensor " + in_quotes(from.name());
  Tensor tensor;
  tensor.name = from.name();
  tensor.type = from.data_type();
  tensor.dims = dims_of(from, what);
  tensor.external = from.data_location() == onnx::TensorProto::EXTERNAL;
  if (tensor.external) return tensor;
  check_data(from, left_out, what, tensor);
  if (!tensor.left_out && elements_in(tensor.dims) <= std::size_t{kMostValues}) {
    tensor.values = values_of(from);
    if (tensor.values && tensor.values->size() != elements_in(tensor.dims)) tensor.values.reset();
  }
  return tensor;
}

template <typename Proto>
Proto parsed(std::string_view bytes, const char* what) {
  Proto proto;
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw std::invalid_argument(fmt::format("the {} is damaged, or nested too deeply", what));
  }
  return proto;
}

/// Without copying large data.
Tensor initialiser_of(std::string_view bytes) {
  LeftOut left_out;
  if (bytes.size() <= kLargeField) {
    return tensor_of(parsed<onnx::TensorProto>(bytes, "list of weights"), left_out);
  }
  std::string kept;
  std::string_view rest = bytes;
  while (const std::optional<Field> field = take_field(rest)) {
    const std::size_t length = field->bytes.size();
    const bool large = field->has_bytes && length > kLargeField;
    if (large && field->number == onnx::TensorProto::kRawDataFieldNumber) {
      left_out.raw_bytes = length;
    } else if (large && field->number == onnx::TensorProto::kFloatDataFieldNumber) {
      left_out.floats += length / sizeof(float);
    } else if (large && field->number == onnx::TensorProto::kDoubleDataFieldNumber) {
      left_out.doubles += length / sizeof(double);
    } else {
      kept += field->whole;
    }
  }
  return tensor_of(parsed<onnx::TensorProto>(kept, "list of weights"), left_out);
}

/// What messages mean depends on the operator set that they are read for.
Graph graph_of(const onnx::GraphProto& from, std::int64_t operator_set);

/// The type that an attribute says it has, or, in files older than that field, that of its content.
int type_of(const onnx::AttributeProto& from) {
  using Proto = onnx::AttributeProto;
  if (from.type() != Proto::UNDEFINED) return from.type();
  if (from.has_i()) return Proto::INT;
  if (from.has_f()) return Proto::FLOAT;
  if (from.has_s()) return Proto::STRING;
  if (from.has_t()) return Proto::TENSOR;
  if (from.has_g()) return Proto::GRAPH;
  if (from.floats_size() > 0) return Proto::FLOATS;
  if (from.strings_size() > 0) return Proto::STRINGS;
  if (from.ints_size() > 0) return Proto::INTS;
  if (from.graphs_size() > 0) return Proto::GRAPHS;
  return Proto::UNDEFINED;
}

Attribute attribute_of(const onnx::AttributeProto& from, std::int64_t operator_set) {
  using Proto = onnx::AttributeProto;
  Attribute result;
  result.name = from.name();
  result.refers_to = from.ref_attr_name();
  switch (type_of(from)) {
    case Proto::INT:
      result.value = std::int64_t{from.i()};
      break;
    case Proto::FLOAT:
      result.value = static_cast<double>(from.f());
      break;
    case Proto::STRING:
      result.value = from.s();
      break;
    case Proto::INTS:
      result.value = std::vector<std::int64_t>(from.ints().begin(), from.ints().end());
      break;
    case Proto::FLOATS:
      result.value = std::vector<double>(from.floats().begin(), from.floats().end());
      break;
    case Proto::STRINGS:
      result.value = std::vector<std::string>(from.strings().begin(), from.strings().end());
      break;
    case Proto::TENSOR:
      result.value = tensor_of(from.t(), {});
      break;
    case Proto::GRAPH:
      result.value = Attribute::Bodies{graph_of(from.g(), operator_set)};
      break;
    case Proto::GRAPHS: {
      Attribute::Bodies bodies;
      for (const auto& graph : from.graphs()) bodies.push_back(graph_of(graph, operator_set));
      result.value = std::move(bodies);
      break;
    }
    default:
      break;
  }
  return result;
}

/// The domain before the name unless it is the standard one.
std::string operation_of(const std::string& domain, const std::string& name) {
  return printable(domain.empty() || domain == "ai.onnx" ? name : domain + "." + name);
}

Node node_of(const onnx::NodeProto& from, std::int64_t operator_set) {
  Node node;
  std::string name = from.name();
  for (const std::string& output : from.output()) {
    if (name.empty()) name = output;
  }
  node.operation = operation_of(from.domain(), from.op_type());
  node.name = name.empty() ? node.operation : printable(name);
  node.inputs.assign(from.input().begin(), from.input().end());
  node.outputs.assign(from.output().begin(), from.output().end());
  for (const auto& attribute : from.attribute()) {
    node.attributes.push_back(attribute_of(attribute, operator_set));
  }
  node.operator_set = operator_set;
  return node;
}

Statement statement_of(const onnx::ValueInfoProto& from) {
  Statement result;
  result.name = from.name();
  if (!from.type().has_tensor_type()) return result;
  const auto& type = from.type().tensor_type();
  result.is_tensor = true;
  result.type = type.elem_type();
  if (!type.has_shape()) return result;
  std::vector<Dimension> shape;
  for (const auto& dim : type.shape().dim()) {
    Dimension dimension;
    if (dim.has_dim_value()) dimension.size = dim.dim_value();
    dimension.symbol = dim.dim_param();
    shape.push_back(std::move(dimension));
  }
  if (shape.size() > kMostDimensions) {
    refuse("tensor " + in_quotes(result.name),
           fmt::format("has {} dimensions; at most {} are read", shape.size(), kMostDimensions));
  }
  result.shape = std::move(shape);
  return result;
}

/// All but initialisers with numbers.
void add_rest(const onnx::GraphProto& from, std::int64_t operator_set, Graph& graph) {
  for (const auto& node : from.node()) graph.nodes.push_back(node_of(node, operator_set));
  for (const auto& tensor : from.sparse_initializer()) {
    Tensor dense = tensor_of(tensor.values(), {});
    onnx::TensorProto shape;
    *shape.mutable_dims() = tensor.dims();
    dense.dims = dims_of(shape, "sparse tensor " + in_quotes(dense.name));
    dense.values.reset();
    graph.initialisers.push_back(std::move(dense));
  }
  for (const auto& input : from.input()) graph.inputs.push_back(statement_of(input));
  for (const auto& output : from.output()) graph.outputs.push_back(statement_of(output));
  for (const auto& value : from.value_info()) graph.others.push_back(statement_of(value));
}

/// What a body reads and does not write itself.
std::vector<std::string> captured_by(const Graph& body) {
  std::unordered_set<std::string> seen{""};
  for (const Statement& input : body.inputs) seen.insert(input.name);
  for (const Tensor& tensor : body.initialisers) seen.insert(tensor.name);
  for (const Node& node : body.nodes) seen.insert(node.outputs.begin(), node.outputs.end());
  std::vector<std::string> captured;
  const auto read = [&](const std::string& name) {
    if (seen.insert(name).second) captured.push_back(name);
  };
  for (const Node& node : body.nodes) {
    for (const std::string& name : node.inputs) read(name);
    for (const Graph* inner : bodies_of(node)) {
      for (const std::string& name : inner->captured) read(name);
    }
  }
  for (const Statement& output : body.outputs) read(output.name);
  return captured;
}

Graph graph_of(const onnx::GraphProto& from, std::int64_t operator_set) {
  Graph graph;
  for (const auto& tensor : from.initializer()) {
    graph.initialisers.push_back(tensor_of(tensor, {}));
  }
  add_rest(from, operator_set, graph);
  graph.captured = captured_by(graph);
  return graph;
}

template <typename Proto>
std::int64_t operator_set_of(const Proto& from, std::int64_t otherwise) {
  for (const auto& set : from.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") otherwise = set.version();
  }
  return otherwise;
}

/// Attributes of a function that have a default, in versions after 1.12.
constexpr std::uint32_t kDefaultFieldNumber = 11;

Function function_of(std::string_view bytes, const onnx::FunctionProto& from,
                     std::int64_t operator_set) {
  Function function;
  operator_set = operator_set_of(from, operator_set);
  while (const std::optional<Field> field = take_field(bytes)) {
    if (!field->has_bytes || field->number != kDefaultFieldNumber) continue;
    function.defaults.push_back(attribute_of(
        parsed<onnx::AttributeProto>(field->bytes, "default of a function"), operator_set));
  }
  for (const auto& node : from.node()) {
    function.body.nodes.push_back(node_of(node, operator_set));
  }
  const auto add = [](std::vector<Statement>& list, const std::string& name) {
    list.emplace_back().name = name;
  };
  for (const std::string& name : from.input()) add(function.body.inputs, name);
  for (const std::string& name : from.output()) add(function.body.outputs, name);
  return function;
}

/// The main graph without its initialisers, and those.
struct GraphParts {
  std::string graph;
  std::vector<std::string_view> initialisers;
  std::size_t nodes = 0;
  bool found = false;
};

void split_graph(std::string_view bytes, GraphParts& parts) {
  parts.found = true;
  std::string_view rest = bytes;
  while (const std::optional<Field> field = take_field(rest)) {
    if (field->has_bytes && field->number == onnx::GraphProto::kInitializerFieldNumber) {
      parts.initialisers.push_back(field->bytes);
    } else {
      if (field->number == onnx::GraphProto::kNodeFieldNumber) ++parts.nodes;
      parts.graph += field->whole;
    }
  }
}

}  // namespace

std::string in_quotes(const std::string& name) { return "'" + printable(name) + "'"; }

bool is_floating(int type) {
  switch (type) {
    case kFloat:
    case kHalf:
    case kDouble:
    case kBfloat16:
    case kComplex64:
    case kComplex128:
      return true;
    default:
      return false;
  }
}

double bytes_of_element(int type) {
  const std::size_t bits = bits_of(type);
  return bits == 0 ? 4 : static_cast<double>(bits) / 8;
}

std::vector<const Graph*> bodies_of(const Node& node) {
  std::vector<const Graph*> bodies;
  for (const Attribute& attribute : node.attributes) {
    const auto* list = std::get_if<Attribute::Bodies>(&attribute.value);
    if (list == nullptr) continue;
    for (const Graph& body : *list) bodies.push_back(&body);
  }
  return bodies;
}

std::int64_t operators_in(const Graph& graph) {
  auto count = static_cast<std::int64_t>(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    for (const Graph* body : bodies_of(node)) count += operators_in(*body);
  }
  return count;
}

Model read_model(std::string_view bytes, std::size_t most_nodes, std::size_t most_memory) {
  if (bytes.empty()) throw std::invalid_argument("the file is empty; an ONNX model was expected");
  memory_of(bytes, most_memory);

  GraphParts parts;
  std::string header;
  std::vector<std::string_view> functions;
  std::string_view rest = bytes;
  while (const std::optional<Field> field = take_field(rest)) {
    if (field->has_bytes && field->number == onnx::ModelProto::kGraphFieldNumber) {
      split_graph(field->bytes, parts);
    } else if (field->has_bytes && field->number == onnx::ModelProto::kFunctionsFieldNumber) {
      functions.push_back(field->bytes);
    } else if (field->number != onnx::ModelProto::kTrainingInfoFieldNumber) {
      header += field->whole;
    }
  }
  if (!parts.found) throw std::invalid_argument("no graph found; an ONNX model was expected");
  if (parts.nodes > most_nodes) {
    throw std::invalid_argument(
        fmt::format("{} operations; at most {} are read", parts.nodes, most_nodes));
  }

  Model model;
  const auto proto = parsed<onnx::ModelProto>(header, "header");
  const std::int64_t operator_set = operator_set_of(proto, 1);
  const auto graph = parsed<onnx::GraphProto>(parts.graph, "graph");
  for (const std::string_view tensor : parts.initialisers) {
    model.graph.initialisers.push_back(initialiser_of(tensor));
  }
  add_rest(graph, operator_set, model.graph);
  std::unordered_set<std::string> twice;
  for (const std::string_view function : functions) {
    const auto from = parsed<onnx::FunctionProto>(function, "function");
    const std::string name = operation_of(from.domain(), from.name());
    if (!model.functions.try_emplace(name, function_of(function, from, operator_set)).second) {
      twice.insert(name);
    }
  }
  for (const std::string& name : twice) model.functions.erase(name);
  return model;
}

}  // namespace corun::inline predictors::onnx_file
