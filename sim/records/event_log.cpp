#include "sim/records/event_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <istream>
#include <ostream>
#include <string_view>
#include <utility>

#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline sim {

namespace {

constexpr std::string_view kHeaderOfReasons = "time_ns,event,job,gpus,why,beside,speed,delay_s";
constexpr std::array<std::string_view, kLogKinds> kNames = {
    "arrive", "profile", "profiled", "start",   "finish", "oom",
    "fail",   "probe",   "probed",   "preempt", "phase",  "resize"};
constexpr std::array<std::string_view, 8> kWhy = {"alone",   "shares", "part",    "backfills",
                                                  "overdue", "tail",   "shorter", "makes-room"};

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

/// The shortest decimal that reads back to the same number.
std::string number_text(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

void write_reason(std::ostream& out, const std::optional<Reason>& reason,
                  const std::function<std::string(JobId)>& job_text) {
  if (!reason) {
    out << ",,,,";
    return;
  }
  out << ',' << kWhy[static_cast<std::size_t>(reason->why)] << ',';
  if (reason->beside != kNoJob) out << job_text(reason->beside);
  for (const std::optional<double>& number : {reason->speed, reason->delay_s}) {
    out << ',' << (number ? number_text(*number) : std::string());
  }
}

/// A number as the writer spells it; nothing for an empty field.
bool parse_number(std::string_view text, std::optional<double>& number) {
  if (text.empty()) return true;
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return false;
  number = value;
  return std::isfinite(value) && number_text(value) == text;
}

}  // namespace

std::string_view name_of(LogKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

void write_event_log(std::ostream& out, const EventLog& log, const JobNamer& name) {
  const auto job_text = [&](JobId job) {
    return name ? csv_text(name(job)) : std::to_string(index(job));
  };
  const bool has_reasons =
      std::ranges::any_of(log, [](const LogEntry& e) { return e.reason.has_value(); });
  out << (has_reasons ? kHeaderOfReasons : kEventLogHeader) << '\n';
  for (const LogEntry& e : log) {
    out << e.at.count() << ',' << name_of(e.kind) << ',' << job_text(e.job) << ',';
    for (std::size_t i = 0; i < e.gpus.size(); ++i) out << (i ? " " : "") << index(e.gpus[i]);
    if (has_reasons) write_reason(out, e.reason, job_text);
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
  const auto job_of = [&](const std::string& field, const char* column) {
    std::uint32_t id = 0;
    if (find) {
      const auto job = find(field);
      if (!job) refuse(std::string(column) + " '" + printable(field) + "' is not in the workload");
      return *job;
    }
    if (!parse(std::string_view(field), id)) {
      refuse(std::string(column) + " is '" + printable(field) + "', expected its number");
    }
    return JobId{id};
  };
  bool has_reasons = false;
  while (std::getline(in, line)) {
    ++number;
    if (number == 1) {
      has_reasons = line == kHeaderOfReasons;
      if (line != kEventLogHeader && !has_reasons)
        refuse("found '" + printable(line) + "', expected the header '" +
               std::string(kEventLogHeader) + "', or with reasons '" +
               std::string(kHeaderOfReasons) + "'");
      continue;
    }
    const std::size_t fields = has_reasons ? 8 : 4;
    std::array<std::string, 8> field;
    std::string_view rest = line;
    for (std::size_t f = 0; f < fields; ++f) {
      auto text = take_field(rest, f + 1 == fields);
      if (!text) {
        refuse("found '" + printable(line) + "', expected " + std::to_string(fields) +
               " fields: " + std::string(has_reasons ? kHeaderOfReasons : kEventLogHeader));
      }
      field[f] = std::move(*text);
    }
    LogEntry entry;
    std::int64_t ns = 0;
    if (!parse(std::string_view(field[0]), ns) || ns < 0) {
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
             "preempt, phase, resize");
    }
    entry.kind = static_cast<LogKind>(kind);
    entry.job = job_of(field[2], "job");
    for (std::string_view gpus(field[3]); !gpus.empty();) {
      std::uint32_t id = 0;
      const auto space = gpus.find(' ');
      const bool ends_in_blank = space + 1 == gpus.size();
      if (ends_in_blank || !parse(gpus.substr(0, space), id)) {
        refuse("gpus is '" + printable(field[3]) + "', expected numbers separated by blanks");
      }
      entry.gpus.push_back(GpuId{id});
      gpus = space == std::string_view::npos ? std::string_view{} : gpus.substr(space + 1);
    }
    if (!field[4].empty()) {
      const auto why = std::ranges::find(kWhy, field[4]);
      if (why == kWhy.end()) {
        refuse("why is '" + printable(field[4]) +
               "', expected alone, shares, part, backfills, overdue, tail, shorter or makes-room");
      }
      Reason reason;
      reason.why = static_cast<Why>(why - kWhy.begin());
      if (!field[5].empty()) reason.beside = job_of(field[5], "beside");
      if (!parse_number(field[6], reason.speed)) {
        refuse("speed is '" + printable(field[6]) + "', expected a number or nothing");
      }
      if (!parse_number(field[7], reason.delay_s)) {
        refuse("delay_s is '" + printable(field[7]) + "', expected a number or nothing");
      }
      entry.reason = reason;
    } else if (!field[5].empty() || !field[6].empty() || !field[7].empty()) {
      refuse("found '" + printable(line) + "', expected nothing after an empty why");
    }
    take(std::move(entry), number);
  }
  if (number == 0) throw InputError(place, "the file is empty, expected an event log");
}

}  // namespace corun::inline sim
