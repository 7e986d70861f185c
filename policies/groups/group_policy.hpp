#pragma once

#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policies/parameters.hpp"
#include "sim/belief.hpp"
#include "sim/policy.hpp"

/// Common part of all policies that plan groups (DESIGN 4.7). When a GPU is empty, they plan over the whole
/// waiting queue with the present belief and start the next groups. In a queue of several gang sizes, or of jobs
/// that name GPU types, they plan the jobs with the oldest job's size and types, one group at a time. A single
/// waiting job starts alone at once. With `control.start: join` a waiting job may also join a running one.
namespace corun::inline policies {

/// A group of a plan and the reasons for it, for a recommendation.
struct Group {
  std::vector<JobId> jobs;
  std::optional<ClusterPair> clusters = {};  ///< of jobs[0] and jobs[1], if chosen by clusters
  int rank = 0;                              ///< of that cluster pair, from 1; 0 if there is none
  std::optional<PairBelief> expected = {};   ///< of jobs[0] and jobs[1]
  bool bin = false;                          ///< packed up to a GPU's capacity
};

/// Sorts jobs by submission, of equals by number: an order that does not depend on the queue. The older
/// job of a pair comes first, and its memory is admitted first.
void sort_by_submission(const ClusterView& view, std::span<JobId> jobs);

class GroupPolicy : public Policy {
 public:
  explicit GroupPolicy(bool plan_once) : plan_once_(plan_once) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) final;

  /// Partitions `waiting` (not empty, all of one gang size and the same GPU types, oldest first) into groups in the order in which
  /// they are to be started. Groups beyond the first `wanted` are not used. Group i of the result is group
  /// number `first + i` of the run, which keys its random draws. decide() passes at most window() jobs.
  virtual std::vector<Group> plan(const ClusterView& view, std::span<const JobId> waiting,
                                  std::uint64_t first, std::size_t wanted) = 0;

  /// A plan covers at most this many waiting jobs, the oldest.
  virtual std::size_t window() const { return kWindow; }

  /// The job of `waiting` (not empty, all single-GPU jobs that may run there) that joins `resident`, if any; default: the
  /// oldest.
  virtual std::optional<JobId> co_runner(const ClusterView& view, JobId resident,
                                         std::span<const JobId> waiting) {
    (void)view;
    (void)resident;
    return waiting.front();
  }

  /// The greatest number of jobs per GPU if the cluster sets no limit.
  static constexpr int kPair = 2;
  /// window() of policies that plan anew in every pass: a queue that grows without bound must not make each
  /// decision slower. All queues of the papers are shorter.
  static constexpr std::size_t kWindow = 512;

 private:
  void start_groups(const ClusterView& view, std::vector<Decision>& out);
  void join_residents(const ClusterView& view, std::vector<Decision>& out);

  bool plan_once_;
  std::deque<Group> frozen_;     ///< control.plan: once
  std::uint64_t committed_ = 0;  ///< groups started so far
};

}  // namespace corun::inline policies
