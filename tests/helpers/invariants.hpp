#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster_spec.hpp"
#include "sim/engine/control_loop.hpp"
#include "sim/engine/simulated_backend.hpp"
#include "sim/job.hpp"
#include "sim/records/event_log.hpp"
#include "sim/records/run_record.hpp"
#include "sim/world.hpp"
#include "tests/helpers/owned_workload.hpp"

/// Properties of every run with any policy, checked by the event log and the world alone. Each function
/// returns the violations as texts; an empty list means none. The engine's own bookkeeping is only compared
/// with the results.
namespace corun::test {

struct Facts {
  const OwnedWorkload& workload;
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
  bool join = false;            ///< a GPU with residents may take joining jobs
  Duration probe_length{0};
  bool probes_keep_progress = false;
  PreemptionCost preemption = {};
  bool preempts = false;  ///< the policy may: it finishes a job whose end is not yet noticed
};

using Violations = std::vector<std::string>;

/// Log and records go forward in time; events of one instant have the order of DESIGN 4.1.
Violations check_time(const Facts& facts);
/// Every job arrives once, has one run at a time, and finishes once or fails after its last retry; the
/// records agree.
Violations check_jobs(const Facts& facts);
/// A joining job above known memory runs out of it after the ramp-up, and no other job does.
Violations check_memory(const Facts& facts);
/// Speeds integrated over the log: a finished job has done its work, with the costs of preemptions, to 1 ns
/// per change of co-runners, and did not stay longer.
Violations check_work(const Facts& facts);
/// A gang starts on as many GPUs as it asked for; a group starts as one.
Violations check_gangs(const Facts& facts);
/// A job runs and is profiled only on GPU types that it names.
Violations check_types(const Facts& facts);
/// No GPU has too many jobs, a profiled job is alone, and GPUs take joining jobs only if they may.
Violations check_capacity(const Facts& facts);
/// A probe has two jobs on an otherwise empty GPU. They start together and end together after its length,
/// or when one of them finishes or runs out of memory. The records agree, with the world's speeds.
Violations check_probes(const Facts& facts);
/// The episodes agree with the log: times, members, order, solo times.
Violations check_episodes(const Facts& facts);
/// ISD and PS follow from the log and the work asked, and the metrics are their means. The work on the
/// reference type and the solo time on the last run's types do, too.
Violations check_outcomes(const Facts& facts);
/// Busy time, utilisation, memory, time with co-runners and by the source of speeds, integrated over the log.
Violations check_usage(const Facts& facts);

/// All of the above, each violation preceded by the name of its check.
Violations check_all(const Facts& facts);

}  // namespace corun::test
