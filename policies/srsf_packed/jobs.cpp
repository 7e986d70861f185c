#include "policies/srsf_packed/jobs.hpp"

namespace corun::inline policies::srsf {

void Jobs::remove(JobId id, bool finished) {
  const auto at = jobs_.find(id);
  if (finished) {
    service_.finished(at->second.estimate_s, at->second.had_s);
    ++finished_;
  }
  jobs_.erase(at);
}

double Jobs::demand_mib(const Job& j, const GpuType& type) const {
  const std::optional<double> known =
      j.types.empty() || !j.types[type.id].memory_mib ? j.memory_mib : j.types[type.id].memory_mib;
  return known.value_or(0) * (1 + options_.memory_margin);
}

}  // namespace corun::inline policies::srsf
