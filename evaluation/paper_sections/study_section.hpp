#pragma once

#include <string>

#include <nlohmann/json.hpp>

/// The output of a section of a study: figures, and answers to claims of the papers.
namespace corun::inline evaluation {

struct StudySection {
  nlohmann::ordered_json json = {{"claims", nlohmann::ordered_json::array()}};  ///< for programs
  std::string text;                                                             ///< for people
  std::string figure;  ///< SVG; empty: none

  /// Adds a claim of a paper and its answer to `json` and `text`.
  void claim(const std::string& what, bool holds, const std::string& shown_by);
};

/// claim,holds,shown_by: a row per claim.
std::string claims_csv(const StudySection& section);

/// "yes" or "no".
std::string yes(bool holds);

/// `x` rounded to `digits` decimals; infinite and NaN stay.
double rounded(double x, int digits = 6);

}  // namespace corun::inline evaluation
