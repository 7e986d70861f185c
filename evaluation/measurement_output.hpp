#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "evaluation/measurement_choice.hpp"

/// The plan of `corun model suggest` as text. Fractions in JSON and CSV, percentage points in the table.
namespace corun::inline evaluation {

struct SuggestedMeasurements {
  std::string model;               ///< the file
  std::string source;              ///< of the jobs
  std::vector<std::string> names;  ///< of kinds of jobs
  std::size_t measured = 0;        ///< pairs that were measured before
  std::uint64_t seed = 1;
  MeasurementProblem problem;
  MeasurementPlan plan;
};

std::string suggested_table(const SuggestedMeasurements& suggested);
nlohmann::ordered_json suggested_json(const SuggestedMeasurements& suggested);
/// The list that `corun live corun --pairs FILE` reads: rank,job_a,job_b,isd,sd,in_best,regret_before,regret_after.
std::string suggested_csv(const SuggestedMeasurements& suggested);

}  // namespace corun::inline evaluation
