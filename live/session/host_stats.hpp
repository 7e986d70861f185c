#pragma once

#include <array>
#include <cstdint>

#include "processes/proc_file.hpp"

/// Counters of the whole machine, named and computed as in the Python library psutil, with which PriRecT
/// took attributes 29 to 66 of its Table I. A counter that the kernel does not report is 0.
namespace corun::live {

struct HostStats {
  /// user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice [s since boot]
  std::array<double, 10> cpu_s{};
  int cores = 0;
  std::array<double, 3> events{};  ///< context switches, interrupts, soft interrupts since boot
  struct Memory {                  ///< bytes
    double total = 0, available = 0, used = 0, free = 0, active = 0, inactive = 0, buffers = 0,
           cached = 0, shared = 0, slab = 0;
    double percent() const { return total > 0 ? (total - available) / total * 100 : 0; }
  } memory;
  struct Disk {  ///< of the root file system, bytes
    double total = 0, used = 0, free = 0;
    double percent() const { return used + free > 0 ? used / (used + free) * 100 : 0; }
  } disk;
  struct Network {  ///< of all interfaces since boot
    double bytes_sent = 0, bytes_received = 0, packets_sent = 0, packets_received = 0,
           errors_in = 0, errors_out = 0, drops_in = 0, drops_out = 0;
  } network;

  /// [s since boot], summed over the cores; busy: all but idle and iowait
  double busy_s() const;
  double total_s() const;
};

/// Reads the counters repeatedly.
class HostReader {
 public:
  /// Without disk and network, which samples do not need.
  HostStats load();
  HostStats all();

 private:
  ProcFile stat_{"/proc/stat"};
  ProcFile memory_{"/proc/meminfo"};
};

}  // namespace corun::live
