#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "results/replication.hpp"
#include "sim/policy.hpp"

/// A wrapper of a policy that measures decision times and reports its knowledge base.
namespace corun::inline runner {

/// Forwards all calls. decide() throws Interrupted if `observation.stop` is set.
class ObservedPolicy final : public Policy {
 public:
  /// The arguments must outlive this. Times and losses are added to `run`.
  ObservedPolicy(Policy& inner, PolicyRun& run, const RunObservation& observation)
      : inner_(inner), run_(run), observation_(observation) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override;
  void arrived(const JobView& job, Time now) override { inner_.arrived(job, now); }
  void departed(JobId job, LogKind how, Time now) override { inner_.departed(job, how, now); }
  void changed(const JobView& job, Time now) override { inner_.changed(job, now); }
  void corun_ended(const EpisodeOutcome& outcome) override;
  void probe_ended(const ProbeOutcome& outcome) override;
  const Belief* belief() const override { return inner_.belief(); }
  ProbePlanner* probe_planner() override { return inner_.probe_planner(); }
  std::optional<PlanBound> plan_quality() const override { return inner_.plan_quality(); }

  /// Counts the last pass. Call it once, after the run.
  void end_of_run() { end_of_pass(); }

 private:
  void decide_timed(const ClusterView& view, std::vector<Decision>& out);
  void end_of_pass();
  void show_learned(Time at);

  Policy& inner_;
  PolicyRun& run_;
  const RunObservation& observation_;
  std::size_t pass_ = 0;  ///< current pass; 0: none yet
  double pass_s_ = 0;     ///< decision time in the current pass so far [s]
};

}  // namespace corun::inline runner
