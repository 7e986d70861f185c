#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/time.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"

/// The Chrome trace-event format (JSON object form), which Perfetto and chrome://tracing open: one event a line, written
/// as it comes. Times are microseconds with three digits after the point, so nanoseconds are exact. Every event has ph,
/// ts, pid and tid. Source: "Trace Event Format", Google, the document of the trace viewer of Chromium.
namespace corun::inline results {

/// A thread of a process in the format; a track in a viewer.
struct TraceTrack {
  std::int64_t process = 1;  ///< above 0: viewers give 0 a meaning of their own
  std::int64_t thread = 1;   ///< above 0; differs in the whole trace, not just in its process
};

class TraceEventWriter {
 public:
  explicit TraceEventWriter(const ByteSink& sink);

  /// Names a process; viewers sort processes by `order`.
  void name_process(std::int64_t process, std::string_view name, std::int64_t order);
  void name_thread(TraceTrack track, std::string_view name, std::int64_t order);

  /// A slice begins. One slice at most is open on a track.
  void begin(Time at, TraceTrack track, std::string_view name, std::string_view category,
             const Json& args);
  /// The open slice of the track ends.
  void end(Time at, TraceTrack track, const Json& args);
  /// An instant of this track.
  void instant(Time at, TraceTrack track, std::string_view name, std::string_view category,
               const Json& args);
  /// Values of counters of the track's process from now on, by name.
  void counter(Time at, TraceTrack track, std::string_view name, const Json& values);

  /// The end of the file. `facts`: an object that viewers may show.
  void finish(const Json& facts);

 private:
  void event(char phase, Time at, TraceTrack track, std::string_view name,
             std::string_view category, const Json& args);
  void flush();

  const ByteSink& sink_;
  std::string buffer_;
  bool first_ = true;
};

}  // namespace corun::inline results
