#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

/// All readers open files through this. Files compressed by gzip or zstd (recognised by their first bytes,
/// not by their name) are decompressed, in memory bounded by one buffer and the archive's window (at most
/// 128 MiB).
namespace corun::inline traces {

/// A stream of the file's text. `what` describes the expected file: "a CSV file". InputError if the file is
/// missing, a directory or unreadable. Reading from the stream throws InputError if an archive is damaged
/// or cut short, or expands as no data do; several archives in a row count as one.
std::unique_ptr<std::istream> open_input(const std::string& path, const std::string& what);

/// The same from an open stream; `name` stands for the file in messages. `in` must outlive the result.
std::unique_ptr<std::istream> open_input(std::istream& in, const std::string& name);

/// The first bytes of the text, at most `limit`: a format is recognised by them.
std::string first_bytes(const std::string& path, const std::string& what,
                        std::size_t limit = std::size_t{1} << 16);

/// A path for messages: unchanged, unless it would break the line.
std::string shown_path(const std::string& path);

}  // namespace corun::inline traces
