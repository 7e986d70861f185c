#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "experiments/config/config.hpp"
#include "experiments/config/config_keys.hpp"

/// Configurations written back: the effective one, every key but the parameters of policies that
/// nobody gave.
namespace corun {

/// Reading it gives the same Config but for `places` and `directory`.
std::string dump_yaml(const Config& config);

/// The same keys and values as dump_yaml.
nlohmann::ordered_json to_json(const Config& config);

/// The value of one key as dump_yaml writes it.
std::string yaml_text(const KeyValue& value);

}  // namespace corun
