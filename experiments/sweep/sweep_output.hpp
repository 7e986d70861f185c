#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "experiments/sweep/sweep_answers.hpp"

/// How the answers of a sweep are shown: to people, to scripts, to spreadsheets, as a picture.
namespace corun {

std::string answers_table(const SweepResults& results, const SweepAnswers& answers);

/// {"points", "replications", "policies", "left_out", "best", "effects", "pareto", "differences"};
/// undefined numbers are null.
nlohmann::ordered_json answers_json(const SweepResults& results, const SweepAnswers& answers);

/// question,metric,a,b,value,lo,hi,share,points: one row per answer; docs/sweeps.md says what each
/// question puts where.
std::string answers_csv(const SweepResults& results, const SweepAnswers& answers);

/// A column of panels per metric, four at most: the policies with their intervals, below them the main
/// effects of the swept keys, those that matter most first; at the end PS against ISD of every point and
/// policy with the front.
std::string answers_figure(const SweepResults& results, const SweepAnswers& answers);

}  // namespace corun
