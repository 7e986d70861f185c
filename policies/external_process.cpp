#include "policies/external_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/text.hpp"

namespace corun {

namespace {

using Clock = std::chrono::steady_clock;
using Pause = std::chrono::microseconds;
constexpr Pause kLongestPause{20'000};
/// Interval of looks at `stop` during a wait.
constexpr std::chrono::milliseconds kStopPause{50};

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

ExternalProcess::ExternalProcess(const std::vector<std::string>& command,
                                 const std::atomic<bool>* stop)
    : stop_(stop) {
  // A pair of sockets instead of two pipes: writing to a program that has ended is then an error, not a
  // signal that ends this process.
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw ExternalError("cannot be started: " + reason(errno));
  }
  socket_ = ends[0];
  fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int error =
      posix_spawnp(&child_, arguments.front(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(socket_);
    throw ExternalError("cannot be started: " + printable(command.front()) + ": " + reason(error));
  }
}

ExternalProcess::~ExternalProcess() { end(std::chrono::seconds{2}); }

std::string ExternalProcess::end(std::chrono::milliseconds patience) {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (child_ < 0) return "has ended";
  int status = 0;
  const auto last = Clock::now() + patience;
  bool killed = false;
  for (Pause pause{100};; pause = std::min<Pause>(2 * pause, kLongestPause)) {
    const pid_t ended = waitpid(child_, &status, WNOHANG);
    if (ended == child_ || (ended < 0 && errno != EINTR)) break;
    if (Clock::now() >= last || stopped()) {
      kill(-child_, SIGKILL);
      killed = true;
      while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
      }
      break;
    }
    std::this_thread::sleep_for(pause);
  }
  child_ = -1;
  if (killed) return "closed its standard output";
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

std::string ExternalProcess::ask(const std::string& line, std::chrono::milliseconds timeout) {
  if (socket_ < 0) throw ExternalError("has ended");
  char unasked = 0;
  if (recv(socket_, &unasked, 1, MSG_DONTWAIT) > 0) {
    throw ExternalError("wrote a line before it was asked");
  }
  send_and_receive(line + '\n', timeout);
  std::string answer = std::move(received_);
  received_.clear();
  if (answer.find('\n') != answer.size() - 1) {
    throw ExternalError("answered with more than one line: " + printable(answer));
  }
  answer.pop_back();
  return answer;
}

void ExternalProcess::send_and_receive(const std::string& line, std::chrono::milliseconds timeout) {
  const auto last = Clock::now() + timeout;
  std::string_view left = line;
  std::array<char, 65536> buffer;
  // Sends and receives at the same time: a program may write before it has read all.
  while (!left.empty() || received_.empty() || received_.back() != '\n') {
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(last - Clock::now());
    pollfd poll_one{socket_, static_cast<short>(left.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    const int ready =
        wait.count() <= 0
            ? 0
            : poll(&poll_one, 1, static_cast<int>(std::min(wait, kStopPause).count()));
    if (stopped()) {
      end(std::chrono::seconds{0});
      throw ExternalError("was stopped");
    }
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      if (wait > kStopPause) continue;
      kill(-child_, SIGKILL);
      end(std::chrono::seconds{2});
      throw ExternalError("gave no answer within " + std::to_string(timeout.count()) + " ms");
    }
    if (!left.empty() && (poll_one.revents & POLLOUT) != 0) {
      const ssize_t sent = send(socket_, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent > 0) left.remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
        throw ExternalError(end(std::chrono::seconds{1}));
      }
    }
    if ((poll_one.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      const ssize_t got = recv(socket_, buffer.data(), buffer.size(), 0);
      if (got == 0 || (got < 0 && errno == ECONNRESET)) {
        throw ExternalError(end(std::chrono::seconds{1}));
      }
      if (got > 0) received_.append(buffer.data(), static_cast<std::size_t>(got));
      if (received_.size() > kLongestAnswer) {
        throw ExternalError("answered with more than " + std::to_string(kLongestAnswer >> 20) +
                            " MiB");
      }
    }
  }
}

}  // namespace corun
