#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "models/formulas/math.hpp"
#include "sim/belief.hpp"

/// The k cheapest co-runners found so far of each of n jobs, by rising (cost, distance): a total order, so
/// that nothing depends on the order in which candidates come. Distance: how far the co-runner stands
/// behind the job, around the end (Belief::top_co_runners()).
namespace corun {

CORUN_HOST_DEVICE_INLINE std::uint32_t distance_behind(std::uint32_t job, std::uint32_t position,
                                                       std::uint32_t jobs) {
  return position > job ? position - job : jobs - job + position;
}
CORUN_HOST_DEVICE_INLINE std::uint32_t position_behind(std::uint32_t job, std::uint32_t distance,
                                                       std::uint32_t jobs) {
  return distance < jobs - job ? job + distance : distance - (jobs - job);
}

/// TopLists, for loops that are compiled for a vector unit.
struct TopListsView {
  std::uint32_t jobs = 0;
  std::size_t k = 0;
  std::size_t stride = 0;        ///< of a list: k, rounded up to kPadding
  double* lists = nullptr;       ///< of each job: `stride` costs, then as many distances, as wide
  double* thresholds = nullptr;  ///< of a list, the cost of its last: one above it cannot enter
  static constexpr std::size_t kPadding = 8;

  CORUN_HOST_DEVICE_INLINE double* costs(std::size_t job) const { return lists + 2 * stride * job; }
  CORUN_HOST_DEVICE_INLINE double* distances(std::size_t job) const { return costs(job) + stride; }

  /// A cost of NaN counts as infinity.
  CORUN_HOST_DEVICE_INLINE void offer(std::size_t job, double offered,
                                      std::uint32_t position) const {
    if (offered > thresholds[job]) return;
    const double cost = offered == offered ? offered : __builtin_huge_val();
    const double distance = distance_behind(static_cast<std::uint32_t>(job), position, jobs);
    double* const c = costs(job);
    double* const d = distances(job);
    const auto comes_before = [&](std::size_t at) __attribute__((always_inline)) {
      return cost < c[at] || (cost == c[at] && distance < d[at]);
    };
    std::size_t at = k - 1;
    if (!comes_before(at)) return;
    for (; at > 0 && comes_before(at - 1); --at) {
      c[at] = c[at - 1];
      d[at] = d[at - 1];
    }
    c[at] = cost;
    d[at] = distance;
    thresholds[job] = c[k - 1];
  }
};

class TopLists {
 public:
  /// k: 1 or more. A list is there once clear() was called for its job.
  TopLists(std::size_t jobs, std::size_t k)
      : jobs_(static_cast<std::uint32_t>(jobs)),
        k_(k),
        stride_((k + TopListsView::kPadding - 1) / TopListsView::kPadding * TopListsView::kPadding),
        lists_(std::make_unique_for_overwrite<double[]>(2 * jobs * stride_)),
        thresholds_(std::make_unique_for_overwrite<double[]>(jobs)) {}

  void clear(std::size_t from, std::size_t to) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (std::size_t job = from; job < to; ++job) {
      std::fill_n(view().costs(job), stride_, kInfinity);
      std::fill_n(view().distances(job), stride_, std::numeric_limits<std::uint32_t>::max());
      thresholds_[job] = kInfinity;
    }
  }
  TopListsView view() const { return {jobs_, k_, stride_, lists_.get(), thresholds_.get()}; }
  /// Adds the list of one job to `out`.
  void take(std::size_t job, std::vector<CoRunner>& out) const {
    const auto position = static_cast<std::uint32_t>(job);
    const double* const cost = view().costs(job);
    const double* const distance = view().distances(job);
    for (std::size_t n = 0; n < k_; ++n) {
      out.push_back(
          {position_behind(position, static_cast<std::uint32_t>(distance[n]), jobs_), cost[n]});
    }
  }

 private:
  std::uint32_t jobs_;
  std::size_t k_;
  std::size_t stride_;
  std::unique_ptr<double[]> lists_, thresholds_;
};

}  // namespace corun
