#pragma once

#include <vector>

#include "policies/srsf_packed/reservations.hpp"

/// The GPUs on which a job adds the least delay, alone or beside running jobs.
namespace corun::inline policies::srsf {

struct Placement {
  double delay = kNever_s;
  std::vector<GpuId> gpus;
};

class Placer {
 public:
  Placer(const Options& options, Jobs& jobs, Running& running, Reservations& reservations)
      : options_(options), jobs_(jobs), running_(running), reservations_(reservations) {}

  /// A job has asked for a part of a GPU, or for CPU or memory of its node.
  void expect_pods() { pods_ = true; }
  bool pods() const { return pods_; }
  /// Ascending GPUs; none if the job must wait. It shares only where that delays it by at most `most_s`.
  Placement best(const ClusterView& view, const Entry& entry, const JobView& job, double most_s);

 private:
  /// A GPU for a job.
  struct Spot {
    double delay = 0;  ///< [job s]
    GpuId gpu{};
    JobId host = kNoJob;
    const Run* run = nullptr;  ///< of the host
    std::uint64_t number = 0;  ///< of the host's start
    double speed = 1;          ///< of the job there, its speed alone included
    double beside = 1;         ///< its normalised speed there
    double host_speed = 1;     ///< normalised
  };

  void look_at(const ClusterView& view, const Job& j, const JobView& job, double rest, GpuId g,
               std::vector<Spot>& spots);
  void consider(const Job& j, double rest, double most_s, std::vector<Spot>& spots,
                Placement& best) const;
  bool is_closed(const ClusterView& view, const Job& j, double rest, GpuId g) const;
  void idle_nodes_first(const ClusterView& view);
  Placement pod_placement(const ClusterView& view, const Job& j, const JobView& job, double rest);

  const Options& options_;
  Jobs& jobs_;
  Running& running_;
  Reservations& reservations_;
  bool pods_ = false;
  std::vector<GpuId> gpus_;
  std::vector<Spot> spots_;
};

}  // namespace corun::inline policies::srsf
