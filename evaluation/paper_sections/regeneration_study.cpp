#include "evaluation/paper_sections/regeneration_study.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "knowledge/synthetic_profiles.hpp"

namespace corun::inline evaluation {

namespace {

constexpr int kMostBetween = 20;

const PaperSyntheticRecipe& recipe_of(std::string_view workload) {
  for (const PaperSyntheticRecipe& recipe : prirect_recipes()) {
    if (recipe.workload == workload) return recipe;
  }
  throw std::logic_error("no recipe of that workload");
}

/// The blind test of one column: the known points, the positions of the samples, and the compared values.
struct BlindTest {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> synthetic;
  std::vector<double> truth;
};

BlindTest blind_test(const ProfileTable& table, const PaperSyntheticRecipe& recipe,
                     std::size_t attribute, const TableTwoVariant& variant) {
  PaperSeries series = paper_series(table, recipe);
  BlindTest test{
      std::move(series.rows), std::move(series.values[attribute]), std::move(series.synthetic), {}};
  if (variant.retyped && recipe.workload == "MobileNet" && attribute == 2) {
    test.y.front() = kTableTwoMobileNetMagtsamp;
  }
  if (variant.exchanged) {
    test.truth = test.y;
    const auto known_at = [&](int batch_size) {
      const auto row = std::ranges::find(recipe.batch_sizes, batch_size);
      const auto position = static_cast<double>(row - recipe.batch_sizes.begin());
      return static_cast<std::size_t>(std::ranges::find(test.x, position) - test.x.begin());
    };
    const std::size_t a = known_at(256);
    const std::size_t b = known_at(128);
    if (a < test.x.size() && b < test.x.size()) std::swap(test.truth[a], test.truth[b]);
  } else {
    test.truth = test.y;
  }
  if (variant.falling && recipe.batch_sizes.front() < recipe.batch_sizes.back()) {
    // Row r becomes row 20 - r; the order of the lists stays.
    for (double& x : test.x) x = kGridRows - 1 - x;
    for (double& x : test.synthetic) x = kGridRows - 1 - x;
  }
  return test;
}

Regeneration run(const BlindTest& test, Technique technique, const TableTwoVariant& variant) {
  if (!variant.cut) return regenerate(technique, test.x, test.y, test.synthetic, test.truth);
  const auto samples =
      generate(technique, test.x, test.y, test.synthetic, {true, 2, Rounding::kCut});
  Regeneration result{interpolate(technique, test.synthetic, samples, test.x), 0, 0};
  for (std::size_t i = 0; i < test.truth.size(); ++i) {
    const double error = std::abs(result.values[i] - test.truth[i]);
    result.rmse += error * error / static_cast<double>(test.truth.size());
    result.mae += error / static_cast<double>(test.truth.size());
  }
  result.rmse = std::sqrt(result.rmse);
  return result;
}

Technique technique_of(std::string_view name) {
  const auto technique = find_technique(name);
  if (!technique) throw std::logic_error("no technique '" + std::string(name) + "'");
  return *technique;
}

/// A printed number and the unit of its last digit.
struct Printed {
  double value = 0;
  double unit = 1;
};

Printed parse(std::string_view text) {
  Printed printed;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, printed.value);
  if (error != std::errc{} || stop != end) {
    throw std::invalid_argument("'" + std::string(text) + "' is no printed number");
  }
  const std::size_t exponent = std::min(text.find_first_of("eE"), text.size());
  int power = 0;
  if (exponent < text.size()) std::from_chars(text.data() + exponent + 1, end, power);
  const std::size_t point = text.substr(0, exponent).find('.');
  if (point != std::string_view::npos) power -= static_cast<int>(exponent - point - 1);
  printed.unit = std::pow(10.0, power);
  return printed;
}

Share count(const std::vector<TableTwoCell>& cells, std::string_view technique) {
  Share share;
  for (const TableTwoCell& cell : cells) {
    if (cell.printed.empty() || (!technique.empty() && cell.technique != technique)) continue;
    ++share.printed;
    share.agreeing += cell.agrees ? 1 : 0;
  }
  return share;
}

bool is_polynomial(Technique technique) {
  return technique == Technique::kBarycentric || technique == Technique::kKrogh;
}

}  // namespace

Share TableTwo::total() const { return count(cells, {}); }

Share TableTwo::of(std::string_view technique) const { return count(cells, technique); }

bool agrees_as_printed(std::string_view printed, double ours) {
  const auto [value, unit] = parse(printed);
  // From half a unit below (rounded up) to a whole unit above (cut), inclusive: 6.29 may be 6.2899999 in
  // floating point and be cut to 6.28.
  const double slack = 1e-9 * unit;
  return ours >= value - unit / 2 - slack && ours <= value + unit + slack;
}

TableTwo prirect_table_two(const ProfileTable& table, const TableTwoVariant& variant) {
  TableTwo out;
  for (const PaperRegenerationRow& row : prirect_regeneration()) {
    const PaperSyntheticRecipe& recipe = recipe_of(row.workload);
    for (std::size_t a = 0; a < kProfileAttributes; ++a) {
      const Regeneration result =
          run(blind_test(table, recipe, a, variant), technique_of(row.technique), variant);
      for (const bool mae : {false, true}) {
        TableTwoCell cell{row.technique, row.workload, a, mae, {}, 0, false, false, {}};
        cell.printed = mae ? row.attributes[a].mae : row.attributes[a].rmse;
        cell.ours = mae ? result.mae : result.rmse;
        if (!cell.printed.empty()) {
          cell.noise = parse(cell.printed).value < kNoise && cell.ours < kNoise;
          cell.agrees = cell.noise || agrees_as_printed(cell.printed, cell.ours);
        }
        for (const PaperMisprint& misprint : prirect_misprints()) {
          if (misprint.technique == row.technique && misprint.workload == row.workload &&
              misprint.attribute == a && misprint.mae == mae) {
            cell.cause = misprint.cause;
          }
        }
        out.cells.push_back(cell);
      }
    }
  }
  return out;
}

BellClaim krogh_bell(const ProfileTable& table, const GenerationOptions& samples) {
  const PaperSeries series = paper_series(table, recipe_of("MobileNet"));
  BellClaim claim;
  claim.curve = quality_over_volume(Technique::kKrogh, series.rows, series.values[0],
                                    series.values[0], kMostBetween, samples);
  const auto rmse = [](const VolumeQuality& q) {
    return q.rmse.value_or(std::numeric_limits<double>::infinity());
  };
  const auto best = std::ranges::min_element(claim.curve, {}, rmse);
  claim.best = best->between;
  claim.holds = rmse(claim.curve.front()) >= rmse(*best) + kSameRmse &&
                rmse(claim.curve.back()) >= rmse(*best) + kSameRmse;
  return claim;
}

std::vector<LeastRmse> least_rmse(const ProfileTable& table, const TableTwoVariant& variant) {
  std::vector<LeastRmse> out;
  for (const PaperSyntheticRecipe& recipe : prirect_recipes()) {
    for (std::size_t a = 0; a < kProfileAttributes; ++a) {
      const BlindTest test = blind_test(table, recipe, a, variant);
      std::vector<Regeneration> all;
      LeastRmse row;
      row.workload = recipe.workload;
      row.attribute = a;
      for (const TechniqueEntry& entry : technique_catalog()) {
        all.push_back(run(test, entry.technique, variant));
        row.rmse[all.size() - 1] = all.back().rmse;
      }
      row.best = best_technique(all);
      const double least = std::ranges::min(row.rmse);
      row.tied =
          std::ranges::count_if(row.rmse, [&](double r) { return r <= least + kSameRmse; }) > 1;
      row.samples = recipe.techniques[a];
      const Technique used = technique_of(row.samples);
      row.as_samples = used == row.best || (is_polynomial(used) && is_polynomial(row.best));
      out.push_back(row);
    }
  }
  return out;
}

std::vector<LeastMeanRmse> least_mean_rmse(const std::vector<LeastRmse>& by_attribute) {
  std::vector<LeastMeanRmse> out;
  const auto table = technique_catalog();
  for (std::size_t i = 0; i + kProfileAttributes <= by_attribute.size(); i += kProfileAttributes) {
    std::vector<Regeneration> means(table.size());
    for (std::size_t t = 0; t < table.size(); ++t) {
      for (std::size_t a = 0; a < kProfileAttributes; ++a) {
        means[t].rmse += by_attribute[i + a].rmse[t] / kProfileAttributes;
      }
    }
    const Technique best = best_technique(means);
    out.push_back({by_attribute[i].workload, best, means[static_cast<std::size_t>(best)].rmse});
  }
  return out;
}

}  // namespace corun::inline evaluation
