#include "models/vector_units/lanes.hpp"

#include <array>

namespace corun {

namespace baseline_lanes {
extern const Lanes lanes;
}
#if defined(CORUN_HAVE_X86_LANES)
namespace avx2_lanes {
extern const Lanes lanes;
}
namespace avx512_lanes {
extern const Lanes lanes;
}
#endif

namespace {

struct Usable {
  std::array<const Lanes*, 3> sets{&baseline_lanes::lanes};
  std::size_t count = 1;

  Usable() {
#if defined(CORUN_HAVE_X86_LANES)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
    sets[count++] = &avx2_lanes::lanes;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      sets[count++] = &avx512_lanes::lanes;
    }
#endif
  }
};

}  // namespace

std::span<const Lanes* const> usable_lanes() {
  static const Usable usable;
  return {usable.sets.data(), usable.count};
}

const Lanes& best_lanes() { return *usable_lanes().back(); }

}  // namespace corun
