#include "results/export/slurm_script.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace corun::inline results {

std::string shell_word(const std::string& word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::vector<SlurmFile> slurm_files(const SlurmSweep& sweep) {
  std::string command = shell_word(sweep.program) + " sweep " + shell_word(sweep.config);
  for (const std::string& word : sweep.options) command += " " + shell_word(word);
  const std::string array = fmt::format(
      R"sh(#!/bin/bash
#SBATCH --job-name=corun-sweep
#SBATCH --array=1-{tasks}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={threads}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=shard-%a.log
# One shard per task. A task that was killed, preempted or requeued repeats nothing that it finished.
shard=$SLURM_ARRAY_TASK_ID
for attempt in 1 2 3 4 5; do
  {command} \
    --shard "$shard/{tasks}" --output "shard-$shard.journal" --resume --threads {threads}
  status=$?
  case $status in
    0 | 2 | 130) exit $status ;; # done; bad input, which stays bad; told to stop
  esac
  echo "shard $shard: corun ended with status $status in attempt $attempt" >&2
done
exit $status
)sh",
      fmt::arg("tasks", sweep.tasks), fmt::arg("threads", sweep.threads),
      fmt::arg("command", command));
  const std::string merge = fmt::format(
      R"sh(#!/bin/bash
#SBATCH --job-name=corun-merge
#SBATCH --ntasks=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=merge.log
exec {} sweep --merge shard-{{1..{}}}.journal --output {}
)sh",
      shell_word(sweep.program), sweep.tasks, shell_word(sweep.output));
  const std::string submit = R"sh(#!/bin/bash
# usage: submit.sh [options of sbatch for both jobs, such as --partition=cpu --time=2:00:00]
# Submits the array and, to follow it, the merge. Submitted again it goes on where it stopped.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
array=$(sbatch --parsable "$@" array.sbatch)
merge=$(sbatch --parsable --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes "$@" merge.sbatch)
echo "array ${array%%;*} merge ${merge%%;*}"
)sh";
  return {
      {"array.sbatch", array, false}, {"merge.sbatch", merge, false}, {"submit.sh", submit, true}};
}

}  // namespace corun::inline results
