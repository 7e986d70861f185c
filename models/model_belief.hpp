#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "models/interference/catalog.hpp"
#include "models/scoring/pair_scorer.hpp"
#include "sim/belief.hpp"
#include "sim/time.hpp"

/// A belief that knows jobs one by one: co-run speeds as an interference model predicts them, from what
/// was measured before the replication and from every finished co-run of two since.
///
/// What a pair costs follows from the speeds and from how long each job takes alone, where the
/// scheduler has an estimate of that; else as if both took equally long. Jobs of one workload are known
/// as such by their opaque key.
///
/// Learning: models that learn take in a co-run at once; all are fitted anew when the observations have
/// grown by a half (and by 8 at least) since the last fit, so that a replication of n co-runs refits
/// about log(n) times.
namespace corun {

/// What the belief may know of a job.
struct BelievedJob {
  WorkloadKey workload = kUnknownWorkload;
  std::vector<double> features;      ///< as the prior's table has them; NaN: not known
  std::optional<Duration> estimate;  ///< of its solo time
};

class ModelBelief final : public Belief {
 public:
  /// What was known beforehand: shared by all replications. `model` is null if `table` has no rows.
  struct Prior {
    SpeedTable table;
    std::shared_ptr<const InterferenceModel> model;
    const InterferenceModelEntry* entry = nullptr;  ///< of refits
    FitOptions options;                             ///< of refits; the seed is part of the results
    ScoringOptions scoring = {};                    ///< of top_co_runners()
  };
  /// Fits the prior's model, where there is anything to fit. std::invalid_argument as the entry's fit().
  static std::shared_ptr<const Prior> make_prior(SpeedTable table,
                                                 const InterferenceModelEntry& entry,
                                                 const FitOptions& options,
                                                 const ScoringOptions& scoring = {});

  /// `jobs[i]` is JobId i.
  ModelBelief(std::shared_ptr<const Prior> prior, std::vector<BelievedJob> jobs);

  /// Expected cost at the median speeds, and its standard deviations to first order from those of the
  /// two speeds. Not observed as long as there is no model: costs are then 0.
  PairBelief pair(JobId a, JobId b) const override;
  /// At the speeds that InterferenceModel::sample() draws.
  PairBelief sampled_pair(JobId a, JobId b, std::uint64_t draw) const override;
  std::vector<CoRunner> top_co_runners(const CoRunnerSearch& search,
                                       const CostRule& rule) const override;
  void learn(const EpisodeOutcome& outcome) override;
  void learn_probe(const ProbeOutcome& outcome) override;
  /// A model that waits for the next fit has nothing of a probe when the job is offered.
  bool learns_from_probes() const override { return !model_ || model_->learns(); }
  bool needs_profile() const override { return true; }

  std::size_t refits() const { return refits_; }

 private:
  /// Of one ordered pair of kinds of jobs.
  struct Speeds {
    SpeedBelief a, b;
  };
  Speeds speeds(std::size_t kind_a, std::size_t kind_b) const;
  static Speeds believed(const SpeedPrediction& a, const SpeedPrediction& b);
  void predict_all() const;
  void forget();
  /// Solo times that a pair is reckoned with: as if both took equally long where one is not known. [s]
  struct Solos {
    double a = 1, b = 1;
  };
  Solos solos(JobId a, JobId b) const;

  std::shared_ptr<const Prior> prior_;
  std::shared_ptr<const InterferenceModel> model_;
  std::shared_ptr<InterferenceModel>
      learning_;      ///< model_, where it is this belief's own and learns
  SpeedTable table_;  ///< the prior's rows and what was learnt
  std::vector<BelievedJob> jobs_;
  std::vector<std::size_t> kind_;   ///< by JobId: jobs of one workload are of one kind
  std::vector<std::uint32_t> row_;  ///< by kind: position in table_.jobs
  std::vector<PairJob> kinds_;      ///< as models are asked about them
  std::size_t fitted_rows_ = 0;
  std::size_t refits_ = 0;
  mutable std::map<std::pair<std::size_t, std::size_t>, Speeds> remembered_;  ///< a <= b
  mutable bool remembers_all_ = false;
};

}  // namespace corun
