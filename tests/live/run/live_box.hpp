#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "tests/helpers/eventually.hpp"
#include "tests/helpers/temporary_directory.hpp"
#include "tests/live/run/fake_box.hpp"

/// A fake box in a directory of the test's own, and functions to wait for real processes.
namespace corun::test {

/// Number of running processes, without this one, whose command line contains this text.
inline int processes_of(const std::string& text) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::string line;  // words end in NUL; empty for an ended process
    std::getline(file, line);
    const auto pid = static_cast<pid_t>(std::atol(name.c_str()));
    count += line.find(text) != std::string::npos && pid != getpid() && is_alive(pid) ? 1 : 0;
  }
  return count;
}

class LiveBox {
 public:
  explicit LiveBox(const std::string& gpus = "16384 0 0 Fake V100\n") {
    std::filesystem::create_directory(folder_.path("jobs"));
    folder_.write("gpus", gpus);
  }
  std::string path(const std::string& name = "") const { return folder_.path(name); }

  /// Words of a fake_workload: "SECONDS UTIL MEMORY_MIB MEM_TIME SLOWDOWN", then modes.
  template <typename... Modes>
  std::vector<std::string> workload(const std::string& numbers, Modes... modes) const {
    std::vector<std::string> words{CORUN_FAKE_WORKLOAD, folder_.path()};
    std::istringstream text(numbers);
    for (std::string word; text >> word;) words.push_back(word);
    (words.emplace_back(modes), ...);
    return words;
  }

 private:
  TemporaryDirectory folder_;
};

}  // namespace corun::test
