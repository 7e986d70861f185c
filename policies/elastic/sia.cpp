#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "policies/catalog.hpp"
#include "policies/elastic/held_gpus.hpp"
#include "policies/elastic/sia_program.hpp"
#include "policies/parameter_context.hpp"
#include "policies/parameters_of.hpp"

/// sia: GPUs of several types for elastic jobs by an integer program (Jayaram Subramanya et al., "Sia: Heterogeneity-aware,
/// goodput-optimized ML-cluster scheduling", SOSP 2023). Every `interval_s` each job gets one configuration, a number of
/// GPUs of one type, or none (sia_program.hpp), by its goodput on them (AllocationBelief). A job that has not yet done
/// with the cost of its last start keeps its GPUs.
///
/// Placement: a job whose configuration stays keeps its GPUs. The others are placed largest first, on the node with the
/// fewest free GPUs that suffice, or on wholly free nodes. If one does not fit, all jobs of its GPU type but those that start
/// are placed anew; what does not fit then waits for the next pass.
///
/// Departures from the paper: a job that is not elastic has one configuration on each type, the GPUs that it asks for. Nodes
/// of a type count as its smallest. A job without any configuration gets GPUs that are left free, and keeps them.
namespace corun::inline policies {

namespace {

struct SiaOptions {
  double p = -0.5;
  double lambda = 1.1;
  Duration interval = std::chrono::seconds{60};
  bool fits = false;
};

const ParametersOf<SiaOptions>& sia_parameters() {
  static const auto all =
      ParametersOf<SiaOptions>()
          .number(
              "p", &SiaOptions::p,
              {-10, 1, "exponent of goodput in the objective, not 0; below 0 it favours slow jobs"})
          .only_where(some_jobs_are_elastic)
          .number("lambda", &SiaOptions::lambda,
                  {0, 1000, "cost of a job without GPUs; its least useful configuration costs 1"})
          .number("interval_s", &SiaOptions::interval,
                  {1, 86400, "time between two assignments [s]"})
          .choice("belief", &SiaOptions::fits, {{"truth", false}, {"fitted", true}},
                  "goodput by allocation; fitted: to the steps that jobs measure while they run")
          .only_where(some_jobs_are_elastic);
  return all;
}

class Sia final : public Policy {
 public:
  Sia(const SiaOptions& options, PolicyContext& context)
      : options_(options),
        fitted_(std::move(context.fitted)),
        belief_(fitted_ != nullptr ? fitted_.get() : context.allocations),
        period_(options.interval) {}

  void arrived(const JobView& job, Time) override { held_.arrived(job.id); }
  void departed(JobId job, LogKind how, Time) override { held_.departed(job, how); }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    if (held_.jobs().empty()) return;
    const bool due = period_.is_due(view);
    if (due) assign(view, out);
    if (!due || held_.any()) period_.ask(view, out);
  }

 private:
  void assign(const ClusterView& view, std::vector<Decision>& out) {
    if (fitted_ != nullptr) held_.observe(view, *fitted_);
    if (types_.empty()) read_cluster(view);
    SiaProgram program = program_of(view);
    const SiaAssignment assigned = assign_configurations(program);
    std::vector<GpusByNode> wanted = place(view, program, assigned);
    fill(view, program, wanted);
    held_.carry_out(view, wanted, out);
  }

  void read_cluster(const ClusterView& view) {
    for (const NodeSpec& node : view.cluster().nodes) {
      if (node.gpu.id >= types_.size()) types_.resize(node.gpu.id + 1U);
      SiaNodes& type = types_[node.gpu.id];
      const auto gpus = static_cast<std::uint32_t>(node.gpus);
      type.gpus_per_node = type.nodes == 0 ? gpus : std::min(type.gpus_per_node, gpus);
      ++type.nodes;
    }
    standard_ = sia_configurations(types_);
  }

  SiaProgram program_of(const ClusterView& view) const {
    SiaProgram program;
    program.p = options_.p;
    program.lambda = options_.lambda;
    program.configurations = standard_;
    for (const SiaNodes& type : types_) program.gpus.push_back(type.nodes * type.gpus_per_node);
    for (const JobId id : held_.jobs()) add_gang(view.job(id), program.configurations);
    for (const JobId id : held_.jobs()) {
      const JobView& job = view.job(id);
      if (is_outside(view, program, id)) {
        const GpusByNode own = held_.by_node(view, id);
        for (std::size_t n = 0; n < own.size(); ++n) {
          program.gpus[view.cluster().nodes[n].gpu.id] -= own[n];
        }
      }
      const std::optional<std::uint32_t> held = held_configuration(view, program, id);
      std::vector<double> goodputs;
      for (const SiaConfiguration& c : program.configurations) goodputs.push_back(goodput(job, c));
      const double cost = to_seconds(job.expected_start_cost);
      const double age = to_seconds(view.now() - job.submit);
      SiaProgram::Job row{
          .costs = sia_costs(goodputs, held,
                             restart_factor(age, job.preemptions + job.resizes, cost), options_.p),
          .keeps = {}};
      if (held && job.started && view.now() - *job.started < job.start_cost) row.keeps = held;
      program.jobs.push_back(std::move(row));
    }
    return program;
  }

  /// The configurations of a job that is not elastic, where they are not among the standard ones.
  void add_gang(const JobView& job, std::vector<SiaConfiguration>& configurations) const {
    if (job.gpus_max > 0 && belief_ != nullptr) return;
    const auto gpus = static_cast<std::uint32_t>(job.gpus);
    for (std::uint32_t type = 0; type < types_.size(); ++type) {
      if (types_[type].nodes * types_[type].gpus_per_node < gpus) continue;
      const std::uint32_t nodes =
          (gpus + types_[type].gpus_per_node - 1) / types_[type].gpus_per_node;
      const SiaConfiguration gang{type, nodes, gpus};
      if (std::ranges::find(configurations, gang) == configurations.end())
        configurations.push_back(gang);
    }
  }

  double goodput(const JobView& job, const SiaConfiguration& c) const {
    if (job.gpu_models != 0 && (job.gpu_models >> c.type & 1U) == 0) return 0;
    if (!may_have(job, c.gpus)) return 0;
    if (belief_ == nullptr || job.gpus_max == 0) return 1;
    if (static_cast<int>(c.gpus) > std::max(belief_->most_gpus(job), job.gpus_min)) return 0;
    return belief_->goodput(job,
                            {static_cast<int>(c.gpus), static_cast<int>(c.nodes), 1, c.type, {}});
  }

  /// Whether the job has GPUs that are no configuration: fill() gave them, and it keeps them.
  bool is_outside(const ClusterView& view, const SiaProgram& program, JobId job) const {
    return held_.any_of(job) && !held_configuration(view, program, job);
  }

  /// GPUs that the program leaves free go to jobs that it cannot place: gangs over several types, or larger than the nodes
  /// as it counts them.
  void fill(const ClusterView& view, const SiaProgram& program,
            std::vector<GpusByNode>& wanted) const {
    GpusByNode free;
    for (const NodeSpec& node : view.cluster().nodes)
      free.push_back(static_cast<std::uint16_t>(node.gpus));
    for (const GpusByNode& row : wanted) {
      for (std::size_t n = 0; n < row.size(); ++n)
        free[n] = static_cast<std::uint16_t>(free[n] - row[n]);
    }
    for (std::size_t j = 0; j < wanted.size(); ++j) {
      const JobView& job = view.job(held_.jobs()[j]);
      const auto fits = [&](const SiaConfiguration& c) { return goodput(job, c) > 0; };
      if (!wanted[j].empty() || std::ranges::any_of(program.configurations, fits)) continue;
      const int gpus = job.gpus_max > 0 && belief_ != nullptr ? job.gpus_min : job.gpus;
      wanted[j] = held_.take_room(view, job.id, gpus, free);
    }
  }

  std::optional<std::uint32_t> held_configuration(const ClusterView& view,
                                                  const SiaProgram& program, JobId job) const {
    const GpusByNode on_nodes = held_.by_node(view, job);
    SiaConfiguration held{.type = 0, .nodes = 0, .gpus = 0};
    for (std::size_t n = 0; n < on_nodes.size(); ++n) {
      if (on_nodes[n] == 0) continue;
      held.type = view.cluster().nodes[n].gpu.id;
      ++held.nodes;
      held.gpus += on_nodes[n];
    }
    const auto at = std::ranges::find(program.configurations, held);
    if (held.gpus == 0 || at == program.configurations.end()) return std::nullopt;
    return static_cast<std::uint32_t>(at - program.configurations.begin());
  }

  /// Room for a configuration among the free GPUs by node, which it then takes; empty if there is none.
  static GpusByNode room(const ClusterView& view, const SiaConfiguration& c, GpusByNode& free) {
    const auto& nodes = view.cluster().nodes;
    GpusByNode taken(free.size(), 0);
    std::uint32_t left = c.gpus;
    if (c.nodes == 1) {
      std::size_t best = free.size();
      for (std::size_t n = 0; n < free.size(); ++n) {
        if (nodes[n].gpu.id != c.type || free[n] < c.gpus) continue;
        if (best == free.size() || free[n] < free[best]) best = n;
      }
      if (best == free.size()) return {};
      taken[best] = static_cast<std::uint16_t>(c.gpus);
      left = 0;
    }
    const std::uint32_t per_node = (c.gpus + c.nodes - 1) / c.nodes;
    for (std::size_t n = 0; n < free.size() && left > 0; ++n) {
      const std::uint32_t wanted = std::min(per_node, left);
      if (nodes[n].gpu.id != c.type || free[n] < wanted) continue;
      taken[n] = static_cast<std::uint16_t>(wanted);
      left -= wanted;
    }
    if (left > 0) return {};
    for (std::size_t n = 0; n < free.size(); ++n)
      free[n] = static_cast<std::uint16_t>(free[n] - taken[n]);
    return taken;
  }

  std::vector<GpusByNode> place(const ClusterView& view, const SiaProgram& program,
                                const SiaAssignment& assigned) const {
    const std::size_t jobs = program.jobs.size();
    std::vector<bool> anew(types_.size(), false);
    while (true) {
      GpusByNode free;
      for (const NodeSpec& node : view.cluster().nodes)
        free.push_back(static_cast<std::uint16_t>(node.gpus));
      std::vector<GpusByNode> wanted(jobs);
      std::vector<std::size_t> left;
      for (std::size_t j = 0; j < jobs; ++j) {
        if (is_outside(view, program, held_.jobs()[j])) {
          wanted[j] = held_.by_node(view, held_.jobs()[j]);
          for (std::size_t n = 0; n < free.size(); ++n)
            free[n] = static_cast<std::uint16_t>(free[n] - wanted[j][n]);
          continue;
        }
        if (!assigned.configurations[j]) continue;
        const std::uint32_t c = *assigned.configurations[j];
        const JobId id = held_.jobs()[j];
        const bool stays = held_configuration(view, program, id) == c &&
                           (program.jobs[j].keeps || !anew[program.configurations[c].type]);
        if (!stays) {
          left.push_back(j);
          continue;
        }
        wanted[j] = held_.by_node(view, id);
        for (std::size_t n = 0; n < free.size(); ++n)
          free[n] = static_cast<std::uint16_t>(free[n] - wanted[j][n]);
      }
      std::ranges::stable_sort(left, std::greater<>(), [&](std::size_t j) {
        return program.configurations[*assigned.configurations[j]].gpus;
      });
      bool again = false;
      for (const std::size_t j : left) {
        const SiaConfiguration& c = program.configurations[*assigned.configurations[j]];
        wanted[j] = room(view, c, free);
        if (!wanted[j].empty() || anew[c.type]) continue;
        anew[c.type] = true;
        again = true;
      }
      if (!again) return wanted;
    }
  }

  SiaOptions options_;
  std::unique_ptr<AllocationBelief> fitted_;
  const AllocationBelief* belief_;  ///< null: no job is resized
  HeldGpus held_;
  Period period_;
  std::vector<SiaNodes> types_;  ///< by GpuType::id
  std::vector<SiaConfiguration> standard_;
};

}  // namespace

PolicyEntry sia_entry() {
  PolicyTraits traits;
  traits.moves_running_jobs = true;
  traits.preempts = true;
  traits.shares = false;
  traits.reads_expected_starts = true;
  return {
      .name = "sia",
      .description =
          "GPU types and numbers of elastic jobs by an integer program over their goodput (Sia, "
          "SOSP 2023)",
      .needs = PolicyNeeds::kAllocations,
      .parameters = sia_parameters().specs(),
      .make = [](PolicyContext context) -> std::unique_ptr<Policy> {
        return std::make_unique<Sia>(sia_parameters().read(context.parameters), context);
      },
      .needs_with =
          [](const Parameters& p) {
            return sia_parameters().read(p).fits ? PolicyNeeds::kFittedAllocations
                                                 : PolicyNeeds::kAllocations;
          },
      .traits = traits};
}

}  // namespace corun::inline policies
