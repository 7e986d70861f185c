#include "tests/helpers/reference_simulator.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <variant>

namespace corun::test {

namespace {

struct Job {
  std::vector<GpuId> gpus;  ///< empty: not running
  double left_ns = 0;
  Time started{0};
  Time finished{0};
  bool will_oom = false;
  bool over = false;
  int started_as = 0;  ///< running number of the start
};

struct Gpu {
  std::vector<JobId> formed;
  std::optional<Time> episode;  ///< begin of the present episode
  std::vector<JobId> ended;     ///< finished in this episode
};

}  // namespace

ReferenceResult simulate_in_steps(const ClusterSpec& spec, const OwnedWorkload& workload,
                                  const World& world, Policy& policy, StartMode start,
                                  Duration step) {
  const std::size_t n = workload.jobs.size();
  std::vector<Job> jobs(n);
  std::vector<Gpu> gpus(static_cast<std::size_t>(spec.gpu_count()));
  std::vector<JobView> job_views(n);
  std::vector<JobId> waiting;
  ClusterState state(spec);
  ReferenceResult result;
  result.finish.assign(n, Time{0});
  result.ooms.assign(n, 0);
  std::size_t arrived = 0, over = 0, departures = 0;
  int starts = 0;
  int largest_gang = 1;
  bool restricted = false;
  for (const JobSpec& j : workload.jobs) {
    largest_gang = std::max(largest_gang, j.gpus);
    restricted |= j.gpu_models != 0;
  }
  Time last_happened = -kNever / 2;  // long ago

  const JobsOnTypes* on_types = world.on_types();
  const auto alone = [&](JobId j, GpuId g) {
    const GpuType& type = state.gpu_type(g);
    return on_types == nullptr ? type.speed : on_types->alone(j, type, std::nullopt).speed;
  };
  const auto demand = [&](JobId j, GpuId g) {
    return on_types == nullptr ? workload.jobs[index(j)].profile.mem_used_mib
                               : on_types->memory_mib(j, state.gpu_type(g));
  };
  const auto speed_of = [&](JobId j) {
    double slowest = 1e300;
    for (const GpuId g : jobs[index(j)].gpus) {
      const auto& residents = state.gpu(g).residents;
      std::vector<double> speeds(residents.size(), 1.0);
      if (residents.size() > 1) {
        world.speeds({residents, gpus[index(g)].formed, kNoJob, state.gpu_type(g).id}, std::nullopt,
                     speeds);
      }
      for (std::size_t i = 0; i < residents.size(); ++i) {
        if (residents[i] == j) slowest = std::min(slowest, speeds[i] * alone(j, g));
      }
    }
    return slowest;
  };
  const auto solo_of = [&](JobId j) {
    double slowest = 1e300;
    for (const GpuId g : jobs[index(j)].gpus) slowest = std::min(slowest, alone(j, g));
    return Duration{
        std::llround(static_cast<double>(workload.jobs[index(j)].work.count()) / slowest)};
  };
  const auto memory_on = [&](GpuId g) {
    double used = 0;
    for (const JobId j : state.gpu(g).residents) {
      if (!jobs[index(j)].will_oom) used += demand(j, g).value_or(0);
    }
    return used;
  };

  std::vector<double> speeds(n, 0);
  std::vector<Duration> solo(n);
  for (Time now{0}; over < n; now += step) {
    if (now > std::chrono::hours{100}) throw std::logic_error("the reference never ends");
    bool happened = false;
    // The work of every resident, at the speeds of the previous step.
    std::vector<JobId> done, failed;
    for (std::uint32_t i = 0; i < n; ++i) {
      Job& job = jobs[i];
      if (job.gpus.empty()) continue;
      if (job.will_oom) {
        if (now - job.started >= spec.oom.ramp) failed.push_back(JobId{i});
        continue;
      }
      job.left_ns -= speeds[i] * static_cast<double>(step.count());
      if (job.left_ns <= 1e-3) done.push_back(JobId{i});
    }
    std::sort(failed.begin(), failed.end(), [&](JobId a, JobId b) {
      return jobs[index(a)].started_as < jobs[index(b)].started_as;
    });
    const auto leave = [&](JobId j, bool finished) {
      happened = true;
      ++departures;
      Job& job = jobs[index(j)];
      result.finish[index(j)] = job.finished = now;
      const std::vector<GpuId> own = job.gpus;
      job.gpus.clear();
      for (const GpuId g : own) {
        state.remove(g, j);
        Gpu& gpu = gpus[index(g)];
        if (finished) gpu.ended.push_back(j);
        if (!state.gpu(g).residents.empty()) continue;
        std::vector<MemberOutcome> members;
        Duration sum{0};
        std::sort(gpu.ended.begin(), gpu.ended.end(), [&](JobId a, JobId b) {
          return jobs[index(a)].started_as < jobs[index(b)].started_as;
        });
        for (const JobId m : gpu.ended) {
          const Duration corun = jobs[index(m)].finished - jobs[index(m)].started;
          const auto own_solo = static_cast<double>(solo[index(m)].count());
          members.push_back({m, solo[index(m)], corun,
                             static_cast<double>((corun - solo[index(m)]).count()) / own_solo});
          sum += solo[index(m)];
        }
        const Duration length = now - *gpu.episode;
        // A gang leaves one episode on each of its GPUs: the first one is reported.
        if (!members.empty() && g == own.front()) {
          policy.corun_ended(
              {members, length,
               static_cast<double>((sum - length).count()) / static_cast<double>(sum.count()),
               true});
        }
        gpu = Gpu{};
      }
    };
    for (const JobId j : done) {
      leave(j, true);
      jobs[index(j)].over = true;
      ++over;
    }
    for (const JobId j : failed) {
      leave(j, false);
      if (result.ooms[index(j)]++ == spec.oom.retries) {
        jobs[index(j)].over = true;
        ++over;
      } else {
        ++job_views[index(j)].resubmissions;
        waiting.push_back(j);
        policy.arrived(job_views[index(j)], now);
      }
    }
    for (; arrived < n; ++arrived) {
      const JobId j = workload.arrivals[arrived];
      const JobSpec& asked = workload.jobs[index(j)];
      if (asked.submit > now) break;
      happened = true;
      job_views[index(j)] = job_view_of(j, asked);
      waiting.push_back(j);
      policy.arrived(job_views[index(j)], now);
    }
    if (happened) {
      result.smallest_gap = std::min(result.smallest_gap, now - last_happened);
      last_happened = now;
    }
    // One pass, only after an event, until the policy starts no more jobs.
    for (bool started = happened; started && !waiting.empty();) {
      started = false;
      std::vector<Decision> decisions;
      policy.decide(ClusterView(now, start, waiting, job_views, state, departures, largest_gang, 0,
                                kNever, restricted),
                    decisions);
      for (const Decision& d : decisions) {
        const auto* group = std::get_if<StartGroup>(&d);
        if (group == nullptr) throw std::logic_error("the reference knows no wake-ups");
        started = true;
        for (const JobId j : group->jobs) {
          std::erase(waiting, j);
          Job& job = jobs[index(j)];
          job.gpus = group->gpus;
          job.left_ns = static_cast<double>(workload.jobs[index(j)].work.count());
          job.started = now;
          job.started_as = starts++;
          job.will_oom = false;
          solo[index(j)] = solo_of(j);
          for (const GpuId g : group->gpus) {
            const auto own = demand(j, g);
            job.will_oom |= own && memory_on(g) + *own > state.gpu_type(g).memory_mib;
          }
          for (const GpuId g : group->gpus) {
            if (!gpus[index(g)].episode) gpus[index(g)].episode = now;
            state.add(g, j, false);
            gpus[index(g)].formed = state.gpu(g).residents;
          }
        }
      }
    }
    for (std::uint32_t i = 0; i < n && happened; ++i) {
      if (!jobs[i].gpus.empty()) speeds[i] = speed_of(JobId{i});
    }
  }
  result.solo = solo;
  return result;
}

}  // namespace corun::test
