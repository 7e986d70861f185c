#include "processes/command.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline processes {

std::string describe(const Ending& ending) {
  if (ending.guard_lost) return "its guard process was killed";
  switch (ending.stopped) {
    case Stopped::kAsked:
      return "stopped as asked";
    case Stopped::kTimeout:
      return "stopped at its time-out";
    case Stopped::kProcesses:
      return "stopped: more processes than it may have";
    case Stopped::kDisk:
      return "stopped: too little disk left";
    case Stopped::kGuard:
      return "stopped: a signal had stopped its guard process";
    case Stopped::kNo:
      break;
  }
  if (!ending.ran) return std::string("could not be started: ") + std::strerror(ending.error);
  if (WIFSIGNALED(ending.status)) {
    const int signal = WTERMSIG(ending.status);
    return "killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  }
  return "exit code " + std::to_string(WEXITSTATUS(ending.status));
}

std::string own_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

std::vector<std::string> basic_environment() {
  std::vector<std::string> environment;
  for (const char* name : {"PATH", "HOME", "USER", "LANG", "LC_ALL"}) {
    if (const char* value = std::getenv(name)) {
      environment.push_back(std::string(name) + "=" + value);
    }
  }
  return environment;
}

std::string find_program(const std::string& name, const std::vector<std::string>& environment,
                         const std::string& directory, const std::string& place) {
  namespace fs = std::filesystem;
  const auto usable = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    const fs::path path =
        fs::path(name).is_absolute() ? fs::path(name) : fs::path(directory) / name;
    if (usable(path)) return fs::absolute(path).string();
    throw InputError(place, "no program '" + printable(path.string()) +
                                "' that can be executed; check the path, and its rights");
  }
  std::string search;
  for (const std::string& variable : environment) {
    if (variable.starts_with("PATH=")) search = variable.substr(5);
  }
  for (std::size_t from = 0; from <= search.size();) {
    const std::size_t to = std::min(search.find(':', from), search.size());
    const fs::path path = fs::path(search.substr(from, to - from)) / name;
    if (!name.empty() && path.is_absolute() && usable(path)) return path.string();
    from = to + 1;
  }
  throw InputError(place, "no program '" + printable(name) + "' in PATH (" + printable(search) +
                              "); install it, or give its path");
}

}  // namespace corun::inline processes
