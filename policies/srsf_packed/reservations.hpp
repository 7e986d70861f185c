#pragma once

#include <compare>
#include <utility>
#include <vector>

#include "policies/srsf_packed/running.hpp"

/// GPUs that are reserved for jobs that find no room, and how long a job waits for GPUs of its own.
namespace corun::inline policies::srsf {

class Reservations {
 public:
  Reservations(const Options& options, const Jobs& jobs, Running& running)
      : options_(options), jobs_(jobs), running_(running) {}

  /// Of the search for room, before the first waiting job: none, but for the overdue job that keeps GPUs.
  void restart(const ClusterView& view);
  /// A job that starts on the GPU must end by then [s from now].
  double free_by_s(GpuId g) const { return free_by_s_[index(g)]; }

  /// The job has found no room: those after it are behind it.
  void passed_over(const JobView& job) { ahead_ += job.gpus; }
  /// Whether the job, which has found no room, may have a reservation.
  bool has_one_for(const Entry& entry, const JobView& job) const {
    return overdue(entry) || (job.gpus > 1 && reservations_ < options_.reservations);
  }
  /// Reserves the GPUs on which the job can start first.
  void reserve(const ClusterView& view, const Entry& entry, const JobView& job);

  /// The GPUs that the job itself keeps are open to it between lift() and put_back().
  void lift(const Entry& entry) { keep_until(entry, kNever_s); }
  void put_back(const Entry& entry) { keep_until(entry, 0); }
  void started(const Entry& entry);

  /// Expected delay of a job of this rest if it waits for GPUs of its own that may hold it and on which it is equally
  /// fast, behind the jobs before it that wait: until as many GPUs have lost their jobs, by expected ends; infinite if
  /// there are not as many.
  double wait_s(const ClusterView& view, const JobView& job, double rest);

 private:
  void keep_until(const Entry& entry, double until_s);
  void keep_node(GpuId gpu);
  double node_ready_s(const ResourceRequest& asked) const;
  double ready_s(const GpuType& type, GpuId g, const Job& j) const;

  const Options& options_;
  const Jobs& jobs_;
  Running& running_;
  JobId keeper_ = kNoJob;  ///< the overdue job that keeps GPUs reserved
  std::vector<GpuId> kept_;

  // Since the restart.
  std::vector<double> free_by_s_;  ///< by GPU
  int reservations_ = 0;
  int ahead_ = 0;  ///< GPUs that the jobs before the present one wait for
  /// Of GPUs: when all their jobs have left [s from now], their type and node.
  struct End {
    double end_s = 0;
    std::size_t type = 0;
    NodeId node{};
    friend auto operator<=>(const End&, const End&) = default;
  };
  std::vector<End> ends_s_;
  bool ends_are_sorted_ = false;  ///< ascending
  std::vector<GpuId> gpus_;
};

}  // namespace corun::inline policies::srsf
