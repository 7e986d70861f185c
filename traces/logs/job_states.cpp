#include "traces/logs/job_states.hpp"

#include <algorithm>
#include <array>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/logs/cells.hpp"

namespace corun::inline traces {
namespace {

constexpr std::array<std::string_view, kJobStates> kStateNames = {
    "completed", "failed",    "cancelled", "timeout", "node-fail",
    "oom",       "preempted", "running",   "pending"};

struct Word {
  std::string_view text;  ///< in lower case, "_" and blanks as "-"
  JobState state;
};
constexpr std::array kWords = std::to_array<Word>({
    {"completed", JobState::kCompleted},
    {"cd", JobState::kCompleted},
    {"complete", JobState::kCompleted},
    {"3", JobState::kCompleted},
    {"succeeded", JobState::kCompleted},
    {"success", JobState::kCompleted},
    {"pass", JobState::kCompleted},
    {"passed", JobState::kCompleted},
    {"terminated", JobState::kCompleted},
    {"finished", JobState::kCompleted},
    {"done", JobState::kCompleted},
    {"failed", JobState::kFailed},
    {"fail", JobState::kFailed},
    {"f", JobState::kFailed},
    {"5", JobState::kFailed},
    {"error", JobState::kFailed},
    {"boot-fail", JobState::kFailed},
    {"bf", JobState::kFailed},
    {"9", JobState::kFailed},
    {"deadline", JobState::kFailed},
    {"dl", JobState::kFailed},
    {"10", JobState::kFailed},
    {"cancelled", JobState::kCancelled},
    {"canceled", JobState::kCancelled},
    {"ca", JobState::kCancelled},
    {"4", JobState::kCancelled},
    {"killed", JobState::kCancelled},
    {"stopped", JobState::kCancelled},
    {"revoked", JobState::kCancelled},
    {"timeout", JobState::kTimeout},
    {"to", JobState::kTimeout},
    {"6", JobState::kTimeout},
    {"node-fail", JobState::kNodeFail},
    {"nf", JobState::kNodeFail},
    {"7", JobState::kNodeFail},
    {"out-of-memory", JobState::kOutOfMemory},
    {"out-of-me", JobState::kOutOfMemory},
    {"oom", JobState::kOutOfMemory},
    {"oomkilled", JobState::kOutOfMemory},
    {"11", JobState::kOutOfMemory},
    {"preempted", JobState::kPreempted},
    {"pr", JobState::kPreempted},
    {"8", JobState::kPreempted},
    {"evicted", JobState::kPreempted},
    {"running", JobState::kRunning},
    {"r", JobState::kRunning},
    {"1", JobState::kRunning},
    {"suspended", JobState::kRunning},
    {"s", JobState::kRunning},
    {"2", JobState::kRunning},
    {"completing", JobState::kRunning},
    {"cg", JobState::kRunning},
    {"requeued", JobState::kRunning},
    {"rq", JobState::kRunning},
    {"resizing", JobState::kRunning},
    {"pending", JobState::kPending},
    {"pd", JobState::kPending},
    {"0", JobState::kPending},
    {"waiting", JobState::kPending},
    {"queued", JobState::kPending},
    {"queuing", JobState::kPending},
    {"configuring", JobState::kPending},
    {"cf", JobState::kPending},
    {"submitted", JobState::kPending},
});

}  // namespace

std::string_view name_of(JobState state) { return kStateNames.at(static_cast<std::size_t>(state)); }

bool has_ended(JobState state) {
  return state != JobState::kRunning && state != JobState::kPending;
}

std::optional<JobState> parse_job_state(std::string_view text) {
  std::string word = lower_case(trimmed(text));
  if (word.starts_with("cancelled by ")) word.resize(9);  // "CANCELLED by 1000"
  if (word.ends_with('+')) word.pop_back();               // sacct cuts long words so
  for (char& c : word) {
    if (c == '_' || c == ' ') c = '-';
  }
  for (const Word& known : kWords) {
    if (known.text == word) return known.state;
  }
  return std::nullopt;
}

ChosenStates parse_chosen_states(const std::string& text, const std::string& place) {
  ChosenStates chosen;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string word = lower_case(trimmed(std::string_view(text).substr(from, to - from)));
    from = to + 1;
    if (word == "ended") {
      for (int s = 0; s < kJobStates; ++s) {
        if (has_ended(static_cast<JobState>(s))) chosen.bits |= 1U << static_cast<unsigned>(s);
      }
      continue;
    }
    const auto state = parse_job_state(word);
    const bool number = !word.empty() && word.front() >= '0' && word.front() <= '9';
    if (!state || number) {
      std::vector<std::string_view> known(kStateNames.begin(), kStateNames.end());
      known.push_back("ended");
      throw InputError(place, "found '" + printable(word) +
                                  "', expected states of jobs: " + did_you_mean(word, known));
    }
    chosen.bits |= 1U << static_cast<unsigned>(*state);
  }
  return chosen;
}

}  // namespace corun::inline traces
