#include "evaluation/validation/executing_job.hpp"

#include <algorithm>

#include "sim/base/math.hpp"

namespace corun::inline evaluation {

RunDraw without_noise(const RoundWorkload& workload, const RunParameters& p) {
  return {.per_start_s = p.per_start_s,
          .first_delay_s = p.first_delay_s,
          .first_round_s = p.first_round_s,
          .job_factor = std::vector<double>(workload.jobs.size(), 1.0),
          .end_shift_s = std::vector<double>(workload.jobs.size(), 0.0),
          .rounds = std::nullopt};
}

RunDraw draw_run(const RoundWorkload& workload, const RunParameters& p, std::uint64_t seed,
                 std::uint64_t number, bool other_campaign) {
  RunDraw draw = without_noise(workload, p);
  Rng rng(seed, Stream::kRealRuns, number);
  draw.first_delay_s = p.first_delay_s > 0 ? rng.exponential(p.first_delay_s) : 0;
  draw.first_round_s = p.first_round_s > 0 ? rng.exponential(p.first_round_s) : 0;
  const double speeds_sd = other_campaign ? p.campaign_sd : p.configuration_sd;
  std::map<RateFactors::Key, double> configurations;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const RoundJob& job = workload.jobs[j];
    const RateFactors::Key key{job.model, job.mode, job.initial_batch_size, job.gpus};
    const auto [found, is_new] = configurations.emplace(key, 0.0);
    if (is_new) found->second = speeds_sd * rng.normal();
    draw.job_factor[j] = math::exp(found->second + p.job_sd * rng.normal());
    draw.end_shift_s[j] = p.end_sd_s * rng.normal();
  }
  draw.round_sd_s = p.round_sd_s;
  draw.rounds = rng;
  return draw;
}

double RunDraw::next_round_s(double round_s, int starts) {
  const double length = round_s + per_start_s * starts;
  if (!rounds || round_sd_s <= 0) return length;
  return std::max(round_s / 2, length + round_sd_s * rounds->normal());
}

ExecutingJob::ExecutingJob(const RoundWorkload& workload, std::size_t number,
                           const RunParameters& p, double factor, double limit)
    : need_(workload.jobs[number].samples()),
      most_run_s_(limit * workload.jobs[number].declared_s),
      start_s_(p.start_cost(workload.jobs[number].model)) {
  const RoundJob& job = workload.jobs[number];
  for (const BatchChange& change : job.declared) {
    const double rate = *workload.rates.find(job.model, change.batch_size, job.gpus);
    const auto batch = static_cast<double>(change.batch_size);
    phases_.push_back({static_cast<double>(change.from_epoch * job.samples_per_epoch), batch,
                       rate * batch * p.factors.of(job, change.batch_size) * factor, rate});
  }
}

std::optional<double> ExecutingJob::run_round(double length_s, bool starts) {
  const double lost = starts ? std::min(start_s_, length_s) : 0;
  double left = length_s - lost;
  if (starts) {
    lease_s_ = 0;
    lease_steps_ = 0;
    lease_phase_ = phase_;
  }
  lease_s_ += length_s;
  lease_steps_ += left * phases_[phase_].samples_per_s / phases_[phase_].batch_size;
  run_s_ += left;
  while (left > 0) {
    const bool last = phase_ + 1 == phases_.size();
    const double until = last ? need_ : phases_[phase_ + 1].from_samples;
    const double needed = (until - samples_) / phases_[phase_].samples_per_s;
    if (needed > left) {
      samples_ += left * phases_[phase_].samples_per_s;
      break;
    }
    samples_ = until;
    left -= needed;
    if (last) {
      run_s_ -= left;
      return length_s - left;
    }
    ++phase_;
  }
  // The limit is looked at when a round ends.
  if (run_s_ > most_run_s_) return length_s;
  return std::nullopt;
}

double ExecutingJob::known_rate() const {
  const double declared = phases_[phase_].declared_rate;
  return known_phase_ == phase_ ? declared * known_ : declared;
}

void ExecutingJob::end_lease(double weight) {
  if (lease_phase_ != phase_ || lease_s_ <= 0) return;
  const double measured = lease_steps_ / lease_s_;
  known_ = ((1 - weight) * known_rate() + weight * measured) / phases_[phase_].declared_rate;
  known_phase_ = phase_;
}

double ExecutingJob::steps_left() const {
  return std::max((need_ - samples_) / phases_[phase_].batch_size, 1.0);
}

}  // namespace corun::inline evaluation
