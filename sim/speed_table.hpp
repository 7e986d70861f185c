#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/measurement.hpp"
#include "sim/sharing.hpp"

/// Measured pairs and larger groups, from which interference models learn: jobs with features, and the normalised
/// speed of each job while all of its group are resident (DESIGN section 3).
///
/// Features are the data of a data set about a job alone; all jobs of a table have the same ones. A
/// workload's key is opaque: models may only compare it. Rows of several campaigns may stand in one table.
namespace corun::inline sim {

enum class FeatureScale : std::uint8_t {
  kLinear,  ///< percentages and the like
  kLog,     ///< sizes and rates, above 0: ratios count
};

struct SpeedTable {
  struct Feature {
    std::string name;
    FeatureScale scale = FeatureScale::kLinear;
    friend bool operator==(const Feature&, const Feature&) = default;
  };
  /// Measurements of one data set on one GPU type with one sharing mode. The costs of two campaigns differ in level
  /// and in spread.
  struct Campaign {
    std::string gpu;  ///< GPU type; empty: not known
    Sharing sharing = Sharing::kUnknown;
    double bandwidth_gbs = 0;  ///< of the GPU type's memory [GB/s]; 0: not known
    double fp32_tflops = 0;    ///< peak of the GPU type [TFLOP/s]; 0: not known
    friend bool operator==(const Campaign&, const Campaign&) = default;
  };
  struct Row {
    std::uint32_t a = 0;  ///< positions in `jobs`; equal for a job beside a copy of itself
    std::uint32_t b = 0;
    double speed_a = 0;  ///< of a beside b, above 0; may exceed 1 by noise; NaN: not measured
    double speed_b = 0;
    std::uint32_t campaign = 0;  ///< position in `campaigns`
  };
  /// Three jobs or more on one GPU.
  struct Group {
    std::vector<std::uint32_t> jobs;  ///< positions in `jobs`; equal ones are copies of a job
    std::vector<double> speeds;       ///< of each beside all others, as Row's
    Sharing sharing = Sharing::kUnknown;
    std::uint32_t campaign = 0;  ///< position in `campaigns`
  };

  std::vector<Feature> features;
  std::vector<WorkloadKey> jobs;  ///< all different
  std::vector<double> values;     ///< jobs x features, row-major; NaN: not known
  std::vector<Row> rows;
  std::vector<Group> groups = {};
  std::vector<Campaign> campaigns =
      std::vector<Campaign>(1);  ///< of the rows and groups; at least one
  /// By job: opaque keys of the jobs that are alike, such as all batch sizes of a network; 0: not known. Empty: no job's
  /// is known.
  std::vector<std::uint64_t> families = {};
  /// By job: opaque keys of the jobs that run the same program, such as a network with one batch size, on other shares of
  /// a GPU; 0: not known. Jobs beyond its end: not known.
  std::vector<std::uint64_t> programs = {};

  /// The sharing mode of all campaigns; kUnknown if they have several.
  Sharing sharing() const {
    for (const Campaign& campaign : campaigns) {
      if (campaign.sharing != campaigns.front().sharing) return Sharing::kUnknown;
    }
    return campaigns.front().sharing;
  }

  std::uint64_t family_of(std::size_t job) const { return families.empty() ? 0 : families[job]; }
  std::uint64_t program_of(std::size_t job) const {
    return job < programs.size() ? programs[job] : 0;
  }
  const double* of(std::size_t job) const { return values.data() + job * features.size(); }
};

}  // namespace corun::inline sim
