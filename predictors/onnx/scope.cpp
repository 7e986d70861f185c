#include "predictors/onnx/scope.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/base/text.hpp"

namespace corun::inline predictors::onnx_file {

namespace {

/// Calls visit(name) for all that a node reads, also in its bodies.
template <typename Visit>
void for_each_read(const Node& node, Visit visit) {
  for (const std::string& name : node.inputs) visit(name);
  for (const Graph* body : bodies_of(node)) {
    for (const std::string& name : body->captured) visit(name);
  }
}

/// How many, without those of bodies.
std::size_t remove_dead(Graph& graph) {
  for (Node& node : graph.nodes) {
    for (Attribute& attribute : node.attributes) {
      auto* bodies = std::get_if<Attribute::Bodies>(&attribute.value);
      if (bodies == nullptr) continue;
      for (Graph& body : *bodies) remove_dead(body);
    }
  }
  const Scope scope(graph, {true}, nullptr);
  std::vector<Node> left;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (scope.live(i)) left.push_back(std::move(graph.nodes[i]));
  }
  const std::size_t removed = graph.nodes.size() - left.size();
  graph.nodes = std::move(left);
  return removed;
}

}  // namespace

void remove_dead_nodes(Model& model) {
  model.removed_nodes = remove_dead(model.graph);
  for (auto& [name, function] : model.functions) remove_dead(function.body);
}

Scope::Scope(const Graph& graph, const std::vector<bool>& wanted, Scope* around)
    : graph_(graph), around_(around), live_(graph.nodes.size(), graph.outputs.empty()) {
  if (around != nullptr) {
    arguments = around->arguments;
    defaults = around->defaults;
  }
  uses_.reserve(2 * graph.nodes.size());
  for (const auto* list : {&graph.outputs, &graph.others}) {
    for (const Statement& statement : *list) stated_.emplace(statement.name, &statement);
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (wanted.at(std::min(i, wanted.size() - 1))) ++uses_[graph.outputs[i].name].readers;
  }
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    for (const std::string& name : node.outputs) {
      Uses& uses = uses_[name];
      uses.written = true;
      if (!name.empty() && uses.readers > 0) live_[i] = true;
    }
    if (!live_[i]) continue;
    for_each_read(node, [&](const std::string& name) { ++uses_[name].readers; });
  }
}

Scope::Uses Scope::uses_of(const std::string& name) const {
  const auto found = uses_.find(name);
  return found == uses_.end() ? Uses{} : found->second;
}

const Statement* Scope::stated(const std::string& name) const {
  const auto found = stated_.find(name);
  return found == stated_.end() ? nullptr : found->second;
}

Value& Scope::define(const std::string& name) {
  const auto [at, added] = values_.try_emplace(name);
  if (!added) throw std::invalid_argument("a second tensor '" + printable(name) + "'");
  at->second.readers = uses_of(name).readers;
  return at->second;
}

Value& Scope::bind(const std::string& name, const Value& value) {
  Value& own = define(name);
  const int here = own.readers;
  own = value;
  own.readers = std::max(0, value.readers - 1) + here;
  return own;
}

const Value* Scope::find(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->around_) {
    if (const Value* value = scope->find_own(name)) return value;
  }
  return nullptr;
}

const Value* Scope::find_own(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

}  // namespace corun::inline predictors::onnx_file
