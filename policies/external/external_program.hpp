#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "policies/external/external_process.hpp"
#include "policies/parameters_of.hpp"

/// A program of the user that answers questions for a policy: one JSON value per line each way. Each of its mistakes is
/// a PolicyError that names the policy and the broken rule.
namespace corun::inline policies {

struct ExternalProgramOptions {
  std::vector<std::string> command;
  double timeout_s = 60;
};

const ParametersOf<ExternalProgramOptions>& external_program_parameters();

class ExternalProgram {
 public:
  using Json = nlohmann::ordered_json;

  /// `policy`: its name, for errors; must outlive this. `stop`: PolicyContext::stop.
  ExternalProgram(std::string_view policy, ExternalProgramOptions options,
                  const std::atomic<bool>* stop);

  bool started() const { return process_.has_value(); }
  /// Starts the program and says `hello`. The program must answer with the same "protocol" and "version", and may add
  /// the key `more` (empty: none), whose value is returned.
  std::optional<Json> greet(const Json& hello, std::string_view more = {});
  /// The answer to a line.
  Json ask(const std::string& line);

  /// The last answer in quotes, as received; a long one is cut.
  std::string answered() const;
  /// The program's name and a space: the beginning of a sentence.
  std::string name() const;
  [[noreturn]] void refuse(const char* rule, const std::string& found) const;

  /// The result of `work`, whose ExternalErrors break this rule.
  template <typename Work>
  std::invoke_result_t<Work> obey(const char* rule, Work work) const {
    try {
      return work();
    } catch (const ExternalError& e) {
      refuse(rule, name() + e.what());
    }
  }

 private:
  std::string_view policy_;
  std::vector<std::string> command_;
  std::chrono::milliseconds timeout_;
  const std::atomic<bool>* stop_;
  std::optional<ExternalProcess> process_;
  std::string answer_;  ///< the last one, as received
};

}  // namespace corun::inline policies
