#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/sweep_journal.hpp"
#include "sim/records/metrics.hpp"
#include "support/yaml_tree.hpp"

/// When a point of a sweep needs no more replications (docs/design.md, 4.24). The rule sees the point's
/// own replications alone, in their order, at counts that are fixed in advance: any number of threads and workers stops at
/// the same one.
namespace corun::inline runner {

struct SweepUntil {
  enum class Of : std::uint8_t {
    kPolicies,  ///< the mean of each policy
    kDifferences  ///< the difference of each policy from the best one, unless they differ significantly
  };

  double width = 0;  ///< half of an interval, as a share of the mean; 0: there is no rule
  Of of = Of::kPolicies;
  std::vector<Metric> metrics{Metric::kIsd};

  bool any() const { return width > 0; }
  /// As the section `sweep.until`, in one line of YAML.
  std::string text() const;
};

/// Reads the section `sweep.until`. InputError with its place.
SweepUntil read_sweep_until(const YamlNode& section);

/// The first count of replications at which the rule is applied, and the one after `count`: 3, 5, 8, 12, 18, ..., `most`.
std::size_t next_look(std::size_t count, std::size_t most);

/// Runs of a point's first replications. Policies that decide from the true costs are not asked about.
struct SweepPointRuns {
  std::vector<std::vector<SweepRun>> runs;  ///< by replication and policy
  std::vector<bool> granted_truth;          ///< by policy
};

/// Whether the rule is met by the first `count` replications of a point, the `look`-th count that is looked at (from 1).
bool is_enough(const SweepUntil& until, const SweepPointRuns& point, std::size_t count,
               std::size_t look);

/// How far a point is.
struct SweepNeed {
  std::size_t count =
      0;             ///< the replications that it needs, or up to the next look, the first ones
  bool met = false;  ///< no more are needed, and these are there
};

/// What a point with at most `most` replications needs, if it has those that `runs_of` gives (null for one that it has not).
/// Adds the runs that it asks for to `point`, which may have the first ones already.
SweepNeed need_of(const SweepUntil& until, std::size_t most, SweepPointRuns& point,
                  const std::function<std::optional<std::vector<SweepRun>>(std::size_t)>& runs_of);

}  // namespace corun::inline runner
