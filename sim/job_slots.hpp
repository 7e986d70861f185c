#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "sim/ids.hpp"

/// Storage for jobs only while they are in the system: four bytes for every job of the workload, a
/// whole T for those that have arrived and not yet left. Slots are used again. Throws
/// std::logic_error for a job that is not in the system.
namespace corun::inline sim {

template <typename T>
class JobSlots {
 public:
  explicit JobSlots(std::size_t jobs) : slot_(jobs, kNone) {}

  std::size_t jobs() const { return slot_.size(); }
  bool contains(JobId job) const { return index(job) < slot_.size() && slot_[index(job)] != kNone; }

  /// A T{} for the job, which must not be in the system. References to other jobs' values become invalid.
  T& add(JobId job) {
    if (free_.empty()) {
      slot_[index(job)] = static_cast<std::uint32_t>(values_.size());
      return values_.emplace_back();
    }
    slot_[index(job)] = free_.back();
    free_.pop_back();
    return values_[slot_[index(job)]];
  }
  void erase(JobId job) {
    const std::uint32_t slot = slot_of(job);
    free_.push_back(slot);
    std::destroy_at(&values_[slot]);  // and made anew in place: a T may be large
    std::construct_at(&values_[slot]);
    slot_[index(job)] = kNone;
  }
  T& operator[](JobId job) { return values_[slot_of(job)]; }
  const T& operator[](JobId job) const { return values_[slot_of(job)]; }
  /// Null for a job that is not in the system.
  const T* find(JobId job) const {
    if (index(job) >= slot_.size()) return nullptr;
    const std::uint32_t slot = slot_[index(job)];
    return slot == kNone ? nullptr : values_.data() + slot;
  }

 private:
  std::uint32_t slot_of(JobId job) const {
    if (!contains(job)) throw std::logic_error("a job is not in the system");
    return slot_[index(job)];
  }

  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::vector<std::uint32_t> slot_;
  std::vector<T> values_;
  std::vector<std::uint32_t> free_;
};

}  // namespace corun::inline sim
