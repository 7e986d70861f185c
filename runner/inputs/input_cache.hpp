#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/inputs/model_cache.hpp"
#include "support/recent_values.hpp"
#include "traces/catalog.hpp"

/// A cache of input files for many experiments: the points of a sweep share a trace and the fit of a
/// model.
namespace corun::inline runner {

/// Which files are read, and in which format. Equal queries give equal traces while the files do
/// not change.
struct TraceQuery {
  const TraceEntry* source = nullptr;  ///< must read a file, not generate a trace
  std::string path;
  std::optional<std::string> part;    ///< as TraceRequest::part
  std::optional<std::string> labels;  ///< as TraceRequest::labels
  std::string rates;                  ///< for sources that count steps: the file of rates
  std::string gpu;                    ///< and the GPU type, in Gavel's name, whose rates are read
  std::vector<RenamedColumn> columns = {};  ///< as TraceRequest::columns
  LogRules rules = {};                      ///< as TraceRequest::rules

  bool operator==(const TraceQuery&) const = default;
};

/// A trace that was read.
struct TraceFile {
  Trace trace;
  WorkloadKeys keys;                              ///< of the jobs and the rates
  std::shared_ptr<const GavelThroughputs> rates;  ///< for sources that count steps; else null
};

/// Thread-safe. A file that has changed since it was read (by device, inode, size or times) is read
/// again.
class InputCache {
 public:
  /// Most traces held; the least recently requested one is dropped. A caller's pointer keeps its
  /// trace alive.
  static constexpr std::size_t kTracesMax = 4;

  /// `threads` that one fit of a model may use; they do not change it.
  explicit InputCache(unsigned threads = 1) : models_(threads) {}

  /// Waits if another thread is reading the trace. Throws what the reader throws; the next call
  /// reads again.
  std::shared_ptr<const TraceFile> trace(const TraceQuery& query);

  /// As sha256_of_file().
  std::string sha256(const std::string& path);

  /// Number of traces read from files, not from the cache.
  std::size_t traces_read() const { return traces_.made(); }

  /// The interference models that several experiments share.
  ModelCache& models() { return models_; }

 private:
  /// File attributes that change with its bytes.
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
  struct Sum {
    Stamp stamp;
    std::string sha256;
  };

  static std::optional<Stamp> stamp_of(const std::string& path);
  static bool unchanged(const Stamps& stamps);
  static Reading read(const TraceQuery& query);

  RecentValues<TraceQuery, Reading> traces_{kTracesMax};
  ModelCache models_;
  std::mutex mutex_;  ///< guards sums_; no file is read under it
  std::map<std::string, Sum> sums_;
};

}  // namespace corun::inline runner
