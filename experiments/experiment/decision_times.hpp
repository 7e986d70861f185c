#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Wall-clock times of scheduling passes, in little memory however many: counted in bins that are wide
/// by 2^(1/16), about 4 %. Never part of the results.
namespace corun {

class DecisionTimes {
 public:
  /// One pass; seconds.
  void add(double seconds);
  void add(const DecisionTimes& other);

  std::size_t passes() const { return passes_; }
  double max_s() const { return max_s_; }  ///< exact
  /// The smallest time that at least this share (0 to 1) of the passes kept to, rounded up to the end
  /// of its bin but not above the longest; 0 without passes.
  double quantile_s(double share) const;

 private:
  std::vector<std::uint32_t> bins_;  ///< up to the highest that is not empty
  std::size_t passes_ = 0;
  double max_s_ = 0;
};

/// "1234 passes, p50 1.2 us, p95 3 us, p99 8 us, longest 1.1 ms".
std::string text_of(const DecisionTimes& times);

/// What a policy proved of its plans: how far above the best they may be, as a share of their cost.
struct PlanLosses {
  std::size_t plans = 0;  ///< those that came with a bound
  double sum = 0;
  double worst = 0;

  void add(double cost, double least);
  void add(const PlanLosses& other);
};

}  // namespace corun
