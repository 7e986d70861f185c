#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster_spec.hpp"
#include "sim/control_loop.hpp"
#include "sim/event_log.hpp"
#include "sim/job.hpp"
#include "sim/run_record.hpp"
#include "sim/simulated_backend.hpp"
#include "sim/world.hpp"

/// What must hold of every run whatever the policy, found out from the event log and the world
/// alone. Each function returns the violations it finds, in words; none found means an empty list.
/// The engine's own bookkeeping is never asked, except to be compared.
namespace corun::test {

struct Facts {
  const Workload& workload;
  const ClusterSpec& cluster;
  const World& world;
  const RunRecord& record;
  const EventLog& log;
  std::optional<std::uint64_t> noise_seed = {};
  Duration tick{0};
  Duration round{0};
  Duration minute = std::chrono::seconds{60};
  bool epoch = false;           ///< profiling segments are one epoch
  bool keeps_progress = false;  ///< work done while profiling counts
  bool join = false;            ///< a GPU with residents may take newcomers
  Duration probe_length{0};
  bool probes_keep_progress = false;
  PreemptionCost preemption = {};
};

using Violations = std::vector<std::string>;

/// Log and records run forward; one instant is worked through in the order of DESIGN 4.1.
Violations check_time(const Facts& facts);
/// Every job arrives once, runs one run at a time, and finishes once or fails after its last retry;
/// the records say the same.
Violations check_jobs(const Facts& facts);
/// A newcomer above known memory runs out of it after the ramp-up, and nobody else does.
Violations check_memory(const Facts& facts);
/// Speeds integrated over the log: a finished job has done the work it was asked for, what preemptions
/// cost it included, to 1 ns per change of co-runners, and was not kept longer.
Violations check_work(const Facts& facts);
/// A gang starts on as many GPUs as it asked for; a group starts as one.
Violations check_gangs(const Facts& facts);
/// No GPU holds too many jobs, a profiled job is alone, GPUs take newcomers only when they may.
Violations check_capacity(const Facts& facts);
/// A probe is of two on an otherwise empty GPU, who start and end together after its length, or when
/// one of them finishes or runs out of memory; the records say the same, with the world's speeds.
Violations check_probes(const Facts& facts);
/// The episodes are those of the log: times, members, order, solo times.
Violations check_episodes(const Facts& facts);
/// ISD and PS follow from the log and the work asked, and the metrics are their means.
Violations check_outcomes(const Facts& facts);
/// Busy time, utilisation, memory and time with co-runners, integrated over the log.
Violations check_usage(const Facts& facts);

/// All of the above, each violation preceded by the name of its check.
Violations check_all(const Facts& facts);

}  // namespace corun::test
