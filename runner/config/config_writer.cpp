#include "runner/config/config_writer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "support/json.hpp"
#include "support/yaml_values.hpp"

namespace corun::inline runner {
namespace {

Json json_of(const ParameterValue& setting) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      setting);
}

Json json_of(const std::vector<PolicyConfig>& policies) {
  Json list = Json::array();
  for (const PolicyConfig& policy : policies) {
    Json item = Json::object();
    item["name"] = policy.name;
    if (policy.label) item["label"] = *policy.label;
    if (policy.published) item["published"] = *policy.published;
    for (const auto& [key, setting] : policy.settings) item[key] = json_of(setting);
    list.push_back(std::move(item));
  }
  return list;
}

template <typename T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const KeyValue& value) {
  return std::visit(
      [](const auto& v) -> Json {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, KeyPolicies>) {
          return json_of(*v.list);
        } else if constexpr (std::is_same_v<T, KeyWord>) {
          return json_or_null(v.get());
        } else {
          return json_or_null(v.slot.get());
        }
      },
      value);
}

/// In quotes unless every YAML reader reads it as the same text without.
std::string yaml_text_of(const std::string& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool plain = !text.empty() && (is_letter(text[0]) || text[0] == '/') &&
                     std::all_of(text.begin(), text.end(), [&](char c) {
                       return is_letter(c) || (c >= '0' && c <= '9') || c == '/' || c == '.' ||
                              c == '_' || c == '-';
                     });
  constexpr std::array<std::string_view, 11> kWords = {"true", "false", "yes", "no",  "on", "off",
                                                       "null", "y",     "n",   "nan", "inf"};
  const bool is_word = std::find(kWords.begin(), kWords.end(), lower_case(text)) != kWords.end();
  if (plain && !is_word) return text;
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += c;
    out += c;
  }
  return out + "'";
}

std::string yaml_flow(const Json& value) {
  std::string out;
  switch (value.type()) {
    case Json::value_t::object:
      for (const auto& [key, child] : value.items()) {
        out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", key, yaml_flow(child));
      }
      return "{" + out + "}";
    case Json::value_t::array:
      for (const Json& child : value) out += (out.empty() ? "" : ", ") + yaml_flow(child);
      return "[" + out + "]";
    case Json::value_t::string:
      return yaml_text_of(value.get_ref<const std::string&>());
    case Json::value_t::number_float:
      // fmt writes the shortest text that reads back as the same double.
      return fmt::format("{}", value.get<double>());
    default:
      return value.dump();
  }
}

}  // namespace

Json to_json(const Config& config) {
  Json out = Json::object();
  Config copy = config;  // config_keys() needs a mutable Config
  for (const ConfigKey& key : config_keys(copy)) {
    Json* at = &out;
    std::string_view rest = key.path;
    for (std::size_t point = rest.find('.'); point != rest.npos; point = rest.find('.')) {
      at = &(*at)[std::string(rest.substr(0, point))];
      rest.remove_prefix(point + 1);
    }
    (*at)[std::string(rest)] = json_of(key.value);
  }
  return out;
}

std::string yaml_text(const KeyValue& value) { return yaml_flow(json_of(value)); }

std::string dump_yaml(const Config& config, std::span<const std::string_view> without) {
  std::string out;
  Json json = to_json(config);
  for (const std::string_view path : without) {
    const std::size_t point = path.find('.');
    Json& section = point == path.npos ? json : json[std::string(path.substr(0, point))];
    section.erase(std::string(path.substr(point == path.npos ? 0 : point + 1)));
  }
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      out += key + ":\n";
      for (const auto& [name, child] : value.items()) {
        out += fmt::format("  {}: {}\n", name, yaml_flow(child));
      }
    } else if (value.is_array() && !value.empty()) {
      out += key + ":\n";
      for (const Json& item : value) out += fmt::format("  - {}\n", yaml_flow(item));
    } else {
      out += fmt::format("{}: {}\n", key, yaml_flow(value));
    }
  }
  return out;
}

}  // namespace corun::inline runner
