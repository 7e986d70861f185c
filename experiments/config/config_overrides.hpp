#pragma once

#include <string>
#include <string_view>

#include "experiments/config/yaml_tree.hpp"

/// Overrides of single keys of a configuration: "KEY.PATH=VALUE" ("policies[0].epsilon=0.5"), VALUE
/// in one-line YAML ("{nodes: 2}", "[1, 2]", "null"). They are applied to the tree in order, after
/// the file. A map or list replaces the whole value of its key. Errors are InputErrors as in
/// config_reader.hpp.
namespace corun {

/// Sets one key of a tree, from the text "policies[0].epsilon=0.5" or from its path and a value.
/// Throws InputError at `place` for a malformed path; config_from_tree reports wrong values at the
/// value's place and unknown keys at `value.key_offset`.
void apply_override(YamlNode& root, const std::string& text);
void set_key(YamlNode& root, std::string_view path, YamlNode value, const std::string& place);

}  // namespace corun
