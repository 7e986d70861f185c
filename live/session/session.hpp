#pragma once

#include <string>

#include <sys/types.h>

/// One session of live work: a private directory, and a janitor process that removes it.
///
/// The janitor, started first, waits on a pipe that corun and every guard hold open. When the last of them
/// has ended, killed or not, it removes the directory with its contents (the jobs' TMPDIR, the pipes of an
/// MPS daemon). If the janitor was killed as well, the next session removes the directory.
namespace corun::live {

class Session {
 public:
  /// Makes `PARENT/corun-live-XXXXXX`, for this user only. An empty parent is $TMPDIR, else /tmp. Throws
  /// DeviceError if it cannot be made.
  explicit Session(std::string parent = "");
  /// Waits until the janitor has removed the directory. All guards must be gone by then.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& directory() const { return directory_; }
  /// Makes a directory in it, NUMBER-`name`; returns its path. Throws DeviceError if it cannot be made.
  std::string make_directory(const std::string& name);
  /// A descriptor that guards hold open (supervisor.hpp).
  int lifeline() const { return lifeline_; }

  /// Removes the directories of this user's ended sessions from `parent`; returns how many. Those of running
  /// sessions and of other users are left alone.
  static int remove_stale(const std::string& parent);

 private:
  std::string directory_;
  int lifeline_ = -1;
  pid_t janitor_ = 0;
  int made_ = 0;
};

}  // namespace corun::live
