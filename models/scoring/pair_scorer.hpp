#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/formulas/pair_formula.hpp"
#include "models/interference/interference_model.hpp"
#include "models/scoring/device.hpp"
#include "models/scoring/gpu_scorer.hpp"
#include "models/scoring/speed_source.hpp"
#include "models/vector_units/kernels.hpp"
#include "sim/belief.hpp"

/// Scores all pairs of a list of jobs at once: on the GPU where there is one and the batch is worth it,
/// else on the processor's vector units and threads. A number is the same bits wherever it was worked
/// out, and the same as InterferenceModel::predict() and ModelBelief::pair() give.
namespace corun {

/// What changes speed only.
struct ScoringOptions {
  int threads = 1;
  std::shared_ptr<Device> device = nullptr;  ///< null: the processor
  const Kernels* kernels = nullptr;          ///< null: those of the widest set
  GpuOptions gpu = {};
};

class PairScorer {
 public:
  /// Job n is of kind kind_of[n] of `kinds` and takes solo_s[n] alone [s]; NaN: not known. The model
  /// must stay as it is as long as the scorer is there. std::invalid_argument as predict().
  PairScorer(const InterferenceModel& model, std::span<const PairJob> kinds,
             std::span<const std::uint32_t> kind_of, std::span<const double> solo_s,
             ScoringOptions options = {});
  std::size_t size() const { return kind_of_.size(); }

  /// Who is looked for, as CoRunnerSearch has it.
  struct Search {
    std::size_t k = 1;
    std::optional<std::span<const std::uint32_t>> rows = {};
    std::span<const double> prices = {};
  };
  /// For each row its min(k, jobs - 1) cheapest co-runners, as Belief::top_co_runners(): k = 1 is the best
  /// one. Costs that are NaN count as infinity. Memory: what is returned and a few tiles, never a
  /// matrix. Some rows of many are left to the processor.
  std::vector<CoRunner> top_co_runners(const CostRule& rule, const Search& search) const;

  /// Speed and deviation of every job beside every other, or beside a copy of itself: jobs x jobs,
  /// row-major.
  struct Matrix {
    std::vector<double> speed, sd;
  };
  Matrix all_pairs() const;

  /// Sets of residents of any size: members of set s are [first[s], first[s + 1]) of `members`, which
  /// are positions of jobs. Out: what each runs at beside the others of its set, in that order, as
  /// InterferenceModel::speeds() says; 1 alone.
  std::vector<double> co_runner_speeds(std::span<const std::uint32_t> members,
                                       std::span<const std::size_t> first) const;

  /// Where the last batch was worked out: "cpu, avx512, 2 threads" or "cuda, NAME".
  const std::string& ran_on() const { return ran_on_; }

 private:
  std::vector<CoRunner> top_on_cpu(const CostRule& rule, const Search& search) const;
  Matrix all_on_cpu() const;
  void tabulate_kinds();
  KindTableJobs table_of(std::span<const PairJob> kinds,
                         std::span<const std::uint32_t> kind_of) const;
  std::shared_ptr<PairFormula> co_runner_norm(std::span<const std::uint32_t> members) const;
  const GpuScorer* gpu_for_batch(const CostRule& rule) const;
  /// What one tile of costs takes on the processor. [s]
  double tile_seconds(const CostRule& rule, std::size_t jobs) const;
  const Kernels& kernels() const;
  std::unique_ptr<SpeedSource> source() const;
  void ran_on_cpu() const;

  const InterferenceModel& model_;
  std::vector<PairJob> kinds_;
  std::vector<std::uint32_t> kind_of_;
  SoloTimes solo_;
  ScoringOptions options_;
  std::shared_ptr<PairFormula> formula_;
  mutable std::string ran_on_;
};

}  // namespace corun
