#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/validation/run_parameters.hpp"

/// `corun validate`: corun beside published runs on a real cluster, job by job. Parameters are fitted on some
/// runs and tested on others. docs/validity.md has the definitions and what came of it.
namespace corun::inline evaluation {

enum class Given : std::uint8_t { kPolicy, kAllocation };
constexpr const char* name_of(Given given) {
  return given == Given::kPolicy ? "policy" : "allocation";
}

struct ValidationRequest {
  std::string directory;
  std::vector<std::string> fit;   ///< folders such as "real/max-min"; none: parameters as declared
  std::vector<std::string> test;  ///< none: every real run that is not fitted on
  std::map<std::string, double>
      limits;              ///< run-time limit over declared run time, by run; 1 if not given
  bool policy = true;      ///< given the policy, where it is known
  bool allocation = true;  ///< given the allocations
  bool parts = true;       ///< also what would be enough
  double round_s = 120;
  std::size_t draws = 100;  ///< of the fitted noise; 0: none, and no intervals
  std::uint64_t seed = 1;
};

/// |simulated / real - 1|.
struct Errors {
  double mean_jct = 0;
  double makespan = 0;    ///< of the latest finish
  double job_median = 0;  ///< over jobs, of completion times
  double job_p90 =
      0;  ///< the value at place floor(0.9 n) + 1 of the n sorted ones: the 109th of 120
  double mean_sign = 0;  ///< of the mean completion time, with its sign
};

struct ValidatedJob {
  double real_jct_s = 0;
  double jct_s = 0;  ///< simulated: the median of the draws
  double low_s =
      0;  ///< 5 % of draws with another campaign's speeds are below, calibrated on the runs fitted on
  double high_s = 0;
  std::string name = {};  ///< empty: its number in the run
};

/// Mean of simulated / real - 1 over jobs of a kind.
struct KindBias {
  std::string kind;  ///< "gpus=2"
  std::size_t jobs = 0;
  double bias = 0;
};

/// A run given its allocations, without the knowledge of each job's last round.
struct OwnProgress {
  double job_median = 0;
  double job_p90 = 0;
  double rounds_ratio = 1;  ///< median over jobs of rounds needed over rounds received
};

struct ValidatedRun {
  std::string run;
  std::string policy;
  Given given = Given::kAllocation;
  double limit = 1;
  Errors errors;
  std::optional<double> covered;  ///< share of jobs within their 90 % interval; of a run with draws
  double real_mean_jct_s = 0;
  double mean_jct_s = 0;
  double mean_low_s = 0;
  double mean_high_s = 0;
  double real_makespan_s = 0;
  double makespan_s = 0;
  double makespan_low_s = 0;
  double makespan_high_s = 0;
  std::vector<double> drawn_means_s;
  std::vector<ValidatedJob> jobs;
  std::vector<KindBias> kinds;
  std::optional<OwnProgress> progress;  ///< given the allocations
};

/// The authors' simulation of the policy of a tested run.
struct AuthorsErrors {
  std::string run;  ///< "simulated/max-min"
  Errors errors;
};

/// The tested run again, with one part taken from the run itself.
struct PartErrors {
  std::string run;
  std::string
      part;  ///< "nothing", "rates", "round length", "start cost", "all of these", "decisions"
  Errors errors;
};

/// Whether the run's files fit together, by the fitted parameters.
struct RunCheck {
  std::string run;
  double clock = 1;     ///< real over modelled time from round 0 to finishes, median
  double rates = 1;     ///< measured over modelled speed of leases, median
  double run_time = 0;  ///< median over jobs of |run time by rounds / measured - 1|
};

struct InvertedPair {
  std::string first;  ///< really shorter mean completion time
  std::string second;
  double real_difference = 0;  ///< of the means, over the shorter
};

struct Validation {
  ValidationRequest request;  ///< with the runs that were tested
  /// Else runs of another kind, each compared with one simulation (compare_run()): without limits, parameters, intervals
  /// and parts.
  bool in_rounds = true;
  RunParameters parameters;
  double inflation_policy = 1;  ///< of intervals, by the runs fitted on
  double inflation_allocation = 1;
  std::vector<ValidatedRun> runs;
  std::vector<AuthorsErrors> authors;
  std::vector<PartErrors> parts;
  std::vector<RunCheck> checks;
  Given ranked = Given::kPolicy;  ///< rows that tau is of
  std::optional<double>
      tau;             ///< Kendall's, of the tested policies by mean completion time; from two on
  double tau_low = 0;  ///< over draws, 5 %
  double tau_high = 0;
  std::vector<InvertedPair> inverted;
  std::vector<std::string> hints;
};

/// The value at place floor(0.9 n) + 1, at most n, of the ascending values.
double ninetieth(std::vector<double> errors);

/// Called before each simulation of a run: how many are done, and how many there will be.
using ValidationProgress = std::function<void(std::size_t done, std::size_t total)>;

/// InputError for a run that is not there, or is both fitted on and tested.
Validation validate_runs(const ValidationRequest& request, const ValidationProgress& progress = {});

/// A job of a run of any kind.
struct ComparedJob {
  std::string name;
  std::string kind;  ///< for the bias; empty: none
  double arrival_s = 0;
  double real_jct_s = 0;
  double jct_s = 0;
};

/// A run beside one simulation of it. `jobs` must not be empty.
ValidatedRun compare_run(const std::string& run, const std::string& policy, Given given,
                         const std::vector<ComparedJob>& jobs);

/// The order of the policies of such runs, for a directory.
Validation compare_runs(const std::string& directory, std::vector<ValidatedRun> runs);

}  // namespace corun::inline evaluation
