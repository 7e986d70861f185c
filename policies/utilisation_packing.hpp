#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "policies/placement.hpp"
#include "sim/policy.hpp"

/// Common part of `proactive` and `reactive`, the co-locating schedulers of Yeung et al., "Towards GPU
/// Utilization Prediction for Cloud Deep Learning" (HotCloud 2020), section 6: first-fit-decreasing on GPU
/// utilisation. They differ in where the utilisation comes from: `proactive` takes the predicted one at submission,
/// `reactive` lets each job run alone first (profiling segments) and takes the measured one.
///
/// Waiting jobs are taken by utilisation, descending; equal ones by place in the queue. Each goes to the first GPU, by
/// index, with fewer than `most_jobs` residents whose utilisation with the job's adds up to at most `capacity_pct`.
/// An empty GPU holds any job. A job that fits nowhere waits and holds up no other.
///
/// The paper calls its first-fit-decreasing "modified" and does not say how. Chosen here: the queue is packed again at
/// each arrival and departure; a job of unknown utilisation counts `capacity_pct`; a job that ran out of memory is
/// submitted again and then starts on an empty GPU only (others may join it); a gang takes the first GPUs that have
/// room, on any node. The paper's scheduler does not look at memory; with `memory: checked` a job joins only
/// residents that leave room for its demand, unknown demands counting 0.
///
/// Cost of a pass: O(GPUs), and for each start and each job that memory, GPU types or a gang kept back O(GPUs).
namespace corun::inline policies {

class UtilisationPacking final : public Policy {
 public:
  struct Options {
    int most_jobs = 3;  ///< on a GPU
    double capacity_pct = 100;
    bool checks_memory = false;
  };

  explicit UtilisationPacking(const Options& options) : options_(options) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override;
  void arrived(const JobView& job, Time now) override;
  void departed(JobId job, LogKind how, Time now) override;

  /// The parameters of both policies.
  static const ParametersOf<Options>& parameters();

 private:
  struct Waiting {
    double util_pct = 0;
    std::uint64_t position = 0;  ///< running number of its arrival in the queue
    JobId job = kNoJob;
    friend bool operator<(const Waiting& a, const Waiting& b) {
      return std::tie(b.util_pct, a.position) < std::tie(a.util_pct, b.position);
    }
  };
  struct Gpu {
    int residents = 0;
    double util_pct = 0;
    double memory_mib = 0;
  };
  struct Running {
    double util_pct = 0;
    double memory_mib = 0;
    std::vector<GpuId> gpus;
  };

  double util_of(const JobView& job) const;
  bool has_room(const ClusterView& view, GpuId gpu, const JobView& job) const;
  /// The first GPUs with room for the job; none if there are too few.
  std::vector<GpuId> first_fit(const ClusterView& view, const JobView& job) const;
  /// The most that a GPU can still take [%]; below 0: none can take any job.
  double most_room(const ClusterView& view, int most_jobs) const;

  Options options_;
  int most_jobs_ = 1;  ///< of options_, and of the cluster
  std::uint64_t next_position_ = 0;
  std::set<Waiting> waiting_;
  std::vector<Gpu> gpus_;
  std::unordered_map<JobId, Running> running_;
};

/// Traits of both: they read utilisation and, where checked, memory.
inline constexpr PolicyTraits kUtilisationPackingTraits{
    .always_colocates = true, .reads_memory = true, .reads_utilisation = true};

}  // namespace corun::inline policies
