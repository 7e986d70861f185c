#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/sweep/sweep.hpp"
#include "runner/sweep/sweep_journal.hpp"
#include "runner/sweep/sweep_plan.hpp"
#include "support/objects/object_store.hpp"

/// A sweep in a store that workers on several machines share (docs/sweeps.md). Its units, in order of point and
/// replication, are divided into chunks of equal numbers. The store holds
///
///   KEY.sweep.json      the sweep and the number of units of a chunk, written once by the first worker
///   KEY.NUMBER.chunk    the records of a finished chunk (records_in_order()), written once
///   KEY.NUMBER.claim    the worker that runs the chunk, and a count that it raises as long as it does
///   KEY.WORKER.worker   what the worker has done so far: units, seconds
///
/// KEY begins the SHA-256 of the sweep's identity. A chunk that two workers run has the same bytes.
namespace corun::inline runner {

class SweepStore {
 public:
  /// The sweep that the store holds. InputError if it holds none, several, or a damaged one.
  static SweepStore open(std::shared_ptr<ObjectStore> objects);
  /// The same sweep, or a new one with `chunk_units()` units in each chunk. InputError if the store holds another sweep.
  static SweepStore open_for(std::shared_ptr<ObjectStore> objects, const SweepPlan& plan,
                             const std::function<std::size_t()>& chunk_units);

  ObjectStore& objects() const { return *objects_; }
  const SweepIdentity& identity() const { return identity_; }
  std::size_t chunk_units() const { return chunk_units_; }
  /// Number of chunks; there is at least one.
  std::size_t chunks() const;
  /// Units of a chunk, by their number in the sweep: from the first to before the second.
  std::pair<std::size_t, std::size_t> units_of(std::size_t chunk) const;

  std::string chunk_name(std::size_t chunk) const;
  std::string claim_name(std::size_t chunk) const;
  std::string worker_name(std::string_view worker) const;

  struct State {
    std::vector<bool> finished;        ///< by chunk
    std::vector<std::size_t> claimed;  ///< unfinished ones, ascending
  };
  State state() const;

  /// The records of a finished chunk; nothing if it is not finished. InputError if it is damaged or has not the units of the
  /// chunk.
  std::optional<std::string> records_of(std::size_t chunk) const;

 private:
  SweepStore(std::shared_ptr<ObjectStore> objects, SweepIdentity identity, std::size_t chunk_units);
  /// By the name of the object that says what sweep it is.
  static SweepStore open_named(std::shared_ptr<ObjectStore> objects, const std::string& name);

  std::shared_ptr<ObjectStore> objects_;
  SweepIdentity identity_;
  std::string key_;
  std::size_t chunk_units_ = 1;
};

/// The units of a sweep by their number. If points stop when they have enough replications, a point is not divided: it is
/// in the range that has its first unit, and units count as if none stopped.
class SweepUnits {
 public:
  explicit SweepUnits(const SweepPlan& plan);
  SweepRange range(const std::pair<std::size_t, std::size_t>& units) const {
    return {unit(units.first), unit(units.second)};
  }

 private:
  SweepUnit unit(std::size_t number) const;

  std::vector<std::size_t> first_of_point_;  ///< and the number of all units
  bool whole_points_ = false;
};

/// Writes the finished chunks as a journal of the sweep; returns the chunks that are missing, ascending. InputError as
/// records_of().
std::vector<std::size_t> write_journal(const SweepStore& store, SweepJournalWriter& journal);

/// How far the workers of a store are.
struct SweepStoreStatus {
  std::size_t units = 0;  ///< of the sweep
  std::size_t finished_units = 0;
  std::size_t chunks = 0;
  std::size_t finished_chunks = 0;
  std::size_t claimed_chunks = 0;
  std::size_t workers = 0;  ///< that have finished a chunk, or hold one
  /// At the speed of the workers that hold a chunk now [s]; nothing if none does or none has finished one.
  std::optional<double> left_s;
};
SweepStoreStatus status_of(const SweepStore& store);

}  // namespace corun::inline runner
