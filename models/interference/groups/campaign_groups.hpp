#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/groups/campaigns.hpp"

/// Models of campaigns that have nothing in common.
///
/// Two campaigns belong to one group if a job was measured in both or a feature is known of jobs of both, directly or
/// through other campaigns. Between groups there is nothing by which z of CampaignModel could be compared: one fit to
/// the rows of jobs of which utilisation is known and of jobs of which only rates on other GPUs are known predicts new
/// jobs of the first kind worse (docs/models.md, "The model that comes with corun"). So each group is a CampaignModel of its own, fitted on the
/// features that its jobs have, and a pair is predicted by one of them: that which knows most of its two jobs, counted
/// in known features. A job that a group has measured counts as one with all features. At equality the group whose
/// campaigns were given first predicts.
namespace corun::inline models {

class CampaignGroups final : public InterferenceModel {
 public:
  /// A CampaignModel if there is one group, else this. A group to which the kind cannot be fitted is left out;
  /// std::invalid_argument as kind.fit() if that are all.
  static std::unique_ptr<InterferenceModel> fit(const ModelKind& kind, const SpeedTable& table,
                                                const FitOptions& options);
  /// `saved`: from save(). std::invalid_argument if it is not a possible state.
  static CampaignGroups load(const ModelKind& kind, const nlohmann::json& saved,
                             std::vector<SpeedTable::Feature> features,
                             std::vector<WorkloadKey> workloads);
  /// Whether a saved state is one of this class.
  static bool is_state(const nlohmann::json& saved);

  /// A copy in which each group predicts and learns for this campaign: CampaignModel::on().
  std::unique_ptr<CampaignGroups> on(const SpeedTable::Campaign& campaign,
                                     std::span<const WorkloadKey> jobs) const;
  /// Of all groups, in their order.
  std::vector<MeasuredCampaign> campaigns() const;
  /// The group that predicts most of these jobs.
  const CampaignModel& group_of(std::span<const PairJob> jobs) const;

  std::unique_ptr<InterferenceModel> clone() const override;
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }
  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  double residual_sigma() const override;
  bool learns() const override;
  void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) override;
  nlohmann::json save() const override;

 private:
  struct Group {
    std::shared_ptr<CampaignModel> model;
    std::vector<std::int32_t> features;  ///< positions in features_ of the model's features
    std::vector<std::int32_t>
        places;  ///< positions in workloads_ of its workloads; -1: cannot be found again
  };

  CampaignGroups() = default;
  /// How much each group knows of a job, in features.
  std::vector<std::size_t> known_of(const PairJob& job) const;
  /// The values of a job for the features of a group.
  std::vector<double> values_for(const Group& group, const PairJob& job) const;
  std::size_t group_of(const PairJob& a, const PairJob& b) const;
  void list_workloads();

  std::vector<SpeedTable::Feature> features_;
  std::vector<Group> groups_of_;
  std::vector<WorkloadKey> workloads_;
  std::vector<std::vector<WorkloadKey>> sorted_;  ///< by group: its workloads
};

}  // namespace corun::inline models
