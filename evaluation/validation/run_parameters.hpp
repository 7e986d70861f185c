#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "traces/round_runs/round_run.hpp"
#include "traces/round_runs/round_workload.hpp"

/// What a real cluster adds to a trace, as parameters with a spread. Each is fitted on real runs by a robust
/// statistic, so that a run of two hundred rounds with a few odd ones gives the same values. Times in seconds.
namespace corun::inline evaluation {

/// Measured over declared speed, by model, mode, batch size and GPUs. A configuration that was not measured has
/// the median of the nearest ones: same model, mode and batch size; same model and batch size; same model and
/// mode; same model; else 1.
class RateFactors {
 public:
  using Key = std::tuple<std::string, std::string, std::int64_t, int>;

  RateFactors() = default;
  explicit RateFactors(const std::map<Key, double>& measured);
  double of(const RoundJob& job, std::int64_t batch_size) const;
  const std::map<Key, double>& all() const { return factors_; }

 private:
  std::map<Key, double> factors_;  ///< with "", 0 for what a key leaves open
};

struct RunParameters {
  double round_s = 120;      ///< declared length of a round, not fitted
  double per_start_s = 0;    ///< a round is longer by this for each job that starts or moves in it
  double first_delay_s = 0;  ///< from the last arrival in round 0 to its start
  double first_round_s = 0;  ///< start of round 0, as seen
  double round_sd_s = 0;     ///< of a round's length around that; rounds are independent
  double end_sd_s = 0;       ///< of finish and its notice around the middle of the last round
  std::map<std::string, double>
      start_s;                  ///< by model: run time that each start or move of a job costs
  double unknown_start_s = 20;  ///< of a model that was not fitted
  double start_sd_s = 0;        ///< of a single start or move around that of its model
  RateFactors factors;
  double configuration_sd = 0;  ///< of the log of a factor around that of its model and mode
  /// Of the log of a factor around 0: how far two campaigns of measurement are apart, the declared one and the runs'.
  double campaign_sd = 0;
  double job_sd = 0;            ///< of the log of a job's speed around its configuration's
  double lease_sd = 0;          ///< of the log of a lease's speed around its job's
  double straggler_share = 0;   ///< of leases, slower than kStraggler times their configuration
  double straggler_factor = 1;  ///< their median speed over their configuration's

  double start_cost(const std::string& model) const;
};

inline constexpr double kStraggler = 0.8;

/// Parameters of one or several real runs of the workload; without a run, what is declared: rounds of
/// `round_s`, 20 s a start, speeds as in the table, no spread.
///
/// Per start and first delay: least absolute deviations of finish - round_s * (last round), over the starts before
/// that round, with an intercept per run; the delay is the intercept less half a round, at least 0. End: jobs whose
/// last rounds are at most 3 apart; round: by how much more jobs differ that are 30 to 60 rounds apart. Start cost: the weighted median by
/// model of the time in rounds that is missing in the run time, per start; its deviation is what is left of the jobs' after that of
/// their rounds and of the end in the last one. Factors: means weighted by time.
/// Standard deviations: 1.4826 times the median absolute deviation.
RunParameters fit_run_parameters(const RoundWorkload& workload, std::span<const RoundRun> runs,
                                 double round_s);

/// Jobs that start or move, by round.
std::vector<int> starts_by_round(const RoundRun& run);

/// The smallest value with at least half of the weight at or below it; values in any order, not empty.
double weighted_median(std::vector<std::pair<double, double>> value_weight);

}  // namespace corun::inline evaluation
