#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "experiments/experiment/replication.hpp"
#include "sim/policy.hpp"

/// A policy watched from outside: how long it decides, and what its knowledge base has become.
namespace corun {

/// Passes everything through. Throws Interrupted where the run is to stop.
class ObservedPolicy final : public Policy {
 public:
  /// The arguments must outlive this. Times and losses are added to `run`.
  ObservedPolicy(Policy& inner, PolicyRun& run, const RunObservation& observation)
      : inner_(inner), run_(run), observation_(observation) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override;
  void left(JobId job, LogKind how) override { inner_.left(job, how); }
  void observe(const EpisodeOutcome& outcome) override;
  std::optional<std::pair<JobId, JobId>> choose_probe(std::span<const JobId> unprobed,
                                                      std::span<const JobId> waiting) override {
    return inner_.choose_probe(unprobed, waiting);
  }
  void observe_probe(const ProbeOutcome& outcome) override;
  bool needs_probes() const override { return inner_.needs_probes(); }
  bool needs_profile() const override { return inner_.needs_profile(); }
  bool rearranges() const override { return inner_.rearranges(); }
  bool joins_always() const override { return inner_.joins_always(); }
  std::optional<PlanBound> bound() const override { return inner_.bound(); }

  /// Counts the last pass, which no later pass has ended. To be called once, after the run.
  void end_of_run() { end_of_pass(); }

 private:
  void decide_timed(const ClusterView& view, std::vector<Decision>& out);
  void end_of_pass();
  void show_learned(Time at);

  Policy& inner_;
  PolicyRun& run_;
  const RunObservation& observation_;
  std::size_t pass_ = 0;  ///< the one under way; 0: none yet
  double pass_s_ = 0;     ///< spent in it
};

}  // namespace corun
