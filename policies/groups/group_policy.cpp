#include "policies/groups/group_policy.hpp"

#include <algorithm>
#include <utility>

#include "policies/placement.hpp"

namespace corun::inline policies {

void sort_by_submission(const ClusterView& view, std::span<JobId> jobs) {
  std::ranges::sort(jobs, {}, [&](JobId j) { return std::pair(view.job(j).submit, j); });
}

void GroupPolicy::decide(const ClusterView& view, std::vector<Decision>& out) {
  start_groups(view, out);
  if (out.empty() && view.start_mode() == StartMode::kJoin) join_residents(view, out);
}

void GroupPolicy::start_groups(const ClusterView& view, std::vector<Decision>& out) {
  if (view.empty_gpus().empty()) return;

  // Jobs that ask for the same GPUs are planned together. Where jobs ask for different ones, those that ask as
  // the oldest are planned, one group at a time, and a group that does not fit blocks the queue: no job starves.
  std::vector<JobId> alike;
  std::span<const JobId> waiting = view.waiting();
  const bool mixed = view.largest_gang() > 1 || view.restricted();
  const std::size_t most = window();
  if (mixed) {
    const GpuAsk ask = ask_of(view.job(waiting.front()));
    for (const JobId j : waiting) {
      if (ask_of(view.job(j)) == ask) alike.push_back(j);
      if (alike.size() == most) break;
    }
    waiting = alike;
  }
  waiting = waiting.first(std::min(waiting.size(), most));
  const std::size_t room = mixed ? 1 : static_cast<std::size_t>(view.empty_gpus().size());

  std::vector<Group> planned;
  if (plan_once_) {
    if (frozen_.empty()) {
      for (Group& g : plan(view, waiting, committed_, waiting.size())) {
        frozen_.push_back(std::move(g));
      }
    }
    while (!frozen_.empty() && planned.size() < room) {
      planned.push_back(std::move(frozen_.front()));
      frozen_.pop_front();
    }
  } else {
    planned = plan(view, waiting, committed_, room);
    if (planned.size() > room) planned.resize(room);
  }

  if (!mixed) {
    auto group = planned.begin();
    view.empty_gpus().each([&](GpuId g) {
      if (group == planned.end()) return false;
      out.push_back(StartGroup{std::move(group->jobs), {g}});
      ++group;
      return true;
    });
    committed_ += out.size();
    return;
  }
  for (Group& group : planned) {
    std::vector<GpuId> gpus = choose_empty_gpus(view, ask_of(view.job(group.jobs.front())));
    if (gpus.empty()) {
      if (plan_once_) frozen_.push_front(std::move(group));
      return;
    }
    out.push_back(StartGroup{std::move(group.jobs), std::move(gpus)});
    ++committed_;
  }
}

void GroupPolicy::join_residents(const ClusterView& view, std::vector<Decision>& out) {
  if (view.max_jobs_per_gpu(kPair) < kPair) return;
  for (std::size_t g = 0; g < view.gpus().size(); ++g) {
    const GpuState& gpu = view.gpus()[g];
    if (gpu.residents.size() != 1 || gpu.profiling) continue;
    const JobId resident = gpu.residents.front();
    if (view.job(resident).gpus != 1) continue;  // running gangs take no co-runners
    std::vector<JobId> suited;
    std::span<const JobId> waiting = view.waiting();
    if (view.largest_gang() > 1 || view.restricted()) {
      const GpuType& type = view.gpu_type(GpuId{static_cast<std::uint32_t>(g)});
      for (const JobId j : waiting) {
        if (view.job(j).gpus == 1 && may_run_on(view.job(j), type)) suited.push_back(j);
      }
      waiting = suited;
    }
    if (waiting.empty()) {
      if (view.restricted()) continue;  // GPUs of other types may suit
      return;
    }
    waiting = waiting.first(std::min(waiting.size(), window()));
    if (const auto job = co_runner(view, resident, waiting)) {
      out.push_back(StartGroup{{*job}, {GpuId{static_cast<std::uint32_t>(g)}}});
      std::erase_if(frozen_, [&](Group& group) {
        std::erase(group.jobs, *job);
        return group.jobs.empty();
      });
      return;  // called again with an up-to-date view
    }
  }
}

}  // namespace corun::inline policies
