#pragma once

#include <span>
#include <string_view>

/// The default comparison.
namespace corun {

/// The policies of a configuration that names none, by their names in the catalogue.
std::span<const std::string_view> default_policy_names();

}  // namespace corun
