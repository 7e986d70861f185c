#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/records/event_log.hpp"
#include "sim/records/run_details.hpp"
#include "sim/records/run_record.hpp"
#include "traces/trace.hpp"

/// Virtual clusters: queues with nodes of their own, as in Philly and Helios. They share nothing,
/// so each is simulated as a separate cluster with its own policy object, and the records are then
/// combined.
namespace corun::inline runner {

struct VirtualCluster {
  std::string name;
  std::int64_t nodes = 0;
};

/// Reads a CSV with a header and two columns: the name of a virtual cluster (`vc`, or an empty
/// header as in Lucid's files) and the number of its nodes (`nodes` or `num`), 1 or more. The order
/// of the file is that of their nodes in the cluster. InputError for anything else.
std::vector<VirtualCluster> read_virtual_clusters(const std::string& path);

/// Of all of them.
std::int64_t nodes_of(std::span<const VirtualCluster> clusters);

/// The jobs of one virtual cluster as a trace of their own.
struct TracePart {
  Trace trace;
  std::vector<JobId> arrivals;  ///< in the order of the whole trace
  std::vector<JobId> jobs;      ///< JobId in the whole trace, by JobId of the part; ascending
};

/// One part for each of `clusters`, in their order; a part may have no jobs. Throws
/// std::logic_error if a name of trace.virtual_clusters is not among them.
std::vector<TracePart> split_by_virtual_cluster(const Trace& trace, std::span<const JobId> arrivals,
                                                std::span<const VirtualCluster> clusters);

/// Adds the record of a part, whose GPUs follow those of the earlier parts. `whole.jobs` must have
/// one entry per job of the whole trace. Jobs, GPUs and groups are renumbered. Episodes and probes
/// are appended; call sort_by_end() after the last part.
void add_part(RunRecord& whole, RunRecord part, const TracePart& of);
void sort_by_end(RunRecord& whole);

/// Adds the co-runs and events of a part, whose GPUs begin at `first_gpu`; call sort_details() after the last
/// part, which leaves out what is beyond the limits.
void add_details(RunDetails& whole, RunDetails part, const TracePart& of, int first_gpu);
void sort_details(RunDetails& whole, const DetailLimits& limits);

/// Renumbers the jobs of a part's log and moves its GPUs up by `first_gpu`.
void renumber(EventLog& log, const TracePart& of, int first_gpu);

}  // namespace corun::inline runner
