#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "policies/placement.hpp"

/// blox: the pass of Blox' scheduler (Agarwal et al., "Blox: A Modular Toolkit for Deep Learning Schedulers", EuroSys
/// 2024; JobPlacement with placement_preference scattered), without sharing. It goes through the jobs in order of submit time,
/// of remaining estimated time (`by: remaining`; needs `estimates.duration`) or of attained time (`by: attained`);
/// attained counts time, not GPU time. Of equals the first to arrive goes first. A running job stays. For a
/// waiting one without room (placement.hpp, scattered()) running jobs behind it are stopped, from the last on, until
/// it has room. If it has none then, the pass ends, and all that were stopped stay stopped. A job that was
/// stopped may start again further on in the same pass.
///
/// Blox decides in rounds of 300 s: `control: {round_s: 300, tick_s: 300}`. By attained time jobs pass each other
/// without an event, so the policy asks for a pass every `every_s`.
namespace corun::inline policies {

namespace {

enum class BloxOrder : std::uint8_t { kSubmit, kRemaining, kAttained };

struct BloxOptions {
  BloxOrder by = BloxOrder::kSubmit;
  Duration every = std::chrono::seconds{300};
};

class Blox final : public Policy {
 public:
  explicit Blox(const BloxOptions& options) : options_(options) {}

  void arrived(const JobView& job, Time) override {
    if (known_.insert(job.id).second) jobs_.push_back(job.id);
  }

  void departed(JobId job, LogKind how, Time) override {
    if (how != LogKind::kFinish && how != LogKind::kFail) return;  // it comes back
    std::erase(jobs_, job);
    known_.erase(job);
  }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    if (std::exchange(last_pass_, view.pass()) == view.pass()) return;
    order(view);
    FreeGpus free = view.state().empty();
    Preempt stopped;
    std::vector<StartGroup> starts;
    std::vector<bool> runs(order_.size());
    for (std::size_t j = 0; j < order_.size(); ++j) {
      runs[j] = view.job(order_[j].job).started.has_value();
    }
    for (std::size_t j = 0; j < order_.size(); ++j) {
      if (runs[j]) continue;
      const JobView& job = view.job(order_[j].job);
      std::vector<GpuId> gpus = place(view, free, job);
      for (std::size_t last = order_.size(); gpus.empty() && --last > j;) {
        const JobView& victim = view.job(order_[last].job);
        if (!runs[last] || *victim.started == view.now()) continue;
        runs[last] = false;
        view.state().each_node(gpus_.at(victim.id), [&](NodeId node, std::span<const GpuId> own) {
          free.insert(own, node);
        });
        stopped.jobs.push_back(victim.id);
        gpus = place(view, free, job);
      }
      if (gpus.empty()) break;
      view.state().each_node(
          gpus, [&](NodeId node, std::span<const GpuId> own) { free.erase(own, node); });
      starts.push_back({{job.id}, std::move(gpus)});
    }
    if (!stopped.jobs.empty()) out.emplace_back(std::move(stopped));
    for (StartGroup& start : starts) {
      out.emplace_back(std::move(start));
    }
    if (options_.by == BloxOrder::kAttained) {
      const Time next = later(view.now(), options_.every);
      if (next < view.next_wake()) out.emplace_back(WakeAt{next});
    }
  }

 private:
  struct Ranked {
    Duration rank{0};
    JobId job = kNoJob;
  };

  void order(const ClusterView& view) {
    gpus_.clear();
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      for (const JobId job : view.gpus()[g].residents) {
        gpus_[job].push_back(GpuId{static_cast<std::uint32_t>(g)});
      }
    }
    order_.clear();
    for (const JobId id : jobs_) {
      const JobView& job = view.job(id);
      Duration rank = job.submit;
      if (options_.by == BloxOrder::kAttained) rank = job.attained(view.now());
      if (options_.by == BloxOrder::kRemaining) {
        rank = job.estimate.value() - job.attained(view.now());
      }
      order_.push_back({rank, id});
    }
    std::ranges::stable_sort(order_, {}, &Ranked::rank);
  }

  static std::vector<GpuId> place(const ClusterView& view, const FreeGpus& free,
                                  const JobView& job) {
    if (job.gpu_models == 0) return scattered(view.state(), free, job);
    return scattered(view.state(), of_types(view.state(), free, job.gpu_models), job);
  }

  BloxOptions options_;
  std::vector<JobId> jobs_;          ///< in the system, in the order of their arrival
  std::unordered_set<JobId> known_;  ///< the same
  std::vector<Ranked> order_;        ///< of the present pass
  std::unordered_map<JobId, std::vector<GpuId>> gpus_;  ///< of the running jobs
  std::optional<std::size_t> last_pass_;
};

const ParametersOf<BloxOptions>& blox_parameters() {
  static const auto all =
      ParametersOf<BloxOptions>()
          .choice("by", &BloxOptions::by,
                  {{"submit", BloxOrder::kSubmit},
                   {"remaining", BloxOrder::kRemaining},
                   {"attained", BloxOrder::kAttained}},
                  "order of the jobs: submit time, remaining estimated time, or attained time")
          .number("every_s", &BloxOptions::every,
                  {1e-3, 1e9, "with by: attained, time from one pass to the next [s]"})
          .only_where([](const ParameterContext& c) -> std::string {
            const std::string& by = c.parameters.choice("by");
            return by == "attained" ? "" : "by is " + by;
          });
  return all;
}

}  // namespace

PolicyEntry blox_entry() {
  return {.name = "blox",
          .description = "no sharing: the pass of Blox' scheduler (EuroSys 2024), preemptive",
          .needs = PolicyNeeds::kNothing,
          .parameters = blox_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Blox>(blox_parameters().read(c.parameters));
          },
          .traits = {.moves_running_jobs = true, .shares = false, .preempts = true},
          .traits_with =
              [](const Parameters& p) {
                return PolicyTraits{.moves_running_jobs = true,
                                    .shares = false,
                                    .preempts = true,
                                    .needs_estimates = p.choice("by") == "remaining"};
              }};
}

}  // namespace corun::inline policies
