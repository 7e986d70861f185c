#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "experiments/config/enum_names.hpp"
#include "models/interference/catalog.hpp"

/// Keys at which a word of their own may stand, or the name of an interference model of the catalogue.
namespace corun {

/// The name of an interference model that there is; "default" is the first of the catalogue.
class ModelName {
 public:
  /// std::invalid_argument when there is none of that name.
  explicit ModelName(std::string_view name);
  static std::optional<ModelName> find(std::string_view name);

  /// As it was given: "default" stays "default".
  std::string_view text() const { return name_; }
  const InterferenceModelEntry& entry() const { return *entry_; }

  friend bool operator==(const ModelName& a, const ModelName& b) { return a.name_ == b.name_; }

 private:
  std::string_view name_;  ///< the catalogue's own, which outlives everything
  const InterferenceModelEntry* entry_;
};

/// "unknown model 'x': did you mean 'y'? known: ..."
std::string unknown_model_message(std::string_view name);

/// A value of the enum `Own`, or a model. A word that is both is the enum's.
template <NamedEnum Own>
class ModelOr {
 public:
  ModelOr(Own own) : choice_(own) {}            // NOLINT: one of the two
  ModelOr(ModelName model) : choice_(model) {}  // NOLINT

  static std::optional<ModelOr> find(std::string_view word) {
    if (const auto own = parse_enum<Own>(word)) return *own;
    if (const auto model = ModelName::find(word)) return *model;
    return std::nullopt;
  }

  /// The word for it in a configuration.
  std::string_view text() const {
    const ModelName* name = model();
    return name != nullptr ? name->text() : name_of(std::get<Own>(choice_));
  }
  /// Null where it is a word of the key's own.
  const ModelName* model() const { return std::get_if<ModelName>(&choice_); }

  friend bool operator==(const ModelOr& a, const ModelOr& b) { return a.choice_ == b.choice_; }

 private:
  std::variant<Own, ModelName> choice_;
};

/// world.model, where it is not a model that speaks for all co-runs.
enum class WorldKind : std::uint8_t {
  kNone,         ///< sharing costs nothing
  kListedPairs,  ///< the speeds of Lucid's list, and nothing lost where it has no row
  kMeasured,     ///< rows measured of these very jobs, else world.fallback
};
template <>
struct EnumNames<WorldKind> {
  static constexpr std::array kTable{EnumName{WorldKind::kNone, "none"},
                                     EnumName{WorldKind::kListedPairs, "listed-pairs"},
                                     EnumName{WorldKind::kMeasured, "measured"}};
};

/// belief.model, where it does not go job by job.
enum class BeliefKind : std::uint8_t {
  kClusterMean,  ///< the papers' knowledge base
  kTruth,        ///< the world's expected costs
};
template <>
struct EnumNames<BeliefKind> {
  static constexpr std::array kTable{EnumName{BeliefKind::kClusterMean, "cluster-mean"},
                                     EnumName{BeliefKind::kTruth, "truth"}};
};

using WorldModel = ModelOr<WorldKind>;
using BeliefModel = ModelOr<BeliefKind>;

/// What may stand at these keys. "default" is a word of belief.model only, and world.fallback takes any
/// model but "measured", which is what it falls back from.
std::vector<std::string_view> world_model_words();
std::vector<std::string_view> world_fallback_words();
std::vector<std::string_view> belief_model_words();

}  // namespace corun
