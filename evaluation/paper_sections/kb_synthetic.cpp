#include "evaluation/paper_sections/kb_synthetic.hpp"

#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "evaluation/paper_sections/regeneration_study.hpp"
#include "support/charts/svg_chart.hpp"
#include "support/json.hpp"

namespace corun::inline evaluation {

namespace {

std::string shown(const Share& share) {
  return fmt::format("{}/{}", share.agreeing, share.printed);
}

/// Table II with all assumptions that its numbers need, and without each of them.
void add_table_two_variants(StudySection& section, const ProfileTable& table) {
  struct Named {
    std::string_view name;
    TableTwoVariant variant;
  };
  const std::array<Named, 5> variants{{
      {"as the paper made it", {}},
      {"values at 256 and 128 not exchanged", {.exchanged = false}},
      {"rows in the samples' order", {.falling = false}},
      {"MobileNet's 30.6 as listed", {.retyped = false}},
      {"samples cut before use", {.cut = true}},
  }};
  std::string& text = section.text;
  text += fmt::format(
      "PriRecT Table II: cells that agree to the printed digits, rounded or cut\n\n  {:<38}{:>10}",
      "", "all");
  for (const TechniqueEntry& t : technique_catalog()) text += fmt::format("{:>13}", t.name);
  text += "\n";
  section.json["table_two"] = Json::array();
  for (const Named& v : variants) {
    const TableTwo two = prirect_table_two(table, v.variant);
    const Share total = two.total();
    Json row{{"variant", v.name}, {"agree", total.agreeing}, {"printed", total.printed}};
    text += fmt::format("  {:<38}{:>10}", v.name, shown(total));
    for (const TechniqueEntry& t : technique_catalog()) {
      const Share s = two.of(t.name);
      row["by_technique"][std::string(t.name)] = {s.agreeing, s.printed};
      text += fmt::format("{:>13}", shown(s));
    }
    text += "\n";
    section.json["table_two"].push_back(row);
  }
}

/// Adds every cell of Table II to the JSON and cells that do not agree to the text.
void add_cells(StudySection& section, const ProfileTable& table) {
  const TableTwo two = prirect_table_two(table);
  section.json["cells"] = Json::array();
  section.text += "\ncells that do not agree\n";
  for (const TableTwoCell& c : two.cells) {
    section.json["cells"].push_back({{"technique", c.technique},
                                     {"workload", c.workload},
                                     {"attribute", kAttributeNames[c.attribute]},
                                     {"score", c.mae ? "mae" : "rmse"},
                                     {"printed", c.printed},
                                     {"ours", json_number(c.ours)},
                                     {"agrees", c.agrees},
                                     {"cause", c.cause}});
    if (c.agrees || c.printed.empty()) continue;
    section.text += fmt::format("  {:<12} {:<15} {:<9}{:<5} printed {:<9} ours {:<9.4g} {}\n",
                                c.technique, c.workload, kAttributeNames[c.attribute],
                                c.mae ? "MAE" : "RMSE", c.printed, c.ours, c.cause);
  }
  const Share total = two.total();
  const Share plain = prirect_table_two(table, {.exchanged = false}).total();
  section.claim(
      "Table II can be computed from the published data (three quarters of its cells)",
      4 * total.agreeing >= 3 * total.printed,
      fmt::format("{} of {} cells, {} without the exchange of two values in the comparison",
                  total.agreeing, total.printed, plain.agreeing));
}

/// Fig. 3 from samples with all digits, and from clipped samples cut after two decimals.
struct BellClaims {
  BellClaim whole;
  BellClaim cut;
};

std::string shown(const BellClaim& bell) {
  std::vector<std::string> parts;
  for (const int at : {1, 2, 4, 8, 12, 16, 20}) {
    const VolumeQuality& q = bell.curve[static_cast<std::size_t>(at - 1)];
    parts.push_back(q.rmse ? fmt::format("{}: {:.2g}", at, *q.rmse) : fmt::format("{}: -", at));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Json to_json(const BellClaim& bell) {
  Json points = Json::array();
  for (const VolumeQuality& q : bell.curve) {
    points.push_back({q.between, q.rmse ? Json(*q.rmse) : Json(nullptr)});
  }
  return points;
}

void add_bells(StudySection& section, const BellClaims& bells) {
  section.claim(
      "krogh's quality over the volume of synthetic data is bell-shaped (PriRecT fig. 3)",
      bells.whole.holds,
      fmt::format("MobileNet MGUP, RMSE by samples between neighbours {{{}}}, least at {}",
                  shown(bells.whole), bells.whole.best));
  section.claim("the same when samples are kept as listed, cut after two decimals", bells.cut.holds,
                fmt::format("{{{}}}, least at {}", shown(bells.cut), bells.cut.best));
  section.json["volume"] = to_json(bells.whole);
  section.json["volume_cut"] = to_json(bells.cut);
}

void add_least_rmse(StudySection& section, const ProfileTable& table) {
  const auto by_attribute = least_rmse(table, {.exchanged = false});
  section.json["least_rmse"] = Json::array();
  section.text += fmt::format(
      "\ntechnique of least RMSE in the blind test (JRS fig. 2), and the one behind the samples\n"
      "  {:<16}{:<10}{:<14}{:<8}{}\n",
      "workload", "attribute", "least RMSE", "tied", "samples made by");
  std::size_t as_samples = 0;
  for (const LeastRmse& l : by_attribute) {
    section.json["least_rmse"].push_back({{"workload", l.workload},
                                          {"attribute", kAttributeNames[l.attribute]},
                                          {"best", technique_name(l.best)},
                                          {"tied", l.tied},
                                          {"samples", l.samples}});
    section.text +=
        fmt::format("  {:<16}{:<10}{:<14}{:<8}{}\n", l.workload, kAttributeNames[l.attribute],
                    technique_name(l.best), yes(l.tied), l.samples);
    as_samples += l.as_samples ? 1 : 0;
  }
  section.claim("synthetic data were made by the technique of least RMSE (JRS fig. 2)",
                as_samples == by_attribute.size(),
                fmt::format("{} of {} columns; a polynomial through n points always comes back "
                            "exactly from n samples, so the test cannot choose",
                            as_samples, by_attribute.size()));
}

std::string figure_of(const BellClaims& bells) {
  const auto series = [](const char* name, const BellClaim& bell) {
    LineSeries line;
    line.name = name;
    for (const VolumeQuality& q : bell.curve) {
      line.points.push_back({static_cast<double>(q.between),
                             q.rmse.value_or(std::numeric_limits<double>::quiet_NaN())});
    }
    return line;
  };
  LineChart chart;
  chart.title = "Regenerating MobileNet's GPU utilisation by krogh";
  chart.note = "Blind test over the number of synthetic samples between measured points";
  LinePanel panel;
  panel.title = "RMSE over volume";
  panel.x_axis = "samples between neighbours";
  panel.y_axis = "RMSE [percentage points]";
  panel.log_y = true;
  panel.series = {series("all digits", bells.whole),
                  series("clipped, cut after two decimals", bells.cut)};
  chart.panels.push_back(std::move(panel));
  return svg_line_chart(chart);
}

}  // namespace

StudySection synthetic_section(const ProfileTable& profiles) {
  StudySection section;
  add_table_two_variants(section, profiles);
  add_cells(section, profiles);
  const BellClaims bells{krogh_bell(profiles, {.clip = false, .decimals = {}}),
                         krogh_bell(profiles, {true, 2, Rounding::kCut})};
  add_bells(section, bells);
  add_least_rmse(section, profiles);
  section.figure = figure_of(bells);
  return section;
}

}  // namespace corun::inline evaluation
