#include "tests/helpers/invariants.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "sim/records/metrics.hpp"

namespace corun::test {

namespace {

constexpr std::size_t kOpen = std::numeric_limits<std::size_t>::max();

std::string name(JobId j) { return "job " + std::to_string(index(j)); }
std::string name(GpuId g) { return "GPU " + std::to_string(index(g)); }
std::string text(Time t) { return std::to_string(t.count()) + " ns"; }

/// One stay of one job on GPUs, from the log.
struct Stay {
  JobId job{};
  std::vector<GpuId> gpus;
  Time start{0};
  Time end{0};
  std::size_t first = 0;     ///< position in the log of its start
  std::size_t last = kOpen;  ///< position in the log of its end
  LogKind how = LogKind::kFinish;
  bool profiling = false;  ///< and did not finish the job
  bool probe = false;
  bool exclusive = false;     ///< it began as profiling
  bool done = false;          ///< preempted when all its work was done
  bool will_oom = false;      ///< started above known memory
  Duration kept{0};           ///< of a preempted run: work that need not be done again
  bool kept_is_half = false;  ///< it lies half way between two nanoseconds: may round to either

  /// A probe that sent the job back to the queue.
  bool cut_short() const { return how == LogKind::kProbed; }
  bool on(GpuId g) const { return std::find(gpus.begin(), gpus.end(), g) != gpus.end(); }
};

struct Story {
  std::vector<Stay> stays;  ///< in order of start
  Violations broken;        ///< starts and ends that do not match
};

bool known_gpus(const Facts& f, const std::vector<GpuId>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [&](GpuId g) {
    return index(g) < static_cast<std::size_t>(f.cluster.gpu_count());
  });
}

const GpuType& type_of(const Facts& f, GpuId g) {
  auto left = static_cast<int>(index(g));
  for (const NodeSpec& n : f.cluster.nodes) {
    if (left < n.gpus) return n.gpu;
    left -= n.gpus;
  }
  return f.cluster.nodes.back().gpu;
}

/// Speed of a job alone on this GPU.
double alone(const Facts& f, JobId j, GpuId g) {
  const GpuType& type = type_of(f, g);
  const JobsOnTypes* on_types = f.world.on_types();
  return on_types == nullptr ? type.speed : on_types->alone(j, type, f.noise_seed).speed;
}

/// Memory demand of a job on this GPU [MiB], if known.
std::optional<double> demand(const Facts& f, JobId j, GpuId g) {
  const JobsOnTypes* on_types = f.world.on_types();
  return on_types == nullptr ? f.workload.jobs[index(j)].profile.mem_used_mib
                             : on_types->memory_mib(j, type_of(f, g));
}

/// The stays that were on this GPU right after entry `position` of the log.
std::vector<const Stay*> present(const Story& story, GpuId g, std::size_t position) {
  std::vector<const Stay*> found;
  for (const Stay& s : story.stays) {
    if (s.first <= position && s.last > position && s.on(g)) found.push_back(&s);
  }
  return found;
}

void find_what_was_kept(const Facts& f, Story& story);

Story read(const Facts& f) {
  Story story;
  std::vector<std::size_t> open(f.workload.jobs.size(), kOpen);
  for (std::size_t i = 0; i < f.log.size(); ++i) {
    const LogEntry& e = f.log[i];
    if (index(e.job) >= open.size()) {
      story.broken.push_back(name(e.job) + " is not in the workload");
      continue;
    }
    std::size_t& now = open[index(e.job)];
    switch (e.kind) {
      case LogKind::kArrive:
      case LogKind::kPhase:
        break;
      case LogKind::kProfile:
      case LogKind::kProbe:
      case LogKind::kStart:
        if (now != kOpen) {
          story.broken.push_back(name(e.job) + " starts while it runs, at " + text(e.at));
          story.stays[now].last = i;
          story.stays[now].end = e.at;
        }
        if (!known_gpus(f, e.gpus)) {
          story.broken.push_back(name(e.job) + " starts on a GPU that does not exist");
          continue;
        }
        now = story.stays.size();
        story.stays.push_back({e.job, e.gpus, e.at, e.at, i, kOpen, LogKind::kFinish,
                               e.kind == LogKind::kProfile, e.kind == LogKind::kProbe,
                               e.kind == LogKind::kProfile});
        break;
      case LogKind::kProfiled:
      case LogKind::kProbed:
      case LogKind::kFinish:
      case LogKind::kOom:
      case LogKind::kFail:
      case LogKind::kPreempt:
      case LogKind::kResize:
        // Profiling that does all the work is a run.
        if (now != kOpen && e.kind == LogKind::kFinish && f.keeps_progress) {
          story.stays[now].profiling = false;
        }
        if (now == kOpen || story.stays[now].profiling != (e.kind == LogKind::kProfiled) ||
            (e.kind == LogKind::kProbed && !story.stays[now].probe) ||
            (e.kind == LogKind::kPreempt && story.stays[now].probe)) {
          story.broken.push_back(name(e.job) + " ends without having started, at " + text(e.at));
          continue;
        }
        story.stays[now].end = e.at;
        story.stays[now].last = i;
        story.stays[now].how = e.kind;
        now = kOpen;
        break;
    }
  }
  for (const Stay& s : story.stays) {
    if (s.last == kOpen) story.broken.push_back(name(s.job) + " started and never ended");
  }
  // Which jobs must run out of memory: joining jobs in the order of the log; jobs that will fail hold none.
  for (Stay& s : story.stays) {
    for (const GpuId g : s.gpus) {
      const std::optional<double> own = demand(f, s.job, g);
      if (s.profiling || !own) continue;
      double used = *own;
      for (const Stay* o : present(story, g, s.first)) {
        if (o == &s || o->will_oom) continue;
        used += demand(f, o->job, g).value_or(0);
      }
      if (used > type_of(f, g).memory_mib) s.will_oom = true;
    }
  }
  find_what_was_kept(f, story);
  return story;
}

/// A time span of one GPU without arrivals and departures.
struct Stretch {
  Time from{0};
  Time to{0};
  std::vector<const Stay*> residents;  ///< ascending by job
  std::vector<double> speeds;          ///< normalised, by the world
  Provenance provenance = Provenance::kAlone;
};

std::vector<std::vector<Stretch>> stretches(const Facts& f, const Story& story) {
  std::set<Time> times;
  for (const Stay& s : story.stays) {
    times.insert(s.start);
    times.insert(s.end);
  }
  const auto gpus = static_cast<std::size_t>(f.cluster.gpu_count());
  std::vector<std::vector<Stretch>> all(gpus);
  for (std::size_t g = 0; g < gpus; ++g) {
    const GpuId gpu{static_cast<std::uint32_t>(g)};
    for (auto t = times.begin(); t != times.end() && std::next(t) != times.end(); ++t) {
      Stretch stretch;
      stretch.from = *t;
      stretch.to = *std::next(t);
      std::size_t latest = 0;
      for (const Stay& s : story.stays) {
        if (!s.on(gpu)) continue;
        if (s.start <= stretch.from && s.end >= stretch.to) stretch.residents.push_back(&s);
        if (s.start <= stretch.from) latest = std::max(latest, s.first);
      }
      const auto by_job = [](const Stay* a, const Stay* b) { return a->job < b->job; };
      std::sort(stretch.residents.begin(), stretch.residents.end(), by_job);
      stretch.speeds.assign(stretch.residents.size(), 1.0);
      if (stretch.residents.size() > 1) {
        std::vector<const Stay*> formed = present(story, gpu, latest);
        std::sort(formed.begin(), formed.end(), by_job);
        const auto jobs = [](const std::vector<const Stay*>& list) {
          std::vector<JobId> out;
          out.reserve(list.size());
          for (const Stay* s : list) out.push_back(s->job);
          return out;
        };
        const auto resident_ids = jobs(stretch.residents);
        const auto formed_ids = jobs(formed);
        stretch.provenance = f.world.speeds({resident_ids, formed_ids, kNoJob, type_of(f, gpu).id},
                                            f.noise_seed, stretch.speeds);
      }
      all[g].push_back(std::move(stretch));
    }
  }
  return all;
}

/// Speed of a stay during span number `at`: that of its slowest GPU.
double speed_of(const Facts& f, const std::vector<std::vector<Stretch>>& all, const Stay& stay,
                std::size_t at) {
  if (stay.will_oom) return 0;
  double slowest = std::numeric_limits<double>::infinity();
  for (const GpuId g : stay.gpus) {
    const Stretch& s = all[index(g)][at];
    for (std::size_t i = 0; i < s.residents.size(); ++i) {
      if (s.residents[i] == &stay) {
        slowest = std::min(slowest, alone(f, stay.job, g) * s.speeds[i]);
      }
    }
  }
  return slowest;
}

double slowest_gpu(const Facts& f, const Stay& s) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const GpuId g : s.gpus) slowest = std::min(slowest, alone(f, s.job, g));
  return slowest;
}

/// Work of a profiling segment: an epoch of the job, or a minute on the clock of its GPU.
Duration segment(const Facts& f, const Stay& s) {
  const JobSpec& job = f.workload.jobs[index(s.job)];
  const Duration minute{std::llround(static_cast<double>(f.minute.count()) * slowest_gpu(f, s))};
  return std::min(f.epoch && job.epoch ? *job.epoch : minute, job.work);
}

/// The other job of a probe; nullptr if there is none or more than one.
const Stay* co_runner_of(const Story& story, const Stay& probe) {
  const Stay* found = nullptr;
  for (const Stay& s : story.stays) {
    if (!s.probe || s.gpus != probe.gpus || s.job == probe.job) continue;
    if (s.first > probe.last || s.last < probe.first) continue;  // another time
    if (found != nullptr) return nullptr;
    found = &s;
  }
  return found;
}

/// Normalised speed of a member of a probe.
double speed_in_probe(const Facts& f, const Stay& s, const Stay& other) {
  const std::array<JobId, 2> both{std::min(s.job, other.job), std::max(s.job, other.job)};
  std::array<double, 2> speeds{1, 1};
  f.world.speeds({both, both, kNoJob, type_of(f, s.gpus.front()).id}, f.noise_seed, speeds);
  return speeds[s.job == both[0] ? 0 : 1];
}

/// Work of the last run of a job, after its profiling, probes and preemptions.
Duration work_asked(const Facts& f, const Story& story, JobId j) {
  Duration work = f.workload.jobs[index(j)].work;
  for (const Stay& s : story.stays) {
    if (s.job != j) continue;
    if (f.keeps_progress && s.profiling) work -= segment(f, s);
    work -= s.kept;
    const Stay* other = s.probe ? co_runner_of(story, s) : nullptr;
    if (!f.probes_keep_progress || !s.cut_short() || other == nullptr || s.will_oom) continue;
    const double done = speed_in_probe(f, s, *other) * alone(f, s.job, s.gpus.front()) *
                        static_cast<double>((s.end - s.start).count());
    work = Duration{std::llround(std::max(static_cast<double>(work.count()) - done, 0.0))};
  }
  return work;
}

/// Overhead of a run at full speed: it saves and loads the state of a preempted job.
double overhead(const Facts& f, const Story& story, const Stay& stay) {
  if (stay.profiling) return 0;
  const bool before = std::any_of(story.stays.begin(), story.stays.end(), [&](const Stay& s) {
    return s.job == stay.job && s.first < stay.first && s.how == LogKind::kPreempt;
  });
  if (!before) return 0;
  return static_cast<double>(f.preemption.of(static_cast<int>(stay.gpus.size())).count()) *
         slowest_gpu(f, stay);
}

void find_what_was_kept(const Facts& f, Story& story) {
  const auto preempted = [](const Stay& s) { return s.how == LogKind::kPreempt; };
  if (std::none_of(story.stays.begin(), story.stays.end(), preempted)) return;
  const auto all = stretches(f, story);
  for (Stay& s : story.stays) {  // in order of start, so that earlier stays are known
    if (s.how != LogKind::kPreempt || s.will_oom || s.gpus.empty()) continue;
    double done = -overhead(f, story, s);
    const auto& own = all[index(s.gpus.front())];
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i].from < s.start || own[i].to > s.end) continue;
      done += speed_of(f, all, s, i) * static_cast<double>((own[i].to - own[i].from).count());
    }
    const auto asked = static_cast<double>(work_asked(f, story, s.job).count());
    s.done = asked > 0 && asked - done < 0.4;  // the engine rounds to whole nanoseconds
    const double kept = std::clamp(done, 0.0, asked) * (1 - f.preemption.lost_work);
    s.kept = Duration{std::llround(kept)};
    // The engine adds up the same stretches in another order.
    constexpr double kOfSums_ns = 0.01;
    s.kept_is_half = std::fabs(kept - std::floor(kept) - 0.5) < kOfSums_ns;
  }
}

const Stay* last_run(const Story& story, JobId j) {
  const Stay* last = nullptr;
  for (const Stay& s : story.stays) {
    if (s.job == j && !s.profiling) last = &s;
  }
  return last;
}

struct Episode {
  GpuId gpu{};
  Time start{0};
  Time end{0};
  std::vector<JobId> jobs;
  Duration solo_sum{0};
  bool together = true;
  int unfinished = 0;
  double slack_ns = 0;  ///< of solo_sum: half a nanosecond of kept work may round to either side
};

/// By how much the job's solo time in a run may differ from its record [ns].
double slack_ns(const Facts& f, const Story& story, const Stay& run) {
  const auto halves = std::ranges::count_if(
      story.stays, [&](const Stay& s) { return s.job == run.job && s.kept_is_half; });
  return std::ceil(static_cast<double>(halves) / slowest_gpu(f, run));
}

std::vector<Episode> episodes(const Facts& f, const Story& story) {
  std::vector<Episode> found;
  for (std::uint32_t g = 0; g < static_cast<std::uint32_t>(f.cluster.gpu_count()); ++g) {
    std::vector<const Stay*> here;
    for (const Stay& s : story.stays) {
      if (!s.profiling && s.on(GpuId{g})) here.push_back(&s);
    }
    for (std::size_t i = 0; i < here.size();) {
      Episode e;
      e.gpu = GpuId{g};
      e.start = here[i]->start;
      std::size_t last = here[i]->last;  // in the log: a job that ends at the instant
      std::size_t n = i;                 // of another's start ends first and is not linked to it
      std::vector<const Stay*> finished;
      for (; n < here.size() && here[n]->first < last; ++n) {
        last = std::max(last, here[n]->last);
        e.end = std::max(e.end, here[n]->end);
        if (here[n]->how == LogKind::kFinish) {
          finished.push_back(here[n]);
        } else {
          ++e.unfinished;
        }
        e.slack_ns += slack_ns(f, story, *here[n]);
        e.solo_sum += Duration{
            std::llround(static_cast<double>(here[n]->kept.count()) / slowest_gpu(f, *here[n]))};
      }
      for (const Stay* s : finished) {
        e.jobs.push_back(s->job);
        e.together &= s->start == finished.front()->start;
        const auto work = static_cast<double>(work_asked(f, story, s->job).count());
        e.solo_sum += Duration{std::llround(work / slowest_gpu(f, *s))};
      }
      found.push_back(std::move(e));
      i = n;
    }
  }
  return found;
}

bool near(double a, double b, double relative) {
  return std::fabs(a - b) <= relative * std::max({1.0, std::fabs(a), std::fabs(b)});
}

}  // namespace

Violations check_time(const Facts& f) {
  Violations v;
  // Within one instant: ends of work and of profiling, failures, ends of probes, phases, arrivals, then starts.
  const auto rank = [](LogKind kind) {
    switch (kind) {
      case LogKind::kFinish:
      case LogKind::kProfiled:
        return 0;
      case LogKind::kOom:
      case LogKind::kFail:
        return 1;
      case LogKind::kProbed:
        return 2;
      case LogKind::kPhase:
        return 3;
      case LogKind::kArrive:
        return 4;
      case LogKind::kProfile:
        return 5;
      case LogKind::kProbe:
        return 6;
      case LogKind::kStart:
      case LogKind::kPreempt:
      case LogKind::kResize:
        return 7;
    }
    return 8;
  };
  std::vector<Time> started(f.workload.jobs.size(), kNever);
  for (std::size_t i = 0; i < f.log.size(); ++i) {
    const LogEntry& e = f.log[i];
    if (index(e.job) >= started.size()) continue;  // check_jobs reports it
    const bool starts =
        e.kind == LogKind::kStart || e.kind == LogKind::kProfile || e.kind == LogKind::kProbe;
    // A stay of length 0 makes a second round within the instant.
    const bool no_length = !starts && started[index(e.job)] == e.at;
    if (starts) started[index(e.job)] = e.at;
    if (i == 0) continue;
    const LogEntry& before = f.log[i - 1];
    if (e.at < before.at) {
      v.push_back("time goes back from " + text(before.at) + " to " + text(e.at));
    } else if (e.at == before.at && rank(e.kind) < rank(before.kind) && !no_length &&
               !(f.preempts && e.kind == LogKind::kFinish)) {
      v.push_back("at " + text(e.at) + " things are worked through in the wrong order");
    }
    if (starts && f.round > Duration::zero() && e.at % f.round != Duration::zero()) {
      v.push_back(name(e.job) + " starts between two rounds, at " + text(e.at));
    }
    if (f.tick > Duration::zero() && e.at % f.tick != Duration::zero() &&
        ((e.kind == LogKind::kFinish && !f.preempts) || e.kind == LogKind::kProfiled)) {
      v.push_back(name(e.job) + " ends between two ticks, at " + text(e.at));
    }
  }
  for (std::size_t j = 0; j < f.record.jobs.size(); ++j) {
    const JobRecord& r = f.record.jobs[j];
    if (!r.first_start || r.submit > *r.first_start || *r.first_start > r.last_start ||
        r.last_start > r.finish) {
      v.push_back("record of job " + std::to_string(j) +
                  " is not in the order submit, first start, last start, finish");
    }
  }
  return v;
}

Violations check_jobs(const Facts& f) {
  const Story story = read(f);
  Violations v = story.broken;
  if (f.record.jobs.size() != f.workload.jobs.size()) {
    v.push_back("the record has another number of jobs than the workload");
    return v;
  }
  for (std::uint32_t i = 0; i < f.workload.jobs.size(); ++i) {
    const JobId j{i};
    const JobSpec& asked = f.workload.jobs[i];
    const JobRecord& r = f.record.jobs[i];
    int arrivals = 0, finishes = 0, fails = 0, ooms = 0;
    bool over = false;
    for (const LogEntry& e : f.log) {
      if (e.job != j) continue;
      if (over) v.push_back(name(j) + " goes on after its end, at " + text(e.at));
      if (arrivals == 0 && e.kind != LogKind::kArrive) v.push_back(name(j) + " did not arrive");
      if (e.kind == LogKind::kArrive) {
        ++arrivals;
        if (e.at != asked.submit) v.push_back(name(j) + " does not arrive when submitted");
      }
      finishes += e.kind == LogKind::kFinish;
      fails += e.kind == LogKind::kFail;
      ooms += e.kind == LogKind::kOom || e.kind == LogKind::kFail;
      over = finishes + fails > 0;
    }
    if (arrivals != 1) v.push_back(name(j) + " arrives " + std::to_string(arrivals) + " times");
    if (finishes + fails == 0) v.push_back(name(j) + " is lost");
    if (finishes + fails > 1) v.push_back(name(j) + " ends more than once");
    if (fails == 1 && ooms != f.cluster.oom.retries + 1) {
      v.push_back(name(j) + " is given up after " + std::to_string(ooms) + " attempts");
    }
    if (fails == 0 && ooms > f.cluster.oom.retries) v.push_back(name(j) + " retries too often");
    for (const Stay& s : story.stays) {
      if (s.job != j) continue;
      const bool segment_is_all = s.exclusive && segment(f, s) == asked.work;
      const bool fits =
          demand(f, j, s.gpus.front()).value_or(0) <= type_of(f, s.gpus.front()).memory_mib;
      if (s.profiling && f.keeps_progress && segment_is_all && fits) {
        v.push_back(name(j) + " has done all its work while profiled, and does not finish");
      }
      if (s.exclusive && !s.profiling && !segment_is_all) {
        v.push_back(name(j) + " finishes while profiled, with work left");
      }
      if (s.how == LogKind::kPreempt && s.done) {
        v.push_back(name(j) + " is preempted with its work done, and does not finish");
      }
    }
    Duration profiled{0};
    Duration ran{0};
    int preemptions = 0;
    const Stay* first = nullptr;
    for (const Stay& s : story.stays) {
      if (s.job != j) continue;
      if (s.how == LogKind::kPreempt) {
        ran += s.end - s.start;
        ++preemptions;
      }
      if (s.profiling || s.cut_short()) {
        profiled += s.end - s.start;
      } else if (first == nullptr) {
        first = &s;
      }
    }
    const Stay* last = last_run(story, j);
    if (first == nullptr) {
      v.push_back(name(j) + " never starts");
      continue;
    }
    if (r.submit != asked.submit || r.work != asked.work || r.gpus != asked.gpus ||
        r.first_start != first->start || r.last_start != last->start || r.finish != last->end ||
        last->gpus.empty() || r.gpu != last->gpus.front() || r.ooms != ooms ||
        r.profiling != profiled || r.ran != ran || r.preemptions != preemptions ||
        r.end != (finishes > 0 ? JobEnd::kFinished : JobEnd::kFailed)) {
      v.push_back("the record of " + name(j) + " is not what the log says");
    }
  }
  return v;
}

Violations check_memory(const Facts& f) {
  Violations v;
  const Story story = read(f);
  for (const Stay& s : story.stays) {
    const bool ran_out = s.how == LogKind::kOom || s.how == LogKind::kFail;
    if (ran_out && !s.will_oom) v.push_back(name(s.job) + " runs out of memory without cause");
    const bool cut = s.cut_short() || s.how == LogKind::kPreempt;
    if (s.will_oom && cut && s.end - s.start < f.cluster.oom.ramp) continue;
    if (s.will_oom && !ran_out) {
      v.push_back(name(s.job) + " starts above the memory limit at " + text(s.start) +
                  " and never runs out of memory");
    }
    if (s.will_oom && ran_out && s.end - s.start != f.cluster.oom.ramp) {
      v.push_back(name(s.job) + " runs out of memory after " + text(s.end - s.start) +
                  ", the ramp-up is " + text(f.cluster.oom.ramp));
    }
  }
  return v;
}

Violations check_work(const Facts& f) {
  Violations v;
  const Story story = read(f);
  const auto all = stretches(f, story);
  for (const Stay& s : story.stays) {
    if (s.profiling) {
      const double length = static_cast<double>(segment(f, s).count()) / slowest_gpu(f, s);
      const auto over = static_cast<double>((s.end - s.start).count()) - length;
      if (over < -1 || over > 1 + static_cast<double>(f.tick.count())) {
        v.push_back(name(s.job) + " is profiled for " + text(s.end - s.start));
      }
      continue;
    }
    if (s.how != LogKind::kFinish || s.last == kOpen) continue;
    double done = 0;
    double changes = 1;
    double previous = -1;
    double fastest = 0;
    for (std::size_t i = 0; !s.gpus.empty() && i < all[index(s.gpus.front())].size(); ++i) {
      const Stretch& stretch = all[index(s.gpus.front())][i];
      if (stretch.from < s.start || stretch.to > s.end) continue;
      const double speed = speed_of(f, all, s, i);
      done += speed * static_cast<double>((stretch.to - stretch.from).count());
      changes += previous >= 0 && speed != previous;
      previous = speed;
      fastest = std::max(fastest, speed);
    }
    const auto asked =
        static_cast<double>(work_asked(f, story, s.job).count()) + overhead(f, story, s);
    // Kept work that lies half way between two nanoseconds may have been rounded to either.
    const auto halves = static_cast<double>(std::ranges::count_if(
        story.stays, [&](const Stay& x) { return x.job == s.job && x.kept_is_half; }));
    const double slack = halves + changes * std::max(1.0, fastest);
    if (done < asked - slack ||
        done > asked + slack + fastest * static_cast<double>(f.tick.count())) {
      v.push_back(name(s.job) + " was asked for " + std::to_string(asked) + " ns of work and did " +
                  std::to_string(done));
    }
  }
  return v;
}

Violations check_gangs(const Facts& f) {
  Violations v;
  const Story story = read(f);
  for (const Stay& s : story.stays) {
    const std::set<GpuId> distinct(s.gpus.begin(), s.gpus.end());
    const int asked = s.exclusive ? 1 : f.workload.jobs[index(s.job)].gpus;
    if (distinct.size() != s.gpus.size() || distinct.size() != static_cast<std::size_t>(asked)) {
      v.push_back(name(s.job) + " asked for " + std::to_string(asked) + " GPUs and starts on " +
                  std::to_string(distinct.size()));
    }
  }
  for (std::size_t a = 0; a < f.record.jobs.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const JobRecord& x = f.record.jobs[a];
      const JobRecord& y = f.record.jobs[b];
      if (x.group == y.group && (x.last_start != y.last_start || x.gpu != y.gpu)) {
        v.push_back("jobs " + std::to_string(a) + " and " + std::to_string(b) +
                    " have one group number and do not start together");
      }
    }
  }
  return v;
}

Violations check_types(const Facts& f) {
  Violations v;
  for (const Stay& s : read(f).stays) {
    const std::uint32_t named = f.workload.jobs[index(s.job)].gpu_models;
    for (const GpuId g : s.gpus) {
      if (named == 0 || (named >> type_of(f, g).id & 1U) != 0) continue;
      v.push_back(name(s.job) + " is on " + name(g) + ", whose type it does not name, at " +
                  text(s.start));
    }
  }
  return v;
}

Violations check_capacity(const Facts& f) {
  Violations v;
  const Story story = read(f);
  for (const Stay& s : story.stays) {
    for (const GpuId g : s.gpus) {
      const auto here = present(story, g, s.first);
      const auto limit = f.cluster.max_jobs_per_gpu;
      if (limit && here.size() > static_cast<std::size_t>(*limit)) {
        v.push_back(name(g) + " holds " + std::to_string(here.size()) + " jobs at " +
                    text(s.start));
      }
      for (const Stay* o : here) {
        if (o == &s) continue;
        if (o->exclusive || s.exclusive) {
          v.push_back(name(g) + " profiles a job with co-runners at " + text(s.start));
        }
        if (!f.join && o->start != s.start) {
          v.push_back(name(s.job) + " joins " + name(o->job) + " on " + name(g) + " at " +
                      text(s.start));
        }
      }
    }
  }
  return v;
}

Violations check_probes(const Facts& f) {
  Violations v;
  const Story story = read(f);
  std::size_t probes = 0;
  for (const Stay& s : story.stays) {
    for (const GpuId g : s.gpus) {
      for (const Stay* o : present(story, g, s.first)) {
        if (o->probe != s.probe) v.push_back(name(s.job) + " joins a probe at " + text(s.start));
      }
    }
    if (!s.probe) continue;
    const Stay* other = co_runner_of(story, s);
    if (other == nullptr || other->start != s.start || other->end != s.end) {
      v.push_back(name(s.job) + " is not probed with one other, from start to end, at " +
                  text(s.start));
      continue;
    }
    Time due = s.start + f.probe_length;
    if (f.tick > Duration::zero()) due += (f.tick - due % f.tick) % f.tick;
    if (s.end > due || (s.cut_short() && other->cut_short() && s.end != due)) {
      v.push_back(name(s.job) + " is probed from " + text(s.start) + " to " + text(s.end));
    }
    if (other->job < s.job) continue;  // each pair once
    ++probes;
    const auto r =
        std::find_if(f.record.probes.begin(), f.record.probes.end(), [&](const ProbeRecord& p) {
          return p.jobs == std::array{s.job, other->job} && p.start == s.start && p.end == s.end;
        });
    if (r == f.record.probes.end() || r->gpu != s.gpus.front()) {
      v.push_back("the probe of " + name(s.job) + " at " + text(s.start) + " is not in the record");
      continue;
    }
    const bool both_finished = s.how == LogKind::kFinish && other->how == LogKind::kFinish;
    if (r->measured != (s.end > s.start && !s.will_oom && !other->will_oom && !both_finished)) {
      v.push_back("the probe of " + name(s.job) + " at " + text(s.start) +
                  " is wrong about what it measured");
    }
    if (r->measured &&
        r->speeds != std::array{speed_in_probe(f, s, *other), speed_in_probe(f, *other, s)}) {
      v.push_back("the probe of " + name(s.job) + " at " + text(s.start) +
                  " has other speeds than the world");
    }
  }
  if (probes != f.record.probes.size()) v.push_back("the record has other probes than the log");
  return v;
}

Violations check_episodes(const Facts& f) {
  Violations v;
  const Story story = read(f);
  const std::vector<Episode> expected = episodes(f, story);
  if (expected.size() != f.record.episodes.size()) {
    v.push_back("there are " + std::to_string(f.record.episodes.size()) +
                " episodes, the log has " + std::to_string(expected.size()));
  }
  for (std::size_t i = 0; i < f.record.episodes.size(); ++i) {
    const EpisodeRecord& r = f.record.episodes[i];
    if (i > 0 && r.end < f.record.episodes[i - 1].end) v.push_back("episodes are not in order");
    const auto e = std::find_if(expected.begin(), expected.end(), [&](const Episode& x) {
      return x.gpu == r.gpu && x.start == r.start && x.end == r.end && x.jobs == r.jobs &&
             x.unfinished == r.unfinished;
    });
    if (e == expected.end()) {
      v.push_back("the episode on " + name(r.gpu) + " from " + text(r.start) + " to " +
                  text(r.end) + " with " + std::to_string(r.jobs.size()) +
                  " jobs is not in the log");
      continue;
    }
    const Duration difference = GpuTime(r.solo_sum) - GpuTime(e->solo_sum);
    if (std::fabs(static_cast<double>(difference.count())) > e->slack_ns) {
      v.push_back("an episode's solo times do not add up to " + text(r.solo_sum) +
                  ", the log says " + text(e->solo_sum));
    }
    if (e->together != r.together) {
      v.push_back("an episode is wrong about its members starting together");
    }
  }
  return v;
}

Violations check_outcomes(const Facts& f) {
  Violations v;
  const Story story = read(f);
  double isd_sum = 0, isds = 0, jct_sum = 0, finished = 0;
  for (std::uint32_t i = 0; i < f.record.jobs.size(); ++i) {
    const Stay* run = last_run(story, JobId{i});
    if (run == nullptr || run->how != LogKind::kFinish || run->gpus.empty()) continue;
    double solo =
        static_cast<double>(work_asked(f, story, JobId{i}).count()) / slowest_gpu(f, *run);
    auto length = static_cast<double>((run->end - run->start).count());
    double runs = 1;
    const Duration last_work = work_asked(f, story, JobId{i});
    Duration work = last_work;
    for (const Stay& s : story.stays) {
      if (s.job != JobId{i} || s.how != LogKind::kPreempt) continue;
      work += s.kept;
      solo += static_cast<double>(s.kept.count()) / slowest_gpu(f, s);
      length += static_cast<double>((s.end - s.start).count());
      ++runs;
    }
    const double isd = (length - solo) / solo;
    // J_a is kept to the nanosecond: half of one, as a share of J_a.
    const double slack = 1e-12 + runs * (1 + std::fabs(isd)) / solo;
    if (solo == 0 ? !std::isnan(f.record.jobs[i].isd())
                  : !(std::fabs(f.record.jobs[i].isd() - isd) <= slack)) {
      v.push_back("ISD of job " + std::to_string(i) + " is " +
                  std::to_string(f.record.jobs[i].isd()) + ", the log says " + std::to_string(isd));
    }
    const JobRecord& record = f.record.jobs[i];
    const auto off = [&](Duration recorded, double expected) {
      return std::fabs(static_cast<double>(recorded.count()) - expected) > runs;
    };
    const auto all = static_cast<double>(f.workload.jobs[i].work.count());
    if (off(record.reference_solo, static_cast<double>(work.count())) ||
        off(record.run_reference_solo, static_cast<double>(last_work.count()))) {
      v.push_back("job " + std::to_string(i) + " has other work on the reference type");
    }
    if (off(record.whole_solo, all / slowest_gpu(f, *run))) {
      v.push_back("job " + std::to_string(i) + " has another solo time on its last GPUs");
    }
    if (solo > 0) {
      isd_sum += isd;
      ++isds;
    }
    jct_sum += to_seconds(run->end - f.workload.jobs[i].submit);
    ++finished;
  }
  double ps_sum = 0, ps_count = 0;
  for (const Episode& e : episodes(f, story)) {
    if (e.jobs.empty() || e.solo_sum.count() == 0) continue;
    const auto solo = static_cast<double>(e.solo_sum.count());
    ps_sum += (solo - static_cast<double>((e.end - e.start).count())) / solo;
    ++ps_count;
  }
  const MetricValues m = compute_metrics(f.record);
  if (at(m, Metric::kJobs) != finished) v.push_back("metric jobs is wrong");
  if (isds > 0 && !near(at(m, Metric::kIsd), isd_sum / isds, 1e-6)) {
    v.push_back("metric isd is not the mean over finished jobs");
  }
  if (finished > 0 && !near(at(m, Metric::kJctS), jct_sum / finished, 1e-9)) {
    v.push_back("metric jct_s is not the mean over finished jobs");
  }
  if (ps_count > 0 && !near(at(m, Metric::kPs), ps_sum / ps_count, 1e-6)) {
    v.push_back("metric ps is not the mean over episodes");
  }
  return v;
}

Violations check_usage(const Facts& f) {
  Violations v;
  const Story story = read(f);
  const auto all = stretches(f, story);
  UsageRecord u;
  for (std::size_t g = 0; g < all.size(); ++g) {
    const GpuId gpu{static_cast<std::uint32_t>(g)};
    const GpuType& type = type_of(f, gpu);
    for (std::size_t i = 0; i < all[g].size(); ++i) {
      const Stretch& s = all[g][i];
      if (s.residents.empty()) continue;
      const double length = to_seconds(s.to - s.from);
      u.busy += s.to - s.from;
      double util = 0, memory = 0;
      bool util_known = true, memory_known = true;
      for (const Stay* r : s.residents) {
        const Profile& p = f.workload.jobs[index(r->job)].profile;
        const std::optional<double> own = demand(f, r->job, gpu);
        util_known &= p.gpu_util_pct.has_value();
        memory_known &= own.has_value();
        util += p.gpu_util_pct.value_or(0) / 100 * speed_of(f, all, *r, i) / alone(f, r->job, gpu);
        if (!r->will_oom) memory += own.value_or(0) / type.memory_mib;
        if (const JobsOnTypes* on_types = f.world.on_types()) {
          const Alone known = on_types->alone(r->job, type, f.noise_seed);
          u.solo_s[static_cast<std::size_t>(known.source)] += length;
        }
      }
      if (util_known) {
        u.util_s += std::min(1.0, util) * length;
        u.util_known_s += length;
      }
      if (memory_known) {
        u.mem_s += std::min(1.0, memory) * length;
        u.mem_known_s += length;
      }
      if (s.residents.size() > 1) u.corun_s[static_cast<std::size_t>(s.provenance)] += length;
    }
  }
  const UsageRecord& r = f.record.usage;
  if (r.busy != u.busy) {
    v.push_back("busy time is " + text(r.busy) + ", the log says " + text(u.busy));
  }
  GpuTime covered;
  for (const EpisodeRecord& e : f.record.episodes) covered += e.end - e.start;
  for (const Stay& s : story.stays) {
    if (s.profiling) covered += s.end - s.start;
  }
  if (r.busy != covered) {
    v.push_back("busy time is " + text(r.busy) + ", episodes and profiling segments last " +
                text(covered));
  }
  const auto compare = [&](const char* what, double recorded, double expected) {
    if (!near(recorded, expected, 1e-7)) {
      v.push_back(std::string(what) + " is " + std::to_string(recorded) + " s, the log says " +
                  std::to_string(expected) + " s");
    }
  };
  compare("utilisation", r.util_s, u.util_s);
  compare("time of known utilisation", r.util_known_s, u.util_known_s);
  compare("memory in use", r.mem_s, u.mem_s);
  compare("time of known memory", r.mem_known_s, u.mem_known_s);
  for (std::size_t p = 0; p < 4; ++p) compare("time with co-runners", r.corun_s[p], u.corun_s[p]);
  for (std::size_t p = 0; p < kSoloSources; ++p) {
    compare("time by the source of the speed", r.solo_s[p], u.solo_s[p]);
  }
  return v;
}

Violations check_all(const Facts& facts) {
  using Check = Violations (*)(const Facts&);
  constexpr std::array<std::pair<const char*, Check>, 11> kChecks{{{"time", check_time},
                                                                   {"jobs", check_jobs},
                                                                   {"memory", check_memory},
                                                                   {"work", check_work},
                                                                   {"gangs", check_gangs},
                                                                   {"types", check_types},
                                                                   {"capacity", check_capacity},
                                                                   {"probes", check_probes},
                                                                   {"episodes", check_episodes},
                                                                   {"outcomes", check_outcomes},
                                                                   {"usage", check_usage}}};
  Violations v;
  for (const auto& [what, check] : kChecks) {
    for (const std::string& found : check(facts)) v.push_back(std::string(what) + ": " + found);
  }
  return v;
}

}  // namespace corun::test
