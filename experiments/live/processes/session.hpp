#pragma once

#include <string>

#include <sys/types.h>

/// One session of live work: a private directory, and somebody who clears it away.
///
/// A janitor process, made first, waits on a pipe that corun and every guard hold open. It ends with the
/// last of them, corun killed or not, and then removes the directory: whatever was put into it (the jobs'
/// TMPDIR, the pipes of an MPS daemon) is gone once nobody is left who uses it. Directories of sessions
/// whose janitor was killed as well are removed by the next session.
namespace corun::live {

class Session {
 public:
  /// Makes `PARENT/corun-live-XXXXXX`, for this user only. An empty parent is $TMPDIR, else /tmp.
  /// DeviceError where that cannot be.
  explicit Session(std::string parent = "");
  /// Waits until the janitor has removed the directory. All guards must be gone by then.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& directory() const { return directory_; }
  /// A new directory in it, named after `name`.
  std::string make_directory(const std::string& name);
  /// To be held open by guards (supervisor.hpp).
  int lifeline() const { return lifeline_; }

  /// Kills and reaps what fell to corun because its guard was killed; returns how many processes.
  int clear_strays();

  /// Removes directories of sessions that nobody holds any more; returns how many. Directories of other
  /// users and of sessions that live are left alone.
  static int remove_stale(const std::string& parent);

 private:
  std::string directory_;
  int lifeline_ = -1;
  pid_t janitor_ = 0;
  int made_ = 0;
};

}  // namespace corun::live
