#include "evaluation/validation/authors_simulator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "sim/base/nan.hpp"

namespace corun::inline evaluation {

namespace {

constexpr double kRoundS = 120;
constexpr double kRestartS = 20;
/// A job that runs for less of a round pays no restart.
constexpr double kPaysFromS = 115;
/// Rounds without a step after which a job is given up.
constexpr int kIdleRounds = 5;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// A job of the authors' simulator between two rounds.
class AuthorsJob {
 public:
  AuthorsJob(const RoundJob& job, const StepRates& rates)
      : job_(&job), rates_(&rates), batch_(job.initial_batch_size), total_(job.steps) {}

  struct Stay {
    std::int64_t steps = 0;
    double clock_s = 0;  ///< until the job ends in the round
    double run_s = 0;    ///< counted against the run-time limit
  };

  Stay stay(bool pays_restart) const {
    const double rate = *rates_->find(job_->model, batch_, job_->gpus);
    Stay stay;
    const auto most = static_cast<std::int64_t>(std::floor(kRoundS * rate));
    stay.steps = std::max<std::int64_t>(0, std::min(most, total_ - done_));
    stay.clock_s = static_cast<double>(stay.steps) / rate;
    stay.run_s = stay.clock_s;
    if (pays_restart && stay.clock_s > kPaysFromS) {
      stay.run_s = stay.clock_s - kRestartS;
      stay.steps = static_cast<std::int64_t>(
          std::floor(static_cast<double>(stay.steps) * stay.run_s / stay.clock_s));
    }
    return stay;
  }

  AuthorsState state() const {
    return {static_cast<double>(total_ - done_), *rates_->find(job_->model, batch_, job_->gpus), 0};
  }

  /// Credits a stay; whether the job is finished.
  bool credit(const Stay& stay, double limit) {
    if (stay.steps == 0) return ++idle_rounds_ == kIdleRounds;
    done_ += stay.steps;
    run_s_ += stay.run_s;
    return done_ >= total_ || run_s_ > std::floor(limit * job_->declared_s);
  }

  /// Makes the change that was flagged, if the model has a rate for it.
  void change_batch() {
    if (!due_) return;
    const std::int64_t next = job_->mode == "gns" ? 2 * batch_ : *due_;
    due_.reset();
    if (job_->initial_batch_size >= rates_->largest_batch(job_->model) ||
        !rates_->find(job_->model, next, job_->gpus)) {
      return;
    }
    const std::int64_t completed = completed_epochs();
    const std::int64_t epochs = ceil_div(total_, steps_per_epoch(batch_));
    const std::int64_t scaled = ceil_div(total_ * batch_, next);
    const std::int64_t per_epoch = steps_per_epoch(next);
    total_ = ceil_div(scaled, per_epoch) == epochs ? scaled : epochs * per_epoch;
    done_ = completed * per_epoch;
    batch_ = next;
  }

  /// Flags the change that the rule asks for after the epochs done by now.
  void flag_change() {
    if (job_->target.empty()) return;
    const std::int64_t target = batch_at(job_->target, completed_epochs());
    const bool due = job_->mode == "gns" ? target > batch_ : target != batch_;
    if (due && job_->mode != "static") due_ = target;
  }

 private:
  std::int64_t steps_per_epoch(std::int64_t batch) const {
    return ceil_div(job_->samples_per_epoch, batch);
  }
  std::int64_t completed_epochs() const { return ceil_div(done_, steps_per_epoch(batch_)); }

  const RoundJob* job_;
  const StepRates* rates_;
  std::int64_t batch_;
  std::int64_t done_ = 0;
  std::int64_t total_;
  double run_s_ = 0;
  int idle_rounds_ = 0;
  std::optional<std::int64_t> due_;  ///< the batch size that was asked for
};

}  // namespace

AuthorsRun simulate_as_authors(const RoundWorkload& workload, const std::vector<Round>& rounds,
                               double limit) {
  std::vector<AuthorsJob> jobs;
  jobs.reserve(workload.jobs.size());
  for (const RoundJob& job : workload.jobs) jobs.emplace_back(job, workload.rates);
  AuthorsRun run;
  run.finish_s.assign(jobs.size(), kNaN);
  run.round_end_s.reserve(rounds.size());
  std::vector<std::size_t> last_ran(jobs.size(), rounds.size());
  double start = workload.jobs.front().arrival_s;
  for (std::size_t k = 0; k < rounds.size(); ++k) {
    double end = start;
    std::vector<AuthorsState>& states = run.states.emplace_back();
    for (const AuthorsJob& job : jobs) states.push_back(job.state());
    for (const Placed& placed : rounds[k]) {
      const std::size_t j = placed.job;
      if (!std::isnan(run.finish_s[j])) continue;
      const bool ran_before = k == 0 || last_ran[j] + 1 == k;
      last_ran[j] = k;
      const AuthorsJob::Stay stay = jobs[j].stay(!ran_before);
      states[j].run_s = stay.run_s;
      end = std::max(end, start + stay.clock_s);
      if (jobs[j].credit(stay, limit)) {
        run.finish_s[j] = start + stay.clock_s;
      } else {
        jobs[j].change_batch();
      }
    }
    for (AuthorsJob& job : jobs) job.flag_change();
    run.round_end_s.push_back(end);
    start = end;
  }
  return run;
}

}  // namespace corun::inline evaluation
