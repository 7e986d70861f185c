#include "models/model_state.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <type_traits>

#include "sim/base/text.hpp"

namespace corun::inline models::model_state {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

std::string in_quotes(const char* key) { return std::string("'") + key + "'"; }

template <typename Value>
using Bits = std::conditional_t<sizeof(Value) == 8, std::uint64_t, std::uint32_t>;

template <typename Value>
Json pack(const std::vector<Value>& values) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(values.size() * sizeof(Value));
  for (const Value value : values) {
    auto bits = std::bit_cast<Bits<Value>>(value);
    for (std::size_t b = 0; b < sizeof(Value); ++b, bits >>= 8U) {
      bytes.push_back(static_cast<std::uint8_t>(bits & 0xffU));
    }
  }
  return Json::binary(std::move(bytes));
}

template <typename Value>
std::vector<Value> unpack(const Json& map, const char* key) {
  const auto at = map.find(key);
  if (at == map.end()) refuse("there is no " + in_quotes(key));
  if (!at->is_binary()) refuse(in_quotes(key) + " is not a byte string");
  const auto& bytes = at->get_binary();
  if (bytes.size() % sizeof(Value) != 0) refuse(in_quotes(key) + " ends within a number");
  std::vector<Value> out;
  out.reserve(bytes.size() / sizeof(Value));
  for (std::size_t from = 0; from < bytes.size(); from += sizeof(Value)) {
    Bits<Value> bits = 0;
    for (std::size_t b = sizeof(Value); b-- > 0;) {
      bits = static_cast<Bits<Value>>(bits << 8U) | bytes[from + b];
    }
    out.push_back(std::bit_cast<Value>(bits));
  }
  return out;
}

}  // namespace

Json packed(const std::vector<double>& values) { return pack(values); }
Json packed(const std::vector<float>& values) { return pack(values); }
Json packed(const std::vector<std::int32_t>& values) { return pack(values); }

std::vector<double> doubles(const Json& map, const char* key) { return unpack<double>(map, key); }
std::vector<float> floats(const Json& map, const char* key) { return unpack<float>(map, key); }
std::vector<std::int32_t> integers(const Json& map, const char* key) {
  return unpack<std::int32_t>(map, key);
}

std::vector<double> finite_doubles(const Json& map, const char* key, std::size_t count) {
  std::vector<double> out = doubles(map, key);
  if (out.size() != count) {
    refuse(in_quotes(key) + " has " + std::to_string(out.size()) + " numbers, expected " +
           std::to_string(count));
  }
  for (const double x : out) {
    if (!std::isfinite(x)) refuse(in_quotes(key) + " has a number that is not finite");
  }
  return out;
}

const Json& map_of(const Json& node, std::size_t keys, const char* what) {
  if (!node.is_object() || node.size() != keys) {
    refuse(std::string(what) + " is not a map of " + std::to_string(keys));
  }
  return node;
}

const Json& list_of(const Json& node, const char* what) {
  if (!node.is_array()) refuse(in_quotes(what) + " is not a list");
  return node;
}

double number_of(const Json& node, const char* what) {
  if (!node.is_number() || !std::isfinite(node.get<double>())) {
    refuse(in_quotes(what) + " is not a finite number");
  }
  return node.get<double>();
}

std::int64_t whole_of(const Json& node, const char* what, std::int64_t least, std::int64_t most) {
  if (!node.is_number_integer() ||
      (node.is_number_unsigned() && node.get<std::uint64_t>() > (1ULL << 62U))) {
    refuse(in_quotes(what) + " is not a whole number");
  }
  const auto value = node.get<std::int64_t>();
  if (value < least || value > most) {
    refuse(in_quotes(what) + " is " + std::to_string(value) + ", expected " +
           std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::string text_of(const Json& node, const char* what) {
  if (!node.is_string()) refuse(in_quotes(what) + " is not text");
  const auto& text = node.get_ref<const std::string&>();
  if (find_bad_text(text, false) != text.size()) {
    refuse(in_quotes(what) + " is not text of one line");
  }
  return text;
}

}  // namespace corun::inline models::model_state
