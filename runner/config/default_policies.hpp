#pragma once

#include <span>
#include <string_view>

namespace corun::inline runner {

/// The catalogue names of the policies of a configuration that names none: the default comparison.
std::span<const std::string_view> default_policy_names();

}  // namespace corun::inline runner
