#pragma once

#include "runner/config/config_overrides.hpp"
#include "runner/config/config_reader.hpp"
#include "runner/config/config_writer.hpp"

/// Reading, overriding and writing configurations in YAML, for files that need several of these.
