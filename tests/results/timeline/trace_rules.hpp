#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"

/// Reads a Chrome trace by the rules of the published description ("Trace Event Format", the object form), knowing nothing
/// of the writer, and names what breaks a rule.
namespace corun::trace_rules {

using Track = std::pair<std::int64_t, std::int64_t>;  ///< process, thread

struct Slice {
  Track track;
  std::string name;
  std::string category;
  double start_us = 0;
  double end_us = 0;
  nlohmann::json args;  ///< of the beginning and the end
};

struct Instant {
  Track track;
  std::string name;
  double at_us = 0;
  nlohmann::json args;
};

struct Sample {
  double at_us = 0;
  double value = 0;
};

struct TraceFile {
  std::vector<std::string> problems;
  std::map<std::int64_t, std::string> processes;
  std::map<Track, std::string> threads;
  std::vector<Slice> slices;
  std::vector<Instant> instants;
  std::map<std::string, std::vector<Sample>> counters;  ///< by "name series"
  nlohmann::json other;
};

class TraceReader {
 public:
  static TraceFile read(const std::string& text) {
    TraceReader reader;
    reader.file(text);
    return std::move(reader.out_);
  }

 private:
  void bad(const std::string& what) {
    if (out_.problems.size() < 20) out_.problems.push_back(what + " in " + event_.substr(0, 300));
  }

  void file(const std::string& text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) return bad("no JSON");
    if (find_bad_text(text, true) < text.size()) bad("characters that a terminal would obey");
    if (!json.is_object() || !json.contains("traceEvents") || !json["traceEvents"].is_array()) {
      return bad("no traceEvents");
    }
    const std::string unit = json.value("displayTimeUnit", "ms");
    if (unit != "ms" && unit != "ns") bad("displayTimeUnit");
    out_.other = json.value("otherData", nlohmann::json::object());
    for (const auto& e : json["traceEvents"]) {
      event_ = e.dump();
      take(e);
    }
    event_ = "the whole file";
    for (const auto& [track, stack] : open_) {
      if (!stack.empty()) bad("slices without an end");
    }
    complete_slices();
    for (const Track& track : used_) {
      if (!out_.threads.contains(track)) bad("a thread without a name");
    }
    for (const std::int64_t process : used_processes_) {
      if (!out_.processes.contains(process)) bad("a process without a name");
    }
  }

  void take(const nlohmann::json& e) {
    if (!e.is_object()) return bad("no object");
    for (const char* key : {"ph", "ts", "pid", "tid"}) {
      if (!e.contains(key)) return bad(std::string("no ") + key);
    }
    if (!e["ph"].is_string() || e["ph"].get<std::string>().size() != 1) return bad("phase");
    if (!e["ts"].is_number() || !(e["ts"].get<double>() >= 0)) return bad("time");
    if (!e["pid"].is_number_integer() || !e["tid"].is_number_integer()) return bad("pid or tid");
    if (e.contains("args") && !e["args"].is_object()) return bad("args");
    const Track track{e["pid"].get<std::int64_t>(), e["tid"].get<std::int64_t>()};
    // Viewers take 0 for the idle process.
    if (track.first <= 0 || track.second <= 0) return bad("pid or tid below 1");
    const char phase = e["ph"].get<std::string>()[0];
    if (phase == 'M') return metadata(e, track);
    used_processes_.insert(track.first);
    if (phase != 'E' && (!e.contains("name") || !e["name"].is_string())) return bad("no name");
    const double at = e["ts"].get<double>();
    switch (phase) {
      case 'B':
        ordered(track, at);
        open_[track].push_back({track, e["name"], e.value("cat", ""), at, at, arguments(e)});
        break;
      case 'E':
        ordered(track, at);
        if (open_[track].empty()) return bad("an end without a beginning");
        if (e.contains("name") && e["name"] != open_[track].back().name) return bad("name of end");
        out_.slices.push_back(open_[track].back());
        out_.slices.back().end_us = at;
        out_.slices.back().args.update(arguments(e));
        open_[track].pop_back();
        break;
      case 'X':
        if (!e.contains("dur") || !e["dur"].is_number() || !(e["dur"].get<double>() >= 0)) {
          return bad("duration");
        }
        complete_[track].emplace_back(at, at + e["dur"].get<double>());
        out_.slices.push_back({track, e["name"], e.value("cat", ""), at,
                               complete_[track].back().second, arguments(e)});
        break;
      case 'i':
      case 'I':
        if (!e.contains("s") || (e["s"] != "t" && e["s"] != "p" && e["s"] != "g")) {
          return bad("scope of an instant");
        }
        out_.instants.push_back({track, e["name"], at, arguments(e)});
        break;
      case 'C': {
        const nlohmann::json values = arguments(e);
        if (values.empty()) return bad("a counter without values");
        for (const auto& [series, value] : values.items()) {
          if (!value.is_number()) return bad("a counter that is no number");
          auto& samples = out_.counters[e["name"].get<std::string>() + " " + series];
          if (!samples.empty() && samples.back().at_us > at) bad("a counter that goes back");
          samples.push_back({at, value.get<double>()});
        }
        return;  // a counter is the process's, not a thread's
      }
      default:
        return bad("unknown phase");
    }
    used_.insert(track);
  }

  static nlohmann::json arguments(const nlohmann::json& e) {
    return e.value("args", nlohmann::json::object());
  }

  void metadata(const nlohmann::json& e, Track track) {
    const std::string name = e.value("name", "");
    const nlohmann::json args = arguments(e);
    const bool names = name == "process_name" || name == "thread_name";
    const bool sorts = name == "process_sort_index" || name == "thread_sort_index";
    if (names && args.contains("name") && args["name"].is_string()) {
      if (name == "process_name") {
        out_.processes[track.first] = args["name"];
      } else {
        out_.threads[track] = args["name"];
      }
    } else if (!sorts || !args.contains("sort_index") || !args["sort_index"].is_number_integer()) {
      bad("metadata");
    }
  }

  /// B and E of a thread must be in order of time.
  void ordered(Track track, double at) {
    const auto last = last_.find(track);
    if (last != last_.end() && last->second > at) bad("time goes back on a thread");
    last_[track] = at;
  }

  /// X events of a track may contain each other, not overlap.
  void complete_slices() {
    for (auto& [track, slices] : complete_) {
      std::sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
      });
      std::vector<double> ends;
      for (const auto& [start, end] : slices) {
        while (!ends.empty() && ends.back() <= start) ends.pop_back();
        if (!ends.empty() && end > ends.back()) bad("slices that overlap");
        ends.push_back(end);
      }
    }
  }

  TraceFile out_;
  std::string event_ = "the file";
  std::map<Track, std::vector<Slice>> open_;
  std::map<Track, std::vector<std::pair<double, double>>> complete_;
  std::map<Track, double> last_;
  std::set<Track> used_;
  std::set<std::int64_t> used_processes_;
};

}  // namespace corun::trace_rules
