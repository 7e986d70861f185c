#pragma once

#include <cstdint>
#include <vector>

#include "sim/time.hpp"

/// Pending events in a total order: (time, kind, sequence). Equal times are settled by kind, equal
/// kinds by the order in which they were scheduled (DESIGN 4.1).
///
/// A 4-ary heap over slots, so that a completion can be moved or cancelled when the co-runners change:
///   schedule, pop, move, cancel: O(log n); top: O(1). No allocation once grown.
namespace corun::inline sim {

/// In the order in which the events of one instant are handled.
enum class EventKind : std::uint8_t {
  kCompletion = 0,
  kFailure = 1,
  kProbeEnd = 2,
  kTuning = 3,
  kArrival = 4,
  kTimer = 5
};

struct Event {
  Time at{0};
  EventKind kind = EventKind::kTimer;
  std::uint64_t sequence = 0;
  std::uint32_t subject = 0;  ///< a job's index; 0 for timers
};

class EventQueue {
 public:
  /// Identifies a pending event until it is popped or cancelled.
  using Handle = std::uint32_t;
  static constexpr Handle kNone = 0xffffffffU;

  Handle schedule(Time at, EventKind kind, std::uint32_t subject);
  /// Gives a pending event a new time and the next sequence number.
  void move(Handle handle, Time at);
  void cancel(Handle handle);

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  /// The earliest event; the queue must not be empty.
  const Event& top() const { return slots_[heap_.front().slot].event; }
  Event pop();

 private:
  struct Slot {
    Event event;
    std::uint32_t position = 0;  ///< in heap_
  };
  /// The key lies in the heap itself, so that sifting reads one array.
  struct Entry {
    Time at;
    std::uint64_t rank;  ///< kind in the top byte, sequence below
    std::uint32_t slot;
    bool before(const Entry& o) const { return at != o.at ? at < o.at : rank < o.rank; }
  };

  static std::uint64_t rank_of(const Event& e) {
    return (static_cast<std::uint64_t>(e.kind) << 56) | e.sequence;
  }
  void sift_up(std::uint32_t position, Entry entry);
  void sift_down(std::uint32_t position, Entry entry);
  void place(std::uint32_t position, const Entry& entry) {
    heap_[position] = entry;
    slots_[entry.slot].position = position;
  }
  void remove_at(std::uint32_t position);

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<Handle> free_;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace corun::inline sim
