#pragma once

#include <string>

#include "live/gpu/box_probe.hpp"
#include "support/json.hpp"

/// Outputs of the probe of a box. A value that the driver does not report is "-" in the table, empty in CSV
/// and null in JSON.
namespace corun::live {

/// {"driver", "cuda", "mps", "gpus": [{"index", ..., "refused": {"alone": [reasons], ...}}], "error"}.
/// `error`: why no GPU answers, else empty and null in JSON.
Json probe_json(const BoxProbe& box, const std::string& error = "");

/// One row per GPU under a header.
std::string probe_csv(const BoxProbe& box);

/// A table of the GPUs, then a line for each GPU and use.
std::string probe_table(const BoxProbe& box);

}  // namespace corun::live
