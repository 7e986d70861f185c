#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/config/config.hpp"
#include "runner/config/config_keys.hpp"

/// Writes the effective configuration: every key, but of the policies' parameters only those given.
namespace corun::inline runner {

/// YAML that reads back as the same Config except `places` and `directory`.
std::string dump_yaml(const Config& config);

/// The same keys and values as dump_yaml.
nlohmann::ordered_json to_json(const Config& config);

/// A text as a YAML value on one line: in quotes unless every YAML reader reads it as the same text without.
std::string yaml_word(const std::string& text);

/// The value of one key as dump_yaml writes it.
std::string yaml_text(const KeyValue& value);

}  // namespace corun::inline runner
