#include "results/timeline/trace_event_writer.hpp"

#include <cstddef>
#include <iterator>

#include <fmt/format.h>

namespace corun::inline results {

namespace {

constexpr std::size_t kBufferBytes = 1 << 18;

std::string quoted(std::string_view text) { return json_line(Json(text)); }

}  // namespace

TraceEventWriter::TraceEventWriter(const ByteSink& sink) : sink_(sink) {
  buffer_ = "{\"traceEvents\":[\n";
}

void TraceEventWriter::event(char phase, Time at, TraceTrack track, std::string_view name,
                             std::string_view category, const Json& args) {
  if (!first_) buffer_ += ",\n";
  first_ = false;
  const auto ns = at.count();
  auto out = std::back_inserter(buffer_);
  fmt::format_to(out, "{{\"ph\":\"{}\",\"ts\":{}", phase, ns / 1000);
  if (ns % 1000 != 0) fmt::format_to(out, ".{:03}", ns % 1000);
  fmt::format_to(out, ",\"pid\":{},\"tid\":{}", track.process, track.thread);
  if (phase == 'i') buffer_ += ",\"s\":\"t\"";
  if (!name.empty()) buffer_ += ",\"name\":" + quoted(name);
  if (!category.empty()) buffer_ += ",\"cat\":" + quoted(category);
  if (!args.empty()) buffer_ += ",\"args\":" + json_line(args);
  buffer_ += '}';
  if (buffer_.size() >= kBufferBytes) flush();
}

void TraceEventWriter::name_process(std::int64_t process, std::string_view name,
                                    std::int64_t order) {
  const TraceTrack track{process, process};
  event('M', Time{0}, track, "process_name", "", {{"name", name}});
  event('M', Time{0}, track, "process_sort_index", "", {{"sort_index", order}});
}

void TraceEventWriter::name_thread(TraceTrack track, std::string_view name, std::int64_t order) {
  event('M', Time{0}, track, "thread_name", "", {{"name", name}});
  event('M', Time{0}, track, "thread_sort_index", "", {{"sort_index", order}});
}

void TraceEventWriter::begin(Time at, TraceTrack track, std::string_view name,
                             std::string_view category, const Json& args) {
  event('B', at, track, name, category, args);
}

void TraceEventWriter::end(Time at, TraceTrack track, const Json& args) {
  event('E', at, track, "", "", args);
}

void TraceEventWriter::instant(Time at, TraceTrack track, std::string_view name,
                               std::string_view category, const Json& args) {
  event('i', at, track, name, category, args);
}

void TraceEventWriter::counter(Time at, TraceTrack track, std::string_view name,
                               const Json& values) {
  event('C', at, track, name, "", values);
}

void TraceEventWriter::finish(const Json& facts) {
  buffer_ += "\n],\"displayTimeUnit\":\"ms\",\"otherData\":" + json_line(facts) + "}\n";
  flush();
}

void TraceEventWriter::flush() {
  sink_(buffer_);
  buffer_.clear();
}

}  // namespace corun::inline results
