#pragma once

#include <vector>

#include "sim/job.hpp"

namespace corun::test {

/// The jobs of an engine's run and their order of arrival, which the engine only views.
struct OwnedWorkload {
  std::vector<JobSpec> jobs;
  std::vector<JobId> arrivals;
  std::vector<JobSpec> phases = {};
  Duration phase_grid{0};
  operator Workload() const {
    return {jobs, arrivals, phases, phase_grid};
  }  // NOLINT: stands for its view
};

}  // namespace corun::test
