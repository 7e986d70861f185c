#pragma once

#include <iosfwd>
#include <memory>
#include <string>

/// The one way in which readers open a file. What is compressed by gzip or zstd, known by its first
/// bytes and not by its name, is read as the text inside it, in memory bounded by one buffer and
/// the archive's window (at most 128 MiB).
namespace corun {

/// A stream of the file's text. `what` says what was expected: "a CSV file". InputError if the file
/// is missing, a directory or unreadable. Reading from the stream throws InputError if an archive
/// is damaged or cut short; several archives in a row count as one.
std::unique_ptr<std::istream> open_input(const std::string& path, const std::string& what);

/// The same of an open stream, called `name` in messages. `in` must outlive what is returned.
std::unique_ptr<std::istream> open_input(std::istream& in, const std::string& name);

/// The first bytes of the text, `limit` at most: what a format is recognised by.
std::string first_bytes(const std::string& path, const std::string& what,
                        std::size_t limit = std::size_t{1} << 16);

/// A path as messages show it: whole, unless it would break the line.
std::string shown_path(const std::string& path);

}  // namespace corun
