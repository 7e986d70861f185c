#include "evaluation/validation/validation.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "evaluation/validation/allocation_replay.hpp"
#include "evaluation/validation/policy_replay.hpp"
#include "evaluation/validation/run_check.hpp"
#include "sim/base/correlation.hpp"
#include "sim/base/summary.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline evaluation {

namespace {

constexpr double kTail = 0.05;  ///< on either side of an interval
constexpr double kCoverage = 0.9;
constexpr double kShortRunS = 3600;
constexpr double kLongRunS = 4 * 3600;

/// Finish times of one simulation, by job.
using Finishes = std::vector<double>;

class Study {
 public:
  explicit Study(const ValidationRequest& request)
      : request_(request), workload_(read_round_workload(request.directory)) {}

  /// Calls of simulate() to come, which are told of.
  void expect(std::size_t simulations, const ValidationProgress& progress) {
    expected_ = simulations;
    progress_ = progress;
  }

  const RoundWorkload& workload() const { return workload_; }

  const RoundRun& run(const std::string& name) {
    const auto found = runs_.find(name);
    if (found != runs_.end()) return found->second;
    return runs_.emplace(name, read_round_run(request_.directory, name, workload_)).first->second;
  }

  double limit(const std::string& name) const {
    const auto found = request_.limits.find(name);
    return found == request_.limits.end() ? 1 : found->second;
  }

  /// One simulation per draw; the one without noise alone if there are no draws.
  std::vector<Finishes> simulate(const RoundRun& run, Given given, const RunParameters& p,
                                 bool other_campaign = false) {
    if (progress_) progress_(done_++, expected_);
    std::vector<Finishes> draws;
    if (request_.draws == 0) draws.push_back(finishes(run, given, p, without_noise(workload_, p)));
    for (std::size_t n = 0; n < request_.draws; ++n) {
      draws.push_back(
          finishes(run, given, p, draw_run(workload_, p, request_.seed, n, other_campaign)));
    }
    return draws;
  }

  double arrival(std::size_t j) const { return workload_.jobs[j].arrival_s; }

 private:
  Finishes finishes(const RoundRun& run, Given given, const RunParameters& p, RunDraw draw) const {
    if (given == Given::kAllocation) {
      return replay_allocations(workload_, run, p, draw, limit(run.name)).finish_s;
    }
    int gpus = 0;
    for (const Round& round : run.rounds) {
      for (const Placed& placed : round) {
        gpus = std::max(gpus, *std::ranges::max_element(placed.workers) + 1);
      }
    }
    const auto policy = make_share_policy(run.policy);
    return replay_policy(workload_, *policy, p, std::move(draw),
                         {.gpus = gpus, .limit = limit(run.name)})
        .finish_s;
  }

  ValidationRequest request_;
  RoundWorkload workload_;
  std::map<std::string, RoundRun> runs_;
  ValidationProgress progress_;
  std::size_t expected_ = 0;
  std::size_t done_ = 0;
};

double quantile_of(std::vector<double> values, double p) {
  std::ranges::sort(values);
  return quantile(values, p);
}

/// Of each job over the draws.
std::vector<double> medians(const std::vector<Finishes>& draws) {
  std::vector<double> middle;
  for (std::size_t j = 0; j < draws.front().size(); ++j) {
    std::vector<double> values;
    for (const Finishes& draw : draws) values.push_back(draw[j]);
    middle.push_back(median(std::move(values)));
  }
  return middle;
}

double mean_jct(const Study& study, const Finishes& finishes) {
  double sum = 0;
  for (std::size_t j = 0; j < finishes.size(); ++j) sum += finishes[j] - study.arrival(j);
  return sum / static_cast<double>(finishes.size());
}

Finishes real_finishes(const RoundRun& run) {
  Finishes finishes;
  for (const RunJob& job : run.jobs) finishes.push_back(job.finish_s);
  return finishes;
}

/// Errors of a mean and a makespan, and of the jobs' completion times.
Errors errors_of(const Study& study, const RoundRun& real, double mean, double makespan,
                 const Finishes& finishes) {
  const Finishes truth = real_finishes(real);
  Errors errors;
  errors.mean_sign = mean / mean_jct(study, truth) - 1;
  errors.mean_jct = std::abs(errors.mean_sign);
  errors.makespan = std::abs(makespan / std::ranges::max(truth) - 1);
  std::vector<double> jobs;
  for (std::size_t j = 0; j < finishes.size(); ++j) {
    jobs.push_back(std::abs((finishes[j] - study.arrival(j)) / real.jobs[j].jct_s - 1));
  }
  errors.job_p90 = ninetieth(jobs);
  errors.job_median = median(std::move(jobs));
  return errors;
}

struct Summaries {
  std::vector<double> means;
  std::vector<double> makespans;
};

Summaries summaries(const Study& study, const std::vector<Finishes>& draws) {
  Summaries found;
  for (const Finishes& draw : draws) {
    found.means.push_back(mean_jct(study, draw));
    found.makespans.push_back(std::ranges::max(draw));
  }
  return found;
}

Errors errors_of_draws(const Study& study, const RoundRun& real,
                       const std::vector<Finishes>& draws) {
  const Summaries s = summaries(study, draws);
  return errors_of(study, real, median(s.means), median(s.makespans), medians(draws));
}

/// How far the truth is from the median, in half widths of the interval on its side: the factor by which intervals
/// of all jobs must grow so that 90 % of these would be covered (split conformal prediction).
std::vector<double> distances(const RoundRun& real, const std::vector<Finishes>& draws) {
  std::vector<double> found;
  for (std::size_t j = 0; j < real.jobs.size(); ++j) {
    std::vector<double> values;
    for (const Finishes& draw : draws) values.push_back(draw[j]);
    std::ranges::sort(values);
    const double middle = quantile(values, 0.5);
    const double off = real.jobs[j].finish_s - middle;
    const double half =
        off > 0 ? quantile(values, 1 - kTail) - middle : middle - quantile(values, kTail);
    found.push_back(std::abs(off) / std::max(half, 1.0));
  }
  return found;
}

double inflation(Study& study, const ValidationRequest& request, Given given,
                 const RunParameters& p) {
  if (request.draws == 0) return 1;
  std::vector<double> all;
  for (const std::string& name : request.fit) {
    const RoundRun& run = study.run(name);
    if (given == Given::kPolicy && make_share_policy(run.policy) == nullptr) continue;
    const std::vector<double> found = distances(run, study.simulate(run, given, p, true));
    all.insert(all.end(), found.begin(), found.end());
  }
  return all.empty() ? 1 : std::max(1.0, quantile_of(std::move(all), kCoverage));
}

std::string run_time_kind(double declared_s) {
  if (declared_s < kShortRunS) return "runtime<1h";
  return declared_s < kLongRunS ? "runtime 1-4h" : "runtime>=4h";
}

std::vector<KindBias> kinds_of(const RoundWorkload& workload,
                               const std::vector<ValidatedJob>& jobs) {
  std::map<std::string, std::vector<double>> kinds;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const double bias = jobs[j].jct_s / jobs[j].real_jct_s - 1;
    const RoundJob& job = workload.jobs[j];
    kinds["gpus=" + std::to_string(job.gpus)].push_back(bias);
    kinds["mode=" + job.mode].push_back(bias);
    kinds[run_time_kind(job.declared_s)].push_back(bias);
  }
  std::vector<KindBias> all;
  for (const auto& [kind, values] : kinds) all.push_back({kind, values.size(), mean(values)});
  return all;
}

OwnProgress own_progress(const Study& study, const RoundRun& run, const RunParameters& p) {
  const AllocationReplay replay = replay_allocations(
      study.workload(), run, p, without_noise(study.workload(), p), study.limit(run.name));
  std::vector<double> jobs;
  for (std::size_t j = 0; j < run.jobs.size(); ++j) {
    jobs.push_back(std::abs((replay.own_finish_s[j] - study.arrival(j)) / run.jobs[j].jct_s - 1));
  }
  return {median(jobs), ninetieth(jobs), median(replay.rounds_ratio)};
}

ValidatedRun validate_run(Study& study, const RoundRun& run, Given given, const RunParameters& p,
                          double inflated, bool with_draws) {
  ValidatedRun out;
  out.run = run.name;
  out.policy = run.policy;
  out.given = given;
  out.limit = study.limit(run.name);
  const std::vector<Finishes> draws = study.simulate(run, given, p);
  out.errors = errors_of_draws(study, run, draws);
  // Intervals are for a run whose speeds were measured apart; points have the fitted speeds.
  const std::vector<Finishes> wide = study.simulate(run, given, p, true);
  const Summaries s = summaries(study, draws);
  const Summaries spread = summaries(study, wide);
  const std::vector<double> middle = medians(draws);
  out.real_mean_jct_s = mean_jct(study, real_finishes(run));
  out.mean_jct_s = median(s.means);
  out.mean_low_s = quantile_of(spread.means, kTail);
  out.mean_high_s = quantile_of(spread.means, 1 - kTail);
  out.real_makespan_s = std::ranges::max(real_finishes(run));
  out.makespan_s = median(s.makespans);
  out.makespan_low_s = quantile_of(spread.makespans, kTail);
  out.makespan_high_s = quantile_of(spread.makespans, 1 - kTail);
  out.drawn_means_s = spread.means;
  std::size_t covered = 0;
  for (std::size_t j = 0; j < run.jobs.size(); ++j) {
    std::vector<double> values;
    for (const Finishes& draw : wide) values.push_back(draw[j] - study.arrival(j));
    std::ranges::sort(values);
    const double centre = quantile(values, 0.5);
    ValidatedJob job;
    job.real_jct_s = run.jobs[j].jct_s;
    job.jct_s = middle[j] - study.arrival(j);
    job.low_s = centre - inflated * (centre - quantile(values, kTail));
    job.high_s = centre + inflated * (quantile(values, 1 - kTail) - centre);
    covered += job.low_s <= job.real_jct_s && job.real_jct_s <= job.high_s ? 1 : 0;
    out.jobs.push_back(job);
  }
  if (with_draws) {
    out.covered = static_cast<double>(covered) / static_cast<double>(run.jobs.size());
  }
  out.kinds = kinds_of(study.workload(), out.jobs);
  if (given == Given::kAllocation) out.progress = own_progress(study, run, p);
  return out;
}

/// With one part after the other from the run itself.
void add_parts(Study& study, const RoundRun& run, Given given, const RunParameters& fitted,
               std::vector<PartErrors>& parts) {
  const RunParameters own =
      fit_run_parameters(study.workload(), std::span(&run, 1), fitted.round_s);
  RunParameters rates = fitted;
  rates.factors = own.factors;
  RunParameters clock = fitted;
  clock.per_start_s = own.per_start_s;
  clock.first_delay_s = own.first_delay_s;
  clock.first_round_s = own.first_round_s;
  RunParameters starts = fitted;
  starts.start_s = own.start_s;
  starts.unknown_start_s = own.unknown_start_s;
  RunParameters all = rates;
  all.per_start_s = own.per_start_s;
  all.first_delay_s = own.first_delay_s;
  all.first_round_s = own.first_round_s;
  all.start_s = own.start_s;
  all.unknown_start_s = own.unknown_start_s;
  const auto add = [&](const char* part, Given how, const RunParameters& p) {
    Errors errors;
    if (how == Given::kPolicy) {
      errors = errors_of_draws(study, run, study.simulate(run, how, p));
    } else {
      const AllocationReplay replay = replay_allocations(
          study.workload(), run, p, without_noise(study.workload(), p), study.limit(run.name));
      errors = errors_of(study, run, mean_jct(study, replay.own_finish_s),
                         std::ranges::max(replay.own_finish_s), replay.own_finish_s);
    }
    parts.push_back({run.name, part, errors});
  };
  add("nothing", given, fitted);
  add("rates", given, rates);
  add("round length", given, clock);
  add("start cost", given, starts);
  add("all of these", given, all);
  if (given == Given::kPolicy) {
    add("decisions", Given::kAllocation, fitted);
    add("decisions and these", Given::kAllocation, all);
  }
}

void rank(Validation& v) {
  std::vector<const ValidatedRun*> rows;
  for (const Given given : {Given::kPolicy, Given::kAllocation}) {
    rows.clear();
    for (const ValidatedRun& run : v.runs) {
      if (run.given == given) rows.push_back(&run);
    }
    v.ranked = given;
    if (rows.size() >= 2) break;
  }
  if (rows.size() < 2) return;
  const auto tau_of = [&](const std::function<double(const ValidatedRun&)>& simulated) {
    double sum = 0;
    std::size_t pairs = 0;
    for (std::size_t a = 0; a < rows.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b, ++pairs) {
        const double product = (rows[a]->real_mean_jct_s - rows[b]->real_mean_jct_s) *
                               (simulated(*rows[a]) - simulated(*rows[b]));
        sum += product > 0 ? 1 : product < 0 ? -1 : 0;
      }
    }
    return sum / static_cast<double>(pairs);
  };
  v.tau = tau_of([](const ValidatedRun& run) { return run.mean_jct_s; });
  std::vector<double> drawn;
  for (std::size_t n = 0; n < rows.front()->drawn_means_s.size(); ++n) {
    drawn.push_back(tau_of([n](const ValidatedRun& run) { return run.drawn_means_s[n]; }));
  }
  if (!drawn.empty()) v.tau_low = quantile_of(drawn, kTail);
  if (!drawn.empty()) v.tau_high = quantile_of(drawn, 1 - kTail);
  for (const ValidatedRun* a : rows) {
    for (const ValidatedRun* b : rows) {
      if (a->real_mean_jct_s >= b->real_mean_jct_s || a->mean_jct_s <= b->mean_jct_s) continue;
      v.inverted.push_back({a->run, b->run, b->real_mean_jct_s / a->real_mean_jct_s - 1});
    }
  }
}

/// The names as given, or all real runs that are not fitted on; each must be there.
void choose_runs(ValidationRequest& request) {
  const std::vector<std::string> real = list_round_runs(request.directory, "real");
  if (real.empty()) {
    throw InputError(request.directory,
                     "no real run, expected folders real/POLICY with a jobs.csv each");
  }
  const std::set<std::string> fitted(request.fit.begin(), request.fit.end());
  if (request.test.empty()) {
    for (const std::string& name : real) {
      if (!fitted.contains(name)) request.test.push_back(name);
    }
    if (request.test.empty()) {
      throw InputError("--fit", "names every real run, expected one that is left to test");
    }
  }
  const auto check = [&](const std::string& flag, const std::string& name) {
    if (std::ranges::find(real, name) != real.end()) return;
    throw InputError(
        flag, "'" + printable(name) + "' is no run: " +
                  did_you_mean(name, std::vector<std::string_view>(real.begin(), real.end())));
  };
  for (const std::string& name : request.fit) check("--fit", name);
  for (const std::string& name : request.test) {
    check("--test", name);
    if (fitted.contains(name)) {
      throw InputError("--test", "'" + printable(name) +
                                     "' is fitted on, too; expected a run that --fit does not "
                                     "name");
    }
  }
  for (const auto& [name, factor] : request.limits) check("--limit", name);
}

/// How often validate_runs() simulates a run.
std::size_t simulations_of(Study& study, const ValidationRequest& request) {
  const auto known = [&](const std::string& name) {
    return request.policy && make_share_policy(study.run(name).policy) != nullptr;
  };
  std::size_t count = 0;
  for (const std::string& name : request.fit) {
    if (request.draws > 0) count += (known(name) ? 1 : 0) + (request.allocation ? 1 : 0);
  }
  constexpr std::size_t kEach = 2;   // as fitted, and with wide intervals
  constexpr std::size_t kParts = 5;  // add_parts(), given the policy
  for (const std::string& name : request.test) {
    if (known(name)) count += kEach + (request.parts ? kParts : 0);
    if (request.allocation || !known(name)) count += kEach;
  }
  return count;
}

}  // namespace

double ninetieth(std::vector<double> errors) {
  std::ranges::sort(errors);
  return errors[std::min(errors.size() * 9 / 10, errors.size() - 1)];
}

Validation validate_runs(const ValidationRequest& request, const ValidationProgress& progress) {
  Validation v;
  v.request = request;
  choose_runs(v.request);
  Study study(v.request);
  study.expect(simulations_of(study, v.request), progress);
  std::vector<RoundRun> fitted;
  for (const std::string& name : v.request.fit) fitted.push_back(study.run(name));
  v.parameters = fit_run_parameters(study.workload(), fitted, request.round_s);
  if (request.policy)
    v.inflation_policy = inflation(study, v.request, Given::kPolicy, v.parameters);
  if (request.allocation) {
    v.inflation_allocation = inflation(study, v.request, Given::kAllocation, v.parameters);
  }
  const std::vector<std::string> authors = list_round_runs(request.directory, "simulated");
  for (const std::string& name : v.request.test) {
    const RoundRun& run = study.run(name);
    const bool known = request.policy && make_share_policy(run.policy) != nullptr;
    if (known) {
      v.runs.push_back(validate_run(study, run, Given::kPolicy, v.parameters, v.inflation_policy,
                                    request.draws > 0));
    }
    // A policy that corun does not have is never invented.
    if (request.allocation || !known) {
      v.runs.push_back(validate_run(study, run, Given::kAllocation, v.parameters,
                                    v.inflation_allocation, request.draws > 0));
    }
    if (request.parts) {
      add_parts(study, run, known ? Given::kPolicy : Given::kAllocation, v.parameters, v.parts);
    }
    v.checks.push_back(check_run(study.workload(), run, v.parameters));
    for (std::string& hint :
         hints_of(study.workload(), run, v.checks.back(), study.limit(name), request.round_s)) {
      v.hints.push_back(std::move(hint));
    }
    const std::string theirs = "simulated/" + run.policy;
    if (std::ranges::find(authors, theirs) == authors.end()) continue;
    const Finishes finishes = real_finishes(study.run(theirs));
    v.authors.push_back({theirs, errors_of(study, run, mean_jct(study, finishes),
                                           std::ranges::max(finishes), finishes)});
  }
  rank(v);
  return v;
}

ValidatedRun compare_run(const std::string& run, const std::string& policy, Given given,
                         const std::vector<ComparedJob>& jobs) {
  ValidatedRun out;
  out.run = run;
  out.policy = policy;
  out.given = given;
  std::map<std::string, std::vector<double>> kinds;
  std::vector<double> errors;
  const auto n = static_cast<double>(jobs.size());
  for (const ComparedJob& job : jobs) {
    out.real_mean_jct_s += job.real_jct_s / n;
    out.mean_jct_s += job.jct_s / n;
    out.real_makespan_s = std::max(out.real_makespan_s, job.arrival_s + job.real_jct_s);
    out.makespan_s = std::max(out.makespan_s, job.arrival_s + job.jct_s);
    const double bias = job.jct_s / job.real_jct_s - 1;
    errors.push_back(std::abs(bias));
    if (!job.kind.empty()) kinds[job.kind].push_back(bias);
    out.jobs.push_back({job.real_jct_s, job.jct_s, job.jct_s, job.jct_s, job.name});
  }
  out.mean_low_s = out.mean_high_s = out.mean_jct_s;
  out.makespan_low_s = out.makespan_high_s = out.makespan_s;
  out.errors.mean_sign = out.mean_jct_s / out.real_mean_jct_s - 1;
  out.errors.mean_jct = std::abs(out.errors.mean_sign);
  out.errors.makespan = std::abs(out.makespan_s / out.real_makespan_s - 1);
  out.errors.job_p90 = ninetieth(errors);
  out.errors.job_median = median(std::move(errors));
  for (const auto& [kind, values] : kinds) out.kinds.push_back({kind, values.size(), mean(values)});
  return out;
}

Validation compare_runs(const std::string& directory, std::vector<ValidatedRun> runs) {
  Validation v;
  v.request.directory = directory;
  v.request.draws = 0;
  v.in_rounds = false;
  v.runs = std::move(runs);
  for (const ValidatedRun& run : v.runs) {
    if (std::ranges::find(v.request.test, run.run) == v.request.test.end()) {
      v.request.test.push_back(run.run);
    }
  }
  rank(v);
  return v;
}

}  // namespace corun::inline evaluation
