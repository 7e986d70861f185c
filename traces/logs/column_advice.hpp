#pragma once

#include <span>
#include <vector>

#include "traces/csv_reader.hpp"

/// Advice on the columns of a log that has other names than corun's own job trace.
namespace corun::inline traces {

/// InputError if a required column of `columns` is missing, or if an unknown column of the file is probably one of
/// them: its message proposes --columns for all, with units, and with products where a column of numbers of
/// instances stands beside one of GPUs. `renamed` are those given so far.
void check_job_header(const CsvReader& csv, std::span<const CsvColumn> columns,
                      std::vector<RenamedColumn> renamed);

/// A column that probably counts the instances of each job, while the one read as gpus counts those of an instance;
/// empty if there is none.
std::string uncounted_instances(const CsvReader& csv, const std::vector<RenamedColumn>& renamed);

}  // namespace corun::inline traces
