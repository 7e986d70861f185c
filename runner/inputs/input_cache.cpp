#include "runner/inputs/input_cache.hpp"

#include <algorithm>

#include <sys/stat.h>

#include "support/checksum.hpp"

namespace corun::inline runner {

namespace {

/// InputError as the readers.
std::shared_ptr<TraceFile> read_trace_file(const TraceQuery& query) {
  auto file = std::make_shared<TraceFile>();
  TraceRequest request;
  request.path = query.path;
  request.columns = query.columns;
  request.rules = query.rules;
  request.part = query.part;
  request.labels = query.labels;
  if (query.source->reads_rates) {
    file->rates = std::make_shared<const GavelThroughputs>(
        read_gavel_throughputs(query.rates, query.gpu, file->keys));
    request.rates = file->rates.get();
  }
  file->trace = query.source->make(request, file->keys);
  return file;
}

}  // namespace

std::optional<InputCache::Stamp> InputCache::stamp_of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  const auto ns = [](const timespec& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + std::int64_t{t.tv_nsec};
  };
  return Stamp{found.st_dev, found.st_ino, found.st_size, ns(found.st_mtim), ns(found.st_ctim)};
}

bool InputCache::unchanged(const Stamps& stamps) {
  return std::ranges::all_of(
      stamps, [](const auto& s) { return s.second.has_value() && stamp_of(s.first) == s.second; });
}

InputCache::Reading InputCache::read(const TraceQuery& query) {
  Stamps stamps;
  const auto note = [&](const std::string& path) { stamps.emplace_back(path, stamp_of(path)); };
  note(query.path);
  if (query.labels) note(*query.labels);
  if (query.source->reads_rates) note(query.rates);
  std::shared_ptr<const TraceFile> file = read_trace_file(query);
  for (const std::string& path : file->trace.files_beside) note(path);
  return {std::move(file), std::move(stamps)};
}

std::shared_ptr<const TraceFile> InputCache::trace(const TraceQuery& query) {
  const auto fresh = [](const Reading& reading) { return unchanged(reading.stamps); };
  return traces_
      .get(
          query, 1, [&] { return read(query); }, fresh)
      .file;
}

std::string InputCache::sha256(const std::string& path) {
  constexpr std::size_t kSumsMax = 10'000;
  const std::optional<Stamp> now = stamp_of(path);
  {
    const std::lock_guard lock(mutex_);
    const auto at = sums_.find(path);
    if (at != sums_.end() && now == at->second.stamp) return at->second.sha256;
  }
  std::string sum = sha256_of_file(path);
  if (now) {
    const std::lock_guard lock(mutex_);
    if (sums_.size() >= kSumsMax) sums_.clear();
    sums_[path] = {*now, sum};
  }
  return sum;
}

}  // namespace corun::inline runner
