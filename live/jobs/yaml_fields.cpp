#include "live/jobs/yaml_fields.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::live {

[[noreturn]] void refuse(const YamlNode& node, const std::string& expected) {
  throw InputError(node.place(), "found " + node.description() + ", expected " + expected);
}

void check_keys(const YamlNode& map, const std::string& what,
                std::initializer_list<std::string_view> known) {
  if (map.kind != YamlNode::Kind::kMap) refuse(map, what);
  const std::vector<std::string_view> names(known);
  for (const YamlNode& child : map.children) {
    if (std::find(names.begin(), names.end(), child.key) != names.end()) continue;
    throw InputError(child.key_place(), "unknown key '" + printable(child.key) +
                                            "': " + did_you_mean(child.key, names));
  }
}

std::string line_of(const YamlNode& node, const std::string& expected) {
  if (node.kind != YamlNode::Kind::kScalar || find_bad_text(node.text, false) < node.text.size()) {
    refuse(node, expected);
  }
  return node.text;
}

double number_of(const YamlNode& node, double min, double max, const std::string& what) {
  const auto value = node.kind == YamlNode::Kind::kScalar && !node.quoted ? parse_number(node.text)
                                                                          : std::optional<double>();
  if (!value || *value < min || *value > max) {
    refuse(node, what + " from " + std::to_string(std::llround(min)) + " to " +
                     std::to_string(std::llround(max)));
  }
  return *value;
}

}  // namespace corun::live
