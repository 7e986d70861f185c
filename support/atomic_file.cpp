#include "support/atomic_file.hpp"

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/file_descriptor.hpp"
#include "support/file_lock.hpp"

namespace corun::inline support {

namespace fs = std::filesystem;

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

/// 0 or the error number.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

/// Removes the file of a temporary name if no program writes it any more.
void remove_leftover(const std::string& name) {
  const FileDescriptor left(::open(name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found {};
  if (left.get() < 0 || ::fstat(left.get(), &found) != 0 || !S_ISREG(found.st_mode)) return;
  if (try_lock(left.get()) == LockOutcome::kHeld && is_named(left.get(), name)) {
    ::unlink(name.c_str());
  }
}

/// Calls `make(name)`, which returns 0 or the error number, with temporary names of the target until one
/// is free. Others are in use, or something else that stays.
template <typename Make>
int with_free_name(const std::string& target, std::string& name, const Make& make) {
  constexpr int kNames = 1000;
  int error = EEXIST;
  for (int n = 1; n <= kNames && error == EEXIST; ++n) {
    name = target + std::string(kTemporaryMark) + std::to_string(n);
    error = make(name);
    if (error != EEXIST) break;
    remove_leftover(name);
    error = make(name);
  }
  return error;
}

/// 0 or the error number. `mode` empty: the permissions that the process gives to new files.
int write_and_sync(int file, const ByteSource& source, std::optional<mode_t> mode) {
  if (mode && ::fchmod(file, *mode) != 0) return errno;
  struct Failed {
    int error;
  };
  try {
    source([file](std::string_view bytes) {
      if (const int error = write_all(file, bytes); error != 0) throw Failed{error};
    });
  } catch (const Failed& failed) {
    return failed.error;
  }
  if (::fsync(file) != 0) return errno;
  return FileDescriptor(::dup(file)).close();  // the file stays open, for its lock
}

/// Gives an open file without a name this name. 0 or the error number.
int link_file(int file, const std::string& name) {
  const std::string open_file = "/proc/self/fd/" + std::to_string(file);
  return ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0
             ? 0
             : errno;
}

/// A new file under a temporary name, open and locked.
struct NewFile {
  FileDescriptor file{-1};
  std::string name;
};

/// Makes a complete file beside the target. 0 or the error number, and then there is none.
///
/// The new file has no name until it is complete, so that a kill leaves nothing, where the file system
/// can do that. Its temporary name, without which it could not replace another file, never names
/// anything that was there before. While it has that name, it is locked.
int make_file(const std::string& target, const ByteSource& source, std::optional<mode_t> mode,
              NewFile& made) {
  std::string& name = made.name;
  FileDescriptor& file = made.file;
  file =
      FileDescriptor(::open(directory_of(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  bool linked = false;
  if (file.get() >= 0) {
    if (const int error = write_and_sync(file.get(), source, mode); error != 0) return error;
    static_cast<void>(try_lock(file.get()));
    const auto link = [&](const std::string& free) { return link_file(file.get(), free); };
    linked = with_free_name(target, name, link) == 0;
  }
  if (!linked) {
    const auto make = [&](const std::string& free) {
      constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
      file = FileDescriptor(::open(free.c_str(), kFlags, 0666));
      if (file.get() < 0) return errno;
      // Another program may have taken it for a leftover before it was locked.
      const bool kept = try_lock(file.get()) != LockOutcome::kTaken && is_named(file.get(), free);
      return kept ? 0 : EEXIST;
    };
    int error = with_free_name(target, name, make);
    if (error != 0) return error;
    try {
      error = write_and_sync(file.get(), source, mode);
    } catch (...) {
      ::unlink(name.c_str());
      throw;
    }
    if (error != 0) {
      ::unlink(name.c_str());
      return error;
    }
  }
  return 0;
}

/// Replaces the target by a new file. 0 or the error number.
int replace_file(const std::string& target, const ByteSource& source, std::optional<mode_t> mode) {
  NewFile made;
  if (const int error = make_file(target, source, mode, made); error != 0) return error;
  if (::rename(made.name.c_str(), target.c_str()) == 0) return 0;
  const int error = errno;
  ::unlink(made.name.c_str());
  return error;
}

/// The target of a link, or `path` itself for a link to nothing, which the new file will replace.
std::string followed(const std::string& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::canonical(path, error);
  return error ? path : target.string();
}

/// Whether the path is the file to which the shell sends a stream of the program. A new file of that name would not have
/// what the program prints.
bool is_stream(const std::string& path, int stream) {
  struct stat file {};
  struct stat open_file {};
  return ::stat(path.c_str(), &file) == 0 && ::fstat(stream, &open_file) == 0 &&
         file.st_dev == open_file.st_dev && file.st_ino == open_file.st_ino;
}

std::string advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "; free some space or choose another file";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; choose a file in a directory you may write to";
    default:
      return "";
  }
}

}  // namespace

std::string directory_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::string checked_output_path(const std::string& path, const std::string& place) {
  const auto refuse = [&](const std::string& message) { throw InputError(place, message); };
  if (path.empty()) refuse("the path is empty; give a file, such as results.h5");
  std::error_code error;
  fs::path target(path);
  if (fs::is_directory(target, error)) {
    refuse("'" + path + "' is a directory; give a file in it, such as '" +
           (target / "results.h5").string() + "'");
  }
  if (!target.has_filename()) {
    refuse("directory '" + path +
           "' does not exist and names no file; give a file, such as "
           "results.h5");
  }
  target = followed(path);
  const std::string directory = directory_of(target.string());
  if (!fs::is_directory(directory, error)) {
    refuse("directory '" + directory + "' of '" + path +
           (fs::exists(directory, error) ? "' is not a directory; choose another file"
                                         : "' does not exist; create it or choose another file"));
  }
  if (fs::exists(target, error)) {
    // Renaming over a device such as /dev/null would take the device away.
    if (!fs::is_regular_file(target, error)) {
      refuse("'" + path + "' is not a regular file; give a file, such as results.h5");
    }
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      if (!is_stream(target.string(), stream)) continue;
      refuse("'" + path + "' is where standard " + (stream == STDOUT_FILENO ? "output" : "error") +
             " goes, and what the program prints there would be lost; give another file");
    }
    if (::access(target.c_str(), W_OK) != 0) {
      refuse("'" + path + "' cannot be overwritten (" + reason(errno) +
             "); remove it or choose another file");
    }
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    refuse("cannot write in directory '" + directory + "' (" + reason(errno) +
           "); choose a file in a directory you may write to");
  }
  return target.string();
}

void check_outputs_differ(const std::vector<NamedFile>& outputs,
                          const std::vector<NamedFile>& inputs) {
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code error;
    if (fs::equivalent(a, b, error)) return true;
    return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const NamedFile& input : inputs) {
      if (!same(outputs[i].path, input.path)) continue;
      throw InputError(outputs[i].flag, "'" + printable(outputs[i].path) + "' is what " +
                                            input.flag +
                                            " reads and would be overwritten; choose another file");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (!same(outputs[i].path, outputs[j].path)) continue;
      throw InputError(outputs[i].flag, "'" + printable(outputs[i].path) + "' is where " +
                                            outputs[j].flag +
                                            " writes as well; choose another file");
    }
  }
}

void sync_directory(const std::string& path) {
  const FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A failure is ignored because some file systems cannot sync a directory.
  if (directory.get() >= 0) static_cast<void>(::fsync(directory.get()));
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  write_file_atomically(path, [bytes](const ByteSink& sink) { sink(bytes); });
}

void write_file_atomically(const std::string& path, const ByteSource& source) {
  const std::string target = followed(path);
  struct stat found {};
  // Renaming over a device such as /dev/null would take the device away.
  const bool exists = ::stat(target.c_str(), &found) == 0;
  if (exists && !S_ISREG(found.st_mode)) {
    throw InputError("cannot write '" + path + "': it is " +
                     (S_ISDIR(found.st_mode) ? "a directory" : "not a regular file") +
                     "; choose another file");
  }
  const auto mode = exists ? std::optional<mode_t>(found.st_mode & 07777) : std::nullopt;
  if (const int error = replace_file(target, source, mode); error != 0) {
    throw InputError("cannot write '" + path + "': " + reason(error) + advice(error));
  }
  sync_directory(directory_of(target));
}

bool write_new_file(const std::string& path, std::string_view bytes) {
  NewFile made;
  int error = make_file(
      path, [bytes](const ByteSink& sink) { sink(bytes); }, std::nullopt, made);
  if (error == 0) {
    if (::link(made.name.c_str(), path.c_str()) != 0) error = errno;
    ::unlink(made.name.c_str());
  }
  if (error == EEXIST) return false;
  if (error != 0) {
    throw InputError("cannot write '" + path + "': " + reason(error) + advice(error));
  }
  sync_directory(directory_of(path));
  return true;
}

}  // namespace corun::inline support
