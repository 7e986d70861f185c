#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/sweep/sweep_answers.hpp"

/// The answers of a sweep as text, JSON, CSV and figure.
namespace corun::inline runner {

/// How tables and figures show a metric; CSV and JSON have its own unit.
struct ShownMetric {
  std::string title;
  double scale = 1;
};
/// Shares in percent; times, as in tables of replays, in the unit that fits the largest mean of a policy.
ShownMetric shown_as(Metric m, const SweepAnswers& answers);
/// "less is better" or "more is better".
std::string better_side(Metric m);

/// The points of a note in words: "all points", the values of a swept key that only they have, as "cluster.nodes=2 or 4",
/// or their numbers.
std::string points_of_note(const SweepResults& results, const SweepResults::Note& note);

std::string answers_table(const SweepResults& results, const SweepAnswers& answers);

/// {"points", "replications", "policies", "left_out", "notes", "configurations", "scenarios", "best", "effects", "pareto", "differences"};
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
