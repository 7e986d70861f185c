#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// The files of the data directory that corun, its studies and its tests read: content, place of
/// publication and licence. None of them is part of corun.
namespace corun::inline runner {

struct DataSource {
  std::string_view repository;  ///< on GitHub, "OWNER/NAME"
  std::string_view licence;
};

/// How a file derives from a published one.
enum class DataOrigin : std::uint8_t {
  kPublished,         ///< the file itself, perhaps by another name
  kConverted,         ///< converted to another form, or a part of it
  kSimulated,         ///< output of the authors' program
  kDerivedFromGavel,  ///< `corun data derive gavel` makes it
  kDerivedFromLucid,  ///< `corun data derive lucid` makes it
};

/// "published", "converted", "simulated" or the command that makes it.
std::string_view origin_text(DataOrigin origin);

struct PublicDataSet {
  const DataSource* source;
  std::string_view file;  ///< below the data directory
  std::string_view path;  ///< in the repository: the file, its source, or the program
  DataOrigin origin;
  std::string_view holds;
  std::string_view sha256;  ///< of the file that corun was tested with
};

/// All data sets; those of one source follow one another.
std::span<const PublicDataSet> public_data_sets();

/// A file as found in a data directory.
struct FoundDataSet {
  bool present = false;
  std::uintmax_t bytes = 0;
  std::string sha256;      ///< empty if absent
  bool as_tested = false;  ///< the checksum is that of the file that corun was tested with
};

/// With an empty `directory` the file counts as absent. InputError if the file exists and cannot be
/// read.
FoundDataSet find_data_set(const PublicDataSet& set, const std::string& directory);

}  // namespace corun::inline runner
