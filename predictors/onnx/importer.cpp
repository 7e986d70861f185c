#include "predictors/onnx/importer.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "predictors/onnx/folding.hpp"
#include "sim/base/text.hpp"

namespace corun::inline predictors::onnx_file {

namespace {

/// Values of folded tensors that are held at a time; beyond it they count as not known.
constexpr std::size_t kMostHeldValues = 4'000'000;

const std::vector<bool> kAllOutputs{true};

Precision precision_of(int type) {
  switch (type) {
    case kHalf:
      return Precision::kHalf;
    case kBfloat16:
      return Precision::kBfloat16;
    case kDouble:
      return Precision::kDouble;
    default:
      return Precision::kSingle;
  }
}

bool any_guessed(const std::vector<const Value*>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const Value* value) { return value != nullptr && value->guessed; });
}

bool all_constant(const std::vector<const Value*>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [](const Value* value) {
    return value == nullptr || value->constant.has_value();
  });
}

/// Nodes of the graph that the operation reads.
std::vector<ComputationGraph::Node> nodes_of(const std::vector<const Value*>& inputs) {
  std::vector<ComputationGraph::Node> nodes;
  for (const Value* input : inputs) {
    if (input != nullptr && input->node) nodes.push_back(*input->node);
  }
  return nodes;
}

}  // namespace

Importer::Importer(const Model& file, const OnnxOptions& options, bool zeros_are_open)
    : file_(file),
      options_(options),
      main_(file.graph, kAllOutputs, nullptr),
      sizes_(file.graph, read_inputs(), options, zeros_are_open) {}

std::vector<const Statement*> Importer::read_inputs() const {
  std::unordered_set<std::string_view> weights;
  for (const Tensor& tensor : file_.graph.initialisers) weights.insert(tensor.name);
  std::vector<const Statement*> inputs;
  for (const Statement& input : file_.graph.inputs) {
    const bool is_weight = weights.contains(input.name);  // in files before version 4
    if (!is_weight && (main_.is_read(input.name) || file_.graph.outputs.empty())) {
      inputs.push_back(&input);
    }
  }
  return inputs;
}

OnnxModel Importer::run() {
  add_initialisers(main_);
  const std::vector<const Statement*> read = read_inputs();
  for (const Statement& input : file_.graph.inputs) {
    if (std::find(read.begin(), read.end(), &input) != read.end()) {
      add_input(input);
    } else if (const Value* weight = main_.find_own(input.name); !weight || !weight->constant) {
      main_.define(input.name);
    }
  }
  add_nodes(main_);
  sizes_.refuse_unused();
  return result();
}

void Importer::add_initialisers(Scope& scope) {
  for (const Tensor& tensor : scope.graph().initialisers) {
    Value& value = scope.define(tensor.name);
    value.shape = tensor.dims;
    value.type = tensor.type;
    hold(value, tensor.values);
    Constant constant;
    constant.listed = true;
    constant.type = tensor.type;
    constant.elements = elements_or_none(tensor.dims);
    value.constant = constants_.add(std::move(constant));
    if (tensor.left_out) note("weights without numbers: only their sizes are used");
  }
}

void Importer::hold(Value& value, std::optional<std::vector<double>> values) {
  if (!values || held_ + values->size() > kMostHeldValues) return;
  held_ += values->size();
  value.values = std::make_shared<const std::vector<double>>(std::move(*values));
}

void Importer::add_input(const Statement& input) {
  const std::optional<Shape> shape = sizes_.of_input(input);
  Value& value = main_.define(input.name);
  value.type = input.type;
  value.shape = shape.value_or(Shape{1});
  value.guessed = !shape;
  if (!shape) {
    note(fmt::format("input {} has no shape; it is taken as one number", in_quotes(input.name)));
  }
  if (elements_or_none(value.shape) == 0) {
    note("tensors without elements are left out");
    return;
  }
  Operation operation;
  operation.name = printable(input.name);
  operation.kind = OperationKind::kInput;
  operation.output = value.shape;
  operation.bytes_per_element = bytes_of_element(input.type);
  operation.forward_kernels = 0;
  operation.backward_kernels = 0;
  value.node = emit(std::move(operation), {});
}

std::optional<Shape> Importer::stated_shape(const std::string& name, const Scope& scope) const {
  const Statement* statement = options_.use_stated_shapes ? scope.stated(name) : nullptr;
  return statement == nullptr ? std::nullopt : sizes_.of(*statement);
}

Importer::Inputs Importer::inputs_of(const Node& node, const Scope& scope) const {
  Inputs inputs;
  for (const std::string& name : node.inputs) {
    if (name.empty() || scope.is_left_out(name)) {
      inputs.push_back(nullptr);
      continue;
    }
    const Value* found = scope.find(name);
    if (found == nullptr) {
      throw std::invalid_argument(
          fmt::format("it reads tensor {}, {}", in_quotes(name),
                      scope.writes(name)
                          ? "which only it or a later operation writes: a cycle, or a wrong order"
                          : "which nothing writes"));
    }
    inputs.push_back(found);
  }
  for (const Graph* body : bodies_of(node)) {
    for (const std::string& name : body->captured) {
      if (const Value* found = scope.find(name)) inputs.push_back(found);
    }
  }
  return inputs;
}

Call Importer::call_of(const Node& node, const Inputs& inputs) {
  std::vector<std::optional<Argument>> arguments;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (inputs[i] == nullptr) {
      arguments.emplace_back();
      continue;
    }
    const Value& value = *inputs[i];
    arguments.push_back(
        Argument{value.shape, value.type, value.constant.has_value(), value.values.get()});
  }
  while (!arguments.empty() && !arguments.back()) arguments.pop_back();
  return {node, node.operator_set, std::move(arguments)};
}

int Importer::type_of_output(OutputType rule, const Call& call) {
  const auto type_of = [&](std::size_t input) {
    return call.has(input) ? call.input(input).type : static_cast<int>(kFloat);
  };
  switch (rule) {
    case OutputType::kFirst:
      return type_of(0);
    case OutputType::kSecond:
      return type_of(1);
    case OutputType::kThird:
      return type_of(2);
    case OutputType::kWhole:
      return kInt64;
    case OutputType::kInteger:
      return kInt32;
    case OutputType::kTruth:
      return kBool;
    case OutputType::kQuantised: {
      const std::size_t zero_point = call.inputs() > 7 ? 7 : 2;
      if (call.has(zero_point)) return type_of(zero_point);
      return static_cast<int>(call.number("output_dtype", kUint8));
    }
    case OutputType::kStated: {
      const char* name = call.find("to") != nullptr ? "to" : "dtype";
      const int otherwise = call.inputs() > 0 ? type_of(0) : static_cast<int>(kFloat);
      return static_cast<int>(call.number(name, otherwise));
    }
    case OutputType::kFilling:
      break;
  }
  for (const Attribute& attribute : call.node().attributes) {
    const auto& value = attribute.value;
    if (const auto* tensor = std::get_if<Tensor>(&value)) return tensor->type;
    if (std::holds_alternative<std::int64_t>(value) ||
        std::holds_alternative<std::vector<std::int64_t>>(value)) {
      return kInt64;
    }
  }
  return kFloat;
}

void Importer::add_nodes(Scope& scope) {
  const std::vector<Node>& nodes = scope.graph().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!scope.live(i)) continue;
    const Node& node = nodes[i];
    const auto located = [&](const std::exception& e) {
      return fmt::format("{} '{}': {}", node.operation, node.name, e.what());
    };
    // The innermost node says where, and the outermost one.
    try {
      const std::optional<Node> own = resolved(node, scope);
      add_node(own ? *own : node, scope);
    } catch (const Refused&) {
      throw;
    } catch (const Located& e) {
      if (&scope != &main_) throw;
      throw Located(located(e));
    } catch (const std::invalid_argument& e) {
      throw Located(located(e));
    }
  }
}

std::optional<Node> Importer::resolved(const Node& node, const Scope& scope) {
  const auto refers = [](const Attribute& attribute) { return !attribute.refers_to.empty(); };
  if (scope.arguments == nullptr || std::ranges::none_of(node.attributes, refers) ||
      !bodies_of(node).empty()) {
    return std::nullopt;
  }
  Node own = node;
  own.attributes.clear();
  for (const Attribute& attribute : node.attributes) {
    if (!refers(attribute)) {
      own.attributes.push_back(attribute);
      continue;
    }
    const Attribute* value = nullptr;
    for (const auto* list : {scope.arguments, scope.defaults}) {
      const auto found = std::ranges::find(*list, attribute.refers_to, &Attribute::name);
      if (value == nullptr && found != list->end()) value = &*found;
    }
    if (value == nullptr) continue;  // an optional one
    own.attributes.push_back(*value);
    own.attributes.back().name = attribute.name;
  }
  return own;
}

void Importer::add_node(const Node& node, Scope& scope) {
  const Inputs inputs = inputs_of(node, scope);
  const Operator* known = find_operator(node.operation);
  if (known == nullptr) {
    const auto function = file_.functions.find(node.operation);
    if (function != file_.functions.end()) {
      add_call(node, function->second, inputs, scope);
      return;
    }
    if (add_control_flow(node, inputs, scope)) return;
  }
  const Call call = call_of(node, inputs);
  std::optional<Layer> layer;
  if (known != nullptr && known->infer != nullptr) layer = infer(*known, call, inputs);
  const bool guessed = any_guessed(inputs);
  const bool derived = layer.has_value() && !guessed;
  if (known != nullptr && !layer) layer = stated_layer(node, known->kind, scope);
  if (!layer) {
    add_unknown(node, inputs, scope);
    return;
  }
  if (layer->outputs.size() < node.outputs.size() && !layer->each_output) {
    layer->outputs.resize(node.outputs.size(), layer->outputs.at(0));
  }
  for (const Shape& shape : layer->outputs) elements_or_none(shape);
  const int type = type_of_output(known->type, call);
  std::vector<Value> outputs(call.outputs());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].shape = layer->outputs[i];
    outputs[i].type = i == 0 || layer->each_output ? type : type_of_output(known->others, call);
    outputs[i].derived = derived;
    outputs[i].guessed = guessed;
  }
  if ((!known->random && all_constant(inputs)) || node.operation == "Shape" ||
      node.operation == "Size") {
    add_constants(call, inputs, outputs);
  } else {
    add_operations(node, *layer, inputs, scope, outputs);
  }
  keep(node, outputs, scope);
}

void Importer::keep(const Node& node, std::vector<Value>& outputs, Scope& scope) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    Value& own = scope.define(node.outputs[i]);
    outputs[i].readers = own.readers;
    own = std::move(outputs[i]);
  }
}

std::optional<Layer> Importer::infer(const Operator& known, const Call& call,
                                     const Inputs& inputs) {
  try {
    return known.infer(call);
  } catch (const std::invalid_argument&) {
    if (!any_guessed(inputs)) throw;
    return std::nullopt;
  }
}

std::optional<Layer> Importer::stated_layer(const Node& node, OperationKind kind,
                                            const Scope& scope) const {
  if (node.outputs.empty()) return std::nullopt;
  Layer layer;
  layer.operation.kind = kind;
  for (const std::string& name : node.outputs) {
    auto shape = name.empty() ? Shape{1} : stated_shape(name, scope);
    if (!shape) return std::nullopt;
    layer.outputs.push_back(std::move(*shape));
  }
  if (kind == OperationKind::kView) {
    layer.operation.in_place = true;
    layer.operation.forward_kernels = 0;
    layer.operation.backward_kernels = 0;
  }
  return layer;
}

void Importer::add_constants(const Call& call, const Inputs& inputs, std::vector<Value>& outputs) {
  const std::string& name = call.node().operation;
  const bool shape_only = name == "Shape" || name == "Size";
  Constant constant;
  for (std::size_t i = 0; i < inputs.size() && !shape_only; ++i) {
    if (inputs[i] == nullptr || !inputs[i]->constant) continue;
    const bool scale = name.ends_with("DequantizeLinear") && i > 0;
    (scale ? constant.beside : constant.made_of).push_back(*inputs[i]->constant);
  }
  constant.given = name == "Constant";
  constant.type = outputs.at(0).type;
  constant.elements = elements_or_none(outputs[0].shape);
  const std::size_t index = constants_.add(std::move(constant));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].constant = index;
    hold(outputs[i], fold(call, i, outputs[i].shape));
  }
}

Weights Importer::claim(const std::vector<std::size_t>& which, const Inputs& inputs, Use use) {
  Weights all;
  for (const std::size_t index : which) {
    if (index >= inputs.size() || inputs[index] == nullptr || !inputs[index]->constant) continue;
    all.add(constants_.claim(*inputs[index]->constant, use));
  }
  return all;
}

void Importer::add_operations(const Node& node, const Layer& layer, const Inputs& inputs,
                              const Scope& scope, std::vector<Value>& outputs) {
  Operation operation = layer.operation;
  Weights weights = claim(layer.weights, inputs, Use::kWeight);
  weights.frozen *= layer.numbers_per_element;
  weights.add(claim(layer.additions, inputs, Use::kAddition));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool counts = std::ranges::find(layer.uncounted, i) == layer.uncounted.end();
    if (counts) weights.add(claim({i}, inputs, Use::kBuffer));
  }
  operation.name = node.name;
  weights.count_for(operation);
  const std::vector<GraphNode> nodes = nodes_of(inputs);
  const int type = outputs.at(0).type;
  operation.precision = precision_of(type);
  if (!is_floating(type) && operation.kind != OperationKind::kView) {
    if (operation.multiply_adds == 0) operation.kind = OperationKind::kCopy;
    operation.kept = {};
    operation.backward_kernels = 0;
  }
  if (operation.in_place && operation.kind != OperationKind::kView) {
    const Value* first = scope.find_own(node.inputs.at(0));
    operation.in_place = !nodes.empty() && first != nullptr && first->readers < 2;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i > 0 && !layer.each_output) {
      outputs[i].node = outputs[0].node;
      continue;
    }
    if (elements_or_none(outputs[i].shape) == 0) {
      note("tensors without elements are left out");
      continue;
    }
    operation.output = outputs[i].shape;
    operation.bytes_per_element = bytes_of_element(outputs[i].type);
    outputs[i].node = emit(operation, nodes);
    Weights().count_for(operation);  // the first of a split has them
  }
}

void Importer::add_unknown(const Node& node, const Inputs& inputs, Scope& scope) {
  std::int64_t body = 0;
  for (const Graph* graph : bodies_of(node)) body += operators_in(*graph);
  Operation operation;
  operation.name = node.name;
  operation.kind = OperationKind::kUnknown;
  operation.type =
      body > 0 ? fmt::format("{} ({} operators inside)", node.operation, body) : node.operation;
  operation.kept.inputs = true;
  operation.output = !inputs.empty() && inputs[0] != nullptr ? inputs[0]->shape : Shape{1};
  if (elements_or_none(operation.output) == 0) operation.output = {1};
  std::vector<Value> outputs(node.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto stated = stated_shape(node.outputs[i], scope);
    outputs[i].shape = stated.value_or(operation.output);
    outputs[i].guessed = !stated;
    outputs[i].derived = false;
    const Statement* statement = scope.stated(node.outputs[i]);
    const int as_input = !inputs.empty() && inputs[0] != nullptr && is_floating(inputs[0]->type)
                             ? inputs[0]->type
                             : static_cast<int>(kFloat);
    outputs[i].type = statement != nullptr ? statement->type : as_input;
  }
  if (!inputs.empty() && !outputs.empty() && all_constant(inputs) && body == 0) {
    // Weights that an operator of another maker unpacks.
    ++unknown_constants_[operation.type];
    Constant constant;
    for (const Value* input : inputs) {
      if (input != nullptr) constant.made_of.push_back(*input->constant);
    }
    constant.type = outputs[0].type;
    constant.elements = elements_or_none(outputs[0].shape);
    const std::size_t index = constants_.add(std::move(constant));
    for (Value& output : outputs) output.constant = index;
    keep(node, outputs, scope);
    return;
  }
  std::vector<std::size_t> all(inputs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  claim(all, inputs, Use::kAddition).count_for(operation);
  if (!outputs.empty() && elements_or_none(outputs[0].shape) > 0) {
    operation.output = outputs[0].shape;
  }
  if (!outputs.empty()) operation.bytes_per_element = bytes_of_element(outputs[0].type);
  const GraphNode added = emit(std::move(operation), nodes_of(inputs));
  for (Value& output : outputs) output.node = added;
  keep(node, outputs, scope);
}

Importer::GraphNode Importer::emit(Operation operation, std::vector<GraphNode> inputs) {
  if (staged_.size() == ComputationGraph::kMostOperations) {
    throw Refused(fmt::format("more than {} operations", ComputationGraph::kMostOperations));
  }
  operation.repeats = repeats_;
  staged_.push_back({std::move(operation), std::move(inputs)});
  return staged_.size() - 1;
}

OnnxModel Importer::result() {
  OnnxModel model{ComputationGraph(sizes_.samples()),
                  std::move(unknown_constants_),
                  sizes_.samples_in_file(),
                  sizes_.samples_name(),
                  sizes_.samples_given(),
                  {},
                  {}};
  for (const Statement& output : file_.graph.outputs) {
    const Value* found = main_.find(output.name);
    if (found == nullptr) {
      throw std::invalid_argument("output " + in_quotes(output.name) + " is written by nothing");
    }
    model.outputs.push_back({output.name, found->shape, found->derived && !found->guessed});
  }
  for (Staged& staged : staged_) {
    if (staged.operation.kind == OperationKind::kUnknown) {
      ++model.unknown_operators[staged.operation.type];
    }
    model.graph.add(std::move(staged.operation), staged.inputs);
  }
  if (model.samples_in_file > 0 && options_.samples > 1 &&
      options_.samples != model.samples_in_file) {
    note(fmt::format("the file is for {} samples; the {} asked for are not used",
                     model.samples_in_file, options_.samples));
  }
  if (sizes_.samples_by_place()) {
    note(fmt::format("the batch sets the first dimension, {}", in_quotes(model.samples_name)));
  }
  if (file_.removed_nodes > 0) {
    note(fmt::format("operations that reach no output do not count: {}", file_.removed_nodes));
  }
  if (file_.graph.nodes.empty()) note("the file has no operations");
  for (const auto& [text, count] : notes_) {
    model.notes.push_back(count == 1 ? text : fmt::format("{} ({} times)", text, count));
  }
  return model;
}

}  // namespace corun::inline predictors::onnx_file
