#include "predictors/onnx/operators.hpp"

#include <unordered_map>
#include <utility>

namespace corun::inline predictors::onnx_file {

Layer layer_of(OperationKind kind, Shape output) {
  Layer layer;
  layer.operation.kind = kind;
  layer.outputs.push_back(std::move(output));
  return layer;
}

Layer layer_of(Operation operation) {
  Layer layer;
  layer.outputs.push_back(std::move(operation.output));
  layer.operation = std::move(operation);
  return layer;
}

const Operator* find_operator(std::string_view name) {
  static const std::unordered_map<std::string_view, Operator> table = [] {
    std::unordered_map<std::string_view, Operator> all;
    for (const auto& family : {window_operators(), product_operators(), element_operators(),
                               movement_operators(), reduction_operators()}) {
      for (const Operator& entry : family) all.emplace(entry.name, entry);
    }
    return all;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace corun::inline predictors::onnx_file
