#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <nlohmann/json_fwd.hpp>

#include "tests/live/run/fake_box.hpp"

/// Plays a recording of NVML's answers (live/gpu/nvml_recording.hpp) back to corun while real
/// children of the test start and end. The recorded time runs from the opening of the library. The n-th child
/// on a GPU replaces the n-th recorded process of corun there, and the recorded time stops before that
/// process appears until its child has appeared. So the load of the machine does not change the answers.
namespace corun::test {

class NvmlReplay {
 public:
  struct Gpu {
    std::string name;
    double memory_mib = 0;
    std::optional<bool> mig;
    std::optional<unsigned> mode;  ///< nvmlComputeMode_t
  };
  struct Reading {
    double memory_used_mib = 0;
    std::optional<double> util_pct, mem_time_pct, temperature_c, power_w, power_limit_w,
        sm_clock_mhz, memory_clock_mhz;
  };
  struct Process {
    pid_t pid = 0;
    std::optional<double> memory_mib;
  };
  using Processes = std::optional<std::vector<Process>>;

  /// Throws std::runtime_error, one line with file and line number, if this is no complete recording.
  NvmlReplay(const std::string& path, std::string box, double speed);

  const std::string& driver() const { return driver_; }
  const std::string& cuda() const { return cuda_; }
  const std::vector<Gpu>& gpus() const { return gpus_; }

  /// NVML's error and its text, if the GPU has failed by now: the answer to all calls.
  std::optional<std::pair<int, std::string>> failure(std::size_t gpu) {
    const auto* found = latest(tracks_[gpu].failures);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  }
  Reading reading(std::size_t gpu) {
    const auto* found = latest(tracks_[gpu].readings);
    if (found != nullptr) return *found;
    return tracks_[gpu].readings.empty() ? Reading{} : tracks_[gpu].readings.front().second;
  }
  /// With the pids of the children in place of the recorded ones.
  Processes processes(std::size_t gpu) {
    const auto* found = latest(tracks_[gpu].processes);
    Processes list;
    if (found == nullptr || !*found) return list;
    list.emplace();
    for (Process p : **found) {
      const auto& own = tracks_[gpu].own;
      const auto at =
          std::find_if(own.begin(), own.end(), [&](const auto& o) { return o.second == p.pid; });
      if (at != own.end()) {
        const auto n = static_cast<std::size_t>(at - own.begin());
        if (n >= children_[gpu].size() || !is_alive(children_[gpu][n])) continue;
        p.pid = children_[gpu][n];
      }
      list->push_back(p);
    }
    return list;
  }

 private:
  using Json = nlohmann::json;
  template <typename T>
  using Track = std::vector<std::pair<double, T>>;  ///< by time [s]
  struct Tracks {
    Track<Reading> readings;
    Track<Processes> processes;
    Track<std::pair<int, std::string>> failures;
    Track<pid_t> own;  ///< corun's processes, with the time of the last reading before each
  };

  [[noreturn]] void refuse(const std::string& why) const;
  const Json& member(const Json& json, const char* key) const;
  std::optional<double> number(const Json& json, const char* key, double max) const;
  double told(const Json& json, const char* key, double max) const;
  std::size_t whole(const Json& json, const char* key, double max) const;
  std::string text(const Json& json, const char* key) const;
  bool flag(const Json& json, const char* key) const;
  void take_header(const Json& json);
  void take_line(const Json& json);
  Processes take_processes(const Json& list, Tracks& tracks) const;

  /// Advances the recorded time, as far as the children allow.
  void go_on() {
    const auto now = std::chrono::steady_clock::now();
    at_s_ += std::chrono::duration<double>(now - before_).count() * speed_;
    before_ = now;
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      for (const FakeUse& use : fake_uses(box_, static_cast<int>(g))) {
        auto& known = children_[g];
        if (std::find(known.begin(), known.end(), use.pid) == known.end()) known.push_back(use.pid);
      }
      const auto& own = tracks_[g].own;
      if (children_[g].size() < own.size()) {
        at_s_ = std::min(at_s_, std::nextafter(own[children_[g].size()].first, -1.0));
      }
    }
  }

  /// The latest entry of a track at the present time; null before the first.
  template <typename T>
  const T* latest(const Track<T>& track) {
    go_on();
    const auto after =
        std::upper_bound(track.begin(), track.end(), at_s_,
                         [](double t, const auto& entry) { return t < entry.first; });
    return after == track.begin() ? nullptr : &std::prev(after)->second;
  }

  static constexpr double kMostMib = 1e9;
  static constexpr double kMostSeconds = 1e9;

  std::string path_;
  std::string box_;
  double speed_;
  std::size_t line_ = 0;
  bool ended_ = false;
  double last_s_ = 0;
  std::string driver_;
  std::string cuda_;
  std::vector<Gpu> gpus_;
  std::vector<Tracks> tracks_;
  std::vector<std::vector<pid_t>> children_;  ///< by GPU, in order of appearance
  double at_s_ = 0;
  std::chrono::steady_clock::time_point before_ = std::chrono::steady_clock::now();
};

}  // namespace corun::test
