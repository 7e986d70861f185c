#include "evaluation/paper_sections/study_section.hpp"

#include <cmath>

#include <fmt/format.h>

#include "traces/csv_reader.hpp"

namespace corun::inline evaluation {

void StudySection::claim(const std::string& what, bool holds, const std::string& shown_by) {
  json["claims"].push_back({{"claim", what}, {"holds", holds}, {"shown_by", shown_by}});
  text += fmt::format("\nclaim: {}\n  {}: {}\n", what, yes(holds), shown_by);
}

std::string claims_csv(const StudySection& section) {
  std::string out = "claim,holds,shown_by\n";
  for (const auto& c : section.json["claims"]) {
    out += csv_text(c["claim"].get<std::string>()) + "," + yes(c["holds"].get<bool>()) + "," +
           csv_text(c["shown_by"].get<std::string>()) + "\n";
  }
  return out;
}

std::string yes(bool holds) { return holds ? "yes" : "no"; }

double rounded(double x, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::isfinite(x) ? std::round(x * scale) / scale : x;
}

}  // namespace corun::inline evaluation
