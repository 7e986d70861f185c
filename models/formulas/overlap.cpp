#include "models/formulas/overlap.hpp"

#include <algorithm>
#include <numeric>

#include "sim/error.hpp"

namespace corun::inline models {

std::vector<double> overlap_excess(const CorunMeasurement& measurement) {
  const auto& members = measurement.members;
  std::vector<double> ends;
  for (const CorunMember& m : members) ends.push_back(m.corun_s);
  std::sort(ends.begin(), ends.end());

  std::vector<double> excess;
  for (const CorunMember& member : members) {
    // Solo time [s] of the work done by the member's end, as a function of its excess x: falls with x.
    const auto work = [&](double x) {
      double done = 0;
      double from = 0;
      for (std::size_t e = 0; e < ends.size(); ++e) {
        const double to = std::min(ends[e], member.corun_s);
        if (to <= from) continue;
        const auto others = static_cast<double>(ends.size() - e - 1);
        done += (to - from) / (1 + x * others);
        from = to;
      }
      return done;
    };
    double low = -0.5 / static_cast<double>(members.size() - 1);  // twice the solo speed
    double high = 1e6;
    if (!(work(low) >= member.solo_s && work(high) <= member.solo_s)) {
      throw InputError(measurement.source,
                       "found solo_s " + std::to_string(member.solo_s) + " and corun_s " +
                           std::to_string(member.corun_s) +
                           ", which fit no positive speed beside the other members, expected times "
                           "of jobs that started together; correct or remove the row");
    }
    for (int i = 0; i < 200 && low < high; ++i) {
      const double middle = std::midpoint(low, high);
      if (middle == low || middle == high) break;
      (work(middle) >= member.solo_s ? low : high) = middle;
    }
    excess.push_back(low);
  }
  return excess;
}

}  // namespace corun::inline models
