#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sim/ids.hpp"

/// The places of jobs on a GPU: each resident takes the lowest free lane and keeps it until it leaves. So the stays of
/// one lane follow one another and never overlap.
namespace corun::inline results {

class GpuLanes {
 public:
  /// The lane of a job that comes; nothing if it is there already.
  std::optional<std::uint32_t> come(JobId job);
  /// The lane that a job leaves; nothing if it is not there.
  std::optional<std::uint32_t> leave(JobId job);

  /// Jobs that are there, with their lanes, by job.
  const std::map<JobId, std::uint32_t>& residents() const { return residents_; }
  /// Most lanes that were in use at once.
  std::uint32_t lanes() const { return lanes_; }

 private:
  std::map<JobId, std::uint32_t> residents_;
  std::set<std::uint32_t> free_;
  std::uint32_t lanes_ = 0;
};

}  // namespace corun::inline results
