#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Files that are written whole or not at all, even if the program is killed or the machine loses
/// power.
namespace corun::inline support {

/// Checks, before any work is done, that a file can be written at `path`, and returns the path to
/// write to: the target if `path` is a link. Throws InputError, which begins with `place` (usually
/// a flag), if the path is empty, a directory, not a regular file, write-protected or the file to which standard output or
/// standard error go, or if its directory is missing or not writable.
std::string checked_output_path(const std::string& path, const std::string& place);

/// Replaces `path` by a new file of these bytes, synced, and syncs the directory: a kill or a power cut at
/// any instant leaves the old file or the new one. A link stays a link, and its target is written. An
/// existing file keeps its permissions. Several programs may write one file at once; the last one wins.
/// On failure it leaves `path` unchanged and throws InputError with the system's reason, or because `path`
/// is no regular file (a directory, a device, a pipe).
///
/// A kill may leave a file of a temporary name, the target's + kTemporaryMark + a number; the next writing
/// removes it.
void write_file_atomically(const std::string& path, std::string_view bytes);

/// Takes the next bytes of a file.
using ByteSink = std::function<void(std::string_view bytes)>;
/// Makes a file's bytes, the same ones at every call.
using ByteSource = std::function<void(const ByteSink& sink)>;

/// The same for a file that should not be in memory. What `source` throws leaves `path` unchanged, too.
void write_file_atomically(const std::string& path, const ByteSource& source);

/// Makes a file of these bytes, synced, if there is none of that name: of several programs that do so at once one
/// succeeds, and others never see a part of it. False if there is one, which stays. InputError as
/// write_file_atomically(). The directory's file system must have hard links.
bool write_new_file(const std::string& path, std::string_view bytes);

inline constexpr std::string_view kTemporaryMark = ".corun-tmp-";

/// A file that a command reads or writes, and the flag that names it.
struct NamedFile {
  std::string flag;
  std::string path;
};
/// Throws InputError, which begins with the flag of an output, if that output is the same file as
/// an input or another output, also under another name or link.
void check_outputs_differ(const std::vector<NamedFile>& outputs,
                          const std::vector<NamedFile>& inputs);

/// Makes a directory's entries (renames, new files) survive a power cut, on file systems that can
/// sync directories.
void sync_directory(const std::string& path);

/// The directory of a path; "." for a bare name.
std::string directory_of(const std::string& path);

}  // namespace corun::inline support
