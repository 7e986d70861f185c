#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <nlohmann/json.hpp>

#include "tests/experiments/live/run/fake_box.hpp"

/// A recording of what an NVML said (experiments/live/gpu/nvml_recording.hpp), said again to corun while real
/// children of the test live and die. The recorded time runs from when the library is opened. It waits where
/// the recording has a process of corun's appear on a GPU and the child that is to stand for it has not yet
/// appeared: the n-th on a GPU stands for the n-th that was recorded there. So a busy machine does not
/// change what is seen.
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

  /// std::runtime_error, one line with file and line, where this is no complete recording.
  NvmlReplay(const std::string& path, std::string box, double speed)
      : path_(path), box_(std::move(box)), speed_(speed) {
    std::ifstream file(path, std::ios::binary);
    std::string line;
    while (std::getline(file, line)) {
      ++line_;
      if (ended_) refuse("a line behind the end");
      if (file.eof()) refuse("cut off: no end of line");
      const Json json = Json::parse(line, nullptr, false);
      if (!json.is_object()) refuse("expected a JSON object");
      line_ == 1 ? take_header(json) : take_line(json);
    }
    if (line_ == 0) refuse("an empty file, expected a recording of corun live --record");
    if (!ended_) refuse("cut off: the last line must be {\"t_s\": ..., \"end\": true}");
  }

  const std::string& driver() const { return driver_; }
  const std::string& cuda() const { return cuda_; }
  const std::vector<Gpu>& gpus() const { return gpus_; }

  /// From now on the answer of this GPU to everything, if it had failed by then.
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
    Track<pid_t> own;  ///< corun's processes, and the last reading before each was seen
  };

  [[noreturn]] void refuse(const std::string& why) const {
    throw std::runtime_error(path_ + ":" + std::to_string(line_) + ": " + why);
  }

  const Json& member(const Json& json, const char* key) const {
    const auto at = json.find(key);
    if (at == json.end()) refuse(std::string("no '") + key + "'");
    return *at;
  }
  std::optional<double> number(const Json& json, const char* key, double max) const {
    const Json& value = member(json, key);
    if (value.is_null()) return std::nullopt;
    if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= max)) {
      refuse(std::string("'") + key + "' is no number from 0 to " + std::to_string(max));
    }
    return value.get<double>();
  }
  double told(const Json& json, const char* key, double max) const {
    const auto value = number(json, key, max);
    if (!value) refuse(std::string("'") + key + "' is null");
    return *value;
  }
  std::size_t whole(const Json& json, const char* key, double max) const {
    const double value = told(json, key, max);
    if (value != std::floor(value)) refuse(std::string("'") + key + "' is no whole number");
    return static_cast<std::size_t>(value);
  }
  std::string text(const Json& json, const char* key) const {
    const Json& value = member(json, key);
    if (!value.is_string()) refuse(std::string("'") + key + "' is no text");
    return value.get<std::string>();
  }
  bool flag(const Json& json, const char* key) const {
    const Json& value = member(json, key);
    if (!value.is_boolean()) refuse(std::string("'") + key + "' is neither true nor false");
    return value.get<bool>();
  }

  void take_header(const Json& json) {
    if (text(json, "file") != "corun-nvml-recording") refuse("no recording of corun live --record");
    if (whole(json, "version", 1e9) != 1) refuse("a recording of another version, expected 1");
    driver_ = text(json, "driver");
    cuda_ = text(json, "cuda");
    const Json& list = member(json, "gpus");
    if (!list.is_array() || list.empty() || list.size() > 64) refuse("expected 1 to 64 'gpus'");
    const std::map<std::string, unsigned> modes{
        {"default", 0}, {"exclusive", 3}, {"prohibited", 2}};
    for (const Json& item : list) {
      Gpu gpu{text(item, "name"), told(item, "memory_mib", kMostMib), {}, {}};
      if (!member(item, "mig").is_null()) gpu.mig = flag(item, "mig");
      if (!member(item, "compute_mode").is_null()) {
        const auto mode = modes.find(text(item, "compute_mode"));
        if (mode == modes.end()) refuse("a 'compute_mode' that is not known");
        gpu.mode = mode->second;
      }
      gpus_.push_back(std::move(gpu));
    }
    tracks_.resize(gpus_.size());
    children_.resize(gpus_.size());
  }

  void take_line(const Json& json) {
    const double at = told(json, "t_s", kMostSeconds);
    if (at < last_s_) refuse("earlier than the line before");
    last_s_ = at;
    if (json.contains("end")) {
      ended_ = true;
      return;
    }
    const std::size_t gpu = whole(json, "gpu", 1e9);
    if (gpu >= gpus_.size()) refuse("no such GPU");
    Tracks& tracks = tracks_[gpu];
    if (json.contains("error")) {
      tracks.failures.push_back(
          {at, {static_cast<int>(whole(json, "error", 1e6)), text(json, "why")}});
    } else if (json.contains("processes")) {
      tracks.processes.push_back({at, take_processes(json["processes"], tracks)});
    } else {
      tracks.readings.push_back(
          {at,
           {told(json, "memory_used_mib", kMostMib), number(json, "util_pct", 100),
            number(json, "mem_time_pct", 100), number(json, "temperature_c", 1e3),
            number(json, "power_w", 1e6), number(json, "power_limit_w", 1e6),
            number(json, "sm_clock_mhz", 1e6), number(json, "memory_clock_mhz", 1e6)}});
    }
  }

  Processes take_processes(const Json& list, Tracks& tracks) const {
    if (list.is_null()) return std::nullopt;
    if (!list.is_array()) refuse("'processes' is no list");
    std::vector<Process> processes;
    for (const Json& item : list) {
      const auto pid = static_cast<pid_t>(whole(item, "pid", 1e9));
      processes.push_back({pid, number(item, "memory_mib", kMostMib)});
      const auto known = [&](const auto& o) { return o.second == pid; };
      if (flag(item, "own") && std::none_of(tracks.own.begin(), tracks.own.end(), known)) {
        tracks.own.push_back({tracks.readings.empty() ? 0 : tracks.readings.back().first, pid});
      }
    }
    return processes;
  }

  /// Lets the recorded time go on, as far as the children are.
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

  /// The last of a track that has been by now; null before the first.
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
