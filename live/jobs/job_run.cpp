#include "live/jobs/job_run.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include <poll.h>

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>

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
               const std::string& output, std::span<const std::string> extra, std::uint64_t entity)
    : nvml_(nvml), gpu_(gpu), output_(output), service_(job.service) {
  Command command;
  command.argv = job.argv;
  // The UUID names the same GPU to CUDA and to NVML, which may number GPUs differently.
  const std::array<std::string, 2> own{"CUDA_VISIBLE_DEVICES=" + nvml.gpus()[gpu].uuid,
                                       "TMPDIR=" + session.make_directory("job")};
  command.environment = with_variables(with_variables(job.environment, own), extra);
  if (service_) {
    const int port = free_port(service_->port, job.place);
    const std::array<std::string, 1> told{fmt::format("CORUN_PORT={}", port)};
    command.environment = with_variables(command.environment, told);
    for (std::string& word : command.argv) boost::replace_all(word, "{port}", std::to_string(port));
    client_ = std::make_unique<LoadClient>(*service_, port, entity);
  }
  command.directory = job.directory;
  command.out_path = output + ".out";
  command.err_path = output + ".err";
  command.limits = job.limits;
  process_ = std::make_unique<SupervisedProcess>(command, session.lifeline(), job.place);
  sampler_ = std::make_unique<JobSampler>(nvml, gpu, process_->guard());
}

void JobRun::start() {
  process_->start();
  if (client_) client_->start();
}

void JobRun::stop() {
  asked_to_stop_ = true;
  process_->stop();
}

void JobRun::give_up(const std::string& why) {
  RunOutcome outcome;
  outcome.end = RunEnd::kStopped;
  outcome.why = why;
  outcome.ending.start = outcome.ending.exit = monotonic_now();
  outcome_ = std::move(outcome);
}

std::array<int, 2> JobRun::descriptors() const {
  return {process_->descriptor(), client_ ? client_->descriptor() : -1};
}

bool JobRun::poll() {
  if (outcome_) return true;
  if (client_) {
    client_->seen();
    if (client_->phase() == LoadClient::Phase::kOver) process_->stop();
  }
  if (!process_->poll()) return false;
  outcome_ = judge();
  return true;
}

void JobRun::sample() {
  if (!outcome_ && process_->started()) sampler_->sample();
}

/// Of a service whose process is over: its end is that of its load, not that of its process, which corun has stopped.
void JobRun::judge_service(RunOutcome& outcome) {
  outcome.load = client_->take();
  const SentLoad& load = *outcome.load;
  if (asked_to_stop_) {
    outcome.end = RunEnd::kStopped;
  } else if (!load.failure.empty()) {
    outcome.end = RunEnd::kFailed;
    outcome.why = load.failure;
  } else if (load.whole) {
    outcome.why = load.unanswered();
    outcome.end = outcome.why.empty() ? RunEnd::kFinished : RunEnd::kFailed;
  } else if (outcome.end == RunEnd::kFinished || outcome.end == RunEnd::kFailed) {
    outcome.end = RunEnd::kFailed;
    outcome.why = (load.count() == 0 ? "the server ended before its load: "
                                     : "the server ended during its load: ") +
                  outcome.why;
  }
}

RunOutcome JobRun::judge() {
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
  if (client_) judge_service(outcome);
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
    if (run->over()) continue;
    for (const int file : run->descriptors()) watched.push_back({file, POLLIN, 0});
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

namespace {

/// Runs that are together on a GPU: who starts, and who ends, when.
class Together {
 public:
  explicit Together(std::span<const std::unique_ptr<JobRun>> runs) : runs_(runs) {
    for (const auto& run : runs_) services_ += run->serves() ? 1 : 0;
    for (const auto& run : runs_) {
      if (services_ == 0 || run->serves()) run->start();
    }
    jobs_begun_ = services_ == 0;
  }

  /// Takes the news of all; true when all are over.
  bool step(bool stop) {
    for (const auto& run : runs_) run->poll();
    if (stop && !stopping_) stop_all("stopped before it began");
    if (services_ > 0 && !stopping_) follow_services();
    return std::ranges::all_of(runs_, [](const auto& run) { return run->over(); });
  }

 private:
  void follow_services() {
    const auto failed = std::ranges::find_if(runs_, [](const auto& run) {
      return run->serves() && run->over() && !run->outcome().load->whole;
    });
    if (failed != runs_.end()) {
      stop_all("not begun: the service beside it had failed");
      return;
    }
    const bool alone = services_ == runs_.size();
    if (!jobs_begun_) {
      const bool ready = std::ranges::all_of(
          runs_, [](const auto& run) { return !run->serves() || run->ready(); });
      if (!ready) return;
      jobs_begun_ = true;
      for (const auto& run : runs_) {
        if (run->serves()) {
          run->begin_load(alone);
        } else {
          run->start();
        }
      }
      return;
    }
    if (alone || load_ended_) return;
    load_ended_ =
        std::ranges::all_of(runs_, [](const auto& run) { return run->serves() || run->over(); });
    if (!load_ended_) return;
    for (const auto& run : runs_) {
      if (run->serves()) run->end_load();
    }
  }

  void stop_all(const std::string& why) {
    stopping_ = true;
    for (const auto& run : runs_) {
      if (run->over()) continue;
      if (jobs_begun_ || run->serves()) {
        run->stop();
      } else {
        run->give_up(why);
      }
    }
  }

  std::span<const std::unique_ptr<JobRun>> runs_;
  std::size_t services_ = 0;
  bool jobs_begun_ = false;
  bool load_ended_ = false;
  bool stopping_ = false;
};

}  // namespace

std::vector<RunOutcome> run_together(std::span<const std::unique_ptr<JobRun>> runs,
                                     Duration sample_every, const std::atomic<bool>& stop,
                                     const std::function<void(const Sample&)>& after_sample) {
  Together together(runs);
  Time next_sample = monotonic_now();
  for (;;) {
    if (together.step(stop)) break;
    const Time now = monotonic_now();
    if (now >= next_sample) {
      const std::size_t before = runs.front()->sampler().samples();
      bool any = false;
      for (const auto& run : runs) {
        const std::size_t samples = run->sampler().samples();
        run->sample();
        any |= run->sampler().samples() > samples;
      }
      if (after_sample && runs.front()->sampler().samples() > before) {
        after_sample(runs.front()->sampler().latest());
      }
      // Without a sample one of them is about to start.
      next_sample =
          any ? std::max(next_sample + sample_every, now) : now + std::chrono::milliseconds{1};
    }
    wait_for_news(runs, next_sample);
  }
  std::vector<RunOutcome> outcomes;
  for (const auto& run : runs) outcomes.push_back(run->outcome());
  return outcomes;
}

}  // namespace corun::live
