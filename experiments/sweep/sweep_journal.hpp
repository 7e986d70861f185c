#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/file_descriptor.hpp"
#include "sim/metrics.hpp"

/// The journal of a sweep: an append-only file with one checksummed record per finished replication
/// of a point. A kill at any instant leaves all written records and at most one torn record, which
/// the next reader ignores. A sweep split over machines gives several journals, which
/// write_sweep_results() (sweep_results.hpp) merges into one results file.
///
/// The file: the magic "corun sweep 1\n", then records
///   u32 bytes of the payload | u32 CRC-32 of the payload | payload
/// in little-endian order. The first byte of a payload is its kind: 'H' header, 'I' an input file,
/// 'P' a point's policies (all three JSON text), 'R' a replication: u64 point, u64 replication,
/// then per policy the metrics and kSweepUsage reals.
namespace corun {

/// Number of values beside the metrics: co-run time with measured, modelled and extrapolated cost
/// [GPU s], for the coverage.
inline constexpr std::size_t kSweepUsage = 3;
inline constexpr std::size_t kSweepReals = kMetricCount + kSweepUsage;

/// One policy in one replication of a point: the metrics in their order, then the usage.
using SweepRun = std::array<double, kSweepReals>;

/// The facts that all parts of a sweep must share.
struct SweepIdentity {
  std::string corun_version;
  std::string commit;
  std::string config;  ///< SweepPlan::dump_yaml()
  std::uint64_t seed = 0;
  std::size_t points = 0;
  std::size_t replications = 0;  ///< of all points

  bool operator==(const SweepIdentity&) const = default;
};

/// An input file of a point's experiment.
struct SweepInput {
  std::string entry;  ///< "sha256:... FILE", as in results files
  std::string found;  ///< path at which it was found

  bool operator==(const SweepInput&) const = default;
};

struct SweepUnit {
  std::uint64_t point = 0;
  std::uint64_t replication = 0;

  bool operator==(const SweepUnit&) const = default;
  bool operator<(const SweepUnit& o) const {
    return point != o.point ? point < o.point : replication < o.replication;
  }
};

/// A journal as read: the offsets of its records, without the runs.
class SweepJournalIndex {
 public:
  /// Reads up to the first torn record. Throws InputError, which begins with the path, if the file
  /// cannot be read, is no journal or is damaged.
  explicit SweepJournalIndex(const std::string& path);

  /// Whether the file is more than the beginning of a journal: false if there is no file or it ends
  /// before the end of its header. True for other files, which the constructor refuses.
  static bool begun(const std::string& path);

  const std::string& path() const { return path_; }
  const SweepIdentity& identity() const { return identity_; }
  const std::vector<SweepInput>& inputs() const { return inputs_; }
  /// By point: JSON text of its policies.
  const std::map<std::uint64_t, std::string>& policies() const { return policies_; }
  const std::map<SweepUnit, std::size_t>& units() const { return units_; }
  /// Bytes up to the end of the last whole record, and of the file.
  std::size_t valid_bytes() const { return valid_bytes_; }
  std::size_t file_bytes() const { return file_bytes_; }

  /// The runs of a unit, one per policy; `offset` from units(). Not thread-safe.
  std::vector<SweepRun> read(std::size_t offset) const;

 private:
  void take(std::string_view payload, std::size_t offset);

  std::string path_;
  mutable std::ifstream in_;
  SweepIdentity identity_;
  std::vector<SweepInput> inputs_;
  std::map<std::uint64_t, std::string> policies_;
  std::map<SweepUnit, std::size_t> units_;  ///< offset of the payload
  std::size_t valid_bytes_ = 0;
  std::size_t file_bytes_ = 0;
};

/// Appends to a journal. It holds a lock from before the journal is looked at until it is replaced by
/// results, so that of several programs that begin at once only one reads and writes the journal.
class SweepJournalWriter {
 public:
  /// Opens the journal, or makes an empty one, and locks it. Throws InputError, which begins with
  /// `place`, if it cannot be opened for writing or another program holds it.
  SweepJournalWriter(std::string path, std::string place);
  /// Removes a journal that is still empty.
  ~SweepJournalWriter();
  SweepJournalWriter(const SweepJournalWriter&) = delete;
  SweepJournalWriter& operator=(const SweepJournalWriter&) = delete;

  /// Begins anew: drops earlier contents and writes the header.
  void begin(const SweepIdentity& identity);
  /// Continues the journal of `index`, which was read under the lock, after cutting off a torn record.
  /// Throws InputError also if the file has changed since.
  void resume(const SweepJournalIndex& index);
  /// Removes the journal; nothing can be added after.
  void remove();

  /// Thread-safe. The record is in the file on return (a power cut may lose the last second). Throw
  /// InputError with the reason (disk full, ...) and then leave no torn record.
  void add_input(const SweepInput& input);
  void add_policies(std::uint64_t point, const std::string& policies_json);
  void add_runs(const SweepUnit& unit, const std::vector<SweepRun>& runs);

  /// Syncs the file to disk.
  void sync();

 private:
  void write(std::string_view bytes);
  void append(std::string_view payload);

  std::string path_;
  std::string place_;
  FileDescriptor file_;
  std::size_t size_ = 0;
  double synced_at_ = 0;  ///< steady clock [s]
  std::mutex mutex_;
};

}  // namespace corun
