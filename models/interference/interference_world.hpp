#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "models/interference/interference_model.hpp"
#include "sim/measurement.hpp"
#include "sim/world.hpp"

/// The world of a simulation: measured rows for workloads that were measured together, an interference model
/// for all others.
///
/// The speeds of a GPU's residents are, in this order, those of
///   1. the measured group that the latest start formed, if others have left since: its members keep their
///      measured excess per resident (DESIGN section 3);
///   2. the measured group of the residents;
///   3. the model, by the residents' features.
/// If a group was measured more than once, each co-run draws one row; without noise it takes the mean speed.
/// The noise of the model is a log-normal factor, of mean one, on each job's excess 1/s - 1. Draws are keyed
/// by (seed, set of jobs).
namespace corun::inline models {

/// Measured groups by their workloads.
class MeasuredTable {
 public:
  MeasuredTable() = default;
  /// Skips rows with an unknown workload. InputError as overlap_excess().
  explicit MeasuredTable(std::span<const CorunMeasurement> rows);
  /// The pairs and groups of a table, at its speeds. Skips those with an unknown workload or without a speed.
  /// std::invalid_argument for a speed not above 0.
  explicit MeasuredTable(const SpeedTable& table);

  /// One measured row. `workloads` ascends; excess[i], per other resident, and speed[i], in the whole group,
  /// belong to workloads[i].
  struct Row {
    std::vector<WorkloadKey> workloads;
    std::vector<double> excess;
    std::vector<double> speed;
  };
  /// All rows of these workloads (ascending, with repetition), or nullptr.
  const std::vector<Row>* find(const std::vector<WorkloadKey>& workloads) const {
    const auto it = rows_.find(workloads);
    return it == rows_.end() ? nullptr : &it->second;
  }
  std::size_t groups() const { return rows_.size(); }

  /// Marks a pair that was seen not to fit on one GPU together.
  void add_misfit(WorkloadKey a, WorkloadKey b) { misfits_.insert(std::minmax(a, b)); }
  bool fit_together(WorkloadKey a, WorkloadKey b) const {
    return misfits_.empty() || !misfits_.contains(std::minmax(a, b));
  }

 private:
  std::set<std::pair<WorkloadKey, WorkloadKey>> misfits_;  ///< ascending
  std::map<std::vector<WorkloadKey>, std::vector<Row>> rows_;
};

/// The data of a job that only the world may use.
struct WorldJob {
  WorkloadKey workload = kUnknownWorkload;
  Profile profile;
  /// In the order and units of the model's features; empty: taken from the profile, by name.
  std::vector<double> features = {};
};

class InterferenceWorld final : public World {
 public:
  /// `measured` and `model` must not be null; replications may share them. `jobs[i]` is JobId i.
  /// `extrapolated`: the cluster has another GPU type or sharing mode than the measurements. Imputed profiles
  /// count as published ones. std::invalid_argument if a job has another number of features than the model.
  InterferenceWorld(std::shared_ptr<const MeasuredTable> measured,
                    std::shared_ptr<const InterferenceModel> model,
                    const std::vector<WorldJob>& jobs, bool extrapolated);
  /// The same with the model's features of all jobs: jobs x features, row-major; std::invalid_argument for another size.
  InterferenceWorld(std::shared_ptr<const MeasuredTable> measured,
                    std::shared_ptr<const InterferenceModel> model,
                    std::vector<WorkloadKey> workloads, std::vector<double> features,
                    bool extrapolated);

  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise_seed,
                    std::span<double> out) const override;

  bool fits_together(JobId a, JobId b, std::uint32_t) const override {
    return measured_->fit_together(workloads_[index(a)], workloads_[index(b)]);
  }

  /// The measured rows with equal weights, or the model with five Gauss-Hermite nodes of noise for each job.
  void pair_outcomes(JobId a, JobId b, std::vector<PairOutcome>& out) const override;

 private:
  /// The distribution of the speeds of one set of co-runners.
  struct SpeedDistribution {
    Provenance provenance = Provenance::kAlone;
    std::uint64_t entity = 0;     ///< key of the draw, with the seed
    std::optional<double> sigma;  ///< of the log-normal factor on each excess; unset for rows
    std::size_t rows = 1;         ///< measured rows, with equal probability
    std::vector<double> speeds;   ///< rows x residents, row-major
  };
  SpeedDistribution distribution(const CoRunners& co_runners) const;
  /// The distribution from the measured rows of `group` for its members among `residents`; false if there are
  /// no rows.
  bool measured_distribution(std::span<const JobId> group, std::span<const JobId> residents,
                             SpeedDistribution& out) const;
  /// The row that (seed, entity) draws, or the mean of all rows without a seed; then multiplies each excess
  /// by its random factor. `out` has one entry per resident.
  static void draw_speeds(const SpeedDistribution& from, std::optional<std::uint64_t> noise_seed,
                          std::span<double> out);

  std::shared_ptr<const MeasuredTable> measured_;
  std::shared_ptr<const InterferenceModel> model_;
  std::vector<WorkloadKey> workloads_;
  std::vector<double> features_;  ///< jobs x the model's features, row-major
  bool extrapolated_;
};

}  // namespace corun::inline models
