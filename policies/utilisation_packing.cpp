#include "policies/utilisation_packing.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace corun::inline policies {

namespace {

/// Sums of utilisations differ in their last bits with the order of their terms.
constexpr double kUtilRounding = 1e-9;

}  // namespace

double UtilisationPacking::util_of(const JobView& job) const {
  return std::min(job.profile.gpu_util_pct.value_or(options_.capacity_pct), options_.capacity_pct);
}

void UtilisationPacking::arrived(const JobView& job, Time) {
  waiting_.insert({util_of(job), next_position_++, job.id});
}

void UtilisationPacking::departed(JobId job, LogKind, Time) {
  const auto at = running_.find(job);
  if (at == running_.end()) return;  // it was profiled
  for (const GpuId g : at->second.gpus) {
    Gpu& gpu = gpus_[index(g)];
    gpu.util_pct -= at->second.util_pct;
    gpu.memory_mib -= at->second.memory_mib;
    if (--gpu.residents == 0) gpu = {};
  }
  running_.erase(at);
}

bool UtilisationPacking::has_room(const ClusterView& view, GpuId gpu, const JobView& job) const {
  if (!may_run_on(job, view.gpu_type(gpu)) || view.gpu(gpu).profiling) return false;
  const Gpu& at = gpus_[index(gpu)];
  if (at.residents == 0) return true;
  if (at.residents >= most_jobs_ || job.resubmissions > 0) return false;
  if (at.util_pct + util_of(job) > options_.capacity_pct + kUtilRounding) return false;
  return !options_.checks_memory ||
         at.memory_mib + job.profile.mem_used_mib.value_or(0) <= view.gpu_type(gpu).memory_mib;
}

std::vector<GpuId> UtilisationPacking::first_fit(const ClusterView& view,
                                                 const JobView& job) const {
  std::vector<GpuId> found;
  const auto wanted = static_cast<std::size_t>(job.gpus);
  for (std::uint32_t g = 0; g < gpus_.size() && found.size() < wanted; ++g) {
    if (has_room(view, GpuId{g}, job)) found.push_back(GpuId{g});
  }
  if (found.size() < wanted) found.clear();
  return found;
}

double UtilisationPacking::most_room(const ClusterView& view, int most_jobs) const {
  double most = -1;
  for (std::uint32_t g = 0; g < gpus_.size(); ++g) {
    const Gpu& gpu = gpus_[g];
    if (gpu.residents >= most_jobs || view.gpu(GpuId{g}).profiling) continue;
    const double room = gpu.residents == 0 ? std::numeric_limits<double>::infinity()
                                           : options_.capacity_pct + kUtilRounding - gpu.util_pct;
    most = std::max(most, room);
  }
  return most;
}

void UtilisationPacking::decide(const ClusterView& view, std::vector<Decision>& out) {
  gpus_.resize(view.gpus().size());
  most_jobs_ = std::min(options_.most_jobs, view.max_jobs_per_gpu(options_.most_jobs));
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const double room = most_room(view, most_jobs_);
    if (room < 0) return;
    if (at->util_pct > room) {  // so do all up to the first that is small enough
      at = waiting_.lower_bound({room, 0, kNoJob});
      continue;
    }
    const JobView& job = view.job(at->job);
    std::vector<GpuId> gpus = first_fit(view, job);
    if (gpus.empty()) {
      ++at;
      continue;
    }
    const Running running{at->util_pct, job.profile.mem_used_mib.value_or(0), gpus};
    for (const GpuId g : gpus) {
      Gpu& gpu = gpus_[index(g)];
      ++gpu.residents;
      gpu.util_pct += running.util_pct;
      gpu.memory_mib += running.memory_mib;
    }
    out.push_back(StartGroup{{at->job}, std::move(gpus)});
    running_[at->job] = running;
    at = waiting_.erase(at);
  }
}

const ParametersOf<UtilisationPacking::Options>& UtilisationPacking::parameters() {
  static const auto all =
      ParametersOf<Options>()
          .number("most_jobs", &Options::most_jobs, {1, 1000, "jobs that share a GPU at most"})
          .only_where(jobs_share)
          .number("capacity_pct", &Options::capacity_pct,
                  {0, 1e6, "utilisations of jobs that share a GPU add up to this at most [%]"})
          .only_where(jobs_share)
          .choice("memory", &Options::checks_memory, {{"ignored", false}, {"checked", true}},
                  "whether a job must fit beside the residents, or may run out of memory")
          .only_where(jobs_share_memory);
  return all;
}

}  // namespace corun::inline policies
