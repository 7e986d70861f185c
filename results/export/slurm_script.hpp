#pragma once

#include <string>
#include <vector>

/// Scripts for a sweep on a Slurm cluster (docs/sweeps.md): an array of tasks, one shard each, and
/// a job that merges their files. The tasks share only a directory.
namespace corun::inline results {

/// A text quoted as one word of a shell.
std::string shell_word(const std::string& word);

struct SlurmSweep {
  std::string program;               ///< corun, as an absolute path
  std::string config;                ///< the sweep's configuration, as an absolute path
  std::vector<std::string> options;  ///< --set, --data and their values, for every task
  std::string output;                ///< results file, as an absolute path
  std::size_t tasks = 8;
  unsigned threads = 1;  ///< of each task
};

/// A file to write.
struct SlurmFile {
  std::string name;
  std::string text;
  bool executable = false;
};

/// array.sbatch, merge.sbatch and submit.sh, which submits both, the second to run after the first.
std::vector<SlurmFile> slurm_files(const SlurmSweep& sweep);

}  // namespace corun::inline results
