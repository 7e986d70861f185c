#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/learners/matrix_view.hpp"

/// A reidentification attack: how well features predict the labels that they should hide.
///
/// PriRecT and JRS schedule by three numbers of a job instead of its model, data set and batch size. An
/// attacker with labelled profiles guesses the label of another profile from its features, by the majority of
/// its k nearest neighbours (Euclidean). Every row is guessed once from the others (leave-one-out). Labels
/// are opaque numbers.
///
/// The meaning of the accuracy depends on the profiles that the attacker holds. With leave-one-out over
/// measured profiles, the attacker has profiled the same models at other batch sizes. Other choices are
/// biased: without the rows of the true label at the nearest batch size, only right answers are missing;
/// without all rows of the same batch size, if every model was measured at each, only wrong ones. Rows
/// interpolated from others (PriRecT's synthetic samples) must not be among the profiles, because their
/// nearest neighbours are the rows that they came from. `groups` hides dependent rows, such as repeats of one
/// job, from each other.
namespace corun::inline models {

struct ReidentificationOptions {
  int neighbours = 1;        ///< k, 1 or more
  bool standardise = false;  ///< each feature by mean and deviation of the attacker's rows
  int permutations = 999;    ///< random permutations of the labels, for the baseline; 0 or more
  std::uint64_t seed = 0;    ///< of Stream::kPermutation, entity = permutation
};

struct Reidentification {
  double accuracy = 0;        ///< share of the rows guessed right, from 0 to 1
  std::vector<double> right;  ///< per row: 1 right, 0 wrong, a probability for ties
  double majority = 0;        ///< share of the most frequent label: accuracy without features
  /// Mean accuracy over permuted labels: accuracy with uninformative features.
  double permuted = 0;
  /// (1 + permutations with at least this accuracy) / (1 + permutations): one-sided. 1 without
  /// permutations.
  double p_value = 1;
};

/// `labels`: one number per row. `groups`: one number per row, or empty; when a row is guessed, all rows of
/// its group are hidden from the attacker.
///
/// The result does not depend on the order of rows, which are often sorted by label. All rows as near as the
/// k-th vote. Of labels with equally many votes, the one with the nearest voter is guessed; if voters are
/// equally near, one of these labels at random, and the row counts with the probability of the true label.
///
/// std::invalid_argument as check_finite(), for fewer than 2 rows, lists of other lengths, options out of
/// bounds, and if one group has all rows.
Reidentification reidentify(const MatrixView& features, std::span<const int> labels,
                            std::span<const int> groups = {},
                            const ReidentificationOptions& options = {});

}  // namespace corun::inline models
