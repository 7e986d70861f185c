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

/// Scores all pairs of a list of jobs at once: on the GPU if there is one and the batch is large enough, else
/// on the vector units and threads of the processor. Every number has the same bits on each device, and those
/// of InterferenceModel::predict() and ModelBelief::pair(). A batch whose GPU fails is computed by the processor, or
/// throws DeviceError if the device was chosen as cuda.
namespace corun::inline models {

/// Options that change the run time only, not the results.
struct ScoringOptions {
  int threads = 1;
  std::shared_ptr<Device> device = nullptr;  ///< null: the processor
  const Kernels* kernels = nullptr;          ///< null: best_kernels()
  GpuOptions gpu = {};
};

class PairScorer {
 public:
  /// Job n is kinds[kind_of[n]], with a solo time of solo_s[n] seconds (NaN: not known). The model must
  /// outlive the scorer unchanged. std::invalid_argument: kind_of and solo_s have different lengths, a kind
  /// is out of range, too many jobs, and as InterferenceModel::predict().
  PairScorer(const InterferenceModel& model, std::span<const PairJob> kinds,
             std::span<const std::uint32_t> kind_of, std::span<const double> solo_s,
             ScoringOptions options = {});
  std::size_t size() const { return kind_of_.size(); }

  /// What to search, as in CoRunnerSearch: k co-runners of each of `rows` (positions; all jobs if not set),
  /// with `prices` (one entry per job, or empty).
  struct Search {
    std::size_t k = 1;
    std::optional<std::span<const std::uint32_t>> rows = {};
    std::span<const double> prices = {};
  };
  /// For each row its min(k, jobs - 1) cheapest co-runners, as Belief::top_co_runners(): rows x k entries,
  /// row-major, the cheapest first. A cost of NaN counts as infinity. It needs memory for the result and some
  /// tiles, not for a matrix. A search with `rows` runs on the processor. std::invalid_argument: another
  /// number of prices.
  std::vector<CoRunner> top_co_runners(const CostRule& rule, const Search& search) const;

  /// Normalised speed and standard deviation of the row's job beside the column's, on the diagonal beside a
  /// copy of itself: each jobs x jobs, row-major.
  struct Matrix {
    std::vector<double> speed, sd;
  };
  Matrix all_pairs() const;

  /// Speeds in sets of residents of any size. `members`: positions of jobs; set s is [first[s], first[s + 1])
  /// of them. Returns one entry per member: its expected speed beside the others of its set, in (0, 1], 1
  /// alone (InterferenceModel::speeds()).
  std::vector<double> co_runner_speeds(std::span<const std::uint32_t> members,
                                       std::span<const std::size_t> first) const;

  /// Where the last batch was computed: "cpu, avx512, 2 threads" or "cuda, NAME".
  const std::string& ran_on() const { return ran_on_; }

 private:
  std::vector<CoRunner> top_on_cpu(const CostRule& rule, const Search& search) const;
  Matrix all_on_cpu() const;
  void tabulate_kinds();
  KindTableJobs table_of(std::span<const PairJob> kinds,
                         std::span<const std::uint32_t> kind_of) const;
  std::shared_ptr<PairFormula> co_runner_norm(std::span<const std::uint32_t> members) const;
  const GpuScorer* gpu_for_batch(const CostRule& rule) const;
  /// Measures the time [s] that one tile of costs takes on the processor.
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

}  // namespace corun::inline models
