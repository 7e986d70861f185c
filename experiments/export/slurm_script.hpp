#pragma once

#include <string>
#include <vector>

/// A sweep on a Slurm cluster (docs/sweeps.md): an array of tasks, each one shard, and a job that
/// merges what they leave. The tasks share nothing but a directory.
namespace corun {

struct SlurmSweep {
  std::string program;               ///< corun, as an absolute path
  std::string config;                ///< the sweep's configuration, as an absolute path
  std::vector<std::string> options;  ///< --set, --data and their values, handed on to every task
  std::string output;                ///< results, as an absolute path
  std::size_t tasks = 8;
  unsigned threads = 1;  ///< of each task
};

/// One file of the directory.
struct SlurmFile {
  std::string name;
  std::string text;
  bool executable = false;
};

/// array.sbatch, merge.sbatch and submit.sh, which submits both, the second to follow the first.
std::vector<SlurmFile> slurm_files(const SlurmSweep& sweep);

}  // namespace corun
