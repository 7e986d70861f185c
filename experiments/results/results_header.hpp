#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/base/json.hpp"

/// What determines a results file beside the replications themselves. No clock, no thread count, no
/// device, no output path: those go to the run file (run_info.hpp).
namespace corun {

class Experiment;
struct PolicyInstance;

inline constexpr int kResultsSchemaVersion = 1;

struct PolicyHeader {
  std::string label;       ///< how the output calls it; all different
  std::string name;        ///< in the catalogue
  std::string parameters;  ///< JSON text
  bool granted_truth = false;
};

struct ResultsHeader {
  std::string corun_version;
  std::string commit;
  std::string config;  ///< the effective configuration, YAML
  std::uint64_t seed = 0;
  std::vector<std::string> inputs;     ///< "sha256:... FILE" of every file that was read
  std::vector<PolicyHeader> policies;  ///< in the order of Replication::runs
  std::string measured_on;             ///< the GPU of a live run; empty: simulated
};

/// What a results file of this experiment says of itself.
ResultsHeader results_header(const Experiment& experiment);

/// The parameters of a policy as JSON: those given and the fallbacks of the others.
Json parameters_json(const PolicyInstance& policy);

}  // namespace corun
