#pragma once

#include "experiments/config/config_overrides.hpp"
#include "experiments/config/config_reader.hpp"
#include "experiments/config/config_writer.hpp"

/// Reading, overriding and writing configurations in YAML, for files that need several of these.
