#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "results/replay_result.hpp"
#include "results/results_header.hpp"

/// Builds the bytes of a results file: attributes of the root and the tables of result_columns.hpp.
/// Equal contents give equal bytes.
namespace corun::inline results {

struct ResultsContents {
  const ResultsHeader& header;
  std::span<const Replication* const> replications;  ///< ascending by number
  /// Comparison and coverage. Null makes a part file: incomplete, with these tables empty.
  const ReplayResult* result = nullptr;
};

/// Throws std::runtime_error if HDF5 runs out of memory. Locks hdf5_mutex().
std::string results_image(const ResultsContents& contents);

}  // namespace corun::inline results
