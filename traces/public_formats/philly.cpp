#include "traces/public_formats/philly.hpp"

#include <algorithm>
#include <filesystem>
#include <istream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/input_file.hpp"
#include "traces/logs/cells.hpp"

namespace corun::inline traces {
namespace {

/// The parser's position in the file: the place of the next byte.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
  std::size_t last_line =
      1;  ///< of the last byte taken: one beyond a number when it is known to end
  std::size_t last_column = 1;
  std::size_t bytes_since_event = 0;
};

std::string place_of(const std::string& name, std::size_t line, std::size_t column) {
  return name + ":" + std::to_string(line) + ":" + std::to_string(column);
}

/// The bytes of a stream, counted as they are taken. Copies share their position.
class Bytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  Bytes() = default;
  Bytes(std::istream& in, Position& position, const std::string& name)
      : at_(in), position_(&position), name_(&name) {}

  char operator*() const { return *at_; }
  Bytes& operator++() {
    if (++position_->bytes_since_event > kMaxRecordBytes) {
      throw InputError(place_of(*name_, position_->line, position_->column),
                       "a value longer than 1 MiB, expected jobs; is a quote not closed?");
    }
    position_->last_line = position_->line;
    position_->last_column = position_->column++;
    if (*at_ == '\n') {
      ++position_->line;
      position_->column = 1;
    }
    ++at_;
    return *this;
  }
  friend bool operator==(const Bytes& a, const Bytes& b) { return a.at_ == b.at_; }
  friend bool operator!=(const Bytes& a, const Bytes& b) { return !(a == b); }

 private:
  std::istreambuf_iterator<char> at_;
  Position* position_ = nullptr;
  const std::string* name_ = nullptr;
};

/// Handles the parser's events; keeps nothing of the document but the present job.
class PhillyHandler {
 public:
  PhillyHandler(TraceBuilder& builder, Position& position, std::string name)
      : builder_(builder), position_(position), name_(std::move(name)) {}

  // The parser prescribes the names and types of these members.
  using Json = nlohmann::json;
  bool null() { return scalar("null", {}); }
  bool boolean(bool value) { return scalar(value ? "true" : "false", {}); }
  bool number_integer(Json::number_integer_t value) { return number(std::to_string(value)); }
  bool number_unsigned(Json::number_unsigned_t value) { return number(std::to_string(value)); }
  bool number_float(Json::number_float_t, const std::string& text) {
    return number(printable(text));
  }
  bool binary(Json::binary_t&) { return false; }
  bool string(std::string& value) { return scalar("'" + printable(value) + "'", value); }
  bool key(std::string& value) {
    event();
    key_ = value;
    return true;
  }
  bool start_object(std::size_t) {
    event();
    const Level inside = stack_.empty() ? Level::kNone : stack_.back();
    if (inside == Level::kGpus) fail("an object", "the name of a GPU");
    if (known_key(inside)) fail("an object", expected_of_key());
    const bool is_job =
        inside == Level::kJobs || inside == Level::kNone;  // none: a line of its own
    stack_.push_back(is_job                       ? Level::kJob
                     : inside == Level::kAttempts ? Level::kAttempt
                     : inside == Level::kDetail   ? Level::kMachine
                                                  : Level::kOther);
    if (stack_.back() == Level::kJob) begin_job();
    if (stack_.back() == Level::kAttempt) attempt_ = {};
    if (stack_.back() == Level::kMachine) attempt_.gpus_before = attempt_.gpus;
    return true;
  }
  bool end_object() {
    event();
    const Level ended = stack_.back();
    stack_.pop_back();
    if (ended == Level::kMachine) attempt_.nodes += attempt_.gpus > attempt_.gpus_before ? 1 : 0;
    if (ended == Level::kAttempt) end_attempt();
    if (ended == Level::kJob) end_job();
    return true;
  }
  bool start_array(std::size_t) {
    event();
    const Level inside = stack_.empty() ? Level::kNone : stack_.back();
    Level next = Level::kOther;
    if (inside == Level::kNone) {
      next = Level::kJobs;
    } else if (inside == Level::kJob && key_ == "attempts") {
      next = Level::kAttempts;
    } else if (inside == Level::kAttempt && key_ == "detail") {
      next = Level::kDetail;
    } else if (inside == Level::kMachine && key_ == "gpus") {
      next = Level::kGpus;
    } else if (inside == Level::kJobs || inside == Level::kAttempts || inside == Level::kDetail ||
               inside == Level::kGpus) {
      fail("an array", expected_element(inside));
    } else if (known_key(inside)) {
      fail("an array", expected_of_key());
    }
    stack_.push_back(next);
    return true;
  }
  bool end_array() {
    event();
    stack_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ..."
    std::string text = error.what();
    const std::size_t column = text.find("column ");
    const std::size_t colon = column == std::string::npos ? column : text.find(": ", column);
    if (colon != std::string::npos) text.erase(0, colon + 2);
    throw InputError(
        place_of(name_, position_.line, position_.column),
        printable(text, 300) +
            "; expected one JSON array of jobs, or an object per line, whole and well-formed");
  }

 private:
  enum class Level : std::uint8_t {
    kNone,
    kJobs,
    kJob,
    kAttempts,
    kAttempt,
    kDetail,
    kMachine,
    kGpus,
    kOther
  };
  static constexpr Duration kLongest = std::chrono::seconds{90'000'000};
  struct Attempt {
    std::optional<Time> start;
    std::optional<Time> end;
    int gpus = 0;
    int gpus_before = 0;  ///< on the machines before the present one
    int nodes = 0;        ///< machines with GPUs
  };

  void event() { position_.bytes_since_event = 0; }

  [[noreturn]] void fail(const std::string& found, const std::string& expected,
                         std::size_t width = 1) const {
    const std::size_t column = position_.column > width ? position_.column - width : 1;
    const bool keyed =
        !stack_.empty() && (stack_.back() == Level::kJob || stack_.back() == Level::kAttempt ||
                            stack_.back() == Level::kMachine);
    throw InputError(place_of(name_, position_.line, column),
                     (keyed ? "'" + printable(key_) + "' is " : "found ") + found + ", expected " +
                         expected + "; correct it");
  }

  bool known_key(Level inside) const {
    switch (inside) {
      case Level::kJob:
        return key_ == "jobid" || key_ == "vc" || key_ == "submitted_time" || key_ == "attempts" ||
               key_ == "status";
      case Level::kAttempt:
        return key_ == "start_time" || key_ == "end_time" || key_ == "detail";
      case Level::kMachine:
        return key_ == "gpus";
      default:
        return false;
    }
  }
  std::string expected_of_key() const {
    if (key_ == "attempts") return "an array of attempts";
    if (key_ == "detail") return "an array of machines";
    if (key_ == "gpus") return "an array of GPUs";
    if (key_.ends_with("_time")) return "a time like \"2017-10-07 01:11:39\", or null";
    return "a text";
  }
  static std::string expected_element(Level inside) {
    return inside == Level::kJobs       ? "a job, {...}"
           : inside == Level::kAttempts ? "an attempt, {...}"
           : inside == Level::kDetail   ? "a machine, {...}"
                                        : "the name of a GPU";
  }

  bool number(const std::string& text) {
    const Position now = position_;
    position_.line = now.last_line;
    position_.column = now.last_column;
    scalar(text, {});
    position_.line = now.line;
    position_.column = now.column;
    return true;
  }

  /// A value that is no array and no object; `text` has the value of a string.
  bool scalar(const std::string& shown, std::optional<std::string> text) {
    event();
    const std::size_t width = text ? text->size() + 2 : shown.size();
    const Level inside = stack_.empty() ? Level::kNone : stack_.back();
    if (inside == Level::kNone) fail(shown, "an array of jobs", width);
    if (inside == Level::kJobs || inside == Level::kAttempts || inside == Level::kDetail) {
      fail(shown, expected_element(inside), width);
    }
    if (inside == Level::kGpus) {
      constexpr int kMost = 1'000'000;
      if (++attempt_.gpus > kMost) fail(shown, "at most 1000000 GPUs of a job", width);
    }
    if (!known_key(inside)) return true;
    const bool none = shown == "null" || (text && is_absent(*text));
    if (key_ == "attempts" || key_ == "detail" || key_ == "gpus") {
      if (!none) fail(shown, expected_of_key(), width);
      return true;
    }
    if (!none && !text) fail(shown, expected_of_key(), width);
    if (key_.ends_with("_time")) {
      std::optional<Time> time;
      if (!none) {
        const auto date = parse_date(*text);
        if (!date) fail(shown, expected_of_key(), width);
        time = date->time;
        if (!date->has_zone) builder_.assume("dates without a zone are taken as UTC");
      }
      (key_ == "start_time" ? attempt_.start : key_ == "end_time" ? attempt_.end : submit_) = time;
    } else {
      if (text && find_bad_text(*text, false) < text->size()) {
        fail(shown, "text on one line, without tabs", width);
      }
      (key_ == "jobid"    ? job_.name
       : key_ == "status" ? status_
                          : virtual_cluster_) = none ? "" : *text;
    }
    return true;
  }

  void begin_job() {
    job_ = {};
    job_.spec.gpus = 0;
    virtual_cluster_.clear();
    status_.clear();
    submit_.reset();
    line_ = position_.line;
    column_ = position_.column - 1;
    attempts_ = 0;
    last_has_end_ = false;
    backwards_ = false;
  }

  void end_attempt() {
    ++attempts_;
    last_has_end_ = attempt_.end.has_value();
    if (!attempt_.start || !attempt_.end) return;
    if (*attempt_.end < *attempt_.start) {
      backwards_ = true;
      return;
    }
    // Above the limit the sum may stop: two of the longest times would overflow.
    if (job_.spec.work <= kLongest) job_.spec.work += *attempt_.end - *attempt_.start;
    job_.spec.gpus = attempt_.gpus;
    job_.run_nodes = attempt_.nodes;
  }

  void end_job() {
    if (job_.name.empty()) {
      throw InputError(place_of(name_, line_, column_),
                       "the job has no 'jobid', expected one in every job; add it");
    }
    if (!builder_.keeps_state(status_, line_)) return;
    if (attempts_ == 0) return builder_.skip("without attempts", line_);
    if (!submit_) return builder_.skip_without_submit(line_);
    if (!last_has_end_) return builder_.skip("still running when the log ends", line_);
    if (backwards_) return builder_.skip_incomplete("whose attempt ends before it starts", line_);
    if (job_.spec.work > kLongest) return builder_.skip("that ran for more than 90000000 s", line_);
    job_.spec.submit = *submit_;
    job_.spec.virtual_cluster = builder_.virtual_cluster(virtual_cluster_);
    builder_.add_or_skip(std::move(job_), line_);
  }

  TraceBuilder& builder_;
  Position& position_;
  std::string name_;
  std::vector<Level> stack_;
  std::string key_;
  TraceJob job_;
  std::string virtual_cluster_;
  std::string status_;
  std::optional<Time> submit_;
  std::size_t line_ = 0;  ///< on which the job begins
  std::size_t column_ = 0;
  std::size_t attempts_ = 0;
  bool last_has_end_ = false;
  bool backwards_ = false;
  Attempt attempt_;
};

Trace read_philly(std::istream& in, const std::string& name, const std::string& source,
                  const LogRules& rules) {
  TraceBuilder builder(source, rules);
  Position position;
  PhillyHandler handler(builder, position, name);
  bool array = false;
  for (bool first = true;; first = false) {  // one array, or objects one after the other
    Bytes bytes(in, position, name);
    while (bytes != Bytes() &&
           (*bytes == ' ' || *bytes == '\t' || *bytes == '\n' || *bytes == '\r')) {
      ++bytes;
      position.bytes_since_event = 0;
    }
    if (bytes == Bytes() && !first) break;
    if (first) array = bytes != Bytes() && *bytes == '[';
    if (array && !first) {
      throw InputError(
          place_of(name, position.line, position.column),
          "found more after the array, expected one JSON array of jobs, or objects one after the "
          "other; remove it");
    }
    nlohmann::json::sax_parse(bytes, Bytes(), &handler, nlohmann::json::input_format_t::json,
                              false);
  }
  return builder.take_from_first_submit(name + ":1:1");
}

}  // namespace

Trace read_philly(const std::string& path, const LogRules& rules) {
  const auto in = open_input(path, "a JSON file");
  return read_philly(*in, shown_path(path), std::filesystem::path(path).filename().string(), rules);
}

Trace read_philly(std::istream& in, const std::string& name, const LogRules& rules) {
  return read_philly(in, name, name, rules);
}

bool looks_like_philly(const TraceHead& head) {
  const std::string_view line = first_line(head.text);
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return false;
  if (line[first] == '[') return true;
  return line[first] == '{' && head.text.find("\"jobid\"") != std::string::npos &&
         head.text.find("\"attempts\"") != std::string::npos;
}

}  // namespace corun::inline traces
