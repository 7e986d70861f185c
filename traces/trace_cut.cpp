#include "traces/trace_cut.hpp"

#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {

TraceCut cut_trace(const Trace& whole, const TraceCutOptions& options) {
  TraceCut cut;
  cut.trace = without_jobs(whole);
  cut.trace.shuffled_by_default = whole.shuffled_by_default;
  const Time from = from_seconds(options.from_s);
  const Time to = from_seconds(options.to_s);
  for (std::size_t j = 0; j < whole.jobs.size(); ++j) {
    const JobSpec& job = whole.jobs[j].spec;
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
      cut.trace.jobs.push_back(whole.jobs[j]);
      cut.trace.jobs.back().spec.submit = submit;
    }
  }
  return cut;
}

}  // namespace corun::inline traces
