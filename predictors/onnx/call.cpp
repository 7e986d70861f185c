#include "predictors/onnx/call.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace corun::inline predictors::onnx_file {

std::int64_t whole(double value) {
  constexpr double kLimit = 1152921504606846976.0;  // 2^60
  if (std::isnan(value)) return 0;
  return static_cast<std::int64_t>(std::clamp(value, -kLimit, kLimit));
}

const Argument& Call::input(std::size_t index) const {
  if (!has(index)) {
    throw std::invalid_argument(fmt::format(
        "{} inputs; input {} is missing",
        std::count_if(inputs_.begin(), inputs_.end(), [](const auto& i) { return i.has_value(); }),
        index + 1));
  }
  return *inputs_[index];
}

std::optional<std::vector<std::int64_t>> Call::whole_numbers(std::size_t index) const {
  const Argument& argument = input(index);
  if (argument.values == nullptr) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const double value : *argument.values) result.push_back(whole(value));
  return result;
}

const Attribute* Call::find(std::string_view name) const {
  for (const Attribute& attribute : node_.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

template <typename T>
const T* Call::find_value(std::string_view name, const char* expected) const {
  const Attribute* attribute = find(name);
  if (attribute == nullptr) return nullptr;
  const T* value = std::get_if<T>(&attribute->value);
  if (value == nullptr) {
    throw std::invalid_argument(
        fmt::format("attribute '{}' has another type; {} was expected", name, expected));
  }
  return value;
}

std::int64_t Call::number(std::string_view name, std::int64_t otherwise) const {
  const auto* value = find_value<std::int64_t>(name, "a whole number");
  return value == nullptr ? otherwise : *value;
}

double Call::real(std::string_view name, double otherwise) const {
  const auto* value = find_value<double>(name, "a number");
  return value == nullptr ? otherwise : *value;
}

std::string Call::text(std::string_view name, std::string_view otherwise) const {
  const auto* value = find_value<std::string>(name, "a text");
  return value == nullptr ? std::string(otherwise) : *value;
}

std::vector<std::int64_t> Call::numbers(std::string_view name) const {
  const auto* value = find_value<std::vector<std::int64_t>>(name, "a list of whole numbers");
  return value == nullptr ? std::vector<std::int64_t>() : *value;
}

std::vector<double> Call::reals(std::string_view name) const {
  const auto* value = find_value<std::vector<double>>(name, "a list of numbers");
  return value == nullptr ? std::vector<double>() : *value;
}

std::vector<std::int64_t> Call::lengths(std::string_view name, std::size_t count,
                                        std::int64_t least, std::int64_t otherwise) const {
  std::vector<std::int64_t> given = numbers(name);
  if (given.empty()) return std::vector<std::int64_t>(count, otherwise);
  if (given.size() != count) {
    throw std::invalid_argument(
        fmt::format("attribute '{}' has {} numbers; {} were expected", name, given.size(), count));
  }
  for (const std::int64_t length : given) {
    if (length < least || length > kLongest) {
      throw std::invalid_argument(fmt::format("attribute '{}' has {}; {} to {} was expected", name,
                                              length, least, kLongest));
    }
  }
  return given;
}

std::optional<std::vector<std::int64_t>> Call::numbers_or_input(std::string_view name,
                                                                std::size_t index) const {
  if (has(index)) return whole_numbers(index);
  return numbers(name);
}

std::size_t Call::axis(std::int64_t otherwise, std::size_t rank) const {
  return dimension_of(number("axis", otherwise), rank);
}

std::size_t dimension_of(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) {
    throw std::invalid_argument(
        fmt::format("dimension {} of a tensor with {} dimensions", axis, rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::int64_t elements_or_none(const Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end() ? 0 : elements_of(shape);
}

std::optional<std::vector<Stretch>> stretches_of(const Call& call) {
  const Shape& from = call.shape(0);
  const auto starts = call.numbers_or_input("starts", 1);
  const auto ends = call.numbers_or_input("ends", 2);
  auto axes = call.numbers_or_input("axes", 3);
  const auto steps = call.has(4) ? call.whole_numbers(4) : std::vector<std::int64_t>();
  if (!starts || !ends || !axes || !steps) return std::nullopt;
  if (axes->empty()) {
    for (std::size_t i = 0; i < starts->size(); ++i) {
      axes->push_back(static_cast<std::int64_t>(i));
    }
  }
  if (ends->size() != starts->size() || axes->size() != starts->size() ||
      (!steps->empty() && steps->size() != starts->size())) {
    throw std::invalid_argument(
        fmt::format("{} starts, {} ends, {} axes", starts->size(), ends->size(), axes->size()));
  }
  std::vector<Stretch> result;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    Stretch stretch{dimension_of((*axes)[i], from.size()), 0, steps->empty() ? 1 : (*steps)[i], 0};
    const std::int64_t size = from[stretch.dimension];
    const bool back = stretch.step < 0;
    if (stretch.step == 0) throw std::invalid_argument("a slice with a step of 0");
    const auto position = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
      if (at < 0) at = std::max<std::int64_t>(at, -whole(INFINITY)) + size;
      return std::clamp(at, least, most);
    };
    if (size == 0) {
      result.push_back(stretch);
      continue;
    }
    stretch.first = position((*starts)[i], 0, back ? size - 1 : size);
    const std::int64_t end = position((*ends)[i], back ? -1 : 0, back ? size - 1 : size);
    const std::int64_t span = back ? stretch.first - end : end - stretch.first;
    // A step beyond the tensor takes one element.
    stretch.step = std::clamp(stretch.step, -size, size);
    const std::int64_t step = std::abs(stretch.step);
    stretch.count = span > 0 ? (span + step - 1) / step : 0;
    result.push_back(stretch);
  }
  return result;
}

}  // namespace corun::inline predictors::onnx_file
