#pragma once

#include <string>
#include <string_view>

#include "sim/profile.hpp"
#include "support/json.hpp"

/// A measured profile in the files and outputs of live mode, under the names of traces/tables/profile_csv.hpp.
namespace corun::live {

/// The header of profile_fields().
inline constexpr std::string_view kProfileFields =
    "gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib";

/// Four fields of CSV; unknown values are empty.
std::string profile_fields(const Profile& profile);

/// The same as an object; unknown values are null.
Json profile_json(const Profile& profile);

}  // namespace corun::live
