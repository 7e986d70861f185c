#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/metrics.hpp"

/// What a sweep has finished so far, in a file that only grows: one record with a checksum per
/// finished replication of a point. A kill at any instant leaves every record that was written, and
/// at most one that is torn, which the next reader passes over. Splitting a sweep over machines
/// gives several journals; write_sweep_results (sweep_results.hpp) makes one results file of them.
///
/// The file: the magic "corun sweep 1\n", then records
///   u32 bytes of the payload | u32 CRC-32 of the payload | payload
/// in little-endian order. The first byte of a payload says what it is: 'H' header, 'I' an input
/// file, 'P' a point's policies (all three JSON text), 'R' a replication: u64 point, u64
/// replication, then for each policy the metrics and kSweepUsage reals.
namespace corun {

/// Beside the metrics, what coverage is computed from: time with co-runners that was measured, modelled,
/// extrapolated [GPU s].
inline constexpr std::size_t kSweepUsage = 3;
inline constexpr std::size_t kSweepReals = kMetricCount + kSweepUsage;

/// One policy in one replication of a point: the metrics in their order, then the usage.
using SweepRun = std::array<double, kSweepReals>;

/// What must agree between the parts of one sweep.
struct SweepIdentity {
  std::string corun_version;
  std::string commit;
  std::string config;  ///< SweepPlan::dump_yaml()
  std::uint64_t seed = 0;
  std::size_t points = 0;
  std::size_t replications = 0;  ///< of all points

  bool operator==(const SweepIdentity&) const = default;
};

/// A file that a point's experiment has read.
struct SweepInput {
  std::string entry;  ///< "sha256:... FILE", as in results files
  std::string found;  ///< where it was found

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

/// A journal as read: where each record lies, but not the runs themselves.
class SweepJournalIndex {
 public:
  /// Reads to the first record that is torn. Throws InputError that begins with the path: it cannot
  /// be read, or is no journal.
  explicit SweepJournalIndex(const std::string& path);

  /// Whether a journal was begun there so far that it can be continued: false where there is no file, and
  /// for one that was cut short before its header was whole.
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

  /// The runs of a unit, one per policy; `offset` from units(). One thread at a time.
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

/// Appends to a journal. Locked while it lives, so that two programs cannot write the same one.
class SweepJournalWriter {
 public:
  /// Makes a new journal; there must be none. Throws InputError that begins with `place`.
  static SweepJournalWriter create(const std::string& path, const SweepIdentity& identity,
                                   const std::string& place);
  /// Continues the one that `index` has read: cuts off what is torn.
  static SweepJournalWriter resume(const SweepJournalIndex& index, const std::string& place);

  ~SweepJournalWriter();
  SweepJournalWriter(SweepJournalWriter&& other) noexcept;
  SweepJournalWriter(const SweepJournalWriter&) = delete;
  SweepJournalWriter& operator=(const SweepJournalWriter&) = delete;
  SweepJournalWriter& operator=(SweepJournalWriter&&) = delete;

  /// Any thread; all three are in the file when they return (a power cut may lose the last second).
  /// Throw InputError with the reason, and leave no torn record behind (disk full, ...).
  void add_input(const SweepInput& input);
  void add_policies(std::uint64_t point, const std::string& policies_json);
  void add_runs(const SweepUnit& unit, const std::vector<SweepRun>& runs);

  /// Brings everything to the disk.
  void sync();

 private:
  SweepJournalWriter(std::string path, std::string place);
  void open_locked(int flags);
  void append(std::string_view payload);

  std::string path_;
  std::string place_;
  int fd_ = -1;
  std::size_t size_ = 0;
  double synced_at_ = 0;  ///< steady clock [s]
  std::mutex mutex_;
};

}  // namespace corun
