#pragma once

#include <memory>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/interference/interference_model.hpp"

/// For tests of worlds: a model that only returns the speeds of co-runners (speeds()).
namespace corun::test {

class FeaturelessModel : public InterferenceModel {
 public:
  std::unique_ptr<InterferenceModel> clone() const override { return nullptr; }
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }
  std::vector<SpeedPrediction> predict(std::span<const PairJob>,
                                       std::span<const PairQuery> pairs) const override {
    return std::vector<SpeedPrediction>(pairs.size());
  }
  nlohmann::json save() const override { return {}; }

 private:
  std::vector<SpeedTable::Feature> features_;
  std::vector<WorkloadKey> workloads_;
};

}  // namespace corun::test
