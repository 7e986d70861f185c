#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "models/elastic/elastic_jobs.hpp"
#include "models/goodput/goodput.hpp"
#include "models/goodput/step_time_fit.hpp"
#include "sim/allocation_belief.hpp"

/// What a scheduler learns of elastic jobs while they run, as Pollux (Qiao et al., OSDI 2021) and Sia (Jayaram
/// Subramanya et al., SOSP 2023) do: for each job and GPU type the parametric step time (models/goodput/step_time.hpp),
/// fitted to the steps that it measured there, and the gradient's statistics of its last step. Goodput on an allocation
/// is that of the best batch (best_batch()).
///
///   - A job that has run nowhere yet: 1 on one GPU of any type, unknown on more.
///   - On a type where it has not run: its goodput on as many GPUs of the first type where it has, times the ratio of the
///     types' samples per second on one GPU with the largest batch, which a short profile beforehand measures.
///   - Up to twice as many GPUs as it has had, since the cost of exchanges is unknown on more.
///   - A job that keeps one batch size: that of one batch on each allocation.
///
/// As JobTuning jobs also run with the batch that is best by their own fit, on a type where they have not run with the
/// least: M0 or b_min on each GPU, whichever is more. The truth says how long a step then takes and what it is worth.
namespace corun::inline models {

class FittedJobs final : public AllocationBelief, public JobTuning {
 public:
  /// `truth` answers only for steps that a job has run, for limits of its batch, and for the profile on one GPU of each
  /// type. It must outlive this.
  explicit FittedJobs(const ElasticJobs& truth, Duration interval = Duration::zero())
      : truth_(truth), interval_(interval) {}

  Duration interval() const override { return interval_; }
  double choose(JobId known, const Allocation& on) override;
  void measure(JobId known, const Allocation& on) override;
  Samples samples(JobId known, const Allocation& on) const override;
  const AllocationBelief& belief() const override { return *this; }

  /// Of a job that runs with the truly best batch.
  void observe(const JobView& job, const Allocation& on) override;
  double goodput(const JobView& job, const Allocation& on) const override;
  /// Work that is left is not known: infinity.
  double remaining_s(const JobView& job, const Allocation& on, Time now) const override;
  int most_gpus(const JobView& job) const override;

 private:
  struct OnType {
    std::vector<ProfiledStep> steps;  ///< of different (nodes, GPUs, batch)
    StepTimeParameters fitted;
  };
  struct Job {
    std::map<std::uint32_t, OnType> on_types;  ///< where it has run
    GradientStatistics gradient;
    std::uint32_t most_gpus = 0;  ///< that it has had
    /// Goodput by (type, nodes, GPUs) since the last observation.
    mutable std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, double> known;
  };
  void learn(JobId id, const Allocation& on, const ElasticJobs::Report& report);
  BatchSplit best_split(JobId job, const Allocation& on) const;
  double goodput_on(const Job& known, JobId job, std::uint32_t type, GpuSpread spread) const;

  const ElasticJobs& truth_;
  Duration interval_;
  std::map<JobId, Job> jobs_;
  std::map<std::pair<JobId, std::uint32_t>, BatchSplit> chosen_;  ///< by job and type
};

}  // namespace corun::inline models
