#pragma once

#include <span>
#include <string>

#include "predictors/tables/predictor_evaluation.hpp"
#include "support/json.hpp"

/// A cross-validation of predictors as a table for people, as CSV and as JSON.
namespace corun::inline predictors {

std::string predictor_evaluation_table(const JobTable& table,
                                       std::span<const PredictorEvaluation> evaluations);
/// One row per split, number of known jobs, predictor and figure.
std::string predictor_evaluation_csv(std::span<const PredictorEvaluation> evaluations);
Json predictor_evaluation_json(const JobTable& table,
                               std::span<const PredictorEvaluation> evaluations);

}  // namespace corun::inline predictors
