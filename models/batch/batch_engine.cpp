#include "models/batch/batch_engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace corun {

namespace {

/// Sums over so many GPUs or jobs stay in 64 bits.
constexpr std::int64_t kGreatestSum = std::numeric_limits<std::int64_t>::max() / 4;

Duration solo_time(Duration work, double gpu_speed) {
  const auto solo = from_nanoseconds(static_cast<double>(work.count()) / gpu_speed);
  return std::max(solo, Duration{1});
}

}  // namespace

// ---- BatchExperiment ----------------------------------------------------------------------------

std::string BatchExperiment::obstacle(const ClusterSpec& cluster, const Workload& workload) {
  const GpuType& type = cluster.nodes.front().gpu;
  const bool alike = std::ranges::all_of(cluster.nodes, [&](const NodeSpec& node) {
    return node.gpu.speed == type.speed && node.gpu.memory_mib == type.memory_mib;
  });
  if (!alike) return "the GPUs of the cluster are not all alike";
  double solo_ns = 0;
  for (const JobSpec& job : workload.jobs) {
    if (job.submit != Time::zero()) return "not all jobs are submitted at time 0";
    if (job.gpus != 1) return "not all jobs want one GPU";
    if (job.work <= Duration::zero()) return "not all jobs have something to do";
    solo_ns += static_cast<double>(solo_time(job.work, type.speed).count());
  }
  if (workload.jobs.size() * workload.jobs.size() > (1U << 24U)) return "there are too many jobs";
  if (!(solo_ns < static_cast<double>(kGreatestSum))) return "the jobs would take centuries";
  return {};
}

BatchExperiment::BatchExperiment(const ClusterSpec& cluster, const Workload& workload)
    : jobs_(workload.jobs),
      memory_mib_(cluster.nodes.front().gpu.memory_mib),
      most_members_(static_cast<std::size_t>(std::min<int>(
          cluster.max_jobs_per_gpu.value_or(static_cast<int>(kMostMembers)), kMostMembers))) {
  flat_.jobs = static_cast<std::uint32_t>(jobs_.size());
  flat_.gpus = static_cast<std::uint32_t>(cluster.gpu_count());
  flat_.gpu_speed = cluster.nodes.front().gpu.speed;
  for (const JobSpec& job : jobs_) {
    const Duration solo = solo_time(job.work, flat_.gpu_speed);
    work_ns_.push_back(static_cast<double>(job.work.count()));
    solo_ns_.push_back(solo.count());
    flat_.solo_sum_ns += solo.count();
    util_.push_back(job.profile.gpu_util_pct.value_or(0) / 100);
    memory_.push_back(job.profile.mem_used_mib.value_or(0) / memory_mib_);
    known_.push_back(
        static_cast<std::uint8_t>((job.profile.gpu_util_pct ? BatchWorkload::kUtilKnown : 0) |
                                  (job.profile.mem_used_mib ? BatchWorkload::kMemoryKnown : 0)));
    unknown_memory_jobs_ += job.profile.mem_used_mib ? 0 : 1;
  }
  flat_.work_ns = work_ns_.data();
  flat_.solo_ns = solo_ns_.data();
  flat_.util = util_.data();
  flat_.memory = memory_.data();
  flat_.known = known_.data();
  flat_.latest_ns = kGreatestSum / std::max<std::int64_t>(flat_.gpus, 1);
}

bool BatchExperiment::fits(std::span<const JobId> group, const World& world) const {
  if (group.empty() || group.size() > most_members_) return false;
  std::array<JobId, kMostMembers> residents{};  // ascending, as the engine adds them up
  for (std::size_t n = 0; n < group.size(); ++n) {
    const auto end = residents.begin() + static_cast<std::ptrdiff_t>(n);
    if (std::any_of(residents.begin(), end,
                    [&](JobId j) { return !world.fits_together(group[n], j); })) {
      return false;
    }
    if (const auto& demand = jobs_[index(group[n])].profile.mem_used_mib) {
      double used = *demand;
      for (auto j = residents.begin(); j != end; ++j) {
        used += jobs_[index(*j)].profile.mem_used_mib.value_or(0);
      }
      if (used > memory_mib_) return false;
    }
    const auto at = std::lower_bound(residents.begin(), end, group[n]);
    std::move_backward(at, end, end + 1);
    *at = group[n];
  }
  return true;
}

// ---- CompanyCosts -------------------------------------------------------------------------------

CompanyCosts::CompanyCosts(const World& world, std::size_t jobs) : world_(world), jobs_(jobs) {}

std::unique_ptr<CompanyOdds> CompanyCosts::ask(std::span<const std::uint32_t> group,
                                               std::uint32_t company,
                                               std::uint32_t newcomer) const {
  std::vector<JobId> formed;
  std::vector<JobId> residents;
  for (std::size_t p = 0; p < group.size(); ++p) {
    formed.push_back(JobId{group[p]});
    if ((company >> p & 1U) != 0) residents.push_back(formed.back());
  }
  auto odds = std::make_unique<CompanyOdds>();
  if (!world_.odds({residents, formed, JobId{newcomer}}, *odds)) return nullptr;
  return odds;
}

const CompanyOdds* CompanyCosts::remembered(std::span<const std::uint32_t> group,
                                            std::uint32_t company, std::uint32_t newcomer) {
  if (group.size() == 2) {
    if (pairs_.empty()) pairs_.resize(jobs_ * jobs_);
    const std::uint32_t other = group[0] == newcomer ? group[1] : group[0];
    auto& known = pairs_[other * jobs_ + newcomer];
    if (!known) known = ask(group, company, newcomer);
    return known.get();
  }
  constexpr std::size_t kMostRemembered = 100'000;
  key_.assign(group.begin(), group.end());
  key_.push_back(company);
  key_.push_back(newcomer);
  const auto at = larger_.find(key_);
  if (at != larger_.end()) return at->second.get();
  if (larger_.size() == kMostRemembered) larger_.clear();
  return larger_.emplace(key_, ask(group, company, newcomer)).first->second.get();
}

Provenance CompanyCosts::speeds(std::span<const std::uint32_t> group, std::uint32_t company,
                                std::uint32_t newcomer, std::optional<std::uint64_t> noise_seed,
                                Strided<double> out) {
  std::array<double, kMostMembers> speed{};
  std::array<JobId, kMostMembers> formed{};
  std::array<JobId, kMostMembers> residents{};
  std::size_t n = 0;
  for (std::size_t p = 0; p < group.size(); ++p) {
    formed[p] = JobId{group[p]};
    if ((company >> p & 1U) != 0) residents[n++] = formed[p];
  }
  Provenance provenance{};
  const CompanyOdds* odds = tells_ ? remembered(group, company, newcomer) : nullptr;
  if (odds != nullptr) {
    draw_speeds(*odds, noise_seed, std::span(speed).first(n));
    provenance = odds->provenance;
  } else {
    tells_ = false;
    provenance = world_.speeds(
        {std::span(residents).first(n), std::span(formed).first(group.size()), JobId{newcomer}},
        noise_seed, std::span(speed).first(n));
  }
  n = 0;
  for (std::size_t p = 0; p < group.size(); ++p) {
    if ((company >> p & 1U) != 0) out[p] = speed[n++];
  }
  return provenance;
}

// ---- BatchEngine --------------------------------------------------------------------------------

/// Draws what is asked for, when it is asked for.
struct BatchEngine::Speeds {
  BatchEngine& engine;
  std::optional<std::uint64_t> noise_seed;

  std::uint32_t operator()(std::uint32_t group, std::uint32_t company, Strided<double> out) const {
    const std::uint32_t first = engine.first_[group];
    const std::uint32_t size = engine.first_[group + 1] - first;
    // Of those who are left, the last that started.
    std::uint32_t newcomer = 0;
    for (std::uint32_t p = size; p-- > 0;) {
      if ((company >> engine.newcomers_[first + p] & 1U) == 0) continue;
      newcomer = engine.members_[first + engine.newcomers_[first + p]];
      break;
    }
    return static_cast<std::uint32_t>(engine.costs_.speeds(
        std::span(engine.members_).subspan(first, size), company, newcomer, noise_seed, out));
  }
};

BatchEngine::BatchEngine(const BatchExperiment& experiment, const World& world)
    : experiment_(experiment), world_(world), costs_(world, experiment.jobs().size()) {}

/// Groups as flat lists. False where one of them cannot run.
bool BatchEngine::lay_out(std::span<const std::vector<JobId>> groups) {
  first_.assign(1, 0);
  members_.clear();
  newcomers_.clear();
  widest_ = 0;
  for (const std::vector<JobId>& group : groups) {
    if (!experiment_.fits(group, world_)) return false;
    widest_ = std::max(widest_, static_cast<std::uint32_t>(group.size()));
    const auto begin = static_cast<std::ptrdiff_t>(members_.size());
    for (const JobId j : group) members_.push_back(static_cast<std::uint32_t>(index(j)));
    std::sort(members_.begin() + begin, members_.end());
    for (const JobId j : group) {  // where each has come to be
      const auto at = std::lower_bound(members_.begin() + begin, members_.end(),
                                       static_cast<std::uint32_t>(index(j)));
      newcomers_.push_back(static_cast<std::uint32_t>(at - (members_.begin() + begin)));
    }
    first_.push_back(static_cast<std::uint32_t>(members_.size()));
  }
  plan_ = {static_cast<std::uint32_t>(groups.size()), {first_.data()}, {members_.data()}};
  return true;
}

bool BatchEngine::run(std::span<const std::vector<JobId>> groups,
                      std::optional<std::uint64_t> noise_seed) {
  if (!lay_out(groups)) return false;
  const BatchWorkload& w = experiment_.workload();
  const BatchScratchSize size = scratch_size(w.jobs, w.gpus, groups.size(), widest_);
  reals_.resize(size.reals);
  times_.resize(size.times);
  orders_.resize(size.orders);
  numbers_.resize(size.numbers);
  scratch_ = cut_scratch(w.jobs, w.gpus, groups.size(), widest_, {reals_.data()}, {times_.data()},
                         {orders_.data()}, {numbers_.data()});

  const Speeds speeds{*this, noise_seed};
  BatchRun run(w, plan_, scratch_, speeds);
  if (!run.run()) return false;
  sums_ = run.sums();
  return true;
}

void BatchEngine::fill(std::span<const std::vector<JobId>> groups,
                       std::optional<std::uint64_t> noise_seed, const BatchShape& shape,
                       const BatchInput& input) {
  input.count[0] = 0;
  if (groups.size() > shape.groups || !lay_out(groups) || widest_ > shape.widest) return;
  for (std::size_t i = 0; i < first_.size(); ++i) input.first[i] = first_[i];
  for (std::size_t i = 0; i < members_.size(); ++i) input.members[i] = members_[i];
  const Speeds speeds{*this, noise_seed};
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    const std::uint32_t all = (1U << groups[g].size()) - 1;
    for (std::uint32_t company = 3; company <= all; ++company) {
      if ((company & (company - 1)) == 0) continue;  // one of them alone
      const std::size_t at = std::size_t{g} * shape.companies() + shape.company_at(company);
      input.provenance[at] =
          speeds(g, company, {&input.speed[at * shape.widest], input.speed.stride});
    }
  }
  input.count[0] = static_cast<std::uint32_t>(groups.size());
}

MetricValues BatchEngine::metrics() {
  MetricValues values;
  batch_metrics(experiment_.workload(), plan_, scratch_, sums_, values.data());
  at(values, Metric::kEntropyIsd) =
      differential_entropy_of_sorted({scratch_.isd.data, experiment_.jobs().size()});
  at(values, Metric::kEntropyPs) = differential_entropy_of_sorted({scratch_.ps.data, plan_.groups});
  return values;
}

RunRecord BatchEngine::record(std::span<const std::vector<JobId>> groups) const {
  RunRecord record;
  record.jobs.resize(experiment_.jobs().size());
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    for (const JobId id : groups[g]) {
      const std::size_t j = index(id);
      JobRecord& job = record.jobs[j];
      job.work = experiment_.jobs()[j].work;
      job.first_start = job.last_start = Time{scratch_.start_ns[j]};
      job.finish = Time{scratch_.finish_ns[j]};
      job.solo = job.run_solo = Duration{experiment_.workload().solo_ns[j]};
      job.whole_solo =
          from_nanoseconds(experiment_.workload().work_ns[j] / experiment_.workload().gpu_speed);
      job.gpu = GpuId{scratch_.gpu[g]};
      job.group = g;
    }
  }
  for (std::uint32_t e = 0; e < groups.size(); ++e) {
    const std::uint32_t g = scratch_.ended[e];
    EpisodeRecord& episode = record.episodes.emplace_back();
    episode.gpu = GpuId{scratch_.gpu[g]};
    episode.start = Time{scratch_.group_start_ns[g]};
    episode.jobs = groups[g];
    for (const JobId j : episode.jobs) {
      episode.solo_sum += record.jobs[index(j)].solo;
      episode.end = std::max(episode.end, record.jobs[index(j)].finish);
    }
  }
  return record;
}

// ---- what comes back ----------------------------------------------------------------------------

UsageRecord usage_of(const BatchSums& sums) {
  UsageRecord usage;
  usage.busy = Duration{sums.busy_ns};
  usage.util_s = sums.util_s;
  usage.util_known_s = sums.util_known_s;
  usage.mem_s = sums.mem_s;
  usage.mem_known_s = sums.mem_known_s;
  std::copy(std::begin(sums.corun_s), std::end(sums.corun_s), usage.corun_s.begin());
  return usage;
}

BatchSums sums_of(const BatchOutput& output) {
  BatchSums sums;
  sums.passes = static_cast<std::uint64_t>(output.counted[1]);
  sums.busy_ns = output.counted[2];
  sums.util_s = output.sums[0];
  sums.util_known_s = output.sums[1];
  sums.mem_s = output.sums[2];
  sums.mem_known_s = output.sums[3];
  for (std::size_t p = 0; p < 4; ++p) sums.corun_s[p] = output.sums[4 + p];
  return sums;
}

MetricValues metrics_of(const BatchOutput& output, const BatchShape& shape) {
  MetricValues values;
  for (std::size_t m = 0; m < kMetricCount; ++m) values[m] = output.metrics[m];
  std::vector<double> sorted(shape.jobs);
  for (std::size_t j = 0; j < sorted.size(); ++j) sorted[j] = output.isd[j];
  at(values, Metric::kEntropyIsd) = differential_entropy_of_sorted(sorted);
  sorted.resize(static_cast<std::size_t>(output.counted[0]));
  for (std::size_t g = 0; g < sorted.size(); ++g) sorted[g] = output.ps[g];
  at(values, Metric::kEntropyPs) = differential_entropy_of_sorted(sorted);
  return values;
}

}  // namespace corun
