#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

/// JSON and CBOR of others. The library nests calls as deep as the values are nested, when it reads CBOR
/// and when it copies, compares or writes values; and a value takes 16 bytes and more, where its text may
/// be one byte. So deep or large texts would end the program.
namespace corun::inline models {

struct JsonLimits {
  std::size_t depth;   ///< of lists and maps
  std::size_t values;  ///< of all kinds, lists, maps and keys included
};

/// The first problem of the text: it is cut short or no JSON (CBOR), beyond the limits, or has a key twice in an
/// object, of which the library would keep the last. Empty if there is none. Keeps nothing of the text.
std::string json_problem(
    std::string_view text, JsonLimits limits,
    nlohmann::json::input_format_t format = nlohmann::json::input_format_t::json);

/// The JSON text as a tree; nothing if it has a json_problem().
template <typename Json>
std::optional<Json> parse_limited_json(std::string_view text, JsonLimits limits) {
  if (!json_problem(text, limits).empty()) return std::nullopt;
  return Json::parse(text);
}

}  // namespace corun::inline models
