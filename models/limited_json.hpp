#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

/// JSON and CBOR of others. The library nests calls as deep as the values are nested, when it reads CBOR
/// and when it copies, compares or writes values; and a value takes 16 bytes and more, where its text may
/// be one byte. So deep or large texts would end the program.
namespace corun {

struct JsonLimits {
  std::size_t depth;   ///< of lists and maps
  std::size_t values;  ///< of all kinds, lists, maps and keys included
};

/// Whether the text is whole, valid, and within the limits. Keeps nothing of it.
bool is_limited_json(std::string_view text, JsonLimits limits,
                     nlohmann::json::input_format_t format = nlohmann::json::input_format_t::json);

/// The JSON text as a tree; nothing if is_limited_json() is false.
template <typename Json>
std::optional<Json> parse_limited_json(std::string_view text, JsonLimits limits) {
  if (!is_limited_json(text, limits)) return std::nullopt;
  return Json::parse(text);
}

}  // namespace corun
