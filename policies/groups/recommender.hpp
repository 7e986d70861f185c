#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/groups/group_policy.hpp"
#include "policies/groups/least_certain_pairs.hpp"
#include "policies/groups/pairing.hpp"

/// The Job Recommendation Service (JRS section II-B), specified by DESIGN 4.9 and 4.10: its input is a
/// queue of profiles, its output groups. `balance`, `min-slowdown`, `max-packing`, `oracle` and the command
/// `corun recommend` are this planner with different objectives and beliefs.
///
/// A plan with a belief by clusters:
///   1. max-packing only: fill one GPU's bin in ascending order of a resource until the next job would
///      exceed 100 %. A bin is a group of three or more; a smaller fill is left to the pairing
///      (a bin that the configuration gives may have two).
///   2. Choose how many groups each pair of clusters gets (pairing.hpp), best rank first.
///   3. Fill the slots in that order with the waiting jobs of each cluster by ascending uncertainty, ties by
///      job index: pairs of two clusters join i-th with i-th, pairs of one cluster consecutive jobs; the jobs
///      of highest uncertainty are left over. With probability epsilon a slot takes a uniformly drawn waiting
///      job of its cluster instead.
/// With a belief about individual jobs, the matching (or the greedy ranking) is over jobs. Then with
/// probability epsilon a slot takes a uniformly drawn job of those without a slot instead.
///
/// With Explore::kThompson all costs of a scheduling pass are one draw from the belief's distribution
/// (Thompson 1933; Belief::sampled_pair), keyed by (seed, number of the pass): little known pairs are
/// tried, until they are known to be worse. Epsilon is then not used.
///
/// A plan covers the `window` oldest waiting jobs. With a belief about individual jobs, up to kMatchedJobs
/// are matched over all pairs, cubic in their number; more by sparse_matching(), which proves a bound on
/// the loss (plan_quality()). Greedy rankings and costs drawn by Thompson sampling are limited to
/// kMatchedJobs.
namespace corun::inline policies {

/// How a policy tries pairs that do not have the least expected cost.
enum class Explore : std::uint8_t { kEpsilon, kThompson };

struct RecommenderOptions {
  Objective objective = Objective::kMinSlowdown;
  Pairing pairing = Pairing::kMatching;
  std::vector<ClusterPair> order = {};  ///< of Pairing::kGiven
  double epsilon = 0;                   ///< 0 to 1
  double risk = 0;                      ///< see objective_cost()
  Explore explore = Explore::kEpsilon;
  bool pack_bin = false;                     ///< max-packing: fill a bin first
  bool bin_by_memory = false;                ///< by memory allocated, else by GPU utilisation
  std::optional<std::int64_t> bin_max = {};  ///< largest bin; the cluster's limit holds too
  /// Jobs that a plan covers; nothing: kMatchedJobs for beliefs about individual jobs, kWindow for beliefs
  /// by clusters.
  std::optional<std::size_t> window = {};
  std::vector<JobId> given_bin = {};  ///< the bin itself, if the configuration gives it
};

class Recommender final : public GroupPolicy {
 public:
  static constexpr std::size_t kMatchedJobs = 256;

  Recommender(RecommenderOptions options, PolicyContext context);

  std::vector<Group> plan(const ClusterView& view, std::span<const JobId> waiting,
                          std::uint64_t first, std::size_t wanted) override;
  std::optional<JobId> co_runner(const ClusterView& view, JobId resident,
                                 std::span<const JobId> waiting) override;
  void corun_ended(const EpisodeOutcome& outcome) override { belief_->learn(outcome); }
  void probe_ended(const ProbeOutcome& outcome) override { belief_->learn_probe(outcome); }
  std::size_t window() const override { return options_.window.value_or(kWindow); }

  const Belief* belief() const override { return belief_.get(); }
  ProbePlanner* probe_planner() override {
    return belief_->learns_from_probes() ? &probe_planner_ : nullptr;
  }
  std::optional<PlanBound> plan_quality() const override { return bound_; }

 private:
  /// The key of this pass's costs; nothing if the costs are the expected ones.
  std::optional<std::uint64_t> draw_of(const ClusterView& view) const;
  double job_cost(JobId a, JobId b, std::optional<std::uint64_t> draw) const;
  std::vector<JobId> choose_bin(const ClusterView& view, std::span<const JobId> waiting) const;
  void pair_by_cluster(const ClusterBelief& clusters, std::span<const JobId> waiting,
                       std::uint64_t first, std::optional<std::uint64_t> draw,
                       std::vector<Group>& groups) const;
  void pair_by_job(const ClusterView& view, std::span<const JobId> waiting,
                   std::optional<std::uint64_t> draw, std::vector<Group>& groups) const;

  /// Epsilon for beliefs about individual jobs. Each place of a group, in the order of the plan, with
  /// probability epsilon exchanges its job with that of a place drawn uniformly among itself and those after
  /// it. So it gets a uniformly drawn job of those without a place, and every job keeps one.
  void explore_jobs(std::uint64_t first, std::vector<Group>& groups);
  /// Pairs of `jobs` by sparse_matching().
  void pair_sparsely(const ClusterView& view, std::span<const JobId> waiting,
                     std::vector<Group>& groups);

  RecommenderOptions options_;
  std::optional<PlanBound> bound_;  ///< of the last plan
  std::unique_ptr<Belief> belief_;
  std::uint64_t seed_;
  LeastCertainPairs probe_planner_;
};

}  // namespace corun::inline policies
