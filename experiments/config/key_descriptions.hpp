#pragma once

#include <string>
#include <vector>

/// The keys of a configuration for people to read: what `corun list keys` prints, and what the table of
/// docs/configuration.md must agree with.
namespace corun {

struct KeyDescription {
  std::string key;         ///< "cluster.nodes"
  std::string by_default;  ///< as one would write it in YAML
  std::string value;       ///< what may stand there: "a whole number from 1 to 1000000"
  std::string meaning;
};

/// All keys, in the order in which they are written.
std::vector<KeyDescription> describe_keys();

}  // namespace corun
