#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "traces/tables/gavel_throughputs.hpp"

/// Rates that come with a trace in Gavel's CSV: those of its jobs alone in columns of the trace, and those of pairs in
/// pair_rates.csv beside it, if that is there:
///
///   steps_per_s_v100, steps_per_s_p100, steps_per_s_k80    of a job alone, on all its GPUs [steps/s]; 0: it does not run there
///   scale_factor,job_type_a,job_type_b,gpu,rate_a,rate_b   a pair of jobs of so many GPUs each, beside each other
///
/// Jobs of one type and scale factor have one rate. A pair may appear in both orders, if they agree; rates of 0 and 0: the
/// two do not fit on one GPU together.
namespace corun::inline traces {

/// Whether the first bytes of a file are a trace's header with such columns.
bool has_own_rates(std::string_view head);

/// The file of pairs beside a trace: its path, whether it is there or not.
std::string pair_rates_path(const std::string& trace);

/// The rates for a GPU type, which must satisfy is_gavel_gpu(). InputError "FILE:LINE:COLUMN: ..." for anything that
/// the form above excludes.
GavelThroughputs read_rates_of_trace(const std::string& trace, std::string_view gpu,
                                     WorkloadKeys& keys);
/// The same from streams, "trace" and "pairs" in messages; `pairs` may be null.
GavelThroughputs read_rates_of_trace(std::istream& trace, std::istream* pairs, std::string_view gpu,
                                     WorkloadKeys& keys);

}  // namespace corun::inline traces
