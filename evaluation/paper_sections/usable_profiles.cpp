#include "evaluation/paper_sections/usable_profiles.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace corun::inline evaluation {

UsableProfiles usable_profiles(const ProfileTable& table, std::size_t most) {
  UsableProfiles usable;
  std::vector<std::size_t> whole;
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    const Profile& p = table.profiles[i];
    if (p.gpu_util_pct && p.mem_alloc_pct && p.mem_time_pct) whole.push_back(i);
  }
  if (whole.size() < table.jobs.size()) {
    usable.note += fmt::format("{} of {} profiles lack a feature and are left out\n",
                               table.jobs.size() - whole.size(), table.jobs.size());
  }
  if (whole.size() > most) {
    usable.note += fmt::format("every {:.1f}th of {} profiles is looked at: {}\n",
                               static_cast<double>(whole.size()) / static_cast<double>(most),
                               whole.size(), most);
  }
  ProfileTable& out = usable.table;
  out.attributes = table.attributes;
  out.source = table.source;
  const std::size_t kept = std::min(most, whole.size());
  for (std::size_t k = 0; k < kept; ++k) {
    const std::size_t i = whole[k * whole.size() / kept];
    out.jobs.push_back(table.jobs[i]);
    out.profiles.push_back(table.profiles[i]);
    out.origins.push_back(table.origins[i]);
    const auto row =
        table.values.begin() + static_cast<std::ptrdiff_t>(i * table.attributes.size());
    out.values.insert(out.values.end(), row,
                      row + static_cast<std::ptrdiff_t>(table.attributes.size()));
  }
  return usable;
}

}  // namespace corun::inline evaluation
