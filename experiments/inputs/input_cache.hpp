#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "traces/catalog.hpp"

/// Files that many experiments read, read once: the points of a sweep share a trace.
namespace corun {

/// Which file is read as what. Equal queries give equal traces, as long as the files stay as they are.
struct TraceQuery {
  const TraceEntry* source = nullptr;  ///< one that reads a file and generates nothing
  std::string path;
  std::optional<std::string> labels;  ///< as TraceRequest::labels
  std::string rates;                  ///< of sources that count steps: the file of rates
  std::string gpu;                    ///< and whose of them are taken

  bool operator==(const TraceQuery&) const = default;
};

/// What reading a trace gives.
struct TraceFile {
  Trace trace;
  WorkloadKeys keys;                              ///< of the jobs, and of the rates
  std::shared_ptr<const GavelThroughputs> rates;  ///< of sources that count steps; else none
};

/// Thread-safe. A file that has changed since it was read, by what the file system says of it (size,
/// times, which file it is), is read again.
class InputCache {
 public:
  /// At most so many different traces are held; the one that was asked for longest ago goes. Who has one
  /// keeps it.
  static constexpr std::size_t kTracesMax = 4;

  /// Who asks for a trace that is being read waits for it. Throws what its reader throws, and the next
  /// who asks reads it again.
  std::shared_ptr<const TraceFile> trace(const TraceQuery& query);

  /// As sha256_of_file().
  std::string sha256(const std::string& path);

  /// How many traces were read from their files, and not taken from here.
  std::size_t traces_read() const;

 private:
  /// What of a file changes when its bytes do.
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    std::int64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;

    bool operator==(const Stamp&) const = default;
  };
  using Stamps = std::vector<std::pair<std::string, std::optional<Stamp>>>;

  struct Reading {
    std::shared_ptr<const TraceFile> file;
    Stamps stamps;  ///< of all files that were read
  };
  struct Entry {
    TraceQuery query;
    std::uint64_t number = 0;
    std::shared_future<Reading> reading;
  };
  struct Sum {
    Stamp stamp;
    std::string sha256;
  };

  static std::optional<Stamp> stamp_of(const std::string& path);
  static bool unchanged(const Stamps& stamps);
  static Reading read(const TraceQuery& query);
  void drop(std::uint64_t number);

  mutable std::mutex mutex_;  ///< over all below; nothing is read under it
  std::list<Entry> entries_;  ///< the one asked for last comes first
  std::uint64_t next_number_ = 0;
  std::map<std::string, Sum> sums_;
};

}  // namespace corun
