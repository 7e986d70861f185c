#include "traces/trace_cut.hpp"

#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {

TraceCut cut_trace(const Trace& whole, const TraceCutOptions& options) {
  TraceCut cut;
  cut.trace = without_jobs(whole);
  cut.trace.virtual_clusters = whole.virtual_clusters;
  cut.trace.gpu_models = whole.gpu_models;
  cut.trace.shuffled_by_default = whole.shuffled_by_default;
  const Time from = from_seconds(options.from_s);
  const Time to = from_seconds(options.to_s);
  for (std::size_t j = 0; j < whole.workload.jobs.size(); ++j) {
    JobSpec job = whole.workload.jobs[j];
    if (job.submit < from || job.submit >= to) {
      ++cut.outside;
    } else if (options.gpus && job.gpus > *options.gpus) {
      ++cut.too_large;
    } else if (Rng(options.seed, Stream::kTraceSample, j).uniform() >= options.sample) {
      ++cut.not_sampled;
    } else {
      const Time since = job.submit - from;
      job.submit = options.load == 1
                       ? since
                       : from_nanoseconds(static_cast<double>(since.count()) / options.load);
      if (job.submit > from_seconds(kMaxTimeSeconds)) {
        throw InputError("a job would be submitted after 4e9 s; expected a larger factor");
      }
      add_job_of(whole, j, job, cut.trace);
    }
  }
  order_arrivals(cut.trace);
  return cut;
}

}  // namespace corun::inline traces
