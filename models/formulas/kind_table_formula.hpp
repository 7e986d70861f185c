#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/formulas/co_runner_rule.hpp"
#include "models/formulas/speed_belief.hpp"
#include "sim/base/math.hpp"

/// Jobs of few kinds: a table holds the speed of a job of one kind beside a job of another. It is the
/// equation of the cluster-mean model, whose kinds are clusters. For many jobs of few workloads, PairScorer
/// tabulates any other model once.
namespace corun::inline models {

/// Many jobs, as arrays in the memory of the device that reads them.
struct KindTableView {
  std::size_t kinds = 1;
  const double* speed = nullptr;        ///< kinds x kinds: of the row's job beside the column's
  const double* sd = nullptr;           ///< likewise
  const double* inverse = nullptr;      ///< 1 / speed
  const std::uint32_t* kind = nullptr;  ///< one entry per job
  const double* excess = nullptr;       ///< as KindTableJobs::excess
  bool adds_up = false;                 ///< likewise
  CoRunnerRule rule = kSlicingRule;     ///< likewise

  static constexpr bool kNeverFaster = false;
  using Job = std::size_t;
  CORUN_HOST_DEVICE_INLINE Job job(std::size_t i) const { return kind[i]; }
  CORUN_HOST_DEVICE_INLINE SpeedBelief beside(Job slowed, Job co_runner) const {
    const std::size_t at = slowed * kinds + co_runner;
    return {speed[at], sd[at], inverse[at]};
  }
  /// Speed, at most 1, of residents[slowed] beside all other residents. `residents`: `count` positions of
  /// jobs.
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
    CoRunnerSpeed co_runners(rule);
    for (std::size_t r = 0; r < count; ++r) {
      if (r != slowed) co_runners.add(speed[row + kind[residents[r]]]);
    }
    return math::min(1.0, co_runners.speed());
  }
};

/// The jobs of a KindTableView, in vectors of the host.
struct KindTableJobs {
  using View = KindTableView;
  std::size_t kinds = 1;
  std::vector<double> speed, sd, inverse;
  std::vector<std::uint32_t> kind;
  /// 1/s - 1, kinds x kinds, if the model adds excesses over several co-runners (cluster-mean); else empty,
  /// and `rule` combines them.
  std::vector<double> excess;
  CoRunnerRule rule = kSlicingRule;

  /// Appends an element to the table, row by row: speed and its standard deviation.
  void add(double s, double deviation) {
    speed.push_back(s);
    sd.push_back(deviation);
    inverse.push_back(1 / s);
  }
  std::size_t size() const { return kind.size(); }
  /// A view of the arrays at at(array) (short_formula.hpp).
  template <class At>
  KindTableView view(const At& at) const {
    return {kinds, at(speed), at(sd), at(inverse), at(kind), at(excess), !excess.empty(), rule};
  }
};

}  // namespace corun::inline models
