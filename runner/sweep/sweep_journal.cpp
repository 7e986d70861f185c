#include "runner/sweep/sweep_journal.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "models/limited_json.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/file_lock.hpp"
#include "support/json.hpp"

namespace corun::inline runner {

namespace {

constexpr std::string_view kMagic = "corun sweep 1\n";
constexpr std::size_t kFrame = 8;
constexpr std::size_t kHeaderMax = std::size_t{256} << 20U;  // a list of points may be long
constexpr std::size_t kPayloadMax = std::size_t{16} << 20U;  // of other records
constexpr std::size_t kRunsAt = 17;                          // after 'R', point, replication
/// Of the records in JSON: the header, an input, the policies of a point.
constexpr JsonLimits kRecordLimits{16, std::size_t{1} << 20U};

/// The JSON of a record, null if it is none.
Json record_of(std::string_view payload) {
  return parse_limited_json<Json>(payload.substr(1), kRecordLimits).value_or(Json());
}

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

std::uint64_t get(std::string_view in, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(in[at + static_cast<std::size_t>(i)]);
    value |= static_cast<std::uint64_t>(byte) << (8 * i);
  }
  return value;
}

std::string framed(std::string_view payload) {
  std::string out;
  out.reserve(kFrame + payload.size());
  put(out, payload.size(), 4);
  put(out, crc_of(payload), 4);
  out += payload;
  return out;
}

/// Whether corun writes payloads of this kind and size.
bool is_payload(char kind, std::size_t size) {
  if (kind == 'R') {
    return size >= kRunsAt && size <= kPayloadMax && (size - kRunsAt) % sizeof(SweepRun) == 0;
  }
  if (kind == 'H') return size <= kHeaderMax;
  return (kind == 'I' || kind == 'P' || kind == 'F') && size > 0 && size <= kPayloadMax;
}

std::string header_payload(const SweepIdentity& identity) {
  Json json;
  json["corun_version"] = identity.corun_version;
  json["commit"] = identity.commit;
  json["seed"] = identity.seed;
  json["points"] = identity.points;
  json["replications"] = identity.replications;
  json["as_needed"] = identity.as_needed;
  json["reals"] = kSweepReals;
  json["config"] = identity.config;
  return "H" + json.dump();
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

// ---- reading ------------------------------------------------------------------------------------

SweepJournalBytes::SweepJournalBytes(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  struct stat found {};
  if (file_.get() < 0 || ::fstat(file_.get(), &found) != 0) {
    throw InputError(path, "cannot be read: " + reason(errno));
  }
  if (!S_ISREG(found.st_mode)) {
    throw InputError(path, "is not a regular file, expected a journal of a sweep");
  }
  size_ = static_cast<std::size_t>(found.st_size);
}

std::string_view SweepJournalBytes::read(std::size_t offset, std::size_t bytes) {
  bytes = std::min(bytes, size_ - std::min(size_, offset));
  if (offset < begin_ || offset + bytes > begin_ + window_.size()) {
    constexpr std::size_t kWindow = std::size_t{1} << 20U;
    begin_ = offset;
    window_.resize(std::max(bytes, std::min(kWindow, size_ - std::min(size_, offset))));
    std::size_t filled = 0;
    while (filled < window_.size()) {
      const ssize_t n = ::pread(file_.get(), window_.data() + filled, window_.size() - filled,
                                static_cast<off_t>(offset + filled));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const std::string why = reason(errno);
        window_.clear();
        throw InputError(path_,
                         fmt::format("cannot be read at byte {}: {}; nothing was changed, copy the "
                                     "file to another disk and try again",
                                     offset + filled, why));
      }
      if (n == 0) break;
      filled += static_cast<std::size_t>(n);
    }
    window_.resize(filled);
  }
  return std::string_view(window_).substr(offset - begin_, bytes);
}

std::string_view SweepJournalBytes::record(std::size_t offset) {
  const std::string_view head = read(offset, kFrame + 1);
  if (head.size() <= kFrame) return {};
  const std::size_t size = get(head, 0, 4);
  const std::uint64_t crc = get(head, 4, 4);
  if (!is_payload(head[kFrame], size) || size > size_ - offset - kFrame) return {};
  const std::string_view payload = read(offset + kFrame, size);
  return payload.size() == size && crc_of(payload) == crc ? payload : std::string_view();
}

std::size_t SweepJournalBytes::next_record(std::size_t from) {
  while (from < size_ && record(from).empty()) ++from;
  return std::min(from, size_);
}

SweepJournalIndex::SweepJournalIndex(const std::string& path) : bytes_(path) {
  if (bytes_.read(0, kMagic.size()) != kMagic) {
    throw InputError(path,
                     "is no journal of a sweep (it does not begin with 'corun sweep 1'); give a "
                     "file that corun sweep --output or --shard has begun");
  }
  std::size_t at = kMagic.size();
  const std::string_view header = bytes_.record(at);
  take_header(header);
  at += kFrame + header.size();
  valid_bytes_ = at;
  while (at < bytes_.size()) {
    const std::string_view payload = bytes_.record(at);
    std::size_t next = at + kFrame + payload.size();
    if (payload.empty() || !take(payload, at)) {
      if (payload.empty()) next = bytes_.next_record(at + 1);
      if (next == bytes_.size() && is_torn(at)) break;
      damage_.push_back({at, next - at});
    }
    at = next;
    valid_bytes_ = at;
  }
  std::erase_if(units_, [&](const auto& unit) { return !policies_.contains(unit.first.point); });
  std::erase_if(failures_, [&](const auto& failed) { return !units_.contains(failed.first); });
}

/// Whether the file may end within the record at `offset`.
bool SweepJournalIndex::is_torn(std::size_t offset) const {
  const std::string_view head = bytes_.read(offset, kFrame + 1);
  if (head.size() <= kFrame) return true;
  const std::size_t size = get(head, 0, 4);
  return is_payload(head[kFrame], size) && size > bytes_.size() - offset - kFrame;
}

bool SweepJournalIndex::begun(const std::string& path) {
  SweepJournalBytes bytes(path);
  const std::string_view head = bytes.read(0, kMagic.size() + kFrame);
  if (!kMagic.starts_with(head.substr(0, kMagic.size()))) return true;  // another file
  if (head.size() < kMagic.size() + kFrame) return false;
  const std::size_t header = get(head, kMagic.size(), 4);
  if (bytes.size() >= kMagic.size() + kFrame + header) return true;
  // If records follow, the size of the header is wrong.
  return bytes.next_record(kMagic.size() + 1) < bytes.size();
}

std::string SweepJournalIndex::damage_text() const {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> places;
  for (std::size_t i = 0; i < std::min(kMost, damage_.size()); ++i) {
    places.push_back(
        fmt::format("{} to {}", damage_[i].offset, damage_[i].offset + damage_[i].bytes - 1));
  }
  return fmt::format("is damaged at {} place{} (bytes {}{})", damage_.size(),
                     damage_.size() == 1 ? "" : "s", fmt::join(places, ", "),
                     damage_.size() > kMost ? ", ..." : "");
}

void SweepJournalIndex::take_header(std::string_view payload) {
  const auto damaged = [&] {
    return InputError(path(), fmt::format("has a damaged header (at byte {}), so that its sweep "
                                          "is unknown; move it away or begin anew with --force",
                                          kMagic.size()));
  };
  if (!payload.starts_with('H')) throw damaged();
  try {
    const Json json = record_of(payload);
    identity_ = {json.at("corun_version"),
                 json.at("commit"),
                 json.at("config"),
                 json.at("seed"),
                 json.at("points"),
                 json.at("replications"),
                 json.value("as_needed", false)};
    if (json.at("reals").get<std::size_t>() == kSweepReals) return;
  } catch (const Json::exception&) {
    throw damaged();
  }
  throw InputError(path(), "was written by corun " + identity_.corun_version + " (" +
                               identity_.commit + "), which had other metrics; use that one");
}

/// False for a payload that corun does not write so.
bool SweepJournalIndex::take(std::string_view payload, std::size_t offset) {
  try {
    if (payload[0] == 'R') {
      const SweepUnit unit{get(payload, 1, 8), get(payload, 9, 8)};
      if (unit.point >= identity_.points) return false;
      units_.emplace(unit, offset);
      return true;
    }
    const Json json = record_of(payload);
    if (payload[0] == 'I') {
      inputs_.push_back({json.at("entry"), json.at("found")});
      return true;
    }
    const std::uint64_t point = json.at("point");
    if (point >= identity_.points) return false;
    if (payload[0] == 'F') {
      std::vector<SweepFailure> failures;
      for (const Json& failure : json.at("failures")) {
        failures.push_back({failure.at("policy"), failure.at("reason")});
      }
      failures_[{point, json.at("replication")}] = std::move(failures);
      return true;
    }
    if (payload[0] != 'P') return false;
    std::vector<SweepPolicy> policies;
    for (const Json& policy : json.at("policies")) {
      policies.push_back({policy.at("label"), policy.at("name"), policy.at("parameters").dump(),
                          policy.at("granted_truth")});
    }
    std::vector<std::string> notes = json.value("notes", std::vector<std::string>());
    policies_[point] = std::move(policies);
    if (!notes.empty()) notes_[point] = std::move(notes);
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

std::vector<SweepRun> SweepJournalIndex::read(std::size_t offset) const {
  const std::string_view payload = bytes_.record(offset);
  if (payload.empty()) {
    throw InputError(path(), "has changed while it was read; is another corun writing it?");
  }
  std::vector<SweepRun> runs((payload.size() - kRunsAt) / sizeof(SweepRun));
  std::memcpy(runs.data(), payload.data() + kRunsAt, payload.size() - kRunsAt);
  return runs;
}

std::string records_in_order(const std::string& path) {
  struct Place {
    SweepUnit unit;
    int kind = 0;  ///< of the same unit: policies, failures, runs
    std::string record;
    bool operator<(const Place& o) const { return unit == o.unit ? kind < o.kind : unit < o.unit; }
  };
  SweepJournalBytes bytes(path);
  std::set<std::string> inputs;
  std::vector<Place> rest;
  std::size_t at = kMagic.size();
  bool is_header = true;
  while (at < bytes.size()) {
    const std::string_view payload = bytes.record(at);
    if (payload.empty()) {
      throw InputError(path, fmt::format("is damaged at byte {}; run it again", at));
    }
    at += kFrame + payload.size();
    if (std::exchange(is_header, false)) continue;
    if (payload[0] == 'I') {
      inputs.insert(framed(payload));
    } else if (payload[0] == 'R') {
      rest.push_back({{get(payload, 1, 8), get(payload, 9, 8)}, 2, framed(payload)});
    } else {
      const Json json = record_of(payload);
      const bool is_policies = payload[0] == 'P';
      rest.push_back(
          {{json.at("point"), is_policies ? 0 : json.at("replication").get<std::size_t>()},
           is_policies ? 0 : 1,
           framed(payload)});
    }
  }
  std::ranges::sort(rest, std::less<>());
  std::string out;
  for (const std::string& input : inputs) out += input;
  for (const Place& place : rest) out += place.record;
  return out;
}

std::optional<std::vector<SweepUnit>> units_of_records(std::string_view records) {
  std::vector<SweepUnit> units;
  while (!records.empty()) {
    if (records.size() <= kFrame) return std::nullopt;
    const std::size_t size = get(records, 0, 4);
    if (!is_payload(records[kFrame], size) || size > records.size() - kFrame) return std::nullopt;
    const std::string_view payload = records.substr(kFrame, size);
    if (crc_of(payload) != get(records, 4, 4)) return std::nullopt;
    if (payload[0] == 'R') units.push_back({get(payload, 1, 8), get(payload, 9, 8)});
    records.remove_prefix(kFrame + size);
  }
  return units;
}

// ---- writing ------------------------------------------------------------------------------------

SweepJournalWriter::SweepJournalWriter(std::string path, std::string place)
    : path_(std::move(path)), place_(std::move(place)) {
  // An attempt fails if another writer removes its journal meanwhile.
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    constexpr int kFlags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    file_ = FileDescriptor(::open(path_.c_str(), kFlags, 0666));
    struct stat found {};
    if (file_.get() < 0 || ::fstat(file_.get(), &found) != 0) {
      throw InputError(place_,
                       "cannot write '" + path_ + "': " + reason(errno) + "; choose another file");
    }
    if (!S_ISREG(found.st_mode)) {
      throw InputError(place_, "'" + path_ + "' is not a regular file; choose another file");
    }
    // Without support for locks (some network file systems) the writer goes on unlocked.
    if (try_lock(file_.get()) == LockOutcome::kTaken) {
      throw InputError(place_, "'" + path_ +
                                   "' is being written by another corun; wait for it or "
                                   "choose another file");
    }
    if (is_named(file_.get(), path_)) return;
  }
  throw InputError(place_, "cannot keep '" + path_ +
                               "': something else removes it again and again; choose another file");
}

SweepJournalWriter::~SweepJournalWriter() {
  struct stat found {};
  if (::fstat(file_.get(), &found) == 0 && found.st_size == 0 && found.st_nlink > 0) remove();
}

void SweepJournalWriter::begin(const SweepIdentity& identity) {
  if (::ftruncate(file_.get(), 0) != 0) {
    throw InputError(place_, "cannot write '" + path_ + "': " + reason(errno));
  }
  size_ = 0;
  write(std::string(kMagic) + framed(header_payload(identity)));
  sync();
  sync_directory(directory_of(path_));
  synced_at_ = now_s();
}

void SweepJournalWriter::resume(const SweepJournalIndex& index) {
  struct stat found {};
  if (::fstat(file_.get(), &found) != 0 ||
      static_cast<std::size_t>(found.st_size) != index.file_bytes()) {
    throw InputError(place_, "'" + index.path() + "' has changed while it was read; try again");
  }
  if (::ftruncate(file_.get(), static_cast<off_t>(index.valid_bytes())) != 0) {
    throw InputError(place_, "cannot write '" + index.path() + "': " + reason(errno));
  }
  size_ = index.valid_bytes();
  synced_at_ = now_s();
}

std::string SweepJournalWriter::repair(const SweepJournalIndex& index,
                                       const std::set<std::uint64_t>& points) {
  namespace fs = std::filesystem;
  std::string aside = path_ + ".damaged";
  std::error_code error;
  for (int n = 2; fs::exists(fs::symlink_status(aside, error)); ++n) {
    aside = fmt::format("{}.damaged.{}", path_, n);
  }
  const auto check = [&](bool done, const std::string& path, int why) {
    if (done) return;
    throw InputError(place_, "cannot write '" + path + "': " + reason(why));
  };
  if (!fs::copy_file(path_, aside, error)) {
    const int why = error.value();
    fs::remove(aside, error);
    check(false, aside, why);
  }
  // The records move towards the beginning. Those read later are not overwritten before.
  const FileDescriptor out(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));  // the other one appends
  check(out.get() >= 0, path_, errno);
  SweepJournalBytes bytes(path_);
  std::size_t end = kMagic.size();
  auto damage = index.damage().begin();
  for (std::size_t at = end; at < index.valid_bytes();) {
    if (damage != index.damage().end() && damage->offset == at) {
      at += damage->bytes;
      ++damage;
      continue;
    }
    const std::string_view payload = bytes.record(at);
    if (payload.empty()) {
      throw InputError(place_, "'" + path_ + "' has changed while it was read; try again");
    }
    const std::string record = framed(payload);
    if (payload[0] != 'R' || points.contains(get(payload, 1, 8))) {
      const ssize_t n = ::pwrite(out.get(), record.data(), record.size(), static_cast<off_t>(end));
      check(n == static_cast<ssize_t>(record.size()), path_, n < 0 ? errno : ENOSPC);
      end += record.size();
    }
    at += record.size();
  }
  check(::ftruncate(out.get(), static_cast<off_t>(end)) == 0, path_, errno);
  check(::fsync(out.get()) == 0, path_, errno);
  return aside;
}

void SweepJournalWriter::remove() { ::unlink(path_.c_str()); }

/// Leaves the file as it was if not all bytes can be written.
void SweepJournalWriter::write(std::string_view bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t n = ::write(file_.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(size_)) == 0);
      throw InputError(place_, "cannot write '" + path_ + "': " + reason(error) +
                                   "; what was finished is kept there, the same command continues");
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  size_ += bytes.size();
}

void SweepJournalWriter::append(std::string_view payload) {
  const std::string record = framed(payload);
  std::unique_lock lock(mutex_);
  write(record);
  constexpr double kSyncEvery_s = 1;
  const double now = now_s();
  if (now - synced_at_ < kSyncEvery_s) return;
  synced_at_ = now;
  lock.unlock();  // other threads go on
  sync();
}

void SweepJournalWriter::add_input(const SweepInput& input) {
  const auto replace = Json::error_handler_t::replace;  // paths need not be UTF-8
  append("I" + Json{{"entry", input.entry}, {"found", input.found}}.dump(-1, ' ', false, replace));
}

void SweepJournalWriter::add_policies(std::uint64_t point, const std::string& policies_json,
                                      const std::vector<std::string>& notes) {
  Json json;
  json["point"] = point;
  json["policies"] = Json::parse(policies_json);
  if (!notes.empty()) json["notes"] = notes;
  append("P" + json.dump(-1, ' ', false, Json::error_handler_t::replace));  // notes may have paths
}

void SweepJournalWriter::add_failures(const SweepUnit& unit,
                                      const std::vector<SweepFailure>& failures) {
  Json json;
  json["point"] = unit.point;
  json["replication"] = unit.replication;
  json["failures"] = Json::array();
  for (const SweepFailure& failure : failures) {
    json["failures"].push_back({{"policy", failure.policy}, {"reason", failure.reason}});
  }
  append("F" + json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void SweepJournalWriter::add_runs(const SweepUnit& unit, const std::vector<SweepRun>& runs) {
  std::string payload = "R";
  put(payload, unit.point, 8);
  put(payload, unit.replication, 8);
  payload.append(reinterpret_cast<const char*>(runs.data()), runs.size() * sizeof(SweepRun));
  append(payload);
}

void SweepJournalWriter::add_records(std::string_view records) {
  const std::lock_guard lock(mutex_);
  write(records);
}

void SweepJournalWriter::sync() { static_cast<void>(::fdatasync(file_.get())); }

}  // namespace corun::inline runner
