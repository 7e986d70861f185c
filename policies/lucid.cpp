#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "policies/placement.hpp"

/// lucid: indolent packing after Lucid (Hu et al., "Lucid: A Non-intrusive, Scalable and Interpretable
/// Scheduler for Deep Learning Training Jobs", ASPLOS 2023), by the rules of its simulator:
///
///   The queue is ordered by estimated run time x GPUs, ties by submit time, and no job blocks another. A job
///   whose gang fits a node first looks for co-runners: of the running jobs, in order of their start, the
///   first that
///     - is alone on its GPUs and has the same number of them, all of types on which the job may run,
///     - together with the job uses less memory than its GPUs have (strictly less),
///     - together with the job has packing labels of at most `label_sum` (Profile::packing_label: 0
///       tiny, 1 medium, 2 jumbo),
///     - has an estimate x GPUs of which the joining job's is at most `length_ratio` times. The whole
///       estimate counts, not the rest of it.
///   The job shares all of its GPUs, even if free ones exist. Else it gets GPUs of its own by the
///   consolidated placement (policies/placement.hpp), or waits. A job whose co-runner has left is alone again.
///
/// Departures from the paper: estimates come from `estimates.duration` and labels from the trace; there is
/// no profiling stage, no estimator and no load-dependent switch of the packing mode. An unknown memory
/// demand counts 0, and so does an unknown label; an experiment refuses jobs without labels where labels
/// decide (PolicyTraits::needs_labels). With cluster.max_jobs_per_gpu: 1 no job shares.
///
/// Cost: a job that suited no running job is compared only with jobs that have become alone since. Jobs that ask
/// for the same GPUs are a part of the queue: a part that found no free GPUs is tried again after a departure.
namespace corun::inline policies {

namespace {

struct LucidOptions {
  double length_ratio = 2;
  int label_sum = 2;
};

class Lucid final : public Policy {
 public:
  explicit Lucid(const LucidOptions& options) : options_(options) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    may_share_ = view.max_jobs_per_gpu(2) >= 2;
    for (; !new_parts_.empty(); new_parts_.pop_back()) {
      Part& part = part_of(new_parts_.back());
      part.widest_node = widest_node(view.cluster(), part.ask);
    }
    // Sharing concerns one gang size only, so it may precede the placement of other sizes.
    for (auto& [gang, size] : sizes_) {
      if (all_full(size, view)) share(view, size, out);
    }
    for (;;) {
      Size* size = nullptr;
      Offer next;
      for (auto& [gang, other] : sizes_) {
        if (all_full(other, view)) continue;
        const Offer offer = first_offer(other, view);
        if (!offer.precedes(next)) continue;
        next = offer;
        size = &other;
      }
      if (next.seeker == nullptr) return;
      Part& part = *next.part;
      if (!next.host) next.host = first_host(part, part.alone, *next.seeker);
      if (next.host) {
        start(view, next, out);
        continue;
      }
      const FreeGpus& free = view.state().empty();
      const std::vector<GpuId> gpus =
          part.ask.types == 0
              ? consolidated(view.state(), free, part.ask.gang)
              : consolidated(view.state(), of_types(view.state(), free, part.ask.types),
                             part.ask.gang);
      if (!gpus.empty()) {
        start_alone(view, part, *next.seeker, gpus, out);
        return;  // called again with an up-to-date view
      }
      part.full_at = view.departures();
      if (all_full(*size, view)) share(view, *size, out);
    }
  }

  void arrived(const JobView& job, Time) override {
    part_of(ask_of(job))
        .fresh.insert({static_cast<double>(job.estimate.value().count()) * job.gpus, job.submit,
                       next_position_++, job.id, job.profile.mem_used_mib.value_or(0),
                       job.profile.packing_label.value_or(0)});
  }

  void departed(JobId job, LogKind, Time) override {
    const auto at = running_.find(job);
    if (at == running_.end()) return;
    const Host& host = at->second;
    if (host.co_runner == kNoJob) {
      not_alone(host);
    } else {
      Host& co_runner = running_.at(host.co_runner);
      co_runner.co_runner = kNoJob;
      alone(host.co_runner, co_runner);
    }
    running_.erase(at);
  }

 private:
  /// A job that seeks co-runners, in the order of the queue.
  struct Seeker {
    double length = 0;  ///< estimate x GPUs [ns]
    Time submit{0};
    std::uint64_t position = 0;
    JobId job = kNoJob;
    double memory_mib = 0;
    int label = 0;
    friend bool operator<(const Seeker& a, const Seeker& b) {
      return std::tie(a.length, a.submit, a.position) < std::tie(b.length, b.submit, b.position);
    }
  };
  /// A running job.
  struct Host {
    std::uint64_t number = 0;  ///< of its start
    double length = 0;
    double memory_mib = 0;
    double room_mib = 0;      ///< of the smallest of its GPUs
    std::uint32_t types = 0;  ///< of its GPUs, bits GpuType::id
    int label = 0;
    JobId co_runner = kNoJob;
    std::vector<GpuId> gpus;
  };
  using Hosts = std::map<std::uint64_t, JobId>;  ///< by number of the start
  /// The jobs that ask for the same GPUs.
  struct Part {
    GpuAsk ask;
    int widest_node = 0;     ///< GPUs of the largest node for its jobs
    std::set<Seeker> fresh;  ///< waiting, not yet compared with any running job
    std::set<Seeker>
        refused;  ///< waiting, found no co-runners among those alone but not `newly_alone`
    Hosts alone;  ///< of the same gang size, on GPUs that the part's jobs may use
    Hosts newly_alone;
    std::size_t full_at =
        std::numeric_limits<std::size_t>::max();  ///< departures when none was free
  };

  /// The parts of one gang size. Only one if no job names types.
  using Size = std::vector<Part>;
  /// The first job of a part that may start: on GPUs of its own or, if the part is full, beside `host`.
  struct Offer {
    Part* part = nullptr;
    const Seeker* seeker = nullptr;  ///< of the part; nullptr: no job may start
    std::optional<JobId> host = {};

    bool precedes(const Offer& other) const {
      return seeker != nullptr && (other.seeker == nullptr || *seeker < *other.seeker);
    }
  };

  static bool full(const Part& part, const ClusterView& view) {
    return part.full_at == view.departures();
  }
  static bool all_full(const Size& size, const ClusterView& view) {
    return std::ranges::all_of(size, [&](const Part& part) { return full(part, view); });
  }
  static bool may_use(const Part& part, const Host& host) {
    return part.ask.types == 0 || (host.types & ~part.ask.types) == 0;
  }

  static int widest_node(const ClusterSpec& cluster, const GpuAsk& ask) {
    int most = 0;
    for (const NodeSpec& node : cluster.nodes) {
      if (ask.allows(node.gpu)) most = std::max(most, node.gpus);
    }
    return most;
  }

  Part& part_of(const GpuAsk& ask) {
    Size& size = sizes_[ask.gang];
    const auto at = std::ranges::find(size, ask, &Part::ask);
    if (at != size.end()) return *at;
    new_parts_.push_back(ask);
    Part& part = size.emplace_back();
    part.ask = ask;
    for (const auto& [job, host] : running_) {
      const bool as_many = host.gpus.size() == static_cast<std::size_t>(ask.gang);
      if (as_many && host.co_runner == kNoJob && may_use(part, host)) {
        part.alone.emplace(host.number, job);
      }
    }
    return part;
  }

  void alone(JobId job, const Host& host) {
    for (Part& part : sizes_.at(static_cast<int>(host.gpus.size()))) {
      if (!may_use(part, host)) continue;
      part.alone.emplace(host.number, job);
      part.newly_alone.emplace(host.number, job);
    }
  }
  void not_alone(const Host& host) {
    for (Part& part : sizes_.at(static_cast<int>(host.gpus.size()))) {
      part.alone.erase(host.number);
      part.newly_alone.erase(host.number);
    }
  }

  static const Seeker* first_of(const Part& part) {
    if (part.fresh.empty()) return part.refused.empty() ? nullptr : &*part.refused.begin();
    if (part.refused.empty()) return &*part.fresh.begin();
    return std::min(&*part.fresh.begin(), &*part.refused.begin(),
                    [](const Seeker* a, const Seeker* b) { return *a < *b; });
  }

  bool suits(const Seeker& seeker, const Host& host) const {
    return seeker.length <= options_.length_ratio * host.length &&
           seeker.label + host.label <= options_.label_sum &&
           seeker.memory_mib + host.memory_mib < host.room_mib;
  }

  /// The first of `hosts`, in order of their start, that suits.
  std::optional<JobId> first_host(const Part& part, const Hosts& hosts,
                                  const Seeker& seeker) const {
    if (!may_share_ || part.ask.gang > part.widest_node) return std::nullopt;
    for (const auto& [number, job] : hosts) {
      if (suits(seeker, running_.at(job))) return job;
    }
    return std::nullopt;
  }

  /// The first job of a full part that finds a co-runner.
  Offer first_sharer(Part& part) const {
    if (!part.fresh.empty() || !part.newly_alone.empty()) {
      std::optional<JobId> host;
      const Seeker* seeker = nullptr;
      double longest = 0;
      for (const auto& [number, job] : part.newly_alone) {
        longest = std::max(longest, options_.length_ratio * running_.at(job).length);
      }
      for (const Seeker& s : part.refused) {
        if (part.newly_alone.empty() || s.length > longest) break;
        host = first_host(part, part.newly_alone, s);
        seeker = &s;
        if (host) break;
      }
      while (!part.fresh.empty() && (!host || *part.fresh.begin() < *seeker)) {
        const Seeker& s = *part.fresh.begin();
        if (const auto other = first_host(part, part.alone, s)) {
          host = other;
          seeker = &s;
          break;
        }
        part.refused.insert(part.fresh.extract(part.fresh.begin()));
      }
      if (host) return {&part, seeker, host};
    }
    part.newly_alone.clear();
    return {};
  }

  /// The first job of a gang size that may start.
  Offer first_offer(Size& size, const ClusterView& view) const {
    Offer first;
    for (Part& part : size) {
      const Offer offer = full(part, view) ? first_sharer(part) : Offer{&part, first_of(part)};
      if (offer.precedes(first)) first = offer;
    }
    return first;
  }

  /// Starts all jobs of a gang size without free GPUs that find co-runners.
  void share(const ClusterView& view, Size& size, std::vector<Decision>& out) {
    for (;;) {
      const Offer offer = first_offer(size, view);
      if (offer.seeker == nullptr) return;
      start(view, offer, out);
    }
  }

  void start(const ClusterView& view, const Offer& offer, std::vector<Decision>& out) {
    Host& host = running_.at(*offer.host);
    not_alone(host);
    host.co_runner = offer.seeker->job;
    const std::vector<GpuId> gpus = host.gpus;
    commit(view, *offer.part, *offer.seeker, gpus, *offer.host, out);
  }

  void start_alone(const ClusterView& view, Part& part, const Seeker& seeker,
                   const std::vector<GpuId>& gpus, std::vector<Decision>& out) {
    const JobId job = commit(view, part, seeker, gpus, kNoJob, out);
    alone(job, running_.at(job));
  }

  /// Returns the job; `seeker`, of the part, is gone.
  JobId commit(const ClusterView& view, Part& part, const Seeker& seeker,
               const std::vector<GpuId>& gpus, JobId co_runner, std::vector<Decision>& out) {
    double room = std::numeric_limits<double>::infinity();
    std::uint32_t types = 0;
    for (const GpuId g : gpus) {
      room = std::min(room, view.gpu_type(g).memory_mib);
      types |= std::uint32_t{1} << view.gpu_type(g).id;
    }
    running_[seeker.job] = {next_number_++, seeker.length, seeker.memory_mib, room,
                            types,          seeker.label,  co_runner,         gpus};
    out.push_back(StartGroup{{seeker.job}, gpus});
    const JobId job = seeker.job;
    const auto at = part.fresh.find(seeker);
    if (at != part.fresh.end()) {
      part.fresh.erase(at);
    } else {
      part.refused.erase(part.refused.find(seeker));
    }
    return job;
  }

  LucidOptions options_;
  bool may_share_ = true;
  std::map<int, Size> sizes_;      ///< by gang size
  std::vector<GpuAsk> new_parts_;  ///< whose widest node is not yet looked up
  std::unordered_map<JobId, Host> running_;
  std::uint64_t next_position_ = 0;
  std::uint64_t next_number_ = 0;
};

const ParametersOf<LucidOptions>& lucid_parameters() {
  static const auto all =
      ParametersOf<LucidOptions>()
          .number("length_ratio", &LucidOptions::length_ratio,
                  {0, 1e6,
                   "a job joins a job if its estimate x GPUs is at most this multiple of the "
                   "other's"})
          .only_where([](const ParameterContext& c) {
            return c.parameters.integer("label_sum") == -1 ? "label_sum is -1" : jobs_share(c);
          })
          .number("label_sum", &LucidOptions::label_sum,
                  {-1, 4,
                   "packing labels of two that share add up to this at most; -1: no job shares; 4: "
                   "no label matters"});
  return all;
}

std::unique_ptr<Policy> make_lucid(PolicyContext context) {
  return std::make_unique<Lucid>(lucid_parameters().read(context.parameters));
}

constexpr PolicyTraits kLucidTraits{.always_colocates = true,
                                    .consolidates = true,
                                    .needs_estimates = true,
                                    .reads_memory = true,
                                    .needs_labels = true};

/// Any two labels add up to 0 to 4: below 0 no job shares, from 4 on every label suits.
PolicyTraits lucid_traits(const Parameters& parameters) {
  constexpr int kLargestSum = 4;
  PolicyTraits traits = kLucidTraits;
  const int sum = lucid_parameters().read(parameters).label_sum;
  traits.needs_labels = sum >= 0 && sum < kLargestSum;
  return traits;
}

}  // namespace

PolicyEntry lucid_entry() {
  return {.name = "lucid",
          .description =
              "indolent packing: a job first joins a running one that bears it, else it "
              "gets GPUs of its own (Lucid, ASPLOS 2023)",
          .needs = PolicyNeeds::kNothing,
          .parameters = lucid_parameters().specs(),
          .make = make_lucid,
          .traits = kLucidTraits,
          .traits_with = lucid_traits};
}

}  // namespace corun::inline policies
