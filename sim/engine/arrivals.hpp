#pragma once

#include <cstddef>
#include <vector>

#include "sim/engine/cluster_backend.hpp"
#include "sim/job.hpp"
#include "sim/time.hpp"

/// The jobs of a workload in the order of their arrival.
namespace corun::inline sim {

class Arrivals {
 public:
  explicit Arrivals(const Workload& workload) : workload_(workload) {}

  /// When the next job comes; kNever after the last one.
  Time next() const {
    return over() ? kNever : workload_.jobs[index(workload_.arrivals[taken_])].submit;
  }
  bool over() const { return taken_ == workload_.arrivals.size(); }

  /// Calls `arrive` with each job that has arrived by `now`, and appends a report of it to `out`.
  template <typename Arrive>
  void take(Time now, std::vector<Report>& out, const Arrive& arrive) {
    for (; !over() && next() <= now; ++taken_) {
      const JobId job = workload_.arrivals[taken_];
      arrive(job);
      out.push_back({ReportKind::kArrived, job});
    }
  }

 private:
  Workload workload_;
  std::size_t taken_ = 0;
};

}  // namespace corun::inline sim
