#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "traces/gavel_throughputs.hpp"

/// Gavel's rates as tables: the files gavel_v100_pairs.csv, gavel_p100_pairs.csv, gavel_k80_pairs.csv and
/// gavel_solo.csv of the public data sets are made of its simulation_throughputs.json by these.
///
/// Of jobs of one GPU, every pair that the file has, each once, in the order of the file's types:
///
/// | column            | unit    | meaning                                                          |
/// |-------------------|---------|------------------------------------------------------------------|
/// | `gpu`             |         | v100, p100 or k80                                                |
/// | `job_x`           |         | type of the job; below, `family_x` and `bs_x` are what it says   |
/// | `bs_x`            |         | batch size, -1 where the type names none                         |
/// | `solo_GPU_x`      | steps/s | alone on each of the three GPU types; empty: not known or none   |
/// | `corun_x`         | steps/s | beside the other                                                 |
/// | `failed`          |         | 1: the two do not fit on one GPU, all that follows is 0 or empty |
/// | `norm_x`          |         | corun_x / solo_x, to 6 digits behind the point                   |
/// | `slowdown_x_pct`  | %       | solo_x / corun_x - 1, to 4 digits                                |
/// | `capped_x`        |         | 1: as fast as alone to the last digit: Gavel stores no more      |
/// | `norm_sum`        |         | the sum of both speeds, to 6 digits                              |
namespace corun {

/// Writes the table of the GPU type of `rates`; gives the number of rows. InputError if there is no pair.
std::size_t write_gavel_pairs(std::ostream& out, const GavelThroughputs& rates);

/// The jobs of one GPU: job, family, bs, solo_v100, solo_p100, solo_k80, in the order of the file's types.
std::size_t write_gavel_solo(std::ostream& out, const GavelThroughputs& rates);

}  // namespace corun
