#include "traces/tables/faster_together.hpp"

#include "sim/base/csv_text.hpp"

namespace corun::inline traces {

std::vector<std::string> FasterTogether::notes(std::size_t all) const {
  if (count_ == 0) return {};
  return {
      first_ + ": here and in " + std::to_string(count_ - 1) + " other of " + std::to_string(all) +
      " co-runs all jobs ran more than " + csv_number(kFasterTogether) +
      " times as fast together as alone, which a shared GPU cannot give; are the times alone and "
      "together swapped?"};
}

}  // namespace corun::inline traces
