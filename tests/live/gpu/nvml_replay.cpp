#include "tests/live/gpu/nvml_replay.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace corun::test {

NvmlReplay::NvmlReplay(const std::string& path, std::string box, double speed)
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

void NvmlReplay::refuse(const std::string& why) const {
  throw std::runtime_error(path_ + ":" + std::to_string(line_) + ": " + why);
}

const NvmlReplay::Json& NvmlReplay::member(const Json& json, const char* key) const {
  const auto at = json.find(key);
  if (at == json.end()) refuse(std::string("no '") + key + "'");
  return *at;
}
std::optional<double> NvmlReplay::number(const Json& json, const char* key, double max) const {
  const Json& value = member(json, key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= max)) {
    refuse(std::string("'") + key + "' is no number from 0 to " + std::to_string(max));
  }
  return value.get<double>();
}
double NvmlReplay::told(const Json& json, const char* key, double max) const {
  const auto value = number(json, key, max);
  if (!value) refuse(std::string("'") + key + "' is null");
  return *value;
}
std::size_t NvmlReplay::whole(const Json& json, const char* key, double max) const {
  const double value = told(json, key, max);
  if (value != std::floor(value)) refuse(std::string("'") + key + "' is no whole number");
  return static_cast<std::size_t>(value);
}
std::string NvmlReplay::text(const Json& json, const char* key) const {
  const Json& value = member(json, key);
  if (!value.is_string()) refuse(std::string("'") + key + "' is no text");
  return value.get<std::string>();
}
bool NvmlReplay::flag(const Json& json, const char* key) const {
  const Json& value = member(json, key);
  if (!value.is_boolean()) refuse(std::string("'") + key + "' is neither true nor false");
  return value.get<bool>();
}

void NvmlReplay::take_header(const Json& json) {
  if (text(json, "file") != "corun-nvml-recording") refuse("no recording of corun live --record");
  if (whole(json, "version", 1e9) != 1) refuse("a recording of another version, expected 1");
  driver_ = text(json, "driver");
  cuda_ = text(json, "cuda");
  const Json& list = member(json, "gpus");
  if (!list.is_array() || list.empty() || list.size() > 64) refuse("expected 1 to 64 'gpus'");
  const std::map<std::string, unsigned> modes{{"default", 0}, {"exclusive", 3}, {"prohibited", 2}};
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

void NvmlReplay::take_line(const Json& json) {
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

NvmlReplay::Processes NvmlReplay::take_processes(const Json& list, Tracks& tracks) const {
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

}  // namespace corun::test
