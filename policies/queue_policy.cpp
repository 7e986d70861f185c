#include "policies/queue_policy.hpp"

#include <algorithm>
#include <array>

#include "policies/placement.hpp"

namespace corun {

std::span<const ParameterSpec> queue_parameters() {
  static const std::array<ParameterSpec, 2> specs{{
      {"blocking",
       "strict: the first job without room holds up all behind it; backfill: others may pass it",
       ParameterKind::kChoice,
       std::string("strict"),
       0,
       0,
       {"strict", "backfill"}},
      {"placement",
       "consolidated: a gang on as few nodes as can be, or it waits (Lucid); anywhere: one node "
       "where "
       "it fits, else the lowest-numbered free GPUs",
       ParameterKind::kChoice,
       std::string("consolidated"),
       0,
       0,
       {"consolidated", "anywhere"}},
  }};
  return specs;
}

QueueOptions queue_options(const Parameters& parameters) {
  return {parameters.choice("blocking") == "strict" ? Blocking::kStrict : Blocking::kBackfill,
          parameters.choice("placement") == "consolidated" ? Placing::kConsolidated
                                                           : Placing::kAnywhere};
}

PolicyTraits queue_traits(const Parameters& parameters, PolicyTraits others) {
  others.shares = false;
  others.consolidates = queue_options(parameters).placing == Placing::kConsolidated;
  return others;
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
    std::vector<GpuId> gpus = place(view, view.state().empty(), part.gang);
    if (!gpus.empty()) {
      starting(view, entry, gpus);
      out.push_back(StartGroup{{entry.job}, std::move(gpus)});
    } else if (!make_room(view, entry, part.gang, out)) {
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
  part_of(job.gpus).queue.insert(entry);
}

void QueuePolicy::move(const QueueEntry& from, const QueueEntry& to, int gang) {
  std::set<QueueEntry>& queue = part_of(gang).queue;
  queue.erase(from);
  queue.insert(to);
}

QueuePolicy::Part& QueuePolicy::part_of(int gang) {
  auto at = std::ranges::lower_bound(parts_, gang, {}, &Part::gang);
  if (at == parts_.end() || at->gang != gang) {
    at = parts_.emplace(at);
    at->gang = gang;
  }
  return *at;
}

std::vector<GpuId> QueuePolicy::place(const ClusterView& view, const FreeGpus& free,
                                      int gang) const {
  return options_.placing == Placing::kConsolidated ? consolidated(view.state(), free, gang)
                                                    : anywhere(view.state(), free, gang);
}

}  // namespace corun
