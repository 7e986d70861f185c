#include "live/jobs/profiling.hpp"

#include <memory>
#include <span>

#include <sys/resource.h>

#include "live/gpu/gpu_box.hpp"
#include "live/session/session.hpp"

namespace corun::live {

namespace {

constexpr std::size_t kLastWordsBytes = 2000;

double own_cpu_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

}  // namespace

double ProfiledCommand::profiler_cpu_pct() const {
  const double length_s = to_seconds(outcome.length());
  return length_s > 0 ? profiler_cpu_s / length_s * 100 : 0;
}

ProfiledCommand profile_alone(const ProfilingRequest& request, const Nvml& nvml,
                              const std::atomic<bool>& stop) {
  Session session;
  const Sharing sharing(session, nvml, std::span(&request.gpu, 1), false);
  const std::string output =
      request.output ? *request.output : session.make_directory("output") + "/job";
  wait_until_idle(nvml, request.gpu, stop);
  std::vector<std::unique_ptr<JobRun>> runs;
  runs.push_back(std::make_unique<JobRun>(session, nvml, request.gpu, request.job, output,
                                          sharing.environment()));
  ProfiledCommand profiled;
  profiled.name = request.job.name;
  profiled.gpu = request.gpu;
  profiled.gpu_name = nvml.gpus()[request.gpu].name;
  const double cpu_before = own_cpu_s();
  profiled.outcome = run_together(runs, request.interval, stop, [&](const Sample& sample) {
    if (!request.keep_samples) return;
    profiled.samples.push_back(sample);
    profiled.samples.back().at -= runs[0]->process().start_time();
  })[0];
  profiled.profiler_cpu_s = own_cpu_s() - cpu_before + profiled.outcome.ending.guard_cpu_s;
  if (!profiled.ended_well()) profiled.last_words = tail_of(output + ".err", kLastWordsBytes);
  return profiled;
}

}  // namespace corun::live
