#include "live/session/host_stats.hpp"

#include <numeric>
#include <string_view>
#include <utility>

#include <sys/statvfs.h>
#include <unistd.h>

namespace corun::live {

namespace {

void read_stat(std::string_view text, HostStats& stats) {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  while (!text.empty()) {
    std::string_view line = next_line(text);
    const std::string_view key = next_word(line);
    if (key == "cpu") {
      for (double& value : stats.cpu_s) value = next_number(line) / ticks;
    } else if (key == "ctxt") {
      stats.events[0] = next_number(line);
    } else if (key == "intr") {
      stats.events[1] = next_number(line);
    } else if (key == "softirq") {
      stats.events[2] = next_number(line);
    }
  }
  stats.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

void read_memory(std::string_view text, HostStats::Memory& memory) {
  double reclaimable = 0;
  const std::array<std::pair<std::string_view, double*>, 10> wanted{
      {{"MemTotal:", &memory.total},
       {"MemAvailable:", &memory.available},
       {"MemFree:", &memory.free},
       {"Active:", &memory.active},
       {"Inactive:", &memory.inactive},
       {"Buffers:", &memory.buffers},
       {"Cached:", &memory.cached},
       {"Shmem:", &memory.shared},
       {"Slab:", &memory.slab},
       {"SReclaimable:", &reclaimable}}};
  while (!text.empty()) {
    std::string_view line = next_line(text);
    const std::string_view key = next_word(line);
    for (const auto& [name, bytes] : wanted) {
      if (key == name) *bytes = next_number(line) * 1024;  // the unit kB in the file is KiB
    }
  }
  memory.cached += reclaimable;
  memory.used = memory.total - memory.free - memory.cached - memory.buffers;
}

void read_network(std::string_view text, HostStats::Network& network) {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    line.remove_prefix(colon + 1);
    std::array<double, 16> field{};
    for (double& value : field) value = next_number(line);
    network.bytes_received += field[0];
    network.packets_received += field[1];
    network.errors_in += field[2];
    network.drops_in += field[3];
    network.bytes_sent += field[8];
    network.packets_sent += field[9];
    network.errors_out += field[10];
    network.drops_out += field[11];
  }
}

}  // namespace

double HostStats::total_s() const {
  // user and nice include the guests' time
  return std::accumulate(cpu_s.begin(), cpu_s.begin() + 8, 0.0);
}

double HostStats::busy_s() const { return total_s() - cpu_s[3] - cpu_s[4]; }

HostStats HostReader::load() {
  HostStats stats;
  read_stat(stat_.read(), stats);
  read_memory(memory_.read(), stats.memory);
  return stats;
}

HostStats HostReader::all() {
  HostStats stats = load();
  struct statvfs disk {};
  if (statvfs("/", &disk) == 0) {
    const auto size = static_cast<double>(disk.f_frsize);
    stats.disk.total = static_cast<double>(disk.f_blocks) * size;
    stats.disk.used = static_cast<double>(disk.f_blocks - disk.f_bfree) * size;
    stats.disk.free = static_cast<double>(disk.f_bavail) * size;
  }
  ProcFile network("/proc/net/dev");
  read_network(network.read(), stats.network);
  return stats;
}

}  // namespace corun::live
