#include "traces/trace_cut.hpp"

#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/csv_reader.hpp"

namespace corun {

namespace {

/// A trace without jobs that shares the lists of names with `whole`.
Trace without_jobs(const Trace& whole) {
  Trace empty;
  empty.feature_list = whole.feature_list;
  empty.virtual_clusters = whole.virtual_clusters;
  empty.gpu_models = whole.gpu_models;
  empty.source = whole.source;
  empty.shuffled_by_default = whole.shuffled_by_default;
  share_types(whole, empty);
  return empty;
}

void take_job(const Trace& whole, std::size_t j, Time submit, Trace& part) {
  JobSpec job = whole.workload.jobs[j];
  job.submit = submit;
  add_job(part, job, whole.names[j], whole.keys[j], whole.clusters[j], whole.uncertainties[j]);
  copy_on_types(whole, j, part);
  const std::size_t width = whole.feature_list.size();
  for (std::size_t f = 0; f < width; ++f) part.features.push_back(whole.features[j * width + f]);
}

}  // namespace

TraceCut cut_trace(const Trace& whole, const TraceCutOptions& options) {
  TraceCut cut;
  cut.trace = without_jobs(whole);
  const Time from = from_seconds(options.from_s);
  const Time to = from_seconds(options.to_s);
  for (std::size_t j = 0; j < whole.workload.jobs.size(); ++j) {
    const JobSpec& job = whole.workload.jobs[j];
    if (job.submit < from || job.submit >= to) {
      ++cut.outside;
    } else if (options.gpus && job.gpus > *options.gpus) {
      ++cut.too_large;
    } else if (Rng(options.seed, Stream::kTraceSample, j).uniform() >= options.sample) {
      ++cut.not_sampled;
    } else {
      const Time since = job.submit - from;
      const Time submit = options.load == 1
                              ? since
                              : from_nanoseconds(static_cast<double>(since.count()) / options.load);
      if (submit > from_seconds(kMaxTimeSeconds)) {
        throw InputError("a job would be submitted after 4e9 s; expected a larger factor");
      }
      take_job(whole, j, submit, cut.trace);
    }
  }
  order_arrivals(cut.trace);
  return cut;
}

}  // namespace corun
