#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/types.h>

/// A program that answers line for line, run beside the simulation.
namespace corun {

/// What went wrong with it, in words that follow on from its name.
class ExternalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ExternalProcess {
 public:
  /// Starts `command`: a program, looked up on PATH where it is no path, and its arguments. No shell is
  /// involved. Standard input and output are ours, standard error is that of this program. It leads a
  /// process group of its own: Ctrl-C is ours to act upon, and with it go those that it has started.
  /// Once `stop` is set, where given, nothing is waited for any more. Throws ExternalError where it
  /// cannot be started.
  explicit ExternalProcess(const std::vector<std::string>& command,
                           const std::atomic<bool>* stop = nullptr);
  /// Closes its standard input, waits a while for it to end, else kills it; it is always reaped.
  ~ExternalProcess();
  ExternalProcess(const ExternalProcess&) = delete;
  ExternalProcess& operator=(const ExternalProcess&) = delete;

  /// Sends a line, which holds no line break, and waits for the answer: one line, without its line break.
  /// Throws ExternalError where that has not come after `timeout` or when all is to stop (the program is
  /// killed then), where the program ends instead, or where it says more than a line.
  std::string ask(const std::string& line, std::chrono::milliseconds timeout);

  /// An answer longer than this is refused.
  static constexpr std::size_t kLongestAnswer = 16 << 20;

 private:
  /// How it ended; kills it if it has not within `patience`.
  std::string end(std::chrono::milliseconds patience);
  bool stopped() const { return stop_ != nullptr && stop_->load(); }
  void send_and_receive(const std::string& line, std::chrono::milliseconds timeout);

  const std::atomic<bool>* stop_;
  int socket_ = -1;
  pid_t child_ = -1;
  std::string received_;
};

}  // namespace corun
