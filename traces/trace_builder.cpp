#include "traces/trace_builder.hpp"

#include <algorithm>
#include <chrono>
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

std::optional<std::uint32_t> NameIndex::find(std::string_view name) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t hash = hash_of(name);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].index != 0; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && (*names_)[slots_[at].index - 1] == name) {
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

void NameIndex::added() {
  constexpr std::size_t kFewest = 64;
  if (names_->size() * 2 > slots_.size()) {
    std::vector<Slot> old(std::max(kFewest, slots_.size() * 2));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.index != 0) place(slot);
    }
  }
  place({hash_of(names_->back()), static_cast<std::uint32_t>(names_->size())});
}

TraceBuilder::TraceBuilder(std::string source)
    : names_(trace_.names), virtual_clusters_(trace_.virtual_clusters) {
  trace_.source = std::move(source);
}

std::optional<std::size_t> TraceBuilder::line_of(std::string_view name) const {
  const auto job = names_.find(name);
  if (!job) return std::nullopt;
  return lines_[*job];
}

void TraceBuilder::add(TraceJob job, std::size_t line) {
  if (trace_.names.size() + 1 >= index(kNoJob)) {
    throw InputError(trace_.source + ":" + std::to_string(line),
                     "more jobs than identifiers, expected fewer than 4294967295; split the file");
  }
  add_job(trace_, job.spec, std::move(job.name), job.key, job.cluster, job.uncertainty);
  for (std::size_t t = 0; t < job.on_types.size(); ++t) {
    trace_.on_types.at(t).solo_s.back() = job.on_types[t].solo_s;
    trace_.on_types[t].memory_mib.back() = job.on_types[t].memory_mib;
  }
  if (job.zoo_run) trace_.zoo_runs.emplace(trace_.names.size() - 1, std::move(*job.zoo_run));
  names_.added();
  lines_.push_back(clamped(line));
}

void TraceBuilder::add_or_skip(TraceJob job, std::size_t line) {
  if (job.spec.gpus < 1) {
    skip("without GPUs", line);
  } else if (job.spec.work <= Duration::zero()) {
    skip("without run time", line);
  } else if (line_of(job.name)) {
    skip("with a repeated name", line);
  } else {
    add(std::move(job), line);
  }
}

void TraceBuilder::skip(std::string_view reason, std::size_t line) {
  auto known = std::ranges::find(skips_, reason, &Skip::reason);
  if (known == skips_.end()) {
    skips_.push_back({std::string(reason), 0, line});
    known = skips_.end() - 1;
  }
  ++known->jobs;
}

std::uint32_t TraceBuilder::virtual_cluster(std::string_view name) {
  if (const auto known = virtual_clusters_.find(name)) return *known;
  trace_.virtual_clusters.emplace_back(name);
  virtual_clusters_.added();
  return static_cast<std::uint32_t>(trace_.virtual_clusters.size() - 1);
}

std::optional<std::uint32_t> TraceBuilder::gpu_model(std::string_view name) {
  constexpr std::size_t kMost = 32;
  auto& models = trace_.gpu_models;
  auto known = std::ranges::find(models, name);
  if (known == models.end()) {
    if (models.size() == kMost) return std::nullopt;
    known = models.insert(models.end(), std::string(name));
  }
  return std::uint32_t{1} << static_cast<unsigned>(known - models.begin());
}

std::size_t TraceBuilder::gpu_type(std::string_view name, std::string place) {
  auto& types = trace_.on_types;
  auto known = std::ranges::find(types, name, &MeasuredOnType::gpu_type);
  if (known == types.end()) {
    const std::vector<double> unknown(jobs(), kNaN);
    known = types.insert(types.end(), {std::string(name), unknown, unknown, std::move(place)});
  }
  return static_cast<std::size_t>(known - types.begin());
}

Trace TraceBuilder::take(const std::string& place) {
  for (const Skip& skip : skips_) {
    trace_.skipped.push_back(std::to_string(skip.jobs) + (skip.jobs == 1 ? " job " : " jobs ") +
                             skip.reason + " (" + (skip.jobs == 1 ? "" : "the first ") +
                             "on line " + std::to_string(skip.first_line) + ")");
  }
  if (trace_.names.empty()) {
    std::string why;
    for (const std::string& skipped : trace_.skipped) why += (why.empty() ? "" : ", ") + skipped;
    throw InputError(place, why.empty() ? "no rows after the header, expected one per job; add jobs"
                                        : "no job is left, expected some; left out were " + why);
  }
  order_arrivals(trace_);
  return std::move(trace_);
}

Trace TraceBuilder::take_from_first_submit(const std::string& place) {
  auto& jobs = trace_.workload.jobs;
  if (!jobs.empty()) {
    const Time first = std::ranges::min_element(jobs, {}, &JobSpec::submit)->submit;
    for (JobSpec& job : jobs) job.submit -= first;
  }
  return take(place);
}

void ask_for_gpus(JobSpec& spec, std::int64_t gpu_milli) {
  constexpr std::int64_t kWhole = 1000;
  spec.gpus = static_cast<int>(std::max<std::int64_t>(1, (gpu_milli + kWhole - 1) / kWhole));
  spec.gpu_milli = static_cast<int>(std::clamp<std::int64_t>(gpu_milli, 1, kWhole));
}

std::optional<Time> parse_date_time(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd dd:dd:dd";
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool fits = kForm[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == kForm[i];
    if (!fits) return std::nullopt;
  }
  const auto digits = [&](std::size_t at, std::size_t count) {
    int value = 0;
    for (std::size_t i = at; i < at + count; ++i) value = value * 10 + (text[i] - '0');
    return value;
  };
  using namespace std::chrono;
  const year_month_day date{year{digits(0, 4)}, month{static_cast<unsigned>(digits(5, 2))},
                            day{static_cast<unsigned>(digits(8, 2))}};
  const int hour = digits(11, 2), minute = digits(14, 2), second = digits(17, 2);
  // Times before 1970 would be negative; times of the next century exceed kMaxTimeSeconds.
  const bool sound = date.ok() && digits(0, 4) >= 1970 && digits(0, 4) < 2090 && hour < 24 &&
                     minute < 60 && second < 60;
  if (!sound) return std::nullopt;
  return sys_days{date}.time_since_epoch() + hours{hour} + minutes{minute} + seconds{second};
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

bool has_columns(const TraceHead& head, std::initializer_list<std::string_view> columns) {
  const std::string_view line = first_line(head.text);
  const auto names_it = [&](std::string_view column) {
    for (std::string_view rest = line; !rest.empty();) {
      std::string_view field = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), field.size() + 1));
      if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
        field = field.substr(1, field.size() - 2);
      }
      if (field == column) return true;
    }
    return false;
  };
  return std::ranges::all_of(columns, names_it);
}

}  // namespace corun::inline traces
