#include "traces/trace_builder.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline traces {
namespace {

std::uint32_t hash_of(std::string_view name) {
  const std::size_t hash = std::hash<std::string_view>{}(name);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

std::uint32_t clamped(std::size_t line) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(line, kMost));
}

}  // namespace

std::optional<std::uint32_t> NameIndex::find(std::string_view name,
                                             MemberSpan<std::string> list) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t hash = hash_of(name);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].index != 0; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && list[slots_[at].index - 1] == name) {
      return slots_[at].index - 1;
    }
  }
  return std::nullopt;
}

void NameIndex::place(Slot slot) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = slot.hash & mask;
  while (slots_[at].index != 0) at = (at + 1) & mask;
  slots_[at] = slot;
}

void NameIndex::add(std::string_view name) {
  constexpr std::size_t kFewest = 64;
  ++names_;
  if (std::size_t{names_} * 2 > slots_.size()) {
    std::vector<Slot> old(std::max(kFewest, slots_.size() * 2));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.index != 0) place(slot);
    }
  }
  place({hash_of(name), names_});
}

std::string text_of(const LeftOut& left_out) {
  const bool one = left_out.rows == 1;
  std::string what = left_out.reason;
  if (!left_out.whole) what.insert(0, one ? "job " : "jobs ");
  if (left_out.whole && one && what.ends_with('s')) what.pop_back();
  std::string text = std::to_string(left_out.rows) + " " + what;
  if (left_out.first_line == 0) return text;
  return text + " (" + (one ? "" : "the first ") + "on line " +
         std::to_string(left_out.first_line) + ")";
}

TraceBuilder::TraceBuilder(std::string source, const LogRules& rules) : rules_(rules) {
  trace_.source = std::move(source);
}

std::optional<std::size_t> TraceBuilder::line_of(std::string_view name) const {
  const auto job = names_.find(name, {trace_.jobs, &TraceJob::name});
  if (!job) return std::nullopt;
  return lines_[*job];
}

void TraceBuilder::add(TraceJob job, std::size_t line) {
  if (trace_.jobs.size() + 1 >= index(kNoJob)) {
    throw InputError(trace_.source + ":" + std::to_string(line),
                     "more jobs than identifiers, expected fewer than 4294967295; split the file");
  }
  names_.add(job.name);
  trace_.jobs.push_back(std::move(job));
  lines_.push_back(clamped(line));
}

void TraceBuilder::add_or_skip(TraceJob job, std::size_t line) {
  if (job.spec.gpus < 1) {
    skip("without GPUs", line);
  } else if (job.spec.work <= Duration::zero()) {
    skip("without run time", line);
  } else if (line_of(job.name)) {
    skip_incomplete("with a repeated name", line);
  } else {
    add(std::move(job), line);
  }
}

void TraceBuilder::count(std::string_view reason, std::size_t line, bool whole) {
  auto known = std::ranges::find(trace_.left_out, reason, &LeftOut::reason);
  if (known == trace_.left_out.end()) {
    trace_.left_out.push_back({std::string(reason), 0, line, whole});
    known = trace_.left_out.end() - 1;
  }
  ++known->rows;
  if (!rules_.strict) return;
  throw InputError(trace_.source + ":" + std::to_string(line),
                   (whole ? "row of " : "job ") + std::string(reason) +
                       ", expected none with --strict; correct the row, or leave --strict out");
}

void TraceBuilder::skip(std::string_view reason, std::size_t line) { count(reason, line, false); }

void TraceBuilder::skip_incomplete(std::string_view reason, std::size_t line) {
  ++incomplete_;
  count(reason, line, false);
}

void TraceBuilder::skip_step(std::size_t line) { count("job steps", line, true); }

bool TraceBuilder::keeps_state(std::string_view state, std::size_t line, bool has_end) {
  if (state.empty()) return true;
  const std::optional<JobState> known = parse_job_state(state);
  std::string name = known ? std::string(name_of(*known)) : std::string(state);
  const bool by_default = !known || (known == JobState::kRunning && has_end);
  const bool chosen = rules_.states.bits == 0 && by_default ? true
                      : known                               ? rules_.states.has(*known)
                                                            : false;
  auto at = std::ranges::find(trace_.states, name, &JobsInState::state);
  constexpr std::size_t kMostStates = 64;
  if (at == trace_.states.end() && trace_.states.size() >= kMostStates) {
    name = "others";
    at = std::ranges::find(trace_.states, name, &JobsInState::state);
  }
  if (at == trace_.states.end()) {
    trace_.states.push_back({name, 0, chosen});
    at = trace_.states.end() - 1;
  }
  ++at->rows;
  if (!known) assume("states that corun does not know count as ended");
  if (chosen) return true;
  if (known == JobState::kRunning) {
    skip("still running when the log ends", line);
  } else if (known == JobState::kPending) {
    skip("that never ran", line);
  } else {
    skip("in the state " + printable(name), line);
  }
  return false;
}

void TraceBuilder::assume(std::string_view assumption) {
  auto& known = trace_.assumptions;
  if (std::ranges::find(known, assumption) == known.end()) known.emplace_back(assumption);
}

std::uint32_t TraceBuilder::virtual_cluster(std::string_view name) {
  if (const auto known = virtual_clusters_.find(name, trace_.virtual_clusters)) return *known;
  trace_.virtual_clusters.emplace_back(name);
  virtual_clusters_.add(name);
  return static_cast<std::uint32_t>(trace_.virtual_clusters.size() - 1);
}

std::optional<std::uint32_t> TraceBuilder::gpu_model(std::string_view name) {
  constexpr std::size_t kMost = 32;
  auto& models = trace_.gpu_model_names;
  auto known = std::ranges::find(models, name);
  if (known == models.end()) {
    if (models.size() == kMost) return std::nullopt;
    known = models.insert(models.end(), std::string(name));
  }
  return std::uint32_t{1} << static_cast<unsigned>(known - models.begin());
}

std::size_t TraceBuilder::gpu_type(std::string_view name, std::string place) {
  auto& types = trace_.measured_types;
  auto known = std::ranges::find(types, name, &MeasuredType::name);
  if (known == types.end()) {
    known = types.insert(types.end(), {std::string(name), std::move(place)});
  }
  return static_cast<std::size_t>(known - types.begin());
}

Trace TraceBuilder::take(const std::string& place) {
  std::string why;
  std::size_t rows = trace_.jobs.size();
  for (const LeftOut& left_out : trace_.left_out) {
    rows += left_out.rows;
    why += (why.empty() ? "" : ", ") + text_of(left_out);
  }
  if (trace_.jobs.empty()) {
    throw InputError(place, why.empty() ? "no rows after the header, expected one per job; add jobs"
                                        : "no job is left, expected some; left out were " + why);
  }
  if (incomplete_ > rows - incomplete_) {
    throw InputError(place, std::to_string(incomplete_) + " of " + std::to_string(rows) +
                                " rows could not be read as jobs, expected at most half; left "
                                "out were " +
                                why + "; are the columns the right ones?");
  }
  return std::move(trace_);
}

Trace TraceBuilder::take_from_first_submit(const std::string& place) {
  const auto submit = [](const TraceJob& job) { return job.spec.submit; };
  if (!trace_.jobs.empty()) {
    const Time first = submit(*std::ranges::min_element(trace_.jobs, {}, submit));
    for (TraceJob& job : trace_.jobs) job.spec.submit -= first;
  }
  return take(place);
}

void ask_for_gpus(JobSpec& spec, std::int64_t gpu_milli) {
  constexpr std::int64_t kWhole = 1000;
  spec.gpus = static_cast<int>(std::max<std::int64_t>(1, (gpu_milli + kWhole - 1) / kWhole));
  spec.gpu_milli = static_cast<int>(std::clamp<std::int64_t>(gpu_milli, 1, kWhole));
}

std::string name_or_row(std::string_view name, std::size_t row) {
  return name.empty() ? "#" + std::to_string(row) : std::string(name);
}

std::string_view first_line(std::string_view text, char comment) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && (comment == '\0' || line.front() != comment)) return line;
  }
  return {};
}

char separator_of(std::string_view header) {
  if (header.find(',') != std::string_view::npos) return ',';
  const std::size_t at = header.find_first_of(";\t|");
  return at == std::string_view::npos ? ',' : header[at];
}

std::vector<std::string> names_in(std::string_view header, char separator) {
  std::vector<std::string> names;
  for (std::size_t from = 0; from <= header.size();) {
    std::size_t to = from;  // the separator outside quotes
    for (bool quoted = false; to < header.size() && (quoted || header[to] != separator); ++to) {
      if (header[to] == '"') quoted = !quoted;
    }
    std::string_view name = trimmed(header.substr(from, to - from));
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
      name = name.substr(1, name.size() - 2);
    }
    names.emplace_back(name);
    from = to + 1;
  }
  return names;
}

bool has_columns(const TraceHead& head, std::initializer_list<std::string_view> columns) {
  const std::vector<std::string> names = names_in(first_line(head.text), ',');
  return std::ranges::all_of(columns, [&](std::string_view column) {
    return std::ranges::find(names, column) != names.end();
  });
}

}  // namespace corun::inline traces
