#include "models/knowledge/reidentification.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>

#include "models/learners/standardiser.hpp"
#include "sim/rng.hpp"

namespace corun::inline models {
namespace {

struct Neighbour {
  double distance = 0;  ///< squared
  std::size_t row = 0;
};
using Voters = std::vector<Neighbour>;

/// Tolerance for sums of fractions, which rounding may change.
constexpr double kRounding = 1e-9;

/// The rows that vote on row `query`, nearest first: the k nearest and all as near as the k-th.
Voters voters_of(const MatrixView& features, std::size_t query, std::span<const int> groups,
                 const ReidentificationOptions& options) {
  std::vector<std::size_t> held;
  std::vector<double> values;
  const auto row = [&](std::size_t r) {
    return features.values.subspan(r * features.columns, features.columns);
  };
  for (std::size_t r = 0; r < features.rows; ++r) {
    if (r == query || (!groups.empty() && groups[r] == groups[query])) continue;
    held.push_back(r);
    values.insert(values.end(), row(r).begin(), row(r).end());
  }
  if (held.empty()) {
    throw std::invalid_argument("reidentification: one group holds all rows");
  }
  std::vector<double> wanted(row(query).begin(), row(query).end());
  if (options.standardise) {
    const MatrixView known{values, held.size(), features.columns};
    const Standardiser standardiser = Standardiser::of(known);
    wanted = standardiser.apply({wanted, 1, features.columns});
    values = standardiser.apply(known);
  }
  Voters all(held.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    all[i].row = held[i];
    for (std::size_t c = 0; c < features.columns; ++c) {
      const double d = values[i * features.columns + c] - wanted[c];
      all[i].distance += d * d;
    }
  }
  std::ranges::stable_sort(all, {}, &Neighbour::distance);
  std::size_t count = std::min(all.size(), static_cast<std::size_t>(options.neighbours));
  while (count < all.size() && all[count].distance == all[count - 1].distance) ++count;
  all.resize(count);
  return all;
}

/// The chance that the guess from `voters` is `truth`.
double chance_right(const Voters& voters, std::span<const int> labels, int truth) {
  struct Support {
    int votes = 0;
    double nearest = 0;
    bool operator==(const Support&) const = default;
    bool operator<(const Support& other) const {
      return votes != other.votes ? votes < other.votes : nearest > other.nearest;
    }
  };
  std::map<int, Support> support;
  for (const Neighbour& n : voters) {
    Support& s = support[labels[n.row]];
    if (s.votes == 0) s.nearest = n.distance;  // voters come nearest first
    ++s.votes;
  }
  Support best;
  for (const auto& [label, s] : support) best = best.votes == 0 ? s : std::max(best, s);
  int winners = 0;
  for (const auto& [label, s] : support) winners += s == best;
  const auto mine = support.find(truth);
  return mine != support.end() && mine->second == best ? 1.0 / winners : 0.0;
}

double accuracy(const std::vector<Voters>& voters, std::span<const int> labels,
                std::vector<double>* right = nullptr) {
  double sum = 0;
  for (std::size_t r = 0; r < voters.size(); ++r) {
    const double chance = chance_right(voters[r], labels, labels[r]);
    sum += chance;
    if (right != nullptr) right->push_back(chance);
  }
  return sum / static_cast<double>(voters.size());
}

}  // namespace

Reidentification reidentify(const MatrixView& features, std::span<const int> labels,
                            std::span<const int> groups, const ReidentificationOptions& options) {
  check_finite(features, "reidentification");
  if (features.rows < 2) throw std::invalid_argument("reidentification: fewer than 2 rows");
  if (labels.size() != features.rows) {
    throw std::invalid_argument("reidentification: not one label per row");
  }
  if (!groups.empty() && groups.size() != features.rows) {
    throw std::invalid_argument("reidentification: not one group per row");
  }
  if (options.neighbours < 1 || options.permutations < 0) {
    throw std::invalid_argument("reidentification: neighbours below 1 or permutations below 0");
  }

  // The voters depend on the features only, so all permutations of labels use the same lists.
  std::vector<Voters> voters;
  for (std::size_t r = 0; r < features.rows; ++r) {
    voters.push_back(voters_of(features, r, groups, options));
  }
  Reidentification result;
  result.accuracy = accuracy(voters, labels, &result.right);

  std::map<int, int> counts;
  for (const int label : labels) ++counts[label];
  int most = 0;
  for (const auto& [label, count] : counts) most = std::max(most, count);
  result.majority = static_cast<double>(most) / static_cast<double>(labels.size());

  int as_good = 0;
  std::vector<int> permuted;
  for (int p = 0; p < options.permutations; ++p) {
    permuted.assign(labels.begin(), labels.end());
    Rng rng(options.seed, Stream::kPermutation, static_cast<std::uint64_t>(p));
    rng.shuffle(std::span<int>(permuted));
    const double a = accuracy(voters, permuted);
    result.permuted += a / options.permutations;
    as_good += a >= result.accuracy - kRounding;
  }
  if (options.permutations > 0) {
    result.p_value = (1.0 + as_good) / (1.0 + options.permutations);
  }
  return result;
}

}  // namespace corun::inline models
