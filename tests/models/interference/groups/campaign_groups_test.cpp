#include "models/interference/groups/campaign_groups.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/interference/catalog.hpp"

/// Campaigns without common features or jobs are models of their own.
namespace corun::campaign_groups_test {
namespace {

constexpr double kNot = std::numeric_limits<double>::quiet_NaN();

/// Jobs 1 to 6 have a utilisation and were measured on two machines; jobs 11 to 16 have a rate only.
SpeedTable two_forms() {
  SpeedTable table;
  table.features = {{"util", FeatureScale::kLinear}, {"rate", FeatureScale::kLog}};
  table.campaigns = {{"A", Sharing::kTimeSlicing, 900, 15},
                     {"B", Sharing::kMps, 700, 10},
                     {"C", Sharing::kTimeSlicing, 450, 8}};
  for (int j = 0; j < 6; ++j) {
    table.jobs.push_back(1 + j);
    table.values.insert(table.values.end(), {10.0 + 15 * j, kNot});
  }
  for (int j = 0; j < 6; ++j) {
    table.jobs.push_back(11 + j);
    table.values.insert(table.values.end(), {kNot, 5.0 + 20 * j});
  }
  for (std::uint32_t a = 0; a < 6; ++a) {
    for (std::uint32_t b = a; b < 6; ++b) {
      const double heavy = 1 - 0.05 * (a + b);
      table.rows.push_back({a, b, heavy, heavy, 0});
      table.rows.push_back({a, b, heavy * heavy, heavy * heavy, 2});
      table.rows.push_back({6 + a, 6 + b, 0.4 + 0.05 * a, 0.4 + 0.05 * b, 1});
    }
  }
  return table;
}

SpeedTable only(const SpeedTable& table, std::uint32_t campaign) {
  SpeedTable out;
  out.features = {table.features[campaign == 1 ? 1 : 0]};
  out.campaigns = {table.campaigns[campaign]};
  const std::uint32_t first = campaign == 1 ? 6 : 0;
  for (std::uint32_t j = first; j < first + 6; ++j) {
    out.jobs.push_back(table.jobs[j]);
    out.values.push_back(table.of(j)[campaign == 1 ? 1 : 0]);
  }
  for (SpeedTable::Row row : table.rows) {
    if (row.campaign != campaign) continue;
    out.rows.push_back({row.a - first, row.b - first, row.speed_a, row.speed_b, 0});
  }
  return out;
}

std::shared_ptr<const InterferenceModel> fitted(const SpeedTable& table) {
  return find_interference_model("gp")->fit(table, {});
}

SpeedPrediction predicted(const InterferenceModel& model, std::vector<double> a,
                          std::vector<double> b) {
  return model.predict({kUnknownWorkload, a}, {kUnknownWorkload, b});
}

TEST(CampaignGroups, NothingPassesBetweenFormsWithoutCommonFeatures) {
  const SpeedTable table = two_forms();
  const auto model = fitted(table);
  ASSERT_NE(dynamic_cast<const CampaignGroups*>(model.get()), nullptr);
  const auto alone = fitted(only(table, 1));
  const auto here = on_campaign(model, table.campaigns[1]);
  EXPECT_EQ(predicted(*here, {kNot, 30}, {kNot, 70}).speed, predicted(*alone, {30}, {70}).speed);
  // A job's measured pairs decide as its features do.
  const std::vector<double> unknown{kNot, kNot};
  EXPECT_EQ(here->predict({11, unknown}, {12, unknown}).speed,
            alone->predict({11, {}}, {12, {}}).speed);
  // So they do where it is said which jobs are asked for.
  const std::vector<WorkloadKey> measured{11, 12};
  const auto there = on_campaign(model, table.campaigns[1], measured);
  EXPECT_EQ(there->predict({11, unknown}, {12, unknown}).speed,
            alone->predict({11, {}}, {12, {}}).speed);
  EXPECT_NEAR(there->predict({11, unknown}, {12, unknown}).sd,
              alone->predict({11, {}}, {12, {}}).sd, 1e-9);
}

TEST(CampaignGroups, CampaignsOfCommonJobsOrFeaturesAreOneModel) {
  SpeedTable table = two_forms();
  std::erase_if(table.rows, [](const SpeedTable::Row& row) { return row.campaign == 1; });
  EXPECT_NE(dynamic_cast<const CampaignModel*>(fitted(table).get()), nullptr);
  // One job that has both features joins all.
  table = two_forms();
  table.values[6 * 2] = 40;
  EXPECT_NE(dynamic_cast<const CampaignModel*>(fitted(table).get()), nullptr);
  // And so does one that was measured with both kinds.
  table = two_forms();
  table.rows.push_back({0, 6, 0.5, 0.5, 1});
  EXPECT_NE(dynamic_cast<const CampaignModel*>(fitted(table).get()), nullptr);
}

TEST(CampaignGroups, TheGroupThatKnowsMostPredicts) {
  const SpeedTable table = two_forms();
  const auto model = fitted(table);
  const auto& groups = dynamic_cast<const CampaignGroups&>(*model);
  const auto campaigns_for = [&](std::vector<double> features) {
    const std::vector<PairJob> jobs{{kUnknownWorkload, features}};
    std::string names;
    for (const MeasuredCampaign& one : groups.group_of(jobs).campaigns()) names += one.campaign.gpu;
    return names;
  };
  EXPECT_EQ(campaigns_for({50, kNot}), "AC");
  EXPECT_EQ(campaigns_for({kNot, 50}), "B");
  EXPECT_EQ(campaigns_for({50, 50}), "AC") << "at equality that of the first campaign";
  EXPECT_EQ(campaigns_for({kNot, kNot}), "AC");
  EXPECT_EQ(groups.campaigns().size(), 3u);
  EXPECT_EQ(groups.campaigns()[2].rows, 42u);
}

TEST(CampaignGroups, LearnsInOneGroupAndLeavesTheOriginal) {
  const auto model = fitted(two_forms());
  const std::vector<double> a{kNot, 30};
  const std::vector<double> b{kNot, 70};
  const double before = predicted(*model, a, b).speed;
  const double other = predicted(*model, {20, kNot}, {80, kNot}).speed;
  const auto copy = model->clone();
  for (int i = 0; i < 20; ++i) copy->learn({101, a}, {102, b}, 0.95, 0.95);
  EXPECT_NE(copy->predict({101, a}, {102, b}).speed, before);
  EXPECT_EQ(predicted(*copy, {20, kNot}, {80, kNot}).speed, other);
  EXPECT_EQ(predicted(*model, a, b).speed, before);
  EXPECT_THROW(copy->predict({103, std::vector<double>{1}}, {102, b}), std::invalid_argument);
}

TEST(CampaignGroups, SavedAndLoadedItPredictsTheSameBits) {
  const auto model = fitted(two_forms());
  const InterferenceModelEntry& gp = *find_interference_model("gp");
  const nlohmann::json saved = model->save();
  const auto again = gp.load(saved, model->features(), model->workloads());
  for (const std::vector<double>& x : {std::vector<double>{20, kNot}, {kNot, 30}, {kNot, kNot}}) {
    EXPECT_EQ(predicted(*again, x, x).speed, predicted(*model, x, x).speed);
    EXPECT_EQ(predicted(*again, x, x).hi, predicted(*model, x, x).hi);
  }
  EXPECT_EQ(again->save(), saved);
  // Hostile states.
  for (const char* key : {"features", "workloads"}) {
    nlohmann::json bad = saved;
    bad["groups"][0][key] = nlohmann::json::binary({99, 0, 0, 0});
    EXPECT_THROW(gp.load(bad, model->features(), model->workloads()), std::invalid_argument) << key;
    bad["groups"][0].erase(key);
    EXPECT_THROW(gp.load(bad, model->features(), model->workloads()), std::invalid_argument) << key;
  }
  EXPECT_THROW(
      gp.load({{"groups", nlohmann::json::array()}}, model->features(), model->workloads()),
      std::invalid_argument);
}

}  // namespace
}  // namespace corun::campaign_groups_test
