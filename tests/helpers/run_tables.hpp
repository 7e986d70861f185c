#pragma once

#include <string>
#include <vector>

#include "sim/cluster_spec.hpp"
#include "sim/job.hpp"
#include "sim/records/event_log.hpp"
#include "sim/records/run_details.hpp"
#include "sim/records/run_record.hpp"

/// Whether all that is recorded of a run tells the same: when each job is on its GPUs, and for how long GPUs are busy.
namespace corun::test {

/// A run in events or in rounds. The log and the details are whole: nothing was left out.
struct RunTables {
  Workload workload;
  const ClusterSpec& cluster;
  const RunRecord& record;
  const EventLog& log;
  const RunDetails& details;
};

/// The contradictions, as texts; empty: none.
std::vector<std::string> contradictions(const RunTables& run);

}  // namespace corun::test
