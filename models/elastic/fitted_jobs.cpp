#include "models/elastic/fitted_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace corun::inline models {

void FittedJobs::observe(const JobView& view, const Allocation& on) {
  if (!truth_.runs_on(view.id, on.gpu_type)) return;
  learn(view.id, on, truth_.report(view.id, static_cast<std::size_t>(view.phase), on));
}

void FittedJobs::measure(JobId known, const Allocation& on) {
  const auto [job, epoch] = truth_.in_epoch(known);
  const auto chosen = chosen_.find({job, on.gpu_type});
  learn(job, on,
        chosen == chosen_.end() ? truth_.report(job, epoch, on)
                                : truth_.report(job, epoch, on, chosen->second));
}

double FittedJobs::choose(JobId known, const Allocation& on) {
  const JobId job = truth_.in_epoch(known).first;
  if (truth_.fixed_batch(job) != 0) return truth_.factor(known, on);
  const BatchSplit split = best_split(job, on);
  chosen_[{job, on.gpu_type}] = split;
  return truth_.factor(known, on, split);
}

Samples FittedJobs::samples(JobId known, const Allocation& on) const {
  const auto chosen = chosen_.find({truth_.in_epoch(known).first, on.gpu_type});
  return chosen == chosen_.end() ? truth_.samples(known, on)
                                 : truth_.samples(known, on, chosen->second);
}

BatchSplit FittedJobs::best_split(JobId id, const Allocation& on) const {
  const BatchLimits limits = truth_.limits(id, on.gpu_type);
  const auto gpus = static_cast<std::uint32_t>(on.gpus);
  const auto job = jobs_.find(id);
  if (job != jobs_.end()) {
    const auto here = job->second.on_types.find(on.gpu_type);
    if (here != job->second.on_types.end()) {
      const BatchChoice best = best_batch(here->second.fitted, job->second.gradient, limits,
                                          {static_cast<std::uint32_t>(on.nodes), gpus});
      const std::uint32_t most = limits.most / (gpus * (best.accumulations + 1));
      if (best.gpu_batch > 0 && most > 0) {
        return {static_cast<int>(std::min(best.gpu_batch, most)),
                static_cast<int>(best.accumulations)};
      }
    }
  }
  return truth_.split(id, static_cast<int>(std::max(limits.initial, limits.least_gpu * gpus)), on);
}

void FittedJobs::learn(JobId id, const Allocation& on, const ElasticJobs::Report& report) {
  Job& job = jobs_[id];
  if (job.gradient != report.gradient) job.known.clear();
  job.gradient = report.gradient;
  job.most_gpus = std::max(job.most_gpus, static_cast<std::uint32_t>(on.gpus));
  OnType& here = job.on_types[on.gpu_type];
  const GpuSpread spread{static_cast<std::uint32_t>(on.nodes), static_cast<std::uint32_t>(on.gpus)};
  const bool known = std::ranges::any_of(here.steps, [&](const ProfiledStep& step) {
    return step.spread == spread && step.gpu_batch == report.gpu_batch;
  });
  if (known) return;
  here.steps.push_back({.spread = spread,
                        .gpu_batch = report.gpu_batch,
                        .gradient_s = report.step_s - report.sync_s,
                        .step_s = report.step_s});
  here.fitted = fit_step_time(here.steps);
  job.known.clear();
}

double FittedJobs::goodput_on(const Job& known, JobId job, std::uint32_t type,
                              GpuSpread spread) const {
  const StepTimeParameters& fitted = known.on_types.at(type).fitted;
  const BatchLimits limits = truth_.limits(job, type);
  const int fixed = truth_.fixed_batch(job);
  if (fixed == 0) return best_batch(fitted, known.gradient, limits, spread).goodput;
  const auto gpus = static_cast<double>(spread.gpus);
  const double on_gpu = std::ceil(fixed / gpus);
  const double accumulations = std::max(0.0, std::ceil(on_gpu / limits.most_gpu) - 1);
  const double gpu_batch = std::ceil(on_gpu / (accumulations + 1));
  return throughput(fitted, spread, static_cast<std::uint32_t>(gpu_batch),
                    static_cast<std::uint32_t>(accumulations)) *
         efficiency(known.gradient, fixed, limits.initial);
}

double FittedJobs::goodput(const JobView& view, const Allocation& on) const {
  if (!truth_.runs_on(view.id, on.gpu_type)) return 0;
  const auto at = jobs_.find(view.id);
  if (at == jobs_.end()) return on.gpus == 1 ? 1 : 0;
  const Job& job = at->second;
  GpuSpread spread{static_cast<std::uint32_t>(on.nodes), static_cast<std::uint32_t>(on.gpus)};
  const auto [cached, fresh] = job.known.try_emplace({on.gpu_type, spread.nodes, spread.gpus}, 0.0);
  if (!fresh) return cached->second;
  if (job.on_types.contains(on.gpu_type)) {
    cached->second = goodput_on(job, view.id, on.gpu_type, spread);
  } else {
    const std::uint32_t source = job.on_types.begin()->first;
    cached->second = goodput_on(job, view.id, source, spread) *
                     truth_.samples_per_s(view.id, on.gpu_type) /
                     truth_.samples_per_s(view.id, source);
  }
  return cached->second;
}

double FittedJobs::remaining_s(const JobView&, const Allocation&, Time) const {
  return std::numeric_limits<double>::infinity();
}

int FittedJobs::most_gpus(const JobView& view) const {
  const auto at = jobs_.find(view.id);
  const int had = at == jobs_.end() ? 0 : static_cast<int>(at->second.most_gpus);
  return std::min(AllocationBelief::most_gpus(view), std::max(2 * had, 1));
}

}  // namespace corun::inline models
