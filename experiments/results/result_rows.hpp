#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "experiments/results/replay_result.hpp"
#include "experiments/results/results_header.hpp"

/// A results file as bytes: attributes of the root and the tables of result_columns.hpp. Equal contents
/// give equal bytes.
namespace corun {

/// A replication as the tables need it, wherever it is kept.
struct ReplicationView {
  std::size_t number;
  const std::vector<std::string>* names;  ///< of its jobs
  const std::vector<PolicyRun>* runs;     ///< in the order of ResultsHeader::policies
};

struct ResultsContents {
  const ResultsHeader& header;
  std::span<const ReplicationView> replications;  ///< ascending by number
  /// Comparison and coverage; without, the file is a part: not complete, those tables empty.
  const ReplayResult* result = nullptr;
};

/// Throws std::runtime_error where HDF5 runs out of memory. Holds hdf5_mutex() meanwhile.
std::string results_image(const ResultsContents& contents);

}  // namespace corun
