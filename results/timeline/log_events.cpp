#include "results/timeline/log_events.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "results/timeline/run_state.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline results {

bool is_event_log(const std::string& path) {
  std::string start(kEventLogHeader.size(), '\0');
  std::ifstream in(path, std::ios::binary);
  return in.read(start.data(), static_cast<std::streamsize>(start.size())) &&
         start == kEventLogHeader;
}

void LogEvents::for_each(const std::function<void(const LogEntry&)>& take) const {
  std::ifstream in(path_, std::ios::binary);
  if (!in) throw InputError(printable(path_), "cannot be read");
  const auto find = [this](const std::string& name) -> std::optional<JobId> {
    const auto [at, is_new] = jobs_.emplace(name, JobId{static_cast<std::uint32_t>(names_.size())});
    if (is_new) names_.push_back(&at->first);
    return at->second;
  };
  std::vector<std::vector<GpuId>> on;  // by job
  read_event_log(in, printable(path_), find, [&](LogEntry&& entry, std::size_t line) {
    line_ = line;
    if (on.size() < names_.size()) on.resize(names_.size());
    std::vector<GpuId>& gpus = on[index(entry.job)];
    if (comes(entry.kind)) {
      gpus = entry.gpus;
    } else if (entry.kind != LogKind::kArrive && entry.gpus.empty()) {
      entry.gpus =
          std::exchange(gpus, {});  // a job leaves all its GPUs; the log does not repeat them
    }
    take(entry);
  });
  if (in.bad()) throw InputError(printable(path_), "cannot be read to its end");
}

void LogEvents::refuse(const std::string& why) const {
  throw InputError(printable(path_) + ":" + std::to_string(line_), why);
}

std::vector<std::pair<std::string, std::string>> LogEvents::facts() const {
  return {{"log", std::filesystem::path(path_).filename().string()}};
}

}  // namespace corun::inline results
