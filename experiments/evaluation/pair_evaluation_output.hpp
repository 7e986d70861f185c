#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiments/evaluation/pair_evaluation.hpp"

/// What `corun model eval --split` shows of models that were cross-validated over tables of pairs.
namespace corun {

/// A table for each, a blank line between them; in per cent.
std::string pair_evaluation_table(const std::vector<PairEvaluation>& all);
/// An object for each; fractions, null where there is nothing.
nlohmann::ordered_json pair_evaluation_json(const std::vector<PairEvaluation>& all);
/// data,split,rows,probes,predictor,mae,...: one row per predictor and evaluation.
std::string pair_evaluation_csv(const std::vector<PairEvaluation>& all);

enum class PairFigure : std::uint8_t {
  kCalibration,  ///< how many co-runs are slower than a quantile says
  kOverRows,     ///< error over the pairs that were known
  kOverProbes,   ///< error over the pairs known of each job held out
};

/// As SVG, a panel for each split. At least one evaluation; `seed` is theirs.
std::string pair_evaluation_figure(const std::vector<PairEvaluation>& all, PairFigure figure,
                                   std::uint64_t seed);

}  // namespace corun
