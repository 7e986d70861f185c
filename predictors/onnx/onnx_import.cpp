#include "predictors/onnx/onnx_import.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "predictors/onnx/folding.hpp"
#include "predictors/onnx/model_file.hpp"
#include "predictors/onnx/operators.hpp"
#include "predictors/onnx/patterns.hpp"
#include "sim/base/text.hpp"

namespace corun::inline predictors {

namespace {

using onnx_file::Argument;
using onnx_file::Call;
using onnx_file::Layer;
using onnx_file::Operator;
using GraphNode = ComputationGraph::Node;

/// Values of folded tensors that are held at a time; beyond it they count as not known.
constexpr std::size_t kMostHeldValues = 4'000'000;

/// A tensor that is the same for all samples.
struct Constant {
  std::vector<std::size_t> made_of;  ///< other constants
  std::int64_t learnt = 0;           ///< numbers of its own that are learnt, if they are read so
  bool listed = false;               ///< an initialiser; else the output of an operation
  bool counted = false;              ///< as a parameter
};

struct Value {
  Shape shape;
  int type = onnx_file::kUndefined;
  bool guessed = false;  ///< the shape may be wrong
  bool derived = true;   ///< the shape follows from the inputs, not from what the file says
  std::optional<GraphNode> node;        ///< none: constant or without elements
  std::optional<std::size_t> constant;  ///< index in the list of constants
  std::optional<std::vector<double>> values;
};

struct Weights {
  std::int64_t numbers = 0;
  int tensors = 0;
};

/// All constants, and which of them have been counted as parameters.
class ConstantList {
 public:
  std::size_t add(Constant constant) {
    constants_.push_back(std::move(constant));
    return constants_.size() - 1;
  }

  /// Parameters in `from` and in what it was made of that were not counted before. `strict`: only
  /// initialisers with more than one element.
  Weights claim(std::size_t from, bool strict) {
    Weights weights;
    std::vector<std::size_t> open{from};
    while (!open.empty()) {
      Constant& constant = constants_[open.back()];
      open.pop_back();
      if (constant.counted) continue;
      if (strict && constant.made_of.empty() && (!constant.listed || constant.learnt < 2)) continue;
      constant.counted = true;
      weights.numbers += constant.learnt;
      if (constant.learnt > 0) ++weights.tensors;
      open.insert(open.end(), constant.made_of.begin(), constant.made_of.end());
    }
    return weights;
  }

 private:
  std::vector<Constant> constants_;
};

std::string in_quotes(const std::string& name) { return "'" + printable(name) + "'"; }

class Import {
 public:
  Import(const onnx_file::Model& file, const OnnxOptions& options)
      : file_(file),
        options_(options),
        samples_in_file_(count_samples()),
        graph_(samples_in_file_ > 0 ? samples_in_file_ : options.samples) {}

  OnnxModel run() {
    for (const auto* list : {&file_.outputs, &file_.others}) {
      for (const auto& statement : *list) stated_.emplace(statement.name, &statement);
    }
    for (const auto& node : file_.nodes) {
      for (const std::string& name : node.inputs) ++readers_[name];
      for (const std::string& name : node.outputs) written_.emplace(name, &node);
    }
    for (const auto& output : file_.outputs) ++readers_[output.name];
    for (const auto& tensor : file_.initialisers) add_initialiser(tensor);
    for (const auto& input : file_.inputs) add_input(input);
    for (const auto& node : file_.nodes) {
      try {
        add_node(node);
      } catch (const std::invalid_argument& e) {
        throw std::invalid_argument(
            fmt::format("{} '{}': {}", node.operation, node.name, e.what()));
      }
    }
    return result();
  }

 private:
  /// The first dimension of the first input, if it is a number.
  std::int64_t count_samples() const {
    if (options_.samples < 1) {
      throw std::invalid_argument(fmt::format("{} samples were asked for", options_.samples));
    }
    std::unordered_map<std::string_view, bool> weights;
    for (const auto& tensor : file_.initialisers) weights.emplace(tensor.name, true);
    for (const auto& input : file_.inputs) {
      if (weights.contains(input.name) || !input.shape || input.shape->empty()) continue;
      const auto& first = input.shape->front();
      return first.size && *first.size > 0 ? *first.size : 0;
    }
    return 1;
  }

  void note(std::string text) { ++notes_[std::move(text)]; }

  Value& define(const std::string& name) {
    const auto [at, added] = values_.try_emplace(name);
    if (!added) throw std::invalid_argument("a second tensor " + in_quotes(name));
    return at->second;
  }

  void add_initialiser(const onnx_file::Tensor& tensor) {
    Value& value = define(tensor.name);
    value.shape = tensor.dims;
    value.type = tensor.type;
    hold(value, tensor.values);
    Constant constant;
    constant.listed = true;
    if (onnx_file::is_floating(tensor.type)) {
      constant.learnt = onnx_file::elements_or_none(tensor.dims);
    }
    value.constant = constants_.add(std::move(constant));
    if (tensor.left_out) note("weights without numbers: only their sizes are used");
  }

  void hold(Value& value, std::optional<std::vector<double>> values) {
    if (!values || held_ + values->size() > kMostHeldValues) return;
    held_ += values->size();
    value.values = std::move(values);
  }

  void add_input(const onnx_file::Statement& input) {
    const auto weight = values_.find(input.name);
    if (weight != values_.end() && weight->second.constant) return;  // files before version 4
    const std::optional<Shape> shape = shape_of_input(input);
    Value& value = define(input.name);
    value.type = input.type;
    value.shape = shape.value_or(Shape{1});
    value.guessed = !shape;
    if (!shape) {
      note(fmt::format("input {} has no shape; it is taken as one number", in_quotes(input.name)));
    }
    if (onnx_file::elements_or_none(value.shape) == 0) {
      note("tensors without elements are left out");
      return;
    }
    Operation operation;
    operation.name = printable(input.name);
    operation.kind = OperationKind::kInput;
    operation.output = value.shape;
    operation.forward_kernels = 0;
    operation.backward_kernels = 0;
    value.node = graph_.add(std::move(operation), {});
  }

  /// The size of a dimension; an open first one is that of the samples.
  std::optional<std::int64_t> size_of(const onnx_file::Dimension& dimension, bool is_input,
                                      const std::string& tensor, std::size_t index) {
    if (dimension.size) return dimension.size;
    const std::string name =
        dimension.symbol.empty() ? fmt::format("{}.{}", tensor, index) : dimension.symbol;
    const auto given = options_.sizes.find(name);
    if (given != options_.sizes.end()) return given->second;
    if (!dimension.symbol.empty()) {
      const auto known = symbols_.find(name);
      if (known != symbols_.end()) return known->second;
    }
    if (!is_input) return std::nullopt;
    if (index == 0) {
      if (!dimension.symbol.empty()) symbols_.emplace(name, graph_.samples());
      return graph_.samples();
    }
    throw std::invalid_argument(
        fmt::format("dimension {} of input {} is open; a size for '{}' is needed", index,
                    in_quotes(tensor), printable(name)));
  }

  std::optional<Shape> shape_of_input(const onnx_file::Statement& input) {
    if (!input.shape) return std::nullopt;
    Shape shape;
    for (std::size_t i = 0; i < input.shape->size(); ++i) {
      shape.push_back(*size_of((*input.shape)[i], true, input.name, i));
      if (shape.back() < 0) {
        throw std::invalid_argument(
            fmt::format("input {} has a size of {}", in_quotes(input.name), shape.back()));
      }
    }
    return shape;
  }

  /// What the file says of a tensor's shape, if that is complete.
  std::optional<Shape> stated_shape(const std::string& name) {
    const auto found = stated_.find(name);
    if (!options_.use_stated_shapes || found == stated_.end() || !found->second->shape) {
      return std::nullopt;
    }
    Shape shape;
    for (std::size_t i = 0; i < found->second->shape->size(); ++i) {
      const auto size = size_of((*found->second->shape)[i], false, name, i);
      if (!size || *size < 0) return std::nullopt;
      shape.push_back(*size);
    }
    return shape;
  }

  /// The inputs of a node, with those that bodies of control-flow operators read from around them.
  std::vector<const Value*> inputs_of(const onnx_file::Node& node) {
    std::vector<const Value*> inputs;
    for (const std::string& name : node.inputs) {
      if (name.empty()) {
        inputs.push_back(nullptr);
        continue;
      }
      const auto found = values_.find(name);
      if (found == values_.end()) {
        throw std::invalid_argument(
            fmt::format("it reads tensor {}, {}", in_quotes(name),
                        written_.contains(name)
                            ? "which only it or a later operation writes: a cycle, or a wrong order"
                            : "which nothing writes"));
      }
      inputs.push_back(&found->second);
    }
    for (const auto& attribute : node.attributes) {
      const auto* body = std::get_if<onnx_file::Subgraph>(&attribute.value);
      if (body == nullptr) continue;
      for (const std::string& name : body->captured) {
        const auto found = values_.find(name);
        if (found != values_.end()) inputs.push_back(&found->second);
      }
    }
    return inputs;
  }

  static Call call_of(const onnx_file::Node& node, std::int64_t operator_set,
                      const std::vector<const Value*>& inputs) {
    std::vector<std::optional<Argument>> arguments;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (inputs[i] == nullptr) {
        arguments.emplace_back();
        continue;
      }
      const Value& value = *inputs[i];
      arguments.push_back(Argument{value.shape, value.type, value.constant.has_value(),
                                   value.values ? &*value.values : nullptr});
    }
    while (!arguments.empty() && !arguments.back()) arguments.pop_back();
    return Call(node, operator_set, std::move(arguments));
  }

  static int type_of_output(const Operator& known, const Call& call) {
    const auto type_of = [&](std::size_t input) {
      return call.has(input) ? call.input(input).type : onnx_file::kFloat;
    };
    switch (known.type) {
      case onnx_file::OutputType::kFirst:
        return type_of(0);
      case onnx_file::OutputType::kSecond:
        return type_of(1);
      case onnx_file::OutputType::kThird:
        return type_of(2);
      case onnx_file::OutputType::kWhole:
        return onnx_file::kInt64;
      case onnx_file::OutputType::kTruth:
        return onnx_file::kBool;
      case onnx_file::OutputType::kStated: {
        const char* name = call.find("to") != nullptr ? "to" : "dtype";
        const int otherwise = call.inputs() > 0 ? type_of(0) : onnx_file::kFloat;
        return static_cast<int>(call.number(name, otherwise));
      }
      case onnx_file::OutputType::kFilling:
        break;
    }
    for (const auto& attribute : call.node().attributes) {
      const auto& value = attribute.value;
      if (const auto* tensor = std::get_if<onnx_file::Tensor>(&value)) return tensor->type;
      if (std::holds_alternative<std::int64_t>(value) ||
          std::holds_alternative<std::vector<std::int64_t>>(value)) {
        return onnx_file::kInt64;
      }
    }
    return onnx_file::kFloat;
  }

  void add_node(const onnx_file::Node& node) {
    const std::vector<const Value*> inputs = inputs_of(node);
    const Call call = call_of(node, file_.operator_set, inputs);
    const Operator* known = onnx_file::find_operator(node.operation);
    std::optional<Layer> layer;
    if (known != nullptr && known->infer != nullptr) layer = infer(*known, call, inputs);
    const bool guessed = std::any_of(inputs.begin(), inputs.end(), [](const Value* value) {
      return value != nullptr && value->guessed;
    });
    bool derived = layer.has_value() && !guessed;
    if (known != nullptr && !layer) {
      layer = stated_layer(node, known->kind);
    }
    if (!layer) {
      add_unknown(node, inputs);
      return;
    }
    if (layer->outputs.size() < node.outputs.size() && !layer->each_output) {
      layer->outputs.resize(node.outputs.size(), layer->outputs.at(0));
    }
    for (const Shape& shape : layer->outputs) onnx_file::elements_or_none(shape);
    const int type = type_of_output(*known, call);
    const bool constant =
        !known->random && std::all_of(inputs.begin(), inputs.end(), [](const Value* value) {
          return value == nullptr || value->constant.has_value();
        });
    std::vector<Value> outputs(call.outputs());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].shape = layer->outputs[i];
      outputs[i].type = i == 0 || layer->each_output ? type : onnx_file::kFloat;
      outputs[i].derived = derived;
      outputs[i].guessed = guessed;
    }
    if (constant || node.operation == "Shape" || node.operation == "Size") {
      add_constants(call, inputs, outputs);
    } else {
      add_operations(node, *layer, inputs, outputs);
    }
    keep(node, outputs);
  }

  void keep(const onnx_file::Node& node, std::vector<Value>& outputs) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty()) define(node.outputs[i]) = std::move(outputs[i]);
    }
  }

  /// None if the shape depends on numbers that are not known, or does not fit one that was guessed.
  std::optional<Layer> infer(const Operator& known, const Call& call,
                             const std::vector<const Value*>& inputs) {
    try {
      return known.infer(call);
    } catch (const std::invalid_argument&) {
      const bool guess = std::any_of(inputs.begin(), inputs.end(), [](const Value* value) {
        return value != nullptr && value->guessed;
      });
      if (!guess) throw;
      return std::nullopt;
    }
  }

  /// A layer of a known operator whose shape the file states.
  std::optional<Layer> stated_layer(const onnx_file::Node& node, OperationKind kind) {
    if (node.outputs.empty()) return std::nullopt;
    Layer layer;
    layer.operation.kind = kind;
    for (const std::string& name : node.outputs) {
      auto shape = name.empty() ? Shape{1} : stated_shape(name);
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

  void add_constants(const Call& call, const std::vector<const Value*>& inputs,
                     std::vector<Value>& outputs) {
    Constant constant;
    const bool shape_only = call.node().operation == "Shape" || call.node().operation == "Size";
    for (const Value* input : inputs) {
      if (input != nullptr && input->constant && !shape_only) {
        constant.made_of.push_back(*input->constant);
      }
    }
    if (call.node().operation == "Constant" && onnx_file::is_floating(outputs.at(0).type)) {
      constant.learnt = onnx_file::elements_or_none(outputs[0].shape);
    }
    const std::size_t index = constants_.add(std::move(constant));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].constant = index;
      hold(outputs[i], onnx_file::fold(call, i, outputs[i].shape));
    }
  }

  /// Nodes of the graph that the operation reads.
  static std::vector<GraphNode> nodes_of(const std::vector<const Value*>& inputs) {
    std::vector<GraphNode> nodes;
    for (const Value* input : inputs) {
      if (input != nullptr && input->node) nodes.push_back(*input->node);
    }
    return nodes;
  }

  Weights claim(const std::vector<std::size_t>& which, const std::vector<const Value*>& inputs,
                bool strict) {
    Weights all;
    for (const std::size_t index : which) {
      if (index >= inputs.size() || inputs[index] == nullptr || !inputs[index]->constant) continue;
      const Weights weights = constants_.claim(*inputs[index]->constant, strict);
      all.numbers += weights.numbers;
      all.tensors += weights.tensors;
    }
    return all;
  }

  void add_operations(const onnx_file::Node& node, const Layer& layer,
                      const std::vector<const Value*>& inputs, std::vector<Value>& outputs) {
    Operation operation = layer.operation;
    const Weights weights = claim(layer.weights, inputs, false);
    const Weights additions = claim(layer.additions, inputs, true);
    operation.name = node.name;
    operation.parameters = weights.numbers + additions.numbers;
    operation.parameter_tensors = weights.tensors + additions.tensors;
    const std::vector<GraphNode> nodes = nodes_of(inputs);
    const bool whole = !onnx_file::is_floating(outputs.at(0).type);
    if (whole && operation.kind != OperationKind::kView) {
      operation.kind = OperationKind::kCopy;
      operation.kept = {};
      operation.backward_kernels = 0;
    }
    if (operation.in_place && operation.kind != OperationKind::kView) {
      operation.in_place = !nodes.empty() && readers_[node.inputs.at(0)] < 2;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (i > 0 && !layer.each_output) {
        outputs[i].node = outputs[0].node;
        continue;
      }
      if (onnx_file::elements_or_none(outputs[i].shape) == 0) {
        note("tensors without elements are left out");
        continue;
      }
      operation.output = outputs[i].shape;
      outputs[i].node = graph_.add(operation, nodes);
    }
  }

  void add_unknown(const onnx_file::Node& node, const std::vector<const Value*>& inputs) {
    int body = 0;
    for (const auto& attribute : node.attributes) {
      if (const auto* graph = std::get_if<onnx_file::Subgraph>(&attribute.value)) {
        body += graph->operators;
      }
    }
    Operation operation;
    operation.name = node.name;
    operation.kind = OperationKind::kUnknown;
    operation.type =
        body > 0 ? fmt::format("{} ({} operators inside)", node.operation, body) : node.operation;
    ++unknown_[operation.type];
    std::vector<std::size_t> all(inputs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const Weights weights = claim(all, inputs, true);
    operation.parameters = weights.numbers;
    operation.parameter_tensors = weights.tensors;
    operation.kept.inputs = true;
    operation.output = !inputs.empty() && inputs[0] != nullptr ? inputs[0]->shape : Shape{1};
    if (onnx_file::elements_or_none(operation.output) == 0) operation.output = {1};
    std::vector<Value> outputs(node.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto stated = stated_shape(node.outputs[i]);
      outputs[i].shape = stated.value_or(operation.output);
      outputs[i].guessed = !stated;
      outputs[i].derived = false;
      const auto found = stated_.find(node.outputs[i]);
      outputs[i].type = found != stated_.end() ? found->second->type : onnx_file::kFloat;
    }
    if (!outputs.empty() && onnx_file::elements_or_none(outputs[0].shape) > 0) {
      operation.output = outputs[0].shape;
    }
    const GraphNode added = graph_.add(std::move(operation), nodes_of(inputs));
    for (Value& output : outputs) output.node = added;
    keep(node, outputs);
  }

  OnnxModel result() {
    OnnxModel model{std::move(graph_), std::move(unknown_), samples_in_file_, {}, {}};
    for (const auto& output : file_.outputs) {
      const auto found = values_.find(output.name);
      if (found == values_.end()) {
        throw std::invalid_argument("output " + in_quotes(output.name) + " is written by nothing");
      }
      model.outputs.push_back(
          {output.name, found->second.shape, found->second.derived && !found->second.guessed});
    }
    if (samples_in_file_ > 0 && options_.samples > 1 && options_.samples != samples_in_file_) {
      note(fmt::format("the file is for {} samples; the {} asked for are not used",
                       samples_in_file_, options_.samples));
    }
    if (file_.nodes.empty()) note("the file has no operations");
    for (const auto& [text, count] : notes_) {
      model.notes.push_back(count == 1 ? text : fmt::format("{} ({} times)", text, count));
    }
    return model;
  }

  const onnx_file::Model& file_;
  const OnnxOptions& options_;
  std::int64_t samples_in_file_;
  ComputationGraph graph_;
  ConstantList constants_;
  std::size_t held_ = 0;
  std::unordered_map<std::string, Value> values_;
  std::unordered_map<std::string, int> readers_;
  std::unordered_map<std::string, const onnx_file::Statement*> stated_;
  std::unordered_map<std::string, const onnx_file::Node*> written_;
  std::unordered_map<std::string, std::int64_t> symbols_;
  std::map<std::string, int> unknown_;
  std::map<std::string, int> notes_;
};

}  // namespace

int OnnxModel::unknown_count() const {
  return std::accumulate(unknown_operators.begin(), unknown_operators.end(), 0,
                         [](int sum, const auto& entry) { return sum + entry.second; });
}

OnnxModel import_onnx(std::string_view bytes, const OnnxOptions& options) {
  onnx_file::Model file =
      onnx_file::read_model(bytes, ComputationGraph::kMostOperations, options.most_memory);
  onnx_file::join_patterns(file);
  return Import(file, options).run();
}

}  // namespace corun::inline predictors
