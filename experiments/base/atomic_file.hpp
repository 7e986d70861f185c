#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Files that are there whole or not at all, whatever stops the program or the machine.
namespace corun {

/// Checks that a file can be written at `path` before any work is done for it, and gives the path to
/// write to: links are followed, so that a link stays one. Throws InputError (one line that begins
/// with `place`, usually a flag): empty, a directory, not a regular file, write-protected, directory
/// missing or not writable.
std::string checked_output_path(const std::string& path, const std::string& place);

/// Writes `bytes` to `temporary`, syncs it, renames it over `path` and syncs the directory: a kill
/// or a power cut at any instant leaves the old file or the new one. A link stays one: what it leads
/// to is written. A file that was there keeps its permissions. `temporary` must be on the same file system; empty: the file + ".tmp-PID". On
/// failure removes `temporary`, leaves `path` as it was and throws InputError with the reason: the
/// system's, or that something is there which is no regular file (a directory, a device, a pipe).
void write_file_atomically(const std::string& path, std::string_view bytes,
                           std::string temporary = "");

/// Files that a command will write, each with the flag that names it, must be others than those it
/// reads and than each other, by whatever name or link: InputError that begins with the flag.
struct NamedFile {
  std::string flag;
  std::string path;
};
void check_outputs_differ(const std::vector<NamedFile>& outputs,
                          const std::vector<NamedFile>& inputs);

/// Makes a directory's entries (renames, new files) survive a power cut. Does nothing on file systems
/// that cannot.
void sync_directory(const std::string& path);

/// The directory a path is in; "." for a bare name.
std::string directory_of(const std::string& path);

}  // namespace corun
