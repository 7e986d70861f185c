#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/interference_model.hpp"
#include "models/interference/novelty.hpp"
#include "models/interference/remembered_predictions.hpp"

/// The ensemble, the default model: factors, gp and boosted-trees, averaged in t = -log(speed). But
/// for far jobs, a member with a smaller deviation for the pair counts more.
///
///   t = sum_m p_m t_m                    p_m = w_m / sd_m^2, for far jobs w_m, over their sum
///   sd^2 = s sum_m p_m sd_m^2
///
/// sd_m is the width of a member's 90 % interval, in t, over twice 1.645; the interval of the ensemble is
/// that of a normal around t.
/// The constants w and s are fixed, the same for every table. There is one set for pairs of jobs that were both measured,
/// beside any co-runner (kMeasured); one for pairs with an unseen job that is far from all measured ones (kFar): because its
/// family is new, or by its features (novelty.hpp) if the table states families; and one for all other pairs (kUnseen). The
/// papers' table states none, and there far features cost 4 % of the MAE. `gp` keeps closer to what was measured
/// of a pair than `factors` does, and errs more where a job is new. Far from all jobs the members' deviations say little, and
/// `factors`, whose basis ends there, errs most. Elsewhere boosted-trees adds next to nothing to the others; its fit waits until a
/// far job, or the state, is first asked for. s makes the intervals hold about 90 %.
///
/// Where few speeds were measured, sd_m in sd^2 (not in p_m) is at most a constant's (few_speeds.hpp): no member is less
/// sure of a job of the measured kind than a model without jobs. For far jobs, which the constant does not know, it is not.
///
/// The deviation of pairs with a job of a new family is multiplied by (q / 1.645)^(n / (n + 4)), where q is the 90 %
/// quantile of |error| / deviation over co-runs of families that were held out of fits of gp and boosted-trees, a quarter
/// of the n families at a time: split conformal prediction (Lei et al. 2018) over families, with a prior of the
/// factor 1 at the weight of four families, and from 0.5 to 4. Two families or fewer have the factor 1.
///
/// Known error: MAE of ISD in percentage points, of held-out pairs, unseen jobs and unseen families: 4.1, 6.8 and 8.1 on
/// Lucid's table, 5.4, 13.7 and 25.7 on Gavel's P100; of the papers' pairs and unseen jobs 8.2 and 9.1. The 90 %
/// intervals of these three tables hold 86 to 95 %. The constants were chosen on them:
/// experiments/interference/accuracy.md, which has more tables, judges that, too.
///
/// The effort of a fit is that of all these fits.
///
/// learn() reaches the members that learn (gp); the others wait for the next fit. Copies share those, and
/// what they have predicted.
namespace corun::inline models {

class EnsembleModel final : public InterferenceModel {
 public:
  static constexpr std::size_t kMembers = 3;
  static constexpr std::array<std::string_view, kMembers> kNames{"factors", "gp", "boosted-trees"};
  /// The constants of the average.
  struct Mix {
    std::array<double, kMembers> weight;  ///< w; a member with 0 is not asked
    double spread;                        ///< s
    bool by_deviation;                    ///< divide w by the member's variance
  };
  static constexpr Mix kMeasured{{0.8, 0.2, 0}, 0.9, true};
  static constexpr Mix kUnseen{{0.9, 0.1, 0}, 0.8, true};
  static constexpr Mix kFar{{0, 1, 1}, 2, false};

  /// std::invalid_argument as the members.
  static EnsembleModel fit(const SpeedTable& table, const FitOptions& options);
  /// The same of members that were fitted to the table with these options, in the order of kNames; those that
  /// learn are copied.
  static EnsembleModel of(const std::array<std::shared_ptr<InterferenceModel>, kMembers>& members,
                          const SpeedTable& table, const FitOptions& options);
  /// `saved`: from save(). std::invalid_argument if it is not a possible state.
  static EnsembleModel load(const nlohmann::json& saved, std::vector<SpeedTable::Feature> features,
                            std::vector<WorkloadKey> workloads);

  EnsembleModel(const EnsembleModel& other);
  EnsembleModel(EnsembleModel&&) noexcept = default;
  EnsembleModel& operator=(const EnsembleModel&) = delete;
  EnsembleModel& operator=(EnsembleModel&&) noexcept = default;
  ~EnsembleModel() override = default;

  std::unique_ptr<InterferenceModel> clone() const override {
    return std::make_unique<EnsembleModel>(*this);
  }
  const std::vector<SpeedTable::Feature>& features() const override {
    return members_.front()->features();
  }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }
  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  /// A sample of factors, with its offset from the prediction of factors added to that of the ensemble, in t.
  std::vector<double> sample(std::span<const PairJob> jobs, std::span<const PairQuery> pairs,
                             std::uint64_t draw) const override;
  double residual_sigma() const override { return sigma_; }
  bool learns() const override { return true; }
  void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) override;
  nlohmann::json save() const override;

 private:
  EnsembleModel();
  /// The median of t and its deviation from the predictions of the members with a weight in the mix, in their order.
  struct Average {
    double log_slowdown = 0;
    double deviation = 0;
  };
  /// `widest`: bound of sd_m in sd^2.
  static Average average(const Mix& mix, std::span<const SpeedPrediction> members, double widest);
  /// The factor of the deviation for jobs of new families. It takes eight fits of members, so it is computed when a
  /// job of a new family, or the state, is first asked for. Shared by copies; thread-safe.
  class NewFamilyFactor {
   public:
    explicit NewFamilyFactor(double factor) : factor_(factor) {}
    /// `of_gp`: parameters of the member gp.
    NewFamilyFactor(const SpeedTable& table, const FitOptions& options, std::vector<double> of_gp)
        : table_(std::make_unique<SpeedTable>(table)),
          options_(options),
          of_gp_(std::move(of_gp)) {}
    double value();

   private:
    std::once_flag computed_;
    std::unique_ptr<SpeedTable> table_;  ///< until it is computed; null: factor_ is given
    FitOptions options_;
    std::vector<double> of_gp_;
    double factor_ = 1;
  };
  /// `of_gp`: parameters of gp fitted to the whole table, where fits without a fold begin.
  static double new_family_factor(const SpeedTable& table, const FitOptions& options,
                                  const std::vector<double>& of_gp);
  /// Adds the members' new jobs to workloads_ and places_.
  void list_workloads();

  std::array<std::shared_ptr<InterferenceModel>, kMembers> members_;
  /// By member, shared by all copies; used for those that do not learn, and until the first learn() for all.
  std::array<std::shared_ptr<RememberedPredictions>, kMembers> remembered_;
  std::vector<WorkloadKey> workloads_;  ///< of all members, each once
  /// For each member's workloads, their positions in workloads_; -1: cannot be found again.
  std::array<std::vector<std::int32_t>, kMembers> places_;
  std::vector<WorkloadKey> seen_;  ///< those of factors, ascending
  Novelty novelty_;
  std::vector<std::uint64_t> families_;  ///< of the fit's jobs, ascending; empty: not known
  std::shared_ptr<NewFamilyFactor> new_family_factor_;
  double widest_ =
      std::numeric_limits<double>::infinity();  ///< of the sd_m of jobs that are not far
  double sigma_ = 0;
  bool has_learnt_ = false;
};

}  // namespace corun::inline models
