#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/experiment/policy_instances.hpp"
#include "sim/cluster_spec.hpp"

/// Which settings of a replay were ever held against a run on a real cluster, and with what error.
namespace corun::inline runner {

/// A policy whose simulated run was compared with a real one: `corun validate`, given the policy. Errors are |simulated /
/// real - 1|, the largest over the runs on which parameters were fitted; docs/validity.md has all of them, and a test
/// computes these again.
struct RealRun {
  std::string_view policy;    ///< in the catalogue
  std::string_view gpu_type;  ///< the beginning of its name; as the authors of the run call it
  std::string_view run;       ///< folder of the run in its data set
  std::string_view source;
  double mean_jct_error = 0;
  double makespan_error = 0;
  double job_error_median = 0;
  double job_error_p90 = 0;
};

/// All of them; in none of them jobs shared a GPU.
std::span<const RealRun> real_runs();

/// The real run of a policy's setting: the policy, GPUs of its type alone, no sharing of GPUs. Null if there is none.
const RealRun* real_run_of(const PolicyInstance& policy, const ClusterSpec& cluster);

/// One line about a replay: "held against a real run: max-min (mean JCT within 1.8 %, ...); not: fifo; docs/validity.md".
std::string real_runs_text(const std::vector<PolicyInstance>& policies, const ClusterSpec& cluster);

}  // namespace corun::inline runner
