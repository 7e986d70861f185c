#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/ids.hpp"

/// The queue of waiting jobs, oldest first, as one contiguous span. push: O(1) amortised; contains: O(1);
/// erase: O(log n) to find, then moves the shorter side: O(1) at either end.
namespace corun::inline sim {

class WaitingQueue {
 public:
  explicit WaitingQueue(std::size_t jobs) : ticket_(jobs, 0) {}

  std::span<const JobId> jobs() const { return {queue_.data() + head_, queue_.size() - head_}; }
  bool empty() const { return head_ == queue_.size(); }
  bool contains(JobId job) const { return index(job) < ticket_.size() && ticket_[index(job)] != 0; }

  void push(JobId job) {
    ticket_[index(job)] = next_ticket_++;
    queue_.push_back(job);
  }

  void erase(JobId job) {
    const auto first = queue_.begin() + static_cast<std::ptrdiff_t>(head_);
    const auto at =
        std::lower_bound(first, queue_.end(), ticket_[index(job)],
                         [this](JobId j, std::uint64_t t) { return ticket_[index(j)] < t; });
    if (at - first < queue_.end() - at) {
      std::move_backward(first, at, at + 1);
      ++head_;
    } else {
      queue_.erase(at);
    }
    ticket_[index(job)] = 0;
    if (head_ > 64 && head_ * 2 > queue_.size()) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }

 private:
  std::vector<JobId> queue_;  ///< ascending by ticket from head_ on
  std::size_t head_ = 0;
  std::vector<std::uint64_t> ticket_;  ///< by job; 0 = does not wait
  std::uint64_t next_ticket_ = 1;
};

}  // namespace corun::inline sim
