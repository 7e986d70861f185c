#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "traces/trace.hpp"

/// A part of a trace of jobs. The steps, in this order:
///   1. jobs submitted from `from_s` on, and before `to_s`; times then count from `from_s`
///   2. jobs that need at most `gpus` GPUs
///   3. each job with probability `sample`; the draw is keyed by (seed, number of the job in the whole
///      trace), so it does not depend on the other steps, and a larger share contains a smaller one
///   4. submission times divided by `load`: 2 is the same jobs in half the time
namespace corun::inline traces {

struct TraceCutOptions {
  double from_s = 0;  ///< [s] 0 or more
  double to_s = std::numeric_limits<double>::infinity();
  std::optional<std::int64_t> gpus;
  double sample = 1;  ///< above 0, up to 1
  double load = 1;    ///< above 0
  std::uint64_t seed = 1;
};

struct TraceCut {
  Trace trace;
  std::size_t outside = 0;      ///< jobs left out by step 1
  std::size_t too_large = 0;    ///< by step 2
  std::size_t not_sampled = 0;  ///< by step 3
};

/// The jobs keep their order. Throws InputError if a time would be beyond kMaxTimeSeconds.
TraceCut cut_trace(const Trace& whole, const TraceCutOptions& options);

}  // namespace corun::inline traces
