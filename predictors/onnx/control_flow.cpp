#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "predictors/onnx/importer.hpp"

/// Bodies of If, Loop and Scan, and calls of functions.
namespace corun::inline predictors::onnx_file {

namespace {

constexpr int kDeepestScope = 100;
/// Operations of bodies and functions that are gone through, once functions are written out. An operation counts more
/// with long lists.
constexpr double kMostWork = 2e5;
constexpr double kListOfOne = 64;
/// A greater number of trips means that only the condition ends the loop.
constexpr double kMostTrips = 1e9;

double length_of(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> double {
        if constexpr (requires { value.size(); }) {
          return static_cast<double>(value.size());
        } else {
          return 1;
        }
      },
      attribute.value);
}

/// Of going through a graph once, without its bodies.
double work_of(const Graph& graph) {
  double work = 1 + static_cast<double>(graph.initialisers.size() + graph.inputs.size() +
                                        graph.outputs.size() + graph.others.size()) /
                        kListOfOne;
  for (const Node& node : graph.nodes) {
    double length = static_cast<double>(node.inputs.size() + node.outputs.size());
    for (const Attribute& attribute : node.attributes) length += 1 + length_of(attribute);
    for (const Graph* body : bodies_of(node)) length += static_cast<double>(body->captured.size());
    work += 1 + length / kListOfOne;
  }
  return work;
}

const Graph* body_of(const Node& node, std::string_view name) {
  for (const Attribute& attribute : node.attributes) {
    const auto* bodies = std::get_if<Attribute::Bodies>(&attribute.value);
    if (bodies != nullptr && attribute.name == name && bodies->size() == 1) return bodies->data();
  }
  return nullptr;
}

std::optional<double> number_in(const Value* value) {
  if (value == nullptr || !value->values || value->values->size() != 1) return std::nullopt;
  return value->values->front();
}

bool is_wanted(const Node& node, std::size_t output, const Scope& scope) {
  return output < node.outputs.size() && scope.is_read(node.outputs[output]);
}

/// Which outputs of a body are asked for: its first `always`, and those of the node that something reads.
std::vector<bool> wanted_outputs(const Node& node, const Graph& body, std::size_t hidden,
                                 std::size_t always, const Scope& scope) {
  std::vector<bool> wanted(std::max<std::size_t>(body.outputs.size(), 1), false);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = i < always || (i >= hidden && is_wanted(node, i - hidden, scope));
  }
  return wanted;
}

/// An output that nothing asked for may not have been computed.
Value value_of(const Scope& scope, const std::string& name) {
  const Value* found = scope.find(name);
  return found == nullptr ? Value{} : *found;
}

}  // namespace

void Importer::enter(const Graph& graph) {
  if (depth_ == kDeepestScope) {
    throw Refused(
        fmt::format("bodies and functions lie in each other, more than {} deep", kDeepestScope));
  }
  const auto [known, added] = work_of_.try_emplace(&graph, 0);
  if (added) known->second = work_of(graph);
  work_ += known->second;
  if (work_ > kMostWork) {
    throw Refused(
        fmt::format("more than {:.0f} operations once functions are written out", kMostWork));
  }
}

double Importer::cost_since(std::size_t first) const {
  double cost = 0;
  for (std::size_t i = first; i < staged_.size(); ++i) {
    const Operation& op = staged_[i].operation;
    const double elements =
        op.kind == OperationKind::kView ? 0 : static_cast<double>(elements_or_none(op.output));
    cost += op.repeats * (op.multiply_adds + elements);
  }
  return cost;
}

bool Importer::add_control_flow(const Node& node, const Inputs& inputs, Scope& scope) {
  if (node.operation == "If") return add_choice(node, inputs, scope);
  if (node.operation == "Loop") return add_loop(node, inputs, scope);
  if (node.operation == "Scan") return add_scan(node, inputs, scope);
  return false;
}

bool Importer::add_choice(const Node& node, const Inputs& inputs, Scope& scope) {
  const Graph* const branches[]{body_of(node, "then_branch"), body_of(node, "else_branch")};
  for (const Graph* branch : branches) {
    if (branch == nullptr || branch->outputs.size() < node.outputs.size()) return false;
  }
  struct Outcome {
    double cost = -1;  ///< below 0: it contradicts itself
    std::vector<Staged> operations;
    std::vector<ConstantList::Change> claims;
    std::vector<Value> outputs;
    std::string error;
  };
  const std::size_t first = staged_.size();
  const auto run = [&](const Graph& branch) {
    Outcome outcome;
    const std::size_t mark = constants_.mark();
    enter(branch);
    try {
      const Inside inside(*this);
      Scope inner(branch, wanted_outputs(node, branch, 0, 0, scope), &scope);
      add_initialisers(inner);
      add_nodes(inner);
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const std::string& name = branch.outputs[i].name;
        if (is_wanted(node, i, scope) && inner.find(name) == nullptr) {
          throw std::invalid_argument("output " + in_quotes(name) + " is written by nothing");
        }
        outcome.outputs.push_back(value_of(inner, name));
      }
      outcome.cost = cost_since(first);
    } catch (const Refused&) {
      throw;
    } catch (const std::invalid_argument& e) {
      outcome.error = e.what();
    }
    const auto begin = staged_.begin() + static_cast<std::ptrdiff_t>(first);
    outcome.operations.assign(std::make_move_iterator(begin),
                              std::make_move_iterator(staged_.end()));
    staged_.erase(begin, staged_.end());
    outcome.claims = constants_.roll_back(mark);
    return outcome;
  };
  const std::optional<double> condition = number_in(inputs.empty() ? nullptr : inputs[0]);
  Outcome taken;
  if (condition) {
    taken = run(*branches[*condition != 0 ? 0 : 1]);
  } else {
    taken = run(*branches[0]);
    Outcome other = run(*branches[1]);
    if ((taken.cost < 0) != (other.cost < 0)) {
      note("a branch of " + in_quotes(node.name) +
           " does not fit its inputs; the other one counts");
    }
    if (other.cost > taken.cost) std::swap(taken, other);
    for (std::size_t i = 0; i < taken.outputs.size(); ++i) {
      Value& output = taken.outputs[i];
      output.values.reset();
      const bool same = other.cost >= 0 && other.outputs[i].shape == output.shape;
      output.derived = output.derived && same;
    }
  }
  if (taken.cost < 0) throw Located(taken.error);
  std::ranges::move(taken.operations, std::back_inserter(staged_));
  constants_.repeat(taken.claims);
  keep(node, taken.outputs, scope);
  return true;
}

Value Importer::state_at_start(const Value& value, const Cycle& cycle, std::size_t state,
                               const std::string& name) {
  const std::string& formal = cycle.body.inputs[cycle.first_input + state].name;
  const std::string& written = cycle.body.outputs[cycle.first_output + state].name;
  const bool handed_on =
      written == formal || std::ranges::any_of(cycle.body.nodes, [&](const Node& node) {
        return node.operation == "Identity" && node.inputs == std::vector{formal} &&
               node.outputs == std::vector{written};
      });
  Value start = value;
  if (handed_on || !value.constant) return start;
  constants_.claim(*value.constant, Use::kBuffer);
  start.constant.reset();
  start.values.reset();
  if (elements_or_none(value.shape) == 0) return start;
  Operation copy;
  copy.name = name;
  copy.kind = OperationKind::kCopy;
  copy.output = value.shape;
  copy.bytes_per_element = bytes_of_element(value.type);
  start.node = emit(std::move(copy), {});
  return start;
}

void Importer::run_cycle(const Node& node, const Cycle& cycle,
                         const std::vector<const Value*>& starts,
                         const std::function<void(Scope&)>& bind, Scope& scope) {
  std::vector<Value> outputs(node.outputs.size());
  const double trips = cycle.trips.value_or(1);
  if (trips == 0) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (i < starts.size()) {
        outputs[i] = *starts[i];
      } else {
        outputs[i].shape = stated_shape(node.outputs[i], scope).value_or(Shape{0});
      }
    }
    keep(node, outputs, scope);
    return;
  }
  std::vector<Value> first;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    first.push_back(state_at_start(*starts[i], cycle, i, node.name));
  }
  enter(cycle.body);
  const std::size_t staged = staged_.size();
  Scope inner(cycle.body,
              wanted_outputs(node, cycle.body, cycle.first_output,
                             cycle.first_output + starts.size(), scope),
              &scope);
  {
    const Inside inside(*this);
    repeats_ *= trips;
    add_initialisers(inner);
    for (std::size_t i = 0; i < first.size(); ++i) {
      inner.bind(cycle.body.inputs[cycle.first_input + i].name, first[i]);
    }
    bind(inner);
    add_nodes(inner);
  }
  // A condition that is false after the first trip.
  const bool ends = cycle.first_output > 0 &&
                    number_in(inner.find(cycle.body.outputs[0].name)) == std::optional(0.0);
  for (std::size_t i = staged; ends && i < staged_.size(); ++i) {
    staged_[i].operation.repeats /= trips;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = cycle.body.outputs[cycle.first_output + i].name;
    const Value* found = inner.find(name);
    if (found == nullptr && (i < starts.size() || is_wanted(node, i, scope))) {
      throw std::invalid_argument("output " + in_quotes(name) + " is written by nothing");
    }
    if (found == nullptr) continue;
    outputs[i] = *found;
    if (i < starts.size()) {
      if (found->shape == first[i].shape || trips == 1) continue;
      // It grows or shrinks with each trip.
      const auto stated = stated_shape(node.outputs[i], scope);
      outputs[i].shape = stated.value_or(found->shape);
      outputs[i].guessed = !stated;
      outputs[i].derived = false;
    } else if (is_wanted(node, i, scope)) {
      outputs[i] = stack_of(node, i, *found, cycle, ends ? 1 : trips, scope);
    }
  }
  keep(node, outputs, scope);
}

Value Importer::stack_of(const Node& node, std::size_t output, const Value& of_trip,
                         const Cycle& cycle, double trips, const Scope& scope) {
  Value all = of_trip;
  const std::size_t place = output - cycle.states;
  const std::int64_t axis = place < cycle.stack_axes.size() ? cycle.stack_axes[place] : 0;
  all.shape.insert(
      all.shape.begin() + static_cast<std::ptrdiff_t>(dimension_of(axis, of_trip.shape.size() + 1)),
      static_cast<std::int64_t>(trips));
  if (!cycle.trips) {
    const auto stated = stated_shape(node.outputs[output], scope);
    if (stated) all.shape = *stated;
    all.guessed = !stated;
    all.derived = false;
  }
  if (all.constant) constants_.claim(*all.constant, Use::kBuffer);
  all.constant.reset();
  all.values.reset();
  all.node.reset();
  if (elements_or_none(all.shape) == 0) return all;
  Operation copy;
  copy.name = node.name;
  copy.kind = OperationKind::kCopy;
  copy.output = all.shape;
  copy.bytes_per_element = bytes_of_element(all.type);
  std::vector<GraphNode> from;
  if (of_trip.node) from.push_back(*of_trip.node);
  all.node = emit(std::move(copy), std::move(from));
  return all;
}

bool Importer::add_loop(const Node& node, const Inputs& inputs, Scope& scope) {
  const Graph* body = body_of(node, "body");
  const std::size_t states = node.inputs.size() < 2 ? 0 : node.inputs.size() - 2;
  if (body == nullptr || body->inputs.size() != 2 + states || body->outputs.size() < 1 + states ||
      node.outputs.size() + 1 > body->outputs.size()) {
    return false;
  }
  const auto input = [&](std::size_t i) { return i < node.inputs.size() ? inputs[i] : nullptr; };
  Cycle cycle{*body, 2, 1, states, number_in(input(0)), {}};
  if (cycle.trips) cycle.trips = std::max(0.0, std::trunc(*cycle.trips));
  if (cycle.trips && *cycle.trips > kMostTrips) cycle.trips.reset();
  if (number_in(input(1)) == std::optional(0.0)) cycle.trips = 0;
  if (!cycle.trips) {
    note("the number of trips is not known; the body counts once: Loop " + in_quotes(node.name));
  }
  std::vector<const Value*> starts;
  for (std::size_t i = 0; i < states; ++i) {
    starts.push_back(inputs[2 + i]);
    if (starts.back() == nullptr) return false;
  }
  run_cycle(
      node, cycle, starts,
      [&](Scope& inner) {
        for (const std::size_t i : {0, 1}) {  // the trip, the condition
          const Statement& formal = body->inputs[i];
          Value& value = inner.define(formal.name);
          value.type = i == 0 ? kInt64 : kBool;
          value.shape = sizes_.of(formal).value_or(Shape{});
        }
      },
      scope);
  return true;
}

bool Importer::add_scan(const Node& node, const Inputs& inputs, Scope& scope) {
  const Graph* body = body_of(node, "body");
  const Call call = call_of(node, inputs);
  const std::int64_t sequences = call.number("num_scan_inputs", 0);
  const auto given = static_cast<std::int64_t>(node.inputs.size());
  if (body == nullptr || node.operator_set < 9 || sequences < 1 || sequences > given ||
      body->inputs.size() != node.inputs.size() ||
      std::any_of(inputs.begin(), inputs.end(), [](const Value* v) { return v == nullptr; })) {
    return false;
  }
  const auto states = static_cast<std::size_t>(given - sequences);
  if (body->outputs.size() < std::max(states, node.outputs.size())) return false;
  const std::vector<std::int64_t> axes = call.numbers("scan_input_axes");
  Cycle cycle{*body, 0, 0, states, {}, call.numbers("scan_output_axes")};
  std::vector<Value> slices;
  for (std::size_t i = states; i < node.inputs.size(); ++i) {
    Value slice = *inputs[i];
    const std::int64_t asked = i - states < axes.size() ? axes[i - states] : 0;
    const std::size_t axis = dimension_of(asked, slice.shape.size());
    const auto trips = static_cast<double>(slice.shape[axis]);
    if (cycle.trips && *cycle.trips != trips) {
      throw std::invalid_argument(fmt::format("sequences of {} and of {}", *cycle.trips, trips));
    }
    cycle.trips = trips;
    slice.shape.erase(slice.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    slice.values.reset();
    slices.push_back(std::move(slice));
  }
  run_cycle(
      node, cycle, {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(states)},
      [&](Scope& inner) {
        for (std::size_t i = 0; i < slices.size(); ++i) {
          Value& slice = inner.bind(body->inputs[states + i].name, slices[i]);
          if (!slice.node) continue;
          Operation copy;
          copy.name = node.name;
          copy.kind = OperationKind::kCopy;
          copy.output = slice.shape;
          copy.bytes_per_element = bytes_of_element(slice.type);
          // Not of the whole sequence: that would be read in each trip.
          slice.node = emit(std::move(copy), {});
        }
      },
      scope);
  return true;
}

void Importer::add_call(const Node& node, const Function& function, const Inputs& inputs,
                        Scope& scope) {
  const Graph& body = function.body;
  if (std::ranges::find(calls_, &function) != calls_.end()) {
    throw Refused(
        fmt::format("function {} calls itself; an ONNX function may not", node.operation));
  }
  if (node.inputs.size() > body.inputs.size() || node.outputs.size() > body.outputs.size()) {
    throw std::invalid_argument(fmt::format("{} inputs and {} outputs; the function has {} and {}",
                                            node.inputs.size(), node.outputs.size(),
                                            body.inputs.size(), body.outputs.size()));
  }
  enter(body);
  const Inside inside(*this);
  calls_.push_back(&function);
  Scope inner(body, wanted_outputs(node, body, 0, 0, scope), nullptr);
  inner.arguments = &node.attributes;
  inner.defaults = &function.defaults;
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    const std::string& formal = body.inputs[i].name;
    if (i < node.inputs.size() && inputs[i] != nullptr) {
      inner.bind(formal, *inputs[i]);
    } else {
      inner.leave_out(formal);
    }
  }
  add_nodes(inner);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const std::string& name = body.outputs[i].name;
    const Value* found = inner.find(name);
    if (found == nullptr && is_wanted(node, i, scope)) {
      throw std::invalid_argument("output " + in_quotes(name) + " is written by nothing");
    }
    if (found != nullptr) {
      scope.bind(node.outputs[i], *found);
    } else {
      scope.define(node.outputs[i]);
    }
  }
}

}  // namespace corun::inline predictors::onnx_file
