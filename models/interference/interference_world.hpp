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

/// The world of a simulation: measured rows where exactly these workloads were measured together, an
/// interference model for the rest.
///
/// Which row or model speaks for the residents of a GPU, in this order:
///   1. the set as it was formed by the latest start is a measured group: its members keep their
///      measured excess per resident while others leave (DESIGN section 3);
///   2. the residents are a measured group;
///   3. the model, on the residents' profiles.
/// Measured more than once: one row is drawn per co-run, or the mean speed is taken without noise.
/// The model's noise multiplies each job's excess 1/s - 1 by a log-normal factor of mean one. Draws are
/// keyed by (seed, set of jobs).
namespace corun {

/// Measured groups by the workloads in them.
class MeasuredTable {
 public:
  MeasuredTable() = default;
  /// Rows with an unknown workload are passed over. Throws InputError for impossible times.
  explicit MeasuredTable(std::span<const CorunMeasurement> rows);
  /// The pairs of a table, at its speeds. Rows with an unknown workload or without both speeds are
  /// passed over. std::invalid_argument for speeds that are not above 0.
  explicit MeasuredTable(const SpeedTable& table);

  /// One measured row: `excess[i]` and `speed[i]`, that of the whole group, belong to `workloads[i]`
  /// (ascending).
  struct Row {
    std::vector<WorkloadKey> workloads;
    std::vector<double> excess;
    std::vector<double> speed;
  };
  /// All rows of this multiset of workloads (ascending), or nullptr.
  const std::vector<Row>* find(const std::vector<WorkloadKey>& workloads) const {
    const auto it = rows_.find(workloads);
    return it == rows_.end() ? nullptr : &it->second;
  }
  std::size_t groups() const { return rows_.size(); }

  /// Was seen not to fit on one GPU together.
  void add_misfit(WorkloadKey a, WorkloadKey b) { misfits_.insert(std::minmax(a, b)); }
  bool fit_together(WorkloadKey a, WorkloadKey b) const {
    return misfits_.empty() || !misfits_.contains(std::minmax(a, b));
  }

 private:
  std::set<std::pair<WorkloadKey, WorkloadKey>> misfits_;  ///< ascending
  std::map<std::vector<WorkloadKey>, std::vector<Row>> rows_;
};

/// What the world alone may know of a job.
struct WorldJob {
  WorkloadKey workload = kUnknownWorkload;
  Profile profile;
  std::vector<double> features =
      {};  ///< as the model has them; empty: found in the profile, by name
};

class InterferenceWorld final : public World {
 public:
  /// `measured` may be empty; table and model are shared by many replications and must not be null.
  /// `jobs[i]` is JobId i. `extrapolated`: the cluster is not what the world was measured on.
  /// What the model goes by of a profile is found by name; a profile that nobody published counts.
  /// std::invalid_argument: a job has another number of features than the model.
  InterferenceWorld(std::shared_ptr<const MeasuredTable> measured,
                    std::shared_ptr<const InterferenceModel> model,
                    const std::vector<WorldJob>& jobs, bool extrapolated);
  /// The same with the features of all jobs as the model has them, jobs x features, row-major.
  InterferenceWorld(std::shared_ptr<const MeasuredTable> measured,
                    std::shared_ptr<const InterferenceModel> model,
                    std::vector<WorkloadKey> workloads, std::vector<double> features,
                    bool extrapolated);

  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise_seed,
                    std::span<double> out) const override;

  bool fits_together(JobId a, JobId b) const override {
    return measured_->fit_together(workloads_[index(a)], workloads_[index(b)]);
  }

  /// Each measured row alike, or the model with five Gauss-Hermite nodes of noise for each job.
  void pair_outcomes(JobId a, JobId b, std::vector<PairOutcome>& out) const override;

 private:
  /// What the speeds of one set of co-runners are drawn from, whatever the seed.
  struct SpeedDistribution {
    Provenance provenance = Provenance::kAlone;
    std::uint64_t entity = 0;     ///< keys the draw, with the seed
    std::optional<double> sigma;  ///< of the log-normal factor on each excess 1/s - 1, if drawn
    std::size_t rows = 1;         ///< measured rows, of equal chance
    std::vector<double> speeds;   ///< rows x residents, row-major
  };
  SpeedDistribution distribution(const CoRunners& co_runners) const;
  /// Of the measured rows of `group`, for those of it that are `residents`; false where there are none.
  bool measured_distribution(std::span<const JobId> group, std::span<const JobId> residents,
                             SpeedDistribution& out) const;
  /// The row that (seed, entity) draws, or the mean of all rows without a seed; then each excess times
  /// its factor of mean one. `out` is as long as a row.
  static void draw_speeds(const SpeedDistribution& from, std::optional<std::uint64_t> noise_seed,
                          std::span<double> out);

  std::shared_ptr<const MeasuredTable> measured_;
  std::shared_ptr<const InterferenceModel> model_;
  std::vector<WorkloadKey> workloads_;
  std::vector<double> features_;  ///< jobs x the model's features, row-major
  bool extrapolated_;
};

}  // namespace corun
