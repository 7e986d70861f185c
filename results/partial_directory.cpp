#include "results/partial_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/hdf5_table.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/file_lock.hpp"

namespace corun::inline results {

namespace fs = std::filesystem;

using hdf5::Handle;
using hdf5::hdf5_mutex;
using hdf5::silence_hdf5;

namespace {

bool is_part(const fs::path& file) {
  return file.extension() == ".h5" && file.filename().string().starts_with("part-");
}

std::vector<fs::path> parts_in(const std::string& directory) {
  std::vector<fs::path> parts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (is_part(entry.path())) parts.push_back(entry.path());
  }
  std::ranges::sort(parts);
  return parts;
}

/// Unfinished files of a killed writer.
std::vector<fs::path> unfinished_in(const std::string& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.find(kTemporaryMark) != std::string::npos) files.push_back(entry.path());
  }
  return files;
}

void remove_files(const std::vector<fs::path>& files) {
  std::error_code error;
  for (const fs::path& file : files) fs::remove(file, error);
}

/// Number of replications in part files, by their attribute; unreadable files count 0.
std::int64_t count_replications(const std::vector<fs::path>& parts) {
  const std::lock_guard lock(hdf5_mutex());
  silence_hdf5();
  std::int64_t sum = 0;
  for (const fs::path& part : parts) {
    try {
      const Handle file = hdf5::open_file(part.string());
      sum += hdf5::read_integer_attribute(file, "replications");
    } catch (const std::runtime_error&) {
      continue;
    }
  }
  return sum;
}

}  // namespace

PartialDirectory::PartialDirectory(const std::string& target, const char* place)
    : place_(place), path_(target + ".partial") {
  constexpr int kAttempts = 100;  // an attempt fails if another writer comes or goes meanwhile
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const bool made = ::mkdir(path_.c_str(), 0777) == 0;
    if (!made && errno != EEXIST) {
      throw InputError(place_, "cannot make directory '" + path_ + "' (" +
                                   std::generic_category().message(errno) +
                                   "); choose another file");
    }
    if (!lock(target)) continue;
    if (!made && move_aside()) continue;
    name_kept();
    return;
  }
  throw InputError(place_, "cannot keep directory '" + path_ +
                               "': something else removes it again and again; choose another file");
}

PartialDirectory::~PartialDirectory() { unlock(); }

std::string PartialDirectory::part_path(std::size_t number) const {
  std::string digits = std::to_string(number);
  digits.insert(0, digits.size() < 6 ? 6 - digits.size() : 0, '0');
  return path_ + "/part-" + digits + ".h5";
}

void PartialDirectory::remove() const {
  remove_files(parts_in(path_));
  remove_files(unfinished_in(path_));
  std::error_code error;
  fs::remove(path_, error);
}

/// False if the directory vanished meanwhile because another writer finished.
bool PartialDirectory::lock(const std::string& target) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd_ < 0) {
    const int error = errno;
    struct stat entry {};
    const bool link = ::lstat(path_.c_str(), &entry) == 0 && S_ISLNK(entry.st_mode);
    if (error == ENOENT && !link) return false;
    throw InputError(place_, "'" + path_ + "' is in the way (" +
                                 (link ? "a link" : std::generic_category().message(error)) +
                                 "); remove it or choose another file");
  }
  // Without support for locks (some network file systems) the writer goes on unlocked.
  if (try_lock(fd_) == LockOutcome::kTaken) {
    unlock();
    throw InputError(place_, "'" + target +
                                 "' is being written by another corun; wait for it or choose "
                                 "another file");
  }
  const bool same = is_named(fd_, path_);
  if (!same) unlock();
  return same;
}

void PartialDirectory::unlock() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

/// Moves a directory with parts of a killed run aside (true). A directory without parts is cleaned
/// and used (false).
bool PartialDirectory::move_aside() {
  const std::vector<fs::path> parts = parts_in(path_);
  if (parts.empty()) {
    remove_files(unfinished_in(path_));
    return false;
  }
  const std::int64_t count = count_replications(parts);
  std::string aside;
  int n = 0;
  do {
    aside = path_ + "." + std::to_string(++n);
  } while (fs::exists(aside));
  if (std::rename(path_.c_str(), aside.c_str()) != 0) {
    const int error = errno;
    unlock();
    throw InputError(place_, "'" + path_ + "' holds " + std::to_string(count) +
                                 " replications of a run that was killed and cannot be renamed (" +
                                 std::generic_category().message(error) +
                                 "); move it away or choose another file");
  }
  unlock();
  moved_ = aside;
  notice_ = "an earlier run that was killed left " + std::to_string(count) +
            (count == 1 ? " finished replication" : " finished replications") + " in '" + path_ +
            "': kept as '" + aside + "' (its part-*.h5 open like results files; remove it when " +
            "it is not needed)";
  return true;
}

/// Adds to the notice where the parts of still earlier runs are.
void PartialDirectory::name_kept() {
  const std::string beginning = fs::path(path_).filename().string() + ".";
  std::vector<std::string> kept;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_of(path_), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(beginning) || parts_in(entry.path().string()).empty()) continue;
    std::string aside = path_ + name.substr(beginning.size() - 1);
    if (aside != moved_) kept.push_back("'" + std::move(aside) + "'");
  }
  if (kept.empty()) return;
  std::ranges::sort(kept);
  std::string names;
  for (const std::string& name : kept) names += (names.empty() ? "" : ", ") + name;
  notice_ += notice_.empty() ? "earlier runs that were killed left finished replications in " +
                                   names + ": remove it when it is not needed"
                             : "; still earlier ones are in " + names;
}

}  // namespace corun::inline results
