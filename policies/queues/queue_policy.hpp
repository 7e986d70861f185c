#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "policies/placement.hpp"
#include "sim/policy.hpp"

/// Common part of the policies that take one job after the other and give it GPUs of its own: fifo and sjf,
/// and with preemption srtf and las (preemptive_queue.hpp). They differ in the order.
///
/// The queue is kept sorted, one part per gang size and GPU types that jobs name: O(log n) per arrival and
/// start, O(parts) per pass that starts no job.
namespace corun::inline policies {

/// A waiting job. Order: by rank, then `since`, then `position`, ascending.
struct QueueEntry {
  double rank = 0;
  Time since{0};               ///< submit time, unless the policy sets another
  std::uint64_t position = 0;  ///< running number of its arrival in the queue
  JobId job = kNoJob;

  friend bool operator<(const QueueEntry& a, const QueueEntry& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.since != b.since) return a.since < b.since;
    return a.position < b.position;
  }
};

enum class Blocking : std::uint8_t {
  kStrict,    ///< the first job without room holds up all jobs behind it
  kBackfill,  ///< jobs of other gang sizes or GPU types behind a job without room may start
};

/// The functions of policies/placement.hpp.
enum class Placing : std::uint8_t { kConsolidated, kAnywhere, kFastest, kYarn, kFreest };

struct PlacingOptions {
  Placing placing = Placing::kConsolidated;
};

/// GPUs for the job among free ones, on all of which it may run; none if there is no room.
std::vector<GpuId> place_by(Placing placing, const ClusterState& state, const FreeGpus& free,
                            const JobView& job);

std::string placement_matters(const ParameterContext& c);

/// Declares the parameter of PlacingOptions.
template <typename Options>
ParametersOf<Options> with_placing(ParametersOf<Options> parameters) {
  parameters.choice(
      "placement", &Options::placing,
      {{"consolidated", Placing::kConsolidated},
       {"anywhere", Placing::kAnywhere},
       {"fastest", Placing::kFastest},
       {"yarn", Placing::kYarn},
       {"freest", Placing::kFreest}},
      "consolidated: a gang on as few nodes as can be, or it waits (Lucid); anywhere: "
      "one node where it fits, else the lowest-numbered free GPUs; fastest: the same on "
      "the GPU type with room on which the job is fastest; yarn: the first node with room, "
      "or whole nodes and a rest under one switch (Tiresias' simulator); freest: the nodes with "
      "the "
      "most free GPUs (Pollux' simulator)");
  return parameters.only_where(placement_matters);
}

struct QueueOptions : PlacingOptions {
  Blocking blocking = Blocking::kStrict;
};

/// The parameters `blocking` and `placement` of all these policies.
const ParametersOf<QueueOptions>& queue_parameters();

/// The traits of a policy without sharing that places so: `others`, and what depends on the placement.
PolicyTraits placing_traits(Placing placing, PolicyTraits others);

/// The traits of such a policy: `others`, without sharing, and consolidating as `placement` says.
PolicyTraits queue_traits(const Parameters& parameters, PolicyTraits others = {});

class QueuePolicy : public Policy {
 public:
  explicit QueuePolicy(QueueOptions options) : options_(options) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override;
  void arrived(const JobView& job, Time now) override;

 protected:
  /// The rank of a job that joins the queue, new or back.
  virtual double rank(const JobView& job) const = 0;

  /// Called with the entry of a job before the job joins the queue; may change the entry.
  virtual void enter(const JobView& job, Time now, QueueEntry& entry) {
    (void)job;
    (void)now;
    (void)entry;
  }
  /// Adds decisions that start a job for which there are no free GPUs; false: there are none.
  virtual bool make_room(const ClusterView& view, const QueueEntry& entry, const GpuAsk& ask,
                         std::vector<Decision>& out) {
    (void)view;
    (void)entry;
    (void)ask;
    (void)out;
    return false;
  }
  /// A decision to start this job has been made.
  virtual void starting(const ClusterView& view, const QueueEntry& entry,
                        const std::vector<GpuId>& gpus) {
    (void)view;
    (void)entry;
    (void)gpus;
  }
  /// Moves a waiting job within the order.
  void move(const QueueEntry& from, const QueueEntry& to, const GpuAsk& ask);
  /// Jobs that found no room are tried again.
  void retry() { ++changes_; }

  std::vector<GpuId> place(const ClusterView& view, const FreeGpus& free,
                           const QueueEntry& entry) const {
    return place_by(options_.placing, view.state(), free, view.job(entry.job));
  }

 private:
  /// The waiting jobs that ask for the same GPUs.
  struct Part {
    GpuAsk ask;
    std::set<QueueEntry> queue;
    JobId refused = kNoJob;      ///< first job of the queue when it found no room,
    std::size_t departures = 0;  ///< with these many departures
    std::size_t changes = 0;
  };

  Part& part_of(const GpuAsk& ask);

  QueueOptions options_;
  std::vector<Part> parts_;  ///< by what they ask for, ascending
  std::uint64_t next_position_ = 0;
  std::size_t changes_ = 1;
};

}  // namespace corun::inline policies
