#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/interference/catalog.hpp"
#include "runner/config/enum_names.hpp"

/// Values of keys that take an interference model of the catalogue or a word of their own.
namespace corun::inline runner {

/// The name of an existing interference model; "default" is the first of the catalogue.
class ModelName {
 public:
  /// Throws std::invalid_argument if there is no model of that name.
  explicit ModelName(std::string_view name);
  static std::optional<ModelName> find(std::string_view name);

  /// The name as given: "default" stays "default".
  std::string_view text() const { return name_; }
  const InterferenceModelEntry& entry() const { return *entry_; }

  friend bool operator==(const ModelName& a, const ModelName& b) { return a.name_ == b.name_; }

 private:
  std::string_view name_;  ///< a view into static storage
  const InterferenceModelEntry* entry_;
};

/// "unknown model 'x': did you mean 'y'? known: ..."
std::string unknown_model_message(std::string_view name);

/// A value of the enum `Own`, or a model. A word that names both is read as the enum's.
template <NamedEnum Own>
class ModelOr {
 public:
  ModelOr(Own own) : choice_(own) {}            // NOLINT: implicit on purpose
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
  /// Null if the value is of the enum `Own`.
  const ModelName* model() const { return std::get_if<ModelName>(&choice_); }

  friend bool operator==(const ModelOr& a, const ModelOr& b) { return a.choice_ == b.choice_; }

 private:
  std::variant<Own, ModelName> choice_;
};

/// world.model, if it is not one interference model for all co-runs.
enum class WorldKind : std::uint8_t {
  kNone,         ///< sharing costs nothing
  kListedPairs,  ///< the speeds of Lucid's list; full speed for a pair without a row
  kMeasured,     ///< the measurement of exactly these jobs, else world.fallback
};
template <>
struct EnumNames<WorldKind> {
  static constexpr std::array kTable{EnumName{WorldKind::kNone, "none"},
                                     EnumName{WorldKind::kListedPairs, "listed-pairs"},
                                     EnumName{WorldKind::kMeasured, "measured"}};
};

/// belief.model, if it is not an interference model.
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

/// The words that these keys accept in lists and hints. "default" is a word of belief.model only.
/// world.fallback takes any model but "measured", for which it is the fallback.
std::vector<std::string_view> world_model_words();
std::vector<std::string_view> world_fallback_words();
std::vector<std::string_view> belief_model_words();

}  // namespace corun::inline runner
