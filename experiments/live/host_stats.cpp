#include "experiments/live/host_stats.hpp"

#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

#include <sys/statvfs.h>
#include <unistd.h>

namespace corun::live {

namespace {

void read_stat(HostStats& stats) {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "cpu") {
      for (double& value : stats.cpu_s) {
        words >> value;
        value /= ticks;
      }
    } else if (key == "ctxt") {
      words >> stats.events[0];
    } else if (key == "intr") {
      words >> stats.events[1];
    } else if (key == "softirq") {
      words >> stats.events[2];
    }
  }
  stats.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

void read_memory(HostStats::Memory& memory) {
  std::ifstream file("/proc/meminfo");
  double reclaimable = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    double kib = 0;
    words >> key >> kib;
    const double bytes = kib * 1024;
    if (key == "MemTotal:") memory.total = bytes;
    if (key == "MemAvailable:") memory.available = bytes;
    if (key == "MemFree:") memory.free = bytes;
    if (key == "Active:") memory.active = bytes;
    if (key == "Inactive:") memory.inactive = bytes;
    if (key == "Buffers:") memory.buffers = bytes;
    if (key == "Cached:") memory.cached = bytes;
    if (key == "Shmem:") memory.shared = bytes;
    if (key == "Slab:") memory.slab = bytes;
    if (key == "SReclaimable:") reclaimable = bytes;
  }
  memory.cached += reclaimable;
  memory.used = memory.total - memory.free - memory.cached - memory.buffers;
}

void read_network(HostStats::Network& network) {
  std::ifstream file("/proc/net/dev");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream words(line.substr(colon + 1));
    std::array<double, 16> field{};
    for (double& value : field) words >> value;
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
  // user and nice hold the guests' time already
  return std::accumulate(cpu_s.begin(), cpu_s.begin() + 8, 0.0);
}

double HostStats::busy_s() const { return total_s() - cpu_s[3] - cpu_s[4]; }

HostStats read_host_load() {
  HostStats stats;
  read_stat(stats);
  read_memory(stats.memory);
  return stats;
}

HostStats read_host_stats() {
  HostStats stats = read_host_load();
  struct statvfs disk {};
  if (statvfs("/", &disk) == 0) {
    const auto size = static_cast<double>(disk.f_frsize);
    stats.disk.total = static_cast<double>(disk.f_blocks) * size;
    stats.disk.used = static_cast<double>(disk.f_blocks - disk.f_bfree) * size;
    stats.disk.free = static_cast<double>(disk.f_bavail) * size;
  }
  read_network(stats.network);
  return stats;
}

}  // namespace corun::live
