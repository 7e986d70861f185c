#pragma once

#include <cstdint>
#include <vector>

namespace corun {

/// How a FactorModel is fitted: what chains of draws there are, and how long they run.
struct FactorChain {
  int rank = 8;
  double spread = 0.005;
  bool predicts = true;  ///< else its samples widen the interval only; such chains stand last
  friend bool operator==(const FactorChain&, const FactorChain&) = default;
};

struct FactorOptions {
  std::vector<FactorChain> chains{{8, 0.005, true}, {8, 0.1, false}};
  int chains_per_kind =
      0;  ///< of each kind that predicts; 0: by the rows, 8 up to 250, 1 from 1001
  int sweeps = 500;
  int burn_in = 170;   ///< sweeps before the first sample
  int keep_every = 5;  ///< sweeps from one sample to the next, times chains_per_kind
  double freedom = 6;  ///< of the noise; above 2
  std::uint64_t seed = 1;
  int threads = 1;  ///< chains at a time; changes speed only
};

}  // namespace corun
