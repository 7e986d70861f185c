#include "sim/sharing.hpp"

#include <algorithm>
#include <string>

namespace corun::inline sim {

std::optional<Sharing> sharing_of(std::string_view words) {
  std::string lower(words);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto has = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
  if (lower.empty() || lower == "unknown") return Sharing::kUnknown;
  if (has("mps")) return Sharing::kMps;
  if (has("time")) return Sharing::kTimeSlicing;
  if (has("mig") || has("separate")) return Sharing::kSeparate;
  return std::nullopt;
}

}  // namespace corun::inline sim
