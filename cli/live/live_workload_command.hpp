#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "live/workloads/device.hpp"

/// `corun live workload NAME`: runs a job of the papers' classes, for machines without PyTorch.
namespace corun::live {

/// Runs on the first visible GPU. If its memory does not suffice, prints "CUDA error: out of
/// memory" on stderr and returns exit code 1. SIGTERM and SIGINT end the job at once.
int workload_command(const std::vector<std::string>& arguments);

using OpenDevice =
    std::function<std::unique_ptr<WorkloadDevice>(const Recipe&, std::uint64_t seed, Gemm)>;

/// The same on the device that `open` returns.
int workload_command_on(const std::vector<std::string>& arguments, const OpenDevice& open);

}  // namespace corun::live
