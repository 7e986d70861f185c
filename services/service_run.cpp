#include "services/service_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace corun::inline services {
namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

int on_gpus(const std::vector<double>& speeds) {
  return static_cast<int>(std::ranges::count_if(speeds, [](double s) { return s > 0; }));
}

/// After a further time at this speed; 0: on no GPU.
ReplicaWork grown(ReplicaWork work, double speed, Duration time) {
  if (speed <= 0 || time <= Duration::zero()) return work;
  work.on_s += to_seconds(time);
  work.worked_s += to_seconds(time) * speed;
  return work;
}

std::unique_ptr<RequestSource> requests_of(const ServicePlan& plan, std::uint64_t seed,
                                           std::uint64_t entity) {
  if (!plan.arrivals.empty()) return std::make_unique<TraceRequests>(plan.arrivals);
  return std::make_unique<LoadRequests>(plan.load, plan.spacing, seed, entity);
}

}  // namespace

ServiceRun::ServiceRun(const std::vector<ServicePlan>& plans, const std::vector<int>& service_of,
                       ServiceRunOptions options)
    : plans_(plans),
      service_of_(service_of),
      options_(options),
      states_(plans.size()),
      place_(service_of.size(), 0) {
  for (std::size_t j = 0; j < service_of.size(); ++j) {
    if (service_of[j] < 0) continue;
    State& state = states_[static_cast<std::size_t>(service_of[j])];
    place_[j] = static_cast<std::uint32_t>(state.replicas.size());
    state.replicas.push_back(static_cast<JobId>(j));
    state.speeds.push_back(0);
    state.work.emplace_back();
  }
  Time first = kNever;
  for (std::size_t s = 0; s < plans.size(); ++s) {
    const ServicePlan& plan = plans[s];
    State& state = states_[s];
    state.view.service = static_cast<std::uint32_t>(s);
    state.view.goal_s = plan.goal_s;
    state.view.share = plan.share;
    state.view.least_replicas = plan.least_replicas;
    state.view.most_replicas = plan.queue.replicas;
    state.now = state.part_from = plan.start;
    state.outcome.name = plan.name;
    state.outcome.length_s = to_seconds(plan.end - plan.start);
    state.outcome.goal_s = plan.goal_s;
    state.outcome.share = plan.share;
    if (expected(plan, plan.start, plan.end) <= options.most_simulated) {
      state.exact.emplace(plan.queue, requests_of(plan, options.seed, s), plan.start, options.seed,
                          s);
    } else {
      state.level.emplace(plan.queue, plan.spacing, options.seed, s);
    }
    first = std::min(first, plan.start);
  }
  if (first != kNever) next_ = first - first % options.interval + options.interval;
}

/// Requests that the load has between two times, on average.
double ServiceRun::expected(const ServicePlan& plan, Time from, Time to) const {
  from = std::max(from, plan.start) - plan.start;
  to = std::min(to - plan.start, plan.load.end);
  const StepFunction& per_s = plan.load.per_s;
  double requests = 0;
  while (from < to) {
    const std::size_t step = per_s.step_at(from);
    const Time end = std::min(to, per_s.end_of(step));
    requests += per_s.steps()[step].value * to_seconds(end - from);
    from = end;
  }
  return requests;
}

void ServiceRun::serve(std::size_t service, Time until) {
  State& state = states_[service];
  const ServicePlan& plan = plans_[service];
  until = std::min(until, plan.end);
  if (until <= state.now) return;
  const int replicas = on_gpus(state.speeds);
  for (std::size_t r = 0; r < state.speeds.size(); ++r) {
    state.work[r] = grown(state.work[r], state.speeds[r], until - state.now);
  }
  state.part_replica_s += replicas * to_seconds(until - state.now);
  if (state.exact) {
    const std::uint64_t before = state.exact->arrived();
    state.exact->advance(until, state.part);
    state.part_requests += static_cast<double>(state.exact->arrived() - before);
  } else {
    const double requests = expected(plan, state.now, until);
    const double speed = replicas == 0 ? 1 : sum_of(state.speeds) / replicas;
    state.level->serve(state.now, until, requests, replicas, speed, state.part);
    state.part_requests += requests;
  }
  state.now = until;
}

void ServiceRun::close(std::size_t service, Time now) {
  State& state = states_[service];
  serve(service, now);
  const Duration length = state.now - state.part_from;
  if (length <= Duration::zero()) return;
  const double seconds = to_seconds(length);
  const LatencyRecord& latency = state.part.latency;
  const Duration goal = from_seconds(plans_[service].goal_s);
  ServiceInterval part{state.part_from, state.now, state.part_requests / seconds,
                       state.part_replica_s / seconds};
  if (state.part_replica_s > 0) part.busy = to_seconds(state.part.busy) / state.part_replica_s;
  const double within = latency.share_within(goal) * static_cast<double>(latency.count());
  if (latency.count() > 0) {
    part.latency_s = latency.quantile_s(plans_[service].share);
    part.within = latency.share_within(goal);
  } else {
    // Nothing was answered: what waits has waited at least so long.
    if (state.exact) part.latency_s = to_seconds(state.now - state.exact->oldest());
    if (state.level && state.level->backlog() >= 1) part.latency_s = seconds;
    part.within = part.latency_s > 0 ? 0 : 1;
  }
  state.outcome.within += static_cast<std::uint64_t>(std::llround(within));
  state.outcome.replica_s += state.part_replica_s;
  state.outcome.result.add(state.part);
  state.outcome.intervals.push_back(part);
  ServiceView& view = state.view;
  ++view.intervals;
  view.load_per_s = part.load_per_s;
  view.latency_s = part.latency_s;
  view.within = part.within;
  view.busy = part.busy;
  view.replicas = part.replicas;
  view.busy_s += to_seconds(state.part.busy);
  view.replica_s += state.part_replica_s;
  state.part = QueueResult{};
  state.open_before += state.part_requests;
  state.part_requests = 0;
  state.part_replica_s = 0;
  state.part_from = state.now;
}

void ServiceRun::advance(Time now) {
  bool left = false;
  for (std::size_t s = 0; s < states_.size(); ++s) {
    close(s, now);
    states_[s].view.over = plans_[s].end <= now;
    left |= plans_[s].end > now;
  }
  next_ = left ? now + options_.interval : kNever;
}

void ServiceRun::runs(JobId replica, Time now, double speed) {
  const auto service = static_cast<std::size_t>(service_of_[index(replica)]);
  State& state = states_[service];
  // At its end a service answers the requests that are left.
  if (now >= plans_[service].end) return;
  serve(service, now);
  state.speeds[place_[index(replica)]] = speed;
  if (state.exact) state.exact->set_speed(place_[index(replica)], speed);
}

double ServiceRun::busy(JobId replica, double speed) const {
  const auto service = static_cast<std::size_t>(service_of_[index(replica)]);
  const State& state = states_[service];
  const ServicePlan& plan = plans_[service];
  const int largest = plan.queue.batching.largest;
  if (largest > 1 && state.view.intervals > 0 && state.view.replicas > 0) return state.view.busy;
  const double per_s =
      expected(plan, state.now, state.now + options_.interval) / to_seconds(options_.interval);
  speed += sum_of(state.speeds) - state.speeds[place_[index(replica)]];
  // A batch has the requests that arrived while the one before it was served, one at least.
  double batch = 1;
  constexpr int kRounds = 20;
  for (int i = 0; i < kRounds && largest > 1; ++i) {
    const double during = per_s * plan.queue.times.mean_s(static_cast<int>(batch)) / speed;
    batch = std::clamp(during, 1.0, static_cast<double>(largest));
  }
  return std::min(1.0, per_s * plan.queue.times.mean_s(static_cast<int>(batch)) / (batch * speed));
}

ReplicaWork ServiceRun::work(JobId replica, Time now) const {
  const auto service = static_cast<std::size_t>(service_of_[index(replica)]);
  const State& state = states_[service];
  const std::size_t r = place_[index(replica)];
  return grown(state.work[r], state.speeds[r], std::min(now, plans_[service].end) - state.now);
}

void ServiceRun::running(std::vector<JobId>& out) const {
  for (std::size_t s = 0; s < states_.size(); ++s) {
    for (std::size_t r = 0; r < states_[s].replicas.size(); ++r) {
      if (states_[s].speeds[r] > 0 && plans_[s].end > states_[s].now) {
        out.push_back(states_[s].replicas[r]);
      }
    }
  }
}

std::vector<ServiceOutcome> ServiceRun::take() {
  std::vector<ServiceOutcome> outcomes;
  for (std::size_t s = 0; s < states_.size(); ++s) {
    State& state = states_[s];
    close(s, plans_[s].end);
    ServiceOutcome& outcome = state.outcome;
    if (state.exact) {
      QueueResult rest;
      state.exact->advance(kNever, rest);
      const Duration goal = from_seconds(plans_[s].goal_s);
      outcome.within += static_cast<std::uint64_t>(std::llround(
          rest.latency.share_within(goal) * static_cast<double>(rest.latency.count())));
      outcome.result.latency.add(rest.latency);
      outcome.result.batches += rest.batches;
      outcome.requests = state.exact->arrived();
      outcome.methods[static_cast<std::size_t>(Method::kSimulated)] =
          outcome.result.latency.count();
    } else {
      outcome.methods = state.level->methods();
      outcome.requests = std::max(static_cast<std::uint64_t>(std::llround(state.open_before)),
                                  outcome.result.latency.count());
    }
    outcome.result.replicas = plans_[s].queue.replicas;
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace corun::inline services
