#pragma once

#include <cstddef>
#include <vector>

#include "results/hdf5_table.hpp"

/// The tables of a results file: every name, unit and description of docs/results.md, in the order
/// in which result_rows.cpp fills them. To add a column, add a line in result_columns.cpp and a
/// value at the same position in result_rows.cpp.
namespace corun::inline results {

/// Bytes of the longest text of each kind in the file, at least 1.
struct TextWidths {
  std::size_t label = 1;
  std::size_t policy_name = 1;
  std::size_t parameters = 1;
  std::size_t job = 1;
  std::size_t gpu_type = 1;
  std::size_t virtual_cluster = 1;
  std::size_t metric = 1;
  std::size_t unit = 1;
};

struct TableLayout {
  const char* name;
  const char* description;
  std::vector<hdf5::Column> columns;
};

TableLayout gpus_layout(const TextWidths& widths);
TableLayout policies_layout(const TextWidths& widths);
TableLayout runs_layout(const TextWidths& widths);
/// The same columns for the prediction of a live run.
TableLayout predicted_runs_layout(const TextWidths& widths);
TableLayout predicted_layout(const TextWidths& widths);
TableLayout episodes_layout(const TextWidths& widths);
TableLayout episode_jobs_layout(const TextWidths& widths);
TableLayout usage_layout(const TextWidths& widths);
TableLayout metrics_layout(const TextWidths& widths);
/// `reason`: the widest one.
TableLayout failures_layout(const TextWidths& widths, std::size_t reason);
TableLayout summary_layout(const TextWidths& widths);
TableLayout versus_layout(const TextWidths& widths);
TableLayout coverage_layout(const TextWidths& widths);
TableLayout co_runs_layout();
TableLayout events_layout();
TableLayout over_time_layout();

/// Names by code, of the columns kind of /events and source of /co_runs.
const std::vector<std::string>& event_kind_codes();
const std::vector<std::string>& source_codes();

}  // namespace corun::inline results
