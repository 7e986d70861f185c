#include "policies/queue_policy.hpp"

#include <algorithm>
#include <array>
#include <utility>

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
       "where it fits, else the lowest-numbered free GPUs; fastest: as anywhere, on the free GPU "
       "type where estimates say that the job is fastest",
       ParameterKind::kChoice,
       std::string("consolidated"),
       0,
       0,
       {"consolidated", "anywhere", "fastest"}},
  }};
  return specs;
}

QueueOptions queue_options(const Parameters& parameters) {
  const std::string placement(parameters.choice("placement"));
  return {parameters.choice("blocking") == "strict" ? Blocking::kStrict : Blocking::kBackfill,
          placement == "consolidated" ? Placing::kConsolidated
          : placement == "fastest"    ? Placing::kFastest
                                      : Placing::kAnywhere};
}

PolicyTraits queue_traits(const Parameters& parameters, PolicyTraits others) {
  others.shares = false;
  others.heeds_gpu_models = true;
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
    std::vector<GpuId> gpus = place(view, view.state().empty(), entry.job);
    if (!gpus.empty()) {
      starting(view, entry, gpus);
      out.push_back(StartGroup{{entry.job}, std::move(gpus)});
    } else if (!make_room(view, entry, out)) {
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
  part_of(job.gpus, job.gpu_models).queue.insert(entry);
}

void QueuePolicy::move(const QueueEntry& from, const QueueEntry& to, int gang,
                       std::uint32_t gpu_models) {
  std::set<QueueEntry>& queue = part_of(gang, gpu_models).queue;
  queue.erase(from);
  queue.insert(to);
}

QueuePolicy::Part& QueuePolicy::part_of(int gang, std::uint32_t gpu_models) {
  const std::pair key(gang, gpu_models);
  const auto key_of = [](const Part& part) { return std::pair(part.gang, part.gpu_models); };
  auto at = std::ranges::lower_bound(parts_, key, {}, key_of);
  if (at == parts_.end() || key_of(*at) != key) {
    at = parts_.emplace(at);
    at->gang = gang;
    at->gpu_models = gpu_models;
  }
  return *at;
}

std::vector<GpuId> QueuePolicy::place(const ClusterView& view, const FreeGpus& free,
                                      JobId id) const {
  const JobView& job = view.job(id);
  const auto on = [&](const FreeGpus& gpus) {
    switch (options_.placing) {
      case Placing::kConsolidated:
        return consolidated(view.state(), gpus, job.gpus);
      case Placing::kFastest:
        return fastest(view.state(), gpus, job);
      case Placing::kAnywhere:
        break;
    }
    return anywhere(view.state(), gpus, job.gpus);
  };
  return job.gpu_models == 0 ? on(free) : on(usable(view.state(), free, job));
}

}  // namespace corun
