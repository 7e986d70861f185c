#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "sim/base/math.hpp"
#include "sim/belief.hpp"

/// The k cheapest co-runners found so far of each of n jobs, by rising (cost, distance). The distance is how
/// many positions the co-runner is behind the job in the queue, continuing at its begin
/// (Belief::top_co_runners()). The order is total, so the lists do not depend on the order in which
/// candidates are offered.
namespace corun::inline models {

CORUN_HOST_DEVICE_INLINE std::uint32_t distance_behind(std::uint32_t job, std::uint32_t position,
                                                       std::uint32_t jobs) {
  return position > job ? position - job : jobs - job + position;
}
CORUN_HOST_DEVICE_INLINE std::uint32_t position_behind(std::uint32_t job, std::uint32_t distance,
                                                       std::uint32_t jobs) {
  return distance < jobs - job ? job + distance : distance - (jobs - job);
}

/// A view of TopLists, for the kernels.
struct TopListsView {
  std::uint32_t jobs = 0;
  std::size_t k = 0;
  std::size_t stride = 0;        ///< length of a list: k, rounded up to a multiple of kPadding
  double* lists = nullptr;       ///< for each job `stride` costs, then `stride` distances
  double* thresholds = nullptr;  ///< by job: the last cost of its list; a higher cost cannot enter
  static constexpr std::size_t kPadding = 8;

  CORUN_HOST_DEVICE_INLINE double* costs(std::size_t job) const { return lists + 2 * stride * job; }
  CORUN_HOST_DEVICE_INLINE double* distances(std::size_t job) const { return costs(job) + stride; }

  /// Enters the job at `position` into the list of `job` if it is among the k cheapest. NaN counts as
  /// infinity.
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
  /// k: 1 or more. clear() must be called for a job before its list is used.
  TopLists(std::size_t jobs, std::size_t k)
      : jobs_(static_cast<std::uint32_t>(jobs)),
        k_(k),
        stride_((k + TopListsView::kPadding - 1) / TopListsView::kPadding * TopListsView::kPadding),
        lists_(std::make_unique_for_overwrite<double[]>(2 * jobs * stride_)),
        thresholds_(std::make_unique_for_overwrite<double[]>(jobs)) {}

  /// Empties the lists of jobs from .. to - 1.
  void clear(std::size_t from, std::size_t to) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (std::size_t job = from; job < to; ++job) {
      std::fill_n(view().costs(job), stride_, kInfinity);
      std::fill_n(view().distances(job), stride_, std::numeric_limits<std::uint32_t>::max());
      thresholds_[job] = kInfinity;
    }
  }
  TopListsView view() const { return {jobs_, k_, stride_, lists_.get(), thresholds_.get()}; }
  /// Appends the k entries of a job's list to `out`, the cheapest first.
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

}  // namespace corun::inline models
