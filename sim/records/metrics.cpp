#include "sim/records/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/base/math.hpp"
#include "sim/base/nan.hpp"
#include "sim/base/summary.hpp"

namespace corun::inline sim {

namespace {

constexpr std::array<MetricInfo, kMetricCount> kInfo{{
    {"isd", "1",
     "mean individual slowdown (J_c - J_a) / J_a over finished jobs; J_c: time on its GPUs summed "
     "over all runs whose work counts, J_a: solo time of that work"},
    {"ps", "1",
     "mean packing saving (solo time of the work done in it - length) / that solo time over "
     "episodes in which a job finished"},
    {"ps_total", "1", "1 - busy GPU time / solo time of all work of finished jobs"},
    {"isd_max", "1", "largest individual slowdown"},
    {"jct_s", "s", "mean job completion time, finish - submit"},
    {"jct_p50_s", "s", "median job completion time"},
    {"jct_p95_s", "s", "95th percentile of job completion time"},
    {"jct_p99_s", "s", "99th percentile of job completion time"},
    {"queue_s", "s", "mean queueing delay, first start - submit"},
    {"queue_p50_s", "s", "median queueing delay"},
    {"queue_p95_s", "s", "95th percentile of queueing delay"},
    {"queue_p99_s", "s", "99th percentile of queueing delay"},
    {"stretch", "1", "mean completion time / solo time on the reference GPU"},
    {"stretch_p50", "1", "median stretch"},
    {"stretch_p95", "1", "95th percentile of stretch"},
    {"stretch_p99", "1", "99th percentile of stretch"},
    {"jain", "1", "Jain's fairness index on stretch"},
    {"makespan_s", "s", "last finish or failure - first submit"},
    {"last_end_s", "s", "last finish or failure, from the start of the trace"},
    {"gpu_util", "1", "time average of min(1, residents' utilisation scaled by speed)"},
    {"mem_util", "1", "memory in use over GPU time whose residents' demand is known"},
    {"occupancy", "1", "share of GPU time with at least one resident"},
    {"entropy_isd", "nat", "differential entropy of individual slowdown (Vasicek)"},
    {"entropy_ps", "nat", "differential entropy of packing saving per episode (Vasicek)"},
    {"oom", "1", "runs that ended out of memory"},
    {"failed", "1", "jobs given up after the last retry"},
    {"profiling_s", "s", "mean time a job spent in profiling segments and probes"},
    {"jobs", "1", "jobs that finished"},
    {"isd_reference", "1",
     "mean individual slowdown against the solo time of the same work on the reference GPU type"},
    {"rho", "1",
     "mean finish-time fairness, completion time / completion time on a fair share of the GPUs"},
    {"rho_max", "1", "largest finish-time fairness: that of the job that fares worst"},
    {"rho_above_1", "1", "share of jobs that would have finished sooner on a fair share"},
}};

/// Sums over a run, in seconds and GPU-seconds.
struct Totals {
  double solo_s = 0;   ///< of all work of finished jobs
  double saved_s = 0;  ///< solo_s - busy GPU time, subtracted before rounding
  double busy_s = 0;   ///< at least one resident
  double util_s = 0;
  double util_known_s = 0;
  double mem_s = 0;
  double mem_known_s = 0;
  double span_s = 0;  ///< first submit to last departure
  int gpus = 0;
};

/// 1 - busy / solo time, from the exactly computed difference.
double ps_total(const Totals& t) { return t.solo_s > 0 ? t.saved_s / t.solo_s : kNaN; }

double occupancy(const Totals& t) { return t.busy_s / (t.span_s * t.gpus); }

/// GPUs without a resident count as idle; busy time of unknown utilisation is left out.
double gpu_util(const Totals& t) {
  const double capacity = t.span_s * t.gpus;
  const double unknown = t.busy_s - t.util_known_s;
  const bool known = t.util_known_s > 0 || t.busy_s == 0;
  return known && capacity - unknown > 0 ? t.util_s / (capacity - unknown) : kNaN;
}

/// A job that took its time on a fair share, to the nanoseconds of its record, is treated fairly.
bool is_unfair(double rho) {
  constexpr double kRounding = 1e-6;
  return rho > 1 + kRounding;
}

double mem_util(const Totals& t) { return t.mem_known_s > 0 ? t.mem_s / t.mem_known_s : kNaN; }

}  // namespace

const MetricInfo& metric_info(Metric metric) { return kInfo[static_cast<std::size_t>(metric)]; }

double differential_entropy(std::span<const double> sample) {
  std::vector<double> x(sample.begin(), sample.end());
  std::sort(x.begin(), x.end());
  const std::size_t n = x.size();
  if (n < 4) return kNaN;
  const auto m = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(n))));
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double spacing = x[std::min(i + m, n - 1)] - x[i < m ? 0 : i - m];
    if (!(spacing > 0)) return kNaN;
    sum += math::log(static_cast<double>(n) / (2.0 * static_cast<double>(m)) * spacing);
  }
  return sum / static_cast<double>(n);
}

MetricsCollector::MetricsCollector(std::size_t jobs, SubmitWindow window) : window_(window) {
  for (auto* values : {&isd_, &isd_reference_, &jct_, &queue_, &stretch_})
    values->assign(jobs, kNaN);
  asked_.resize(jobs);
}

void MetricsCollector::job(JobId id, const JobRecord& job) {
  const bool measured = !job.replica && window_.holds(job.submit);
  first_submit_ = std::min(first_submit_, job.submit);
  last_departure_ = std::max(last_departure_, job.finish);
  if (job.replica) {
    solo_sum_ += job.solo;
    return;
  }
  asked_[index(id)] = {job.submit, job.work, job.gpus};
  if (measured) {
    ++measured_;
    ooms_ += job.ooms;
    profiling_ += job.profiling;
  }
  if (job.end == JobEnd::kFailed) {
    failed_ += measured ? 1 : 0;
    return;
  }
  for (int g = 0; g < job.gpus; ++g) solo_sum_ += std::max(job.solo, job.whole_solo);
  if (!measured) return;
  ++finished_;
  isd_[index(id)] = job.isd();
  isd_reference_[index(id)] = job.isd_reference();
  jct_[index(id)] = to_seconds(job.finish - job.submit);
  queue_[index(id)] = to_seconds(*job.first_start - job.submit);
  if (job.work > Duration::zero()) stretch_[index(id)] = jct_[index(id)] / to_seconds(job.work);
  if (!job.elastic && job.samples.processed == 0) return;
  if (elastic_.empty()) elastic_.resize(jct_.size());
  elastic_[index(id)] = {job.throughput(), job.goodput(), job.restarts(), true};
}

ElasticMeans MetricsCollector::elastic() const {
  ElasticMeans means;
  RunningMean throughput, goodput, efficiency, restarts;
  for (const Elastic& job : elastic_) {
    if (!job.counts) continue;
    ++means.jobs;
    throughput.add_if_known(job.throughput);
    goodput.add_if_known(job.goodput);
    efficiency.add_if_known(job.goodput / job.throughput);
    restarts.add_if_known(job.restarts);
  }
  means.throughput = throughput.value();
  means.goodput = goodput.value();
  means.efficiency = efficiency.value();
  means.restarts = restarts.value();
  return means;
}

void MetricsCollector::episodes(const EpisodeRecord& episode, std::span<const GpuId> gpus) {
  if (episode.jobs.empty() || !window_.holds(episode.start)) return;
  if (const auto value = episode.ps()) ps_.insert(ps_.end(), gpus.size(), *value);
}

MetricValues compute_metrics(const RunRecord& run, SubmitWindow window) {
  MetricsCollector collector(run.jobs.size(), window);
  for (std::size_t j = 0; j < run.jobs.size(); ++j) {
    collector.job(static_cast<JobId>(j), run.jobs[j]);
  }
  for (const EpisodeRecord& episode : run.episodes) collector.episode(episode);
  return std::move(collector).finish(run);
}

MetricValues MetricsCollector::finish(const RunRecord& run) && {
  const std::size_t jobs = jct_.size();
  std::vector<double> rho;  // of finished jobs
  const std::vector<double> fair_s = fair_share_times_s(asked_, std::max(run.gpu_count, 1));
  for (std::size_t j = 0; j < jobs; ++j) {
    if (!std::isnan(stretch_[j])) rho.push_back(jct_[j] / fair_s[j]);
  }
  // Jobs that did not finish have no values, and jobs without work no slowdown.
  for (auto* values : {&isd_, &isd_reference_, &jct_, &queue_, &stretch_}) {
    std::erase_if(*values, [](double x) { return std::isnan(x); });
  }
  std::vector<double>& isd = isd_;
  std::vector<double>& jct = jct_;
  std::vector<double>& queue = queue_;
  std::vector<double>& stretch = stretch_;
  std::vector<double>& ps = ps_;
  const GpuTime solo_sum = solo_sum_;
  const UsageRecord& usage = run.usage;
  const Totals totals{.solo_s = to_seconds(solo_sum),
                      .saved_s = to_seconds(solo_sum - usage.busy),
                      .busy_s = to_seconds(usage.busy),
                      .util_s = usage.util_s,
                      .util_known_s = usage.util_known_s,
                      .mem_s = usage.mem_s,
                      .mem_known_s = usage.mem_known_s,
                      // Averages run to the last departure: a job may fail after the last one has
                      // finished.
                      .span_s = to_seconds(last_departure_ - first_submit_),
                      .gpus = run.gpu_count};

  MetricValues v;
  v.fill(kNaN);
  const auto tails = [&](std::vector<double>& x, Metric p50) {
    std::size_t from = 0;
    for (int i = 0; i < 3; ++i) {
      constexpr std::array<double, 3> kLevels{0.50, 0.95, 0.99};
      v[static_cast<std::size_t>(p50) + static_cast<std::size_t>(i)] =
          quantile_by_selection(x, kLevels[static_cast<std::size_t>(i)], from);
    }
  };
  at(v, Metric::kIsd) = mean(isd);
  at(v, Metric::kIsdReference) = mean(isd_reference_);
  at(v, Metric::kEntropyIsd) = differential_entropy(isd);
  at(v, Metric::kIsdMax) = isd.empty() ? kNaN : *std::max_element(isd.begin(), isd.end());
  at(v, Metric::kPs) = mean(ps);
  at(v, Metric::kEntropyPs) = differential_entropy(ps);
  at(v, Metric::kPsTotal) = ps_total(totals);
  at(v, Metric::kJctS) = mean(jct);
  at(v, Metric::kQueueS) = mean(queue);
  at(v, Metric::kStretch) = mean(stretch);
  at(v, Metric::kJain) = jain_index(stretch, at(v, Metric::kStretch));
  at(v, Metric::kRho) = mean(rho);
  at(v, Metric::kRhoMax) = rho.empty() ? kNaN : *std::ranges::max_element(rho);
  at(v, Metric::kRhoAbove1) = rho.empty()
                                  ? kNaN
                                  : static_cast<double>(std::ranges::count_if(rho, is_unfair)) /
                                        static_cast<double>(rho.size());
  tails(jct, Metric::kJctP50S);
  tails(queue, Metric::kQueueP50S);
  tails(stretch, Metric::kStretchP50);
  if (!jct.empty()) {
    at(v, Metric::kMakespanS) = to_seconds(last_departure_ - first_submit_);
    at(v, Metric::kLastEndS) = to_seconds(last_departure_);
    at(v, Metric::kOccupancy) = occupancy(totals);
    at(v, Metric::kGpuUtil) = gpu_util(totals);
  }
  at(v, Metric::kMemUtil) = mem_util(totals);
  at(v, Metric::kOom) = ooms_;
  at(v, Metric::kFailed) = failed_;
  at(v, Metric::kProfilingS) =
      measured_ == 0 ? kNaN : to_seconds(profiling_) / static_cast<double>(measured_);
  at(v, Metric::kJobs) = static_cast<double>(finished_);
  return v;
}

}  // namespace corun::inline sim
