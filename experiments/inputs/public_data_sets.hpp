#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// The files of the data directory that corun, its studies and its tests read: what they hold, where their
/// authors publish them and under which licence. None of them is part of corun.
namespace corun {

struct DataSource {
  std::string_view repository;  ///< on GitHub, "OWNER/NAME"
  std::string_view licence;
};

/// How a file came from what is published.
enum class DataOrigin : std::uint8_t {
  kPublished,         ///< the file itself, perhaps by another name
  kConverted,         ///< in another form, or a part
  kSimulated,         ///< what the authors' program gives
  kDerivedFromGavel,  ///< `corun data derive gavel` makes it
  kDerivedFromLucid,  ///< `corun data derive lucid` makes it
};

/// "published", "converted", "simulated" or the command that makes it.
std::string_view origin_text(DataOrigin origin);

struct PublicDataSet {
  const DataSource* source;
  std::string_view file;  ///< below the data directory
  std::string_view path;  ///< below the repository: the file, what it was made from, or the program
  DataOrigin origin;
  std::string_view holds;
  std::string_view sha256;  ///< of the file that corun was tested with
};

/// Those of one source in a row.
std::span<const PublicDataSet> public_data_sets();

/// A file as it lies in a data directory.
struct FoundDataSet {
  bool present = false;
  std::uintmax_t bytes = 0;
  std::string sha256;      ///< empty if absent
  bool as_tested = false;  ///< the checksum is that of the file that corun was tested with
};

/// `directory` empty: there is none, and the file is absent. InputError if it is there and cannot be read.
FoundDataSet find_data_set(const PublicDataSet& set, const std::string& directory);

}  // namespace corun
