#include "processes/process_tree.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace corun::inline processes {

namespace {

/// Room for the processes of a usual machine, in one request of memory.
constexpr std::size_t kUsual = 1024;

/// Calls `use(name)` for each entry of a directory. opendir(3) takes memory, which may not be done after a fork.
template <typename Use>
void for_entries(const char* path, const Use& use) {
  const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  alignas(dirent64) std::array<char, 16384> entries;
  for (;;) {
    const ssize_t length = getdents64(directory, entries.data(), entries.size());
    if (length <= 0) break;
    for (ssize_t at = 0; at < length;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      use(static_cast<const char*>(entry->d_name));
      at += entry->d_reclen;
    }
  }
  close(directory);
}

using PidText = std::array<char, 16>;
PidText text_of(pid_t pid) {
  PidText text{};
  std::snprintf(text.data(), text.size(), "%d", pid);
  return text;
}

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
  // The name in brackets may contain brackets; plain fields follow the last one.
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

/// Adds the children of one thread to `found`.
void add_children(pid_t pid, const char* thread, PageVector<pid_t>& found) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/task/%s/children", pid, thread);
  ProcFile file(path.data());
  std::string_view text = file.read();
  for (auto word = next_word(text); !word.empty(); word = next_word(text)) {
    pid_t child = 0;
    std::from_chars(word.data(), word.data() + word.size(), child);
    found.push_back(child);
  }
}

void add_children(const ProcessInfo& parent, PageVector<pid_t>& found) {
  if (parent.threads == 1) {
    add_children(parent.pid, text_of(parent.pid).data(), found);
    return;
  }
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/task", parent.pid);
  for_entries(path.data(), [&](const char* thread) {
    if (thread[0] != '.') add_children(parent.pid, thread, found);
  });
}

}  // namespace

PageVector<ProcessInfo> all_processes() {
  PageVector<ProcessInfo> all;
  all.reserve(kUsual);
  for_entries("/proc", [&](const char* name) {
    if (name[0] < '0' || name[0] > '9') return;
    ProcessInfo info;
    if (read_stat(name, info)) all.push_back(info);
  });
  return all;
}

PageVector<ProcessInfo> descendants(pid_t root, PageVector<ProcessInfo> all) {
  const auto by_parent = [](const ProcessInfo& a, const ProcessInfo& b) {
    return a.parent < b.parent;
  };
  std::sort(all.begin(), all.end(), by_parent);
  PageVector<pid_t> parents;
  parents.reserve(kUsual);
  parents.push_back(root);
  PageVector<ProcessInfo> below;
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

PageVector<ProcessInfo> descendants(pid_t root) { return descendants(root, all_processes()); }

PageVector<ProcessInfo> glance_below(pid_t root) {
  if (access("/proc/thread-self/children", R_OK) != 0) return descendants(root);
  PageVector<ProcessInfo> below;
  PageVector<pid_t> found;
  found.reserve(kUsual);
  found.push_back(root);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ProcessInfo info;
    if (!read_stat(text_of(found[i]).data(), info)) continue;
    if (info.state == 'Z' || info.state == 'X') continue;  // it has no children any more
    if (i > 0) below.push_back(info);
    add_children(info, found);
  }
  // A child whose parent thread ends meanwhile is listed twice.
  const auto by_pid = [](const ProcessInfo& a, const ProcessInfo& b) { return a.pid < b.pid; };
  const auto same = [](const ProcessInfo& a, const ProcessInfo& b) { return a.pid == b.pid; };
  std::sort(below.begin(), below.end(), by_pid);
  below.erase(std::unique(below.begin(), below.end(), same), below.end());
  return below;
}

bool is_below(pid_t pid, pid_t root) {
  for (int steps = 0; pid > 1 && steps < 10'000; ++steps) {
    ProcessInfo info;
    if (!read_stat(text_of(pid).data(), info)) return false;
    if (info.parent == root) return true;
    pid = info.parent;
  }
  return false;
}

int signal_descendants(pid_t root, int signal) {
  int sent = 0;
  for (const ProcessInfo& p : descendants(root)) sent += kill(p.pid, signal) == 0 ? 1 : 0;
  return sent;
}

void kill_descendants(pid_t root) {
  // A signal to a process group is atomic: processes forked meanwhile get it as well. Processes that form
  // groups of their own are found in further rounds.
  const pid_t own = getpgrp();
  PageVector<pid_t> known;
  for (int round = 0; round < 100; ++round) {
    bool found_new = false;
    for (const ProcessInfo& p : descendants(root)) {
      if (std::ranges::find(known, p.pid) != known.end()) continue;
      known.push_back(p.pid);
      found_new = true;
      kill(p.pid, SIGKILL);
      if (p.group != own) kill(-p.group, SIGKILL);
    }
    if (!found_new) return;
  }
}

std::int64_t ThreadCount::now() {
  std::string_view text = loadavg_.read();
  text.remove_prefix(std::min(text.find('/'), text.size()));
  if (text.empty()) return 0;
  text.remove_prefix(1);
  return static_cast<std::int64_t>(next_number(text));
}

}  // namespace corun::inline processes
