#include "live/gpu/nvml_recording.hpp"

#include <cerrno>
#include <cmath>
#include <iostream>

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "processes/process_tree.hpp"
#include "processes/supervisor.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"

namespace corun::live {

namespace {

/// Makes the file and returns its path. Refuses an existing file, because a session cannot be repeated.
std::string new_file(const std::string& path) {
  std::string checked = checked_output_path(path, "--record");
  const int file = open(checked.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0 && errno == EEXIST) {
    throw InputError("--record", "'" + printable(path) +
                                     "' is there already, and a session cannot be repeated; "
                                     "choose another file or remove that one");
  }
  if (file >= 0) close(file);
  return checked;
}

}  // namespace

NvmlRecording::NvmlRecording(const std::string& path, const std::string& driver,
                             const std::string& cuda, std::span<const GpuFacts> gpus)
    : path_(new_file(path)),
      file_(path_, std::ios::binary | std::ios::trunc),
      origin_(monotonic_now()) {
  if (!file_) throw InputError("--record", "cannot write '" + printable(path) + "'");
  Json list = Json::array();
  for (const GpuFacts& g : gpus) {
    list.push_back({{"name", g.name},
                    {"uuid", g.uuid},
                    {"memory_mib", g.memory_mib},
                    {"mig", json_or_null(g.mig)},
                    {"compute_mode", g.mode ? Json(name_of(*g.mode)) : Json(nullptr)}});
  }
  write(json_line({{"file", "corun-nvml-recording"},
                   {"version", 1},
                   {"driver", driver},
                   {"cuda", cuda},
                   {"gpus", std::move(list)}}));
}

NvmlRecording::~NvmlRecording() { write(json_line({{"t_s", now_s()}, {"end", true}})); }

void NvmlRecording::take(std::size_t gpu, const GpuReading& r) {
  write(json_line({{"t_s", now_s()},
                   {"gpu", gpu},
                   {"util_pct", json_or_null(r.util_pct)},
                   {"mem_time_pct", json_or_null(r.mem_time_pct)},
                   {"memory_used_mib", r.memory_used_mib},
                   {"temperature_c", json_or_null(r.temperature_c)},
                   {"power_w", json_or_null(r.power_w)},
                   {"power_limit_w", json_or_null(r.power_limit_w)},
                   {"sm_clock_mhz", json_or_null(r.sm_clock_mhz)},
                   {"memory_clock_mhz", json_or_null(r.memory_clock_mhz)}}));
}

void NvmlRecording::take(std::size_t gpu, const std::optional<std::vector<GpuProcess>>& processes) {
  Json list;
  if (processes) {
    list = Json::array();
    for (const GpuProcess& p : *processes) {
      list.push_back({{"pid", p.pid},
                      {"memory_mib", json_or_null(p.memory_mib)},
                      {"own", is_below(p.pid, getpid())}});
    }
  }
  write(json_line({{"t_s", now_s()}, {"gpu", gpu}, {"processes", std::move(list)}}));
}

void NvmlRecording::take_failure(std::size_t gpu, int error, const std::string& why) {
  write(json_line({{"t_s", now_s()}, {"gpu", gpu}, {"error", error}, {"why", why}}));
}

double NvmlRecording::now_s() const {
  return std::round(to_seconds(monotonic_now() - origin_) * 1e6) / 1e6;
}

void NvmlRecording::write(const std::string& line) {
  if (!file_) return;
  file_ << line << '\n' << std::flush;
  if (!file_)
    std::cerr << "--record: '" << printable(path_)
              << "' is cut off: it cannot be written any more\n";
}

}  // namespace corun::live
