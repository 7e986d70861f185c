#pragma once

#include <span>
#include <string>
#include <string_view>

#include "support/yaml_tree.hpp"

/// Reads the scalars of a YAML tree as numbers, texts, words and flags. Every mistake is an
/// InputError at the node's place: "KEY: found ..., expected ...; what to do".
namespace corun::inline support {

/// A closed range. An infinite end is no bound, but values must be finite.
template <typename T>
struct Within {
  T min;
  T max;
};

/// A node with its key, for messages.
struct YamlValue {
  const YamlNode& node;
  std::string key;

  [[noreturn]] void refuse(const std::string& expected) const;
  bool is_null() const { return node.kind == YamlNode::Kind::kNull; }
};

/// The range in messages and lists: "a whole number from 1 to 5".
template <typename T>
std::string number_text(const Within<T>& range);

/// A decimal number; T is double, std::int64_t or std::uint64_t. Here and below, the error message
/// appends `or_else` (such as ", or null") to the expected value.
template <typename T>
T read_number(const YamlValue& at, const Within<T>& range, const std::string& or_else = "");

/// Text that is not empty; it must be quoted if it looks like a number or a flag.
std::string read_text(const YamlValue& at, const std::string& or_else = "");

/// The words in messages and lists: "one of a, b".
std::string choice_text(std::span<const std::string_view> words);

/// The text, which must be one of `words`.
std::string read_choice(const YamlValue& at, std::span<const std::string_view> words,
                        const std::string& or_else = "");

/// true or false.
bool read_flag(const YamlValue& at);

}  // namespace corun::inline support
