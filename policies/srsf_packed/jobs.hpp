#pragma once

#include <unordered_map>

#include "policies/remaining_service.hpp"
#include "policies/srsf_packed/job.hpp"

/// The jobs from their arrival to their end, and what is expected of them at the present time.
namespace corun::inline policies::srsf {

class Jobs {
 public:
  explicit Jobs(const Options& options) : options_(options) {}

  Time now() const { return now_; }
  void set_now(Time now) { now_ = now; }

  /// The job, and whether it is new.
  std::pair<Job*, bool> add(JobId id) {
    const auto [at, is_new] = jobs_.try_emplace(id);
    return {&at->second, is_new};
  }
  bool contains(JobId id) const { return jobs_.contains(id); }
  Job& at(JobId id) { return jobs_.at(id); }
  const Job& at(JobId id) const { return jobs_.at(id); }
  /// It has ended: of jobs that have `finished`, estimates of later ones learn.
  void remove(JobId id, bool finished);

  /// The job's view, with the number of GPUs that it is to have.
  const JobView& view(const ClusterView& view, JobId id) const {
    const Job& j = at(id);
    return j.sized ? *j.sized : view.job(id);
  }

  const RemainingService& service() const { return service_; }
  /// Jobs that service() has learnt from.
  std::uint64_t finished() const { return finished_; }

  /// Expected rest of a waiting job [solo s].
  double rest_s(const Job& j) const { return service_.expected(j.estimate_s, j.had_s) + j.debt_s; }
  double demand_mib(const Job& j, const GpuType& type) const;
  /// Whether the job does enough more work at this speed than its hosts lose [GPU].
  bool pays(const Job& j, double speed, double lost) const {
    return speed * j.gang - lost >= options_.gain * j.gang;
  }

 private:
  const Options& options_;
  Time now_{0};
  std::unordered_map<JobId, Job> jobs_;
  RemainingService service_;
  std::uint64_t finished_ = 0;
};

}  // namespace corun::inline policies::srsf
