#include "results/export/sweep_launchers.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "results/export/slurm_script.hpp"
#include "support/json.hpp"

namespace corun::inline results {

namespace {

std::vector<std::string> worker_command(const LauncherSweep& sweep) {
  std::vector<std::string> words{sweep.program, "sweep", sweep.config};
  words.insert(words.end(), sweep.options.begin(), sweep.options.end());
  words.insert(words.end(), {"--worker", sweep.store, "--threads", std::to_string(sweep.threads)});
  return words;
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

std::string merge_command(const LauncherSweep& sweep) {
  return shell_command({sweep.program, "sweep", "--merge", sweep.store, "--output", sweep.output});
}

std::string slurm_array(const LauncherSweep& sweep) {
  return fmt::format(R"sh(#!/bin/bash
#SBATCH --job-name=corun-sweep
#SBATCH --array=1-{workers}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={threads}
#SBATCH --requeue
#SBATCH --open-mode=append
# Workers of one sweep. One that is killed loses the chunk that it runs, which another takes over. At the end:
#   {merge}
exec {command}
)sh",
                     fmt::arg("workers", sweep.workers), fmt::arg("threads", sweep.threads),
                     fmt::arg("merge", merge_command(sweep)),
                     fmt::arg("command", shell_command(worker_command(sweep))));
}

/// An Indexed Job of the API batch/v1. JSON is YAML. The folder of the store is that of a volume claim; with a bucket the
/// folder of the configuration is that of a config map, and a secret has the environment variables of the bucket.
std::string kubernetes_job(const LauncherSweep& sweep) {
  const std::string& mounted = sweep.bucket ? sweep.config : sweep.store;
  const Json volume{{"name", "sweep"},
                    {"mountPath", std::filesystem::path(mounted).parent_path().string()}};
  const Json source =
      sweep.bucket
          ? Json{{"name", "sweep"}, {"configMap", {{"name", "corun-sweep"}}}}
          : Json{{"name", "sweep"}, {"persistentVolumeClaim", {{"claimName", "corun-sweep"}}}};
  Json container{
      {"name", "corun"},
      {"image", sweep.image},
      {"command", worker_command(sweep)},
      {"resources", {{"requests", {{"cpu", std::to_string(sweep.threads)}}}}},
      {"volumeMounts", Json::array({volume})},
  };
  if (sweep.bucket) {
    container["envFrom"] = Json::array({{{"secretRef", {{"name", "corun-sweep"}}}}});
  }
  const Json pod{
      {"restartPolicy", "OnFailure"},
      {"containers", Json::array({container})},
      {"volumes", Json::array({source})},
  };
  const Json job{
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata", {{"name", "corun-sweep"}}},
      {"spec",
       {{"completionMode", "Indexed"},
        {"completions", sweep.workers},
        {"parallelism", sweep.workers},
        {"template", {{"spec", pod}}}}},
  };
  return json_text(job);
}

std::string parallel_script(const LauncherSweep& sweep) {
  return fmt::format(R"sh(#!/bin/bash
# usage: bash parallel.sh HOSTS
# One worker on each of the hosts in the file HOSTS (':' is this one), by GNU parallel; all must reach the store.
set -euo pipefail
parallel --nonall --line-buffer --sshloginfile "${{1:?give a file with a host per line}}" {command}
{merge}
)sh",
                     fmt::arg("command", shell_word(shell_command(worker_command(sweep)))),
                     fmt::arg("merge", merge_command(sweep)));
}

std::string snakefile(const LauncherSweep& sweep) {
  const auto braces = [](const std::string& text) {  // Snakemake formats shell commands
    std::string out;
    for (const char c : text) {
      out += c;
      if (c == '{' || c == '}') out += c;
    }
    return out;
  };
  return fmt::format(
      R"py(# Workers of one sweep, then its results.
rule results:
    input: expand("{done}.{{worker}}", worker=range({workers}))
    output: {output}
    shell: {merge}

rule worker:
    output: touch("{done}.{{worker}}")
    threads: {threads}
    shell: {command}
)py",
      fmt::arg("workers", sweep.workers), fmt::arg("threads", sweep.threads),
      fmt::arg("done", std::filesystem::path(sweep.store).filename().string() + ".done"),
      fmt::arg("output", Json(sweep.output).dump()),
      fmt::arg("merge", Json(braces(merge_command(sweep))).dump()),
      fmt::arg("command", Json(braces(shell_command(worker_command(sweep)))).dump()));
}

std::string hyperqueue_script(const LauncherSweep& sweep) {
  return fmt::format(R"sh(#!/bin/bash
# Workers of one sweep as tasks of HyperQueue, then its results.
set -euo pipefail
hq submit --wait --array 1-{workers} --cpus {threads} -- {command}
{merge}
)sh",
                     fmt::arg("workers", sweep.workers), fmt::arg("threads", sweep.threads),
                     fmt::arg("command", shell_command(worker_command(sweep))),
                     fmt::arg("merge", merge_command(sweep)));
}

}  // namespace

std::string launcher_text(Launcher launcher, const LauncherSweep& sweep) {
  switch (launcher) {
    case Launcher::kSlurm:
      return slurm_array(sweep);
    case Launcher::kKubernetes:
      return kubernetes_job(sweep);
    case Launcher::kParallel:
      return parallel_script(sweep);
    case Launcher::kSnakemake:
      return snakefile(sweep);
    case Launcher::kHyperQueue:
      break;
  }
  return hyperqueue_script(sweep);
}

}  // namespace corun::inline results
