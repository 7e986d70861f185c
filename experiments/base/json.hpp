#pragma once

#include <cmath>

#include <nlohmann/json.hpp>

/// JSON as all of our output has it: keys in the order in which they were added.
namespace corun {

using Json = nlohmann::ordered_json;

/// A number; null where it is NaN or infinite, for which JSON has no word.
inline Json json_number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

}  // namespace corun
