#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The value of `cluster.start.costs`: what a start of a job costs, by its workload.
namespace corun::inline runner {

struct StartCost {
  std::string name;    ///< of a workload, or of its model
  double seconds = 0;  ///< at full speed
};

/// "ResNet-50=14.4,LM=31": the names once each, the seconds from 0 to 1e9. InputError at `place`.
std::vector<StartCost> parse_start_costs(const std::string& text, const std::string& place);
/// The opposite.
std::string text_of(const std::vector<StartCost>& costs);

/// The cost that names this workload; else the one that names its model, the part before the first '/' or '|'; else null.
const StartCost* find_start_cost(const std::vector<StartCost>& costs, std::string_view workload);

}  // namespace corun::inline runner
