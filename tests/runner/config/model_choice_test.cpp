#include "runner/config/model_choice.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace corun::model_choice_test {
namespace {

using Words = std::vector<std::string_view>;

bool holds(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(ModelName, IsOfTheCatalogueAndStaysAsGiven) {
  for (const InterferenceModelEntry& entry : interference_model_catalog()) {
    const ModelName name(entry.name);
    EXPECT_EQ(name.text(), entry.name);
    EXPECT_EQ(&name.entry(), &entry);
    EXPECT_EQ(ModelName::find(entry.name), name);
  }
  EXPECT_EQ(ModelName("default").text(), "default");
  EXPECT_EQ(&ModelName("default").entry(), &interference_model_catalog().front());
}

TEST(ModelName, RefusesOthers) {
  for (const std::string_view word : {"", "truth", "Contention", "contention "}) {
    EXPECT_FALSE(ModelName::find(word)) << word;
    EXPECT_THROW(ModelName{word}, std::invalid_argument) << word;
  }
}

TEST(ModelName, AnUnknownOneIsAnsweredWithTheNearest) {
  EXPECT_EQ(unknown_model_message("contension").substr(0, 62),
            "unknown model 'contension': did you mean 'contention'? known: ");
}

TEST(ModelName, OutlivesTheTextItWasReadFrom) {
  const ModelName name = [] {
    const std::string text = "contention";
    return ModelName(text);
  }();
  EXPECT_EQ(name.text(), "contention");
}

template <typename Choice>
void expect_round_trip(const Words& words) {
  for (const std::string_view word : words) {
    const auto choice = Choice::find(word);
    ASSERT_TRUE(choice) << word;
    EXPECT_EQ(choice->text(), word);
  }
  EXPECT_FALSE(Choice::find("foo"));
  EXPECT_FALSE(Choice::find(""));
}

TEST(WorldModel, TakesItsOwnWordsAndModels) {
  expect_round_trip<WorldModel>(world_model_words());
  EXPECT_EQ(world_model_words().front(), "none");
  EXPECT_FALSE(holds(world_model_words(), "default"));
  // A model has this name, too; the world's word takes precedence.
  EXPECT_EQ(WorldModel::find("measured"), WorldKind::kMeasured);
  EXPECT_EQ(WorldModel::find("measured")->model(), nullptr);
  ASSERT_NE(WorldModel::find("cluster-mean")->model(), nullptr);
  EXPECT_NE(WorldModel::find("cluster-mean"), WorldKind::kNone);
}

TEST(WorldFallback, TakesModelsButNotWhatItFallsBackFrom) {
  expect_round_trip<ModelName>(world_fallback_words());
  EXPECT_EQ(world_fallback_words().size(), interference_model_catalog().size() - 1);
  EXPECT_FALSE(holds(world_fallback_words(), "measured"));
}

TEST(BeliefModel, TakesItsOwnWordsAndModels) {
  expect_round_trip<BeliefModel>(belief_model_words());
  EXPECT_TRUE(holds(belief_model_words(), "default"));
  EXPECT_EQ(BeliefModel::find("cluster-mean"), BeliefKind::kClusterMean);
  EXPECT_EQ(BeliefModel::find("truth"), BeliefKind::kTruth);
  EXPECT_EQ(BeliefModel::find("default")->model()->text(), "default");
}

}  // namespace
}  // namespace corun::model_choice_test
