#include "sim/engine/event_queue.hpp"

#include <cassert>

namespace corun::inline sim {

namespace {
constexpr std::uint32_t kArity = 4;
}

EventQueue::Handle EventQueue::schedule(Time at, EventKind kind, std::uint32_t subject) {
  Handle handle;
  if (free_.empty()) {
    handle = static_cast<Handle>(slots_.size());
    slots_.emplace_back();
  } else {
    handle = free_.back();
    free_.pop_back();
  }
  slots_[handle].event = Event{at, kind, next_sequence_++, subject};
  heap_.emplace_back();
  sift_up(static_cast<std::uint32_t>(heap_.size() - 1),
          Entry{at, rank_of(slots_[handle].event), handle});
  return handle;
}

void EventQueue::move(Handle handle, Time at) {
  Slot& slot = slots_[handle];
  slot.event.at = at;
  slot.event.sequence = next_sequence_++;
  const Entry entry{at, rank_of(slot.event), handle};
  const std::uint32_t position = slot.position;
  if (position > 0 && entry.before(heap_[(position - 1) / kArity])) {
    sift_up(position, entry);
  } else {
    sift_down(position, entry);
  }
}

void EventQueue::cancel(Handle handle) {
  remove_at(slots_[handle].position);
  free_.push_back(handle);
}

Event EventQueue::pop() {
  assert(!heap_.empty());
  const Handle handle = heap_.front().slot;
  const Event event = slots_[handle].event;
  remove_at(0);
  free_.push_back(handle);
  return event;
}

void EventQueue::remove_at(std::uint32_t position) {
  const Entry last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) return;
  if (position > 0 && last.before(heap_[(position - 1) / kArity])) {
    sift_up(position, last);
  } else {
    sift_down(position, last);
  }
}

void EventQueue::sift_up(std::uint32_t position, Entry entry) {
  while (position > 0) {
    const std::uint32_t parent = (position - 1) / kArity;
    if (!entry.before(heap_[parent])) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, entry);
}

void EventQueue::sift_down(std::uint32_t position, Entry entry) {
  const auto size = static_cast<std::uint32_t>(heap_.size());
  for (;;) {
    const std::uint32_t first = position * kArity + 1;
    if (first >= size) break;
    const std::uint32_t last = first + kArity < size ? first + kArity : size;
    std::uint32_t best = first;
    for (std::uint32_t child = first + 1; child < last; ++child) {
      if (heap_[child].before(heap_[best])) best = child;
    }
    if (!heap_[best].before(entry)) break;
    place(position, heap_[best]);
    position = best;
  }
  place(position, entry);
}

}  // namespace corun::inline sim
