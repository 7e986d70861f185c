#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "traces/round_runs/round_workload.hpp"

/// One run of a RoundWorkload, real or simulated: who ran where in each round, what was measured, and
/// when jobs finished. docs/real-runs.md has the files and columns.
namespace corun::inline traces {

/// A job in a round, on these workers (GPUs).
struct Placed {
  std::size_t job = 0;
  std::vector<int> workers;  ///< in the file's order

  bool operator==(const Placed&) const = default;
};

using Round = std::vector<Placed>;

/// What was measured in a lease: an unbroken stay of a job on its workers. A simulated run has one row per
/// round.
struct MeasuredRate {
  std::size_t round = 0;  ///< the last of the lease
  std::size_t job = 0;
  std::int64_t batch_size = 1;
  double steps_per_s = 0;
};

struct RunJob {
  double jct_s = 0;
  double finish_s = 0;  ///< arrival plus completion time
  double run_s = 0;     ///< time in leases: GPU seconds over GPUs
};

struct RoundRun {
  std::string name;    ///< folder under the directory: "real/max-min"
  std::string policy;  ///< its last part: "max-min"
  std::vector<RunJob> jobs;
  std::vector<Round> rounds;                        ///< without gaps, from 0
  std::vector<MeasuredRate> rates;                  ///< by round, then job, as in the file
  std::vector<std::vector<std::size_t>> rounds_of;  ///< of each job, ascending, never empty
};

/// Reads jobs.csv, rounds.csv and throughput.csv of DIRECTORY/NAME. InputError for what docs/real-runs.md
/// excludes: unknown jobs, gangs of another size, a worker that has two jobs in a round, rates of rounds in
/// which the job did not run.
RoundRun read_round_run(const std::string& directory, const std::string& name,
                        const RoundWorkload& workload);

/// The runs of a directory: "KIND/POLICY" for every folder of DIRECTORY/KIND with a jobs.csv, sorted; none
/// if there is no such folder.
std::vector<std::string> list_round_runs(const std::string& directory, const std::string& kind);

/// Whether the job runs in the round on the workers that it had in the round before.
bool continues(const RoundRun& run, std::size_t round, const Placed& placed);

}  // namespace corun::inline traces
