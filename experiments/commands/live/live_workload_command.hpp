#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/live/workloads/device.hpp"

/// `corun live workload NAME`: a job of the classes that the papers ran, for boxes without PyTorch.
namespace corun::live {

/// Runs on the first visible GPU. Exit code 1 where it has not the memory, with "CUDA error: out of
/// memory" on stderr. SIGTERM and SIGINT end it at once, as they end most programs.
int workload_command(const std::vector<std::string>& arguments);

using OpenDevice =
    std::function<std::unique_ptr<WorkloadDevice>(const Recipe&, std::uint64_t seed, Gemm)>;

/// The same on what `open` gives.
int workload_command_on(const std::vector<std::string>& arguments, const OpenDevice& open);

}  // namespace corun::live
