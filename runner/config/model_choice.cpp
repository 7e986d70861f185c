#include "runner/config/model_choice.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/base/text.hpp"

namespace corun::inline runner {
namespace {

constexpr std::string_view kDefaultModel = "default";

/// `words` and the models of the catalogue, each once.
std::vector<std::string_view> and_models(std::vector<std::string_view> words) {
  for (const InterferenceModelEntry& entry : interference_model_catalog()) {
    if (std::ranges::find(words, entry.name) == words.end()) words.push_back(entry.name);
  }
  return words;
}

}  // namespace

ModelName::ModelName(std::string_view name)
    : name_(kDefaultModel), entry_(find_interference_model(name)) {
  if (entry_ == nullptr) {
    throw std::invalid_argument("no interference model '" + std::string(name) + "'");
  }
  if (name != kDefaultModel) name_ = entry_->name;
}

std::optional<ModelName> ModelName::find(std::string_view name) {
  if (find_interference_model(name) == nullptr) return std::nullopt;
  return ModelName(name);
}

std::string unknown_model_message(std::string_view name) {
  std::string text =
      "unknown model '" + printable(name) + "': " + did_you_mean(name, and_models({}));
  if (name.ends_with(".model"))
    text += "; name the file of a fitted model in world.path or belief.initial";
  return text;
}

std::vector<std::string_view> world_model_words() {
  // "measured" is not added here because the catalogue has a model of that name.
  return and_models({name_of(WorldKind::kNone), name_of(WorldKind::kListedPairs)});
}

std::vector<std::string_view> world_fallback_words() {
  std::vector<std::string_view> words = and_models({});
  std::erase(words, name_of(WorldKind::kMeasured));
  return words;
}

std::vector<std::string_view> belief_model_words() {
  return and_models(
      {name_of(BeliefKind::kClusterMean), name_of(BeliefKind::kTruth), kDefaultModel});
}

}  // namespace corun::inline runner
