#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// How interference models put what they have learnt into a tree of values for files, and read it back.
/// Lists of floats are byte strings of IEEE 754 numbers, little-endian: a model read predicts the same
/// bits on any machine. Readers trust nothing: std::invalid_argument says what is not possible.
namespace corun::model_state {

using Json = nlohmann::json;

Json packed(const std::vector<double>& values);
Json packed(const std::vector<float>& values);
Json packed(const std::vector<std::int32_t>& values);

/// The list under `key`; NaN and infinities pass, for the model to judge.
std::vector<double> doubles(const Json& map, const char* key);
std::vector<float> floats(const Json& map, const char* key);
std::vector<std::int32_t> integers(const Json& map, const char* key);
/// The same, every number finite and so many of them.
std::vector<double> finite_doubles(const Json& map, const char* key, std::size_t count);

/// A map of exactly so many keys, each of which is then asked for: any other is one too many.
const Json& map_of(const Json& node, std::size_t keys, const char* what);
const Json& list_of(const Json& node, const char* what);
/// A finite number.
double number_of(const Json& node, const char* what);
/// A whole number from `least` to `most`.
std::int64_t whole_of(const Json& node, const char* what, std::int64_t least, std::int64_t most);
/// Text of one line.
std::string text_of(const Json& node, const char* what);

}  // namespace corun::model_state
