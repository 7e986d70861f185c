#pragma once

#include <span>
#include <string_view>

/// Every reader of a file that strangers write, under one form: what the fuzzers and the smoke test
/// drive. To add a reader, add a line to the table in readers.cpp and a folder of small samples of
/// the same name to corpus/.
namespace corun::fuzz {

struct Reader {
  std::string_view name;  ///< and folder of its corpus
  /// Reads the bytes as a file, decompressed where they are an archive. InputError is the only
  /// exception that may come out; std::logic_error says that what was read is not sound.
  void (*read)(std::string_view bytes);
};

std::span<const Reader> readers();

/// pai-2020 reads three tables, lucid-colocation two, gavel-rates-csv and solo-table one or two: they stand one after the other,
/// with this line between them.
inline constexpr std::string_view kNextTable = "\n====\n";

}  // namespace corun::fuzz
