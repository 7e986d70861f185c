#include "experiments/sweep/sweep_journal.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/file_lock.hpp"
#include "experiments/base/json.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun {

namespace {

constexpr std::string_view kMagic = "corun sweep 1\n";
constexpr std::size_t kFrame = 8;
constexpr std::size_t kPayloadMax = std::size_t{256} << 20U;  // a list of points may be long
constexpr std::size_t kRunsAt = 17;                           // after 'R', point, replication

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

std::string header_payload(const SweepIdentity& identity) {
  Json json;
  json["corun_version"] = identity.corun_version;
  json["commit"] = identity.commit;
  json["seed"] = identity.seed;
  json["points"] = identity.points;
  json["replications"] = identity.replications;
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

SweepJournalIndex::SweepJournalIndex(const std::string& path)
    : path_(path), in_(path, std::ios::binary) {
  std::ifstream& in = in_;
  std::string magic(kMagic.size(), '\0');
  if (!in) throw InputError(path, "cannot be read: " + reason(errno));
  if (!in.read(magic.data(), static_cast<std::streamsize>(magic.size())) || magic != kMagic) {
    throw InputError(path,
                     "is no journal of a sweep (it does not begin with 'corun sweep 1'); give a "
                     "file that corun sweep --output or --shard has begun");
  }
  valid_bytes_ = kMagic.size();
  std::string frame(kFrame, '\0');
  std::string payload;
  while (in.read(frame.data(), kFrame)) {
    const std::size_t size = get(frame, 0, 4);
    if (size == 0 || size > kPayloadMax) break;
    payload.resize(size);
    if (!in.read(payload.data(), static_cast<std::streamsize>(size))) break;
    if (get(frame, 4, 4) != crc_of(payload)) break;
    take(payload, valid_bytes_ + kFrame);
    valid_bytes_ += kFrame + size;
  }
  in.clear();
  in.seekg(0, std::ios::end);
  file_bytes_ = static_cast<std::size_t>(in.tellg());
  if (valid_bytes_ == kMagic.size()) throw InputError(path, "holds no header; remove it");
}

bool SweepJournalIndex::begun(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::error_code error;
  if (!in) return std::filesystem::exists(path, error);  // the constructor reports the error
  std::string head(kMagic.size() + kFrame, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  const std::string_view start = std::string_view(head).substr(0, kMagic.size());
  if (!kMagic.starts_with(start)) return true;  // another file, which the constructor refuses
  if (head.size() < kMagic.size() + kFrame) return false;
  const std::size_t header = get(std::string_view(head).substr(kMagic.size()), 0, 4);
  in.seekg(0, std::ios::end);
  return static_cast<std::size_t>(in.tellg()) >= head.size() + header;
}

void SweepJournalIndex::take(std::string_view payload, std::size_t offset) {
  const bool first = valid_bytes_ == kMagic.size();
  const auto damaged = [&] {
    return InputError(path_,
                      fmt::format("holds a record that corun {} did not write so (at byte {}); "
                                  "remove the file and start anew",
                                  identity_.corun_version, offset));
  };
  try {
    if (first != (payload[0] == 'H')) throw damaged();
    if (payload[0] == 'H') {
      const Json json = Json::parse(payload.substr(1));
      identity_ = {json.at("corun_version"), json.at("commit"), json.at("config"),
                   json.at("seed"),          json.at("points"), json.at("replications")};
      if (json.at("reals").get<std::size_t>() != kSweepReals) {
        throw InputError(path_, "was written by corun " + identity_.corun_version + " (" +
                                    identity_.commit + "), which had other metrics; use that one");
      }
    } else if (payload[0] == 'I') {
      const Json json = Json::parse(payload.substr(1));
      inputs_.push_back({json.at("entry"), json.at("found")});
    } else if (payload[0] == 'P') {
      const Json json = Json::parse(payload.substr(1));
      policies_[json.at("point").get<std::uint64_t>()] = json.at("policies").dump();
    } else if (payload[0] == 'R' && payload.size() >= kRunsAt) {
      units_.emplace(SweepUnit{get(payload, 1, 8), get(payload, 9, 8)}, offset);
    } else {
      throw damaged();
    }
  } catch (const Json::exception&) {
    throw damaged();
  }
}

std::vector<SweepRun> SweepJournalIndex::read(std::size_t offset) const {
  std::ifstream& in = in_;
  in.clear();
  std::string frame(kFrame, '\0');
  std::string payload;
  in.seekg(static_cast<std::streamoff>(offset - kFrame));
  if (in.read(frame.data(), kFrame)) {
    payload.resize(get(frame, 0, 4));
    in.read(payload.data(), static_cast<std::streamsize>(payload.size()));
  }
  constexpr std::size_t kRunBytes = kSweepReals * sizeof(double);
  if (!in || crc_of(payload) != get(frame, 4, 4) || (payload.size() - kRunsAt) % kRunBytes != 0) {
    throw InputError(path_, "has changed while it was read; is another corun writing it?");
  }
  std::vector<SweepRun> runs((payload.size() - kRunsAt) / kRunBytes);
  std::memcpy(runs.data(), payload.data() + kRunsAt, payload.size() - kRunsAt);
  return runs;
}

// ---- writing ------------------------------------------------------------------------------------

SweepJournalWriter::SweepJournalWriter(std::string path, std::string place)
    : path_(std::move(path)), place_(std::move(place)) {
  constexpr int kAttempts =
      100;  // an attempt fails if another writer removes its journal meanwhile
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

void SweepJournalWriter::add_policies(std::uint64_t point, const std::string& policies_json) {
  Json json;
  json["point"] = point;
  json["policies"] = Json::parse(policies_json);
  append("P" + json.dump());
}

void SweepJournalWriter::add_runs(const SweepUnit& unit, const std::vector<SweepRun>& runs) {
  std::string payload = "R";
  put(payload, unit.point, 8);
  put(payload, unit.replication, 8);
  payload.append(reinterpret_cast<const char*>(runs.data()), runs.size() * sizeof(SweepRun));
  append(payload);
}

void SweepJournalWriter::sync() { static_cast<void>(::fdatasync(file_.get())); }

}  // namespace corun
