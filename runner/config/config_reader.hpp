#pragma once

#include <span>
#include <string>
#include <string_view>

#include "policies/catalog.hpp"
#include "runner/config/config.hpp"
#include "runner/config/config_overrides.hpp"
#include "support/yaml_tree.hpp"

/// Configurations in YAML, read strictly. Every mistake is an InputError of one line that begins
/// with its place ("FILE:LINE:COLUMN: ", 1-based, or where an override was typed) and names what was
/// found, what was expected and what to do. Overrides are those of config_overrides.hpp. `policies`
/// is the catalogue of known policies and their parameters.
namespace corun::inline runner {

/// Reads a file and sets `directory` to that of the file. InputError "PATH: ..." if it cannot be
/// read.
Config read_config(const std::string& path, std::span<const Override> overrides,
                   std::span<const PolicyEntry> policies);

/// Reads text; places name `place_name` as the file. `directory` stays empty.
Config parse_config(std::string_view text, const std::string& place_name,
                    std::span<const Override> overrides, std::span<const PolicyEntry> policies);

/// The default configuration with overrides, for a command without a file.
Config default_config_with(std::span<const Override> overrides,
                           std::span<const PolicyEntry> policies);

/// A configuration that is part of a larger document. `root` is the map of its keys; the caller has
/// removed the keys that do not belong to a Config. `directory` stays empty.
Config config_from_tree(YamlNode root, std::span<const Override> overrides,
                        std::span<const PolicyEntry> policies);

}  // namespace corun::inline runner
