#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "evaluation/pair_evaluation.hpp"

/// Output of `corun model eval --split`: models cross-validated over tables of pairs.
namespace corun::inline evaluation {

/// One table per evaluation, in %.
std::string pair_evaluation_table(const std::vector<PairEvaluation>& all);
/// One object per evaluation; fractions, null for undefined numbers.
nlohmann::ordered_json pair_evaluation_json(const std::vector<PairEvaluation>& all);
/// Columns data,split,rows,probes,predictor,mae,...: one row per predictor and evaluation.
std::string pair_evaluation_csv(const std::vector<PairEvaluation>& all);

enum class PairFigure : std::uint8_t {
  kCalibration,  ///< share of co-runs slower than each predicted quantile
  kOverRows,     ///< error over the number of known pairs
  kOverProbes,   ///< error over the known pairs of each held-out job
};

/// A figure as SVG, one panel per split. `all` must not be empty; `seed` is that of the
/// evaluations.
std::string pair_evaluation_figure(const std::vector<PairEvaluation>& all, PairFigure figure,
                                   std::uint64_t seed);

}  // namespace corun::inline evaluation
