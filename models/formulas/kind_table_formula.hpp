#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/formulas/co_runner_norm.hpp"
#include "models/formulas/math.hpp"
#include "models/formulas/speed_belief.hpp"

/// Jobs of few kinds: what a job of one kind does beside one of another stands in a table. This is all
/// there is to the cluster-mean model, whose kinds are clusters; and any model asked about many jobs of
/// few workloads is asked once for each pair of these.
namespace corun {

/// Many jobs, as arrays that lie in the memory of the device that reads them.
struct KindTableView {
  std::size_t kinds = 1;
  const double* speed = nullptr;        ///< kinds x kinds: of the row's beside the column's
  const double* sd = nullptr;           ///< likewise
  const double* inverse = nullptr;      ///< 1 / speed
  const std::uint32_t* kind = nullptr;  ///< of the jobs
  const double* excess = nullptr;       ///< as KindTableJobs::excess
  bool adds_up = false;                 ///< likewise

  static constexpr bool kNeverFaster = false;
  using Job = std::size_t;
  CORUN_HOST_DEVICE_INLINE Job job(std::size_t i) const { return kind[i]; }
  CORUN_HOST_DEVICE_INLINE SpeedBelief beside(Job slowed, Job co_runner) const {
    const std::size_t at = slowed * kinds + co_runner;
    return {speed[at], sd[at], inverse[at]};
  }
  /// Speed of resident `own` of `count` beside all the others, taken in their order.
  CORUN_HOST_DEVICE_INLINE double with_co_runners(const std::uint32_t* residents, std::size_t count,
                                                  std::size_t slowed) const {
    if (count < 2) return 1;
    const std::size_t row = kind[residents[slowed]] * kinds;
    if (adds_up) {
      double sum = 0;
      for (std::size_t r = 0; r < count; ++r) {
        if (r != slowed) sum += excess[row + kind[residents[r]]];
      }
      return 1 / (1 + sum);
    }
    if (count == 2) return math::min(1.0, speed[row + kind[residents[1 - slowed]]]);
    CoRunnerNorm co_runners;
    for (std::size_t r = 0; r < count; ++r) {
      if (r != slowed) co_runners.add(speed[row + kind[residents[r]]]);
    }
    return math::min(1.0, co_runners.speed());
  }
};

/// The same, owned, as the host prepares it.
struct KindTableJobs {
  using View = KindTableView;
  std::size_t kinds = 1;
  std::vector<double> speed, sd, inverse;
  std::vector<std::uint32_t> kind;
  /// Kinds x kinds, 1/s - 1: where the model adds them up in larger co-runners (cluster-mean); else empty.
  std::vector<double> excess;

  /// Adds an element to the table, row by row.
  void add(double s, double deviation) {
    speed.push_back(s);
    sd.push_back(deviation);
    inverse.push_back(1 / s);
  }
  std::size_t size() const { return kind.size(); }
  /// Of arrays that lie where `at` says (short_formula.hpp).
  template <class At>
  KindTableView view(const At& at) const {
    return {kinds, at(speed), at(sd), at(inverse), at(kind), at(excess), !excess.empty()};
  }
};

}  // namespace corun
