#pragma once

#include <string>
#include <vector>

/// The keys of a configuration as `corun list keys` prints them. The table of docs/configuration.md
/// must agree.
namespace corun::inline runner {

struct KeyDescription {
  std::string key;         ///< "cluster.nodes"
  std::string by_default;  ///< in YAML
  std::string value;       ///< permitted values: "a whole number from 1 to 1000000"
  std::string meaning;
};

/// All keys, in the order in which they are written.
std::vector<KeyDescription> describe_keys();

}  // namespace corun::inline runner
