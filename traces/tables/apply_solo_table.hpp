#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "traces/tables/solo_table.hpp"
#include "traces/trace.hpp"

namespace corun::inline traces {

/// Whether two names are of one GPU type; traces/ knows no other names of a type.
using SameType = std::function<bool(std::string_view, std::string_view)>;

/// Fills TraceJob::on_types of the jobs whose workload is in the table, and returns the number of jobs of
/// which it filled anything. On type t:
///   solo_s      work x time(t) / time(reference), also infinity; only if the time on the reference type is
///               measured. `reference` is the GPU type of JobSpec::work; gangs slow down as one GPU does.
///   memory_mib  that of the table
/// What the trace itself knows of a job on a type stays, and so do the names that it has for types. A
/// type of the table is added after those of the trace, unless nothing is known of any job there.
std::size_t apply_solo_table(Trace& trace, const SoloTable& table, std::string_view reference,
                             const SameType& same_type);

}  // namespace corun::inline traces
