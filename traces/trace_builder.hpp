#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/csv_reader.hpp"
#include "traces/logs/job_states.hpp"
#include "traces/trace.hpp"

/// Common part of all readers of job traces: limits, checks of repeated names, counts of jobs that are left
/// out.
namespace corun::inline traces {

// Limits of a job of a trace. A value beyond them is a mistake, or would not fit in simulated time.
inline constexpr NumberRule kSubmitRule{"a number of seconds", 0, kMaxTimeSeconds};
/// Nearly three years; dozens of such jobs in sequence still end before kNever.
inline constexpr NumberRule kWorkRule{"a number of seconds", 0, 9e7, true};
inline constexpr IntegerRule kGpusRule{"a whole number of GPUs", 1, 1'000'000};
/// The same limits for logs in which a job may have done nothing.
inline constexpr NumberRule kRunTimeRule{"a number of seconds", 0, 9e7};
inline constexpr IntegerRule kGpusOrNoneRule{"a whole number of GPUs", 0, 1'000'000};
/// CPU [1/1000] and main memory [MiB] asked of a node.
inline constexpr IntegerRule kRequestRule{"a whole number", 0, 1'000'000'000'000};

/// Finds names by their text in a growing list. 16 to 32 bytes for each, beside the list.
class NameIndex {
 public:
  /// The place of a name in the list, all of whose names were added.
  std::optional<std::uint32_t> find(std::string_view name, MemberSpan<std::string> list) const;
  /// Adds the next name of the list, which find() did not find.
  void add(std::string_view name);

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t index = 0;  ///< plus one; 0: free
  };
  void place(Slot slot);
  std::uint32_t names_ = 0;
  std::vector<Slot> slots_;  ///< a power of two of them, at most half of them in use
};

/// Which rows of a file are jobs; TraceBuilder applies it.
struct LogRules {
  ChosenStates states;  ///< of those whose state the file says
  bool strict = false;  ///< the first row that is left out is an error
  bool operator==(const LogRules&) const = default;
};

class TraceBuilder {
 public:
  explicit TraceBuilder(std::string source, const LogRules& rules = {});

  /// The line of this name's job; nothing if the name is new.
  std::optional<std::size_t> line_of(std::string_view name) const;
  /// Adds a job with a new name; its JobId is its position. InputError if there are more jobs than identifiers.
  void add(TraceJob job, std::size_t line);
  /// add() for logs whose errors cannot be corrected: leaves out and counts a job with a repeated name,
  /// without GPUs or without run time.
  void add_or_skip(TraceJob job, std::size_t line);
  /// Counts a row that is left out because it is no job that ran, or none of those asked for. `reason` follows
  /// "job": "without GPUs".
  /// With rules.strict it is an InputError.
  void skip(std::string_view reason, std::size_t line);
  /// The same for a row that lacks what its job must have: take() refuses a file in which they are more than half
  /// of all rows.
  void skip_incomplete(std::string_view reason, std::size_t line);
  /// skip_incomplete() for the two reasons that most readers have.
  void skip_backwards(std::size_t line) { skip_incomplete("whose end is before its start", line); }
  void skip_without_submit(std::size_t line) { skip_incomplete("without submit time", line); }
  /// Counts the step of a job, which is no job.
  void skip_step(std::size_t line);
  /// Whether a row in this state is a job; else it is counted as left out. A word that is no known state counts as
  /// one that has ended, an empty text as none. With `has_end` the row gives the job's end, so that a running job
  /// has ended.
  bool keeps_state(std::string_view state, std::size_t line, bool has_end = false);
  /// A reader's assumption (Trace::assumptions), once.
  void assume(std::string_view assumption);

  /// Index of a virtual cluster, new if not yet known. The empty name is an ordinary name.
  std::uint32_t virtual_cluster(std::string_view name);
  /// The bit of a GPU model in JobSpec::gpu_models; nothing if it would be the 33rd.
  std::optional<std::uint32_t> gpu_model(std::string_view name);

  /// Index of a GPU type in Trace::measured_types, new if not yet known by this name; `place` is that of the name.
  std::size_t gpu_type(std::string_view name, std::string place);

  std::size_t jobs() const { return trace_.jobs.size(); }
  /// The trace. InputError at `place` if there are no jobs, and if skip_incomplete() counted more
  /// than half of all rows.
  Trace take(const std::string& place);
  /// take(), with the first job submitted at time 0. For logs with dates.
  Trace take_from_first_submit(const std::string& place);

 private:
  void count(std::string_view reason, std::size_t line, bool whole);
  Trace trace_;
  LogRules rules_;
  std::size_t incomplete_ = 0;  ///< rows
  NameIndex names_;
  NameIndex virtual_clusters_;
  std::vector<std::uint32_t> lines_;  ///< of each job, saturating
};

/// Sets gpus and gpu_milli from a demand in thousandths of a GPU, 1 to 10^9: below 1000 a share of one GPU,
/// else whole GPUs, rounded up.
void ask_for_gpus(JobSpec& spec, std::int64_t gpu_milli);

/// The name, or "#" and the number of its row if it is absent.
std::string name_or_row(std::string_view name, std::size_t row);

/// The data by which a format is recognised.
struct TraceHead {
  std::string path;
  std::string text;  ///< the beginning of the file, decompressed
};

/// The first line that is neither empty nor begins with `comment`; without line end and byte order
/// mark.
std::string_view first_line(std::string_view text, char comment = '\0');
/// The separator of a header: ',' if it has one, else the first of ';', tab and '|' that it has, else ','.
char separator_of(std::string_view header);
/// The names of the columns of a header line, without quotes and the blanks around them.
std::vector<std::string> names_in(std::string_view header, char separator);
/// Whether the first line of a CSV file names all of these columns.
bool has_columns(const TraceHead& head, std::initializer_list<std::string_view> columns);

}  // namespace corun::inline traces
