#include "runner/config/key_descriptions.hpp"

#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/config/config_keys.hpp"
#include "runner/config/config_writer.hpp"
#include "runner/config/default_policies.hpp"

namespace corun::inline runner {

std::vector<KeyDescription> describe_keys() {
  Config defaults;
  std::vector<KeyDescription> descriptions;
  for (const ConfigKey& key : config_keys(defaults)) {
    // The short form suffices because default policies have no parameters.
    std::string by_default = std::holds_alternative<KeyPolicies>(key.value)
                                 ? fmt::format("[{}]", fmt::join(default_policy_names(), ", "))
                                 : yaml_text(key.value);
    descriptions.push_back({std::string(key.path), std::move(by_default), expected_text(key.value),
                            std::string(key.meaning)});
  }
  return descriptions;
}

}  // namespace corun::inline runner
