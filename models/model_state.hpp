#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Helpers by which interference models write their state to a tree of values for files and read it. Lists of
/// numbers are byte strings, little-endian (floats as IEEE 754), so that a loaded model predicts the same
/// bits on any machine. Readers check everything: std::invalid_argument names the value that is wrong.
namespace corun::inline models::model_state {

using Json = nlohmann::json;

Json packed(const std::vector<double>& values);
Json packed(const std::vector<float>& values);
Json packed(const std::vector<std::int32_t>& values);

/// The list under `key`. NaN and infinities are allowed; the model must check them.
std::vector<double> doubles(const Json& map, const char* key);
std::vector<float> floats(const Json& map, const char* key);
std::vector<std::int32_t> integers(const Json& map, const char* key);
/// The same with exactly `count` numbers, all finite.
std::vector<double> finite_doubles(const Json& map, const char* key, std::size_t count);

/// `node` if it is a map of exactly `keys` keys. The caller reads each key, so that an unknown key is an
/// error.
const Json& map_of(const Json& node, std::size_t keys, const char* what);
const Json& list_of(const Json& node, const char* what);
/// A finite number.
double number_of(const Json& node, const char* what);
/// An integer from `least` to `most`.
std::int64_t whole_of(const Json& node, const char* what, std::int64_t least, std::int64_t most);
/// A text of one line.
std::string text_of(const Json& node, const char* what);

}  // namespace corun::inline models::model_state
