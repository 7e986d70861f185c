#include "policies/srsf_packed/preemption.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "policies/srsf_packed/domains.hpp"

namespace corun::inline policies::srsf {

namespace {

constexpr double kLeastRest_s = 1e-3;

}  // namespace

void Preemption::begin() {
  most_rest_s_ = 0;
  for (const auto& [id, run] : running_.all()) {
    most_rest_s_ = std::max(most_rest_s_, running_.rest_s(id, run) / run.alone);
  }
}

double Preemption::delay_s(const Job& j) const {
  const double runs_s = kHysteresis * jobs_.rest_s(j) / running_.fastest(j);
  return runs_s <= most_rest_s_ ? runs_s + loss_.seconds : kNever_s;
}

bool Preemption::may_preempt(JobId id, const Run& run) const {
  return run.start != jobs_.now() && !jobs_.at(id).is_overdue;
}

double Preemption::cost_s(const Run& run) const {
  return loss_.seconds + loss_.work * (run.had_s + to_seconds(jobs_.now() - run.since));
}

/// Completions per second that the preemption of a job loses; more if it costs much.
double Preemption::loss_of(JobId id, const Run& run) const {
  return kHysteresis * run.alone / std::max(running_.rest_s(id, run) - cost_s(run), kLeastRest_s);
}

/// As room_on() for a job that takes no part in sharing by belief, or where parts run: without the residents
/// that lose least, as many as need be. A part never shares with a whole job.
Preemption::Option Preemption::room_among_parts(const ClusterView& view, GpuId g,
                                                const Job& j) const {
  Option option{0, g, {}, 0};
  const GpuType& type = view.gpu_type(g);
  std::vector<std::tuple<double, std::uint64_t, JobId>> sorted;  // by loss, ties by start
  double used = 0;
  int parts = 0;
  int wholes = 0;
  bool closed = false;  // by a job that must be alone
  for (const JobId id : running_.on(g)) {
    const Job& other = jobs_.at(id);
    const Run& run = running_.at(id);
    sorted.emplace_back(loss_of(id, run), run.number, id);
    used += jobs_.demand_mib(other, type);
    parts += other.is_part() ? other.pod.gpu_milli : 0;
    wholes += other.is_part() ? 0 : 1;
    closed |= other.alone_only;
  }
  std::ranges::sort(sorted);
  std::size_t left = sorted.size();
  for (const auto& [loss, number, id] : sorted) {
    if (!closed && running_.has_room(type, j, left, parts, wholes, used)) break;
    const Run& run = running_.at(id);
    if (!may_preempt(id, run)) return {};
    const Job& other = jobs_.at(id);
    option.loss += loss;
    if (option.victims.empty()) option.number = number;
    option.victims.push_back(id);
    --left;
    used -= jobs_.demand_mib(other, type);
    parts -= other.is_part() ? other.pod.gpu_milli : 0;
    wholes -= other.is_part() ? 0 : 1;
    closed = closed && left > 0;
  }
  return option;
}

/// The cheapest way to make room for the job on a GPU: without one of its residents, or none.
Preemption::Option Preemption::room_on(const ClusterView& view, GpuId g, const Job& j, JobId id) {
  Option best;
  const GpuType& type = view.gpu_type(g);
  const std::vector<JobId>& here = running_.on(g);
  const bool parts = std::ranges::any_of(here, [&](JobId o) { return jobs_.at(o).is_part(); });
  if (j.is_part() || parts) return room_among_parts(view, g, j);
  for (std::size_t v = 0; v <= here.size(); ++v) {
    Option option{0, g, {}, 0};
    double used = jobs_.demand_mib(j, type);
    std::size_t stay = 0;
    bool suits = true;
    for (std::size_t i = 0; i < here.size() && suits; ++i) {
      if (i == v) continue;
      ++stay;
      const Job& host = jobs_.at(here[i]);
      used += jobs_.demand_mib(host, type);
      const PairSpeeds pair = running_.speeds(id, here[i]);
      suits = !j.alone_only && !host.alone_only && pair.a > 0 && pair.b > 0 &&
              jobs_.pays(j, pair.a, (1 - pair.b) * host.gang);
    }
    if (!suits || stay >= running_.most_per_gpu() || used > type.memory_mib) continue;
    if (v < here.size()) {
      const Run& run = running_.at(here[v]);
      if (!may_preempt(here[v], run)) continue;
      option.loss = loss_of(here[v], run);
      option.victims = {here[v]};
      option.number = run.number;
    }
    if (option.loss < best.loss) best = option;
  }
  return best;
}

std::optional<Preemption::Room> Preemption::find(const ClusterView& view, const Entry& entry,
                                                 const JobView& job, bool pods) {
  const Job& j = jobs_.at(entry.job);
  const double rest = jobs_.rest_s(j);
  if (kHysteresis * rest > most_rest_s_ * running_.fastest(j)) return std::nullopt;
  const auto gang = static_cast<std::size_t>(j.gang);
  double most = 0;  // completions per second
  std::vector<GpuId> gpus;
  std::vector<JobId> victims;
  std::vector<Option> options;
  each_domain(view, job, gpus_, [&] {
    options.clear();
    for (const GpuId g : gpus_) {
      if (!may_run_on(job, view.gpu_type(g)) || view.gpu(g).profiling) continue;
      if (rest > reservations_.free_by_s(g)) continue;
      const Option option = room_on(view, g, j, entry.job);
      if (option.loss < kNever_s) options.push_back(option);
    }
    if (options.size() < gang) return;
    std::ranges::stable_sort(options, [](const Option& a, const Option& b) {
      return std::tie(a.loss, a.number) < std::tie(b.loss, b.number);
    });
    double loss = 0;
    double speed = kNever_s;
    std::vector<JobId> marked;
    running_.begin_scan();
    for (std::size_t i = 0; i < gang; ++i) {
      speed = std::min(speed, alone_on(j, view.gpu_type(options[i].gpu).id));
      for (const JobId victim : options[i].victims) {
        const Run& run = running_.at(victim);
        if (!running_.is_new(run)) continue;
        marked.push_back(victim);
        loss += loss_of(victim, run);
      }
    }
    if (marked.empty()) return;  // it would wait for less: see Reservations::wait_s()
    if (pods && !is_wide(view, job) && !node_suffices(j, marked)) return;
    const double gain = speed / rest - loss;
    if (gain < 0 || (!gpus.empty() && gain <= most)) return;
    most = gain;
    victims = marked;
    gpus.clear();
    for (std::size_t i = 0; i < gang; ++i) gpus.push_back(options[i].gpu);
  });
  if (gpus.empty()) return std::nullopt;
  std::ranges::sort(gpus);
  return Room{std::move(gpus), std::move(victims)};
}

/// Whether the node of the present domain has the job's CPU and memory without these jobs.
bool Preemption::node_suffices(const Job& j, const std::vector<JobId>& without) const {
  ResourceRequest left = running_.node_of(gpus_).left;
  for (const JobId id : without) {
    left.cpu_milli += jobs_.at(id).pod.request.cpu_milli;
    left.memory_mib += jobs_.at(id).pod.request.memory_mib;
  }
  return can_meet(left, j.pod.request);
}

}  // namespace corun::inline policies::srsf
