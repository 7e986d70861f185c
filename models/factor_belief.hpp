#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "models/interference/factor_model.hpp"
#include "sim/belief.hpp"
#include "sim/measurement.hpp"
#include "sim/time.hpp"

/// A belief that knows jobs one by one: co-run speeds as the factor model completes them, from what was
/// measured before the replication and from every finished co-run of two since.
///
/// What a pair costs follows from the speeds and from how long each job takes alone, where the
/// scheduler has an estimate of that; else as if both took equally long. Jobs of one workload are known
/// as such by their opaque key.
///
/// Learning refits the model, which takes a second, so it is done when the observations have grown by a
/// half (and by 8 at least) since the last fit: a replication of n co-runs refits about log(n) times.
namespace corun {

/// What the belief may know of a job.
struct BelievedJob {
  WorkloadKey workload = kUnknownWorkload;
  Profile profile;
  std::optional<Duration> estimate;  ///< of its solo time
};

/// Features of a profile in the order of profile_features(); NaN where unknown.
std::vector<double> feature_values(const Profile& profile);
/// gpu_util_pct, mem_alloc_pct, mem_time_pct.
std::vector<SpeedTable::Feature> profile_features();

/// The pairs among measured rows as a speed table: jobs by workload, with the mean of their known
/// profiles; imputed profiles are none. Rows of unknown workloads and larger groups are left out.
SpeedTable speed_table(std::span<const CorunMeasurement> rows);

class FactorBelief final : public Belief {
 public:
  /// What was known beforehand: shared by all replications. `model` may be null if `table` has no rows.
  struct Prior {
    SpeedTable table;
    std::shared_ptr<const FactorModel> model;
    FactorOptions options;  ///< of refits; the seed is part of the results
  };
  /// Fits the prior's model, where there is anything to fit.
  static std::shared_ptr<const Prior> make_prior(SpeedTable table, const FactorOptions& options);

  /// `jobs[i]` is JobId i.
  FactorBelief(std::shared_ptr<const Prior> prior, std::vector<BelievedJob> jobs);

  /// Expected cost at the median speeds. Not observed as long as there is no model: costs are then 0.
  PairBelief pair(JobId a, JobId b) const override;
  void learn(const EpisodeOutcome& outcome) override;
  bool needs_profile() const override { return true; }

  std::size_t refits() const { return refits_; }

 private:
  /// Speeds of one ordered pair of kinds of jobs.
  struct Speeds {
    double a = 1, b = 1;
  };
  Speeds speeds(std::size_t kind_a, std::size_t kind_b) const;

  std::shared_ptr<const Prior> prior_;
  std::shared_ptr<const FactorModel> model_;
  SpeedTable table_;  ///< the prior's rows and what was learnt
  std::vector<BelievedJob> jobs_;
  std::vector<std::size_t> kind_;   ///< by JobId: jobs of one workload are of one kind
  std::vector<std::uint32_t> row_;  ///< by kind: position in table_.jobs
  std::size_t fitted_rows_ = 0;
  std::size_t refits_ = 0;
  mutable std::map<std::pair<std::size_t, std::size_t>, Speeds> remembered_;  ///< a <= b
};

}  // namespace corun
