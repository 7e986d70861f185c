#include "tests/helpers/run_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "sim/records/metrics.hpp"

namespace corun::test {

namespace {

/// A stay of a job on GPUs, by the log.
struct Stay {
  JobId job{};
  std::vector<GpuId> gpus;
  Time start{0};
  Time end{0};
  LogKind came = LogKind::kStart;
  LogKind left = LogKind::kFinish;

  /// Profiling, or a probe, in which the job did not finish.
  bool is_trial() const { return left == LogKind::kProfiled || left == LogKind::kProbed; }
};

bool comes(LogKind kind) {
  return kind == LogKind::kStart || kind == LogKind::kProfile || kind == LogKind::kProbe;
}

std::string name(JobId j) { return "job " + std::to_string(index(j)); }
std::string text(Duration d) { return std::to_string(d.count()) + " ns"; }

class Checking {
 public:
  explicit Checking(const RunTables& run) : run_(run) { read_log(); }

  std::vector<std::string> found() {
    events();
    jobs();
    busy_time();
    slices();
    co_runs();
    metrics();
    return std::move(wrong_);
  }

 private:
  void expect(bool right, const std::string& what) {
    if (!right) wrong_.push_back(what);
  }

  void read_log() {
    std::map<JobId, std::size_t> open;
    Time before{0};
    for (const LogEntry& e : run_.log) {
      expect(e.at >= before, "the log goes back in time");
      before = e.at;
      if (e.kind == LogKind::kArrive) continue;
      if (comes(e.kind)) {
        open[e.job] = stays_.size();
        stays_.push_back({e.job, e.gpus, e.at, e.at, e.kind, e.kind});
      } else if (const auto at = open.find(e.job); at != open.end()) {
        stays_[at->second].end = e.at;
        stays_[at->second].left = e.kind;
        open.erase(at);
      } else {
        wrong_.push_back(name(e.job) + " leaves without having come");
      }
    }
    expect(open.empty(), "a job never leaves");
  }

  /// The events of the details are those of the log, one for each GPU.
  void events() {
    std::map<JobId, std::vector<GpuId>> at;
    std::vector<std::tuple<Time, LogKind, JobId, GpuId>> expected;
    for (const LogEntry& e : run_.log) {
      if (comes(e.kind)) at[e.job] = e.gpus;
      if (e.kind == LogKind::kArrive) {
        expected.emplace_back(e.at, e.kind, e.job, kNoGpu);
      } else {
        for (const GpuId g : at[e.job]) expected.emplace_back(e.at, e.kind, e.job, g);
      }
    }
    std::vector<std::tuple<Time, LogKind, JobId, GpuId>> there;
    for (const EventRecord& e : run_.details.events) there.emplace_back(e.at, e.kind, e.job, e.gpu);
    expect(there == expected, "the events are not those of the log");
  }

  void jobs() {
    for (std::uint32_t i = 0; i < run_.record.jobs.size(); ++i) {
      const JobId j{i};
      const JobRecord& r = run_.record.jobs[i];
      const Stay* last = nullptr;
      std::optional<Time> first;
      Duration ran{0};
      Duration trials{0};
      int ooms = 0;
      for (const Stay& s : stays_) {
        if (s.job != j) continue;
        if (s.is_trial()) {
          trials += s.end - s.start;
          continue;
        }
        if (!first) first = s.start;
        last = &s;
        if (s.left == LogKind::kPreempt) ran += s.end - s.start;
        ooms += s.left == LogKind::kOom || s.left == LogKind::kFail;
      }
      if (last == nullptr) {
        expect(!r.first_start, name(j) + " never starts");
        continue;
      }
      expect(r.first_start == first, name(j) + " has another first start");
      expect(r.last_start == last->start, name(j) + " has another last start");
      expect(r.finish == last->end,
             name(j) + " ends at " + text(r.finish) + ", the log says " + text(last->end));
      expect(r.gpu == last->gpus.front(), name(j) + " ends on another GPU");
      expect(r.ran == ran && r.profiling == trials && r.ooms == ooms,
             name(j) + " has other times in runs and trials");
      expect((r.end == JobEnd::kFinished) == (last->left == LogKind::kFinish),
             name(j) + " ends otherwise");
    }
  }

  void busy_time() {
    // By GPU: how many jobs come, less those that leave.
    std::map<GpuId, std::map<Time, int>> changes;
    GpuTime profiling;
    for (const Stay& s : stays_) {
      for (const GpuId g : s.gpus) {
        changes[g][s.start] += 1;
        changes[g][s.end] -= 1;
        if (s.left == LogKind::kProfiled) profiling += s.end - s.start;
      }
    }
    for (const auto& [gpu, times] : changes) {
      int jobs = 0;
      Time since{0};
      for (const auto& [at, change] : times) {
        if (jobs > 0) busy_ += at - since;
        if (jobs > 1) shared_ += at - since;
        jobs += change;
        since = at;
      }
    }
    GpuTime episodes;
    for (const EpisodeRecord& e : run_.record.episodes) episodes += e.end - e.start;
    expect(run_.record.usage.busy == busy_,
           "busy time is " + text(run_.record.usage.busy) + ", by the log " + text(busy_));
    episodes += profiling;
    expect(episodes == busy_,
           "episodes and profiling last " + text(episodes) + ", by the log " + text(busy_));
  }

  void slices() {
    double busy = 0;
    double shared = 0;
    double running = 0;
    Time end{0};
    for (const SliceRecord& s : run_.details.slices) {
      busy += s.gpus_busy * to_seconds(s.end - s.start);
      shared += s.gpus_shared * to_seconds(s.end - s.start);
      running += s.running * to_seconds(s.end - s.start);
      end = s.end;
    }
    double stays = 0;
    Time last{0};
    for (const Stay& s : stays_) {
      stays += to_seconds(s.end - s.start);
      last = std::max(last, s.end);
    }
    near("GPUs busy over time", busy, to_seconds(busy_));
    near("GPUs shared over time", shared, to_seconds(shared_));
    near("jobs running over time", running, stays);
    if (!run_.details.slices.empty()) {
      expect(end == last, "the slices end at " + text(end) + ", the last job at " + text(last));
    }
  }

  void co_runs() {
    double sources = 0;
    for (const double s : run_.record.usage.corun_s) sources += s;
    near("time with co-runners", sources, to_seconds(shared_));
    double pairs = 0;  // on GPUs of their own
    std::set<std::uint32_t> counted;
    bool gangs = false;
    for (const CoRunRecord& c : run_.details.co_runs) {
      for (const JobId j : c.pair) {
        gangs |= run_.workload.jobs[index(j)].gpus > 1;
        // A job may come back at the instant at which it leaves: for the GPU nothing changes.
        Time covered = c.start;
        for (const Stay& s : stays_) {
          const bool here = s.job == j && std::ranges::find(s.gpus, c.gpu) != s.gpus.end();
          if (here && s.start <= covered) covered = std::max(covered, s.end);
        }
        expect(covered >= c.end, "a co-run of " + name(j) + " lies outside its time on the GPU");
      }
      if (counted.insert(c.co_run).second) pairs += to_seconds(c.end - c.start);
    }
    if (!gangs) near("co-runs", pairs, to_seconds(shared_));
  }

  void metrics() {
    const MetricValues m = compute_metrics(run_.record);
    const double makespan = at(m, Metric::kMakespanS);
    if (std::isnan(makespan) || makespan == 0) return;
    near("occupancy", at(m, Metric::kOccupancy) * makespan * run_.record.gpu_count,
         to_seconds(busy_));
  }

  void near(const std::string& what, double recorded, double expected) {
    const double slack = 1e-6 * std::max(1.0, std::abs(expected));
    expect(std::abs(recorded - expected) <= slack, what + " is " + std::to_string(recorded) +
                                                       " s, by the log " +
                                                       std::to_string(expected) + " s");
  }

  const RunTables& run_;
  std::vector<Stay> stays_;
  GpuTime busy_;
  GpuTime shared_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> contradictions(const RunTables& run) { return Checking(run).found(); }

}  // namespace corun::test
