#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sim/base/member_span.hpp"
#include "sim/ids.hpp"
#include "sim/profile.hpp"
#include "sim/time.hpp"

/// A job as it was submitted. Its history is in job_record.hpp; its view for policies
/// is in cluster_view.hpp.
namespace corun::inline sim {

/// Requests of a pod to its node besides GPUs: CPU [1/1000 core] and memory [MiB]; 0: nothing asked.
struct ResourceRequest {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
};

struct JobSpec {
  Time submit{0};
  Duration work{0};  ///< solo time of all its work on the reference GPU (gang: on each of its GPUs)
  int gpus = 1;      ///< gang size: all of them at once
  /// An elastic job may run on any number of GPUs from the first to the second; 0 and 0: on `gpus` alone.
  int gpus_min = 0;
  int gpus_max = 0;
  /// Time after each start or resize in which the job holds its GPUs and does no work, the first start included; by the
  /// clock, at whatever speed it runs. On top of the other costs of a start (DESIGN 4.21).
  Duration start_cost{0};
  std::optional<Duration>
      expected_start_cost;  ///< what policies reckon with in place of it; nothing: start_cost
  int priority = 0;         ///< larger goes first with policies that use priorities
  double weight = 1;        ///< of the job's share with policies that share time fairly; above 0
  int gpu_milli =
      1000;  ///< share of each of its GPUs that it asks for [1/1000]; below 1000 only with one GPU
  /// GPU models on which it may run: bit i stands for Trace::gpu_model_names[i]; 0: any. Before a run the runner sets that
  /// list to the types of the cluster, so that i is GpuType::id.
  std::uint32_t gpu_models = 0;
  std::uint32_t virtual_cluster = 0;  ///< index into Trace::virtual_clusters, if there are any
  std::int64_t steps = 0;  ///< `work` in whole training steps, if the trace counts them; else 0
  double steps_per_s =
      0;  ///< steps / work before `work` was rounded to nanoseconds; 0 without steps
  Profile profile;
  ResourceRequest request;
  std::optional<Duration> epoch;  ///< solo time of one epoch, for profiling.mode: epoch
  /// A job that changes: its phases are Workload::phases[first_phase] and the following; their work adds up to `work`, and
  /// `profile` is that of the first. 0: one phase, which is the job itself.
  std::uint32_t phases = 0;
  std::uint32_t first_phase = 0;
  /// A replica of this service (ServiceTraffic), on one GPU: it ends at `ends` whatever it has done, and what it does is
  /// to answer requests. Its `work` is the time from its submission to that. Below 0: an ordinary job.
  int service = -1;
  Time ends{0};

  bool is_replica() const { return service >= 0; }
};

/// The jobs of one replication as the engine takes them: a view of specs and an order that others own and keep.
struct Workload {
  MemberSpan<JobSpec> jobs;         ///< JobId is the position and never changes
  std::span<const JobId> arrivals;  ///< submit times ascend; jobs of one time in this order
  /// Of all jobs that change: each as a job of its own, with `work` above 0, of which `profile` is read, too. Within a
  /// phase profile, memory and speed alone stay as they are.
  MemberSpan<JobSpec> phases = {};
  /// > 0: ends of phases are at whole multiples of this time, to the nearest. One that lies after its multiple stays after
  /// it, by a nanosecond: what happens at the multiple finds the phase not yet over.
  Duration phase_grid{0};

  /// The number by which the world knows a job in one of its phases. Phases have numbers of their own, after the jobs'.
  JobId in_phase(JobId job, std::uint32_t phase) const {
    const JobSpec& spec = jobs[index(job)];
    if (spec.phases == 0) return job;
    return static_cast<JobId>(jobs.size() + spec.first_phase + phase);
  }
  const Profile& profile(JobId job, std::uint32_t phase) const {
    const JobSpec& spec = jobs[index(job)];
    return spec.phases == 0 ? spec.profile : phases[spec.first_phase + phase].profile;
  }
};

}  // namespace corun::inline sim
