#pragma once

#include <span>
#include <vector>

#include "sim/engine/cluster_backend.hpp"

/// A backend between the control loop and another backend, for tests of a broken engine.
namespace corun::test {

/// Passes everything on; a test overrides one function.
class Passing : public ClusterBackend {
 public:
  explicit Passing(ClusterBackend& inner) : inner_(inner) {}
  Time now() const override { return inner_.now(); }
  const ClusterState& state() const override { return inner_.state(); }
  bool advance(std::vector<Report>& out) override { return inner_.advance(out); }
  void start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) override {
    inner_.start_group(jobs, gpus);
  }
  TrialRuns* trial_runs() override { return inner_.trial_runs(); }
  Preempted preempt(JobId j) override { return inner_.preempt(j); }
  void wake_at(Time at) override { inner_.wake_at(at); }
  std::span<const EpisodeRecord> finished_episodes() const override {
    return inner_.finished_episodes();
  }
  const JobRecord& record(JobId j) const override { return inner_.record(j); }

 protected:
  ClusterBackend& inner_;
};

}  // namespace corun::test
