#include "experiments/base/atomic_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/file_descriptor.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun {

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

/// 0 or the error number. `mode` empty: the permissions that the process gives to new files.
int write_and_sync(const std::string& path, std::string_view bytes, std::optional<mode_t> mode) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return errno;
  if (mode && ::fchmod(file.get(), *mode) != 0) return errno;
  if (const int error = write_all(file.get(), bytes); error != 0) return error;
  if (::fsync(file.get()) != 0) return errno;
  return file.close();
}

/// The target of a link, or `path` itself for a link to nothing, which the new file will replace.
std::string followed(const std::string& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::canonical(path, error);
  return error ? path : target.string();
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

void write_file_atomically(const std::string& path, std::string_view bytes, std::string temporary) {
  const std::string target = followed(path);
  struct stat found {};
  // Renaming over a device such as /dev/null would take the device away.
  const bool exists = ::stat(target.c_str(), &found) == 0;
  if (exists && !S_ISREG(found.st_mode)) {
    throw InputError("cannot write '" + path + "': it is " +
                     (S_ISDIR(found.st_mode) ? "a directory" : "not a regular file") +
                     "; choose another file");
  }
  if (temporary.empty()) temporary = target + ".tmp-" + std::to_string(::getpid());
  const auto mode = exists ? std::optional<mode_t>(found.st_mode & 07777) : std::nullopt;
  int error = write_and_sync(temporary, bytes, mode);
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    throw InputError("cannot write '" + path + "': " + reason(error) + advice(error));
  }
  sync_directory(directory_of(target));
}

}  // namespace corun
