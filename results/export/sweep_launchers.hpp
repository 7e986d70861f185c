#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Files that start the workers of a sweep in a store on the engines that people have (docs/sweeps.md). Each worker takes
/// chunks until none is left, so the engine need not know of them.
namespace corun::inline results {

enum class Launcher : std::uint8_t { kSlurm, kKubernetes, kParallel, kSnakemake, kHyperQueue };

struct LauncherEntry {
  Launcher launcher{};
  std::string_view name;   ///< in --launcher
  std::string_view start;  ///< how the file is used; {} stands for its name
};
inline constexpr std::array<LauncherEntry, 5> kLaunchers{{
    {Launcher::kSlurm, "slurm", "sbatch {}"},
    {Launcher::kKubernetes, "kubernetes", "kubectl apply -f {}"},
    {Launcher::kParallel, "parallel", "bash {} HOSTS, a file with a host per line"},
    {Launcher::kSnakemake, "snakemake", "snakemake --snakefile {} --cores all"},
    {Launcher::kHyperQueue, "hyperqueue", "bash {}"},
}};

struct LauncherSweep {
  std::string program;               ///< corun, as an absolute path
  std::string config;                ///< the sweep's configuration, as an absolute path
  std::vector<std::string> options;  ///< --set, --data and their values, for every worker
  std::string store;                 ///< as an absolute path, or "s3://BUCKET/PREFIX"
  bool bucket = false;               ///< the store is one
  std::string output;                ///< results file, as an absolute path
  std::string image;                 ///< of the containers of Kubernetes
  std::size_t workers = 8;
  unsigned threads = 1;  ///< of each worker
};

/// The text of the launcher's file.
std::string launcher_text(Launcher launcher, const LauncherSweep& sweep);

}  // namespace corun::inline results
