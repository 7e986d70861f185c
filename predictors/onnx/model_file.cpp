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

std::size_t bytes_of(int type) {
  switch (type) {
    case kUint8:
    case kInt8:
    case kBool:
      return 1;
    case kUint16:
    case kInt16:
    case kHalf:
    case kBfloat16:
      return 2;
    case kFloat:
    case kInt32:
    case kUint32:
      return 4;
    case kInt64:
    case kUint64:
    case kDouble:
    case kComplex64:
      return 8;
    case kComplex128:
      return 16;
    default:
      return 0;
  }
}

[[noreturn]] void refuse(const std::string& what, const std::string& problem) {
  throw std::invalid_argument(what + " " + problem);
}

std::string in_quotes(const std::string& name) { return "'" + printable(name) + "'"; }

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
  std::size_t found = 0;
  if (raw > 0) {
    const std::size_t width = bytes_of(tensor.type);
    if (width == 0) return;  // text, or a type newer than ours
    found = raw / width + (raw % width == 0 ? 0 : 1);
  } else {
    found = size(from.float_data()) + left_out.floats + size(from.double_data()) + left_out.doubles;
    if (tensor.type == kComplex64 || tensor.type == kComplex128) found /= 2;
    found += size(from.int32_data()) + size(from.int64_data()) + size(from.uint64_data()) +
             size(from.string_data());
  }
  tensor.left_out = found == 0 && elements > 0;
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

Subgraph subgraph_of(const onnx::GraphProto& body);

void add_subgraph(Subgraph& all, const onnx::GraphProto& body) {
  Subgraph inner = subgraph_of(body);
  all.operators += inner.operators;
  all.captured.insert(all.captured.end(), inner.captured.begin(), inner.captured.end());
}

Subgraph subgraph_of(const onnx::GraphProto& body) {
  Subgraph result;
  std::unordered_set<std::string> own;
  for (const auto& input : body.input()) own.insert(input.name());
  for (const auto& tensor : body.initializer()) own.insert(tensor.name());
  for (const auto& node : body.node()) own.insert(node.output().begin(), node.output().end());
  std::vector<std::string> read;
  for (const auto& node : body.node()) {
    ++result.operators;
    read.insert(read.end(), node.input().begin(), node.input().end());
    for (const auto& attribute : node.attribute()) {
      Subgraph inner;
      if (attribute.has_g()) add_subgraph(inner, attribute.g());
      for (const auto& graph : attribute.graphs()) add_subgraph(inner, graph);
      result.operators += inner.operators;
      read.insert(read.end(), inner.captured.begin(), inner.captured.end());
    }
  }
  for (const auto& output : body.output()) read.push_back(output.name());
  for (const std::string& name : read) {
    if (!name.empty() && own.insert(name).second) result.captured.push_back(name);
  }
  return result;
}

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

Attribute attribute_of(const onnx::AttributeProto& from) {
  using Proto = onnx::AttributeProto;
  Attribute result;
  result.name = from.name();
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
      result.value = subgraph_of(from.g());
      break;
    case Proto::GRAPHS: {
      Subgraph all;
      for (const auto& graph : from.graphs()) add_subgraph(all, graph);
      result.value = std::move(all);
      break;
    }
    default:
      break;
  }
  return result;
}

Node node_of(const onnx::NodeProto& from) {
  Node node;
  std::string name = from.name();
  for (const std::string& output : from.output()) {
    if (name.empty()) name = output;
  }
  node.operation = from.domain().empty() || from.domain() == "ai.onnx"
                       ? from.op_type()
                       : from.domain() + "." + from.op_type();
  node.operation = printable(node.operation);
  node.name = name.empty() ? node.operation : printable(name);
  node.inputs.assign(from.input().begin(), from.input().end());
  node.outputs.assign(from.output().begin(), from.output().end());
  for (const auto& attribute : from.attribute()) {
    node.attributes.push_back(attribute_of(attribute));
  }
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

bool is_floating(int type) {
  return type == kFloat || type == kHalf || type == kDouble || type == kBfloat16 ||
         type == kComplex64 || type == kComplex128;
}

Model read_model(std::string_view bytes, std::size_t most_nodes, std::size_t most_memory) {
  if (bytes.empty()) throw std::invalid_argument("the file is empty; an ONNX model was expected");
  memory_of(bytes, most_memory);

  GraphParts parts;
  std::string header;
  std::string_view rest = bytes;
  while (const std::optional<Field> field = take_field(rest)) {
    if (field->has_bytes && field->number == onnx::ModelProto::kGraphFieldNumber) {
      split_graph(field->bytes, parts);
    } else if (field->number != onnx::ModelProto::kTrainingInfoFieldNumber &&
               field->number != onnx::ModelProto::kFunctionsFieldNumber) {
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
  for (const auto& set : proto.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") model.operator_set = set.version();
  }
  const auto graph = parsed<onnx::GraphProto>(parts.graph, "graph");
  for (const auto& node : graph.node()) model.nodes.push_back(node_of(node));
  for (const std::string_view tensor : parts.initialisers) {
    model.initialisers.push_back(initialiser_of(tensor));
  }
  for (const auto& tensor : graph.sparse_initializer()) {
    Tensor dense = tensor_of(tensor.values(), {});
    onnx::TensorProto shape;
    *shape.mutable_dims() = tensor.dims();
    dense.dims = dims_of(shape, "sparse tensor " + in_quotes(dense.name));
    dense.values.reset();
    model.initialisers.push_back(std::move(dense));
  }
  for (const auto& input : graph.input()) model.inputs.push_back(statement_of(input));
  for (const auto& output : graph.output()) model.outputs.push_back(statement_of(output));
  for (const auto& value : graph.value_info()) model.others.push_back(statement_of(value));
  return model;
}

}  // namespace corun::inline predictors::onnx_file
