#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sim/host_device.hpp"
#include "sim/metrics.hpp"
#include "sim/run_figures.hpp"

/// One replication of the batch experiment, from groups to metrics: one source for the processor and
/// for the GPU.
///
/// The batch experiment: all jobs are there at t = 0 and want one GPU each, all GPUs are alike, and the
/// groups and their order are known. As soon as a GPU is empty, the lowest-numbered first, it takes the
/// next group; nobody joins, nobody is preempted, nobody runs out of memory. Then nothing of the event
/// engine is needed but its arithmetic, and this is that arithmetic (sim/simulated_backend.cpp), in the
/// same order: remaining work in nanoseconds at speed 1, brought up to now when the company changes;
/// completions planned to the nearest nanosecond; a job whose speed did not change keeps its planned
/// completion; equal times in the order in which they were planned; sums of usage at each completion,
/// in that order. So every metric has the engine's bits (tests/experiments/batch_replay_test.cpp).
///
/// Costs O(jobs x (GPUs + members)) and a sort of the jobs. No allocation, no library.
namespace corun {

/// A list with gaps: element i lies at data[i * stride]. On the GPU the lists of neighbouring threads
/// are interleaved, so that a warp reads whole lines.
template <typename T>
struct Strided {
  T* data = nullptr;
  std::size_t stride = 1;
  CORUN_HOST_DEVICE T& operator[](std::size_t i) const { return data[i * stride]; }
  /// Cuts the first `n` elements off.
  CORUN_HOST_DEVICE Strided take(std::size_t n) {
    const Strided front = *this;
    data += n * stride;
    return front;
  }
};

/// Nanoseconds as seconds.
struct StridedSeconds {
  Strided<std::int64_t> ns;
  CORUN_HOST_DEVICE double operator[](std::size_t i) const {
    return static_cast<double>(ns[i]) * 1e-9;
  }
};

/// The most jobs of one group: a company is a mask of so many bits.
inline constexpr std::uint32_t kMostMembers = 32;

/// What is the same in every replication. Lists are by job.
struct BatchWorkload {
  std::uint32_t jobs = 0;
  std::uint32_t gpus = 0;
  double gpu_speed = 1;                   ///< relative to the reference GPU type
  const double* work_ns = nullptr;        ///< J_a on the reference GPU type, above 0
  const std::int64_t* solo_ns = nullptr;  ///< J_a on these GPUs, at least 1
  const double* util = nullptr;           ///< of the GPU when alone, a fraction; 0: not known
  const double* memory = nullptr;         ///< share of a GPU's memory; 0: not known
  const std::uint8_t* known = nullptr;    ///< kUtilKnown | kMemoryKnown
  std::int64_t solo_sum_ns = 0;
  std::int64_t latest_ns =
      0;  ///< a run that would go on for longer is given up: sums stay in range

  static constexpr std::uint8_t kUtilKnown = 1;
  static constexpr std::uint8_t kMemoryKnown = 2;
};

/// The groups of one replication in the order in which they start. Group g has members first[g] to
/// first[g + 1] - 1, ascending by job; `first` has groups + 1 elements.
struct BatchPlan {
  std::uint32_t groups = 0;
  Strided<const std::uint32_t> first;
  Strided<const std::uint32_t> members;
};

/// What one replication needs while it runs, and what it leaves behind. Lists of `gpus`, of gpus x
/// `widest` (the largest group), of `jobs` and of `groups` elements. Contents do not matter beforehand.
struct BatchScratch {
  std::uint32_t widest = 0;
  // by GPU
  Strided<std::uint32_t> group, company;  ///< company: bit p stands for the group's member p
  Strided<std::int64_t> accounted, next_due;
  Strided<std::uint64_t> next_order;
  Strided<std::uint32_t> next_member;
  Strided<std::uint32_t> provenance;
  // by GPU and member
  Strided<double> remaining_ns, speed, asked;
  Strided<std::int64_t> since, due;
  Strided<std::uint64_t> order;
  // by job
  Strided<std::int64_t> start_ns, finish_ns;
  Strided<std::int64_t> finishes_ns;  ///< ascending
  Strided<double> isd, stretch;       ///< by job, then sorted
  // by group
  Strided<std::int64_t> group_start_ns;
  Strided<std::uint32_t> gpu;    ///< that the group ran on
  Strided<std::uint32_t> ended;  ///< groups in order of their end
  Strided<double> ps;            ///< in that order, then sorted
};

/// How many of each type the lists of BatchScratch are together.
struct BatchScratchSize {
  std::size_t reals = 0, times = 0, orders = 0, numbers = 0;
};
CORUN_HOST_DEVICE inline BatchScratchSize scratch_size(std::size_t jobs, std::size_t gpus,
                                                       std::size_t groups, std::size_t widest) {
  const std::size_t slots = gpus * widest;
  return {3 * slots + 2 * jobs + groups, 2 * gpus + 2 * slots + 3 * jobs + groups, gpus + slots,
          4 * gpus + 2 * groups};
}

/// Cuts memory of that size into lists.
CORUN_HOST_DEVICE inline BatchScratch cut_scratch(std::size_t jobs, std::size_t gpus,
                                                  std::size_t groups, std::size_t widest,
                                                  Strided<double> reals,
                                                  Strided<std::int64_t> times,
                                                  Strided<std::uint64_t> orders,
                                                  Strided<std::uint32_t> numbers) {
  const std::size_t slots = gpus * widest;
  BatchScratch s;
  s.widest = static_cast<std::uint32_t>(widest);
  s.remaining_ns = reals.take(slots);
  s.speed = reals.take(slots);
  s.asked = reals.take(slots);
  s.isd = reals.take(jobs);
  s.stretch = reals.take(jobs);
  s.ps = reals.take(groups);
  s.accounted = times.take(gpus);
  s.next_due = times.take(gpus);
  s.since = times.take(slots);
  s.due = times.take(slots);
  s.start_ns = times.take(jobs);
  s.finish_ns = times.take(jobs);
  s.finishes_ns = times.take(jobs);
  s.group_start_ns = times.take(groups);
  s.next_order = orders.take(gpus);
  s.order = orders.take(slots);
  s.group = numbers.take(gpus);
  s.company = numbers.take(gpus);
  s.next_member = numbers.take(gpus);
  s.provenance = numbers.take(gpus);
  s.gpu = numbers.take(groups);
  s.ended = numbers.take(groups);
  return s;
}

/// Integrals over time and what was counted, as in UsageRecord.
struct BatchSums {
  std::int64_t busy_ns = 0;
  double util_s = 0, util_known_s = 0, mem_s = 0, mem_known_s = 0;
  double corun_s[4] = {0, 0, 0, 0};  ///< by Provenance
  std::uint64_t passes = 0;          ///< scheduling passes
};

/// Ascending: the library's where there is one, else Shell's (1959, gaps of Ciura 2001), in place and
/// without recursion. What comes out is the same.
CORUN_HOST_DEVICE inline void sort_ascending(const Strided<double>& x, std::size_t n) {
#if !defined(__CUDA_ARCH__)
  if (x.stride == 1) {
    std::sort(x.data, x.data + n);
    return;
  }
#endif
  constexpr std::size_t kGaps[] = {301, 132, 57, 23, 10, 4, 1};
  for (const std::size_t gap : kGaps) {
    for (std::size_t i = gap; i < n; ++i) {
      const double value = x[i];
      std::size_t at = i;
      for (; at >= gap && value < x[at - gap]; at -= gap) x[at] = x[at - gap];
      x[at] = value;
    }
  }
}

/// One replication while it runs.
template <typename Speeds>
class BatchRun {
 public:
  /// `speeds(group, company, out)` sets out[p] for each member p of a company of two or more to its
  /// normalised speed and returns its Provenance.
  CORUN_HOST_DEVICE BatchRun(const BatchWorkload& workload, const BatchPlan& plan,
                             const BatchScratch& scratch, const Speeds& speeds)
      : w_(workload), plan_(plan), s_(scratch), speeds_(speeds) {}

  /// To the end. False where a completion would lie beyond `latest_ns`: nothing is then of use.
  CORUN_HOST_DEVICE bool run() {
    const std::uint32_t gpus = w_.gpus;
    for (std::uint32_t g = 0; g < gpus; ++g) {
      s_.company[g] = 0;
      s_.next_due[g] = kIdle;
      s_.next_order[g] = 0;
    }
    sums_.passes = 1;
    if (!start_groups()) return false;
    std::uint32_t first = earliest();
    while (s_.next_due[first] != kIdle) {
      now_ = s_.next_due[first];
      sums_.passes += next_group_ < plan_.groups ? 1 : 0;
      do {
        if (!complete(first)) return false;
        first = earliest();
      } while (s_.next_due[first] == now_);
      if (next_group_ < plan_.groups) {
        if (!start_groups()) return false;
        first = earliest();
      }
    }
    return true;
  }

  CORUN_HOST_DEVICE const BatchSums& sums() const { return sums_; }

 private:
  static constexpr std::int64_t kIdle = INT64_MAX;

  /// The GPU of the next completion: the least (time, order of planning).
  CORUN_HOST_DEVICE std::uint32_t earliest() const {
    std::uint32_t best = 0;
    for (std::uint32_t g = 1; g < w_.gpus; ++g) {
      if (s_.next_due[g] < s_.next_due[best] ||
          (s_.next_due[g] == s_.next_due[best] && s_.next_order[g] < s_.next_order[best])) {
        best = g;
      }
    }
    return best;
  }

  CORUN_HOST_DEVICE bool start_groups() {
    for (std::uint32_t g = 0; g < w_.gpus && next_group_ < plan_.groups; ++g) {
      if (s_.company[g] != 0) continue;
      const std::uint32_t group = next_group_++;
      s_.group[g] = group;
      s_.gpu[group] = g;
      s_.group_start_ns[group] = now_;
      s_.accounted[g] = now_;
      const std::uint32_t first = plan_.first[group];
      const std::uint32_t members = plan_.first[group + 1] - first;
      for (std::uint32_t p = 0; p < members; ++p) {
        const std::uint32_t job = plan_.members[first + p];
        const std::size_t slot = std::size_t{g} * s_.widest + p;
        s_.start_ns[job] = now_;
        s_.remaining_ns[slot] = w_.work_ns[job];
        s_.since[slot] = now_;
        s_.speed[slot] = 0;
      }
      s_.company[g] = static_cast<std::uint32_t>((std::uint64_t{1} << members) - 1);
      if (!company_changed(g)) return false;
    }
    return true;
  }

  CORUN_HOST_DEVICE bool complete(std::uint32_t g) {
    account(g);
    const std::uint32_t group = s_.group[g];
    const std::uint32_t first = plan_.first[group];
    const std::uint32_t job = plan_.members[first + s_.next_member[g]];
    s_.finish_ns[job] = now_;
    s_.finishes_ns[finished_++] = now_;
    s_.company[g] &= ~(std::uint32_t{1} << s_.next_member[g]);
    if (s_.company[g] != 0) return company_changed(g);
    s_.next_due[g] = kIdle;
    std::int64_t solo = 0;
    for (std::uint32_t at = first; at < plan_.first[group + 1]; ++at) {
      solo += w_.solo_ns[plan_.members[at]];
    }
    const std::int64_t length = now_ - s_.group_start_ns[group];
    s_.ps[episodes_] = static_cast<double>(solo - length) / static_cast<double>(solo);
    s_.ended[episodes_++] = group;
    return true;
  }

  /// Usage of this GPU since it was last looked at.
  CORUN_HOST_DEVICE void account(std::uint32_t g) {
    const std::int64_t elapsed = now_ - s_.accounted[g];
    s_.accounted[g] = now_;
    if (elapsed == 0) return;
    const double seconds = static_cast<double>(elapsed) * 1e-9;
    const std::uint32_t company = s_.company[g];
    const std::uint32_t first = plan_.first[s_.group[g]];
    double util = 0;
    double memory = 0;
    std::uint8_t known = BatchWorkload::kUtilKnown | BatchWorkload::kMemoryKnown;
    for (std::uint32_t p = 0; company >> p != 0; ++p) {
      if ((company >> p & 1U) == 0) continue;
      const std::uint32_t job = plan_.members[first + p];
      known &= w_.known[job];
      util += w_.util[job] * s_.speed[std::size_t{g} * s_.widest + p] / w_.gpu_speed;
      memory += w_.memory[job];
    }
    sums_.busy_ns += elapsed;
    if ((known & BatchWorkload::kUtilKnown) != 0) {
      sums_.util_s += (util < 1.0 ? util : 1.0) * seconds;
      sums_.util_known_s += seconds;
    }
    if ((known & BatchWorkload::kMemoryKnown) != 0) {
      sums_.mem_s += (memory < 1.0 ? memory : 1.0) * seconds;
      sums_.mem_known_s += seconds;
    }
    if ((company & (company - 1)) != 0) sums_.corun_s[s_.provenance[g]] += seconds;
  }

  /// Who is left on a GPU goes on at its speed of now; finds the GPU's next completion.
  CORUN_HOST_DEVICE bool company_changed(std::uint32_t g) {
    const std::uint32_t company = s_.company[g];
    const std::size_t slots = std::size_t{g} * s_.widest;
    const bool alone = (company & (company - 1)) == 0;
    if (!alone) {
      const Strided<double> asked{&s_.asked[slots], s_.asked.stride};
      s_.provenance[g] = speeds_(s_.group[g], company, asked);
    }
    s_.next_due[g] = kIdle;
    for (std::uint32_t p = 0; company >> p != 0; ++p) {
      if ((company >> p & 1U) == 0) continue;
      const std::size_t slot = slots + p;
      const double speed = w_.gpu_speed * (alone ? 1.0 : s_.asked[slot]);
      if (speed != s_.speed[slot] && !set_speed(slot, s_.group_start_ns[s_.group[g]], speed)) {
        return false;
      }
      if (s_.due[slot] < s_.next_due[g] ||
          (s_.due[slot] == s_.next_due[g] && s_.order[slot] < s_.next_order[g])) {
        s_.next_due[g] = s_.due[slot];
        s_.next_order[g] = s_.order[slot];
        s_.next_member[g] = p;
      }
    }
    return true;
  }

  CORUN_HOST_DEVICE bool set_speed(std::size_t slot, std::int64_t start, double speed) {
    const double worked = static_cast<double>(now_ - s_.since[slot]);
    const double left = s_.remaining_ns[slot] - s_.speed[slot] * worked;
    s_.remaining_ns[slot] = left < 0.0 ? 0.0 : left;
    s_.since[slot] = now_;
    s_.speed[slot] = speed;
    const double wait = s_.remaining_ns[slot] / speed;
    if (!(wait < static_cast<double>(w_.latest_ns - now_))) return false;
    const auto whole = static_cast<std::int64_t>(wait);  // to the nearest, halves up
    std::int64_t end = now_ + whole + (wait - static_cast<double>(whole) >= 0.5 ? 1 : 0);
    if (end < start + 1) end = start + 1;
    s_.due[slot] = end;
    s_.order[slot] = next_order_++;
    return true;
  }

  const BatchWorkload& w_;
  const BatchPlan& plan_;
  const BatchScratch& s_;
  const Speeds& speeds_;
  BatchSums sums_;
  std::int64_t now_ = 0;
  std::uint64_t next_order_ = 0;
  std::uint32_t next_group_ = 0;
  std::uint32_t finished_ = 0;
  std::uint32_t episodes_ = 0;
};

/// 50th, 95th and 99th percentile.
template <typename List>
CORUN_HOST_DEVICE void set_tails(double* values, Metric p50, const List& sorted, std::size_t n) {
  double* const out = values + static_cast<std::size_t>(p50);
  out[0] = figures::quantile(sorted, n, 0.50);
  out[1] = figures::quantile(sorted, n, 0.95);
  out[2] = figures::quantile(sorted, n, 0.99);
}

/// Of a run that has ended, kMetricCount values: all but the entropies, which need a logarithm. Leaves
/// `isd` and `ps` sorted for them; start_ns is then of no more use.
CORUN_HOST_DEVICE inline void batch_metrics(const BatchWorkload& w, const BatchPlan& plan,
                                            const BatchScratch& s, const BatchSums& sums,
                                            double* values) {
  const auto set = [values](Metric m, double value) {
    values[static_cast<std::size_t>(m)] = value;
  };
  const std::size_t n = w.jobs;
  double isd_max = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const std::int64_t solo = w.solo_ns[j];
    const std::int64_t corun = s.finish_ns[j] - s.start_ns[j];
    const double isd = static_cast<double>(corun - solo) / static_cast<double>(solo);
    isd_max = j == 0 || isd_max < isd ? isd : isd_max;
    s.isd[j] = isd;
    s.stretch[j] = static_cast<double>(s.finish_ns[j]) * 1e-9 / (w.work_ns[j] * 1e-9);
  }
  const double stretch = figures::mean(s.stretch, n);
  set(Metric::kIsd, figures::mean(s.isd, n));
  set(Metric::kIsdMax, isd_max);
  set(Metric::kPs, figures::mean(s.ps, plan.groups));
  set(Metric::kJctS, figures::mean(StridedSeconds{s.finish_ns}, n));
  set(Metric::kQueueS, figures::mean(StridedSeconds{s.start_ns}, n));
  set(Metric::kStretch, stretch);
  set(Metric::kJain, figures::jain(s.stretch, n, stretch));
  sort_ascending(s.stretch, n);
  sort_ascending(s.isd, n);
  sort_ascending(s.ps, plan.groups);
  set_tails(values, Metric::kJctP50S, StridedSeconds{s.finishes_ns}, n);
  set_tails(values, Metric::kStretchP50, s.stretch, n);
  // Groups start in their order: so do their members.
  for (std::uint32_t g = 0; g < plan.groups; ++g) {
    for (std::uint32_t at = plan.first[g]; at < plan.first[g + 1]; ++at) {
      s.start_ns[at] = s.group_start_ns[g];
    }
  }
  set_tails(values, Metric::kQueueP50S, StridedSeconds{s.start_ns}, n);

  const double end_s = static_cast<double>(s.finishes_ns[n - 1]) * 1e-9;
  figures::Totals totals;
  totals.solo_s = static_cast<double>(w.solo_sum_ns) * 1e-9;
  totals.saved_s = static_cast<double>(w.solo_sum_ns - sums.busy_ns) * 1e-9;
  totals.busy_s = static_cast<double>(sums.busy_ns) * 1e-9;
  totals.util_s = sums.util_s;
  totals.util_known_s = sums.util_known_s;
  totals.mem_s = sums.mem_s;
  totals.mem_known_s = sums.mem_known_s;
  totals.span_s = end_s;
  totals.gpus = static_cast<int>(w.gpus);
  set(Metric::kPsTotal, figures::ps_total(totals));
  set(Metric::kMakespanS, end_s);
  set(Metric::kLastEndS, end_s);
  set(Metric::kOccupancy, figures::occupancy(totals));
  set(Metric::kGpuUtil, figures::gpu_util(totals));
  set(Metric::kMemUtil, figures::mem_util(totals));
  set(Metric::kOom, 0);
  set(Metric::kFailed, 0);
  set(Metric::kProfilingS, 0);
  set(Metric::kJobs, static_cast<double>(n));
}

}  // namespace corun
