#pragma once

#include "runner/config/config.hpp"

/// Checks of keys that depend on one another.
namespace corun::inline runner {

/// Throws InputError at the place of one of the keys if keys contradict each other.
void check_together(const Config& config);

}  // namespace corun::inline runner
