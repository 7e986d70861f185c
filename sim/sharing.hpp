#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// How processes share a GPU.
namespace corun::inline sim {

enum class Sharing : std::uint8_t {
  kUnknown,
  kTimeSlicing,  ///< one process at a time
  kMps,          ///< at once, on the same SMs or on shares of them
  kSeparate,     ///< each in a slice of its own (MIG)
};
inline constexpr std::size_t kSharings = 4;
inline constexpr std::array<std::string_view, kSharings> kSharingNames{"unknown", "time-slicing",
                                                                       "mps", "separate"};

/// The mode that a table's words say, in any case: with "mps" (also in a MIG slice) or "time" in them, or else "mig" or
/// "separate". Empty words and "unknown" are kUnknown; nothing for others.
std::optional<Sharing> sharing_of(std::string_view words);

}  // namespace corun::inline sim
