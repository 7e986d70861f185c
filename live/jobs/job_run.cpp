#include "live/jobs/job_run.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include <poll.h>

#include "live/workloads/workload_run.hpp"

namespace corun::live {

namespace {

/// Share of a GPU's memory in use from which it is full: frameworks allocate more than the rest at a time.
constexpr double kFullMemory = 0.985;
constexpr std::size_t kTailBytes = 64 << 10;

std::vector<std::string> with_variables(std::vector<std::string> environment,
                                        std::span<const std::string> extra) {
  for (const std::string& variable : extra) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(environment, [&](const std::string& v) { return v.starts_with(name); });
    environment.push_back(variable);
  }
  return environment;
}

}  // namespace

std::string_view name_of(RunEnd end) {
  switch (end) {
    case RunEnd::kFinished:
      return "finished";
    case RunEnd::kOutOfMemory:
      return "out-of-memory";
    case RunEnd::kFailed:
      return "failed";
    case RunEnd::kTimeout:
      return "timeout";
    case RunEnd::kStopped:
      return "stopped";
  }
  return "";
}

JobRun::JobRun(Session& session, const Nvml& nvml, std::size_t gpu, const JobCommand& job,
               const std::string& output, std::span<const std::string> extra)
    : nvml_(nvml), gpu_(gpu), output_(output) {
  Command command;
  command.argv = job.argv;
  // The UUID names the same GPU to CUDA and to NVML, which may number GPUs differently.
  const std::array<std::string, 2> own{"CUDA_VISIBLE_DEVICES=" + nvml.gpus()[gpu].uuid,
                                       "TMPDIR=" + session.make_directory("job")};
  command.environment = with_variables(with_variables(job.environment, own), extra);
  command.directory = job.directory;
  command.out_path = output + ".out";
  command.err_path = output + ".err";
  command.limits = job.limits;
  process_ = std::make_unique<SupervisedProcess>(command, session.lifeline(), job.place);
  sampler_ = std::make_unique<JobSampler>(nvml, gpu, process_->guard());
}

void JobRun::stop() { process_->stop(); }

bool JobRun::poll() {
  if (outcome_) return true;
  if (!process_->poll()) return false;
  outcome_ = judge();
  return true;
}

void JobRun::sample() {
  if (!outcome_ && process_->started()) sampler_->sample();
}

RunOutcome JobRun::judge() const {
  RunOutcome outcome;
  outcome.ending = process_->ending();
  outcome.why = describe(outcome.ending);
  outcome.profile = sampler_->profile();
  outcome.samples = sampler_->samples();
  outcome.attributed = sampler_->attributed();
  outcome.temperature_c = sampler_->temperature_c();
  outcome.sm_clock_mhz = sampler_->sm_clock_mhz();
  outcome.attributes = sampler_->attributes();
  if (outcome.ending.exited_well()) {
    outcome.end = RunEnd::kFinished;
    outcome.steady_steps_per_s = told_rate(tail_of(output_ + ".out", kTailBytes));
  } else if (outcome.ending.stopped == Stopped::kAsked) {
    outcome.end = RunEnd::kStopped;
  } else if (outcome.ending.stopped == Stopped::kTimeout) {
    outcome.end = RunEnd::kTimeout;
  } else {
    outcome.end = RunEnd::kFailed;
    const std::string said =
        tail_of(output_ + ".err", kTailBytes) + tail_of(output_ + ".out", kTailBytes);
    if (outcome.ending.stopped == Stopped::kNo && outcome.ending.ran &&
        looks_out_of_memory(said, sampler_->device_memory_max_mib(),
                            nvml_.gpus()[gpu_].memory_mib)) {
      outcome.end = RunEnd::kOutOfMemory;
      outcome.why += ", out of device memory";
    }
  }
  return outcome;
}

void wait_until_idle(const Nvml& nvml, std::size_t gpu, const std::atomic<bool>& stop,
                     Duration most) {
  const Time deadline = monotonic_now() + most;
  while (!stop && monotonic_now() < deadline) {
    const GpuReading reading = nvml.read(gpu);
    if (reading.util_pct.value_or(0) == 0 && reading.mem_time_pct.value_or(0) == 0) return;
    ::poll(nullptr, 0, 50);
  }
}

void wait_for_news(std::span<const std::unique_ptr<JobRun>> runs, Time until) {
  std::vector<pollfd> watched;
  for (const auto& run : runs) {
    if (!run->over()) watched.push_back({run->descriptor(), POLLIN, 0});
  }
  const Time now = monotonic_now();
  if (until <= now) return;
  // A signal ends the wait. At most one second, in case a signal came just before poll().
  const auto ms = std::min<std::int64_t>((until - now).count() / 1'000'000 + 1, 1000);
  ::poll(watched.data(), watched.size(), static_cast<int>(ms));
}

std::string tail_of(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const auto size = static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0));
  std::string text(std::min(size, most), '\0');
  file.seekg(static_cast<std::streamoff>(size - text.size()));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

bool looks_out_of_memory(std::string_view output, double device_used_mib, double device_total_mib) {
  std::string text(output);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 7> kWords{
      "cuda out of memory",        "cuda error: out of memory", "cuda_error_out_of_memory",
      "cudaerrormemoryallocation", "resource_exhausted",        "oom when allocating",
      "cublas_status_alloc_failed"};
  for (const std::string_view words : kWords) {
    if (text.find(words) != std::string::npos) return true;
  }
  return device_total_mib > 0 && device_used_mib >= kFullMemory * device_total_mib;
}

std::vector<RunOutcome> run_together(std::span<const std::unique_ptr<JobRun>> runs,
                                     Duration sample_every, const std::atomic<bool>& stop,
                                     const std::function<void(const Sample&)>& after_sample) {
  for (const auto& run : runs) run->start();
  bool stopping = false;
  Time next_sample = monotonic_now();
  for (;;) {
    bool all_over = true;
    for (const auto& run : runs) all_over &= run->poll();
    if (all_over) break;
    if (stop && !stopping) {
      stopping = true;
      for (const auto& run : runs) run->stop();
    }
    const Time now = monotonic_now();
    if (now >= next_sample) {
      const std::size_t before = runs.front()->sampler().samples();
      for (const auto& run : runs) run->sample();
      if (runs.front()->sampler().samples() > before) {
        if (after_sample) after_sample(runs.front()->sampler().latest());
        next_sample = std::max(next_sample + sample_every, now);
      } else {
        next_sample = now + std::chrono::milliseconds{1};  // it is about to start
      }
    }
    wait_for_news(runs, next_sample);
  }
  std::vector<RunOutcome> outcomes;
  for (const auto& run : runs) outcomes.push_back(run->outcome());
  return outcomes;
}

}  // namespace corun::live
