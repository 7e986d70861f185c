#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/gpu_spec.hpp"

/// The GPU types that corun knows, with their public specifications, and the names under which public tables
/// have them.
namespace corun {

/// All types, by architecture. The slices of GPUs with MIG are types of their own, "A100-40GB:1g.5gb", with
/// their share of the SMs, the memory and its bandwidth.
std::span<const GpuSpec> gpu_catalog();

/// The type of this name, or of an alias: case, spaces, '-', '_' and the words NVIDIA, Tesla, GeForce do not
/// matter, so "GeForce RTX 3090" is RTX-3090. nullptr if there is none.
const GpuSpec* find_gpu(std::string_view name);

/// Whether two names stand for one type; names that are not in the catalogue only for themselves.
bool same_gpu_type(std::string_view a, std::string_view b);

/// The catalogue's name for a type; `name` itself if it is not there.
std::string standard_gpu_name(std::string_view name);

/// Advice for a name that is not in the catalogue: the nearest one, and the list of all.
std::string known_gpus(std::string_view name);

/// Gavel's name (v100, p100, k80) for a type; empty for a type that Gavel lacks.
std::string_view gpu_of_gavel(std::string_view type);

}  // namespace corun
