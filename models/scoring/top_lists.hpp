#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/scoring/math.hpp"
#include "sim/belief.hpp"

/// The k cheapest partners found so far of each of n jobs, by rising (cost, distance): a total order, so
/// that nothing depends on the order in which candidates come. Distance: how far the partner stands
/// behind the job, around the end (Belief::top_partners()).
namespace corun {

CORUN_FORMULA std::uint32_t distance_behind(std::uint32_t own, std::uint32_t position,
                                            std::uint32_t jobs) {
  return position > own ? position - own : jobs - own + position;
}
CORUN_FORMULA std::uint32_t position_behind(std::uint32_t own, std::uint32_t distance,
                                            std::uint32_t jobs) {
  return distance < jobs - own ? own + distance : distance - (jobs - own);
}

/// TopLists, for loops that are compiled for a vector unit.
struct TopListsView {
  std::uint32_t jobs = 0;
  std::size_t k = 0;
  std::size_t stride = 0;  ///< of a list: k, rounded up to kPadding
  double* costs = nullptr;
  double* distances = nullptr;   ///< whole numbers: of the same width as costs
  double* thresholds = nullptr;  ///< of a list, the cost of its last: one above it cannot enter
  static constexpr std::size_t kPadding = 8;

  /// A cost of NaN counts as infinity.
  CORUN_FORMULA void offer(std::size_t job, double offered, std::uint32_t position) const {
    if (offered > thresholds[job]) return;
    const double cost = offered == offered ? offered : __builtin_huge_val();
    const double distance = distance_behind(static_cast<std::uint32_t>(job), position, jobs);
    double* const c = costs + job * stride;
    double* const d = distances + job * stride;
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
  /// k: 1 or more.
  TopLists(std::size_t jobs, std::size_t k)
      : jobs_(static_cast<std::uint32_t>(jobs)),
        k_(k),
        stride_((k + TopListsView::kPadding - 1) / TopListsView::kPadding * TopListsView::kPadding),
        costs_(jobs * stride_, std::numeric_limits<double>::infinity()),
        distances_(jobs * stride_, std::numeric_limits<std::uint32_t>::max()),
        thresholds_(jobs, std::numeric_limits<double>::infinity()) {}

  TopListsView view() {
    return {jobs_, k_, stride_, costs_.data(), distances_.data(), thresholds_.data()};
  }
  /// Adds the list of one job to `out`.
  void take(std::size_t job, std::vector<Partner>& out) const {
    const auto own = static_cast<std::uint32_t>(job);
    for (std::size_t n = job * stride_; n < job * stride_ + k_; ++n) {
      const auto distance = static_cast<std::uint32_t>(distances_[n]);
      out.push_back({position_behind(own, distance, jobs_), costs_[n]});
    }
  }

 private:
  std::uint32_t jobs_;
  std::size_t k_;
  std::size_t stride_;
  std::vector<double> costs_, distances_, thresholds_;
};

}  // namespace corun
