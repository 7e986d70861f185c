#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/records/metrics.hpp"
#include "support/file_descriptor.hpp"

/// The journal of a sweep: an append-only file with one checksummed record per finished replication
/// of a point. A kill at any instant leaves all written records and at most one torn record, which
/// the next reader ignores. Records that were damaged later are left out, the others stay. A sweep split over machines gives several journals, which
/// write_sweep_results() (sweep_results.hpp) merges into one results file.
///
/// The file: the magic "corun sweep 1\n", then records
///   u32 bytes of the payload | u32 CRC-32 of the payload | payload
/// in little-endian order. The first byte of a payload is its kind: 'H' header, 'I' an input file,
/// 'P' a point's policies and notes, 'F' policies that broke a rule in a replication, before its 'R' (all four JSON text), 'R' a
/// replication: u64 point, u64 replication, then per policy the metrics and kSweepUsage reals, NaN for a policy that
/// broke a rule.
namespace corun::inline runner {

/// Number of values beside the metrics [GPU s]: co-run time with measured, modelled and extrapolated cost, and
/// UsageRecord::solo_s.
inline constexpr std::size_t kSweepUsage = 3 + kSoloSources;
inline constexpr std::size_t kSweepReals = kMetricCount + kSweepUsage;
// A record's size must tell of one changed bit in it, so it may not be a multiple of a power of two alone.
static_assert((kSweepReals & (kSweepReals - 1)) != 0);

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
  bool as_needed = false;        ///< points may stop before these (SweepUntil)

  bool operator==(const SweepIdentity&) const = default;
};

/// An input file of a point's experiment.
struct SweepInput {
  std::string entry;  ///< "sha256:... FILE", as in results files
  std::string found;  ///< path at which it was found

  bool operator==(const SweepInput&) const = default;
};

/// A policy of a point.
struct SweepPolicy {
  std::string label;
  std::string name;        ///< in the catalogue
  std::string parameters;  ///< JSON text
  bool granted_truth = false;
};

/// A policy that broke a rule in a replication.
struct SweepFailure {
  std::size_t policy = 0;  ///< index within its point
  std::string reason;

  bool operator==(const SweepFailure&) const = default;
};

struct SweepUnit {
  std::uint64_t point = 0;
  std::uint64_t replication = 0;

  bool operator==(const SweepUnit&) const = default;
  bool operator<(const SweepUnit& o) const {
    return point != o.point ? point < o.point : replication < o.replication;
  }
};

/// Reads the bytes of a journal and finds the records in them.
class SweepJournalBytes {
 public:
  /// Throws InputError, as all functions do, if the file cannot be read; errors of a disk included.
  explicit SweepJournalBytes(const std::string& path);

  const std::string& path() const { return path_; }
  std::size_t size() const { return size_; }
  /// Bytes from `offset` on, fewer at the end of the file; valid until the next call.
  std::string_view read(std::size_t offset, std::size_t bytes);
  /// The payload of the record at `offset`, valid until the next call; empty if no whole record with its
  /// checksum begins there.
  std::string_view record(std::size_t offset);
  /// The offset of the first record that begins at `from` or later; size() if there is none.
  std::size_t next_record(std::size_t from);

 private:
  std::string path_;
  FileDescriptor file_;
  std::size_t size_ = 0;
  std::string window_;  ///< the bytes from begin_ on
  std::size_t begin_ = 0;
};

/// A journal as read: the offsets of its records, without the runs.
class SweepJournalIndex {
 public:
  /// Bytes among the records that are none.
  struct Damage {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };

  /// Reads all records. Throws InputError, which begins with the path, if the file cannot be read, is no
  /// journal or has a damaged header.
  explicit SweepJournalIndex(const std::string& path);

  /// Whether the file is more than the beginning of a journal: false if it ends before the end of its
  /// header. True for other files, which the constructor refuses.
  static bool begun(const std::string& path);

  const std::string& path() const { return bytes_.path(); }
  const SweepIdentity& identity() const { return identity_; }
  const std::vector<SweepInput>& inputs() const { return inputs_; }
  const std::map<std::uint64_t, std::vector<SweepPolicy>>& policies() const { return policies_; }
  /// By point, in the order of the experiment; none for points without notes.
  const std::map<std::uint64_t, std::vector<std::string>>& notes() const { return notes_; }
  /// Offsets of the finished replications of points whose policies are known.
  const std::map<SweepUnit, std::size_t>& units() const { return units_; }
  /// Of these replications, those with any.
  const std::map<SweepUnit, std::vector<SweepFailure>>& failures() const { return failures_; }
  /// In the order of the file. Any record may be missing then, the inputs of a point, too.
  const std::vector<Damage>& damage() const { return damage_; }
  /// Says where the journal is damaged: "is damaged at 2 places (bytes 310 to 622, ...)".
  std::string damage_text() const;
  /// Bytes up to the end of the last whole record (a torn one may follow), and of the file.
  std::size_t valid_bytes() const { return valid_bytes_; }
  std::size_t file_bytes() const { return bytes_.size(); }

  /// The runs of a unit, one per policy; `offset` from units(). Not thread-safe.
  std::vector<SweepRun> read(std::size_t offset) const;

 private:
  void take_header(std::string_view payload);
  bool take(std::string_view payload, std::size_t offset);
  bool is_torn(std::size_t offset) const;

  mutable SweepJournalBytes bytes_;
  SweepIdentity identity_;
  std::vector<SweepInput> inputs_;
  std::map<std::uint64_t, std::vector<SweepPolicy>> policies_;  ///< by point
  std::map<std::uint64_t, std::vector<std::string>> notes_;     ///< by point
  std::map<SweepUnit, std::size_t> units_;                      ///< offset of the record
  std::map<SweepUnit, std::vector<SweepFailure>> failures_;
  std::vector<Damage> damage_;
  std::size_t valid_bytes_ = 0;
};

/// The records of a journal but its header, in an order that does not depend on threads: the inputs, then by point and
/// replication policies, failures and runs. The units of two journals that began with none are the same bytes. InputError
/// for a damaged journal.
std::string records_in_order(const std::string& path);

/// The units of such records, in their order; nothing if they are torn or damaged.
std::optional<std::vector<SweepUnit>> units_of_records(std::string_view records);

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
  /// Takes the damage out of the journal of `index`, and the replications of all points but these. A copy
  /// of the journal as it was stays beside it; returns the copy's path. A kill meanwhile loses one record
  /// at most.
  std::string repair(const SweepJournalIndex& index, const std::set<std::uint64_t>& points);
  /// Removes the journal; nothing can be added after.
  void remove();

  /// Thread-safe. The record is in the file on return (a power cut may lose the last second). Throw
  /// InputError with the reason (disk full, ...) and then leave no torn record.
  void add_input(const SweepInput& input);
  void add_policies(std::uint64_t point, const std::string& policies_json,
                    const std::vector<std::string>& notes);
  void add_failures(const SweepUnit& unit, const std::vector<SweepFailure>& failures);
  void add_runs(const SweepUnit& unit, const std::vector<SweepRun>& runs);
  /// Of records_in_order().
  void add_records(std::string_view records);

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

}  // namespace corun::inline runner
