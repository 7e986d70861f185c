#pragma once

#include <cstdint>
#include <vector>

namespace corun::inline models {

/// A kind of Gibbs chain that fits a FactorModel.
struct FactorChain {
  int rank = 7;           ///< length of u and v, from 1 to factors::kMostRank
  double spread = 0.005;  ///< scale of the Wishart prior of Lambda, above 0, at most 1e6
  bool predicts = true;   ///< false: samples only widen the interval; listed last
  friend bool operator==(const FactorChain&, const FactorChain&) = default;
};

struct FactorOptions {
  std::vector<FactorChain> chains{{7, 0.005, true}, {7, 0.1, false}};
  /// Chains of each kind that predicts. 0: by the number of rows, 4 up to 500 rows, 1 from 1001.
  int chains_per_kind = 0;
  int sweeps = 500;    ///< of a chain that predicts, more than burn_in
  int burn_in = 170;   ///< sweeps before the first sample
  int keep_every = 5;  ///< sweeps between samples; times chains_per_kind in a chain that predicts
  /// The same in a chain that does not predict. It ends when it has as many samples as the chains of a kind together.
  int widen_every = 2;
  double freedom = 6;  ///< degrees of freedom of the noise, above 2
  std::uint64_t seed = 1;
  int threads = 1;  ///< does not change the result
  /// Share of the work, at most 1 (models/interference/fits/effort.hpp): of sweeps, of the burn-in and of the chains of
  /// each kind that predicts. A chain gives kLeastSamples all the same.
  double effort = 1;
  static constexpr int kLeastSamples = 2;
};

}  // namespace corun::inline models
