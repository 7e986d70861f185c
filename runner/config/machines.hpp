#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Nodes of a cluster as text: "4x8:V100-16GB+2x4:T4" is 4 nodes of 8 V100 and 2 nodes of 4 T4.
namespace corun::inline runner {

struct Machines {
  std::int64_t nodes = 0;
  std::int64_t gpus_per_node = 0;
  std::string gpu_type;  ///< as written; empty if the text has none
};

/// All parts have a type, or there is one part without. InputError at `place` for any other text.
std::vector<Machines> parse_machines(const std::string& text, const std::string& place);

}  // namespace corun::inline runner
