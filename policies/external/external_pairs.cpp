#include "policies/external/external_pairs.hpp"

#include <cstdint>

#include "policies/external/external_process.hpp"
#include "sim/base/text.hpp"

namespace corun::inline policies {

std::string ExternalPairs::reply(const nlohmann::ordered_json& asked) {
  constexpr const char* kExpected = R"(, expected pairs of job numbers, {"ask": [[3, 5], [3, 7]]})";
  if (!asked.is_array() || asked.empty()) {
    throw ExternalError("asked for '" + printable(asked.dump()) + "'" + kExpected);
  }
  if (++questions_ > kMostQuestions) {
    throw ExternalError("asked for pairs more than " + std::to_string(kMostQuestions) +
                        " times before its decisions; ask for many pairs at once");
  }
  if (asked.size() > left_) {
    throw ExternalError("asked for more than " + std::to_string(kMost) +
                        " pairs before its decisions; ask for fewer");
  }
  left_ -= asked.size();
  // Written pair by pair: a million of them as one JSON value would need gigabytes.
  std::string line = R"({"pairs":[)";
  for (const auto& pair : asked) {
    if (!pair.is_array() || pair.size() != 2 || pair[0] == pair[1]) {
      throw ExternalError("asked for the pair '" + printable(pair.dump()) + "'" + kExpected +
                          ", two different jobs each");
    }
    const JobId a = job(pair[0]);
    const JobId b = job(pair[1]);
    const PairBelief cost = belief_.pair(a, b);
    const PairSpeeds speed = belief_.pair_speeds(a, b);
    const nlohmann::ordered_json expected{
        {"isd", {cost.isd_a, cost.isd_b}},  {"ps", cost.ps},       {"speed", {speed.a, speed.b}},
        {"sd_isd", {cost.sd_a, cost.sd_b}}, {"sd_ps", cost.sd_ps}, {"co_runs", cost.co_runs},
        {"observed", cost.observed}};
    if (line.back() != '[') line += ',';
    line += expected.dump();
  }
  return line + "]}";
}

JobId ExternalPairs::job(const nlohmann::ordered_json& number) const {
  if (number.is_number_unsigned() && number.get<std::uint64_t>() < index(kNoJob)) {
    const JobId job{number.get<std::uint32_t>()};
    if (in_system_.contains(job)) return job;
  }
  throw ExternalError("asked for a pair with '" + printable(number.dump()) +
                      "', expected the number of a job that waits or runs");
}

}  // namespace corun::inline policies
