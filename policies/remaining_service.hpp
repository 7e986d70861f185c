#pragma once

#include <optional>

/// How much longer will a job run? By its estimate, as far as estimates have proved right, and by how long it
/// has run.
///
///   expected time w = exp(r log(e + m) + (1 - r) mean log(y + m)) - m
///   expected rest   = max(|w - a|, (1 - r) step(a), 1 s)
///   step(a)         = the least m 2^k above a (k = 0, 1, ...)
///
/// e: the estimate; a: time run so far; y: run times of the finished jobs, all in solo seconds; m: kLeast,
/// below which times count as equal. A job that has outrun w is expected to run as long again as it has outrun
/// it. Without an estimate the expected rest is step(a): as long again as it has run, in doubling steps (attained
/// service; right for run times whose logarithm is uniform).
///
/// r, from 0 to 1, is the estimates' reliability: the correlation of log(e + m) and log(y + m) over the
/// finished jobs, if both have the same variance, r = 1 - var(log(y + m) - log(e + m)) / (2 var(log(e + m))).
/// It starts at 1, and kPrior jobs of no error are counted in. Exact estimates keep r = 1; shuffled ones come
/// to 0.
namespace corun::inline policies {

class RemainingService {
 public:
  static constexpr double kLeast = 60;  ///< m [s]
  static constexpr int kPrior = 10;

  /// Expected rest of a job [solo s], above 0. `had`: time that it has run [solo s].
  double expected(const std::optional<double>& estimate_s, double had_s) const;
  /// The time run at which expected() jumps next [solo s]; above `had_s`.
  static double next_step(double had_s);
  /// A job has finished after this time [solo s].
  void finished(const std::optional<double>& estimate_s, double ran_s);
  double reliability() const { return reliability_; }

 private:
  double reliability_ = 1;
  double jobs_ = 0;
  double sum_ran_ = 0;  ///< of log(y + m)
  double sum_told_ = 0;
  double sum_told_squares_ = 0;
  double sum_errors_ = 0;
  double sum_error_squares_ = 0;
};

}  // namespace corun::inline policies
