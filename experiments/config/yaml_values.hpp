#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "experiments/config/yaml_tree.hpp"

/// The scalars of a YAML tree, read as what they should be. Every mistake is an InputError at the
/// node's place: "KEY: found WHAT, expected WHAT; what to do".
namespace corun {

/// Both ends included; infinite ends are no ends, but values are finite.
template <typename T>
struct Within {
  T min;
  T max;
};

/// A node with the key it belongs to, for messages.
struct YamlValue {
  const YamlNode& node;
  std::string key;

  [[noreturn]] void refuse(const std::string& expected) const;
  bool is_null() const { return node.kind == YamlNode::Kind::kNull; }
};

/// Where keys got their values: "world.path" -> "FILE:LINE:COLUMN".
using KeyPlaces = std::map<std::string, std::string>;

/// Notes the place of a value; a default has none.
void remember(KeyPlaces& places, const YamlValue& at);

/// What messages and lists call a number of this range: "a whole number from 1 to 5".
template <typename T>
std::string number_text(const Within<T>& range);

/// A number in decimal, of T double, std::int64_t or std::uint64_t. `or_else` ends what is expected,
/// such as ", or null"; so it does below.
template <typename T>
T read_number(const YamlValue& at, const Within<T>& range, const std::string& or_else = "");

/// Text that is not empty, and in quotes where it looks like a number or a flag.
std::string read_text(const YamlValue& at, const std::string& or_else = "");

/// What messages and lists call one of these words: "one of a, b".
std::string choice_text(std::span<const std::string_view> words);

/// One of these words.
std::string read_choice(const YamlValue& at, std::span<const std::string_view> words,
                        const std::string& or_else = "");

/// true or false.
bool read_flag(const YamlValue& at);

/// A-Z as a-z, all else as it is.
std::string lower_case(std::string_view text);

}  // namespace corun
