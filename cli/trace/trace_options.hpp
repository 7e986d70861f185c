#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "cli/trace/trace_report.hpp"
#include "support/atomic_file.hpp"
#include "traces/trace.hpp"
#include "traces/workload_names.hpp"

/// Reading, writing and output of traces by the flags of `corun trace`. All functions throw
/// InputError that begins with the flag or argument.
namespace corun::inline cli {

/// A trace, its format and its files.
struct ReadTrace {
  Trace trace;
  std::string format;
  std::string path;
  std::string rates;  ///< file of rates that converted steps to time; empty: none
};

/// Adds --format-name, --rates and --gpu-type, which read_trace() reads.
void add_trace_format(CommandLine& command);

/// The trace at `given`, a path or a file of the data directory; `flag` is its flag, for errors.
ReadTrace read_trace(const std::string& given, const boost::program_options::variables_map& values,
                     const CommonOptions& common, const std::string& flag, WorkloadKeys& keys);

/// The files of a trace, for check_outputs_differ(); `place` is the flag or argument that named it.
std::vector<NamedFile> files_of(const ReadTrace& read, const std::string& place);

enum class WrittenFormat : std::uint8_t { kJobCsv, kStandardWorkload };

/// Adds --to, which written_format() reads.
void add_written_format(CommandLine& command);
WrittenFormat written_format(const boost::program_options::variables_map& values,
                             const std::string& out);

/// The text of a trace as OUT.
OutputText trace_text(const std::string& path, WrittenFormat format, const Trace& trace,
                      const WorkloadKeys& keys, const CommonOptions& common);

/// A positional argument that `command` requires.
std::string required_argument(const boost::program_options::variables_map& values,
                              const std::string& key, const std::string& command);

/// The statistics of a trace in `format`.
std::string trace_output(const TraceReport& report, Format format);

}  // namespace corun::inline cli
