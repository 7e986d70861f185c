#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "runner/config/config.hpp"
#include "runner/config/config_keys.hpp"

/// Writes the effective configuration: every key, but of the policies' parameters only those given.
namespace corun::inline runner {

/// YAML that reads back as the same Config except `places` and `directory`; the keys of `without` are left out.
std::string dump_yaml(const Config& config, std::span<const std::string_view> without = {});

/// The same keys and values as dump_yaml.
nlohmann::ordered_json to_json(const Config& config);

/// The value of one key as dump_yaml writes it.
std::string yaml_text(const KeyValue& value);

}  // namespace corun::inline runner
