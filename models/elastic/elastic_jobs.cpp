#include "models/elastic/elastic_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "models/elastic/fitted_jobs.hpp"
#include "sim/base/math.hpp"

namespace corun::inline models {

namespace {

constexpr double kCeilSlack = 1e-8;  // a whole number plus rounding errors is that number

int ceil_of(double value) { return static_cast<int>(std::ceil(value - kCeilSlack)); }

/// GPUs on each node, as evenly as can be where the allocation does not tell.
std::vector<int> nodes_of(const Allocation& on) {
  if (!on.on_nodes.empty()) return {on.on_nodes.begin(), on.on_nodes.end()};
  std::vector<int> nodes(static_cast<std::size_t>(std::max(1, on.nodes)), on.gpus / on.nodes);
  for (int n = 0; n < on.gpus % on.nodes; ++n) ++nodes[static_cast<std::size_t>(n)];
  return nodes;
}

/// The values of two measured batch sizes at one between them.
struct Between {
  std::size_t below = 0;
  std::size_t above = 0;
  double share = 0;  ///< of `above`
};

Between between(const std::vector<EpochsOfBatch>& batches, double batch) {
  const auto above = std::ranges::lower_bound(batches, batch, {}, &EpochsOfBatch::batch);
  if (above == batches.end()) return {batches.size() - 1, batches.size() - 1, 0};
  const auto place = static_cast<std::size_t>(above - batches.begin());
  if (place == 0 || above->batch == batch) return {place, place, 0};
  const double below = batches[place - 1].batch;
  return {place - 1, place, (batch - below) / (above->batch - below)};
}

double mixed(const ElasticProgram& program, std::size_t epoch, double batch,
             double MeasuredEpoch::*value) {
  const Between at = between(program.batches, batch);
  const double below = program.batches[at.below].epochs[epoch].*value;
  const double above = program.batches[at.above].epochs[epoch].*value;
  return (1 - at.share) * below + at.share * above;
}

}  // namespace

BatchSplit split_batch(int batch, int gpus, const ElasticProgram& program, const ProgramOnType& on,
                       bool accumulates_alone) {
  const int each = ceil_of(static_cast<double>(batch) / gpus);
  BatchSplit split;
  split.accumulations = std::max(0, ceil_of(each / on.largest_local_batch) - 1);
  if (accumulates_alone && gpus == 1 && batch > program.initial_batch) {
    split.accumulations = std::max(1, split.accumulations);
  }
  split.local = ceil_of(static_cast<double>(each) / (split.accumulations + 1));
  const double parts = static_cast<double>(gpus) * (split.accumulations + 1);
  split.local = std::max(1, std::min(split.local, static_cast<int>(on.largest_batch / parts)));
  return split;
}

ElasticJobs::ElasticJobs(std::vector<Program> programs, double spread_factor)
    : programs_(std::move(programs)), spread_factor_(spread_factor) {
  for (const Program& program : programs_) {
    std::vector<std::optional<StepTimes>>& by_type = times_.emplace_back();
    for (const auto& on : program.on_types) {
      by_type.push_back(on ? std::optional<StepTimes>(std::in_place, *on) : std::nullopt);
    }
  }
}

void ElasticJobs::add(ElasticJob job) {
  const auto id = static_cast<JobId>(jobs_.size());
  const std::size_t epochs = programs_[job.program].program.epochs;
  phases_.resize(std::max(phases_.size(), job.first_phase + epochs));
  for (std::size_t e = 0; e < epochs; ++e) {
    phases_[job.first_phase + e] = {id, static_cast<std::uint32_t>(e)};
  }
  jobs_.push_back(job);
}

double ElasticJobs::progress_in(std::size_t program, std::size_t epoch) const {
  const auto until = [&](std::size_t end) {
    if (end == 0) return 0.0;
    double least = std::numeric_limits<double>::infinity();
    for (const EpochsOfBatch& batch : programs_[program].program.batches) {
      least = std::min(least, batch.epochs[end - 1].progress);
    }
    return least;
  };
  return until(epoch + 1) - until(epoch);
}

StepTime ElasticJobs::step(std::size_t program, const Allocation& on, int local) const {
  std::vector<int> key = nodes_of(on);
  const std::size_t nodes = key.size();
  key.insert(key.end(), {static_cast<int>(program), static_cast<int>(on.gpu_type), local});
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
  }
  const StepTime time =
      times_[program][on.gpu_type]->at(std::span(key).first(nodes), static_cast<double>(local));
  const std::lock_guard lock(mutex_);
  return known_.emplace(std::move(key), time).first->second;
}

double ElasticJobs::gain(const ElasticProgram& program, std::size_t epoch, double batch) const {
  const double sqr = mixed(program, epoch, batch, &MeasuredEpoch::gradient_sqr);
  const double var = mixed(program, epoch, batch, &MeasuredEpoch::gradient_var);
  return (var + sqr) / (var * program.initial_batch / batch + sqr);
}

double ElasticJobs::rate_with(std::size_t program, std::size_t epoch, const Allocation& on,
                              BatchSplit split) const {
  const StepTime time = step(program, on, split.local);
  const double batch = static_cast<double>(split.local) * on.gpus * (split.accumulations + 1);
  const double step_s = time.step_s + (time.step_s - time.sync_s) * split.accumulations;
  return gain(programs_[program].program, epoch, batch) / step_s;
}

/// Of 50 batch sizes from the least to the largest, in equal ratios: the first with the most progress per second.
ElasticJobs::Choice ElasticJobs::best(std::size_t program, std::size_t epoch,
                                      const Allocation& on) const {
  std::vector<int> key = nodes_of(on);
  key.insert(key.end(), {static_cast<int>(program), static_cast<int>(on.gpu_type),
                         static_cast<int>(epoch)});
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = best_.find(key); known != best_.end()) return known->second;
  }
  constexpr int kSizes = 50;
  const ElasticProgram& all = programs_[program].program;
  const ProgramOnType& here = *programs_[program].on_types[on.gpu_type];
  const double least =
      std::min(here.largest_batch, std::max(all.initial_batch, here.least_local_batch * on.gpus));
  const double ratio = math::log(here.largest_batch / least) / (kSizes - 1);
  Choice best{{}, -1};
  for (int size = 0; size < kSizes; ++size) {
    const double batch = size + 1 == kSizes ? here.largest_batch : least * math::exp(ratio * size);
    const double each = batch / on.gpus;
    BatchSplit split;
    split.accumulations = std::max(0, ceil_of(each / here.largest_local_batch) - 1);
    if (on.gpus == 1 && batch > all.initial_batch) {
      split.accumulations = std::max(1, split.accumulations);
    }
    split.local = std::max(1, ceil_of(each / (split.accumulations + 1)));
    const double parts = static_cast<double>(on.gpus) * (split.accumulations + 1);
    split.local = std::max(1, std::min(split.local, static_cast<int>(here.largest_batch / parts)));
    const double rate = rate_with(program, epoch, on, split);
    if (rate > best.rate) best = {split, rate};
  }
  const std::lock_guard lock(mutex_);
  return best_.emplace(std::move(key), best).first->second;
}

BatchSplit ElasticJobs::split_of(const ElasticJob& job, std::size_t epoch,
                                 const Allocation& on) const {
  if (job.batch == 0) return best(job.program, epoch, on).split;
  const Program& program = programs_[job.program];
  return split_batch(job.batch, on.gpus, program.program, *program.on_types[on.gpu_type], true);
}

double ElasticJobs::rate(JobId id, std::size_t epoch, const Allocation& on) const {
  const ElasticJob& job = jobs_[index(id)];
  if (on.gpu_type >= times_[job.program].size() || !times_[job.program][on.gpu_type]) return 0;
  if (job.batch == 0) return best(job.program, epoch, on).rate;
  return rate_with(job.program, epoch, on, split_of(job, epoch, on));
}

std::size_t ElasticJobs::phase_of(JobId known) const {
  // A job is asked for by its first phase where its first number stands for it.
  return index(known) < jobs_.size() ? jobs_[index(known)].first_phase
                                     : index(known) - jobs_.size();
}

std::pair<JobId, std::size_t> ElasticJobs::in_epoch(JobId known) const {
  const PhaseOf& of = phases_[phase_of(known)];
  return {of.job, of.epoch};
}

double ElasticJobs::factor(JobId known, const Allocation& on) const {
  const std::size_t phase = phase_of(known);
  const PhaseOf& of = phases_[phase];
  return rate(of.job, of.epoch, on) / reference_rates_[phase];
}

double ElasticJobs::factor(JobId known, const Allocation& on, BatchSplit split) const {
  const std::size_t phase = phase_of(known);
  const PhaseOf& of = phases_[phase];
  return rate_with(jobs_[index(of.job)].program, of.epoch, on, split) / reference_rates_[phase];
}

Samples ElasticJobs::samples(JobId known, const Allocation& on) const {
  const PhaseOf& of = phases_[phase_of(known)];
  return samples(known, on, split_of(jobs_[index(of.job)], of.epoch, on));
}

Samples ElasticJobs::samples(JobId known, const Allocation& on, BatchSplit split) const {
  const std::size_t phase = phase_of(known);
  const PhaseOf& of = phases_[phase];
  const ElasticProgram& program = programs_[jobs_[index(of.job)].program].program;
  const double batch = static_cast<double>(split.local) * on.gpus * (split.accumulations + 1);
  const double steps = progress_of_work_[phase] / gain(program, of.epoch, batch);
  return {.processed = steps * batch, .useful = progress_of_work_[phase] * program.initial_batch};
}

double ElasticJobs::goodput(const JobView& job, const Allocation& on) const {
  return rate(job.id, static_cast<std::size_t>(job.phase), on);
}

double ElasticJobs::remaining_s(const JobView& view, const Allocation& on, Time) const {
  const ElasticJob& job = jobs_[index(view.id)];
  const ElasticProgram& program = programs_[job.program].program;
  if (on.gpu_type >= times_[job.program].size() || !times_[job.program][on.gpu_type]) {
    return std::numeric_limits<double>::infinity();
  }
  const auto epoch = static_cast<std::size_t>(view.phase);
  if (job.batch == 0) {
    double left_s = 0;
    for (std::size_t e = epoch; e < program.epochs; ++e) {
      left_s += progress_in(job.program, e) / rate(view.id, e, on);
    }
    return left_s;
  }
  const BatchSplit split = split_batch(job.batch, on.gpus, program,
                                       *programs_[job.program].on_types[on.gpu_type], false);
  const StepTime time = step(job.program, on, split.local);
  const auto until = [&](std::size_t e) {
    return mixed(program, e, job.batch, &MeasuredEpoch::iterations);
  };
  const double steps = epoch + 1 < program.epochs ? until(program.epochs - 1) - until(epoch) : 1;
  return steps * (time.step_s + (time.step_s - time.sync_s) * split.accumulations);
}

std::unique_ptr<JobTuning> ElasticJobs::tuning() const {
  if (refit_ == Duration::zero()) return nullptr;
  return std::make_unique<FittedJobs>(*this, refit_);
}

std::unique_ptr<AllocationBelief> ElasticJobs::fitted() const {
  return std::make_unique<FittedJobs>(*this);
}

ElasticJobs::Report ElasticJobs::report(JobId id, std::size_t epoch, const Allocation& on) const {
  return report(id, epoch, on, split_of(jobs_[index(id)], epoch, on));
}

ElasticJobs::Report ElasticJobs::report(JobId id, std::size_t epoch, const Allocation& on,
                                        BatchSplit split) const {
  const ElasticJob& job = jobs_[index(id)];
  const StepTime time = step(job.program, on, split.local);
  const double batch = static_cast<double>(split.local) * on.gpus * (split.accumulations + 1);
  const ElasticProgram& program = programs_[job.program].program;
  return {.gpu_batch = static_cast<std::uint32_t>(split.local),
          .step_s = time.step_s,
          .sync_s = time.sync_s,
          .gradient = {.sqr = mixed(program, epoch, batch, &MeasuredEpoch::gradient_sqr),
                       .var = mixed(program, epoch, batch, &MeasuredEpoch::gradient_var)}};
}

BatchSplit ElasticJobs::split(JobId job, int batch, const Allocation& on) const {
  const Program& program = programs_[jobs_[index(job)].program];
  return split_batch(batch, on.gpus, program.program, *program.on_types[on.gpu_type], true);
}

bool ElasticJobs::runs_on(JobId job, std::uint32_t gpu_type) const {
  const auto& times = times_[jobs_[index(job)].program];
  return gpu_type < times.size() && times[gpu_type].has_value();
}

BatchLimits ElasticJobs::limits(JobId job, std::uint32_t gpu_type) const {
  const Program& program = programs_[jobs_[index(job)].program];
  const ProgramOnType& on = *program.on_types[gpu_type];
  return {.initial = static_cast<std::uint32_t>(program.program.initial_batch),
          .most = static_cast<std::uint32_t>(on.largest_batch),
          .least_gpu = static_cast<std::uint32_t>(on.least_local_batch),
          .most_gpu = static_cast<std::uint32_t>(on.largest_local_batch)};
}

double ElasticJobs::samples_per_s(JobId job, std::uint32_t gpu_type) const {
  const BatchLimits here = limits(job, gpu_type);
  const int one = 1;
  const Allocation alone{1, 1, 1, gpu_type, std::span(&one, 1)};
  const StepTime time = step(jobs_[index(job)].program, alone, static_cast<int>(here.most_gpu));
  return here.most_gpu / time.step_s;
}

}  // namespace corun::inline models
