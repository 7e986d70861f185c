#include "policies/kube_default.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "policies/parameters_of.hpp"
#include "sim/rng.hpp"

namespace corun::inline policies {
namespace {

constexpr std::int64_t kMaxNodeScore = 100;
/// Count of a missing request in LeastAllocated (upstream's DefaultMilliCPURequest and
/// DefaultMemoryRequest).
constexpr ResourceRequest kMissingRequest{100, 200};
constexpr std::size_t kMinFeasibleNodes = 100;
constexpr int kDefaultPercentage = 50;
constexpr int kMinPercentage = 5;

ResourceRequest with_defaults(const ResourceRequest& request) {
  return {request.cpu_milli == 0 ? kMissingRequest.cpu_milli : request.cpu_milli,
          request.memory_mib == 0 ? kMissingRequest.memory_mib : request.memory_mib};
}

ResourceRequest operator+(const ResourceRequest& a, const ResourceRequest& b) {
  return {a.cpu_milli + b.cpu_milli, a.memory_mib + b.memory_mib};
}

std::vector<Duration> backoff_table(Duration initial, Duration max) {
  std::vector<Duration> table{initial};
  while (table.back() < max && table.back() > Duration::zero()) {
    table.push_back(table.back() > max - table.back() ? max : 2 * table.back());
  }
  return table;
}

const ParametersOf<KubeOptions>& kube_default_parameters() {
  static const auto all =
      ParametersOf<KubeOptions>()
          .number("replicas", &KubeOptions::replicas,
                  {1, 1e6, "time-slicing replicas that the device plugin advertises per GPU"})
          .number("percentage_of_nodes_to_score", &KubeOptions::percentage_of_nodes_to_score,
                  {0, 100,
                   "stop the search when this share of the nodes was found feasible [%]; 0: "
                   "adaptive"})
          .only_where([](const ParameterContext& c) {
            const auto share = static_cast<int>(*c.parameters.integer(c.spec.name));
            const bool scored = kube_nodes_to_find(c.nodes, share) == c.nodes &&
                                kube_nodes_to_find(c.nodes, 0) == c.nodes;
            return scored ? "all of " + std::to_string(c.nodes) + " nodes are scored anyway" : "";
          })
          .number("backoff_initial_s", &KubeOptions::backoff_initial,
                  {0, 1e6, "back-off after a pod's first failed attempt [s]"})
          .number("backoff_max_s", &KubeOptions::backoff_max,
                  {0, 1e6, "longest back-off [s]; backoff_initial_s where that is larger"});
  return all;
}

std::unique_ptr<Policy> make_kube_default(PolicyContext context) {
  KubeOptions options = kube_default_parameters().read(context.parameters);
  options.backoff_max = std::max(options.backoff_initial, options.backoff_max);
  return std::make_unique<KubeDefault>(options, context.seed);
}

}  // namespace

std::int64_t kube_least_allocated(const ResourceRequest& requested, const NodeSpec& node) {
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  const auto add = [&](std::int64_t asked, std::int64_t capacity) {
    if (capacity == 0) return;
    ++weights;
    if (asked <= capacity) sum += (capacity - asked) * kMaxNodeScore / capacity;
  };
  add(requested.cpu_milli, node.cpu_milli);
  add(requested.memory_mib, node.memory_mib);
  return weights == 0 ? 0 : sum / weights;
}

std::int64_t kube_balanced_allocation(const ResourceRequest& requested, const NodeSpec& node) {
  double deviation = 0;  // 0 for one fraction or none
  if (node.cpu_milli != 0 && node.memory_mib != 0) {
    const auto fraction = [](std::int64_t asked, std::int64_t capacity) {
      return std::min(static_cast<double>(asked) / static_cast<double>(capacity), 1.0);
    };
    deviation = std::abs((fraction(requested.cpu_milli, node.cpu_milli) -
                          fraction(requested.memory_mib, node.memory_mib)) /
                         2);
  }
  return static_cast<std::int64_t>((1 - deviation) * static_cast<double>(kMaxNodeScore));
}

std::size_t kube_nodes_to_find(std::size_t nodes, int percentage) {
  if (nodes < kMinFeasibleNodes || percentage >= 100) return nodes;
  if (percentage == 0) {
    percentage = std::max(kDefaultPercentage - static_cast<int>(nodes / 125), kMinPercentage);
  }
  return std::max(nodes * static_cast<std::size_t>(percentage) / 100, kMinFeasibleNodes);
}

KubeDefault::KubeDefault(const KubeOptions& options, std::uint64_t seed)
    : options_(options),
      seed_(seed),
      backoffs_(backoff_table(options.backoff_initial, options.backoff_max)) {}

void KubeDefault::decide(const ClusterView& view, std::vector<Decision>& out) {
  const Time now = view.now();
  replicas_ = std::min(options_.replicas, view.max_jobs_per_gpu(options_.replicas));
  if (view.departures() != departures_) {
    departures_ = view.departures();
    move_unschedulable(now);
  }
  release_backed_off(now);

  bool looked = false;  // the nodes are read only when there is a pod to place
  while (!active_.empty()) {
    Cohort cohort = active_.top();
    active_.pop();
    Kind& kind = kinds_[cohort.kind];
    // Within a pass and between departures room only shrinks: this kind need not be tried again.
    if (kind.full_at == departures_) {
      fail(cohort, now);
      continue;
    }
    if (!looked) look_at_nodes(view);
    looked = true;
    const auto chosen = choose_node(view, kind);
    if (!chosen) {
      kind.full_at = departures_;
      fail(cohort, now);
      continue;
    }
    out.emplace_back(StartGroup{{cohort.first}, take_devices(nodes_[*chosen], kind)});
    const Pod& pod = pods_[index(cohort.first)];
    cohort.first = meld(pod.left, pod.right);
    if (cohort.first == kNoJob) continue;
    cohort.position = pods_[index(cohort.first)].position;
    active_.push(cohort);
  }

  // An earlier wake-up leads to another call, which can ask for this one.
  if (!backoff_.empty() && backoff_.top().release < view.next_wake()) {
    out.emplace_back(WakeAt{backoff_.top().release});
  }
}

void KubeDefault::arrived(const JobView& job, Time now) {
  if (pods_.size() <= index(job.id)) pods_.resize(index(job.id) + 1);
  pods_[index(job.id)] = Pod{next_position_, kNoJob, kNoJob, 1};
  active_.push({job.priority, now, kind_of(job), 0, job.id, next_position_});
  ++next_position_;
}

void KubeDefault::move_unschedulable(Time now) {
  for (const Cohort& cohort : unschedulable_) {
    const Time end = later(cohort.timestamp, backoffs_[cohort.attempts - 1]);
    if (end > now) {
      backoff_.push({round_up(end, options_.backoff_poll), cohort});
    } else {
      active_.push(cohort);
    }
  }
  unschedulable_.clear();
  failed_now_.clear();
}

void KubeDefault::release_backed_off(Time now) {
  while (!backoff_.empty() && backoff_.top().release <= now) {
    active_.push(backoff_.top().cohort);
    backoff_.pop();
  }
}

void KubeDefault::fail(Cohort cohort, Time now) {
  if (failed_at_ != now) {
    failed_at_ = now;
    failed_now_.clear();
  }
  cohort.attempts = std::min(cohort.attempts + 1, backoffs_.size());
  cohort.timestamp = now;
  const auto [same, is_new] = failed_now_.try_emplace(
      {cohort.kind, cohort.priority, cohort.attempts}, unschedulable_.size());
  if (is_new) {
    unschedulable_.push_back(cohort);
    return;
  }
  Cohort& other = unschedulable_[same->second];
  other.first = meld(other.first, cohort.first);
  other.position = pods_[index(other.first)].position;
}

void KubeDefault::look_at_nodes(const ClusterView& view) {
  const auto& gpus = view.gpus();
  if (nodes_.empty()) {
    nodes_.resize(view.cluster().nodes.size());
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      nodes_[index(gpus[g].node)].gpus.push_back(GpuId{static_cast<std::uint32_t>(g)});
    }
    residents_.resize(gpus.size());
  }
  for (Node& node : nodes_) {
    ++scan_;  // a gang is resident on several GPUs of its node, but is one pod
    node.free_gpus = 0;
    node.requested = {};
    node.scored = {};
    for (const GpuId g : node.gpus) {
      const GpuState& gpu = gpus[index(g)];
      // A profiled job takes no co-runners: its GPU counts as full.
      const int used = gpu.profiling ? replicas_ : static_cast<int>(gpu.residents.size());
      residents_[index(g)] = used;
      node.free_gpus += used < replicas_;
      for (const JobId job : gpu.residents) {
        if (counted_.size() <= index(job)) counted_.resize(index(job) + 1);
        if (std::exchange(counted_[index(job)], scan_) == scan_) continue;
        const ResourceRequest& request = view.job(job).request;
        node.requested = node.requested + request;
        node.scored = node.scored + with_defaults(request);
      }
    }
  }
}

/// Filter, sample, score, choose. Empty if the kind fits nowhere.
std::optional<std::size_t> KubeDefault::choose_node(const ClusterView& view, const Kind& kind) {
  const auto& specs = view.cluster().nodes;
  const auto fits = [&](std::size_t n) {
    const Node& node = nodes_[n];
    const auto within = [](std::int64_t asked, std::int64_t used, std::int64_t capacity) {
      return asked == 0 || asked <= capacity - used;
    };
    return kind.ask.gang <= node.free_gpus && kind.ask.allows(specs[n].gpu) &&
           within(kind.request.cpu_milli, node.requested.cpu_milli, specs[n].cpu_milli) &&
           within(kind.request.memory_mib, node.requested.memory_mib, specs[n].memory_mib);
  };
  const std::size_t enough =
      kube_nodes_to_find(nodes_.size(), options_.percentage_of_nodes_to_score);
  feasible_.clear();
  std::size_t seen = 0;
  std::size_t n = start_node_;
  for (; seen < nodes_.size() && feasible_.size() < enough; ++seen) {
    if (fits(n)) feasible_.push_back(n);
    n = n + 1 == nodes_.size() ? 0 : n + 1;
  }
  start_node_ = n;
  if (feasible_.empty()) return std::nullopt;

  std::int64_t top = -1;
  for (const std::size_t f : feasible_) {
    const std::int64_t s = score(nodes_[f], specs[f], kind.request);
    if (s < top) continue;
    if (s > top) best_.clear();
    top = s;
    best_.push_back(f);
  }
  Rng rng(seed_, Stream::kKubeTie, cycle_++);
  return best_[rng.below(static_cast<std::uint32_t>(best_.size()))];
}

std::int64_t KubeDefault::score(const Node& node, const NodeSpec& spec,
                                const ResourceRequest& pod) const {
  return options_.scoring.least_allocated *
             kube_least_allocated(node.scored + with_defaults(pod), spec) +
         options_.scoring.balanced_allocation *
             kube_balanced_allocation(node.requested + pod, spec);
}

/// The least shared GPUs of the node; books the pod.
std::vector<GpuId> KubeDefault::take_devices(Node& node, const Kind& kind) {
  std::vector<GpuId> taken;
  for (const GpuId g : node.gpus) {
    if (residents_[index(g)] < replicas_) taken.push_back(g);
  }
  const auto less_shared = [this](GpuId a, GpuId b) {
    return std::pair(residents_[index(a)], a) < std::pair(residents_[index(b)], b);
  };
  const auto wanted = taken.begin() + kind.ask.gang;
  std::partial_sort(taken.begin(), wanted, taken.end(), less_shared);
  taken.erase(wanted, taken.end());
  std::sort(taken.begin(), taken.end());  // so that gangs on the same GPUs name the same one first
  for (const GpuId g : taken) {
    if (++residents_[index(g)] == replicas_) --node.free_gpus;
  }
  node.requested = node.requested + kind.request;
  node.scored = node.scored + with_defaults(kind.request);
  return taken;
}

/// Merges two leftist heaps by position: two waiting sets become one in logarithmic time.
JobId KubeDefault::meld(JobId a, JobId b) {
  if (a == kNoJob) return b;
  if (b == kNoJob) return a;
  if (pods_[index(b)].position < pods_[index(a)].position) std::swap(a, b);
  Pod& root = pods_[index(a)];
  root.right = meld(root.right, b);
  const auto rank = [this](JobId j) { return j == kNoJob ? 0 : pods_[index(j)].rank; };
  if (rank(root.left) < rank(root.right)) std::swap(root.left, root.right);
  root.rank = rank(root.right) + 1;
  return a;
}

std::uint32_t KubeDefault::kind_of(const JobView& job) {
  const auto [at, is_new] =
      kind_ids_.try_emplace({ask_of(job), job.request.cpu_milli, job.request.memory_mib},
                            static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) kinds_.push_back({ask_of(job), job.request, kNeverFull});
  return at->second;
}

PolicyEntry kube_default_entry() {
  return {
      .name = "kube-default",
      .description =
          "one pod at a time to the best node by kube-scheduler's default scores, GPUs shared by "
          "time-slicing replicas (Kubernetes 1.30)",
      .needs = PolicyNeeds::kNothing,
      .parameters = kube_default_parameters().specs(),
      .make = make_kube_default,
      .traits = {.always_colocates = true, .one_node = true}};
}

}  // namespace corun::inline policies
