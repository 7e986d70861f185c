#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/base/atomic_file.hpp"
#include "experiments/commands/cli.hpp"
#include "experiments/inputs/trace_report.hpp"
#include "traces/trace.hpp"
#include "traces/workload_names.hpp"

/// Traces read, written and shown as the flags of `corun trace` say. All throw InputError that begins
/// with the flag or the argument.
namespace corun {

/// A trace and what it was read as.
struct ReadTrace {
  Trace trace;
  std::string format;
  std::string path;
  std::string rates;  ///< the file that made steps time; empty: none
};

/// --format-name, --rates and --gpu-type, which read_trace() takes.
void add_trace_format(CommandLine& command);

/// The trace at `given`, a path or a file of the data directory, which `flag` names.
ReadTrace read_trace(const std::string& given, const boost::program_options::variables_map& values,
                     const CommonOptions& common, const std::string& flag, WorkloadKeys& keys);

/// What a trace was read from, `place` being the flag or argument that named it.
std::vector<NamedFile> files_of(const ReadTrace& read, const std::string& place);

enum class WrittenFormat : std::uint8_t { kJobCsv, kStandardWorkload };

/// --to, which written_format() takes.
void add_written_format(CommandLine& command);
WrittenFormat written_format(const boost::program_options::variables_map& values,
                             const std::string& out);

void write_trace(const std::string& path, WrittenFormat format, const Trace& trace,
                 const WorkloadKeys& keys, const CommonOptions& common);

/// A positional argument that `command` cannot do without.
std::string required_argument(const boost::program_options::variables_map& values,
                              const std::string& key, const std::string& command);

/// The figures of a trace in the form that was asked for.
std::string trace_output(const TraceReport& report, Format format);

}  // namespace corun
