#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiments/evaluation/co_runner_evaluation.hpp"
#include "experiments/evaluation/model_evaluation.hpp"

/// What `corun model eval` shows of models that predict jobs they have never met. `seed` is the one of
/// the random queues.
namespace corun {

/// Errors, regret, groups of three and more, and the claims; in percentage points.
std::string model_evaluation_table(const ModelEvaluation& evaluation,
                                   const std::vector<GroupScore>& groups, std::uint64_t seed);
/// Fractions; null where there is nothing.
nlohmann::ordered_json model_evaluation_json(const ModelEvaluation& evaluation,
                                             const std::vector<GroupScore>& groups,
                                             std::uint64_t seed);
/// predictor,metric,session,value,error: one row per figure; session "all" is the mean over sessions.
std::string model_evaluation_csv(const ModelEvaluation& evaluation,
                                 const std::vector<GroupScore>& groups);

}  // namespace corun
