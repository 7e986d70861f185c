#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/event_log.hpp"
#include "sim/run_record.hpp"
#include "traces/trace.hpp"

/// Virtual clusters: queues with nodes of their own, as Philly and Helios have them. They share nothing,
/// so each is simulated as a cluster for itself, by a policy object of its own, and the records are put
/// together again.
namespace corun {

struct VirtualCluster {
  std::string name;
  std::int64_t nodes = 0;
};

/// A CSV with a header and two columns: the name of a virtual cluster (`vc`, or no name at all as in
/// Lucid's files) and the number of its nodes (`nodes` or `num`), 1 or more. In file order, which is that
/// of their nodes in the cluster. InputError for anything else.
std::vector<VirtualCluster> read_virtual_clusters(const std::string& path);

/// The jobs of one virtual cluster as a trace of their own.
struct TracePart {
  Trace trace;
  std::vector<JobId> jobs;  ///< by JobId of the part: that of the whole; ascending
};

/// One part for each of `clusters`, in their order, perhaps without jobs. Every name of
/// trace.virtual_clusters must be among them (std::logic_error).
std::vector<TracePart> split_by_virtual_cluster(const Trace& trace,
                                                std::span<const VirtualCluster> clusters);

/// Adds the record of a part, whose GPUs follow those of the parts before it. `whole.jobs` has the size
/// of the whole trace. Jobs, GPUs and groups are renumbered; episodes and probes come to stand part by
/// part: sort_by_end() puts them in order.
void add_part(RunRecord& whole, RunRecord part, const TracePart& of);
void sort_by_end(RunRecord& whole);

/// Renumbers the jobs of a part's log and moves its GPUs up by `first_gpu`.
void renumber(EventLog& log, const TracePart& of, int first_gpu);

}  // namespace corun
