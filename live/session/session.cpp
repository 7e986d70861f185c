#include "live/session/session.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/file_lock.hpp"

namespace corun::live {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "corun-live-";
constexpr const char* kLock = "lock";

/// A user who is not root can empty a folder only with all rights to it.
void permit(const fs::path& folder) {
  std::error_code ignored;
  fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, ignored);
}

/// Removes a directory with its contents, whatever rights a job left.
bool remove_tree(const fs::path& directory) {
  std::error_code error;
  fs::remove_all(directory, error);
  if (!error) return true;
  permit(directory);
  for (auto at = fs::recursive_directory_iterator(directory, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->symlink_status(ignored).type() == fs::file_type::directory) permit(at->path());
  }
  fs::remove_all(directory, error);
  return !error;
}

/// Removes a session's directory, its lock last: without the lock remove_stale() would leave what remains.
void remove_session(const fs::path& directory) {
  permit(directory);
  std::error_code error;
  bool emptied = true;
  for (auto at = fs::directory_iterator(directory, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (at->path().filename() != kLock) emptied &= remove_tree(at->path());
  }
  if (emptied && !error) remove_tree(directory);
}

/// Makes a directory and takes its lock. Returns its path; empty, with errno set, if that fails.
std::string make_locked(const std::string& pattern) {
  for (;;) {
    std::string path = pattern;
    if (mkdtemp(path.data()) == nullptr) return "";
    const int lock = open((path + "/" + kLock).c_str(), O_RDWR | O_CREAT, 0600);
    const LockOutcome outcome = lock < 0 ? LockOutcome::kUnavailable : try_lock(lock);
    struct stat held {};
    if (outcome == LockOutcome::kHeld && fstat(lock, &held) == 0 && held.st_nlink > 0) return path;
    if (outcome == LockOutcome::kUnavailable) {
      const int why = errno;
      remove_tree(path);
      errno = why;
      return "";
    }
    close(lock);  // remove_stale() of another corun took the lock first: it removes this directory
  }
}

/// Runs in the new process: makes the directory, holds its lock during the session and removes it afterwards.
/// Because corun itself does not make it, the directory cannot stay behind when corun is killed.
[[noreturn]] void become_janitor(int lifeline, int answer, const std::string& pattern) {
  prctl(PR_SET_NAME, "corun-janitor");
  prctl(PR_SET_PDEATHSIG, SIGCONT);  // a stopped janitor continues when corun ends
  setpgid(0, 0);  // Ctrl-C must not reach it; it stays in corun's session (strays.hpp)
  // It blocks all signals: it must outlive a session that a signal ends.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  const int line = fcntl(lifeline, F_DUPFD, 100);
  const int told = fcntl(answer, F_DUPFD, 100);
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
  dup2(line, 3);
  dup2(told, 4);
  close_range(5, ~0U, 0);
  [[maybe_unused]] const int moved = chdir("/");
  const std::string directory = make_locked(pattern);
  const std::string answered = !directory.empty() ? directory : "!" + std::to_string(errno);
  [[maybe_unused]] const ssize_t sent = write(4, answered.data(), answered.size());
  close(4);
  char nothing = 0;
  while (read(3, &nothing, 1) < 0 && errno == EINTR) {
  }
  if (!directory.empty()) remove_session(directory);
  _exit(0);
}

}  // namespace

Session::Session(std::string parent) {
  if (parent.empty()) {
    const char* set = std::getenv("TMPDIR");
    parent = set != nullptr && *set == '/' ? set : "/tmp";
  }
  remove_stale(parent);
  // The janitor works in /, so the path must be absolute.
  const std::string pattern = (fs::absolute(parent) / (std::string(kPrefix) + "XXXXXX")).string();
  int line[2] = {-1, -1};
  int answer[2] = {-1, -1};
  if (pipe2(line, O_CLOEXEC) == 0 && pipe2(answer, O_CLOEXEC) == 0) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    janitor_ = fork();
    if (janitor_ == 0) become_janitor(line[0], answer[1], pattern);
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  int why = errno;
  for (const int fd : {line[0], answer[1]}) {
    if (fd >= 0) close(fd);
  }
  std::string told;
  if (janitor_ > 0) {
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t got = read(answer[0], buffer.data(), buffer.size());
      if (got > 0) told.append(buffer.data(), static_cast<std::size_t>(got));
      if (got == 0 || (got < 0 && errno != EINTR)) break;
    }
  }
  if (answer[0] >= 0) close(answer[0]);
  if (told.empty() || told[0] == '!') {
    if (line[1] >= 0) close(line[1]);
    if (janitor_ > 0) waitpid(janitor_, nullptr, 0);
    if (!told.empty()) why = std::atoi(told.c_str() + 1);
    throw DeviceError("no directory can be made in '" + printable(parent) +
                      "': " + std::strerror(why) + "; set TMPDIR to one that can be written");
  }
  directory_ = told;
  lifeline_ = line[1];
}

Session::~Session() {
  close(lifeline_);
  kill(janitor_, SIGCONT);  // in case a job stopped it; no job is left that could do so again
  while (waitpid(janitor_, nullptr, 0) < 0 && errno == EINTR) {
  }
  remove_session(directory_);  // it is there if a job killed the janitor
}

std::string Session::make_directory(const std::string& name) {
  std::string path = directory_ + "/" + std::to_string(made_++) + "-" + name;
  if (mkdir(path.c_str(), 0700) != 0) {
    throw DeviceError("no directory '" + printable(path) +
                      "' can be made: " + std::strerror(errno));
  }
  return path;
}

int Session::remove_stale(const std::string& parent) {
  int removed = 0;
  std::error_code error;
  for (auto at = fs::directory_iterator(parent, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (!at->path().filename().string().starts_with(kPrefix)) continue;
    struct stat what {};
    if (lstat(at->path().c_str(), &what) != 0 || !S_ISDIR(what.st_mode) ||
        what.st_uid != geteuid()) {
      continue;
    }
    const int lock = open((at->path() / kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) continue;  // about to be made, or not a session's
    if (try_lock(lock) == LockOutcome::kHeld) {
      remove_session(at->path());
      ++removed;
    }
    close(lock);
  }
  return removed;
}

}  // namespace corun::live
