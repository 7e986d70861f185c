#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/yaml_tree.hpp"

/// Values of single keys of a configuration that are typed beside it. They are applied to the tree in order, after
/// the file. A map or list replaces the whole value of its key. Below `policies` a path has a position
/// ("policies[0].epsilon") or a label ("policies.min-slowdown.epsilon"), as the policies are when the
/// key is set. Errors are InputErrors as in config_reader.hpp.
namespace corun::inline runner {

struct Override {
  std::string key;    ///< its path
  YamlNode value;     ///< wrong values are reported at its place
  std::string place;  ///< where it was typed: "--gpus", "--set seed=3"
};

/// An override from the text of --set: "policies[0].epsilon=0.5", the value in one-line YAML ("{nodes: 2}", "[1, 2]",
/// "null").
Override parse_override(const std::string& text);
std::vector<Override> parse_overrides(std::span<const std::string> texts);

/// Overrides by an option: of a number or one of a few words, of text, and of a list of words.
Override typed_word(std::string key, std::string word, const std::string& place);
Override typed_text(std::string key, std::string text, const std::string& place);
Override typed_list(std::string key, std::span<const std::string> words, const std::string& place);

/// Sets one key of a tree. Throws InputError at the override's place for a key that no configuration has, a malformed
/// path, and a label that no policy or several policies have; config_from_tree() reports wrong values and unknown
/// keys further down.
void apply_override(YamlNode& root, const Override& typed);
/// The same for keys that no configuration has.
void set_key(YamlNode& root, std::string_view path, YamlNode value, const std::string& place);

/// The path with the position of a policy in place of its label, to tell whether two paths name one
/// key; the path as it is if no policy of the tree has the label.
std::string with_position(const YamlNode& root, const std::string& path);

}  // namespace corun::inline runner
