#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/batch/batch_gpu.hpp"
#include "models/batch/batch_run.hpp"
#include "sim/cluster_spec.hpp"
#include "sim/job.hpp"
#include "sim/metrics.hpp"
#include "sim/run_record.hpp"
#include "sim/world.hpp"

/// Many replications of one batch experiment (batch_run.hpp): the same jobs, cluster and world, other
/// groups and other noise. Keeps what does not change from seed to seed, above all what each company
/// may cost, so that a replication costs the draws and the arithmetic.
namespace corun {

/// The jobs and the cluster of a batch experiment as flat lists; replications share it.
class BatchExperiment {
 public:
  /// Why it is none: one sentence, with what was found; empty where it is one.
  static std::string obstacle(const ClusterSpec& cluster, const Workload& workload);

  /// Of those without an obstacle. The arguments must outlive this.
  BatchExperiment(const ClusterSpec& cluster, const Workload& workload);

  const BatchWorkload& workload() const { return flat_; }
  const std::vector<JobSpec>& jobs() const { return jobs_; }
  /// Whether the group can run: no more than the GPU may hold, in number and in memory.
  bool fits(std::span<const JobId> group, const World& world) const;
  std::size_t unknown_memory_jobs() const { return unknown_memory_jobs_; }

 private:
  const std::vector<JobSpec>& jobs_;
  double memory_mib_;
  std::size_t most_members_;
  std::vector<double> work_ns_, util_, memory_;
  std::vector<std::int64_t> solo_ns_;
  std::vector<std::uint8_t> known_;
  std::size_t unknown_memory_jobs_ = 0;
  BatchWorkload flat_;
};

/// As a run's record has them.
UsageRecord usage_of(const BatchSums& sums);

/// What companies cost, remembered: one for each thread.
class CompanyCosts {
 public:
  /// The arguments must outlive this.
  CompanyCosts(const World& world, std::size_t jobs);

  /// As World::speeds() of the members of `company` (bits; two or more) of a group that has started
  /// whole. `group` ascending, `newcomer` as in Company. out[p] belongs to group[p].
  Provenance speeds(std::span<const std::uint32_t> group, std::uint32_t company,
                    std::uint32_t newcomer, std::optional<std::uint64_t> noise_seed,
                    Strided<double> out);

 private:
  const CompanyOdds* remembered(std::span<const std::uint32_t> group, std::uint32_t company,
                                std::uint32_t newcomer);
  std::unique_ptr<CompanyOdds> ask(std::span<const std::uint32_t> group, std::uint32_t company,
                                   std::uint32_t newcomer) const;

  const World& world_;
  std::size_t jobs_;
  bool tells_ = true;                                ///< the world has odds
  std::vector<std::unique_ptr<CompanyOdds>> pairs_;  ///< other x newcomer, of groups of two
  std::map<std::vector<std::uint32_t>, std::unique_ptr<CompanyOdds>> larger_;
  std::vector<std::uint32_t> key_;
};

/// Runs replications one after the other on the processor, or makes them ready for a GPU: one for each
/// thread.
class BatchEngine {
 public:
  /// The arguments must outlive this.
  BatchEngine(const BatchExperiment& experiment, const World& world);

  /// One replication for a GPU, its companies drawn. Where run() would refuse it, or it does not fit into
  /// the shape, nothing is to be done there.
  void fill(std::span<const std::vector<JobId>> groups, std::optional<std::uint64_t> noise_seed,
            const BatchShape& shape, const BatchInput& input);

  /// The groups in the order in which they start. False where one of them does not fit on a GPU or the
  /// run would go on for years: the event engine must say what comes of that.
  bool run(std::span<const std::vector<JobId>> groups, std::optional<std::uint64_t> noise_seed);

  // Of the last run.
  MetricValues metrics();
  const BatchSums& sums() const { return sums_; }
  /// As SimulatedBackend::take_record(); to be asked for before metrics().
  RunRecord record(std::span<const std::vector<JobId>> groups) const;

 private:
  struct Speeds;
  bool lay_out(std::span<const std::vector<JobId>> groups);

  const BatchExperiment& experiment_;
  const World& world_;
  CompanyCosts costs_;
  std::vector<std::uint32_t> first_, members_, newcomers_;
  std::vector<double> reals_;
  std::vector<std::int64_t> times_;
  std::vector<std::uint64_t> orders_;
  std::vector<std::uint32_t> numbers_;
  std::uint32_t widest_ = 0;
  BatchPlan plan_;
  BatchScratch scratch_;
  BatchSums sums_;
};

/// The metrics of a replication that a GPU has done, and its sums.
MetricValues metrics_of(const BatchOutput& output, const BatchShape& shape);
BatchSums sums_of(const BatchOutput& output);

}  // namespace corun
