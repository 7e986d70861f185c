#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "predictors/onnx/constants.hpp"
#include "predictors/onnx/model_file.hpp"
#include "predictors/onnx/onnx_import.hpp"
#include "predictors/onnx/open_sizes.hpp"
#include "predictors/onnx/operators.hpp"
#include "predictors/onnx/scope.hpp"

/// How import_onnx() walks a file's graphs: importer.cpp has its operations, control_flow.cpp bodies and functions.
namespace corun::inline predictors::onnx_file {

class Importer {
 public:
  /// `zeros_are_open`: dimensions of 0; else they are tensors without elements.
  Importer(const Model& file, const OnnxOptions& options, bool zeros_are_open);

  /// Once.
  OnnxModel run();

 private:
  using GraphNode = ComputationGraph::Node;
  using Inputs = std::vector<const Value*>;

  /// An operation of the graph to be; branches that are not taken are withdrawn before it is built.
  struct Staged {
    Operation operation;
    std::vector<GraphNode> inputs;
  };
  /// A limit of the import, which no branch that might be left out can hide.
  struct Refused : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
  };
  /// The message says already where.
  struct Located : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
  };

  // importer.cpp
  std::vector<const Statement*> read_inputs() const;
  void note(const std::string& text) { ++notes_[text]; }
  void add_initialisers(Scope& scope);
  void add_input(const Statement& input);
  void add_nodes(Scope& scope);
  void add_node(const Node& node, Scope& scope);
  /// The node with attributes of the function's call in their places; none if it has no such attribute.
  static std::optional<Node> resolved(const Node& node, const Scope& scope);
  /// Of a node, with those that bodies of control-flow operators read from around them.
  Inputs inputs_of(const Node& node, const Scope& scope) const;
  static Call call_of(const Node& node, const Inputs& inputs);
  static int type_of_output(OutputType rule, const Call& call);
  /// None if the shape depends on numbers that are not known, or does not fit one that was guessed.
  static std::optional<Layer> infer(const Operator& known, const Call& call, const Inputs& inputs);
  /// A layer of a known operator whose shape the file states.
  std::optional<Layer> stated_layer(const Node& node, OperationKind kind, const Scope& scope) const;
  std::optional<Shape> stated_shape(const std::string& name, const Scope& scope) const;
  void hold(Value& value, std::optional<std::vector<double>> values);
  void add_constants(const Call& call, const Inputs& inputs, std::vector<Value>& outputs);
  void add_operations(const Node& node, const Layer& layer, const Inputs& inputs,
                      const Scope& scope, std::vector<Value>& outputs);
  void add_unknown(const Node& node, const Inputs& inputs, Scope& scope);
  Weights claim(const std::vector<std::size_t>& which, const Inputs& inputs, Use use);
  GraphNode emit(Operation operation, std::vector<GraphNode> inputs);
  static void keep(const Node& node, std::vector<Value>& outputs, Scope& scope);
  OnnxModel result();

  // control_flow.cpp
  /// False if the bodies do not fit the node: it is an unknown operation then.
  bool add_control_flow(const Node& node, const Inputs& inputs, Scope& scope);
  bool add_choice(const Node& node, const Inputs& inputs, Scope& scope);
  bool add_loop(const Node& node, const Inputs& inputs, Scope& scope);
  bool add_scan(const Node& node, const Inputs& inputs, Scope& scope);
  void add_call(const Node& node, const Function& function, const Inputs& inputs, Scope& scope);
  /// Refuses scopes within scopes without end, and more work than a file may ask for.
  void enter(const Graph& graph);
  double cost_since(std::size_t first) const;
  /// A loop: its body, the first of its inputs and outputs that is a state, the number of states.
  struct Cycle {
    const Graph& body;
    std::size_t first_input, first_output, states;
    std::optional<double> trips;  ///< none: not known
    std::vector<std::int64_t>
        stack_axes;  ///< along which an output grows with each trip; else the first
  };
  /// Constant states are none behind the first trip, unless the body hands them on as they are.
  Value state_at_start(const Value& value, const Cycle& cycle, std::size_t state,
                       const std::string& name);
  /// `bind`: adds the other inputs of the body.
  void run_cycle(const Node& node, const Cycle& cycle, const std::vector<const Value*>& starts,
                 const std::function<void(Scope&)>& bind, Scope& scope);
  /// What each trip wrote, one behind the other.
  Value stack_of(const Node& node, std::size_t output, const Value& of_trip, const Cycle& cycle,
                 double trips, const Scope& scope);
  /// One level deeper, until it is left, by an exception too.
  class Inside {
   public:
    explicit Inside(Importer& importer)
        : importer_(importer), repeats_(importer.repeats_), calls_(importer.calls_.size()) {
      ++importer_.depth_;
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() {
      --importer_.depth_;
      importer_.repeats_ = repeats_;
      importer_.calls_.resize(calls_);
    }

   private:
    Importer& importer_;
    double repeats_;
    std::size_t calls_;
  };

  const Model& file_;
  const OnnxOptions& options_;
  Scope main_;
  OpenSizes sizes_;
  ConstantList constants_;
  std::vector<Staged> staged_;
  double repeats_ = 1;  ///< trips of the loops around the present node
  int depth_ = 0;       ///< of scopes
  double work_ = 0;     ///< operations of bodies and functions that were gone through
  std::vector<const Function*> calls_;
  std::unordered_map<const Graph*, double> work_of_;
  std::size_t held_ = 0;
  std::map<std::string, int> unknown_constants_;
  std::map<std::string, int> notes_;
};

}  // namespace corun::inline predictors::onnx_file
