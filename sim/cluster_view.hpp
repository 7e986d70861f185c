#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "sim/cluster_state.hpp"
#include "sim/ids.hpp"
#include "sim/job.hpp"
#include "sim/job_slots.hpp"
#include "sim/profile.hpp"
#include "sim/service_traffic.hpp"
#include "sim/time.hpp"

/// All that a policy may see of a job: an opaque number, its profile, its requests, and the
/// scheduler's own observations. No name, no model, no data set, no batch size, no epochs, and no
/// run time unless the configuration grants estimates (DESIGN 4.13).
namespace corun::inline sim {

/// What a job is thought to need on a GPU type.
struct ViewOnType {
  double speed = 1;                  ///< solo time on the reference type over solo time on this one
  std::optional<double> memory_mib;  ///< demand; nothing if it is not known
};

struct JobView {
  JobId id = kNoJob;
  Time submit{0};
  int gpus = 1;                     ///< that it asks for
  int gpus_min = 0;                 ///< an elastic job may run on any number from this
  int gpus_max = 0;                 ///< to this; 0 and 0: on `gpus` alone
  Duration start_cost{0};           ///< of each start and resize: time on its GPUs without work
  Duration expected_start_cost{0};  ///< what the job's owner says of start_cost
  int priority = 0;
  double weight = 1;             ///< of its share of time; above 0
  int gpu_milli = 1000;          ///< share of each of its GPUs that it asks for [1/1000]
  std::uint32_t gpu_models = 0;  ///< bit GpuType::id: it may run on this type; 0: on any
  Profile profile;
  ResourceRequest request;
  std::optional<Duration> estimate;  ///< solo time, only where `estimates.duration` grants it
  std::int64_t steps =
      0;  ///< of training; where `estimate` is granted and the trace counts them, else 0
  double steps_per_s = 0;  ///< `steps` over `estimate`; 0 without steps
  /// By GpuType::id, only where estimates are granted and jobs differ between the types of the cluster; else
  /// empty. The run outlives it.
  std::span<const ViewOnType> on_types;
  int resubmissions = 0;  ///< returns to the queue after an OOM
  int preemptions = 0;    ///< how often it was taken off its GPUs
  int resizes = 0;        ///< how often it went on on other GPUs
  int phase = 0;          ///< of a job that changes: `profile` is that of this phase, from 0
  Duration served{0};     ///< time on its GPUs in runs that were preempted or resized
  const ServiceView* service = nullptr;  ///< of a replica of a service; the run outlives it
  std::optional<Time> started;  ///< its present run, probe or profiling segment; nothing: it waits

  /// The service that it attained up to now [ns of its time on GPUs]: `served` and its present run.
  Duration attained(Time now) const { return started ? later(served, now - *started) : served; }
};

/// Whether a job may run on this number of GPUs.
inline bool may_have(const JobView& job, std::size_t gpus) {
  const auto count = static_cast<int>(gpus);
  return count == job.gpus || (count > 0 && job.gpus_min <= count && count <= job.gpus_max);
}

/// Whether a job may run on a GPU type.
inline bool may_run_on(const JobView& job, const GpuType& type) {
  return job.gpu_models == 0 || (job.gpu_models >> type.id & 1U) != 0;
}

/// The view of a job as it was submitted; without an estimate.
inline JobView job_view_of(JobId id, const JobSpec& job) {
  JobView job_view;
  job_view.id = id;
  job_view.submit = job.submit;
  job_view.gpus = job.gpus;
  job_view.gpus_min = job.gpus_min;
  job_view.gpus_max = job.gpus_max;
  job_view.start_cost = job.start_cost;
  job_view.expected_start_cost = job.expected_start_cost.value_or(job.start_cost);
  job_view.priority = job.priority;
  job_view.weight = job.weight;
  job_view.gpu_milli = job.gpu_milli;
  job_view.gpu_models = job.gpu_models;
  job_view.profile = job.profile;
  job_view.request = job.request;
  return job_view;
}

/// `control.start`: may a job be placed beside a running one?
enum class StartMode : std::uint8_t { kGroup, kJoin };

/// The views of the jobs in the system, by number. The list or slots must outlive this.
class JobFaces {
 public:
  JobFaces(const JobSlots<JobView>& slots) : slots_(&slots) {}  // NOLINT: it is one
  /// A list with job i at position i; other numbers are not in the system.
  JobFaces(const std::vector<JobView>& list) : list_(list) {}  // NOLINT: it is one

  const JobView& operator[](JobId id) const {
    if (slots_ != nullptr) {
      if (const JobView* found = slots_->find(id)) return *found;
    } else if (index(id) < list_.size() && list_[index(id)].id == id) {
      return list_[index(id)];
    }
    throw std::logic_error("a policy asked about a job that is not in the system");
  }

 private:
  const JobSlots<JobView>* slots_ = nullptr;
  std::span<const JobView> list_;
};

class ClusterView {
 public:
  ClusterView(Time now, StartMode start, std::span<const JobId> waiting, JobFaces jobs,
              const ClusterState& state, std::size_t departures, int largest_gang,
              std::size_t pass = 0, Time next_wake = kNever, bool restricted = false)
      : now_(now),
        start_(start),
        waiting_(waiting),
        jobs_(jobs),
        state_(&state),
        departures_(departures),
        largest_gang_(largest_gang),
        pass_(pass),
        next_wake_(next_wake),
        restricted_(restricted) {}

  Time now() const { return now_; }
  StartMode start_mode() const { return start_; }
  /// The queue, oldest first (a resubmitted job goes to the end).
  std::span<const JobId> waiting() const { return waiting_; }
  /// A waiting or resident job; std::logic_error for any other.
  const JobView& job(JobId id) const { return jobs_[id]; }
  const std::vector<GpuState>& gpus() const { return state_->gpus(); }
  const GpuState& gpu(GpuId g) const { return state_->gpu(g); }
  const GpuType& gpu_type(GpuId g) const { return state_->gpu_type(g); }
  const GpuSet& empty_gpus() const { return state_->empty_gpus(); }
  const ClusterState& state() const { return *state_; }
  const ClusterSpec& cluster() const { return state_->spec(); }
  /// How many departures of jobs from their GPUs there were since the start.
  std::size_t departures() const { return departures_; }
  /// Number of the scheduling pass; the same in all calls of one pass.
  std::size_t pass() const { return pass_; }
  /// The earliest pending time for which the policy has asked by WakeAt; kNever: none.
  Time next_wake() const { return next_wake_; }
  /// GPUs of the largest gang of the workload; 1: there are no gangs.
  int largest_gang() const { return largest_gang_; }
  /// Whether a job of the workload may not run on every GPU type (may_run_on()).
  bool restricted() const { return restricted_; }
  /// How many jobs a GPU may hold at most; `otherwise` if the cluster sets no limit.
  int max_jobs_per_gpu(int otherwise) const {
    return cluster().max_jobs_per_gpu.value_or(otherwise);
  }

 private:
  Time now_;
  StartMode start_;
  std::span<const JobId> waiting_;
  JobFaces jobs_;
  const ClusterState* state_;
  std::size_t departures_;
  int largest_gang_;
  std::size_t pass_;
  Time next_wake_;
  bool restricted_;
};

}  // namespace corun::inline sim
