#pragma once

#include <string>
#include <vector>

#include "evaluation/validation/validation.hpp"

/// What is wrong with a run's files or declared settings, found without fitting it.
namespace corun::inline evaluation {

RunCheck check_run(const RoundWorkload& workload, const RoundRun& run, const RunParameters& p);

/// A sentence for each check that is beyond what differs between sound runs: clock by 3 %, rates by 10 %, run times
/// by 10 %; and for a run-time limit that jobs passed by more than a round and 2 %, or of which all stayed 10 % short.
std::vector<std::string> hints_of(const RoundWorkload& workload, const RoundRun& run,
                                  const RunCheck& check, double limit, double round_s);

}  // namespace corun::inline evaluation
