#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "support/atomic_file.hpp"

/// The one rule for output files that exist: without --force a file is replaced only by its own
/// contents. (Results files and figures of replays are compared by their experiment:
/// results_identity.hpp, replay_figure.hpp.) An empty file counts as none.
///
/// Also the suffixes of file names by which corun knows a format.
namespace corun::inline support {

/// What becomes of an output file that exists.
enum class Existing : std::uint8_t {
  kKeepOthers,  ///< a file with other contents stays, and the command is refused
  kReplace,     ///< --force
};

/// A file that a command writes.
struct OutputText {
  std::string place;  ///< the flag or argument that names it, for errors
  std::string path;
  std::string text;
};

/// Throws InputError, which begins with a file's place, if it cannot be written (checked_output_path())
/// or must stay (refuse_existing()).
void check_outputs(std::span<const OutputText> files, Existing existing);

/// Checks all files, then writes them, each atomically. Throws as check_outputs() and write_file_atomically().
void write_outputs(std::span<const OutputText> files, Existing existing);
inline void write_outputs(std::initializer_list<OutputText> files, Existing existing) {
  write_outputs(std::span(files.begin(), files.end()), existing);
}

/// A file that a command writes and that should not be in memory.
struct OutputStream {
  std::string place;
  std::string path;
  ByteSource source;
};

/// The same rule and errors as write_outputs(). Where a file exists, `source` is called to compare, too.
void write_output(const OutputStream& file, Existing existing);

/// Whether there is a file with contents at `path`.
bool is_filled(const std::string& path);

/// Throws InputError: the file at `path` `has` ("holds something else"), and --force replaces it.
[[noreturn]] void refuse_existing(const std::string& path, const std::string& place,
                                  const std::string& has);

/// For outputs that no run repeats (measurements): throws InputError if a filled file is there, unless
/// it may be replaced. Call it before the run.
void check_unrepeatable(const std::string& path, const std::string& place, Existing existing);

/// The format that the suffix of a name stands for, in lower case: "csv", "json", "hdf5", "svg",
/// "yaml" ... Empty if there is no suffix, or one that corun does not know.
std::string_view format_of_name(const std::string& path);

/// Throws InputError if the name stands for a format that is none of `formats`. The first of these is
/// what the command writes otherwise.
void check_name(const std::string& path, const std::string& place,
                std::initializer_list<std::string_view> formats);

}  // namespace corun::inline support
