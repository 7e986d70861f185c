#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "policies/srsf_packed/running.hpp"

/// The waiting jobs in the order in which they are tried.
namespace corun::inline policies::srsf {

class Queue {
 public:
  Queue(const Options& options, Jobs& jobs, const Running& running)
      : options_(options), jobs_(jobs), running_(running) {}

  void enter(JobId id, Job& j) {
    j.position = next_position_++;
    enqueue(id, j);
  }
  void leave(JobId id, const Job& j);
  /// After the estimates' reliability has changed.
  void rank_again();
  /// Jobs that have waited too long go before the others.
  void promote_overdue();
  /// Jobs that would be the last to end go before the others.
  void promote_tail();

  bool empty() const { return waiting_.empty(); }
  /// The first job after this one, or of all; nullptr if there is none.
  const Entry* after(const std::optional<Entry>& entry) const {
    const auto at = entry ? waiting_.upper_bound(*entry) : waiting_.begin();
    return at == waiting_.end() ? nullptr : &*at;
  }

 private:
  void enqueue(JobId id, Job& j);

  const Options& options_;
  Jobs& jobs_;
  const Running& running_;
  std::set<Entry> waiting_;
  std::set<std::tuple<Time, std::uint64_t, JobId>> due_;  ///< waiting jobs that are not overdue
  double ranked_with_ = 1;  ///< reliability of the estimates behind the ranks
  std::uint64_t next_position_ = 0;
};

}  // namespace corun::inline policies::srsf
