#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "models/interference/catalog.hpp"
#include "models/scoring/pair_scorer.hpp"
#include "sim/belief.hpp"
#include "sim/time.hpp"

/// A belief about individual jobs: an interference model predicts co-run speeds, from rows measured before
/// the replication and from every finished co-run of two since.
///
/// The cost of a pair follows from the speeds and from the scheduler's estimates of both solo times; without
/// both estimates, the jobs count as equally long. An opaque key tells which jobs have the same workload.
///
/// Learning: a model that learns takes in a co-run at once. Every model is fitted again when the observations
/// have grown by a half, and by 8 at least, since the last fit: about log(n) fits in a replication of n
/// co-runs. A model whose rows are not known is never fitted again, because it would forget them.
namespace corun::inline models {

/// The data of a job that the belief may use.
struct BelievedJob {
  WorkloadKey workload = kUnknownWorkload;
  std::vector<double> features;  ///< in the order and units of the prior's table; NaN: not known
  std::optional<Duration> estimate;  ///< of its solo time
};

class ModelBelief final : public Belief {
 public:
  /// The knowledge before the replication, shared by all replications. `model` is null if `table` has no
  /// rows.
  struct Prior {
    SpeedTable table;
    std::shared_ptr<const InterferenceModel> model;
    /// Fits again; null: never, because the model's rows are not known (a fitted model from a file).
    const InterferenceModelEntry* entry = nullptr;
    FitOptions options;           ///< of later fits; the seed is part of the results
    ScoringOptions scoring = {};  ///< of top_co_runners()
  };
  /// Fits the prior's model if the table has rows. std::invalid_argument as the entry's fit().
  static std::shared_ptr<const Prior> make_prior(SpeedTable table,
                                                 const InterferenceModelEntry& entry,
                                                 const FitOptions& options,
                                                 const ScoringOptions& scoring = {});

  /// `jobs[i]` is JobId i.
  ModelBelief(std::shared_ptr<const Prior> prior, std::vector<BelievedJob> jobs);

  /// Expected cost at the median speeds; its standard deviations follow to first order from those of both
  /// speeds. Without a model the costs are 0 and marked as not observed.
  PairBelief pair(JobId a, JobId b) const override;
  /// The cost at the speeds that InterferenceModel::sample() draws.
  PairBelief sampled_pair(JobId a, JobId b, std::uint64_t draw) const override;
  std::vector<CoRunner> top_co_runners(const CoRunnerSearch& search,
                                       const CostRule& rule) const override;
  void learn(const EpisodeOutcome& outcome) override;
  void learn_probe(const ProbeOutcome& outcome) override;
  /// False for a model that does not learn: it would not know a probe when the probed job is offered.
  bool learns_from_probes() const override { return !model_ || model_->learns(); }
  bool needs_profile() const override { return true; }

  std::size_t refits() const { return refits_; }

 private:
  /// Both directions of a pair of kinds of jobs.
  struct Speeds {
    SpeedBelief a, b;
  };
  Speeds speeds(std::size_t kind_a, std::size_t kind_b) const;
  static Speeds believed(const SpeedPrediction& a, const SpeedPrediction& b);
  using KindPair = std::pair<std::size_t, std::size_t>;  ///< first <= second
  void predict(const std::vector<KindPair>& pairs) const;
  /// Predicts the pair, together with others that will probably be asked for.
  void predict_around(const KindPair& pair) const;
  void forget();
  /// Solo times [s] of a pair; equal if one of them is not known.
  struct Solos {
    double a = 1, b = 1;
  };
  Solos solos(JobId a, JobId b) const;

  std::shared_ptr<const Prior> prior_;
  std::shared_ptr<const InterferenceModel> model_;
  std::shared_ptr<InterferenceModel> learning_;  ///< model_, if it is a copy that learns
  SpeedTable table_;                             ///< the prior's rows and the rows learnt
  std::vector<BelievedJob> jobs_;
  std::vector<std::size_t> kind_;   ///< by JobId; all jobs of one workload are one kind
  std::vector<std::uint32_t> row_;  ///< by kind: position in table_.jobs
  std::vector<PairJob> kinds_;
  std::size_t fitted_rows_ = 0;
  std::size_t refits_ = 0;
  struct Remembered {
    Speeds speeds;
    bool asked = false;
  };
  mutable std::map<KindPair, Remembered> remembered_;  ///< since the model has changed
  std::vector<KindPair> asked_before_;                 ///< the pairs asked for before that
};

}  // namespace corun::inline models
