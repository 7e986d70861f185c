#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/knowledge/matrix_view.hpp"

/// How well private features give away what they should hide.
///
/// PriRecT and JRS schedule by three numbers of a job instead of its model, data set and batch size.
/// Here an attacker who holds labelled profiles guesses the label of one more profile from its
/// features, as the majority of its k nearest neighbours (Euclidean). Leave-one-out: every row is
/// guessed once from the others. Labels are opaque numbers; what they mean the caller knows.
///
/// What the accuracy answers depends on what the attacker may hold. Leave-one-out over measured
/// profiles asks of somebody who has profiled the same models at other batch sizes, and is the fair
/// question. Holding back more is easily unfair: without the rows of the true label at the nearest
/// batch size only right answers are missing, and without all rows of the same batch size, where every
/// model was measured at each, only wrong ones. Rows that were interpolated from others (PriRecT's
/// synthetic samples) must not be among the profiles: their neighbours are their parents. Where rows
/// are no measurements of their own, say repeats of one job, `groups` hides them from each other.
namespace corun {

struct ReidentificationOptions {
  int neighbours = 1;        ///< k, 1 or more
  bool standardise = false;  ///< each feature by mean and deviation of the rows the attacker holds
  int permutations = 999;    ///< of the labels, for the baseline; 0 or more
  std::uint64_t seed = 0;    ///< of Stream::kPermutation, entity = permutation
};

struct Reidentification {
  double accuracy = 0;        ///< share of the rows guessed right
  std::vector<double> right;  ///< per row: 1 right, 0 wrong, in between where guesses were equal
  double majority = 0;        ///< share of the most frequent label: a guess without any feature
  /// Mean accuracy over permuted labels: features that say nothing.
  double permuted = 0;
  /// (1 + permutations with at least this accuracy) / (1 + permutations): one-sided. 1 without
  /// permutations.
  double p_value = 1;
};

/// `labels` holds one number per row; `groups` too, or nothing: the rows of a row's group are hidden
/// from the attacker, and the row itself always is.
///
/// No rule depends on the order of rows, which often stand sorted by label. All rows as near as the
/// k-th vote; of labels with equally many votes the one with the nearest voter wins; if even these
/// are equally near, the row counts as right by the chance of drawing the true one of them.
///
/// std::invalid_argument as check_finite(), for fewer than 2 rows, lists of other lengths, bad
/// options, or a row for which the attacker holds nothing.
Reidentification reidentify(const MatrixView& features, std::span<const int> labels,
                            std::span<const int> groups = {},
                            const ReidentificationOptions& options = {});

}  // namespace corun
