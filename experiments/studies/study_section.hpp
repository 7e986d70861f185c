#pragma once

#include <string>

#include <nlohmann/json.hpp>

/// What a section of a study has to say: figures, and what the papers claim, answered.
namespace corun {

struct StudySection {
  nlohmann::ordered_json json = {{"claims", nlohmann::ordered_json::array()}};  ///< for programs
  std::string text;                                                             ///< for people
  std::string figure;  ///< SVG; empty where the section has none

  /// A claim of a paper, answered; goes into `json` and `text`.
  void claim(const std::string& what, bool holds, const std::string& shown_by);
};

/// claim,holds,shown_by: a row per claim.
std::string claims_csv(const StudySection& section);

/// "yes" or "no".
std::string yes(bool holds);

/// To so many decimals, which JSON then has no more of; infinite and NaN stay.
double rounded(double x, int digits = 6);

}  // namespace corun
