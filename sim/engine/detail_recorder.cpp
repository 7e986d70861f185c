#include "sim/engine/detail_recorder.hpp"

#include <algorithm>
#include <utility>

namespace corun::inline sim {

std::vector<SliceRecord> LevelSlices::records() const {
  std::vector<SliceRecord> records;
  for (const auto& slice : slices_.slices()) {
    const auto& mean = slice.means;
    SliceRecord record{.start = slice.start,
                       .end = slice.end,
                       .gpus_busy = mean[kBusy],
                       .gpus_shared = mean[kShared],
                       .queue = mean[kQueue],
                       .running = mean[kRunning]};
    // As the metric gpu_util: busy time of unknown utilisation is left out.
    const double counted = gpus_ - mean[kUnknown];
    const bool known = mean[kBusy] > mean[kUnknown] || mean[kBusy] == 0;
    if (known && counted > 0) record.gpu_util = mean[kUtil] / counted;
    records.push_back(record);
  }
  return records;
}

DetailRecorder::DetailRecorder(const ClusterSpec& spec, const Workload& workload,
                               const Belief* belief, DetailLimits limits, LevelSlices* slices)
    : workload_(workload),
      belief_(belief),
      limits_(limits),
      slices_(slices),
      gpus_(static_cast<std::size_t>(spec.gpu_count())),
      places_(workload.jobs.size()) {}

void DetailRecorder::event(Time at, LogKind kind, JobId job, std::span<const GpuId> gpus) {
  if (at != now_) first_event_ = details_.events.size();
  now_ = at;
  change_levels(at);
  if (kind == LogKind::kArrive) {
    ++levels_[LevelSlices::kQueue];
    add_event({.at = at, .kind = kind, .job = job});
    return;
  }
  if (kind == LogKind::kPhase) {
    for (const GpuId gpu : places_[job].gpus) {
      touch(gpu);
      add_event({.at = at, .kind = kind, .job = job, .gpu = gpu});
    }
    return;
  }
  const bool comes =
      kind == LogKind::kStart || kind == LogKind::kProbe || kind == LogKind::kProfile;
  if (comes) {
    --levels_[LevelSlices::kQueue];
    ++levels_[LevelSlices::kRunning];
    Place& place = places_.add(job);
    place.gpus.assign(gpus.begin(), gpus.end());
    place.probe = kind == LogKind::kProbe;
  } else {
    if (kind != LogKind::kFinish && kind != LogKind::kFail) ++levels_[LevelSlices::kQueue];
    --levels_[LevelSlices::kRunning];
  }
  for (const GpuId gpu : places_[job].gpus) {
    touch(gpu);
    add_event({.at = at, .kind = kind, .job = job, .gpu = gpu});
  }
  if (!comes) places_.erase(job);
}

void DetailRecorder::touch(GpuId gpu) {
  if (std::exchange(gpus_[index(gpu)].touched, true)) return;
  touched_.push_back(gpu);
}

void DetailRecorder::add_event(const EventRecord& event) {
  if (details_.events.size() < limits_.events) {
    details_.events.push_back(event);
  } else if (limits_.events > 0) {
    ++details_.events_left_out;
  }
}

void DetailRecorder::change_levels(Time now) {
  if (now == levels_since_) return;
  if (slices_ != nullptr) slices_->slices_.add(levels_since_, now, levels_);
  levels_since_ = now;
}

void DetailRecorder::episode_ended(GpuId gpu, const EpisodeOutcome& outcome) {
  const std::size_t row = gpus_[index(gpu)].last;
  if (!outcome.is_pair() || row == kNone) return;
  CoRunRecord& record = details_.co_runs[row];
  for (const MemberOutcome& member : outcome.members) {
    if (member.job != record.pair[0] && member.job != record.pair[1]) return;
  }
  for (const MemberOutcome& member : outcome.members) {
    record.isd[member.job == record.pair[0] ? 0 : 1] = member.isd;
  }
  record.ps = outcome.ps;
}

void DetailRecorder::instant_over(Time at, const ClusterBackend& backend) {
  if (touched_.empty()) return;
  // A gang's speed is the same on all its GPUs: where its co-runners change, all its GPUs' use changes.
  std::vector<JobId> gangs;
  for (std::size_t t = 0, own = touched_.size(); t < own; ++t) {
    for (const JobId job : backend.state().gpu(touched_[t]).residents) {
      Place& place = places_[job];
      if (place.gpus.size() == 1 || std::exchange(place.touched, true)) continue;
      gangs.push_back(job);
      std::ranges::for_each(place.gpus, [this](GpuId g) { touch(g); });
    }
  }
  for (const JobId gang : gangs) places_[gang].touched = false;
  for (const GpuId gpu : touched_) update(gpu, at, backend);
  touched_.clear();
  lowest_common_.clear();
  // Jobs without work left start and finish at once: one instant may be over several times.
  for (std::size_t e = first_event_; e < details_.events.size(); ++e) {
    EventRecord& event = details_.events[e];
    event.co_runner = kNoJob;
    if (event.gpu == kNoGpu) continue;
    const std::vector<JobId>& jobs = gpus_[index(event.gpu)].jobs;
    event.residents = static_cast<std::uint32_t>(jobs.size());
    const auto other = std::ranges::find_if(jobs, [&](JobId j) { return j != event.job; });
    if (other != jobs.end()) event.co_runner = *other;
  }
  // Sums of many terms end a little beside 0.
  if (levels_[LevelSlices::kBusy] == 0) levels_[LevelSlices::kUtil] = 0;
}

void DetailRecorder::update(GpuId id, Time now, const ClusterBackend& backend) {
  Gpu& gpu = gpus_[index(id)];
  gpu.touched = false;
  const std::vector<JobId>& jobs = backend.state().gpu(id).residents;
  const std::optional<Provenance> source = backend.true_speeds(id, speeds_);
  count(gpu, -1);
  work(gpu, now);
  const bool changed = jobs != gpu.jobs;
  if (changed) {
    end_co_run(gpu, now);
    gpu.jobs = jobs;
  }
  look_up_use(gpu, source.has_value(), speeds_, backend);
  count(gpu, 1);
  if (changed && jobs.size() > 1) begin_co_run(id, gpu, source, now);
  if (!gpu.rows.empty() && source) gpu.speeds = speeds_;
}

/// Adds the GPU to the levels, or takes it off.
void DetailRecorder::count(const Gpu& gpu, double sign) {
  if (gpu.jobs.empty()) return;
  levels_[LevelSlices::kBusy] += sign;
  if (gpu.jobs.size() > 1) levels_[LevelSlices::kShared] += sign;
  levels_[gpu.util_known ? LevelSlices::kUtil : LevelSlices::kUnknown] +=
      gpu.util_known ? sign * gpu.util : sign;
}

/// The utilisation of a GPU, as the backend accounts it.
void DetailRecorder::look_up_use(Gpu& gpu, bool known, std::span<const double> speeds,
                                 const ClusterBackend& backend) {
  gpu.util = 0;
  gpu.util_known = known;
  for (std::size_t i = 0; i < gpu.jobs.size() && gpu.util_known; ++i) {
    const JobId job = gpu.jobs[i];
    const auto& pct = workload_.profile(job, backend.phase(job)).gpu_util_pct;
    gpu.util_known = pct.has_value();
    gpu.util += pct.value_or(0) / 100 * speeds[i];
  }
  gpu.util = std::min(1.0, gpu.util);
}

/// Accounts the work of the present co-run up to now.
void DetailRecorder::work(Gpu& gpu, Time now) {
  if (gpu.rows.empty()) return;
  const auto ns = static_cast<double>((now - gpu.since).count());
  for (std::size_t i = 0; i < gpu.speeds.size(); ++i) gpu.worked[i] += gpu.speeds[i] * ns;
  gpu.since = now;
}

void DetailRecorder::begin_co_run(GpuId id, Gpu& gpu, std::optional<Provenance> source, Time now) {
  gpu.last = kNone;
  gpu.since = now;
  gpu.speeds.clear();
  gpu.worked.assign(gpu.jobs.size(), 0);
  if (limits_.co_runs == 0) return;
  const std::uint32_t number = co_runs_;
  bool counts = false;
  for (std::size_t a = 0; a < gpu.jobs.size(); ++a) {
    for (std::size_t b = a + 1; b < gpu.jobs.size(); ++b) {
      if (!is_primary(id, gpu.jobs[a], gpu.jobs[b])) continue;
      counts = true;
      if (details_.co_runs.size() >= limits_.co_runs) {
        ++details_.co_runs_left_out;
        continue;
      }
      CoRunRecord record;
      record.co_run = number;
      record.gpu = id;
      record.start = now;
      record.end = now;
      record.jobs = static_cast<int>(gpu.jobs.size());
      record.pair = {gpu.jobs[a], gpu.jobs[b]};
      record.probe = places_[gpu.jobs[a]].probe && places_[gpu.jobs[b]].probe;
      record.source = source;
      if (belief_ != nullptr) predict(record);
      gpu.rows.push_back({details_.co_runs.size(), a, b});
      details_.co_runs.push_back(record);
    }
  }
  if (!gpu.rows.empty()) gpu.last = gpu.rows.front().row;
  if (counts) ++co_runs_;
}

void DetailRecorder::predict(CoRunRecord& record) const {
  const auto [a, b] = record.pair;
  const PairBelief cost = belief_->pair(a, b);
  const PairSpeeds speeds = belief_->pair_speeds(a, b);
  record.predicted_isd = {cost.isd_a, cost.isd_b};
  record.predicted_ps = cost.ps;
  record.predicted_speed = {speeds.a, speeds.b};
}

/// To be called after work().
void DetailRecorder::end_co_run(Gpu& gpu, Time now) {
  for (const Row& r : gpu.rows) {
    CoRunRecord& record = details_.co_runs[r.row];
    record.end = now;
    const auto ns = static_cast<double>((record.end - record.start).count());
    if (ns > 0 && record.source) record.speed = {gpu.worked[r.a] / ns, gpu.worked[r.b] / ns};
  }
  gpu.rows.clear();
}

/// Whether this is the lowest GPU that both jobs are on. They are on it.
bool DetailRecorder::is_primary(GpuId gpu, JobId a, JobId b) {
  const std::vector<GpuId>& of_a = places_[a].gpus;
  const std::vector<GpuId>& of_b = places_[b].gpus;
  if (of_a.size() == 1 || of_b.size() == 1) return true;
  const auto [at, is_new] = lowest_common_.try_emplace({a, b}, gpu);
  if (is_new) {
    ++searches_;
    for (const GpuId g : of_a) gpus_[index(g)].mark = searches_;
    for (const GpuId g : of_b) {
      if (gpus_[index(g)].mark == searches_) at->second = std::min(at->second, g);
    }
  }
  return at->second == gpu;
}

RunDetails DetailRecorder::take() {
  change_levels(now_);
  for (Gpu& gpu : gpus_) {
    work(gpu, now_);
    end_co_run(gpu, now_);
  }
  // Of jobs that started and finished at once.
  std::erase_if(details_.co_runs, [](const CoRunRecord& c) { return c.start == c.end; });
  return std::move(details_);
}

}  // namespace corun::inline sim
