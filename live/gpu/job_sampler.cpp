#include "live/gpu/job_sampler.hpp"

#include <algorithm>
#include <limits>

#include <unistd.h>

#include "processes/process_tree.hpp"
#include "processes/supervisor.hpp"

namespace corun::live {

JobSampler::JobSampler(const Nvml& nvml, std::size_t gpu, pid_t root)
    : nvml_(nvml),
      gpu_(gpu),
      root_(root),
      baseline_mib_(nvml.read(gpu).memory_used_mib),
      memory_total_mib_(nvml.gpus()[gpu].memory_mib),
      last_(host_.load()) {}

const Sample& JobSampler::sample() {
  sample_ = Sample{};
  sample_.at = monotonic_now();
  sample_.gpu = nvml_.read(gpu_);

  double pages = 0;
  for (const ProcessInfo& p : glance_below(root_)) {
    pages += static_cast<double>(p.resident_pages);
    sample_.threads += p.threads;
  }
  sample_.resident_mib = pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1024 * 1024);
  sample_.job_memory_mib = job_memory_now();

  const HostStats now = host_.load();
  const double elapsed = now.total_s() - last_.total_s();
  sample_.cpu_pct =
      elapsed > 0 ? std::clamp((now.busy_s() - last_.busy_s()) / elapsed * 100, 0.0, 100.0) : 0;
  sample_.host_memory_pct = now.memory.percent();
  if (elapsed > 0) {  // two samples within one tick of the kernel's clock have no load
    cpu_.take(sample_.cpu_pct);
    last_ = now;
  }

  ++samples_;
  gpu_util_.take(sample_.gpu.util_pct);
  mem_time_.take(sample_.gpu.mem_time_pct);
  temperature_.take(sample_.gpu.temperature_c);
  sm_clock_.take(sample_.gpu.sm_clock_mhz);
  if (sample_.gpu.power_w && sample_.gpu.power_limit_w && *sample_.gpu.power_limit_w > 0) {
    power_.take(*sample_.gpu.power_w / *sample_.gpu.power_limit_w * 100);
  }
  device_memory_.take(sample_.gpu.memory_used_mib);
  job_memory_.take(sample_.job_memory_mib);
  host_memory_.take(sample_.host_memory_pct);
  resident_.take(sample_.resident_mib);
  threads_.take(static_cast<double>(sample_.threads));
  return sample_;
}

std::optional<double> JobSampler::job_memory_now() {
  std::optional<double> sum;
  for (const GpuProcess& p : nvml_.processes(gpu_).value_or(std::vector<GpuProcess>{})) {
    if (!is_below(p.pid, root_)) continue;
    if (p.memory_mib) sum = sum.value_or(0) + *p.memory_mib;
    partly_untold_ |= !p.memory_mib;
  }
  return partly_untold_ ? std::nullopt : sum;
}

std::optional<double> JobSampler::memory_mib() const {
  if (attributed()) return job_memory_.max;
  if (!device_memory_.max) return std::nullopt;
  return std::max(*device_memory_.max - baseline_mib_, 0.0);
}

Profile JobSampler::profile() const {
  Profile profile;
  profile.gpu_util_pct = gpu_util_.max;
  profile.mem_time_pct = mem_time_.max;
  profile.mem_used_mib = memory_mib();
  if (profile.mem_used_mib) {
    profile.mem_alloc_pct = *profile.mem_used_mib / memory_total_mib_ * 100;
  }
  return profile;
}

std::vector<double> JobSampler::attributes() {
  const auto value = [](const std::optional<double>& v) {
    return v.value_or(std::numeric_limits<double>::quiet_NaN());
  };
  std::vector<double> row;
  const auto three = [&](const Span& span) {
    for (const auto& v : {span.range(), span.max, span.min}) row.push_back(value(v));
  };
  const HostStats host = host_.all();
  three(cpu_);
  three(gpu_util_);
  three(host_memory_);
  row.push_back(value(resident_.max));
  row.push_back(resident_.max ? *resident_.max * 1024 * 1024 / host.memory.total * 100
                              : value(std::nullopt));
  row.push_back(value(threads_.max));
  three(temperature_);
  three(mem_time_);
  row.push_back(value(profile().mem_alloc_pct));
  three(power_);
  row.insert(row.end(), host.cpu_s.begin(), host.cpu_s.end());
  row.push_back(host.cores);
  row.insert(row.end(), host.events.begin(), host.events.end());
  row.push_back(0);  // system calls: Linux does not count them, psutil gives 0
  const HostStats::Memory& m = host.memory;
  row.insert(row.end(), {m.total, m.available, m.percent(), m.used, m.free, m.active, m.inactive,
                         m.buffers, m.cached, m.shared, m.slab});
  const HostStats::Disk& d = host.disk;
  row.insert(row.end(), {d.total, d.used, d.free, d.percent()});
  const HostStats::Network& n = host.network;
  row.insert(row.end(), {n.bytes_sent, n.bytes_received, n.packets_sent, n.packets_received,
                         n.errors_in, n.errors_out, n.drops_in, n.drops_out});
  return row;
}

}  // namespace corun::live
