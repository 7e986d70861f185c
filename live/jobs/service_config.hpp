#pragma once

#include <string>

#include "live/services/live_service.hpp"
#include "support/yaml_tree.hpp"

/// The key `service` of a workload of a live configuration (docs/live.md).
namespace corun::live {

/// `directory`: that of the configuration, in which a trace of requests is looked up. LiveService::seed is not set. Throws
/// InputError with the place of the mistake.
LiveService read_live_service(const YamlNode& map, const std::string& directory);

}  // namespace corun::live
