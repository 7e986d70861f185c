#include "policies/external/external_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline policies {

namespace {

using Clock = std::chrono::steady_clock;
/// Interval of looks at `stop` and at the guard during a wait.
constexpr std::chrono::milliseconds kStopPause{50};

std::string reason(int error) { return std::generic_category().message(error); }

Command with_dialogue(const std::vector<std::string>& words, int dialogue) {
  Command command;
  command.argv = words;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    command.environment.emplace_back(*variable);
  }
  command.dialogue = dialogue;
  command.limits.grace = Duration::zero();
  command.limits.disk_free_bytes = 0;
  return command;
}

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
  std::string wrong;
  try {
    process_.emplace(with_dialogue(command, ends[1]), -1, "");
    process_->start();
  } catch (const InputError& e) {
    wrong = e.what();
  } catch (const DeviceError& e) {
    wrong = e.what();
  }
  close(ends[1]);
  if (!wrong.empty()) {
    close(socket_);
    throw ExternalError("cannot be started: " + wrong);
  }
}

ExternalProcess::~ExternalProcess() { end(std::chrono::seconds{2}); }

std::string ExternalProcess::end(Duration patience) {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (!process_) return "has ended";
  const Time last = monotonic_now() + patience;
  bool over = process_->poll();
  while (!over && !stopped() && monotonic_now() < last) {
    over = process_->wait_until(std::min(last, monotonic_now() + kStopPause));
  }
  const Ending ending = process_->ending();
  process_.reset();  // kills it if it still runs
  if (!over) return "closed its standard output";
  if (!ending.ran && !ending.guard_lost) return "cannot be started: " + reason(ending.error);
  if (ending.guard_lost) return "has lost its guard process";
  if (ending.stopped != Stopped::kNo) return "was " + describe(ending);
  if (WIFSIGNALED(ending.status))
    return "was ended by signal " + std::to_string(WTERMSIG(ending.status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(ending.status));
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
      end(Duration::zero());
      throw ExternalError("was stopped");
    }
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      if (process_->poll()) throw ExternalError(end(Duration::zero()));
      if (wait > kStopPause) continue;
      end(Duration::zero());
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

}  // namespace corun::inline policies
