#include "live/jobs/profile_fields.hpp"

#include "sim/base/csv_text.hpp"

namespace corun::live {

std::string profile_fields(const Profile& profile) {
  return csv_number(profile.gpu_util_pct) + "," + csv_number(profile.mem_alloc_pct) + "," +
         csv_number(profile.mem_time_pct) + "," + csv_number(profile.mem_used_mib);
}

Json profile_json(const Profile& profile) {
  return {{"gpu_util_pct", json_or_null(profile.gpu_util_pct)},
          {"mem_alloc_pct", json_or_null(profile.mem_alloc_pct)},
          {"mem_time_pct", json_or_null(profile.mem_time_pct)},
          {"mem_used_mib", json_or_null(profile.mem_used_mib)}};
}

}  // namespace corun::live
