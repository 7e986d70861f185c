#pragma once

#include <cmath>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

/// JSON of all output: keys in the order in which they were added.
namespace corun::inline support {

using Json = nlohmann::ordered_json;

/// A number, or null for NaN and infinity, which JSON cannot express.
inline Json json_number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

/// The value, or null where there is none.
template <typename T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// The text of an output file: indented by two, with a line end. Bytes that are not UTF-8 are
/// replaced; characters that a terminal would obey (find_bad_text()) are written as \uNNNN.
std::string json_text(const Json& json);

/// One object of a JSON lines file, the same way, without the line's end.
std::string json_line(const Json& json);

}  // namespace corun::inline support
