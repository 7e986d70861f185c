#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
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

class TopLists {
 public:
  TopLists(std::size_t jobs, std::size_t k)
      : jobs_(static_cast<std::uint32_t>(jobs)),
        k_(k),
        lists_(jobs * k, Partner{~std::uint32_t{0}, std::numeric_limits<double>::infinity()}),
        thresholds_(jobs, k > 0 ? std::numeric_limits<double>::infinity()
                                : -std::numeric_limits<double>::infinity()) {}

  /// A cost above it cannot enter the list of that job.
  const double* thresholds() const { return thresholds_.data(); }
  /// A cost of NaN counts as infinity.
  void offer(std::size_t job, double cost, std::uint32_t position) {
    if (cost > thresholds_[job] || k_ == 0) return;
    const Partner offered{distance_behind(static_cast<std::uint32_t>(job), position, jobs_),
                          cost == cost ? cost : std::numeric_limits<double>::infinity()};
    Partner* const list = lists_.data() + job * k_;
    std::size_t at = k_;
    while (at > 0 && before(offered, list[at - 1])) --at;
    if (at == k_) return;
    for (std::size_t n = k_ - 1; n > at; --n) list[n] = list[n - 1];
    list[at] = offered;
    thresholds_[job] = list[k_ - 1].cost;
  }
  /// Adds the list of one job to `out`.
  void take(std::size_t job, std::vector<Partner>& out) const {
    const auto own = static_cast<std::uint32_t>(job);
    for (std::size_t n = job * k_; n < (job + 1) * k_; ++n) {
      out.push_back({position_behind(own, lists_[n].position, jobs_), lists_[n].cost});
    }
  }

 private:
  static bool before(const Partner& a, const Partner& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.position < b.position;
  }

  std::uint32_t jobs_;
  std::size_t k_;
  std::vector<Partner> lists_;  ///< distances stand for positions
  std::vector<double> thresholds_;
};

}  // namespace corun
