#pragma once

#include "experiments/config/config.hpp"

/// What no single key of a configuration shows.
namespace corun {

/// Throws InputError, at the place of one of the keys, where keys do not go together.
void check_together(const Config& config);

}  // namespace corun
