#pragma once

#include <cstddef>
#include <cstdint>

/// Identifiers of different types: none converts to another. An identifier is the position of its
/// object in its list (jobs of a workload, GPUs and nodes of a cluster), so index(id) addresses
/// arrays directly.
namespace corun::inline sim {

enum class JobId : std::uint32_t {};
enum class GpuId : std::uint32_t {};
enum class NodeId : std::uint32_t {};

/// No job has this identifier.
inline constexpr JobId kNoJob{0xffffffffU};

template <typename Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace corun::inline sim
