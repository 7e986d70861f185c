#pragma once

#include <string>
#include <string_view>

#include "support/yaml_tree.hpp"

/// Overrides of single keys of a configuration: "KEY.PATH=VALUE" ("policies[0].epsilon=0.5"), VALUE
/// in one-line YAML ("{nodes: 2}", "[1, 2]", "null"). They are applied to the tree in order, after
/// the file. A map or list replaces the whole value of its key. Below `policies` a path has a position
/// ("policies[0].epsilon") or a label ("policies.min-slowdown.epsilon"), as the policies are when the
/// key is set. Errors are InputErrors as in config_reader.hpp.
namespace corun::inline runner {

/// Sets one key of a tree, from the text "policies[0].epsilon=0.5" or from its path and a value.
/// Throws InputError at `place` for a malformed path and for a label that no policy or several
/// policies have; config_from_tree reports wrong values at the
/// value's place and unknown keys at `value.key_offset`.
void apply_override(YamlNode& root, const std::string& text);
void set_key(YamlNode& root, std::string_view path, YamlNode value, const std::string& place);

/// The path with the position of a policy in place of its label, to tell whether two paths name one
/// key; the path as it is if no policy of the tree has the label.
std::string with_position(const YamlNode& root, const std::string& path);

}  // namespace corun::inline runner
