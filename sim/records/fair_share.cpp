#include "sim/records/fair_share.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

namespace corun::inline sim {

namespace {

/// Jobs of one gang size run at one rate.
struct GangSize {
  int gang = 1;
  double done_s = 0;  ///< work that a job present from the start would have done
  using End = std::pair<double, std::size_t>;  ///< `done_s` at which a job has done its work
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;  ///< the first on top
};

/// Ascending by gang, without jobs.
std::vector<GangSize> gang_sizes(std::span<const FairShareJob> jobs) {
  std::vector<int> gangs;
  for (const FairShareJob& job : jobs) {
    const auto at = std::ranges::lower_bound(gangs, job.gpus);
    if (at == gangs.end() || *at != job.gpus) gangs.insert(at, job.gpus);
  }
  std::vector<GangSize> sizes(gangs.size());
  for (std::size_t i = 0; i < gangs.size(); ++i) sizes[i].gang = gangs[i];
  return sizes;
}

}  // namespace

std::vector<double> fair_share_times_s(std::span<const FairShareJob> jobs, int gpus) {
  std::vector<std::size_t> arrivals(jobs.size());
  std::iota(arrivals.begin(), arrivals.end(), std::size_t{0});
  std::ranges::stable_sort(arrivals, {}, [&](std::size_t j) { return jobs[j].submit; });
  std::vector<double> times(jobs.size(), 0);
  std::vector<GangSize> sizes = gang_sizes(jobs);
  std::size_t present = 0;
  double now_s = 0;
  const auto rate = [&](int gang) {
    return std::min(1.0, static_cast<double>(gpus) / (static_cast<double>(present) * gang));
  };
  const auto advance = [&](double to_s) {
    for (GangSize& size : sizes) {
      if (!size.ends.empty()) size.done_s += rate(size.gang) * (to_s - now_s);
    }
    now_s = to_s;
  };
  for (auto next = arrivals.begin(); next != arrivals.end() || present > 0;) {
    double end_s = std::numeric_limits<double>::infinity();
    GangSize* ending = nullptr;
    for (GangSize& size : sizes) {
      if (size.ends.empty()) continue;
      const double left = std::max(size.ends.top().first - size.done_s, 0.0);
      if (const double at = now_s + left / rate(size.gang); at < end_s) {
        end_s = at;
        ending = &size;
      }
    }
    const double arrival_s = next == arrivals.end() ? std::numeric_limits<double>::infinity()
                                                    : to_seconds(jobs[*next].submit);
    if (end_s <= arrival_s) {
      advance(end_s);
      const std::size_t job = ending->ends.top().second;
      ending->ends.pop();
      if (ending->ends.empty()) ending->done_s = 0;
      times[job] = std::max(now_s - to_seconds(jobs[job].submit), to_seconds(jobs[job].work));
      --present;
    } else {
      advance(std::max(arrival_s, now_s));
      GangSize& size = *std::ranges::lower_bound(sizes, jobs[*next].gpus, {}, &GangSize::gang);
      size.ends.emplace(size.done_s + to_seconds(jobs[*next].work), *next);
      ++present;
      ++next;
    }
  }
  return times;
}

}  // namespace corun::inline sim
