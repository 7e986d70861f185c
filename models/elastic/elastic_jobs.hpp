#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/elastic/step_times.hpp"
#include "models/goodput/goodput.hpp"
#include "sim/allocation_belief.hpp"
#include "sim/allocation_speed.hpp"
#include "sim/elastic_program.hpp"

/// The true speed of elastic jobs by their GPUs: measured steps and measured gradients of their programs (DESIGN 4.22), after
/// the simulator of Pollux (Qiao et al., OSDI 2021).
///
///   progress per second = g / t
///   g = (v + q) / (v / s + q)                  steps with the initial batch size M0 that one step with M = s M0 is worth
///   t = (T - S) a + T                          time of a step with a accumulations
///
/// v: variance, q: squared norm of the gradient in the present epoch, linear in M between the measured batch sizes; T, S: time
/// of the measured step and its exchange of gradients with M / (n (a + 1)) samples on each of n GPUs (StepTimes). Each epoch
/// is a phase of the job; its progress is that of the batch size that needed least.
namespace corun::inline models {

struct ElasticJob {
  std::size_t program = 0;
  /// Samples of a step on all its GPUs, on any allocation; 0: the job takes on each allocation, in each epoch, the batch
  /// size with the most progress per second.
  int batch = 0;
  std::uint32_t first_phase = 0;
};

/// How a job divides its batch: samples on each GPU at a time, and how many times more before it exchanges gradients.
struct BatchSplit {
  int local = 1;
  int accumulations = 0;
};

class ElasticJobs final : public AllocationSpeed, public AllocationBelief {
 public:
  /// By GpuType::id; nothing: the program was not measured on this type.
  using OnTypes = std::vector<std::optional<ProgramOnType>>;
  struct Program {
    ElasticProgram program;  ///< without `on_types`
    OnTypes on_types;
  };

  /// `spread_factor`: AllocationSpeed::beside_spread_jobs().
  ElasticJobs(std::vector<Program> programs, double spread_factor);

  /// The next job, in the order of JobId; its phases are those of the workload from job.first_phase on.
  void add(ElasticJob job);
  /// Progress of an epoch [steps with the initial batch size].
  double progress_in(std::size_t program, std::size_t epoch) const;
  /// Progress per second of a job that has been added; 0 on a type on which its program was not measured.
  double rate(JobId job, std::size_t epoch, const Allocation& on) const;
  /// After the jobs: the rate of which the work of each phase was made, and what a second of that work is worth [steps with
  /// the initial batch size]; the latter is less where progress is taken to be slower than its measurements.
  void set_reference_rates(std::vector<double> by_phase, std::vector<double> of_work) {
    reference_rates_ = std::move(by_phase);
    progress_of_work_ = std::move(of_work);
  }

  double factor(JobId known, const Allocation& on) const override;
  bool counts_samples() const override { return true; }
  Samples samples(JobId known, const Allocation& on) const override;
  double beside_spread_jobs() const override { return spread_factor_; }
  /// Jobs choose their batch sizes by what they have measured (FittedJobs), anew at each multiple of this time; 0: the truly
  /// best ones, as factor() has it.
  void set_refit(Duration interval) { refit_ = interval; }
  std::unique_ptr<JobTuning> tuning() const override;

  double goodput(const JobView& job, const Allocation& on) const override;
  /// Steps that the measured run of the job's batch size took after its present epoch, 1 in the last epoch, times the time of
  /// a step here. This is what the simulator tells Optimus, with its flaw: on one GPU a batch that fits is taken to need no
  /// accumulation.
  double remaining_s(const JobView& job, const Allocation& on, Time now) const override;
  std::unique_ptr<AllocationBelief> fitted() const override;

  /// What the training of a job reports of a step in an epoch: what a scheduler may fit a belief to.
  struct Report {
    std::uint32_t gpu_batch = 1;  ///< samples on each GPU at a time
    double step_s = 0;            ///< of a step without accumulation
    double sync_s = 0;            ///< its exchange of gradients
    GradientStatistics gradient;
  };
  /// On a type on which its program was measured.
  Report report(JobId job, std::size_t epoch, const Allocation& on) const;
  /// Of a step with its batch divided like this.
  Report report(JobId job, std::size_t epoch, const Allocation& on, BatchSplit split) const;
  /// factor() with its batch divided like this.
  double factor(JobId known, const Allocation& on, BatchSplit split) const;
  /// samples() with its batch divided like this.
  Samples samples(JobId known, const Allocation& on, BatchSplit split) const;
  /// The job and the epoch of a number by which the world knows it.
  std::pair<JobId, std::size_t> in_epoch(JobId known) const;
  /// How the job divides a batch on this allocation; on a type on which its program was measured.
  BatchSplit split(JobId job, int batch, const Allocation& on) const;
  bool runs_on(JobId job, std::uint32_t gpu_type) const;
  /// On a type on which its program was measured.
  BatchLimits limits(JobId job, std::uint32_t gpu_type) const;
  /// Of a job that keeps one batch size; 0: it chooses.
  int fixed_batch(JobId job) const { return jobs_[index(job)].batch; }
  /// Samples per second of one GPU of the type with its largest batch: how much faster one type is than another.
  double samples_per_s(JobId job, std::uint32_t gpu_type) const;

 private:
  struct Choice {
    BatchSplit split;
    double rate = 0;  ///< progress per second
  };
  std::size_t phase_of(JobId known) const;
  StepTime step(std::size_t program, const Allocation& on, int local) const;
  double gain(const ElasticProgram& program, std::size_t epoch, double batch) const;
  double rate_with(std::size_t program, std::size_t epoch, const Allocation& on,
                   BatchSplit split) const;
  Choice best(std::size_t program, std::size_t epoch, const Allocation& on) const;
  BatchSplit split_of(const ElasticJob& job, std::size_t epoch, const Allocation& on) const;

  std::vector<Program> programs_;
  std::vector<std::vector<std::optional<StepTimes>>> times_;  ///< by program and type
  std::vector<ElasticJob> jobs_;
  struct PhaseOf {
    JobId job = kNoJob;
    std::uint32_t epoch = 0;
  };
  std::vector<PhaseOf> phases_;
  std::vector<double> reference_rates_;   ///< by phase
  std::vector<double> progress_of_work_;  ///< by phase
  double spread_factor_;
  Duration refit_{0};
  mutable std::mutex mutex_;  ///< guards the maps
  /// By GPUs on nodes, program, type and local batch.
  mutable std::map<std::vector<int>, StepTime> known_;
  /// By GPUs on nodes, program, type and epoch. Policies ask for the same few thousand times in each pass.
  mutable std::map<std::vector<int>, Choice> best_;
};

/// The split of a batch on this many GPUs of a type. Accumulations are as few as the largest local batch permits; with
/// `accumulates_alone` at least one for one GPU and a batch above the initial one (Pollux needs two gradients to know their
/// variance).
BatchSplit split_batch(int batch, int gpus, const ElasticProgram& program, const ProgramOnType& on,
                       bool accumulates_alone);

}  // namespace corun::inline models
