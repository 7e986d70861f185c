#include "sim/event_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <istream>
#include <ostream>
#include <string_view>
#include <utility>

#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun {

namespace {

constexpr std::array<std::string_view, kLogKinds> kNames = {
    "arrive", "profile", "profiled", "start",  "finish",
    "oom",    "fail",    "probe",    "probed", "preempt"};

/// Accepts only the writer's spelling: no sign, no leading zero.
template <typename T>
bool parse(std::string_view text, T& value) {
  if (text.empty() || text.front() == '-' || (text.size() > 1 && text.front() == '0')) return false;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size();
}

/// Takes the next field off `rest`; nothing if the field does not end as a field of CSV must.
std::optional<std::string> take_field(std::string_view& rest, bool last) {
  std::string field;
  std::size_t end = 0;
  if (!rest.empty() && rest.front() == '"') {
    for (end = 1; end < rest.size(); ++end) {
      if (rest[end] != '"') {
        field += rest[end];
      } else if (end + 1 < rest.size() && rest[end + 1] == '"') {
        field += rest[end++];
      } else {
        break;
      }
    }
    if (end == rest.size()) return std::nullopt;
    ++end;
  } else {
    end = std::min(rest.find(','), rest.size());
    field = rest.substr(0, end);
  }
  if (last != (end == rest.size()) || (!last && rest[end] != ',')) return std::nullopt;
  rest.remove_prefix(last ? end : end + 1);
  return field;
}

}  // namespace

std::string_view name_of(LogKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

void write_event_log(std::ostream& out, const EventLog& log, const JobNamer& name) {
  out << kEventLogHeader << '\n';
  for (const LogEntry& e : log) {
    out << e.at.count() << ',' << name_of(e.kind) << ','
        << (name ? csv_text(name(e.job)) : std::to_string(index(e.job))) << ',';
    for (std::size_t i = 0; i < e.gpus.size(); ++i) out << (i ? " " : "") << index(e.gpus[i]);
    out << '\n';
  }
}

EventLog read_event_log(std::istream& in, const std::string& place, const JobFinder& find) {
  EventLog log;
  read_event_log(in, place, find,
                 [&log](LogEntry&& e, std::size_t) { log.push_back(std::move(e)); });
  return log;
}

void read_event_log(std::istream& in, const std::string& place, const JobFinder& find,
                    const std::function<void(LogEntry&&, std::size_t line)>& take) {
  std::string line;
  std::size_t number = 0;
  Time last{0};
  const auto refuse = [&](const std::string& message) {
    throw InputError(place + ":" + std::to_string(number), message);
  };
  while (std::getline(in, line)) {
    ++number;
    if (number == 1) {
      if (line != kEventLogHeader)
        refuse("found '" + printable(line) + "', expected the header '" +
               std::string(kEventLogHeader) + "'");
      continue;
    }
    std::array<std::string, 4> field;
    std::string_view rest = line;
    for (std::size_t f = 0; f < 4; ++f) {
      auto text = take_field(rest, f == 3);
      if (!text)
        refuse("found '" + printable(line) +
               "', expected 4 fields: " + std::string(kEventLogHeader));
      field[f] = std::move(*text);
    }
    LogEntry entry;
    std::int64_t ns = 0;
    if (!parse(field[0], ns) || ns < 0) {
      refuse("time_ns is '" + printable(field[0]) + "', expected nanoseconds, 0 or more");
    }
    entry.at = Time{ns};
    if (entry.at < last) refuse("time_ns goes back");
    last = entry.at;
    std::size_t kind = 0;
    while (kind < kNames.size() && kNames[kind] != field[1]) ++kind;
    if (kind == kNames.size()) {
      refuse("event is '" + printable(field[1]) +
             "', expected arrive, profile, profiled, start, finish, oom, fail, probe, probed or "
             "preempt");
    }
    entry.kind = static_cast<LogKind>(kind);
    std::uint32_t id = 0;
    if (find) {
      const auto job = find(field[2]);
      if (!job) refuse("job '" + printable(field[2]) + "' is not in the workload");
      entry.job = *job;
    } else if (parse(field[2], id)) {
      entry.job = JobId{id};
    } else {
      refuse("job is '" + printable(field[2]) + "', expected its number");
    }
    for (std::string_view gpus(field[3]); !gpus.empty();) {
      const auto space = gpus.find(' ');
      const bool ends_in_blank = space + 1 == gpus.size();
      if (ends_in_blank || !parse(gpus.substr(0, space), id)) {
        refuse("gpus is '" + printable(field[3]) + "', expected numbers separated by blanks");
      }
      entry.gpus.push_back(GpuId{id});
      gpus = space == std::string_view::npos ? std::string_view{} : gpus.substr(space + 1);
    }
    take(std::move(entry), number);
  }
  if (number == 0) throw InputError(place, "the file is empty, expected an event log");
}

}  // namespace corun
