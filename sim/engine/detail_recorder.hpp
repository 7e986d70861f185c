#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/belief.hpp"
#include "sim/cluster_spec.hpp"
#include "sim/engine/run_observer.hpp"
#include "sim/engine/time_slices.hpp"
#include "sim/job.hpp"
#include "sim/job_slots.hpp"
#include "sim/records/run_details.hpp"

/// Records the details of a run while the control loop drives it. Costs O(1) per event and GPU of its job,
/// and a call of the belief per recorded co-run; memory is bounded by the limits, the GPUs and the jobs in
/// the system.
namespace corun::inline sim {

/// Integrals that several runs share: those of the virtual clusters of one run.
class LevelSlices {
 public:
  /// `start`: of the first slice. `gpus`: of the whole cluster.
  LevelSlices(Time start, int gpus) : slices_(start), gpus_(gpus) {}
  std::vector<SliceRecord> records() const;

 private:
  friend class DetailRecorder;
  enum : std::uint8_t { kBusy, kShared, kUtil, kUnknown, kQueue, kRunning, kCount };

  TimeSlices<kCount> slices_;
  int gpus_;
};

class DetailRecorder final : public RunObserver {
 public:
  /// `belief` predicts co-runs; may be null. All arguments must outlive this; `slices` may be null.
  DetailRecorder(const ClusterSpec& spec, const Workload& workload, const Belief* belief,
                 DetailLimits limits, LevelSlices* slices);

  void event(Time at, LogKind kind, JobId job, std::span<const GpuId> gpus) override;
  void episode_ended(GpuId gpu, const EpisodeOutcome& outcome) override;
  void instant_over(Time at, const ClusterBackend& backend) override;

  /// The details without the slices. Call it once, at the end of the run. Of a run that was cut short, co-runs
  /// end at its last instant.
  RunDetails take();

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Place {  ///< of a job on GPUs
    std::vector<GpuId> gpus;
    bool probe = false;
    bool touched = false;
  };
  struct Row {  ///< of the present co-run, for residents a and b
    std::size_t row = 0;
    std::size_t a = 0;
    std::size_t b = 0;
  };
  struct Gpu {
    std::vector<JobId> jobs;  ///< residents as of the last instant
    std::vector<Row> rows;
    std::size_t last = kNone;  ///< first row of the latest co-run
    Time since{0};             ///< speeds are accounted up to here
    std::vector<double> speeds;
    std::vector<double> worked;  ///< integral of the speeds over the co-run [ns]
    double util = 0;
    bool util_known = true;
    bool touched = false;
    std::uint64_t mark = 0;  ///< the latest search for common GPUs that has seen it
  };

  void touch(GpuId gpu);
  void add_event(const EventRecord& event);
  void change_levels(Time now);
  void update(GpuId id, Time now, const ClusterBackend& backend);
  void count(const Gpu& gpu, double sign);
  void look_up_use(Gpu& gpu, bool known, std::span<const double> speeds,
                   const ClusterBackend& backend);
  void work(Gpu& gpu, Time now);
  void begin_co_run(GpuId id, Gpu& gpu, std::optional<Provenance> source, Time now);
  void predict(CoRunRecord& record) const;
  void end_co_run(Gpu& gpu, Time now);
  bool is_primary(GpuId gpu, JobId a, JobId b);

  Workload workload_;
  const Belief* belief_;
  DetailLimits limits_;
  LevelSlices* slices_;
  RunDetails details_;
  std::vector<Gpu> gpus_;
  JobSlots<Place> places_;
  std::vector<GpuId> touched_;
  std::map<std::pair<JobId, JobId>, GpuId> lowest_common_;  ///< GPU of two gangs, at this instant
  std::uint64_t searches_ = 0;                              ///< for common GPUs
  std::size_t first_event_ = 0;                             ///< at now_
  std::array<double, LevelSlices::kCount> levels_{};
  Time levels_since_{0};
  Time now_{0};
  std::uint32_t co_runs_ = 0;
  std::vector<double> speeds_;
};

}  // namespace corun::inline sim
