#include "support/yaml_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline support {
namespace {

using Kind = YamlNode::Kind;

enum class NumberShape : std::uint8_t { kNone, kWhole, kDecimal };

/// Accepts -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? only, which every reader of YAML or JSON
/// reads as the same number.
NumberShape shape_of(std::string_view text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t first = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - first;
  };
  if (i < text.size() && text[i] == '-') ++i;
  const bool zero = i < text.size() && text[i] == '0';
  const std::size_t before = digits();
  if (before == 0 || (zero && before > 1)) return NumberShape::kNone;
  if (i == text.size()) return NumberShape::kWhole;
  if (text[i] == '.') {
    ++i;
    if (digits() == 0) return NumberShape::kNone;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return NumberShape::kNone;
  }
  return i == text.size() ? NumberShape::kDecimal : NumberShape::kNone;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The advice for a text that should be a number; begins with "; " unless empty.
std::string number_hint(const YamlNode& node) {
  if (node.kind != Kind::kScalar) return "";
  if (node.quoted) return "; write the number without quotes";
  std::string text = lower_case(node.text);
  if (text.empty()) return "";
  if (text[0] == '+') return "; write it without '+'";
  if (text[0] == '-') text.erase(0, 1);
  if (text == ".nan" || text == "nan" || text == ".inf" || text == "inf" || text == "infinity") {
    return "; it must be finite";
  }
  if (text.size() < 2 || (!is_digit(text[0]) && text[0] != '.')) return "";
  if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o' || text[1] == 'b')) {
    return "; write it in decimal";
  }
  if (text.find('_') != std::string::npos) return "; write it without underscores";
  if (text[0] == '0' && is_digit(text[1])) return "; write it without leading zeros";
  if (text[0] == '.' || text.back() == '.') return "; write a digit on both sides of the point";
  if (text.find(',') != std::string::npos) return "; write a point, and nothing between thousands";
  if (text.find_first_not_of("0123456789.e+-") != std::string::npos) {
    return "; write the number alone, its unit is the end of the key";
  }
  return "";
}

template <typename T>
std::string range_text(const Within<T>& range) {
  if constexpr (std::is_floating_point_v<T>) {
    const bool low = std::isfinite(range.min);
    const bool high = std::isfinite(range.max);
    if (!low && !high) return "";
    if (!high) return fmt::format(" of at least {}", range.min);
    if (!low) return fmt::format(" of at most {}", range.max);
  }
  return fmt::format(" from {} to {}", range.min, range.max);
}

bool is_flag(std::string_view text) { return text == "true" || text == "false"; }

}  // namespace

void YamlValue::refuse(const std::string& expected) const {
  throw InputError(node.place(),
                   fmt::format("{}: found {}, expected {}", key, node.description(), expected));
}

template <typename T>
std::string number_text(const Within<T>& range) {
  return fmt::format("a {}{}", std::is_integral_v<T> ? "whole number" : "number",
                     range_text(range));
}

template <typename T>
T read_number(const YamlValue& at, const Within<T>& range, const std::string& or_else) {
  constexpr bool is_whole = std::is_integral_v<T>;
  const std::string expected = number_text(range) + or_else;
  const YamlNode& node = at.node;
  if (node.kind != Kind::kScalar || node.quoted) at.refuse(expected + number_hint(node));
  const NumberShape shape = shape_of(node.text);
  if (shape == NumberShape::kNone) at.refuse(expected + number_hint(node));
  if (is_whole && shape != NumberShape::kWhole) {
    at.refuse(expected + "; write it without decimals and exponent");
  }
  // from_chars refuses "-0" for an unsigned number.
  std::string_view text = node.text;
  if (is_whole && text == "-0") text = "0";
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) at.refuse(expected + "; it does not fit");
  // The shape is right, so this is a negative number for an unsigned type.
  if (error != std::errc() || end != text.data() + text.size()) at.refuse(expected);
  if (!(value >= range.min && value <= range.max)) at.refuse(expected);
  if constexpr (!is_whole) value += 0.0;  // -0.0 becomes 0.0
  return value;
}

template std::string number_text(const Within<double>&);
template std::string number_text(const Within<std::int64_t>&);
template std::string number_text(const Within<std::uint64_t>&);
template double read_number(const YamlValue&, const Within<double>&, const std::string&);
template std::int64_t read_number(const YamlValue&, const Within<std::int64_t>&,
                                  const std::string&);
template std::uint64_t read_number(const YamlValue&, const Within<std::uint64_t>&,
                                   const std::string&);

std::string read_text(const YamlValue& at, const std::string& or_else) {
  const YamlNode& node = at.node;
  const std::string expected = "text" + or_else;
  if (node.kind != Kind::kScalar) at.refuse(expected);
  if (node.text.empty()) at.refuse(expected + " that is not empty");
  if (!node.quoted && (shape_of(node.text) != NumberShape::kNone || is_flag(node.text))) {
    at.refuse(expected + "; put it in quotes if it is meant");
  }
  return node.text;
}

std::string choice_text(std::span<const std::string_view> words) {
  return fmt::format("one of {}", fmt::join(words, ", "));
}

std::string read_choice(const YamlValue& at, std::span<const std::string_view> words,
                        const std::string& or_else) {
  const std::string expected = choice_text(words) + or_else;
  if (at.node.kind != Kind::kScalar) at.refuse(expected);
  if (std::find(words.begin(), words.end(), at.node.text) == words.end()) {
    const std::string_view near = nearest(at.node.text, words);
    at.refuse(near.empty() ? expected : fmt::format("{}; did you mean '{}'?", expected, near));
  }
  return at.node.text;
}

bool read_flag(const YamlValue& at) {
  const YamlNode& node = at.node;
  if (node.kind == Kind::kScalar && !node.quoted && is_flag(node.text)) return node.text == "true";
  std::string hint;
  if (node.kind == Kind::kScalar) {
    const std::string text = lower_case(node.text);
    if (text == "true" || text == "yes" || text == "on") hint = "; write true";
    if (text == "false" || text == "no" || text == "off") hint = "; write false";
  }
  at.refuse("true or false" + hint);
}

}  // namespace corun::inline support
