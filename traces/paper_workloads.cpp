#include "traces/paper_workloads.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "sim/base/summary.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {
namespace {

/// Centre of cluster 0 in the best k-means optimum over the data set of 175 profiles (maximum utilisation,
/// memory reserved, memory access time [%]): the optimum that gives the printed uncertainties. Every
/// autoencoder is in cluster 0.
constexpr Profile kAutoencoderProfile{61.423, 43.245, 24.456, std::nullopt, true};

struct TableInfo {
  std::string_view table;
  std::string_view policy;
  std::string_view fill_by;
};

constexpr std::array<TableInfo, 4> kSchedules = {{
    {"JRS-IV", "min-slowdown", ""},
    {"JRS-V", "max-packing", "utilisation"},
    {"JRS-VI", "max-packing", "memory"},
    {"JRS-VII", "balance", ""},
}};

/// A workload of the papers with its data for a trace.
struct PaperJob {
  std::string_view model;
  int batch_size = 0;
  int epochs = 0;
  int cluster = kUnknownCluster;
  double uncertainty = kUnknownUncertainty;
  double solo_s = 0;
};

const PaperProfile* find_profile(std::string_view model, int batch_size) {
  const auto profiles = paper_profiles();
  const auto it = std::ranges::find_if(profiles, [&](const PaperProfile& p) {
    return p.model == model && p.batch_size == batch_size;
  });
  return it == profiles.end() ? nullptr : &*it;
}

Profile profile_of(std::string_view model, int batch_size) {
  const PaperProfile* found = find_profile(model, batch_size);
  if (found == nullptr) return kAutoencoderProfile;
  return {found->gpu_util_pct, found->mem_alloc_pct, found->mem_time_pct, std::nullopt, false};
}

const QueueJob* find_queue_job(std::string_view model, int batch_size, int epochs) {
  const auto queue = jrs_queue();
  const auto it = std::ranges::find_if(queue, [&](const QueueJob& job) {
    return job.model == model && job.batch_size == batch_size && job.epochs == epochs;
  });
  return it == queue.end() ? nullptr : &*it;
}

bool is_knowledge_base(std::string_view table) { return table == "JRS-II" || table == "JRS-III"; }

bool is_schedule(std::string_view table) {
  return std::ranges::find(kSchedules, table, &TableInfo::table) != kSchedules.end();
}

/// The distance is a property of the profile, so it is taken from any table that prints it, the queue's
/// (Table IV) first; without one, from the reproduced centres, which is within 0.1 of the printed one.
double uncertainty_of(std::string_view model, int batch_size) {
  for (const QueueJob& job : jrs_queue()) {
    if (job.model == model && job.batch_size == batch_size) return job.uncertainty;
  }
  for (const auto pairs : {jrs_pairs(), prirect_pairs()}) {
    for (const PaperPair& pair : pairs) {
      for (const PaperSide* side : {&pair.a, &pair.b}) {
        if (side->model == model && side->batch_size == batch_size &&
            !std::isnan(side->uncertainty)) {
          return side->uncertainty;
        }
      }
    }
  }
  const PaperProfile* profile = find_profile(model, batch_size);
  return profile == nullptr ? kUnknownUncertainty : profile->uncertainty;
}

PaperJob job_of(const PaperSide& side) {
  const double uncertainty =
      std::isnan(side.uncertainty) ? uncertainty_of(side.model, side.batch_size) : side.uncertainty;
  return {side.model, side.batch_size, side.epochs, side.cluster, uncertainty, side.solo_s};
}

PaperJob job_of(const QueueJob& job) {
  return {job.model, job.batch_size, job.epochs, job.cluster, job.uncertainty, job.solo_s};
}

void add_paper_job(Trace& trace, WorkloadKeys& keys, const PaperJob& job, std::string name,
                   Time submit) {
  JobSpec spec;
  spec.submit = submit;
  spec.work = from_seconds(job.solo_s);
  spec.profile = profile_of(job.model, job.batch_size);
  spec.epoch = from_seconds(job.solo_s / job.epochs);
  trace.jobs.push_back({spec, std::move(name), keys.of(job.model, job.batch_size, job.epochs),
                        job.cluster, job.uncertainty});
}

CorunMeasurement measurement_of(WorkloadKeys& keys, std::string_view table, int row,
                                const std::vector<const PaperSide*>& sides) {
  CorunMeasurement measurement;
  measurement.source = std::string(table) + " row " + std::to_string(row);
  measurement.gpu_type = kPaperGpuType;
  measurement.sharing = kPaperSharing;
  for (const PaperSide* side : sides) {
    CorunMember member;
    member.workload = keys.of(side->model, side->batch_size, side->epochs);
    member.profile = profile_of(side->model, side->batch_size);
    member.solo_s = side->solo_s;
    member.corun_s = side->corun_s;
    member.cluster = side->cluster;
    measurement.members.push_back(member);
  }
  return measurement;
}

std::vector<const PaperSide*> pointers(std::span<const PaperSide> sides) {
  std::vector<const PaperSide*> all;
  for (const PaperSide& side : sides) all.push_back(&side);
  return all;
}

const PaperGroup* find_bin(std::string_view table) {
  const auto groups = jrs_groups();
  const auto it = std::ranges::find(groups, table, &PaperGroup::table);
  return it == groups.end() ? nullptr : &*it;
}

std::string short_name(const PaperJob& job) {
  return std::string(job.model) + "-" + std::to_string(job.batch_size);
}

Trace row_trace(WorkloadKeys& keys, std::string_view table, int row,
                const std::vector<const PaperSide*>& sides) {
  Trace trace;
  trace.source = std::string(table) + " row " + std::to_string(row);
  for (const PaperSide* side : sides) {
    const QueueJob* queued =
        is_schedule(table) ? find_queue_job(side->model, side->batch_size, side->epochs) : nullptr;
    const PaperJob job = job_of(*side);
    add_paper_job(trace, keys, job, queued ? std::string(queued->id) : short_name(job), Time{0});
  }
  return trace;
}

/// The distinct jobs of JRS: the queue, then the other jobs of the knowledge base, each once. The draws of
/// a seed depend on the order, which must not change.
const std::vector<PaperJob>& jrs_pool() {
  static const std::vector<PaperJob> kPool = [] {
    std::vector<PaperJob> pool;
    for (const QueueJob& job : jrs_queue()) pool.push_back(job_of(job));
    for (const PaperPair& pair : jrs_pairs()) {
      if (!is_knowledge_base(pair.table)) continue;
      for (const PaperSide* side : {&pair.a, &pair.b}) {
        const auto same = [&](const PaperJob& job) {
          return std::tie(job.model, job.batch_size, job.epochs) ==
                 std::tie(side->model, side->batch_size, side->epochs);
        };
        if (std::ranges::none_of(pool, same)) pool.push_back(job_of(*side));
      }
    }
    return pool;
  }();
  return kPool;
}

void add_schedule_group(PaperSchedule& schedule, const std::vector<const PaperSide*>& sides,
                        double ps_pct_printed) {
  PaperScheduleGroup group;
  group.ps_pct_printed = ps_pct_printed;
  for (const PaperSide* side : sides) {
    const QueueJob* job = find_queue_job(side->model, side->batch_size, side->epochs);
    if (job == nullptr) throw std::logic_error("a schedule of JRS runs a job outside its queue");
    group.jobs.emplace_back(job->id);
    group.isd_pct_printed.push_back(side->isd_pct_printed);
  }
  schedule.groups.push_back(std::move(group));
}

}  // namespace

std::vector<CorunMeasurement> paper_measurements(WorkloadKeys& keys, const PaperFilter& filter) {
  std::vector<CorunMeasurement> measurements;
  std::string_view last_table;
  for (const PaperPair& pair : jrs_pairs()) {
    if (pair.table != last_table) {
      last_table = pair.table;
      const PaperGroup* bin = find_bin(pair.table);
      if (bin != nullptr && filter.jrs_bins) {
        measurements.push_back(measurement_of(keys, bin->table, 1, pointers(bin->members)));
      }
    }
    const bool wanted =
        is_knowledge_base(pair.table) ? filter.jrs_knowledge_base : filter.jrs_schedules;
    if (!wanted || !pair.use) continue;
    measurements.push_back(measurement_of(keys, pair.table, pair.row, {&pair.a, &pair.b}));
  }
  for (const PaperPair& pair : prirect_pairs()) {
    if (!filter.prirect || !pair.use || pair.table == "PRI-draft-IV") continue;
    measurements.push_back(measurement_of(keys, pair.table, pair.row, {&pair.a, &pair.b}));
  }
  return measurements;
}

Trace jrs_queue_trace(WorkloadKeys& keys) {
  Trace trace;
  trace.source = "jrs-queue";
  trace.shuffled_by_default = true;
  for (const QueueJob& job : jrs_queue()) {
    add_paper_job(trace, keys, job_of(job), std::string(job.id), Time{0});
  }
  return trace;
}

Trace jrs_resampled_trace(WorkloadKeys& keys, int jobs, std::optional<double> interarrival_mean_s,
                          std::uint64_t seed) {
  if (jobs < 1) {
    throw InputError(
        "", "the number of jobs is " + std::to_string(jobs) + ", expected 1 or more; ask for some");
  }
  if (interarrival_mean_s && !(*interarrival_mean_s > 0 && std::isfinite(*interarrival_mean_s))) {
    throw InputError("", "the mean time between arrivals is " +
                             std::to_string(*interarrival_mean_s) +
                             " s, expected a number above 0; leave it out to submit all jobs at 0");
  }
  const std::vector<PaperJob>& pool = jrs_pool();
  Trace trace;
  trace.source = "jrs-resampled";
  trace.jobs.reserve(static_cast<std::size_t>(jobs));
  Rng arrivals(seed, Stream::kArrivals);
  double submit_s = 0;
  for (int i = 0; i < jobs; ++i) {
    // One entity per job: a longer trace of the same seed begins with the shorter one.
    Rng choice(seed, Stream::kJobChoice, static_cast<std::uint64_t>(i));
    const PaperJob& job = pool[choice.below(static_cast<std::uint32_t>(pool.size()))];
    if (interarrival_mean_s) submit_s += arrivals.exponential(*interarrival_mean_s);
    if (submit_s > kMaxTimeSeconds) {
      throw InputError(
          "", "job " + std::to_string(i) + " would arrive after " + std::to_string(submit_s) +
                  " s, expected all within 4e9 s; ask for fewer jobs or a higher load");
    }
    add_paper_job(trace, keys, job, short_name(job) + "#" + std::to_string(i),
                  from_seconds(submit_s));
  }
  return trace;
}

const std::vector<Profile>& jrs_profiles() {
  static const std::vector<Profile> profiles = [] {
    std::vector<Profile> published;
    for (const PaperJob& job : jrs_pool()) {
      const Profile profile = profile_of(job.model, job.batch_size);
      if (!profile.imputed) published.push_back(profile);
    }
    return published;
  }();
  return profiles;
}

double jrs_resampled_mean_solo_s() {
  RunningMean mean;
  for (const PaperJob& job : jrs_pool()) mean.add(job.solo_s);
  return mean.value();
}

Trace paper_row_trace(WorkloadKeys& keys, const PaperPair& pair) {
  return row_trace(keys, pair.table, pair.row, {&pair.a, &pair.b});
}

Trace paper_row_trace(WorkloadKeys& keys, const PaperGroup& group) {
  return row_trace(keys, group.table, 1, pointers(group.members));
}

PaperSchedule paper_schedule(std::string_view table) {
  const auto* info = std::ranges::find(kSchedules, table, &TableInfo::table);
  if (info == kSchedules.end()) {
    std::vector<std::string_view> names;
    names.reserve(kSchedules.size());
    for (const TableInfo& known : kSchedules) names.push_back(known.table);
    throw InputError("", "no schedule '" + printable(table) + "': " + did_you_mean(table, names));
  }
  PaperSchedule schedule{info->table, info->policy, info->fill_by, {}, {}};
  if (const PaperGroup* bin = find_bin(table)) {
    add_schedule_group(schedule, pointers(bin->members), bin->ps_pct_printed);
  }
  // Rows that repeat another table's measurement are part of this schedule, too.
  for (const PaperPair& pair : jrs_pairs()) {
    if (pair.table == table) {
      add_schedule_group(schedule, {&pair.a, &pair.b}, pair.ps_pct_printed);
    }
  }
  for (const QueueJob& job : jrs_queue()) {
    const auto runs_it = [&](const PaperScheduleGroup& group) {
      return std::ranges::find(group.jobs, job.id) != group.jobs.end();
    };
    if (std::ranges::none_of(schedule.groups, runs_it)) schedule.alone.emplace_back(job.id);
  }
  return schedule;
}

PaperReported paper_reported(std::string_view table) {
  RunningMean isd_pairs;
  RunningMean isd_all;
  RunningMean ps_pairs;
  RunningMean ps_all;
  for (const PaperScheduleGroup& group : paper_schedule(table).groups) {
    const bool is_pair = group.jobs.size() == 2;
    for (const double isd_pct : group.isd_pct_printed) {
      isd_all.add(isd_pct);
      if (is_pair) isd_pairs.add(isd_pct);
    }
    ps_all.add(group.ps_pct_printed);
    if (is_pair) ps_pairs.add(group.ps_pct_printed);
  }
  return {isd_pairs.value(), ps_pairs.value(), isd_all.value(), ps_all.value()};
}

}  // namespace corun::inline traces
