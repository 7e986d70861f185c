#pragma once

#include <string>

#include "experiments/base/json.hpp"
#include "experiments/live/gpu/box_probe.hpp"

/// How the probe of a box is shown. What the driver does not tell is "-" in the table, empty in CSV and
/// null in JSON.
namespace corun::live {

/// {"driver", "cuda", "mps", "gpus": [{"index", ..., "refused": {"alone": [reasons], ...}}]}.
Json probe_json(const BoxProbe& box);

/// One row per GPU under a header.
std::string probe_csv(const BoxProbe& box);

/// What is there, then a line for each GPU and use.
std::string probe_table(const BoxProbe& box);

}  // namespace corun::live
