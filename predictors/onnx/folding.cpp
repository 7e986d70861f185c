#include "predictors/onnx/folding.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "sim/base/math.hpp"

namespace corun::inline predictors::onnx_file {

namespace {

using Values = std::vector<double>;

double truth(bool value) { return value ? 1 : 0; }

using Binary = double (*)(double, double);
using Unary = double (*)(double);

Binary binary_of(std::string_view name, bool whole_numbers) {
  static const std::unordered_map<std::string_view, Binary> table{
      {"Add", [](double a, double b) { return a + b; }},
      {"Sum", [](double a, double b) { return a + b; }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Div", [](double a, double b) { return a / b; }},
      {"Mod", [](double a, double b) { return a - b * std::floor(a / b); }},
      {"Pow", [](double a, double b) { return std::pow(a, b); }},
      {"Min", [](double a, double b) { return std::min(a, b); }},
      {"Max", [](double a, double b) { return std::max(a, b); }},
      {"Equal", [](double a, double b) { return truth(a == b); }},
      {"Greater", [](double a, double b) { return truth(a > b); }},
      {"Less", [](double a, double b) { return truth(a < b); }},
      {"GreaterOrEqual", [](double a, double b) { return truth(a >= b); }},
      {"LessOrEqual", [](double a, double b) { return truth(a <= b); }},
      {"And", [](double a, double b) { return truth(a != 0 && b != 0); }},
      {"Or", [](double a, double b) { return truth(a != 0 || b != 0); }},
      {"Xor", [](double a, double b) { return truth((a != 0) != (b != 0)); }},
  };
  if (name == "Div" && whole_numbers) return [](double a, double b) { return std::trunc(a / b); };
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

Unary unary_of(std::string_view name) {
  static const std::unordered_map<std::string_view, Unary> table{
      {"Neg", [](double a) { return -a; }},
      {"Abs", [](double a) { return std::abs(a); }},
      {"Floor", [](double a) { return std::floor(a); }},
      {"Ceil", [](double a) { return std::ceil(a); }},
      {"Round", [](double a) { return std::nearbyint(a); }},
      {"Sqrt", [](double a) { return std::sqrt(a); }},
      {"Exp", [](double a) { return math::exp(a); }},
      {"Log", [](double a) { return math::log(a); }},
      {"Reciprocal", [](double a) { return 1 / a; }},
      {"Not", [](double a) { return truth(a == 0); }},
      {"Sign", [](double a) { return truth(a > 0) - truth(a < 0); }},
  };
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

/// Distances between neighbours along each dimension; 0 along those of one element, which are stretched.
std::vector<std::size_t> strides_of(const Shape& shape) {
  std::vector<std::size_t> strides(shape.size());
  std::size_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = shape[i] == 1 ? 0 : stride;
    stride *= static_cast<std::size_t>(shape[i]);
  }
  return strides;
}

/// Calls visit(output element, its position) for all elements of `shape` in their order.
template <typename Visit>
void for_each_position(const Shape& shape, Visit visit) {
  std::vector<std::size_t> position(shape.size(), 0);
  const auto elements = static_cast<std::size_t>(elements_or_none(shape));
  for (std::size_t element = 0; element < elements; ++element) {
    visit(element, position);
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++position[i] < static_cast<std::size_t>(shape[i])) break;
      position[i] = 0;
    }
  }
}

/// `input` stretched to `shape`.
Values stretched_values(const Argument& input, const Shape& shape) {
  const std::vector<std::size_t> strides = strides_of(input.shape);
  const std::size_t offset = shape.size() - input.shape.size();
  Values result;
  for_each_position(shape, [&](std::size_t, const std::vector<std::size_t>& position) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < strides.size(); ++i) at += strides[i] * position[offset + i];
    result.push_back((*input.values)[at]);
  });
  return result;
}

Values fold_binary(const Call& call, Binary apply, const Shape& shape) {
  Values result = stretched_values(call.input(0), shape);
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    const Values other = stretched_values(call.input(i), shape);
    std::transform(result.begin(), result.end(), other.begin(), result.begin(), apply);
  }
  return result;
}

Values fold_choice(const Call& call, const Shape& shape) {
  const Values condition = stretched_values(call.input(0), shape);
  Values result = stretched_values(call.input(1), shape);
  const Values otherwise = stretched_values(call.input(2), shape);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (condition[i] == 0) result[i] = otherwise[i];
  }
  return result;
}

/// Elements along one dimension and those of all dimensions before and behind it.
struct Around {
  std::size_t before = 1, along = 1, behind = 1;
};

Around around(const Shape& shape, std::size_t axis) {
  Around result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::size_t& count = i < axis ? result.before : i == axis ? result.along : result.behind;
    count *= static_cast<std::size_t>(shape[i]);
  }
  return result;
}

Values fold_concatenation(const Call& call, std::size_t axis) {
  Values result;
  const std::size_t before = around(call.shape(0), axis).before;
  for (std::size_t outer = 0; outer < before; ++outer) {
    for (std::size_t i = 0; i < call.inputs(); ++i) {
      const Around part = around(call.shape(i), axis);
      const auto first = call.input(i).values->begin() +
                         static_cast<std::ptrdiff_t>(outer * part.along * part.behind);
      result.insert(result.end(), first,
                    first + static_cast<std::ptrdiff_t>(part.along * part.behind));
    }
  }
  return result;
}

/// Takes positions along one dimension.
std::optional<Values> taken(const Argument& from, std::size_t axis, const Values& positions) {
  const Around part = around(from.shape, axis);
  Values result;
  for (std::size_t outer = 0; outer < part.before; ++outer) {
    for (const double value : positions) {
      const std::int64_t size = from.shape[axis];
      const std::int64_t position = whole(value) < 0 ? whole(value) + size : whole(value);
      if (position < 0 || position >= size) return std::nullopt;
      const std::size_t first =
          (outer * part.along + static_cast<std::size_t>(position)) * part.behind;
      for (std::size_t i = 0; i < part.behind; ++i) result.push_back((*from.values)[first + i]);
    }
  }
  return result;
}

std::optional<Values> fold_slice(const Call& call) {
  const auto stretches = stretches_of(call);
  if (!stretches) return std::nullopt;
  Argument part = call.input(0);
  Values values = *part.values;
  for (const Stretch& stretch : *stretches) {
    Values positions;
    for (std::int64_t i = 0; i < stretch.count; ++i) {
      positions.push_back(static_cast<double>(stretch.first + i * stretch.step));
    }
    part.values = &values;
    auto next = taken(part, stretch.dimension, positions);
    if (!next) return std::nullopt;
    part.shape[stretch.dimension] = stretch.count;
    values = std::move(*next);
  }
  return values;
}

std::optional<Values> fold_split(const Call& call, std::size_t output, const Shape& shape) {
  const std::size_t axis = call.axis(0, shape.size());
  const auto sizes = call.numbers_or_input("split", 1);
  std::int64_t first = 0;
  if (sizes && sizes->size() > output) {
    for (std::size_t i = 0; i < output; ++i) first += (*sizes)[i];
  } else {
    const auto parts = static_cast<std::int64_t>(call.outputs());
    first = static_cast<std::int64_t>(output) * ((call.shape(0)[axis] + parts - 1) / parts);
  }
  Values positions;
  for (std::int64_t i = 0; i < shape[axis]; ++i)
    positions.push_back(static_cast<double>(first + i));
  return taken(call.input(0), axis, positions);
}

Values fold_transpose(const Call& call, const Shape& shape) {
  const Argument& from = call.input(0);
  const std::vector<std::size_t> strides = strides_of(from.shape);
  const std::vector<std::int64_t> order = call.numbers("perm");
  Values result;
  for_each_position(shape, [&](std::size_t, const std::vector<std::size_t>& position) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::size_t dimension =
          order.empty() ? shape.size() - 1 - i : static_cast<std::size_t>(order[i]);
      at += strides[dimension] * position[i];
    }
    result.push_back((*from.values)[at]);
  });
  return result;
}

/// Over all elements.
std::optional<Values> fold_reduction(const Call& call, const Shape& shape) {
  const std::string& name = call.node().operation;
  const Values& from = *call.input(0).values;
  if (elements_or_none(shape) != 1 || from.empty()) return std::nullopt;
  if (name == "ReduceProd") {
    return Values{std::accumulate(from.begin(), from.end(), 1.0, std::multiplies<>())};
  }
  if (name == "ReduceSum") return Values{std::accumulate(from.begin(), from.end(), 0.0)};
  if (name == "ReduceMax") return Values{*std::max_element(from.begin(), from.end())};
  if (name == "ReduceMin") return Values{*std::min_element(from.begin(), from.end())};
  return std::nullopt;
}

Values fold_cast(const Call& call) {
  Values result = *call.input(0).values;
  const auto to = static_cast<int>(call.number("to", kFloat));
  for (double& value : result) {
    if (to == kBool) {
      value = truth(value != 0);
    } else if (!is_floating(to)) {
      value = std::trunc(value);
    }
  }
  return result;
}

std::optional<Values> values_of_constant(const Call& call) {
  for (const Attribute& attribute : call.node().attributes) {
    const auto& value = attribute.value;
    if (const auto* tensor = std::get_if<Tensor>(&value)) return tensor->values;
    if (const auto* v = std::get_if<std::int64_t>(&value)) return Values{static_cast<double>(*v)};
    if (const auto* v = std::get_if<double>(&value)) return Values{*v};
    if (const auto* v = std::get_if<Values>(&value)) return *v;
    if (const auto* v = std::get_if<std::vector<std::int64_t>>(&value)) {
      return Values(v->begin(), v->end());
    }
  }
  return std::nullopt;
}

std::optional<Values> fold_shape(const Call& call) {
  const Shape& from = call.shape(0);
  const auto rank = static_cast<std::int64_t>(from.size());
  std::int64_t first = std::max(call.number("start", 0), -rank);
  if (first < 0) first += rank;
  Values result;
  for (std::int64_t i = first; i < rank; ++i) {
    result.push_back(static_cast<double>(from[static_cast<std::size_t>(i)]));
  }
  return result;
}

/// Operators whose inputs' values do not matter.
std::optional<Values> fold_without_values(const Call& call, const Shape& shape) {
  const std::string& name = call.node().operation;
  if (name == "Constant") return values_of_constant(call);
  if (name == "Shape") {
    std::optional<Values> all = fold_shape(call);
    all->resize(static_cast<std::size_t>(elements_or_none(shape)));
    return all;
  }
  if (name == "Size") return Values{static_cast<double>(elements_or_none(call.shape(0)))};
  return std::nullopt;
}

std::optional<Values> fold_values(const Call& call, std::size_t output, const Shape& shape) {
  const std::string& name = call.node().operation;
  const Values& first = *call.input(0).values;
  if (name == "Identity" || name == "Reshape" || name == "Flatten" || name == "Squeeze" ||
      name == "Unsqueeze") {
    return first;
  }
  if (name == "Cast") return fold_cast(call);
  if (name == "Concat") return fold_concatenation(call, call.axis(1, shape.size()));
  if (name == "Gather") {
    return taken(call.input(0), call.axis(0, call.shape(0).size()), *call.input(1).values);
  }
  if (name == "Slice") return fold_slice(call);
  if (name == "Split") return fold_split(call, output, shape);
  if (name == "Transpose") return fold_transpose(call, shape);
  if (name == "Expand") return stretched_values(call.input(0), shape);
  if (name == "Where") return fold_choice(call, shape);
  if (name == "ConstantOfShape") {
    const Attribute* value = call.find("value");
    const auto* tensor = value == nullptr ? nullptr : std::get_if<Tensor>(&value->value);
    const bool known = tensor != nullptr && tensor->values && tensor->values->size() == 1;
    return Values(static_cast<std::size_t>(elements_or_none(shape)),
                  known ? tensor->values->front() : 0);
  }
  if (name == "Range") {
    Values result;
    for (std::int64_t i = 0; i < shape.at(0); ++i) {
      result.push_back(first.at(0) + static_cast<double>(i) * call.input(2).values->at(0));
    }
    return result;
  }
  if (const Binary apply = binary_of(name, !is_floating(call.input(0).type))) {
    if (call.operator_set() < 7 && call.find("axis") != nullptr) return std::nullopt;
    return fold_binary(call, apply, shape);
  }
  if (const Unary apply = unary_of(name)) {
    Values result = first;
    std::transform(result.begin(), result.end(), result.begin(), apply);
    return result;
  }
  return fold_reduction(call, shape);
}

}  // namespace

std::optional<std::vector<double>> fold(const Call& call, std::size_t output, const Shape& shape) {
  if (elements_or_none(shape) > kMostValues) return std::nullopt;
  std::optional<Values> values = fold_without_values(call, shape);
  if (!values) {
    for (std::size_t i = 0; i < call.inputs(); ++i) {
      if (!call.has(i) || call.input(i).values == nullptr) return std::nullopt;
    }
    if (call.inputs() == 0) return std::nullopt;
    if (elements_or_none(shape) == 0) return Values();
    values = fold_values(call, output, shape);
  }
  // The shape is the authority: numbers that do not fill it are no values.
  if (values && values->size() != static_cast<std::size_t>(elements_or_none(shape))) {
    return std::nullopt;
  }
  return values;
}

}  // namespace corun::inline predictors::onnx_file
