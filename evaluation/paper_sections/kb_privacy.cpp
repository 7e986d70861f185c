#include "evaluation/paper_sections/kb_privacy.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "evaluation/paper_sections/usable_profiles.hpp"
#include "knowledge/profile_samples.hpp"
#include "models/knowledge/clusters.hpp"
#include "models/knowledge/reidentification.hpp"
#include "sim/error.hpp"
#include "support/json.hpp"

namespace corun::inline evaluation {

namespace {

/// The task of a model: PriRecT section III-A.
std::string category_of(std::string_view model) {
  if (model.starts_with("SmallBERT")) return "language";
  if (model == "DCGAN") return "generation";
  if (model == "ImageSeg") return "segmentation";
  if (model == "RL-CartPole") return "reinforcement";
  return "classification";
}

std::string family_of(std::string_view model) {
  return model.starts_with("SmallBERT") ? "SmallBERT" : std::string(model);
}

/// A number for each different name that `label` gives to a sample's model.
struct Classes {
  std::vector<int> labels;  ///< one per sample
  std::size_t count = 0;
};

Classes classes_of(const SampleSet& samples, std::string (*label)(std::string_view)) {
  std::map<std::string, int> numbers;
  Classes classes;
  for (const WorkloadOrigin& origin : samples.origins) {
    if (origin.model.empty()) {
      throw InputError(samples.source,
                       "a profile has no model, which is to be guessed; fill it in or "
                       "leave the row out");
    }
    classes.labels.push_back(
        numbers.emplace(label(origin.model), static_cast<int>(numbers.size())).first->second);
  }
  classes.count = numbers.size();
  return classes;
}

/// One way to guess, and its accuracy.
struct Guess {
  bool standardised = false;
  int neighbours = 1;
  Reidentification outcome;
};

std::vector<Guess> guess_all(const SampleSet& samples, const Classes& classes) {
  const std::vector<double> rows = feature_rows(samples);
  const MatrixView view{rows, samples.profiles.size(), kFeatures};
  std::vector<Guess> guesses;
  for (const bool standardised : {false, true}) {
    for (const int neighbours : {1, 3, 5}) {
      ReidentificationOptions options;
      options.neighbours = neighbours;
      options.standardise = standardised;
      options.seed = 1;
      guesses.push_back({standardised, neighbours, reidentify(view, classes.labels, {}, options)});
    }
  }
  return guesses;
}

void add_guesses(StudySection& section, const char* what, const Classes& classes,
                 const std::vector<Guess>& guesses) {
  constexpr double kLeastP = 0.001;  // the least p-value of 999 permutations
  for (const Guess& g : guesses) {
    const Reidentification& r = g.outcome;
    section.text +=
        fmt::format("  {:<10}{:>8}{:>15}{:>12}{:>9.1f}%{:>10.1f}%{:>10.1f}%{:>13}\n", what,
                    classes.count, g.standardised ? "standardised" : "as measured", g.neighbours,
                    100 * r.accuracy, 100 * r.majority, 100 * r.permuted,
                    fmt::format("{}{:.3f}", r.p_value <= kLeastP ? "<= " : "", r.p_value));
    section.json["guesses"].push_back({{"guess", what},
                                       {"classes", classes.count},
                                       {"standardised", g.standardised},
                                       {"neighbours", g.neighbours},
                                       {"right", rounded(r.accuracy)},
                                       {"majority", rounded(r.majority)},
                                       {"permuted", rounded(r.permuted)},
                                       {"p_value", rounded(r.p_value)}});
  }
}

/// The number of correct guesses per family by the first guess: one nearest neighbour, raw features.
void add_families(StudySection& section, const SampleSet& samples, const Guess& nearest) {
  std::map<std::string, std::pair<double, int>> by_family;  // right, of so many
  for (std::size_t i = 0; i < samples.origins.size(); ++i) {
    auto& [right, of] = by_family[family_of(samples.origins[i].model)];
    right += nearest.outcome.right[i];
    ++of;
  }
  std::vector<std::string> shares;
  for (const auto& [family, right] : by_family) {
    shares.push_back(fmt::format("{} {:g} of {}", family, right.first, right.second));
    section.json["by_family"][family] = {right.first, right.second};
  }
  section.text +=
      fmt::format("\nby the nearest neighbour, as measured: {}\n", fmt::join(shares, ", "));
}

void add_claim(StudySection& section, const std::vector<Guess>& families) {
  const auto accuracy = [](const Guess& g) { return g.outcome.accuracy; };
  const auto [worst, best] = std::ranges::minmax_element(families, {}, accuracy);
  const double chance = families.front().outcome.majority;
  section.claim(
      "the three features do not give the model family away (the papers call them private)",
      accuracy(*best) <= 2 * chance,
      fmt::format("the family is guessed right for {:.0f} to {:.0f} % of the profiles by the six "
                  "settings; always guessing the most frequent one would be right for {:.0f} %",
                  100 * accuracy(*worst), 100 * accuracy(*best), 100 * chance));
}

}  // namespace

StudySection privacy_section(const ProfileTable& profiles) {
  constexpr std::size_t kMost = 1000;
  const auto [table, note] = usable_profiles(profiles, kMost);
  const SampleSet samples = draw_samples(table, {});
  if (samples.profiles.size() < 2) {
    throw InputError(table.source, "one profile: there is nobody to take it for");
  }
  StudySection section;
  section.text =
      note + fmt::format(
                 "guessing what a job is from its three \"private\" features: each of {} "
                 "measured profiles\n"
                 "from the others, by the nearest neighbours\n  "
                 "{:<10}{:>8}{:>15}{:>12}{:>10}{:>11}{:>11}{:>13}\n",
                 samples.profiles.size(), "guess", "classes", "features", "neighbours", "right",
                 "majority", "by chance", "p vs. chance");
  section.json["guesses"] = Json::array();
  const Classes families = classes_of(samples, family_of);
  const std::vector<Guess> of_families = guess_all(samples, families);
  add_guesses(section, "family", families, of_families);
  const Classes tasks = classes_of(samples, category_of);
  add_guesses(section, "task", tasks, guess_all(samples, tasks));
  add_families(section, samples, of_families.front());
  add_claim(section, of_families);
  return section;
}

}  // namespace corun::inline evaluation
