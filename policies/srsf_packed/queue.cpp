#include "policies/srsf_packed/queue.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace corun::inline policies::srsf {

void Queue::enqueue(JobId id, Job& j) {
  const double rest = jobs_.rest_s(j);
  j.entry = {rest * j.gpus(), j.submit, j.position, id};
  if (options_.patience > 0 && !j.is_overdue) {
    // Not before one that is overdue already.
    j.due = std::max(jobs_.now(), later(j.submit + j.served,
                                        from_seconds(std::min(options_.patience * rest, 1e9))));
    due_.insert({j.due, j.position, id});
  }
  if (j.is_overdue) j.entry = {-1, j.due, j.position, id};
  waiting_.insert(j.entry);
}

void Queue::leave(JobId id, const Job& j) {
  waiting_.erase(j.entry);
  if (!j.is_overdue) due_.erase({j.due, j.position, id});
}

void Queue::rank_again() {
  constexpr double kStep = 0.02;
  if (std::abs(jobs_.service().reliability() - ranked_with_) < kStep) return;
  ranked_with_ = jobs_.service().reliability();
  std::vector<JobId> all;
  for (const Entry& e : waiting_) all.push_back(e.job);
  for (const JobId id : all) {
    Job& j = jobs_.at(id);
    leave(id, j);
    enqueue(id, j);
  }
}

void Queue::promote_overdue() {
  while (!due_.empty() && std::get<Time>(*due_.begin()) <= jobs_.now()) {
    const JobId id = std::get<JobId>(*due_.begin());
    Job& j = jobs_.at(id);
    leave(id, j);
    j.is_overdue = true;
    enqueue(id, j);
  }
}

void Queue::promote_tail() {
  double service = 0;
  for (std::uint32_t g = 0; g < running_.gpus(); ++g) {
    for (const JobId id : running_.on(GpuId{g})) {
      const Job& j = jobs_.at(id);
      service += running_.rest_s(id, running_.at(id)) * (j.is_part() ? j.gpus() : 1);
    }
  }
  std::vector<std::pair<double, JobId>> rests;
  for (const Entry& e : waiting_) {
    const Job& j = jobs_.at(e.job);
    const double rest = jobs_.rest_s(j);
    service += rest * j.gpus();
    if (e.rank > 0) rests.emplace_back(rest, e.job);
  }
  const double drain_s = service / static_cast<double>(running_.gpus());
  for (const auto& [rest, id] : rests) {
    if (options_.tail * rest <= drain_s) continue;
    Job& j = jobs_.at(id);
    waiting_.erase(j.entry);
    j.entry.rank = 0;
    j.entry.since = Time{0} - from_seconds(rest);
    waiting_.insert(j.entry);
  }
}

}  // namespace corun::inline policies::srsf
