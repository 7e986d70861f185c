#include "predictors/onnx/patterns.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace corun::inline predictors::onnx_file {

namespace {

class Patterns {
 public:
  explicit Patterns(Graph& graph) : graph_(graph), removed_(graph.nodes.size(), false) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      for (const std::string& name : node.inputs) read(name, i);
      for (const std::string& name : node.outputs) writers_.emplace(name, i);
      for (const Graph* body : bodies_of(node)) {
        for (const std::string& name : body->captured) read(name, i);
      }
    }
    for (const Statement& output : graph.outputs) read(output.name, graph.nodes.size());
  }

  void join() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (removed_[i] || node.inputs.empty() || node.outputs.empty()) continue;
      if (node.operation == "Sigmoid") join_gate(i, "Swish");
      if (node.operation == "HardSigmoid") join_gate(i, "HardSwish");
      if (node.operation == "Erf") join_gelu(i);
      if (node.operation == "ReduceMean") join_layer_norm(i);
    }
    std::vector<Node> left;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!removed_[i]) left.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(left);
  }

 private:
  struct Readers {
    std::size_t count = 0;
    std::size_t last = 0;
  };
  using Place = std::optional<std::size_t>;

  void read(const std::string& name, std::size_t place) {
    Readers& readers = readers_[name];
    ++readers.count;
    readers.last = place;
  }

  const Node& at(std::size_t place) const { return graph_.nodes[place]; }

  /// An operation of two inputs and one output.
  bool is(std::size_t place, std::initializer_list<std::string_view> operations) const {
    return std::find(operations.begin(), operations.end(), at(place).operation) !=
               operations.end() &&
           at(place).inputs.size() == 2 && at(place).outputs.size() == 1;
  }

  std::size_t uses(const std::string& name) const {
    const auto found = readers_.find(name);
    return found == readers_.end() ? 0 : found->second.count;
  }

  /// The operation that reads the first output of another, if it is the only one and has this name.
  Place reader(Place place, std::string_view operation) const {
    if (!place || at(*place).outputs.empty()) return std::nullopt;
    const auto found = readers_.find(at(*place).outputs[0]);
    if (found == readers_.end() || found->second.count != 1) return std::nullopt;
    const std::size_t next = found->second.last;
    if (next >= graph_.nodes.size() || at(next).operation != operation) return std::nullopt;
    return next;
  }

  Place writer(const std::string& name) const {
    const auto found = writers_.find(name);
    return found == writers_.end() ? Place() : found->second;
  }

  /// The input of a product or sum that is not `name`.
  const std::string& other_input(std::size_t place, const std::string& name) const {
    const Node& node = at(place);
    return node.inputs[node.inputs[0] == name ? 1 : 0];
  }

  /// Leaves the last operation, as another one.
  void replace(const std::vector<std::size_t>& places, std::string operation,
               std::vector<std::string> inputs, std::vector<Attribute> attributes = {}) {
    std::vector<std::size_t> sorted = places;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return;
    for (const std::size_t place : sorted) {
      if (removed_[place]) return;
    }
    const std::size_t last = places.back();
    if (sorted.back() != last) return;  // out of order: the import refuses it
    for (const std::size_t place : sorted) removed_[place] = place != last;
    Node& node = graph_.nodes[last];
    node.operation = std::move(operation);
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
  }

  void join_gate(std::size_t gate, const char* operation) {
    const std::string x = at(gate).inputs[0];
    const Place product = reader(gate, "Mul");
    if (!product || !is(*product, {"Mul"})) return;
    if (other_input(*product, at(gate).outputs[0]) != x) return;
    replace({gate, *product}, operation, {x});
  }

  void join_gelu(std::size_t erf) {
    const Place scaled = writer(at(erf).inputs[0]);
    if (!scaled || !is(*scaled, {"Div", "Mul"}) || uses(at(erf).inputs[0]) != 1) return;
    const std::string x = at(*scaled).inputs[0];
    const Place sum = reader(erf, "Add");
    const Place product = reader(sum, "Mul");
    if (!product || !is(*sum, {"Add"}) || !is(*product, {"Mul"})) return;
    const std::string& other = other_input(*product, at(*sum).outputs[0]);
    if (other == x) {
      const Place half = reader(product, "Mul");
      if (half && is(*half, {"Mul"})) replace({*scaled, erf, *sum, *product, *half}, "Gelu", {x});
      return;
    }
    const Place half = writer(other);
    if (half && is(*half, {"Mul"}) && uses(other) == 1 &&
        (at(*half).inputs[0] == x || at(*half).inputs[1] == x)) {
      replace({*scaled, erf, *sum, *half, *product}, "Gelu", {x});
    }
  }

  void join_layer_norm(std::size_t mean) {
    const std::string x = at(mean).inputs[0];
    const Place difference = reader(mean, "Sub");
    if (!difference || !is(*difference, {"Sub"}) || at(*difference).inputs[0] != x) return;
    const std::string& centred = at(*difference).outputs[0];
    // The centred numbers are read by the square and by the quotient.
    const auto found = readers_.find(centred);
    if (found == readers_.end() || found->second.last >= graph_.nodes.size()) return;
    const std::size_t quotient = found->second.last;
    if (!is(quotient, {"Div"}) || at(quotient).inputs[0] != centred) return;
    const Place root = writer(at(quotient).inputs[1]);
    if (!root || at(*root).operation != "Sqrt" || at(*root).inputs.size() != 1) return;
    const Place sum = writer(at(*root).inputs[0]);
    if (!sum || !is(*sum, {"Add"})) return;
    Place variance = writer(at(*sum).inputs[0]);
    if (!variance || at(*variance).operation != "ReduceMean") variance = writer(at(*sum).inputs[1]);
    if (!variance || at(*variance).operation != "ReduceMean" || at(*variance).inputs.empty())
      return;
    const Place square = writer(at(*variance).inputs[0]);
    if (!square || !is(*square, {"Pow", "Mul"}) || at(*square).inputs[0] != centred) return;
    const std::size_t reads = at(*square).inputs[1] == centred ? 3 : 2;
    if (uses(centred) != reads || reader(square, "ReduceMean") != variance ||
        reader(variance, "Add") != sum || reader(sum, "Sqrt") != root ||
        reader(root, "Div") != quotient) {
      return;
    }
    const Place scale = reader(quotient, "Mul");
    const Place shift = reader(scale, "Add");
    if (!shift || !is(*scale, {"Mul"}) || !is(*shift, {"Add"})) return;
    const std::string weights = other_input(*scale, at(quotient).outputs[0]);
    const std::string bias = other_input(*shift, at(*scale).outputs[0]);
    replace({mean, *difference, *square, *variance, *sum, *root, quotient, *scale, *shift},
            "LayerNormalization", {x, weights, bias});
  }

  Graph& graph_;
  std::vector<bool> removed_;
  std::unordered_map<std::string, Readers> readers_;
  std::unordered_map<std::string, std::size_t> writers_;
};

}  // namespace

void join_patterns(Graph& graph) {
  Patterns(graph).join();
  for (Node& node : graph.nodes) {
    for (Attribute& attribute : node.attributes) {
      auto* bodies = std::get_if<Attribute::Bodies>(&attribute.value);
      if (bodies == nullptr) continue;
      for (Graph& body : *bodies) join_patterns(body);
    }
  }
}

}  // namespace corun::inline predictors::onnx_file
