#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "live/jobs/live_config.hpp"
#include "live/validation/validation.hpp"

/// Validation of a results directory of `corun live run`, policy by policy (validation.hpp).
namespace corun::live {

struct RunValidation {
  std::string gpu;
  int gpus = 1;
  std::shared_ptr<const Trace> queue;
  std::vector<PolicyValidation> policies;  ///< those that have run
  std::vector<std::string> notes;          ///< notes for the user
  std::vector<std::string> files;          ///< that were read
};

struct ValidationRequest {
  std::string directory;
  const LiveConfig* live = nullptr;     ///< the run must be of its queue; null: of any queue
  std::span<const Override> overrides;  ///< those of live keys are ignored
  std::string data;                     ///< directory of public data, may be empty
};

/// Throws InputError if files are missing, invalid or of different runs, or if no policy has results.
RunValidation validate_run(const ValidationRequest& request);

}  // namespace corun::live
