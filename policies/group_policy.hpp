#pragma once

#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policies/parameters.hpp"
#include "sim/belief.hpp"
#include "sim/policy.hpp"

/// What all policies that plan groups have in common (DESIGN 4.7): when a GPU is empty, plan over the
/// whole waiting queue with the belief of now and commit the next group, in a queue of several gang sizes
/// of the oldest job's size, one group at a time; a lone waiting job starts
/// alone at once; with `control.start: join` a waiting job may also join a running one.
namespace corun {

/// A group of a plan and, for the reader of a recommendation, why it was made.
struct Group {
  std::vector<JobId> jobs;
  std::optional<ClusterPair> clusters = {};  ///< of jobs[0] and jobs[1], where clusters decided
  int rank = 0;                             ///< of that cluster pair, from 1; 0 where there is none
  std::optional<PairBelief> expected = {};  ///< of jobs[0] and jobs[1]
  bool bin = false;                         ///< packed up to a GPU's capacity
};

class GroupPolicy : public Policy {
 public:
  explicit GroupPolicy(bool plan_once) : plan_once_(plan_once) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) final;

  /// Partitions `waiting` (not empty, all of one gang size, oldest first) into groups in the order in
  /// which they are to be started. Groups beyond the first `wanted` will not be looked at. Group i of
  /// the answer is group number `first + i` of the run, which keys its random draws. All of
  /// `waiting` takes part; decide() passes at most window() jobs.
  virtual std::vector<Group> plan(const ClusterView& view, std::span<const JobId> waiting,
                                  std::uint64_t first, std::size_t wanted) = 0;

  /// A plan is over this many waiting jobs at most, the oldest.
  virtual std::size_t window() const { return kWindow; }

  /// The job of `waiting` (not empty, all single-GPU jobs) that joins `resident`, if any.
  virtual std::optional<JobId> co_runner(const ClusterView& view, JobId resident,
                                         std::span<const JobId> waiting) {
    (void)view;
    (void)resident;
    return waiting.front();
  }

  /// The greatest number of jobs this policy puts together when the cluster sets no limit.
  static constexpr int kPair = 2;
  /// window() of policies that plan anew in every pass: a queue that grows without bound must not make
  /// each decision slower. No queue of the papers comes near.
  static constexpr std::size_t kWindow = 512;

 private:
  void start_groups(const ClusterView& view, std::vector<Decision>& out);
  void join_residents(const ClusterView& view, std::vector<Decision>& out);

  bool plan_once_;
  std::deque<Group> frozen_;     ///< control.plan: once
  std::uint64_t committed_ = 0;  ///< groups started so far
};

}  // namespace corun
