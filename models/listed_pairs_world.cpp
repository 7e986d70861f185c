#include "models/listed_pairs_world.hpp"

#include <algorithm>

namespace corun::inline models {

const std::array<double, 2>* ListedPairs::find(WorkloadKey a, WorkloadKey b, bool& turned) const {
  for (const bool other_way : {false, true}) {
    const auto at = other_way ? speeds_.find({b, a}) : speeds_.find({a, b});
    if (at == speeds_.end()) continue;
    turned = other_way;
    return &at->second;
  }
  return nullptr;
}

Provenance ListedPairsWorld::speeds(const CoRunners& co_runners, std::optional<std::uint64_t>,
                                    std::span<double> out) const {
  const auto residents = co_runners.residents;
  std::fill(out.begin(), out.end(), 1.0);
  // With an empty list, sharing costs nothing.
  if (residents.size() < 2 || pairs_->size() == 0) return Provenance::kAlone;
  bool all_listed = true;
  for (std::size_t i = 0; i + 1 < residents.size(); ++i) {
    for (std::size_t k = i + 1; k < residents.size(); ++k) {
      // The job that joined later comes first in the key; if it is not known, the job with the higher number.
      const bool first_is_newcomer = residents[i] == co_runners.newcomer;
      const std::size_t newcomer = first_is_newcomer ? i : k;
      const std::size_t other = first_is_newcomer ? k : i;
      bool turned = false;
      const auto* listed = pairs_->find(workloads_[index(residents[newcomer])],
                                        workloads_[index(residents[other])], turned);
      all_listed &= listed != nullptr;
      if (listed == nullptr) continue;
      std::array<double, 2> speed = *listed;
      if (turned) std::swap(speed[0], speed[1]);
      // A pair takes the listed speed even above 1.
      const bool pair = residents.size() == 2;
      out[newcomer] = pair ? speed[0] : std::min(out[newcomer], speed[0]);
      out[other] = pair ? speed[1] : std::min(out[other], speed[1]);
    }
  }
  return all_listed ? Provenance::kMeasured : Provenance::kModelled;
}

}  // namespace corun::inline models
