#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "support/yaml_tree.hpp"

/// Values of a live configuration. All throw InputError with the place of the mistake.
namespace corun::live {

[[noreturn]] void refuse(const YamlNode& node, const std::string& expected);

/// Refuses a node that is not a map or has an unknown key.
void check_keys(const YamlNode& map, const std::string& what,
                std::initializer_list<std::string_view> known);

/// One line without control characters.
std::string line_of(const YamlNode& node, const std::string& expected);

double number_of(const YamlNode& node, double min, double max, const std::string& what);

}  // namespace corun::live
