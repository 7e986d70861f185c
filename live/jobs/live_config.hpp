#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "live/jobs/job_run.hpp"
#include "runner/config/config.hpp"
#include "runner/config/config_overrides.hpp"
#include "support/output_file.hpp"

/// The configuration of live work: commands instead of a trace, and the keys of other configurations
/// (policies, belief, world, control, cluster.sharing, ...). docs/live.md lists the keys.
///
///   live: {gpus: [0], output: live-out, sample_s: 0.2, ...}
///   workloads:
///     gemm: {command: [corun, live, workload, gemm], timeout_s: 600}
///     web: {command: [./server, "{port}"], service: {rate_per_s: 20, seconds: 30, goal_ms: 100}}
///   queue: [gemm, {workload: gemm, submit_s: 5}]
namespace corun::live {

struct LiveWorkload {
  std::string name;
  JobCommand command;

  bool serves() const { return command.service.has_value(); }
};

struct QueueEntry {
  std::size_t workload = 0;  ///< position in LiveConfig::workloads
  std::string name;          ///< name of the job in outputs; unique
  Duration submit{0};
};

struct LiveConfig {
  std::vector<std::int64_t> gpus;  ///< NVML's indices; empty: all usable ones
  std::string output = "live-out";
  Existing existing = Existing::kKeepOthers;  ///< of results in `output`
  double sample_s = 0.2;
  double memory_reserve_mib = 256;      ///< kept free when a job joins others
  std::vector<LiveWorkload> workloads;  ///< in the order of the file
  std::vector<QueueEntry> queue;
  Config config;  ///< the other keys
  std::string gpus_place;
  std::string queue_place;

  bool shares_by_mps() const { return config.cluster.sharing == SharingMode::kMps; }
};

/// Reads and checks a file, with overrides. Every program must exist; the program `corun` is the
/// running one. Throws InputError with the place of the mistake.
LiveConfig read_live_config(const std::string& path, std::span<const Override> overrides);

/// The overrides that apply to LiveConfig::config.
std::vector<Override> shared_overrides(std::span<const Override> overrides);

}  // namespace corun::live
