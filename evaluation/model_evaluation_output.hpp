#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "evaluation/co_runner_evaluation.hpp"
#include "evaluation/model_evaluation.hpp"

/// Output of `corun model eval` for predictions of unknown jobs. `seed` is that of the random
/// queues.
namespace corun::inline evaluation {

/// Tables of errors, regret, groups of three or more jobs, and claims; ISD in percentage points.
std::string model_evaluation_table(const ModelEvaluation& evaluation,
                                   const std::vector<GroupScore>& groups, std::uint64_t seed);
/// The same as JSON: fractions, null for undefined numbers.
nlohmann::ordered_json model_evaluation_json(const ModelEvaluation& evaluation,
                                             const std::vector<GroupScore>& groups,
                                             std::uint64_t seed);
/// Columns predictor,metric,session,value,error: one row per number; session "all" is the mean over
/// sessions.
std::string model_evaluation_csv(const ModelEvaluation& evaluation,
                                 const std::vector<GroupScore>& groups);

}  // namespace corun::inline evaluation
