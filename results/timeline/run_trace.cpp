#include "results/timeline/run_trace.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "results/timeline/run_state.hpp"
#include "results/timeline/trace_event_writer.hpp"
#include "sim/base/text.hpp"

namespace corun::inline results {

namespace {

constexpr std::int64_t kCluster = 1;  ///< its process
constexpr TraceTrack kDecisions{kCluster, 1};
constexpr TraceTrack kSubmissions{kCluster, 2};
constexpr TraceTrack kFailures{kCluster, 3};
constexpr std::int64_t kFirstLane = 10;

/// What a viewer shows for the end of a stay.
std::string_view end_text(LogKind kind) {
  switch (kind) {
    case LogKind::kOom:
      return "out of memory";
    case LogKind::kFail:
      return "given up";
    case LogKind::kPreempt:
      return "preempted";
    case LogKind::kResize:
      return "resized";
    default:
      return name_of(kind);
  }
}

/// Writes one run, event by event.
class Writing {
 public:
  Writing(const RunEvents& events, const std::map<GpuId, std::uint32_t>& lanes,
          std::uint32_t most_lanes, const ByteSink& sink)
      : events_(events), lanes_(lanes), most_lanes_(most_lanes), writer_(sink) {}

  void write() {
    const auto facts = events_.facts();
    const std::string title = facts.empty() ? "" : ": " + facts.front().second;
    writer_.name_process(kCluster, "cluster" + title, 0);
    writer_.name_thread(kDecisions, "decisions", 1);
    writer_.name_thread(kSubmissions, "submissions", 2);
    writer_.name_thread(kFailures, "failures", 3);
    name_gpus();
    events_.for_each([this](const LogEntry& entry) { take(entry); });
    counters();
    end_open();
    Json other = Json::object();
    for (const auto& [name, value] : facts) other[name] = value;
    writer_.finish(other);
  }

 private:
  TraceTrack track(GpuId gpu, std::uint32_t lane) const {
    const auto g = static_cast<std::int64_t>(index(gpu));
    const auto& gpus = events_.gpus();
    const std::int64_t node =
        index(gpu) < gpus.size() ? static_cast<std::int64_t>(gpus[index(gpu)].node) : 0;
    return {kCluster + 1 + node, kFirstLane + g * most_lanes_ + lane};
  }

  void name_gpus() {
    const auto& gpus = events_.gpus();
    std::int64_t named = 0;
    for (const auto& [gpu, lanes] : lanes_) {
      const std::int64_t process = track(gpu, 0).process;
      if (process != named) {
        const std::string node =
            gpus.empty() ? "GPUs" : fmt::format("node {}", process - kCluster - 1);
        writer_.name_process(process, node, process);
        named = process;
      }
      std::string name = fmt::format("GPU {}", index(gpu));
      if (index(gpu) < gpus.size()) name += " (" + gpus[index(gpu)].type + ")";
      for (std::uint32_t lane = 0; lane < std::max(1U, lanes); ++lane) {
        const TraceTrack at = track(gpu, lane);
        writer_.name_thread(at, lane == 0 ? name : fmt::format("{}, lane {}", name, lane + 1),
                            at.thread);
      }
    }
  }

  void take(const LogEntry& entry) {
    if (entry.at != now_) counters();
    utilization(entry.at);
    now_ = entry.at;
    if (const std::string why = state_.follow(entry); !why.empty()) events_.refuse(why);
    const std::string name(events_.name(entry.job));
    if (entry.kind == LogKind::kArrive) {
      writer_.instant(now_, kSubmissions, "submit " + name, "submission", job_json(entry));
    } else if (entry.kind == LogKind::kPhase) {
      decision(entry, name);
    } else if (comes(entry.kind)) {
      arrive_on_gpus(entry, name);
    } else {
      leave_gpus(entry, name);
    }
    changed_ = true;
  }

  static Json job_json(const LogEntry& entry) { return {{"job", index(entry.job)}}; }

  void arrive_on_gpus(const LogEntry& entry, const std::string& name) {
    decision(entry, name);
    const std::string suffix = entry.kind == LogKind::kProbe     ? " (probe)"
                               : entry.kind == LogKind::kProfile ? " (profiling)"
                                                                 : "";
    Json args = job_json(entry);
    if (entry.gpus.size() > 1) args["gpus"] = entry.gpus.size();
    for (std::size_t i = 0; i < entry.gpus.size(); ++i) {
      writer_.begin(now_, track(entry.gpus[i], state_.lanes()[i]), name + suffix,
                    name_of(entry.kind), args);
    }
  }

  void leave_gpus(const LogEntry& entry, const std::string& name) {
    const std::string_view how = end_text(entry.kind);
    const bool failure = entry.kind == LogKind::kOom || entry.kind == LogKind::kFail;
    const std::string what = fmt::format("{}: {}", how, name);
    for (std::size_t i = 0; i < entry.gpus.size(); ++i) {
      const TraceTrack at = track(entry.gpus[i], state_.lanes()[i]);
      writer_.end(now_, at, {{"end", how}});
      if (failure || entry.kind == LogKind::kPreempt || entry.kind == LogKind::kResize) {
        writer_.instant(now_, at, what, name_of(entry.kind), job_json(entry));
      }
    }
    if (failure) writer_.instant(now_, kFailures, what, name_of(entry.kind), on_gpus(entry));
    if (entry.kind == LogKind::kPreempt || entry.kind == LogKind::kResize) decision(entry, name);
  }

  void decision(const LogEntry& entry, const std::string& name) {
    writer_.instant(now_, kDecisions, fmt::format("{} {}", name_of(entry.kind), name), "decision",
                    on_gpus(entry));
  }

  /// The job, its GPUs, and the other jobs that are on the first of these now.
  Json on_gpus(const LogEntry& entry) const {
    constexpr std::size_t kMostNamed = 8;
    Json args = job_json(entry);
    if (entry.gpus.empty()) return args;
    Json gpus = Json::array();
    for (const GpuId gpu : entry.gpus) gpus.push_back(index(gpu));
    args["gpus"] = std::move(gpus);
    Json beside = Json::array();
    for (const auto& [job, lane] : state_.gpus().at(entry.gpus.front()).residents()) {
      if (job == entry.job) continue;
      if (beside.size() == kMostNamed) break;
      beside.push_back(events_.name(job));
    }
    if (!beside.empty()) args["beside"] = std::move(beside);
    return args;
  }

  /// The counters after the events of this instant.
  void counters() {
    if (!changed_) return;
    changed_ = false;
    const std::pair jobs{state_.waiting(), state_.running()};
    if (std::exchange(jobs_, jobs) != jobs) {
      writer_.counter(now_, kDecisions, "jobs",
                      {{"waiting", jobs.first}, {"running", jobs.second}});
    }
    const std::pair gpus{state_.busy(), state_.shared()};
    if (std::exchange(gpus_, gpus) != gpus) {
      writer_.counter(now_, kDecisions, "GPUs", {{"busy", gpus.first}, {"shared", gpus.second}});
    }
  }

  void utilization(Time until) {
    const auto& steps = events_.utilization();
    for (; step_ < steps.size() && steps[step_].from <= until; ++step_) {
      const double percent = steps[step_].utilization * 100;
      if (!std::isfinite(percent)) continue;
      writer_.counter(steps[step_].from, kDecisions, "GPU utilisation",
                      {{"%", std::round(percent * 1000) / 1000}});
    }
  }

  /// Stays of which the events have no end.
  void end_open() {
    for (const auto& [gpu, lanes] : state_.gpus()) {
      for (const auto& [job, lane] : lanes.residents()) {
        writer_.end(now_, track(gpu, lane), {{"end", "not in the file"}});
      }
    }
  }

  const RunEvents& events_;
  const std::map<GpuId, std::uint32_t>& lanes_;
  std::uint32_t most_lanes_;
  TraceEventWriter writer_;
  RunState state_;
  Time now_{0};
  bool changed_ = false;
  std::pair<std::int64_t, std::int64_t> jobs_{-1, -1};
  std::pair<std::int64_t, std::int64_t> gpus_{-1, -1};
  std::size_t step_ = 0;
};

}  // namespace

RunTrace::RunTrace(const RunEvents& events) : events_(events) {
  RunState state;
  for (std::size_t g = 0; g < events.gpus().size(); ++g) {
    lanes_.emplace(GpuId{static_cast<std::uint32_t>(g)}, 1);
  }
  events.for_each([&](const LogEntry& entry) {
    if (const std::string why = state.follow(entry); !why.empty()) events.refuse(why);
    for (const GpuId gpu : entry.gpus) {
      if (!events.gpus().empty() && index(gpu) >= events.gpus().size()) {
        events.refuse(fmt::format("GPU {} is not in the cluster", index(gpu)));
      }
    }
    summary_.last = entry.at;
    if (entry.kind == LogKind::kArrive) ++summary_.jobs;
    if (entry.kind == LogKind::kFinish || entry.kind == LogKind::kFail) ++summary_.ended;
  });
  for (const auto& [gpu, lanes] : state.gpus()) {
    lanes_[gpu] = lanes.lanes();
    most_lanes_ = std::max(most_lanes_, lanes.lanes());
  }
}

void RunTrace::write(const ByteSink& sink) const {
  Writing(events_, lanes_, most_lanes_, sink).write();
}

}  // namespace corun::inline results
