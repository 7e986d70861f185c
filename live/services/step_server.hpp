#pragma once

#include <cstdint>
#include <optional>

#include "live/workloads/workload_run.hpp"

/// A built-in workload as a service: a server of HTTP/1.1 on 127.0.0.1 that does one step of the workload for each request.
namespace corun::live {

/// Serves run.recipe until `requests` have been answered (nullopt: for ever), one at a time, in the order of their arrival. Any
/// method and path is answered by {"request": 7, "seconds": 0.0041}. Writes
///
///   {"event": "start", "workload": "infer", ..., "port": 8000}          once it listens
///   {"event": "end", "requests": 100, "checksum": 1.25}                 after the last request
///
/// Throws InputError if the port cannot be listened on, DeviceError as WorkloadDevice::step().
void serve_steps(const WorkloadRun& run, int port, std::optional<std::int64_t> requests,
                 WorkloadDevice& device, const HostClock& clock, const WriteLine& write);

}  // namespace corun::live
