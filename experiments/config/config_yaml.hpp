#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "experiments/config/config.hpp"
#include "experiments/config/yaml_tree.hpp"
#include "policies/catalog.hpp"

/// Configurations in YAML, read strictly and written back. Every mistake is an InputError of one
/// line that begins with its place ("FILE:LINE:COLUMN: ", 1-based, or "--set KEY.PATH=VALUE: ") and
/// names what was found, what was expected and what to do.
///
/// Overrides are "KEY.PATH=VALUE" ("policies[0].epsilon=0.5"), VALUE in YAML as it stands on one
/// line ("{nodes: 2}", "[1, 2]", "null"). They are applied in their order, after the file: a map or
/// list replaces the whole value of its key. A policy is known by `policies`, with its parameters.
namespace corun {

/// Reads a file; a file that cannot be read is an InputError "PATH: ...".
Config read_config(const std::string& path, std::span<const std::string> overrides,
                   std::span<const PolicyEntry> policies);

/// Reads text; `place_name` stands for the file in places. `directory` stays empty.
Config parse_config(std::string_view text, const std::string& place_name,
                    std::span<const std::string> overrides, std::span<const PolicyEntry> policies);

/// The default configuration with overrides, for a command that was given no file.
Config default_config_with(std::span<const std::string> overrides,
                           std::span<const PolicyEntry> policies);

/// A configuration that is part of a larger document: `root` is the map of its keys, from which the
/// caller has taken those that are not a Config's. `directory` stays empty.
Config config_from_tree(YamlNode root, std::span<const std::string> overrides,
                        std::span<const PolicyEntry> policies);

/// Sets one key of a tree, as an override does: "policies[0].epsilon=0.5" by text, or its path with
/// a value at hand. What is wrong with the path is told at `place`, what is wrong with the value at
/// its own; a key that does not exist is found by config_from_tree, at `value.key_offset`.
void apply_override(YamlNode& root, const std::string& text);
void set_key(YamlNode& root, std::string_view path, YamlNode value, const std::string& place);

/// The effective configuration, every key but the parameters of policies that nobody gave. Reading
/// it gives the same Config but for `places` and `directory`.
std::string dump_yaml(const Config& config);

/// The same keys and values as dump_yaml.
nlohmann::ordered_json to_json(const Config& config);

}  // namespace corun
