#include <algorithm>
#include <memory>
#include <utility>

#include "policies/catalog.hpp"
#include "policies/elastic/held_gpus.hpp"
#include "policies/elastic/pollux_search.hpp"
#include "policies/parameter_context.hpp"
#include "policies/parameters_of.hpp"

/// pollux: GPUs for elastic jobs by the power mean of their speedups (Qiao et al., "Pollux: Co-adaptive cluster scheduling
/// for goodput-optimized deep learning", OSDI 2021). Every `interval_s` a genetic search (pollux_search.hpp) chooses the
/// GPUs of all jobs. A job's speedup is its goodput by AllocationBelief over that on an equal share of the GPUs; one that
/// moves counts
///
///   max(age - restarts cost, 0) / (age + cost)        cost: JobView::expected_start_cost, age: since its submission [s]
///
/// of it. A job gets at most AllocationBelief::most_gpus().
///
/// Departures from the paper: no autoscaling. GPU types are taken as equal: goodput is that of the first type on which the
/// job may run. A job that is not elastic counts only with the GPUs that it asks for; it also gets them of those that the
/// search leaves free.
namespace corun::inline policies {

namespace {

struct PolluxPolicyOptions {
  PolluxOptions search;
  Duration interval = std::chrono::seconds{60};
  bool fits = false;
};

const ParametersOf<PolluxPolicyOptions>& pollux_parameters() {
  static const auto all =
      ParametersOf<PolluxPolicyOptions>()
          .number(
              "p", [](auto& o) -> auto& { return o.search.p; },
              {-10, 1, "exponent of the power mean of speedups: 1 mean, 0 geometric, -1 harmonic"})
          .number("interval_s", &PolluxPolicyOptions::interval,
                  {1, 86400, "time between two searches [s]"})
          .choice("belief", &PolluxPolicyOptions::fits, {{"truth", false}, {"fitted", true}},
                  "goodput by allocation; fitted: to the steps that jobs measure while they run")
          .only_where(some_jobs_are_elastic)
          .number("generations", [](auto& o) -> auto& { return o.search.generations; },
                  {1, 10000, "generations of a search"})
          .number("population", [](auto& o) -> auto& { return o.search.population; },
                  {2, 10000, "matrices that survive a generation"})
          .choice(
              "interference", [](auto& o) -> auto& { return o.search.avoid_interference; },
              {{"avoid", true}, {"ignore", false}},
              "avoid: at most one job that spans nodes on each node");
  return all;
}

class Pollux final : public Policy {
 public:
  Pollux(const PolluxPolicyOptions& options, PolicyContext& context)
      : fitted_(std::move(context.fitted)),
        belief_(fitted_ != nullptr ? fitted_.get() : context.allocations),
        search_(options.search, context.seed),
        period_(options.interval) {}

  void arrived(const JobView& job, Time) override { held_.arrived(job.id); }
  void departed(JobId job, LogKind how, Time) override { held_.departed(job, how); }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    if (held_.jobs().empty()) return;
    const bool due = period_.is_due(view);
    if (due) search(view, out);
    if (!due || held_.any()) period_.ask(view, out);
  }

 private:
  void search(const ClusterView& view, std::vector<Decision>& out) {
    if (fitted_ != nullptr) held_.observe(view, *fitted_);
    std::vector<std::uint16_t> gpus;
    std::uint32_t largest_node = 1;
    for (const NodeSpec& node : view.cluster().nodes) {
      gpus.push_back(static_cast<std::uint16_t>(node.gpus));
      largest_node = std::max(largest_node, static_cast<std::uint32_t>(node.gpus));
    }
    const auto all = static_cast<std::uint32_t>(view.gpus().size());
    const auto count = static_cast<std::uint32_t>(held_.jobs().size());
    const std::uint32_t share = (all + count - 1) / count;
    std::vector<PolluxJob> jobs;
    for (const JobId id : held_.jobs())
      jobs.push_back(searched(view, view.job(id), share, largest_node));
    const auto rows = search_.allocate(jobs, gpus);
    std::vector<GpusByNode> wanted(rows.size());
    for (std::size_t j = 0; j < rows.size(); ++j) {
      std::size_t total = 0;
      for (const std::uint16_t on_node : rows[j]) total += on_node;
      // A speedup of 0 is not worth GPUs: they stay free.
      if (may_have(view.job(held_.jobs()[j]), total)) wanted[j] = rows[j];
    }
    fill(view, gpus, wanted);
    held_.carry_out(view, wanted, out);
  }

  /// GPUs that the search leaves free go to jobs that are not elastic, of which it seldom draws the exact number, in the
  /// order of their arrival. A cluster that the search leaves idle gets the first elastic job that fits.
  void fill(const ClusterView& view, GpusByNode free, std::vector<GpusByNode>& wanted) const {
    const auto is_given = [](const GpusByNode& row) { return !row.empty(); };
    for (const GpusByNode& row : wanted) {
      for (std::size_t n = 0; n < row.size(); ++n) {
        free[n] = static_cast<std::uint16_t>(free[n] - row[n]);
      }
    }
    for (std::size_t j = 0; j < wanted.size(); ++j) {
      const JobView& job = view.job(held_.jobs()[j]);
      if (!wanted[j].empty() || job.gpus_max > 0) continue;
      wanted[j] = held_.take_room(view, job.id, job.gpus, free);
    }
    for (std::size_t j = 0; j < wanted.size() && std::ranges::none_of(wanted, is_given); ++j) {
      const JobView& job = view.job(held_.jobs()[j]);
      if (job.gpus_max > 0) wanted[j] = held_.take_room(view, job.id, job.gpus_min, free);
    }
  }

  PolluxJob searched(const ClusterView& view, const JobView& job, std::uint32_t share,
                     std::uint32_t largest_node) const {
    PolluxJob searched;
    searched.key = index(job.id);
    searched.held = held_.by_node(view, job.id);
    for (std::size_t n = 0; n < searched.held.size(); ++n) {
      const NodeSpec& node = view.cluster().nodes[n];
      searched.most_on_node.push_back(
          may_run_on(job, node.gpu) ? static_cast<std::uint16_t>(node.gpus) : std::uint16_t{0});
    }
    const double cost = to_seconds(job.expected_start_cost);
    const double age = to_seconds(view.now() - job.submit);
    if (cost > 0) {
      searched.restart_factor =
          std::max(age - (job.preemptions + job.resizes) * cost, 0.0) / (age + cost);
    }
    if (belief_ == nullptr || job.gpus_max == 0) {
      searched.most_gpus = static_cast<std::uint32_t>(job.gpus);
      searched.least_gpus = searched.most_gpus;
      searched.speedup = [gpus = searched.most_gpus](GpuSpread on) {
        return on.gpus == gpus ? 1.0 : 0.0;
      };
      return searched;
    }
    const int most = std::min(job.gpus_max, belief_->most_gpus(job));
    searched.most_gpus = static_cast<std::uint32_t>(std::max({most, job.gpus_min, 1}));
    searched.least_gpus = static_cast<std::uint32_t>(std::max(job.gpus_min, 1));
    std::uint32_t type = 0;
    while (job.gpu_models != 0 && (job.gpu_models >> type & 1U) == 0) ++type;
    const auto goodput = [this, &job, type](GpuSpread on) {
      if (!may_have(job, on.gpus)) return 0.0;
      return belief_->goodput(job,
                              {static_cast<int>(on.gpus), static_cast<int>(on.nodes), 1, type, {}});
    };
    const std::uint32_t equal =
        std::clamp(share, static_cast<std::uint32_t>(std::max(job.gpus_min, 1)),
                   static_cast<std::uint32_t>(job.gpus_max));
    const double reference =
        goodput({.nodes = (equal + largest_node - 1) / largest_node, .gpus = equal});
    searched.speedup = [goodput, reference](GpuSpread on) {
      return reference > 0 ? goodput(on) / reference : goodput(on);
    };
    return searched;
  }

  std::unique_ptr<AllocationBelief> fitted_;
  const AllocationBelief* belief_;  ///< null: no job is resized
  PolluxSearch search_;
  HeldGpus held_;
  Period period_;
};

}  // namespace

PolicyEntry pollux_entry() {
  PolicyTraits traits;
  traits.moves_running_jobs = true;
  traits.preempts = true;
  traits.shares = false;
  traits.reads_expected_starts = true;
  return {.name = "pollux",
          .description =
              "GPUs of elastic jobs by a genetic search for the best power mean of goodput "
              "speedups (Pollux, OSDI 2021)",
          .needs = PolicyNeeds::kAllocations,
          .parameters = pollux_parameters().specs(),
          .make = [](PolicyContext context) -> std::unique_ptr<Policy> {
            return std::make_unique<Pollux>(pollux_parameters().read(context.parameters), context);
          },
          .needs_with =
              [](const Parameters& p) {
                return pollux_parameters().read(p).fits ? PolicyNeeds::kFittedAllocations
                                                        : PolicyNeeds::kAllocations;
              },
          .traits = traits};
}

}  // namespace corun::inline policies
