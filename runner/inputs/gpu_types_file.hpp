#pragma once

#include <string>
#include <vector>

#include "traces/gpu_catalog.hpp"

/// GPU types of the user's own, as YAML: a list of maps.
///
///   name            required; replaces the catalogue's type of this name
///   memory_mib      required [MiB]
///   aliases         other names, a list
///   architecture    a word for people
///   sms, cuda_cores, tensor_cores, threads_per_sm, bandwidth_gbs [GB/s], memory_clock_mhz, boost_mhz,
///   fp32_tflops, l2_mib
///                   as GpuSpec; not known if absent
namespace corun::inline runner {

/// In the order of the file. InputError "FILE:LINE:COLUMN: ..." for anything else, for an empty list, and if
/// two types share a name.
std::vector<OwnGpuType> read_gpu_types(const std::string& path);

}  // namespace corun::inline runner
