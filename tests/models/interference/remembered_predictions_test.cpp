#include "models/interference/remembered_predictions.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace corun::remembered_predictions_test {
namespace {

/// Predicts from the features and counts the pairs that it was asked for.
class Counting final : public InterferenceModel {
 public:
  std::unique_ptr<InterferenceModel> clone() const override { return nullptr; }
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }
  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override {
    std::vector<SpeedPrediction> out;
    for (const PairQuery& pair : pairs) {
      if (pair.of >= jobs.size() || pair.beside >= jobs.size()) throw std::invalid_argument("no");
      out.push_back(
          {1 / (1 + jobs[pair.of].features[0] + 2 * jobs[pair.beside].features[0]), 0, 0, 0});
      ++asked;
    }
    return out;
  }
  double residual_sigma() const override { return 0; }
  nlohmann::json save() const override { return {}; }

  mutable std::atomic<int> asked = 0;

 private:
  std::vector<SpeedTable::Feature> features_{{"x", FeatureScale::kLinear}};
  std::vector<WorkloadKey> workloads_;
};

TEST(RememberedPredictions, AsksOncePerPairAndTellsJobsApartByKeyAndFeatures) {
  const Counting model;
  RememberedPredictions remembered;
  const std::vector<double> x{1, 2, 3};
  const auto features = [&](std::size_t i) { return std::span(x).subspan(i, 1); };
  // The second and third have one key, as unseen jobs of two replications may; the last has none.
  const std::vector<PairJob> jobs{
      {7, features(0)}, {8, features(1)}, {8, features(2)}, {kUnknownWorkload, features(0)}};
  std::vector<PairQuery> pairs;
  for (std::size_t a = 0; a < jobs.size(); ++a) {
    for (std::size_t b = 0; b < jobs.size(); ++b) pairs.push_back({a, b});
  }
  const std::vector<SpeedPrediction> expected = model.predict(jobs, pairs);
  for (int round = 0; round < 2; ++round) {
    model.asked = 0;
    const std::vector<SpeedPrediction> got = remembered.predict(model, jobs, pairs);
    for (std::size_t q = 0; q < pairs.size(); ++q) EXPECT_EQ(got[q].speed, expected[q].speed) << q;
    EXPECT_EQ(model.asked, round == 0 ? 16 : 7) << "pairs of the job without a key";
  }
  EXPECT_EQ(remembered.size(), 9U);
  EXPECT_THROW(remembered.predict(model, jobs, std::vector<PairQuery>{{0, 4}}),
               std::invalid_argument);
}

TEST(RememberedPredictions, IsBounded) {
  const Counting model;
  RememberedPredictions remembered;
  std::vector<double> x(250);
  std::vector<PairJob> jobs;
  std::vector<PairQuery> pairs;
  for (std::size_t j = 0; j < x.size(); ++j) {
    x[j] = static_cast<double>(j);
    jobs.push_back({static_cast<WorkloadKey>(j), std::span(x).subspan(j, 1)});
    for (std::size_t i = 0; i < x.size(); ++i) pairs.push_back({i, j});
  }
  std::vector<std::vector<SpeedPrediction>> got(3);
  {
    std::vector<std::jthread> threads;
    for (auto& g : got) threads.emplace_back([&] { g = remembered.predict(model, jobs, pairs); });
  }
  EXPECT_LE(remembered.size(), RememberedPredictions::kPairsMax);
  const std::vector<SpeedPrediction> expected = model.predict(jobs, pairs);
  for (const auto& g : got) {
    for (std::size_t q = 0; q < pairs.size(); ++q) ASSERT_EQ(g[q].speed, expected[q].speed);
  }
}

}  // namespace
}  // namespace corun::remembered_predictions_test
