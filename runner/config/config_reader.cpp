#include "runner/config/config_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/config/config_checks.hpp"
#include "runner/config/config_keys.hpp"
#include "runner/config/config_overrides.hpp"
#include "runner/config/default_policies.hpp"
#include "runner/config/policy_reader.hpp"
#include "sim/error.hpp"
#include "support/yaml_values.hpp"

namespace corun::inline runner {
namespace {

using Kind = YamlNode::Kind;

/// Reads a tree into the variables of one configuration.
class Reader {
 public:
  Reader(Config& config, std::span<const PolicyEntry> policies)
      : keys_(config_keys(config)), places_(config.places), policies_(policies) {}

  /// `section` is "cluster.oom", or "" for the whole configuration.
  void read(const YamlNode& node, const std::string& section) {
    const std::vector<std::string_view> known = names_below(keys_, section);
    if (node.kind != Kind::kMap) {
      throw InputError(node.place(), fmt::format("{}found {}, expected a map of keys; known: {}",
                                                 section.empty() ? "" : section + ": ",
                                                 node.description(), fmt::join(known, ", ")));
    }
    for (const YamlNode& child : node.children) {
      if (std::find(known.begin(), known.end(), child.key) != known.end()) continue;
      throw InputError(child.key_place(), unknown_key_message(keys_, section, child.key));
    }
    for (const std::string_view name : known) {
      const YamlNode* child = node.find(name);
      if (child == nullptr) continue;
      const std::string path = (section.empty() ? "" : section + ".") + std::string(name);
      const auto key = std::find_if(keys_.begin(), keys_.end(),
                                    [&](const ConfigKey& k) { return k.path == path; });
      if (key == keys_.end()) {
        read(*child, path);
        continue;
      }
      const YamlValue at{*child, path};
      remember(places_, at);
      std::visit([&](const auto& value) { set(at, value); }, key->value);
    }
  }

 private:
  static void set(const YamlValue& at, const KeyText& text) {
    const bool may_be_null = text.slot.may_be_null();
    if (may_be_null && at.is_null()) return text.slot.set(std::nullopt);
    text.slot.set(read_text(at, may_be_null ? " or null" : ""));
  }
  static void set(const YamlValue& at, const KeyFlag& flag) { flag.slot.set(read_flag(at)); }
  template <typename T>
  static void set(const YamlValue& at, const KeyNumber<T>& number) {
    const bool may_be_null = number.slot.may_be_null();
    if (may_be_null && at.is_null()) return number.slot.set(std::nullopt);
    number.slot.set(read_number(at, number.range, may_be_null ? ", or null" : ""));
  }
  static void set(const YamlValue& at, const KeyWord& word) {
    if (word.may_be_null && at.is_null()) return word.set(std::nullopt);
    word.set(read_choice(at, word.words, word.may_be_null ? ", or null" : ""));
  }
  void set(const YamlValue& at, const KeyPolicies& policies) {
    *policies.list = read_policies(at, policies_, places_);
  }

  std::vector<ConfigKey> keys_;
  KeyPlaces& places_;
  std::span<const PolicyEntry> policies_;
};

std::vector<PolicyConfig> default_policies() {
  std::vector<PolicyConfig> policies;
  for (const std::string_view name : default_policy_names()) {
    policies.emplace_back().name = name;
  }
  return policies;
}

}  // namespace

Config config_from_tree(YamlNode root, std::span<const Override> overrides,
                        std::span<const PolicyEntry> policies) {
  if (root.kind == Kind::kMap) {
    for (const Override& typed : overrides) apply_override(root, typed);
  }
  Config config;
  Reader(config, policies).read(root, "");
  if (config.policies.empty()) config.policies = default_policies();
  check_together(config);
  return config;
}

Config parse_config(std::string_view text, const std::string& place_name,
                    std::span<const Override> overrides, std::span<const PolicyEntry> policies) {
  return config_from_tree(parse_yaml(text, place_name), overrides, policies);
}

Config read_config(const std::string& path, std::span<const Override> overrides,
                   std::span<const PolicyEntry> policies) {
  Config config = config_from_tree(read_yaml_file(path), overrides, policies);
  config.directory = std::filesystem::path(path).parent_path().string();
  return config;
}

Config default_config_with(std::span<const Override> overrides,
                           std::span<const PolicyEntry> policies) {
  YamlNode root;
  root.kind = Kind::kMap;
  return config_from_tree(std::move(root), overrides, policies);
}

Config default_config() { return default_config_with({}, {}); }

}  // namespace corun::inline runner
