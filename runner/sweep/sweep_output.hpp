#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/sweep/sweep_answers.hpp"

/// The answers of a sweep as text, JSON, CSV and figure.
namespace corun::inline runner {

std::string answers_table(const SweepResults& results, const SweepAnswers& answers);

/// {"points", "replications", "policies", "left_out", "configurations", "best", "effects", "pareto", "differences"};
/// undefined numbers are null.
nlohmann::ordered_json answers_json(const SweepResults& results, const SweepAnswers& answers);

/// Columns question,metric,a,b,value,lo,hi,share,points: one row per answer; docs/sweeps.md defines
/// the columns of each question.
std::string answers_csv(const SweepResults& results, const SweepAnswers& answers);

/// An SVG with a column of panels per metric (at most four): the policies with their intervals,
/// then the main effects of the swept keys, largest first; the last panel is PS against ISD of
/// every point and policy, with the Pareto front.
std::string answers_figure(const SweepResults& results, const SweepAnswers& answers);

}  // namespace corun::inline runner
