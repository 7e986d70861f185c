#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/ids.hpp"
#include "sim/time.hpp"

/// What a real cluster adds to a trace: costs of starts, late reports, speeds that vary, rounds of unequal length (DESIGN
/// 4.21). A value that varies is its median times exp(sigma z), z standard normal. A draw belongs to (seed, what it is
/// for), so all policies that start a job for the n-th time meet the same one.
namespace corun::inline sim {

/// Of the runs of jobs. By default there is none.
struct RunNoise {
  std::vector<Duration>
      start_cost;  ///< by job: work at full speed that each run begins with; empty: none
  double start_sigma = 0;
  Duration notice{0};  ///< from the end of a job's work to its report, in which it holds its GPUs
  double notice_sigma = 0;
  double job_sigma = 0;               ///< of a job's speed, in all of its runs
  double run_sigma = 0;               ///< of a run's speed around that
  double stragglers = 0;              ///< share of runs that are slower
  double straggler_speed = 1;         ///< of these, relative to others
  std::optional<std::uint64_t> seed;  ///< empty: medians, and all speeds 1

  struct Run {
    double speed = 1;  ///< relative to that of the world
    Duration start_cost{0};
    Duration notice{0};
  };
  /// `number`: of the job's runs, from 0.
  Run draw(JobId job, std::uint32_t number) const;
};

/// Of the length of rounds: (declared + per_start * jobs that start or move) exp(sigma z).
struct RoundNoise {
  Duration per_start{0};
  double sigma = 0;
  std::optional<std::uint64_t> seed;  ///< empty: without sigma

  bool none() const { return per_start == Duration::zero() && sigma == 0; }
  /// Of a round that begins at a time; at least 1 ns.
  Duration length(Duration declared, int starts, Time begins) const;
};

}  // namespace corun::inline sim
