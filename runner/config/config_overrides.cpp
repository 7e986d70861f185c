#include "runner/config/config_overrides.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/config/config_keys.hpp"
#include "runner/config/default_policies.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {
namespace {

using Kind = YamlNode::Kind;

/// The default policies as a YAML list without places, because no file names them.
YamlNode default_policies_node() {
  YamlNode list;
  list.kind = Kind::kSequence;
  for (const std::string_view name : default_policy_names()) {
    YamlNode& item = list.children.emplace_back();
    item.kind = Kind::kScalar;
    item.text = name;
  }
  return list;
}

/// One step of a key path: a key (below `policies` a label), or an index into a list.
struct Step {
  std::string key;
  std::optional<std::size_t> index;
};

/// The steps of "policies[0].epsilon"; empty if the text is no path.
std::vector<Step> parse_path(std::string_view path) {
  const auto is_name = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-';
  };
  std::vector<Step> steps;
  std::size_t i = 0;
  while (i < path.size()) {
    if (path[i] == '[') {
      std::size_t index = 0;
      const char* const begin = path.data() + i + 1;
      const auto [end, error] = std::from_chars(begin, path.data() + path.size(), index);
      i = static_cast<std::size_t>(end - path.data());
      if (error != std::errc() || steps.empty() || i >= path.size() || path[i] != ']') return {};
      ++i;
      steps.push_back({"", index});
      continue;
    }
    if (!steps.empty() && path[i++] != '.') return {};
    const std::size_t first = i;
    while (i < path.size() && is_name(path[i])) ++i;
    if (i == first) return {};
    steps.push_back({std::string(path.substr(first, i - first)), std::nullopt});
  }
  return steps;
}

/// The label of an entry of `policies`: its label, else its name; empty for a malformed entry.
std::string_view label_of(const YamlNode& policy) {
  if (policy.kind == Kind::kScalar) return policy.text;
  for (const char* key : {"label", "name"}) {
    const YamlNode* const text = policy.find(key);
    if (text != nullptr && text->kind == Kind::kScalar) return text->text;
  }
  return {};
}

/// The position of the one policy with this label. Throws InputError at `place` if none or several
/// have it.
std::size_t position_of(const YamlNode& policies, const std::string& label,
                        const std::string& place) {
  std::vector<std::string_view> known;
  std::vector<std::string> found;
  std::size_t position = 0;
  for (std::size_t i = 0; i < policies.children.size(); ++i) {
    known.push_back(label_of(policies.children[i]));
    if (known.back() != label) continue;
    found.push_back(fmt::format("policies[{}]", i));
    position = i;
  }
  if (found.size() > 1) {
    throw InputError(place, fmt::format("{} policies are labelled '{}', expected a position: {}",
                                        found.size(), label, fmt::join(found, ", ")));
  }
  if (found.empty()) {
    throw InputError(place,
                     fmt::format("no policy is labelled '{}', expected a label, or a position"
                                 " such as policies[0].epsilon; {}",
                                 label, did_you_mean(label, known)));
  }
  return position;
}

/// Puts `value` at the path, by the rules of --set in docs/configuration.md.
void set_at(YamlNode& root, std::vector<Step> steps, YamlNode value, const std::string& place) {
  YamlNode* node = &root;
  std::string path;  // of `node`
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step& step = steps[i];
    if (path == "policies" && node->kind == Kind::kSequence && !step.index) {
      step = {"", position_of(*node, step.key, place)};
    }
    if (step.index) {
      if (node->kind != Kind::kSequence) {
        throw InputError(place, fmt::format("'{}' is {}, expected a list before [{}]", path,
                                            node->description(), *step.index));
      }
      if (*step.index >= node->children.size()) {
        throw InputError(place, fmt::format("there is no {}[{}], expected an index below {}", path,
                                            *step.index, node->children.size()));
      }
      node = &node->children[*step.index];
      path += fmt::format("[{}]", *step.index);
      continue;
    }
    // `- fcfs` is short for `- {name: fcfs}`; only the long form can hold parameters.
    if (node->kind == Kind::kScalar && i == 2 && steps[0].key == "policies") {
      YamlNode name = *node;
      name.key = "name";
      name.key_offset = name.offset;
      node->kind = Kind::kMap;
      node->children = {std::move(name)};
    }
    if (node->kind == Kind::kSequence) {
      throw InputError(place, fmt::format("'{0}' is a list, expected an index such as {0}[0].{1}",
                                          path, step.key));
    }
    if (node->kind != Kind::kMap) {
      throw InputError(
          node->source ? node->place() : place,
          fmt::format("{}: found {}, expected a map of keys", path, node->description()));
    }
    path += (path.empty() ? "" : ".") + step.key;
    YamlNode* child = node->find(step.key);
    if (child == nullptr) {
      const bool fill = path == "policies" && i + 1 < steps.size();
      YamlNode fresh = fill ? default_policies_node() : YamlNode{};
      if (!fill) {
        fresh.kind = Kind::kMap;
        fresh.source = value.source;
        fresh.key_offset = value.key_offset;
      }
      fresh.key = step.key;
      child = &node->children.emplace_back(std::move(fresh));
    }
    node = child;
  }
  value.key = node->key;
  *node = std::move(value);
}

}  // namespace

Override parse_override(const std::string& text) {
  const std::string place = "--set " + printable(text, kYamlBytesMax);
  const std::size_t equals = text.find('=');
  std::string key = text.substr(0, equals);
  if (equals == std::string::npos || parse_path(key).empty()) {
    throw InputError(place,
                     "expected KEY.PATH=VALUE such as replications=50 or policies[0].epsilon=0.5;"
                     " a label in a path has letters, digits, '-' and '_' only");
  }
  const std::string_view written = std::string_view(text).substr(equals + 1);
  const std::size_t content = written.find_first_not_of(" \t\r\n");
  if (content == std::string_view::npos || written[content] == '#') {
    throw InputError(place, "found no value, expected KEY.PATH=VALUE; write null for none");
  }
  YamlNode value = parse_yaml(written, place, false);
  if ((value.kind == Kind::kMap && written[content] != '{') ||
      (value.kind == Kind::kSequence && written[content] != '[')) {
    throw InputError(place, fmt::format("found {} without brackets, expected a value on one line"
                                        " such as 5, [a, b] or {{key: value}}",
                                        value.description()));
  }
  return {std::move(key), std::move(value), place};
}

std::vector<Override> parse_overrides(std::span<const std::string> texts) {
  std::vector<Override> overrides;
  for (const std::string& text : texts) overrides.push_back(parse_override(text));
  return overrides;
}

Override typed_word(std::string key, std::string word, const std::string& place) {
  return {std::move(key), typed_scalar(std::move(word), false, place), place};
}

Override typed_text(std::string key, std::string text, const std::string& place) {
  return {std::move(key), typed_scalar(std::move(text), true, place), place};
}

Override typed_list(std::string key, std::span<const std::string> words, const std::string& place) {
  YamlNode list = typed_scalar("", false, place);
  list.kind = Kind::kSequence;
  for (const std::string& word : words) list.children.push_back(typed_scalar(word, false, place));
  return {std::move(key), std::move(list), place};
}

void apply_override(YamlNode& root, const Override& typed) {
  Config any;
  const std::vector<ConfigKey> keys = config_keys(any);
  const std::vector<std::string_view> known = names_below(keys, "");
  const std::string_view first =
      std::string_view(typed.key).substr(0, typed.key.find_first_of(".["));
  if (std::find(known.begin(), known.end(), first) == known.end()) {
    throw InputError(typed.place, unknown_key_message(keys, "", first));
  }
  set_key(root, typed.key, typed.value, typed.place);
}

void set_key(YamlNode& root, std::string_view path, YamlNode value, const std::string& place) {
  const std::vector<Step> steps = parse_path(path);
  if (steps.empty()) {
    throw InputError(place, fmt::format("found '{}', expected the path of a key such as "
                                        "cluster.nodes or policies[0].epsilon; a label in a path "
                                        "has letters, digits, '-' and '_' only",
                                        printable(path)));
  }
  set_at(root, steps, std::move(value), place);
}

std::string with_position(const YamlNode& root, const std::string& path) {
  constexpr std::string_view kBefore = "policies.";
  const YamlNode* policies = root.find("policies");
  if (!path.starts_with(kBefore)) return path;
  const YamlNode fallback = default_policies_node();
  if (policies == nullptr) policies = &fallback;
  const std::size_t end = std::min(path.find_first_of(".[", kBefore.size()), path.size());
  const std::string_view label =
      std::string_view(path).substr(kBefore.size(), end - kBefore.size());
  const auto at = std::ranges::find(policies->children, label, label_of);
  if (at == policies->children.end()) return path;
  return fmt::format("policies[{}]{}", at - policies->children.begin(), path.substr(end));
}

}  // namespace corun::inline runner
