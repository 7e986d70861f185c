#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "policies/srsf_packed/running.hpp"
#include "sim/allocation_belief.hpp"

/// How many GPUs elastic jobs get, by the rule by which srsf-packed shares GPUs: a GPU must do enough more work.
///
/// Sizes of a job on a GPU type are 1, 2, 4, ... GPUs up to a node, then whole nodes, as far as the job permits and the belief
/// knows. s(n) is its believed speed on n GPUs over that on the GPUs that it asks for, n0 its least size, r its expected rest
/// [solo s].
///
///   1. In the order of expected service each job, waiting or running, claims n0 GPUs, or the GPUs that it asks for.
///   2. Further GPUs go, size by size, to the job whose completions per second rise most by each of them,
///
///          (s(n') - s(n)) / r / (n' - n)
///
///      where they do `gain` more work: s(n') - s(n) >= gain (n' - n) s(n0) / n0.
///   3. A running job gives up GPUs where waiting jobs have claims that idle GPUs do not meet; those that lose the fewest
///      completions per second by GPU first.
///   4. A running job gets more GPUs where idle ones are left and its time falls by a tenth, costs included:
///
///          r / s(n) > kHysteresis (r / s(m) + cost of a restart)
///
/// After Optimus (Peng et al., EuroSys 2018), which gives GPUs one at a time by what they gain. Departures: completions per second,
/// not seconds saved, so short jobs come first, which is what mean JCT asks for (Berg et al., "heSRPT", Performance
/// Evaluation 142, 2020); a floor for the gain; costs of restarts.
namespace corun::inline policies::srsf {

class Sizes {
 public:
  /// `belief` null: no job is resized. `learns`: it changes while jobs run. `fitted`: such a belief which is told here what jobs
  /// measure, in place of `belief`; else null.
  Sizes(const Options& options, Jobs& jobs, Running& running, const AllocationBelief* belief,
        bool learns, std::unique_ptr<AllocationBelief> fitted, PreemptionLoss loss)
      : options_(options),
        jobs_(jobs),
        running_(running),
        fitted_(std::move(fitted)),
        belief_(fitted_ != nullptr ? fitted_.get() : belief),
        learns_(learns || fitted_ != nullptr),
        loss_s_(loss.seconds) {}

  /// Whether some elastic job runs.
  bool any_runs() const;
  /// A new job.
  void arrived(const JobView& job, Job& j);
  void ended(JobId job);

  /// Of a pass: sets the size of each elastic job, and of running ones the speed. Returns the running jobs that are to start
  /// anew with their new size.
  std::vector<JobId> plan(const ClusterView& view);
  /// The next smaller size for a waiting job that finds no room; false if there is none.
  bool shrink(const ClusterView& view, JobId id);

 private:
  /// What a job claims of a GPU type.
  struct Claim {
    JobId id = kNoJob;
    std::uint32_t type = 0;
    std::vector<int> sizes;  ///< ascending
    std::size_t at = 0;      ///< in `sizes`
    double rest_s = 0;
    bool waits = false;
    int held = 0;  ///< GPUs of a running job

    int gpus() const { return sizes[at]; }
  };
  struct Known {
    int phase = -1;
    std::map<std::pair<std::uint32_t, int>, double> speeds;  ///< by type and GPUs
  };

  void read_cluster(const ClusterView& view);
  void observe(const ClusterView& view, JobId id);
  double goodput(const JobView& job, std::uint32_t type, int gpus) const;
  double speed(const JobView& job, std::uint32_t type, int gpus);
  std::vector<int> sizes_on(const JobView& job, std::uint32_t type) const;
  std::vector<Claim> claims(const ClusterView& view, std::vector<int>& free);
  void grow(const ClusterView& view, std::vector<Claim>& claims, std::vector<int>& free);
  void set_size(const ClusterView& view, JobId id, std::uint32_t type, int gpus);
  double completions(const ClusterView& view, const Claim& claim, int gpus);

  const Options& options_;
  Jobs& jobs_;
  Running& running_;
  std::unique_ptr<AllocationBelief> fitted_;
  const AllocationBelief* belief_;
  bool learns_;
  double loss_s_;
  std::vector<JobId> elastic_;  ///< in the system, in the order of their arrival
  std::set<JobId> rigid_;       ///< the others in the system
  std::unordered_map<JobId, Known> known_;
  std::vector<int> gpus_of_type_;
  std::vector<int> node_of_type_;  ///< GPUs of its smallest node
};

}  // namespace corun::inline policies::srsf
