#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "predictors/graph/computation_graph.hpp"
#include "predictors/onnx/model_file.hpp"

/// The names of one graph of a file while it is imported: the main one, a body, or a function for one of its calls.
namespace corun::inline predictors::onnx_file {

struct Value {
  Shape shape;
  int type = kUndefined;
  bool guessed = false;  ///< the shape may be wrong
  bool derived = true;   ///< the shape follows from the inputs, not from what the file says
  int readers = 0;
  std::optional<ComputationGraph::Node> node;         ///< none: constant or without elements
  std::optional<std::size_t> constant;                ///< index in the list of constants
  std::shared_ptr<const std::vector<double>> values;  ///< of a small constant
};

class Scope {
 public:
  /// `wanted`: which outputs are asked for; the last entry stands for those beyond it. All nodes of a graph without
  /// outputs are. `around`: the graph whose names a body sees; nullptr for others.
  Scope(const Graph& graph, const std::vector<bool>& wanted, Scope* around);

  const Graph& graph() const { return graph_; }
  /// Whether an output that is wanted depends on the node.
  bool live(std::size_t node) const { return live_[node]; }
  bool is_read(const std::string& name) const { return uses_of(name).readers > 0; }
  bool writes(const std::string& name) const { return uses_of(name).written; }
  /// What the file says of a tensor; nullptr if nothing.
  const Statement* stated(const std::string& name) const;

  /// A new tensor; std::invalid_argument for a second one of the name.
  Value& define(const std::string& name);
  /// The same tensor under a name of this scope. Its readers elsewhere stay readers.
  Value& bind(const std::string& name, const Value& value);
  /// An input of a function that its call leaves out.
  void leave_out(const std::string& name) { left_out_.insert(name); }
  bool is_left_out(const std::string& name) const { return left_out_.contains(name); }

  /// nullptr if there is none, here or around.
  const Value* find(const std::string& name) const;
  /// The same, here alone.
  const Value* find_own(const std::string& name) const;

  /// Attributes of the call of the function in which the scope lies, and their defaults; nullptr outside.
  const std::vector<Attribute>* arguments = nullptr;
  const std::vector<Attribute>* defaults = nullptr;

 private:
  struct Uses {
    int readers = 0;
    bool written = false;
  };
  Uses uses_of(const std::string& name) const;

  const Graph& graph_;
  Scope* around_;
  std::vector<bool> live_;
  std::unordered_map<std::string, Uses> uses_;
  std::unordered_map<std::string, const Statement*> stated_;
  std::unordered_set<std::string> left_out_;
  std::unordered_map<std::string, Value> values_;
};

/// Removes nodes that no output of their graph depends on, in bodies and functions too.
void remove_dead_nodes(Model& model);

}  // namespace corun::inline predictors::onnx_file
