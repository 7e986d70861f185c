#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "processes/supervisor.hpp"

/// A program that runs beside the simulation and answers line by line.
namespace corun::inline policies {

/// An error of the program; the message continues a sentence that begins with the program's name.
class ExternalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ExternalProcess {
 public:
  /// Starts `command`: a program (looked up on PATH if it is not a path) and its arguments, without a
  /// shell. Its standard input and output are connected to this object; it inherits standard error. It has a
  /// guard (supervisor.hpp): Ctrl-C does not reach it, and no process that it starts outlives it or corun.
  /// Once `stop` (if given) is set, no call waits any longer. Throws ExternalError if it cannot be started.
  explicit ExternalProcess(const std::vector<std::string>& command,
                           const std::atomic<bool>* stop = nullptr);
  /// Closes its standard input, waits up to 2 s for its end, then kills it; it is always reaped.
  ~ExternalProcess();
  ExternalProcess(const ExternalProcess&) = delete;
  ExternalProcess& operator=(const ExternalProcess&) = delete;

  /// Sends a line, which must have no line break, and returns the answer: one line, without its line break.
  /// Throws ExternalError if no answer has come after `timeout` or when `stop` is set (the program is
  /// killed in both cases), if the program ends, if it has written before it was asked, or if it answers
  /// more than one line.
  std::string ask(const std::string& line, std::chrono::milliseconds timeout);

  /// Bytes; a longer answer is refused.
  static constexpr std::size_t kLongestAnswer = 16 << 20;

 private:
  /// Reports how the program ended; kills it if it has not ended within `patience`.
  std::string end(Duration patience);
  bool stopped() const { return stop_ != nullptr && stop_->load(); }
  void send_and_receive(const std::string& line, std::chrono::milliseconds timeout);

  const std::atomic<bool>* stop_;
  int socket_ = -1;
  std::optional<SupervisedProcess> process_;
  std::string received_;
};

}  // namespace corun::inline policies
