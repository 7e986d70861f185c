#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/interference_model.hpp"

/// One model of the pairs of several campaigns (SpeedTable::Campaign): GPU types, sharing modes and data sets.
///
/// For job i beside job j in campaign c, t_ij = -log(speed). Which jobs are heavy and which are susceptible is shared by
/// all campaigns; level and scale are the campaign's own:
///
///   t_ij = level_c + scale_c z_ij + e        e ~ Normal(0, noise_c^2)
///
/// z is one fit to the rows of all campaigns, each standardised by its mean and deviation. level_c and scale_c are a
/// Bayesian regression of the campaign's t on z (Gelman and Hill, "Data Analysis Using Regression and
/// Multilevel/Hierarchical Models", 2007, chapter 13). The prior of scale_c is 0.7 +- 0.35 times the deviation of the
/// campaign's t: 0.7 is the correlation of two campaigns.
///
/// Another fit, to the campaign's rows only, gives t'_ij with variance v'. The prediction is the mean of the two,
/// weighted by 1 / v, and has the smaller of their variances, since the noise of single co-runs is in both. So a few
/// pairs of a new machine calibrate what others measured, and many replace it.
///
/// A campaign without rows takes level and scale of those with rows, weighted by exp(-d^2 / 2) with
///
///   d^2 = log^2(ratio of bandwidths) + log^2(ratio of FP32 peaks) + 4 [another sharing mode]
///
/// and the variance of the levels and scales around them: with a prior of 0.25 for levels and of a factor e^0.6 for
/// scales at the weight of four campaigns, which are about the deviations of eight public tables. That variance
/// is what widens its intervals; unknown GPU figures count as equal. A campaign's level is one draw: predicted from the
/// others, most intervals of one campaign hold nearly all of its co-runs or few of them.
///
/// Known error: experiments/interference/accuracy.md, "Other machines". Cost: a fit per campaign and one to all rows.
namespace corun::inline models {

/// How the models of one kind are fitted and loaded; InterferenceModelEntry has the same.
struct ModelKind {
  std::unique_ptr<InterferenceModel> (*fit)(const SpeedTable& table, const FitOptions& options);
  std::unique_ptr<InterferenceModel> (*load)(const nlohmann::json& state,
                                             std::vector<SpeedTable::Feature> features,
                                             std::vector<WorkloadKey> workloads);
};

/// Whether both are known to be on another GPU type or with another sharing mode.
bool contradicts(const SpeedTable::Campaign& a, const SpeedTable::Campaign& b);

/// A campaign that a model was fitted to.
struct MeasuredCampaign {
  SpeedTable::Campaign campaign;
  std::uint64_t rows = 0;  ///< measured speeds, two per pair
};

class CampaignModel final : public InterferenceModel {
 public:
  /// std::invalid_argument as kind.fit() for the rows of all campaigns. A campaign on whose rows alone the kind cannot be
  /// fitted has the shared part only.
  static CampaignModel fit(const ModelKind& kind, const SpeedTable& table,
                           const FitOptions& options);
  /// A model of one campaign as the shared part of any. model->groups() names the campaign; `rows`: its number of
  /// measured speeds.
  explicit CampaignModel(const std::shared_ptr<const InterferenceModel>& model,
                         std::uint64_t rows = 1);
  /// `saved`: from save(). std::invalid_argument if it is not a possible state.
  static CampaignModel load(const ModelKind& kind, const nlohmann::json& saved,
                            const std::vector<SpeedTable::Feature>& features,
                            std::vector<WorkloadKey> workloads);
  /// Whether a saved state is one of this class.
  static bool is_state(const nlohmann::json& saved);

  /// A copy that predicts and learns for this campaign: one with rows that is not known to be of another GPU type or
  /// mode, of several the one that has measured most of `jobs`, then the one of most rows; else a campaign without rows.
  /// Jobs of which it has measured none are another data set's, thus a campaign without rows on the same machine. No
  /// jobs: not known which.
  std::unique_ptr<CampaignModel> on(const SpeedTable::Campaign& campaign,
                                    std::span<const WorkloadKey> jobs) const;
  /// Whether predictions are for a campaign without rows.
  bool is_new() const { return current_ == kNew; }
  std::vector<MeasuredCampaign> campaigns() const;
  /// Makes the parts that learn this model's own; a copy shares them.
  void separate();

  std::unique_ptr<InterferenceModel> clone() const override;
  const std::vector<SpeedTable::Feature>& features() const override { return shared_->features(); }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }
  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  double residual_sigma() const override;
  bool learns() const override;
  void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) override;
  nlohmann::json save() const override;

 private:
  /// Level and scale of a campaign, in t: normal, with their variances and covariance.
  struct Line {
    double level = 0;
    double scale = 1;
    double level_variance = 0;
    double covariance = 0;
    double scale_variance = 0;
    double noise_variance = 0;  ///< of t around the line
  };
  struct Part {
    SpeedTable::Campaign campaign;
    Line line;
    double mean = 0;         ///< of the campaign's t
    double deviation = 0.3;  ///< of the campaign's t
    std::uint64_t rows = 0;
    std::shared_ptr<InterferenceModel> own;  ///< null: there is none
  };
  static constexpr std::size_t kNew = static_cast<std::size_t>(-1);

  CampaignModel() = default;
  /// Level and scale of the line in the units of z from those of a regression on the rows of one campaign.
  static Line regression(std::span<const double> z, std::span<const double> t);
  Line of_new(const SpeedTable::Campaign& campaign) const;
  const Line& line() const { return current_ == kNew ? new_ : parts_[current_].line; }
  InterferenceModel* own() const { return current_ == kNew ? nullptr : parts_[current_].own.get(); }
  void list_workloads();

  std::shared_ptr<InterferenceModel> shared_;  ///< of t = mean_ + deviation_ z
  double mean_ = 0;
  double deviation_ = 1;
  std::vector<Part> parts_;
  std::size_t current_ = 0;  ///< position in parts_, or kNew
  Line new_;                 ///< of the campaign without rows
  std::vector<WorkloadKey> workloads_;
  /// By part, the shared one last: positions in workloads_ of its workloads; -1: cannot be found again.
  std::vector<std::vector<std::int32_t>> places_;
};

/// The model as it predicts on a GPU type with a sharing mode: itself if it was measured there or if the campaign or the
/// model's own is not known, else with wider intervals. `jobs`: those to predict.
std::shared_ptr<const InterferenceModel> on_campaign(std::shared_ptr<const InterferenceModel> model,
                                                     const SpeedTable::Campaign& campaign,
                                                     std::span<const WorkloadKey> jobs = {});

}  // namespace corun::inline models
