#include "policies/external/external_wakes.hpp"

#include <string>

#include "policies/external/external_process.hpp"

namespace corun::inline policies {

void ExternalWakes::new_question(Time now, bool news) {
  pending_.erase(pending_.begin(), pending_.upper_bound(now));
  idle_ = news ? 0 : idle_ + 1;
  if (idle_ > kMostIdle) {
    throw ExternalError("was woken " + std::to_string(kMostIdle) +
                        " times in a row, without an event, and started no job; ask for later "
                        "times");
  }
}

void ExternalWakes::add(Time at) {
  pending_.insert(at);
  if (pending_.size() > kMostPending) {
    throw ExternalError("asked for more than " + std::to_string(kMostPending) +
                        " wake-ups that are still to come; ask for the next ones only");
  }
}

}  // namespace corun::inline policies
