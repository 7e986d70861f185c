#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "experiments/live/jobs/live_config.hpp"
#include "experiments/live/validation/validation.hpp"

/// A directory that `corun live run` has left, policy by policy beside the simulator (validation.hpp).
namespace corun::live {

struct RunValidation {
  std::string gpu;
  int gpus = 1;
  std::shared_ptr<const Trace> queue;
  std::vector<PolicyValidation> policies;  ///< those that have run
  std::vector<std::string> notes;          ///< what the user should know besides
  std::vector<std::string> files;          ///< that were read
};

struct ValidationRequest {
  std::string directory;
  const LiveConfig* live = nullptr;        ///< the run must be of its queue; null: of any
  std::span<const std::string> overrides;  ///< KEY=VALUE, those of live keys are passed over
  std::string data;                        ///< directory of public data, may be empty
};

/// InputError where files are missing or not of one run, or no policy came to its end.
RunValidation validate_run(const ValidationRequest& request);

}  // namespace corun::live
