#include "policies/shares/share_policy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "policies/shares/max_min.hpp"

namespace corun::inline policies {

namespace {

/// As the engine's: a whole number of steps stays one in spite of rounding.
constexpr double kWholeSteps = 1 + 1e-15;
/// The clock of expected ends and the engine's are the same instant this close to each other.
constexpr double kSameInstant_s = 1e-3;
/// Of these, a job that goes on longer than estimated has this many left.
constexpr double kLeastSteps = 1;

/// The double nearest to a time [s]: a decimal number of the trace is read as that, too, so that ties are ties.
double nearest_seconds(Time t) { return static_cast<double>(t.count()) / 1e9; }

/// Where the shares do not depend on types, the time of each job by itself is spread over them in proportion to
/// their GPUs: no type is left to a few jobs by the choice of a solver.
void spread_over_types(const ShareProblem& problem, std::vector<double>& x) {
  const std::size_t types = problem.types();
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    for (std::size_t t = 0; t < types; ++t) {
      const bool full = problem.rate(j, t).a > 0 || problem.gpus[t] == 0;
      if (!full) return;  // a job that does not run everywhere needs its own shares
    }
  }
  const double total = problem.total_gpus();
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    double* const row = &x[j * types];
    const double sum = std::accumulate(row, row + types, 0.0);
    for (std::size_t t = 0; t < types; ++t) row[t] = sum * problem.gpus[t] / total;
  }
}

}  // namespace

const ParametersOf<SharePolicyOptions>& share_round_parameters() {
  using O = SharePolicyOptions;
  static const auto all =
      ParametersOf<O>()
          .choice("type_order", &O::drawn_order, {{"cluster", false}, {"drawn", true}},
                  "in which order a round fills the GPU types: that of the cluster, or drawn anew "
                  "each round")
          .only_where(gpus_are_of_several_types)
          .number(
              "reset_s", &O::reset,
              {0, 1e7, "new shares when jobs came or went, at the earliest after this time [s]"})
          .number(
              "round_s", &O::round,
              {1, 1e6, "length of a round [s]; with control.mode: rounds that of control.round_s"})
          .only_where([](const ParameterContext& c) -> std::string {
            return c.rounds ? "control.mode is rounds, and control.round_s holds" : "";
          })
          .number("seed", &O::seed,
                  {0, 4294967290.0, "of this policy's draws; null: that of the replication"})
          .only_where([](const ParameterContext& c) -> std::string {
            if (c.gpu_types < 2) return gpus_are_of_several_types(c);
            return c.parameters.choice("type_order") == "drawn" ? "" : "nothing is drawn";
          });
  return all;
}

const ParametersOf<SharePolicyOptions>& share_parameters() {
  using O = SharePolicyOptions;
  static const auto all =
      ParametersOf<O>()
          .choice("heterogeneity", &O::aware, {{"aware", true}, {"agnostic", false}},
                  "aware: the jobs' rates on each GPU type; agnostic: those on the reference type "
                  "stand for all")
          .only_where(gpus_are_of_several_types)
          .choice("space_sharing", &O::pairs, {{"none", false}, {"pairs", true}},
                  "pairs: two jobs of equal gangs may share their GPUs, at the belief's speeds")
          .only_where(jobs_share)
          .with(share_round_parameters());
  return all;
}

PolicyNeeds share_policy_needs(const Parameters& parameters) {
  return share_parameters().read(parameters).pairs ? PolicyNeeds::kBelief : PolicyNeeds::kNothing;
}

PolicyTraits share_policy_traits(bool needs_estimates) {
  return {.moves_running_jobs = true,
          .preempts = true,
          .needs_estimates = needs_estimates,
          .reads_estimates = !needs_estimates,
          .reads_speeds_on_types = true};
}

SharePolicy::SharePolicy(std::unique_ptr<ShareRule> rule, std::unique_ptr<Belief> belief,
                         SharePolicyOptions options, Duration round, std::uint32_t seed)
    : rule_(std::move(rule)),
      belief_(std::move(belief)),
      options_(options),
      engine_rounds_(round > Duration::zero()),
      round_s_(to_seconds(engine_rounds_ ? round : options.round)),
      types_order_(seed + 5) {}

void SharePolicy::arrived(const JobView& job, Time) {
  const std::uint32_t number = static_cast<std::uint32_t>(index(job.id));
  const auto is_it = [&](const JobView& other) { return other.id == job.id; };
  if (!jobs_.contains(number) && std::ranges::none_of(new_, is_it)) new_.push_back(job);
}

void SharePolicy::departed(JobId job, LogKind how, Time) {
  if (how != LogKind::kFinish && how != LogKind::kFail) return;  // it comes back
  std::erase_if(new_, [job](const JobView& other) { return other.id == job; });
  const auto number = static_cast<std::uint32_t>(index(job));
  if (jobs_.contains(number)) gone_.push_back(number);
}

void SharePolicy::decide(const ClusterView& view, std::vector<Decision>& out) {
  if (view.pass() == last_pass_) return;  // this pass is already decided
  last_pass_ = view.pass();
  if (!rounds_) begin(view);
  const Time now = view.now();
  const bool over = engine_rounds_ || now - round_start_ >= from_seconds(round_s_);
  const bool any_runs = std::ranges::any_of(
      view.gpus(), [](const GpuState& g) { return !g.profiling && !g.residents.empty(); });
  if (!running_.empty() && any_runs && (!over || now == round_start_)) return;  // it goes on
  const bool was_idle = running_.empty();
  const bool came = !new_.empty();
  reckon(now);
  add_new(view);
  if (jobs_.empty()) return;
  // Nothing ran, and it was the timer that woke the policy: no job is to come.
  const bool woken = idle_ && was_idle && !came && last_pass_ > 0;
  if (woken) rounds_->restart();
  if (rounds_->due(clock_s_)) new_shares(clock_s_);
  choose_round(view);
  if (running_.empty() && !(engine_rounds_ && options_.idle_waits) && !woken) {
    // Jobs wait for their first shares on an idle cluster: they get them at once.
    rounds_->restart();
    if (rounds_->due(clock_s_)) new_shares(clock_s_);
    choose_round(view);
  }
  place(view, out);
  idle_ = running_.empty();
  if (idle_ && woken) return;  // nothing will change
  out.push_back(WakeAt{engine_rounds_ ? now + Duration{1} : later(now, from_seconds(round_s_))});
}

/// The GPU types of the cluster, at the first call.
void SharePolicy::begin(const ClusterView& view) {
  types_.resize(view.cluster().types().size());
  gpus_.resize(types_.size());
  for (std::size_t g = 0; g < view.gpus().size(); ++g) {
    const GpuId gpu{static_cast<std::uint32_t>(g)};
    const GpuType& type = view.gpu_type(gpu);
    types_[type.id] = type;
    gpus_[type.id].push_back(gpu);
  }
  options_.pairs &= view.max_jobs_per_gpu(2) >= 2;
  rounds_.emplace(types_.size(), ShareRounds::Options{.round_s = round_s_,
                                                      .reset_s = to_seconds(options_.reset),
                                                      .pairs = options_.pairs,
                                                      .fill = options_.fill});
  rule_->begin(types_, round_s_, to_seconds(options_.reset));
}

/// The rates of a job (a == b), or of two beside each other, on a type.
UnitRates SharePolicy::rates_of(std::uint32_t a, std::uint32_t b, std::size_t type) const {
  if (a == b) return {jobs_.at(a).rates[type], 0};
  std::vector<UnitRates>& known = pair_rates_[{a, b}];
  if (known.empty()) {
    for (std::uint32_t t = 0; t < types_.size(); ++t) {
      const double alone_a = jobs_.at(a).rates[t];
      const double alone_b = jobs_.at(b).rates[t];
      PairSpeeds speeds{0, 0};
      if (alone_a > 0 && alone_b > 0) speeds = belief_->pair_speeds_on(JobId{a}, JobId{b}, t);
      known.push_back({alone_a * speeds.a, alone_b * speeds.b});
    }
  }
  return known[type];
}

void SharePolicy::add_new(const ClusterView& view) {
  for (const JobView& job : new_) {
    Known known{.view = job, .rates = {}};
    const bool counted = job.steps > 0 && job.steps_per_s > 0;
    known.alone = counted ? job.steps_per_s : 1;
    known.left = counted        ? static_cast<double>(job.steps)
                 : job.estimate ? std::max(to_seconds(*job.estimate), 1e-9)
                                : std::numeric_limits<double>::infinity();
    known.left_at_reset = known.left;
    for (const GpuType& type : types_) {
      const bool may =
          may_run_on(job, type) && static_cast<std::size_t>(job.gpus) <= gpus_[type.id].size();
      const double speed = job.on_types.empty() ? type.speed : job.on_types[type.id].speed;
      known.rates.push_back(may ? known.alone * speed : 0);
    }
    const auto number = static_cast<std::uint32_t>(index(job.id));
    const bool held = std::ranges::any_of(gpus_, [&](const std::vector<GpuId>& gpus) {
      return !gpus.empty() && may_run_on(job, view.gpu_type(gpus.front())) &&
             gpus.size() >= static_cast<std::size_t>(job.gpus);
    });
    jobs_.emplace(number, std::move(known));
    if (!held) {
      wide_.push_back(number);
      continue;
    }
    rounds_->add(number, job.gpus, [&](const ShareRounds::Unit& unit, std::size_t type) {
      const UnitRates rates = rates_of(unit.a, unit.b, type);
      return rates.a > 0 && (!unit.pair() || rates.b > 0);
    });
  }
  new_.clear();
}

/// Ends the round: what its units received and did.
void SharePolicy::reckon(Time now) {
  const double now_s = nearest_seconds(now);
  double end_s = now_s;
  const bool ran = !running_.empty();
  if (ran) {
    end_s = std::ranges::max_element(running_, {}, &Running::end_s)->end_s;
  }
  const double expected_end_s = end_s;
  // Estimates were wrong, or the cluster was idle for a while.
  if (std::abs(end_s - now_s) > kSameInstant_s) end_s = now_s;
  // The order decides the last bits of sums, and with them who is first of equals: that of Gavel.
  std::ranges::sort(running_, {}, [](const Running& r) {
    return std::tuple(-r.end_s, r.placed.unit.a, r.placed.unit.b);
  });
  for (const Running& r : running_) {
    const ShareRounds::Unit& unit = r.placed.unit;
    if (!is_wide(r)) rounds_->ran(unit, r.placed.type, std::min(r.end_s, end_s) - clock_s_);
    const auto did = [&](std::uint32_t job, double steps) {
      double& left = jobs_.at(job).left;
      left = std::max(left - steps, std::min(left, kLeastSteps));
    };
    did(unit.a, r.steps_a);
    if (unit.pair()) did(unit.b, r.steps_b);
  }
  running_.clear();
  for (const std::uint32_t job : gone_) {
    if (std::erase(wide_, job) == 0) rounds_->remove(job);
    jobs_.erase(job);
    std::erase_if(pair_rates_,
                  [job](const auto& p) { return p.first.first == job || p.first.second == job; });
  }
  gone_.clear();
  if (ran && jobs_.empty() && expected_end_s < now_s - kSameInstant_s) {
    // The round that began when the last job ended had no jobs; this policy was not asked.
    if (rounds_->due(expected_end_s)) rounds_->reset(expected_end_s, {});
    draw_order();
  }
  clock_s_ = end_s;
}

ShareProblem SharePolicy::problem(double now_s) const {
  ShareProblem problem;
  for (const std::vector<GpuId>& gpus : gpus_)
    problem.gpus.push_back(static_cast<int>(gpus.size()));
  for (const ShareRounds::Job& job : rounds_->jobs()) {
    const Known& known = jobs_.at(job.number);
    ShareJob j{.id = job.number,
               .gpus = job.gpus,
               .weight = known.view.weight,
               .steps_left = known.left,
               .age_s = now_s - nearest_seconds(known.view.submit),
               .time_left_s = std::nullopt,
               .isolated_s = known.isolated_s};
    if (options_.slo > 0 && known.view.estimate) {
      const double deadline_s =
          nearest_seconds(known.view.submit) + options_.slo * to_seconds(*known.view.estimate);
      if (deadline_s > now_s) j.time_left_s = deadline_s - now_s;
    }
    problem.jobs.push_back(j);
  }
  append_units(problem, rounds_->jobs());
  return problem;
}

void SharePolicy::append_units(ShareProblem& problem,
                               std::span<const ShareRounds::Job> jobs) const {
  const auto add = [&](std::uint32_t a, std::optional<std::uint32_t> b) {
    problem.units.push_back({a, b});
    const std::uint32_t first = jobs[a].number;
    const std::uint32_t second = b ? jobs[*b].number : first;
    for (std::size_t t = 0; t < types_.size(); ++t) {
      UnitRates rates = rates_of(first, second, t);
      if (!options_.aware) {
        // On the reference type, where the job runs at all.
        if (rates.a > 0) rates.a *= jobs_.at(first).alone / jobs_.at(first).rates[t];
        if (rates.b > 0) rates.b *= jobs_.at(second).alone / jobs_.at(second).rates[t];
      }
      problem.rates.push_back(rates);
    }
  };
  for (std::uint32_t j = 0; j < jobs.size(); ++j) add(j, std::nullopt);
  if (!options_.pairs) return;
  for (std::uint32_t b = 0; b < jobs.size(); ++b) {
    for (std::uint32_t a = 0; a < b; ++a) {
      if (jobs[a].gpus == jobs[b].gpus) add(a, b);
    }
  }
}

void SharePolicy::new_shares(double now_s) {
  for (auto& [number, known] : jobs_) {
    if (known.isolated_rate > 0 && std::isfinite(known.left)) {
      known.isolated_s += (known.left_at_reset - known.left) / known.isolated_rate;
    }
    known.left_at_reset = known.left;
  }
  const ShareProblem asked = problem(now_s);
  const std::vector<double> isolated = isolated_rates(asked);
  for (std::size_t j = 0; j < asked.jobs.size(); ++j) {
    jobs_.at(static_cast<std::uint32_t>(asked.jobs[j].id)).isolated_rate = isolated[j];
  }
  Shares shares = rule_->shares(asked);
  if (!options_.aware && !asked.packed() && !shares.x.empty()) spread_over_types(asked, shares.x);
  std::vector<ShareRounds::Given> given;
  for (std::size_t u = 0; u < asked.units.size() && !shares.x.empty(); ++u) {
    const auto x = std::span(shares.x).subspan(u * types_.size(), types_.size());
    if (std::ranges::all_of(x, [](double share) { return share == 0; })) continue;
    const auto a = static_cast<std::uint32_t>(asked.jobs[asked.units[u].a].id);
    const auto b =
        static_cast<std::uint32_t>(asked.jobs[asked.units[u].b.value_or(asked.units[u].a)].id);
    given.push_back({{a, b}, {x.begin(), x.end()}});
  }
  rounds_->reset(now_s, given);
}

/// The steps that a job should do in a round, and when it should be done with them [s from its start].
double SharePolicy::progress(std::uint32_t job, double rate, double& steps) const {
  const Known& known = jobs_.at(job);
  steps = rate * round_s_;
  if (engine_rounds_ && known.view.steps > 0)
    steps = std::max(std::floor(steps * kWholeSteps), 1.0);
  steps = std::min(steps, known.left);
  return steps / rate;
}

/// The order in which a round fills the types.
std::vector<std::uint32_t> SharePolicy::draw_order() {
  std::vector<std::uint32_t> order(types_.size());
  std::iota(order.begin(), order.end(), 0U);
  if (options_.drawn_order) types_order_.shuffle(std::span(order));
  return order;
}

/// The gangs that no type can hold: on the GPUs that they have, else on the lowest ones.
void SharePolicy::place_wide(const ClusterView& view) {
  std::vector<bool> taken(view.gpus().size(), false);
  for (const std::uint32_t job : wide_) {
    const JobView& of_job = jobs_.at(job).view;
    std::vector<GpuId> gpus;
    for (const bool own : {true, false}) {
      for (std::size_t g = 0; g < view.gpus().size(); ++g) {
        const GpuId gpu{static_cast<std::uint32_t>(g)};
        if (taken[g] || view.gpus()[g].profiling || !may_run_on(of_job, view.gpu_type(gpu)))
          continue;
        const bool has = std::ranges::find(view.gpus()[g].residents, of_job.id) !=
                         view.gpus()[g].residents.end();
        if (has == own && gpus.size() < static_cast<std::size_t>(of_job.gpus)) gpus.push_back(gpu);
      }
    }
    if (gpus.size() < static_cast<std::size_t>(of_job.gpus)) continue;
    Running r{.placed = {{job, job}, static_cast<std::uint32_t>(types_.size())}, .gpus = {}};
    double rate = std::numeric_limits<double>::infinity();
    for (const GpuId g : gpus) {
      taken[index(g)] = true;
      const GpuType& type = view.gpu_type(g);
      const double speed = of_job.on_types.empty() ? type.speed : of_job.on_types[type.id].speed;
      rate = std::min(rate, jobs_.at(job).alone * speed);
    }
    r.end_s = clock_s_ + progress(job, rate, r.steps_a);
    r.gpus = std::move(gpus);
    running_.push_back(std::move(r));
  }
}

/// Fills running_.
void SharePolicy::choose_round(const ClusterView& view) {
  const std::vector<std::uint32_t> order = draw_order();
  place_wide(view);
  std::vector<int> free;
  for (const std::vector<GpuId>& gpus : gpus_) {
    free.push_back(static_cast<int>(
        std::ranges::count_if(gpus, [&](GpuId g) { return !view.gpu(g).profiling; })));
  }
  for (const Running& r : running_) {
    for (const GpuId g : r.gpus) --free[view.gpu_type(g).id];
  }
  round_start_ = view.now();
  for (const ShareRounds::Placed& placed : rounds_->choose(free, order)) {
    Running r{.placed = placed, .gpus = {}};
    const ShareRounds::Unit& unit = placed.unit;
    const UnitRates rates = rates_of(unit.a, unit.b, placed.type);
    r.end_s = clock_s_ + progress(unit.a, rates.a, r.steps_a);
    if (unit.pair()) r.end_s = std::max(r.end_s, clock_s_ + progress(unit.b, rates.b, r.steps_b));
    running_.push_back(std::move(r));
  }
}

/// Units that go on stay in place; others are preempted, or start on the lowest GPUs that are left.
void SharePolicy::place(const ClusterView& view, std::vector<Decision>& out) {
  std::map<std::uint32_t, std::vector<GpuId>> held;  // by resident
  for (std::size_t g = 0; g < view.gpus().size(); ++g) {
    if (view.gpus()[g].profiling) continue;
    for (const JobId j : view.gpus()[g].residents) {
      held[static_cast<std::uint32_t>(index(j))].push_back(GpuId{static_cast<std::uint32_t>(g)});
    }
  }
  std::vector<bool> taken(view.gpus().size(), false);
  std::vector<bool> goes_on(view.gpus().size(), false);
  std::vector<Running*> starting;
  for (Running& r : running_) {
    const ShareRounds::Unit& unit = r.placed.unit;
    const auto at = held.find(unit.a);
    for (const GpuId g : r.gpus) taken[index(g)] = true;
    if (is_wide(r)) {
      const bool there = at != held.end() && std::ranges::is_permutation(at->second, r.gpus);
      if (!there) starting.push_back(&r);
      for (const GpuId g : r.gpus) goes_on[index(g)] = there;
      continue;
    }
    const auto is_taken = [&](GpuId g) { return taken[index(g)]; };
    const bool stays = at != held.end() && std::ranges::none_of(at->second, is_taken) &&
                       view.gpu_type(at->second.front()).id == r.placed.type &&
                       view.gpu(at->second.front()).residents.size() == (unit.pair() ? 2U : 1U) &&
                       (!unit.pair() || (held.contains(unit.b) && held[unit.b] == at->second));
    if (!stays) {
      starting.push_back(&r);
      continue;
    }
    r.gpus = at->second;
    for (const GpuId g : r.gpus) taken[index(g)] = goes_on[index(g)] = true;
  }
  Preempt preempt;
  for (std::size_t g = 0; g < view.gpus().size(); ++g) {
    if (goes_on[g] || view.gpus()[g].profiling) continue;
    for (const JobId j : view.gpus()[g].residents) {
      if (std::ranges::find(preempt.jobs, j) == preempt.jobs.end()) preempt.jobs.push_back(j);
    }
  }
  if (!preempt.jobs.empty()) out.push_back(std::move(preempt));
  const auto gang = [&](const Running* r) { return jobs_.at(r->placed.unit.a).view.gpus; };
  std::ranges::stable_sort(starting, std::ranges::greater{}, gang);
  for (Running* r : starting) {
    const ShareRounds::Unit& unit = r->placed.unit;
    for (const GpuId g : is_wide(*r) ? std::span<const GpuId>() : gpus_[r->placed.type]) {
      if (taken[index(g)] || view.gpu(g).profiling) continue;
      r->gpus.push_back(g);
      taken[index(g)] = true;
      if (r->gpus.size() == static_cast<std::size_t>(gang(r))) break;
    }
    StartGroup start{{JobId{unit.a}}, r->gpus};
    if (unit.pair()) start.jobs.push_back(JobId{unit.b});
    out.push_back(std::move(start));
  }
}

}  // namespace corun::inline policies
