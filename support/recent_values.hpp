#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <list>
#include <mutex>
#include <utility>

/// Values that several threads need and that are costly to make: each is made once and held while it
/// was requested recently.
namespace corun::inline support {

/// Thread-safe. `Key` has operator==; `Value` is cheap to copy, like a shared_ptr.
template <typename Key, typename Value>
class RecentValues {
 public:
  /// The weights of the held values sum up to at most `capacity`; the least recently requested ones
  /// are dropped. The most recent one is held whatever its weight.
  explicit RecentValues(std::size_t capacity) : capacity_(capacity) {}

  /// The value of a key, from `make()` unless it is held. Waits if another thread is making it. A
  /// held value for which `valid(value)` is false is made again. Throws what `make` throws; the next
  /// call makes it again.
  template <typename Make, typename Valid>
  Value get(const Key& key, std::size_t weight, const Make& make, const Valid& valid) {
    for (;;) {
      std::promise<Value> promise;
      const auto [held, number] = find_or_add(key, weight, promise);
      if (held.valid()) {
        const Value& value = held.get();
        if (valid(value)) return value;
        drop(number);
        continue;
      }
      try {
        Value value = make();
        promise.set_value(value);
        return value;
      } catch (...) {
        drop(number);
        promise.set_exception(std::current_exception());
        throw;
      }
    }
  }
  template <typename Make>
  Value get(const Key& key, std::size_t weight, const Make& make) {
    return get(key, weight, make, [](const Value&) { return true; });
  }

  /// Number of values made, or being made.
  std::size_t made() const {
    const std::lock_guard lock(mutex_);
    return next_number_;
  }

 private:
  struct Entry {
    Key key;
    std::size_t weight = 0;
    std::uint64_t number = 0;
    std::shared_future<Value> value;
  };
  struct Found {
    std::shared_future<Value> held;  ///< invalid if the caller must make the value
    std::uint64_t number = 0;
  };

  Found find_or_add(const Key& key, std::size_t weight, std::promise<Value>& promise) {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(entries_, key, &Entry::key);
    if (at != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, at);
      return {at->value, at->number};
    }
    entries_.push_front({key, weight, next_number_++, promise.get_future().share()});
    total_ += weight;
    while (total_ > capacity_ && entries_.size() > 1) {
      total_ -= entries_.back().weight;
      entries_.pop_back();
    }
    return {{}, entries_.front().number};
  }

  void drop(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& e) {
      if (e.number != number) return false;
      total_ -= e.weight;
      return true;
    });
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;  ///< guards all below; nothing is made under it
  std::list<Entry> entries_;  ///< most recently requested first
  std::size_t total_ = 0;     ///< of their weights
  std::uint64_t next_number_ = 0;
};

}  // namespace corun::inline support
