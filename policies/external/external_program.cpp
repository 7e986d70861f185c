#include "policies/external/external_program.hpp"

#include <cmath>
#include <utility>

#include "models/limited_json.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline policies {

namespace {

/// No valid answer has more than five brackets in brackets; its length bounds its values.
constexpr JsonLimits kAnswerLimits{10, ExternalProcess::kLongestAnswer};

}  // namespace

const ParametersOf<ExternalProgramOptions>& external_program_parameters() {
  static const auto all =
      ParametersOf<ExternalProgramOptions>()
          .texts("command", &ExternalProgramOptions::command,
                 "the program and its arguments, e.g. [python3, policy.py]; must be given")
          .number("timeout_s", &ExternalProgramOptions::timeout_s,
                  {0.001, 1e6, "how long to wait for an answer [s]"});
  return all;
}

ExternalProgram::ExternalProgram(std::string_view policy, ExternalProgramOptions options,
                                 const std::atomic<bool>* stop)
    : policy_(policy),
      command_(std::move(options.command)),
      timeout_(static_cast<std::int64_t>(std::ceil(options.timeout_s * 1000))),
      stop_(stop) {}

std::optional<ExternalProgram::Json> ExternalProgram::greet(const Json& hello,
                                                            std::string_view more) {
  try {
    process_.emplace(command_, stop_);
  } catch (const ExternalError& e) {
    refuse("command", e.what());
  }
  const Json answer = ask(hello.dump());
  const std::string key(more);
  const bool has_more = !key.empty() && answer.is_object() && answer.contains(key);
  const Json expected{{"protocol", hello["protocol"]}, {"version", hello["version"]}};
  if (!answer.is_object() || answer.size() != (has_more ? 3 : 2) || !answer.contains("protocol") ||
      answer["protocol"] != expected["protocol"] || !answer.contains("version") ||
      answer["version"] != expected["version"]) {
    refuse("handshake", "found " + answered() +
                            ", expected {\"protocol\": " + expected["protocol"].dump() +
                            ", \"version\": " + expected["version"].dump() + "}");
  }
  if (!has_more) return std::nullopt;
  return answer[key];
}

ExternalProgram::Json ExternalProgram::ask(const std::string& line) {
  answer_ = obey("answer", [&] { return process_->ask(line, timeout_); });
  const std::string problem = json_problem(answer_, kAnswerLimits);
  if (!problem.empty()) {
    refuse("answer",
           "found " + answered() + ", expected one JSON object on one line (" + problem + ")");
  }
  return Json::parse(answer_);
}

std::string ExternalProgram::answered() const { return "'" + printable(answer_, 160) + "'"; }

std::string ExternalProgram::name() const { return "'" + printable(command_.front()) + "' "; }

void ExternalProgram::refuse(const char* rule, const std::string& found) const {
  throw PolicyError(std::string(policy_), rule, found);
}

}  // namespace corun::inline policies
