#include "traces/public_formats/standard_workload.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <istream>
#include <ostream>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/input_file.hpp"

namespace corun::inline traces {
namespace {

constexpr std::size_t kFields = 18;
constexpr std::array<std::string_view, kFields> kNames{
    "job number", "submit time",      "wait time", "run time",
    "processors", "CPU time",         "memory",    "processors asked for",
    "time asked", "memory asked for", "status",    "user",
    "group",      "application",      "queue",     "partition",
    "job before", "think time"};
enum Field : std::size_t {
  kNumber = 0,
  kSubmit = 1,
  kRun = 3,
  kUsed = 4,
  kAsked = 7,
  kStatus = 10,
  kPart = 15
};

/// Lines one by one, of bounded length, like CsvReader.
class Lines {
 public:
  Lines(std::istream& in, std::string name) : bytes_(*in.rdbuf()), name_(std::move(name)) {}

  bool next() {
    text_.clear();
    ++number_;
    constexpr int kEnd = std::streambuf::traits_type::eof();
    int byte = bytes_.sbumpc();
    if (byte == kEnd) return false;
    for (; byte != '\n' && byte != kEnd; byte = bytes_.sbumpc()) {
      text_.push_back(static_cast<char>(byte));
      if (text_.size() > kMaxRecordBytes) {
        fail(1, "the line is longer than 1 MiB, expected a job or a comment; is this such a file?");
      }
    }
    if (text_.ends_with('\r')) text_.pop_back();
    if (number_ == 1 && text_.starts_with("\xef\xbb\xbf")) text_.erase(0, 3);
    return true;
  }
  std::string_view text() const { return text_; }
  std::size_t number() const { return number_; }
  [[noreturn]] void fail(std::size_t column, const std::string& message) const {
    throw InputError(name_ + ":" + std::to_string(number_) + ":" + std::to_string(column), message);
  }

 private:
  std::streambuf& bytes_;
  std::string name_;
  std::string text_;
  std::size_t number_ = 0;
};

struct Row {
  std::array<std::string_view, kFields> text;
  std::array<double, kFields> value{};
  std::array<std::size_t, kFields> column{};
};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// False for a line without a job.
bool parse(const Lines& lines, Row& row) {
  const std::string_view line = lines.text();
  std::size_t at = 0;
  std::size_t fields = 0;
  for (;;) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at == line.size()) break;
    if (fields == 0 && line[at] == ';') return false;
    if (fields == kFields) {
      lines.fail(at + 1, "the line goes on after 18 fields, expected 18; remove the rest");
    }
    std::size_t end = at;
    while (end < line.size() && !is_blank(line[end])) ++end;
    row.text[fields] = line.substr(at, end - at);
    row.column[fields] = at + 1;
    const auto value = parse_number(row.text[fields]);
    if (!value) {
      lines.fail(at + 1, "the " + std::string(kNames[fields]) + " is '" +
                             printable(row.text[fields]) +
                             "', expected a number, -1 if it is not known; correct it");
    }
    row.value[fields++] = *value;
    at = end;
  }
  if (fields == 0) return false;
  if (fields < kFields) {
    lines.fail(1, "the line has " + std::to_string(fields) + (fields == 1 ? " field" : " fields") +
                      ", expected 18, -1 where one is not known; add what is missing");
  }
  return true;
}

/// A number from -1 to `max`.
double within(const Lines& lines, const Row& row, Field field, double max) {
  if (row.value[field] < -1 || row.value[field] > max) {
    lines.fail(row.column[field], "the " + std::string(kNames[field]) + " is '" +
                                      printable(row.text[field]) + "', expected -1 to " +
                                      std::to_string(static_cast<std::int64_t>(max)) +
                                      "; correct it");
  }
  return row.value[field];
}

std::int64_t whole(const Lines& lines, const Row& row, Field field, std::int64_t max) {
  const double value = within(lines, row, field, static_cast<double>(max));
  const auto number = static_cast<std::int64_t>(value);
  if (static_cast<double>(number) != value) {
    lines.fail(row.column[field], "the " + std::string(kNames[field]) + " is '" +
                                      printable(row.text[field]) +
                                      "', expected a whole number; correct it");
  }
  return number;
}

/// The state by field 11; empty if it is not known.
std::string_view state_of(double status) {
  return status == 0 ? "failed" : status == 1 ? "completed" : status == 5 ? "cancelled" : "";
}

Trace read_standard_workload(std::istream& in, const std::string& name, const std::string& source,
                             const LogRules& rules) {
  constexpr std::int64_t kMostProcessors = 1'000'000;
  constexpr std::int64_t kMostPartitions = 1'000'000;
  Lines lines(in, name);
  TraceBuilder builder(source, rules);
  Row row;
  while (lines.next()) {
    if (!parse(lines, row)) continue;
    TraceJob job;
    job.name = row.text[kNumber];
    if (!builder.keeps_state(state_of(row.value[kStatus]), lines.number())) continue;
    const double submit = within(lines, row, kSubmit, kMaxTimeSeconds);
    if (submit < 0) {
      builder.skip_without_submit(lines.number());
      continue;
    }
    job.spec.submit = from_seconds(submit);
    job.spec.work = from_seconds(std::max(0.0, within(lines, row, kRun, kWorkRule.max)));
    const std::int64_t asked = whole(lines, row, kAsked, kMostProcessors);
    const std::int64_t used = whole(lines, row, kUsed, kMostProcessors);
    job.spec.gpus = static_cast<int>(asked > 0 ? asked : used);
    const std::int64_t partition = whole(lines, row, kPart, kMostPartitions);
    if (partition >= 0) {
      job.spec.virtual_cluster = builder.virtual_cluster(std::to_string(partition));
    }
    builder.add_or_skip(std::move(job), lines.number());
  }
  return builder.take(name + ":1:1");
}

std::int64_t whole_seconds(Duration time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return (time.count() + kSecond / 2) / kSecond;
}

}  // namespace

Trace read_standard_workload(const std::string& path, const LogRules& rules) {
  const auto in = open_input(path, "a file in Standard Workload Format");
  return read_standard_workload(*in, shown_path(path),
                                std::filesystem::path(path).filename().string(), rules);
}

Trace read_standard_workload(std::istream& in, const std::string& name, const LogRules& rules) {
  return read_standard_workload(in, name, name, rules);
}

bool looks_like_standard_workload(const TraceHead& head) {
  std::string_view rest = first_line(head.text, ';');
  if (rest.empty()) return head.text.starts_with(';');  // a long preface
  std::size_t fields = 0;
  while (!rest.empty()) {
    if (is_blank(rest.front())) {
      rest.remove_prefix(1);
      continue;
    }
    const std::string_view field = rest.substr(0, rest.find_first_of(" \t"));
    if (!parse_number(field)) return false;
    ++fields;
    rest.remove_prefix(field.size());
  }
  return fields == kFields;
}

void write_standard_workload(std::ostream& out, const Trace& trace) {
  out << "; Version: 2.2\n; Computer: GPUs, one processor each\n; MaxJobs: " << trace.jobs.size()
      << '\n';
  std::size_t number = 0;
  for (const JobId id : by_submit_time(trace)) {
    const JobSpec& job = trace.jobs[index(id)].spec;
    const std::int64_t run = std::max<std::int64_t>(1, whole_seconds(job.work));
    const std::string gpus = std::to_string(job.gpus);
    out << std::to_string(++number) << ' ' << std::to_string(whole_seconds(job.submit)) << " -1 "
        << std::to_string(run) << ' ' << gpus << " -1 -1 " << gpus << " -1 -1 1 -1 -1 -1 -1 "
        << (trace.virtual_clusters.empty() ? "-1" : std::to_string(job.virtual_cluster + 1))
        << " -1 -1\n";
  }
}

}  // namespace corun::inline traces
