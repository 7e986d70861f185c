#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sim/measurement.hpp"

namespace corun::inline traces {

/// "MODEL/bs=N/epochs=N": the text of a paper's workload, in `workload` of a job trace and `job` of a
/// co-run file.
std::string workload_text(std::string_view model, int batch_size, int epochs);

/// Hands out opaque keys that identify the workload of a job or of a member of a measurement: same text,
/// same key. All readers of one run share one of these. Keys count up from 0 in the order in which texts
/// are first used.
class WorkloadKeys {
 public:
  WorkloadKeys() = default;
  WorkloadKeys(const WorkloadKeys&) = delete;  // by_text_ points into texts_
  WorkloadKeys& operator=(const WorkloadKeys&) = delete;

  /// The key of the text, new if not yet known; kUnknownWorkload for the empty text. std::length_error if there is no
  /// key left.
  WorkloadKey of(std::string_view text);
  WorkloadKey of(std::string_view model, int batch_size, int epochs);
  /// Nothing if the text is not known.
  std::optional<WorkloadKey> find(std::string_view text) const;
  /// The text of a key handed out here; empty for kUnknownWorkload. std::logic_error for any other.
  const std::string& text(WorkloadKey key) const;
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque does not move its elements
  std::unordered_map<std::string_view, WorkloadKey> by_text_;
};

}  // namespace corun::inline traces
