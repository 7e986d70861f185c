#include "experiments/live/process_tree.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace corun::live {

namespace {

/// Fills `info` from /proc/PID/stat; false when the process is gone.
bool read_stat(const char* pid, ProcessInfo& info) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%s/stat", pid);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 1024> text{};
  const ssize_t length = read(file, text.data(), text.size() - 1);
  close(file);
  if (length <= 0) return false;
  // The name in brackets may hold anything, brackets too; behind the last one come plain fields.
  const char* at = std::strrchr(text.data(), ')');
  if (at == nullptr || at[1] == '\0') return false;
  info.pid = static_cast<pid_t>(std::atol(pid));
  info.state = at[2];
  std::array<std::int64_t, 25> field{};  // field[n] is field n of proc(5)
  at += 3;
  for (std::size_t n = 4; n < field.size(); ++n) {
    char* end = nullptr;
    field[n] = std::strtoll(at, &end, 10);
    if (end == at) return false;
    at = end;
  }
  info.parent = static_cast<pid_t>(field[4]);
  info.group = static_cast<pid_t>(field[5]);
  info.session = static_cast<pid_t>(field[6]);
  info.cpu_ticks = field[14] + field[15] + field[16] + field[17];
  info.threads = field[20];
  info.resident_pages = field[24];
  return true;
}

}  // namespace

std::vector<ProcessInfo> all_processes() {
  std::vector<ProcessInfo> all;
  DIR* directory = opendir("/proc");
  if (directory == nullptr) return all;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    ProcessInfo info;
    if (read_stat(entry->d_name, info)) all.push_back(info);
  }
  closedir(directory);
  return all;
}

std::vector<ProcessInfo> descendants(pid_t root, std::vector<ProcessInfo> all) {
  const auto by_parent = [](const ProcessInfo& a, const ProcessInfo& b) {
    return a.parent < b.parent;
  };
  std::sort(all.begin(), all.end(), by_parent);
  std::vector<pid_t> parents{root};
  std::vector<ProcessInfo> below;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    ProcessInfo parent;
    parent.parent = parents[i];
    const auto [first, last] = std::equal_range(all.begin(), all.end(), parent, by_parent);
    for (auto p = first; p != last; ++p) {
      if (p->pid == root) continue;
      parents.push_back(p->pid);
      if (p->state != 'Z' && p->state != 'X') below.push_back(*p);
    }
  }
  return below;
}

std::vector<ProcessInfo> descendants(pid_t root) { return descendants(root, all_processes()); }

int signal_descendants(pid_t root, int signal) {
  int sent = 0;
  for (const ProcessInfo& p : descendants(root)) sent += kill(p.pid, signal) == 0 ? 1 : 0;
  return sent;
}

void kill_descendants(pid_t root) {
  // A signal to a process group is atomic: whoever is forked meanwhile gets it as well. Those who make
  // groups of their own are found in further rounds.
  const pid_t own = getpgrp();
  std::set<pid_t> known;
  for (int round = 0; round < 100; ++round) {
    bool found_new = false;
    for (const ProcessInfo& p : descendants(root)) {
      if (!known.insert(p.pid).second) continue;
      found_new = true;
      kill(p.pid, SIGKILL);
      if (p.group != own) kill(-p.group, SIGKILL);
    }
    if (!found_new) return;
  }
}

std::int64_t system_threads() {
  std::array<char, 128> text{};
  const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text.data(), text.size() - 1);
  close(file);
  const char* slash = length > 0 ? std::strchr(text.data(), '/') : nullptr;
  return slash != nullptr ? std::atoll(slash + 1) : 0;
}

}  // namespace corun::live
