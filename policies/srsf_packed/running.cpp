#include "policies/srsf_packed/running.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace corun::inline policies::srsf {

void Running::begin(const ClusterView& view) {
  if (ledger_) return;
  on_.resize(view.gpus().size());
  ledger_.emplace(view);
  smallest_node_ = std::ranges::min(view.cluster().nodes, {}, &NodeSpec::gpus).gpus;
  for (const NodeSpec& node : view.cluster().nodes) {
    types_.insert(types_.end(), static_cast<std::size_t>(node.gpus), node.gpu.id);
    type_of_.emplace(node.gpu.id, &node.gpu);
  }
  most_parts_ = static_cast<std::size_t>(view.max_jobs_per_gpu(kWhole));
  most_per_gpu_ = std::min(most_parts_, kMostSharing);
}

Running::Progress Running::progress(const Run& run) const {
  const double done = run.speed * to_seconds(jobs_.now() - run.since);
  const double paid = std::min(done, run.debt_s * run.alone);
  return {run.had_s + done - paid, run.debt_s - paid / run.alone};
}

void Running::advance(Run& run) const {
  const Progress now = progress(run);
  run.had_s = now.had_s;
  run.debt_s = now.debt_s;
  run.since = jobs_.now();
}

double Running::rest_s(JobId id, const Run& run) const {
  if (run.rest.at != jobs_.now() || run.rest.finished != jobs_.finished()) {
    const Progress then = progress(run);
    const Job& j = jobs_.at(id);
    run.rest = {jobs_.service().expected(j.estimate_s, j.had_s + then.had_s) + then.debt_s,
                jobs_.now(), jobs_.finished()};
  }
  return run.rest.rest_s;
}

PairSpeeds Running::speeds(JobId a, JobId b) {
  const auto [at, is_new] = speeds_.try_emplace(std::uint64_t{index(a)} << 32U | index(b));
  if (is_new) at->second = ask(a, b);
  return at->second;
}

PairSpeeds Running::ask(JobId a, JobId b) const {
  PairSpeeds s = belief_.pair_speeds(a, b);
  if (options_.risk > 0 && s.a > 0 && s.b > 0) {
    const PairBelief p = belief_.pair(a, b);
    s = {1 / (1 + std::max(p.isd_a + options_.risk * p.sd_a, 0.0)),
         1 / (1 + std::max(p.isd_b + options_.risk * p.sd_b, 0.0))};
  }
  return {std::min(s.a, 1.0), std::min(s.b, 1.0)};
}

double Running::fastest(const Job& j) const {
  double most = 0;
  for (const auto& [id, type] : type_of_) most = std::max(most, alone_on(j, id));
  return most;
}

double Running::speed_without(JobId gone, JobId id, const Run& run) {
  double speed = run.alone;
  if (jobs_.at(id).is_part()) return speed;
  for (const GpuId g : run.gpus) {
    for (const JobId other : on_[index(g)]) {
      if (other == id || other == gone) continue;
      speed = std::min(speed, run.alone * std::max(speeds(id, other).a, kLeastSpeed));
    }
  }
  return speed;
}

void Running::set_alone(JobId id, double speed) {
  Run& run = runs_.at(id);
  advance(run);
  run.alone = std::max(speed, kLeastSpeed);
  run.speed = speed_without(kNoJob, id, run);
}

void Running::new_speed(JobId id) {
  Run& run = runs_.at(id);
  advance(run);
  run.speed = speed_without(kNoJob, id, run);
}

void Running::new_speeds_beside(JobId id, const std::vector<GpuId>& gpus) {
  std::set<JobId> others;
  for (const GpuId g : gpus) others.insert(on_[index(g)].begin(), on_[index(g)].end());
  others.erase(id);
  for (const JobId other : others) new_speed(other);
}

void Running::vacate(JobId id, LogKind how) {
  Run run = std::move(runs_.at(id));
  runs_.erase(id);
  advance(run);
  Job& j = jobs_.at(id);
  if (how == LogKind::kPreempt) {
    j.debt_s = loss_.seconds;
    run.had_s *= 1 - loss_.work;
  }
  if (how != LogKind::kOom) j.had_s += run.had_s;
  for (const GpuId g : run.gpus) std::erase(on_[index(g)], id);
  ledger_->book(j.kind, run.gpus, -1);
  new_speeds_beside(id, run.gpus);
}

Reason Running::start(JobId id, const std::vector<GpuId>& gpus) {
  Job& j = jobs_.at(id);
  struct Host {
    JobId id{};
    double end_s = 0;
    double speed = 0;
  };
  std::vector<Host> hosts;
  begin_scan();
  if (!j.is_part()) {
    for (const GpuId g : gpus) {
      for (const JobId other : on_[index(g)]) {
        const Run& host = runs_.at(other);
        if (is_new(host)) hosts.push_back({other, end_s(other, host), host.speed});
      }
    }
  }
  Run& run = runs_[id];
  run.number = next_number_++;
  run.start = run.since = jobs_.now();
  run.debt_s = j.debt_s + j.start_cost_s;
  run.gpus = gpus;
  if (j.sized) run.alone = kNever_s;
  for (const GpuId g : gpus) {
    run.alone = std::min(run.alone, alone_on(j, types_[index(g)]));
    on_[index(g)].push_back(id);
  }
  ledger_->book(j.kind, gpus, 1);
  new_speed(id);
  new_speeds_beside(id, gpus);
  Reason reason{.why = Why::kAlone, .beside = kNoJob, .speed = run.speed, .delay_s = 0};
  const double rest = rest_s(id, run);
  *reason.delay_s = rest / run.speed - rest;
  double worst = kNever_s;
  for (const Host& host : hosts) {
    const double left = runs_.at(host.id).speed / host.speed;
    *reason.delay_s += std::min(rest / run.speed, host.end_s / left) * (1 - left);
    const double beside = speeds(id, host.id).a;
    if (beside < worst) {
      worst = beside;
      reason.beside = host.id;
    }
  }
  return reason;
}

bool Running::has_room(const GpuType& type, const Job& j, std::size_t jobs, int parts_milli,
                       int wholes, double used_mib) const {
  if (jobs == 0) return true;
  if (used_mib + jobs_.demand_mib(j, type) > type.memory_mib || j.alone_only) return false;
  if (wholes == 0)
    return j.is_part() && jobs < most_parts_ && parts_milli + j.pod.gpu_milli <= kWhole;
  return !j.is_part() && parts_milli == 0 && jobs < most_per_gpu_;
}

}  // namespace corun::inline policies::srsf
