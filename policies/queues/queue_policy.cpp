#include "policies/queues/queue_policy.hpp"

#include <algorithm>

namespace corun::inline policies {

std::string placement_matters(const ParameterContext& c) {
  const bool by_type = c.parameters.choice(c.spec.name) == "fastest" && c.gpu_types > 1;
  std::string reason = some_jobs_are_gangs(c);
  if (!by_type || reason.empty()) return reason;
  return c.estimates_run_times ? ""
                               : "estimates.duration is none, so no type is known to be faster";
}

const ParametersOf<QueueOptions>& queue_parameters() {
  static const auto all = with_placing(
      ParametersOf<QueueOptions>()
          .choice("blocking", &QueueOptions::blocking,
                  {{"strict", Blocking::kStrict}, {"backfill", Blocking::kBackfill}},
                  "strict: the first job without room holds up all behind it; backfill: others may "
                  "pass it")
          .only_where(jobs_are_of_several_sizes));
  return all;
}

PolicyTraits placing_traits(Placing placing, PolicyTraits others) {
  others.shares = false;
  others.reads_speeds_on_types = placing == Placing::kFastest;
  others.reads_switches = placing == Placing::kYarn;
  others.consolidates = placing == Placing::kConsolidated || placing == Placing::kYarn;
  return others;
}

PolicyTraits queue_traits(const Parameters& parameters, PolicyTraits others) {
  return placing_traits(queue_parameters().read(parameters).placing, others);
}

void QueuePolicy::decide(const ClusterView& view, std::vector<Decision>& out) {
  const auto refused = [&](const Part& part) {
    return part.refused == part.queue.begin()->job && part.departures == view.departures() &&
           part.changes == changes_;
  };
  for (;;) {
    Part* first = nullptr;
    for (Part& part : parts_) {
      if (part.queue.empty()) continue;
      if (options_.blocking == Blocking::kBackfill && refused(part)) continue;
      if (first == nullptr || *part.queue.begin() < *first->queue.begin()) first = &part;
    }
    if (first == nullptr || refused(*first)) return;
    Part& part = *first;
    const QueueEntry entry = *part.queue.begin();
    const GpuAsk ask = part.ask;
    const FreeGpus& free = view.state().empty();
    std::vector<GpuId> gpus = ask.types == 0
                                  ? place(view, free, entry)
                                  : place(view, of_types(view.state(), free, ask.types), entry);
    if (!gpus.empty()) {
      starting(view, entry, gpus);
      out.push_back(StartGroup{{entry.job}, std::move(gpus)});
    } else if (!make_room(view, entry, ask, out)) {
      part.refused = entry.job;
      part.departures = view.departures();
      part.changes = changes_;
      continue;
    }
    part.queue.erase(part.queue.begin());
    return;  // called again with an up-to-date view
  }
}

void QueuePolicy::arrived(const JobView& job, Time now) {
  QueueEntry entry{rank(job), job.submit, next_position_++, job.id};
  enter(job, now, entry);
  part_of(ask_of(job)).queue.insert(entry);
}

void QueuePolicy::move(const QueueEntry& from, const QueueEntry& to, const GpuAsk& ask) {
  std::set<QueueEntry>& queue = part_of(ask).queue;
  queue.erase(from);
  queue.insert(to);
}

QueuePolicy::Part& QueuePolicy::part_of(const GpuAsk& ask) {
  auto at = std::ranges::lower_bound(parts_, ask, {}, &Part::ask);
  if (at == parts_.end() || at->ask != ask) {
    at = parts_.emplace(at);
    at->ask = ask;
  }
  return *at;
}

std::vector<GpuId> place_by(Placing placing, const ClusterState& state, const FreeGpus& free,
                            const JobView& job) {
  switch (placing) {
    case Placing::kConsolidated:
      return consolidated(state, free, job.gpus);
    case Placing::kFastest:
      return fastest(state, free, job);
    case Placing::kYarn:
      return yarn(state, free, job);
    case Placing::kFreest:
      return freest_nodes(state, free, job.gpus);
    case Placing::kAnywhere:
      break;
  }
  return anywhere(state, free, job.gpus);
}

}  // namespace corun::inline policies
