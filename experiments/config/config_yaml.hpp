#pragma once

#include "experiments/config/config_overrides.hpp"
#include "experiments/config/config_reader.hpp"
#include "experiments/config/config_writer.hpp"

/// Configurations in YAML: reading, overriding and writing them, for who does more than one of these.
