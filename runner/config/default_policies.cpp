#include "runner/config/default_policies.hpp"

#include <array>

namespace corun::inline runner {

std::span<const std::string_view> default_policy_names() {
  static constexpr std::array<std::string_view, 9> kNames = {
      "fcfs",        "random",    "kube-default", "balance", "min-slowdown",
      "max-packing", "opposites", "exclusive",    "oracle"};
  return kNames;
}

}  // namespace corun::inline runner
