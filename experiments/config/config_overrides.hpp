#pragma once

#include <string>
#include <string_view>

#include "experiments/config/yaml_tree.hpp"

/// Single keys of a configuration set from outside its file. Overrides are "KEY.PATH=VALUE"
/// ("policies[0].epsilon=0.5"), VALUE in YAML as it stands on one line ("{nodes: 2}", "[1, 2]",
/// "null"). They are applied to the tree in their order, after the file: a map or list replaces the
/// whole value of its key. Throws InputError as config_reader.hpp says.
namespace corun {

/// Sets one key of a tree, as an override does: "policies[0].epsilon=0.5" by text, or its path with
/// a value at hand. What is wrong with the path is told at `place`, what is wrong with the value at
/// its own; a key that does not exist is found by config_from_tree, at `value.key_offset`.
void apply_override(YamlNode& root, const std::string& text);
void set_key(YamlNode& root, std::string_view path, YamlNode value, const std::string& place);

}  // namespace corun
