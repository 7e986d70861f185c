#include "traces/trace_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "sim/base/nan.hpp"
#include "sim/base/summary.hpp"

namespace corun::inline traces {

double gpu_seconds(const JobSpec& job) {
  return to_seconds(job.work) * job.gpus * (job.gpu_milli * 1e-3);
}

namespace {

/// Of jobs that change their number of GPUs or their phase.
void count_change(const Trace& trace, const JobSpec& job, TraceStatistics& s) {
  if (job.gpus_min < job.gpus_max) {
    s.elastic_least = s.elastic == 0 ? job.gpus_min : std::min(s.elastic_least, job.gpus_min);
    s.elastic_most = std::max(s.elastic_most, job.gpus_max);
    ++s.elastic;
  }
  if (job.phases == 0) return;
  s.changing += job.phases > 1 ? 1 : 0;
  s.most_phases = std::max<std::size_t>(s.most_phases, job.phases);
  const std::span phases = std::span(trace.phases).subspan(job.first_phase, job.phases);
  const auto grows = [](const TraceJob& before, const TraceJob& after) {
    const auto& less = before.spec.profile.mem_used_mib;
    const auto& more = after.spec.profile.mem_used_mib;
    return less && more && *less < *more;
  };
  s.memory_grows += std::ranges::adjacent_find(phases, grows) != phases.end() ? 1 : 0;
}

}  // namespace

TraceStatistics trace_statistics(const Trace& trace) {
  TraceStatistics s;
  s.jobs = trace.jobs.size();
  std::map<int, GangStatistics> gangs;
  std::vector<VirtualClusterStatistics> clusters(trace.virtual_clusters.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) clusters[i].name = trace.virtual_clusters[i];
  std::vector<double> work;
  work.reserve(s.jobs);
  std::vector<double> submit_s;
  for (const TraceJob& trace_job : trace.jobs) {
    const JobSpec& job = trace_job.spec;
    const double gpu_s = gpu_seconds(job);
    GangStatistics& gang = gangs[job.gpus];
    gang.gpus = job.gpus;
    ++gang.jobs;
    gang.gpu_s += gpu_s;
    if (job.virtual_cluster < clusters.size()) {
      ++clusters[job.virtual_cluster].jobs;
      clusters[job.virtual_cluster].gpu_s += gpu_s;
    }
    s.sharing += job.gpu_milli < 1000 ? 1 : 0;
    s.gpus += job.gpus * (job.gpu_milli * 1e-3);
    s.gpu_s += gpu_s;
    s.mean_work_s += to_seconds(job.work);
    const Profile& p = job.profile;
    s.with_profile += p.gpu_util_pct || p.mem_alloc_pct || p.mem_time_pct ? 1 : 0;
    s.with_memory += p.mem_used_mib ? 1 : 0;
    s.with_model += job.gpu_models != 0 ? 1 : 0;
    count_change(trace, job, s);
    s.spread += trace_job.run_nodes > 1 ? 1 : 0;
    s.most_run_nodes = std::max(s.most_run_nodes, trace_job.run_nodes);
    work.push_back(to_seconds(job.work));
    submit_s.push_back(to_seconds(job.submit));
  }
  for (auto& [gpus, gang] : gangs) s.gangs.push_back(gang);
  for (auto& cluster : clusters) {
    if (cluster.jobs > 0) s.virtual_clusters.push_back(std::move(cluster));
  }
  if (s.jobs == 0) return s;
  s.mean_work_s /= static_cast<double>(s.jobs);
  std::ranges::sort(work);
  for (const double p : kWorkQuantiles) s.work_quantiles_s.push_back(quantile(work, p));

  std::ranges::sort(submit_s);
  s.first_submit_s = submit_s.front();
  s.last_submit_s = submit_s.back();
  const double span_s = s.last_submit_s - s.first_submit_s;
  if (span_s <= 0) return s;
  const auto gaps = static_cast<double>(submit_s.size() - 1);
  const double mean_gap_s = span_s / gaps;
  double squares = 0;
  for (std::size_t i = 1; i < submit_s.size(); ++i) {
    const double deviation = submit_s[i] - submit_s[i - 1] - mean_gap_s;
    squares += deviation * deviation;
  }
  s.arrivals_per_hour = 3600 / mean_gap_s;
  s.arrival_variation = std::sqrt(squares / gaps) / mean_gap_s;
  return s;
}

namespace {

/// Which jobs may run on each of some GPU types, and how long.
class JobsOnTypes {
 public:
  JobsOnTypes(const Trace& trace, std::span<const std::string> cluster) : trace_(trace) {
    const auto add = [&](const std::string& name) {
      const bool known = std::ranges::any_of(
          names, [&](const std::string& other) { return types_.same(other, name); });
      if (!known) names.push_back(name);
    };
    for (const std::string& name : cluster) add(name);
    if (cluster.empty()) {
      if (!trace.reference_type.empty()) add(trace.reference_type);
      for (const MeasuredType& type : trace.measured_types) add(type.name);
      for (const std::string& name : trace.gpu_model_names) add(name);
    }
    // By type: its bits among the trace's models, and its measurements.
    bits_.assign(names.size(), 0);
    measured_.assign(names.size(), kNone);
    for (std::size_t t = 0; t < names.size(); ++t) {
      for (std::size_t m = 0; m < trace.gpu_model_names.size(); ++m) {
        if (types_.same(trace.gpu_model_names[m], names[t])) bits_[t] |= std::uint32_t{1} << m;
      }
      for (std::size_t m = 0; m < trace.measured_types.size(); ++m) {
        if (types_.same(trace.measured_types[m].name, names[t])) measured_[t] = m;
      }
    }
  }

  std::vector<std::string> names;

  /// The job's run time on a type [s]; NaN: not known; infinity: does not run there.
  double solo_s(std::size_t t, std::size_t j) const {
    const double measured_s = on_type(trace_.jobs[j], measured_[t]).solo_s;
    if (!std::isnan(measured_s)) return measured_s;
    const JobSpec& job = trace_.jobs[j].spec;
    const bool ran_here = job.gpu_models == bits_[t] && bits_[t] != 0;
    return types_.same(names[t], trace_.reference_type) || ran_here ? to_seconds(job.work) : kNaN;
  }
  bool may_run(std::size_t t, std::size_t j) const {
    const std::uint32_t models = trace_.jobs[j].spec.gpu_models;
    return (models == 0 || (models & bits_[t]) != 0) && !std::isinf(solo_s(t, j));
  }

 private:
  static constexpr auto kNone = static_cast<std::size_t>(-1);  // beyond all

  const Trace& trace_;
  GpuTypes types_;
  std::vector<std::uint32_t> bits_;
  std::vector<std::size_t> measured_;  ///< index into Trace::measured_types, or kNone
};

}  // namespace

std::vector<GpuTypeStatistics> gpu_type_statistics(const Trace& trace,
                                                   std::span<const std::string> cluster) {
  const JobsOnTypes on(trace, cluster);
  std::vector<GpuTypeStatistics> all;
  for (const std::string& name : on.names) all.push_back({name});
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const JobSpec& job = trace.jobs[j].spec;
    std::size_t possible = 0;
    GpuTypeStatistics* last = nullptr;
    for (std::size_t t = 0; t < all.size(); ++t) {
      if (!on.may_run(t, j)) continue;
      const double solo_s = on.solo_s(t, j);
      last = &all[t];
      ++possible;
      ++last->jobs;
      last->measured += std::isnan(solo_s) ? 0 : 1;
      last->gpu_s +=
          (std::isnan(solo_s) ? to_seconds(job.work) : solo_s) * job.gpus * (job.gpu_milli * 1e-3);
    }
    if (possible == 1) ++last->only_here;
  }
  return all;
}

std::vector<PeakDemand> peak_demands(const Trace& trace, std::span<const std::string> cluster,
                                     std::span<const double> gpus) {
  const JobsOnTypes on(trace, cluster);
  std::vector<PeakDemand> demands(on.names.size());
  std::vector<std::vector<std::pair<double, double>>> changes(on.names.size());  // time [s], GPUs
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const JobSpec& job = trace.jobs[j].spec;
    std::size_t possible = 0;
    std::size_t last = 0;
    for (std::size_t t = 0; t < on.names.size(); ++t) {
      if (!on.may_run(t, j)) continue;
      ++possible;
      last = t;
    }
    if (possible != 1) continue;
    const double solo_s = on.solo_s(last, j);
    const double asked = job.gpus * (job.gpu_milli * 1e-3);
    const double from = to_seconds(job.submit);
    changes[last].emplace_back(from, asked);
    changes[last].emplace_back(from + (std::isnan(solo_s) ? to_seconds(job.work) : solo_s), -asked);
  }
  for (std::size_t t = 0; t < demands.size(); ++t) {
    std::ranges::sort(changes[t]);  // at one time ends come first
    double now = 0;
    double before = 0;
    for (const auto& [at, change] : changes[t]) {
      if (now > gpus[t] + 1e-9) demands[t].above_s += at - before;
      now += change;
      before = at;
      demands[t].gpus = std::max(demands[t].gpus, now);
    }
  }
  return demands;
}

std::optional<double> offered_load(const TraceStatistics& statistics, double gpus) {
  const double span_s = statistics.last_submit_s - statistics.first_submit_s;
  if (!statistics.arrivals_per_hour || gpus <= 0) return std::nullopt;
  return statistics.gpu_s / (span_s * gpus);
}

}  // namespace corun::inline traces
