#include "runner/experiment/real_runs.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace corun::inline runner {

namespace {

constexpr std::string_view kShockwave =
    "Zheng et al., NSDI 2023: 120 jobs, 32 GPUs, rounds of 120 s; docs/validity.md";

/// As `corun validate realruns/shockwave --fit RUN --limit real/max-min=1.5` prints them in per cent.
constexpr std::array kRealRuns{
    RealRun{"max-min", "V100", "real/max-min", kShockwave, 0.018, 0.017, 0.065, 0.305},
    RealRun{"finish-time-fairness", "V100", "real/finish-time-fairness", kShockwave, 0.015, 0.058,
            0.039, 0.107},
    RealRun{"makespan", "V100", "real/min-makespan", kShockwave, 0.034, 0.015, 0.030, 0.188},
};

/// Whether a policy of shares lets jobs share GPUs; the policies of the table do not else.
bool shares_gpus(const PolicyInstance& policy) {
  const auto given = policy.config.settings.find("space_sharing");
  if (given == policy.config.settings.end()) return false;
  const auto* const word = std::get_if<std::string>(&given->second);
  return word == nullptr || *word != "none";
}

}  // namespace

std::span<const RealRun> real_runs() { return kRealRuns; }

const RealRun* real_run_of(const PolicyInstance& policy, const ClusterSpec& cluster) {
  const auto found = std::ranges::find(kRealRuns, policy.entry->name, &RealRun::policy);
  if (found == kRealRuns.end() || shares_gpus(policy)) return nullptr;
  const bool of_type = std::ranges::all_of(cluster.nodes, [&](const NodeSpec& node) {
    return node.gpu.name.starts_with(found->gpu_type);
  });
  return of_type ? &*found : nullptr;
}

std::string real_runs_text(const std::vector<PolicyInstance>& policies,
                           const ClusterSpec& cluster) {
  std::string held;
  std::string others;
  for (const PolicyInstance& policy : policies) {
    const RealRun* run = real_run_of(policy, cluster);
    if (run == nullptr) {
      others += (others.empty() ? "" : ", ") + policy.label;
      continue;
    }
    held += fmt::format("{}{} (mean JCT within {:.1f} %, median job {:.1f} %)",
                        held.empty() ? "" : ", ", policy.label, 100 * run->mean_jct_error,
                        100 * run->job_error_median);
  }
  if (held.empty()) return "held against a real run: none (docs/validity.md)";
  return fmt::format("held against a real run: {}{} (docs/validity.md)", held,
                     others.empty() ? "" : "; not " + others);
}

}  // namespace corun::inline runner
