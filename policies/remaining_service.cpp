#include "policies/remaining_service.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/math.hpp"

namespace corun::inline policies {

double RemainingService::next_step(double had_s) {
  double step = kLeast;
  while (step <= had_s) step *= 2;
  return step;
}

double RemainingService::expected(const std::optional<double>& estimate_s, double had_s) const {
  if (!estimate_s) return next_step(had_s);
  double whole = *estimate_s;
  if (reliability_ < 1) {
    whole = math::exp(reliability_ * math::log(whole + kLeast) +
                      (1 - reliability_) * sum_ran_ / jobs_) -
            kLeast;
  }
  return std::max({std::abs(whole - had_s), (1 - reliability_) * next_step(had_s), 1.0});
}

void RemainingService::finished(const std::optional<double>& estimate_s, double ran_s) {
  if (!estimate_s) return;
  const double told = math::log(*estimate_s + kLeast);
  const double ran = math::log(ran_s + kLeast);
  jobs_ += 1;
  sum_ran_ += ran;
  sum_told_ += told;
  sum_told_squares_ += told * told;
  sum_errors_ += ran - told;
  sum_error_squares_ += (ran - told) * (ran - told);
  if (jobs_ < kPrior) return;
  const auto variance = [](double squares, double sum, double n) {
    return std::max(squares / n - sum / n * (sum / n), 0.0);
  };
  const double error = variance(sum_error_squares_, sum_errors_, jobs_ + kPrior);
  const double spread = variance(sum_told_squares_, sum_told_, jobs_);
  // Errors of a hundredth are those of clock ticks and of believed speeds.
  constexpr double kNoise = 1e-4;
  reliability_ =
      error <= kNoise ? 1 : std::clamp(1 - error / (2 * std::max(spread, kNoise)), 0.0, 1.0);
}

}  // namespace corun::inline policies
