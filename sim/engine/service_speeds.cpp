#include <algorithm>
#include <vector>

#include "sim/engine/simulated_backend.hpp"

/// Replicas of services in SimulatedBackend: a replica works in a share of time only, and slows its co-runners in that share.
namespace corun::inline sim {

namespace {

/// Replicas of one GPU that may be idle each on its own: 2^8 sets of jobs are asked about at most. Others always work.
constexpr std::size_t kMostIdle = 8;

}  // namespace

bool SimulatedBackend::serves(GpuId gpu) const {
  return std::ranges::any_of(state_.gpu(gpu).residents, [this](JobId j) { return is_replica(j); });
}

/// An interval of the services is over, if that is next.
void SimulatedBackend::change_loads(std::vector<Report>& out) {
  ServiceTraffic& services = *options_.services;
  if (services.next_change() > now_) return;
  now_ = services.next_change();
  services.advance(now_);
  std::vector<JobId> replicas;
  services.running(replicas);
  std::vector<GpuId> gpus;
  for (const JobId job : replicas) gpus.push_back(jobs_[job].running.gpus.front());
  std::ranges::sort(gpus);
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  for (const GpuId gpu : gpus) {
    if (state_.gpu(gpu).residents.size() > 1) co_runner_changed({&gpu, 1});
  }
  out.push_back({ReportKind::kTimer, kNoJob});
}

/// As ask_world(): speeds are means over which replicas work, each in its share of time, independently. A replica's own
/// speed is that while it works.
Provenance SimulatedBackend::ask_world_by_load(GpuId gpu, JobId newcomer) {
  Device& device = devices_[index(gpu)];
  const std::vector<JobId>& residents = state_.gpu(gpu).residents;
  std::vector<double> busy(residents.size(), 1);
  std::vector<std::size_t> may_idle;
  for (std::size_t i = 0; i < residents.size() && may_idle.size() < kMostIdle; ++i) {
    if (is_replica(residents[i])) may_idle.push_back(i);
  }
  std::vector<double> mean(residents.size(), 0);
  Provenance source = Provenance::kAlone;
  for (std::size_t idle = 0; idle < std::size_t{1} << may_idle.size(); ++idle) {
    const auto is_idle = [&](std::size_t i) {
      const auto at = std::ranges::find(may_idle, i);
      return at != may_idle.end() &&
             (idle >> static_cast<std::size_t>(at - may_idle.begin()) & 1U) != 0;
    };
    /// Probability of this set of working replicas, given that `self` works.
    const auto weight = [&](std::size_t self) {
      double product = 1;
      for (const std::size_t i : may_idle) {
        if (i != self) product *= is_idle(i) ? 1 - busy[i] : busy[i];
      }
      return product;
    };
    std::vector<std::size_t> working;
    std::vector<JobId> known;
    std::vector<JobId> formed = device.formed;
    for (std::size_t i = 0; i < residents.size(); ++i) {
      if (is_idle(i)) {
        std::erase(formed, as_known(residents[i]));
      } else {
        working.push_back(i);
        known.push_back(as_known(residents[i]));
      }
    }
    if (working.empty()) continue;
    std::ranges::sort(known);
    std::vector<double> speeds(known.size(), 1.0);
    if (known.size() > 1) {
      const JobId newest = as_known(newcomer);
      const bool works = std::ranges::binary_search(known, newest);
      const Provenance asked =
          world_.speeds({known, formed, works ? newest : known.back(), state_.gpu_type(gpu).id},
                        options_.noise_seed, speeds);
      if (idle == 0) source = asked;
    }
    const auto speed_of = [&](std::size_t i) {
      const auto at = std::ranges::lower_bound(known, as_known(residents[i]));
      return speeds[static_cast<std::size_t>(at - known.begin())];
    };
    if (idle == 0) {  // all work
      for (const std::size_t i : may_idle) {
        const double alone = speed_alone(as_known(residents[i]), gpu);
        busy[i] = options_.services->busy(
            residents[i], alone * speed_of(i) * jobs_[residents[i]].running.noise.speed);
      }
    }
    for (const std::size_t i : working) mean[i] += weight(i) * speed_of(i);
  }
  device.speeds = std::move(mean);
  return source;
}

}  // namespace corun::inline sim
