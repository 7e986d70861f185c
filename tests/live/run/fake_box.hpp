#pragma once

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sys/types.h>

/// A fake GPU box: a directory. `gpus` lists its GPUs, one line each: MEMORY_MIB MIG MODE NAME. A process
/// that uses a GPU writes `jobs/PID`: GPU UTIL [%] MEMORY_MIB MEM_TIME [%]. A file `slowness` has lines GPU
/// FACTOR: jobs take so many times as long there. The fake NVML reads both, so it
/// reports real processes; an ended process uses nothing. A file `lost` makes the GPUs disappear.
namespace corun::test {

struct FakeGpu {
  double memory_mib = 16384;
  int mig = 0;
  int mode = 0;  ///< nvmlComputeMode_t
  std::string name;
};

struct FakeUse {
  pid_t pid = 0;
  int gpu = 0;
  double util = 0;
  double memory_mib = 0;
  double mem_time = 0;
};

inline std::vector<FakeGpu> fake_gpus(const std::string& box) {
  std::vector<FakeGpu> gpus;
  std::ifstream file(box + "/gpus");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    FakeGpu gpu;
    words >> gpu.memory_mib >> gpu.mig >> gpu.mode >> std::ws;
    std::getline(words, gpu.name);
    gpus.push_back(gpu);
  }
  return gpus;
}

inline bool is_alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto bracket = text.rfind(')');
  return bracket != std::string::npos && text.size() > bracket + 2 && text[bracket + 2] != 'Z' &&
         text[bracket + 2] != 'X';
}

inline std::vector<FakeUse> fake_uses(const std::string& box, int gpu) {
  std::vector<FakeUse> uses;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(box + "/jobs", error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;  // being written
    FakeUse use;
    use.pid = static_cast<pid_t>(std::atol(name.c_str()));
    std::ifstream file(at->path());
    if (file >> use.gpu >> use.util >> use.memory_mib >> use.mem_time && use.gpu == gpu &&
        is_alive(use.pid)) {
      uses.push_back(use);
    }
  }
  return uses;
}

inline double fake_slowness(const std::string& box, int gpu) {
  std::ifstream file(box + "/slowness");
  int number = 0;
  for (double factor = 1; file >> number >> factor;) {
    if (number == gpu) return factor;
  }
  return 1;
}

inline void write_fake_use(const std::string& box, const FakeUse& use) {
  const std::string path = box + "/jobs/" + std::to_string(use.pid);
  std::ofstream(path + ".tmp") << use.gpu << ' ' << use.util << ' ' << use.memory_mib << ' '
                               << use.mem_time << '\n';
  std::filesystem::rename(path + ".tmp", path);
}

}  // namespace corun::test
