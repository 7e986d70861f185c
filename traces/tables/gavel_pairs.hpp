#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "traces/tables/gavel_throughputs.hpp"

/// Gavel's rates as tables: these functions make the files gavel_v100_pairs.csv, gavel_p100_pairs.csv,
/// gavel_k80_pairs.csv and gavel_solo.csv of the public data sets from its simulation_throughputs.json.
///
/// The table has every pair of the file's jobs of one GPU, once each, in the order of the file's types:
///
/// | column            | unit    | meaning                                                          |
/// |-------------------|---------|------------------------------------------------------------------|
/// | `gpu`             |         | v100, p100 or k80                                                |
/// | `job_x`           |         | type of the job; `family_x` and `bs_x` are parts of it           |
/// | `bs_x`            |         | batch size; -1 if the type has none                              |
/// | `solo_GPU_x`      | steps/s | alone on each of the three GPU types; empty: not known or none   |
/// | `corun_x`         | steps/s | beside the other                                                 |
/// | `failed`          |         | 1: the two do not fit on one GPU; the rest is 0 or empty         |
/// | `norm_x`          |         | corun_x / solo_x, to 6 digits behind the point                   |
/// | `slowdown_x_pct`  | %       | solo_x / corun_x - 1, to 4 digits                                |
/// | `capped_x`        |         | 1: the same speed as alone, which is Gavel's upper limit         |
/// | `norm_sum`        |         | the sum of both speeds, to 6 digits                              |
namespace corun::inline traces {

/// Writes the table of the GPU type of `rates` and returns the number of rows. InputError if there is no
/// pair.
std::size_t write_gavel_pairs(std::ostream& out, const GavelThroughputs& rates);

/// The jobs of one GPU: job, family, bs, solo_v100, solo_p100, solo_k80 [steps/s], in the order of the
/// file's types. Returns the number of rows.
std::size_t write_gavel_solo(std::ostream& out, const GavelThroughputs& rates);

}  // namespace corun::inline traces
