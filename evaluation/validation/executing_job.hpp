#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "evaluation/validation/run_parameters.hpp"
#include "sim/rng.hpp"

/// A job of a real cluster as corun models it, between rounds: its speed follows its batch size, which
/// changes as declared, and it ends when its samples are trained or its run-time limit is passed.
namespace corun::inline evaluation {

/// One draw of what the parameters leave open. Without noise all factors are 1.
struct RunDraw {
  double round_sd_s = 0;
  double per_start_s = 0;
  double first_delay_s = 0;
  double first_round_s = 0;
  std::vector<double> job_factor;   ///< speed over that of the job's configuration
  std::vector<double> end_shift_s;  ///< of the finish within its last round
  std::optional<Rng> rounds;        ///< for the lengths of rounds

  /// Length of the next round. Not below half of the declared one.
  double next_round_s(double round_s, int starts);
};

RunDraw without_noise(const RoundWorkload& workload, const RunParameters& p);
/// The same for the same (seed, number). The first round's delays are exponential around what was seen, for one run
/// gives no spread.
/// `other_campaign`: speeds vary as between two campaigns of measurement (RunParameters::campaign_sd), which intervals
/// need; else as between the configurations of one campaign.
RunDraw draw_run(const RoundWorkload& workload, const RunParameters& p, std::uint64_t seed,
                 std::uint64_t number, bool other_campaign);

class ExecutingJob {
 public:
  /// `limit`: factor of the declared run time after which the job is ended.
  ExecutingJob(const RoundWorkload& workload, std::size_t number, const RunParameters& p,
               double factor, double limit);

  /// Runs for a round of `length_s`; `starts`: on GPUs that it did not have in the round before. Seconds after
  /// the start of the round at which the job ends, if it ends.
  std::optional<double> run_round(double length_s, bool starts);

  /// What a scheduler knows: steps left at the present batch size, and steps per second: as declared, and then as leases
  /// at this batch size have taught.
  double steps_left() const;
  double known_rate() const;
  /// The job has left its GPUs. What it did in this lease, starts included, counts by `weight` in the known rate, what was
  /// known before by the rest. A lease in which the batch size changed teaches nothing.
  void end_lease(double weight);

 private:
  struct Phase {
    double from_samples = 0;
    double batch_size = 1;
    double samples_per_s = 1;
    double declared_rate = 1;  ///< [steps/s]
  };

  std::vector<Phase> phases_;
  std::size_t phase_ = 0;
  double samples_ = 0;
  double need_ = 0;
  double run_s_ = 0;
  double most_run_s_ = 0;
  double start_s_ = 0;
  double known_ = 1;  ///< over declared, at the batch size of known_phase_
  std::size_t known_phase_ = 0;
  double lease_s_ = 0;  ///< of the present lease
  double lease_steps_ = 0;
  std::size_t lease_phase_ = 0;  ///< in which it began
};

}  // namespace corun::inline evaluation
