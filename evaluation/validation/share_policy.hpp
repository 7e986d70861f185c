#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Policies that give each job a share of time on GPUs of one type, as Gavel's programs do (Narayanan et al.,
/// OSDI 2020, section 4; policies/shares has the programs); rounds then follow the shares (policy_replay.hpp).
namespace corun::inline evaluation {

/// What such a policy knows of a job.
struct SharedJob {
  std::size_t job = 0;  ///< identity between calls
  int gpus = 1;
  double age_s = 0;        ///< since its arrival
  double steps_left = 1;   ///< at the present batch size
  double steps_per_s = 1;  ///< alone at the present batch size, as declared
};

class SharePolicy {
 public:
  virtual ~SharePolicy() = default;
  /// Shares of time x in [0, 1], in the order of `jobs`, which is that of arrival, with sum of gpus * x at most `gpus`. Where a program has
  /// many optima, it is the analytic centre of them, which interior-point solvers approach.
  virtual std::vector<double> shares(std::span<const SharedJob> jobs, int gpus) = 0;
};

/// "max-min": the largest smallest gpus * x. "finish-time-fairness": the smallest largest ratio of the finish time to
/// that with a fair share, as Gavel's (steps left are restated when a batch size changes, as there).
/// "min-makespan": the shortest time in which all could end, by bisection to 5 %, as Gavel's. "max-throughput": the
/// largest sum of steps/s. "allox": on GPUs of one type as many of the jobs that arrived first as there are GPUs, each
/// with 1 / gpus until it ends, which is what the authors' simulated runs with gangs show. Nothing for other names: such runs are replayed by their allocations alone.
std::unique_ptr<SharePolicy> make_share_policy(std::string_view name);

/// The point inside { least <= x <= 1, sum of gpus * x <= total } that maximises the sum of the logarithms of all
/// slacks; `least` itself where that leaves no room.
std::vector<double> analytic_centre(std::vector<double> least, std::span<const SharedJob> jobs,
                                    double total);

}  // namespace corun::inline evaluation
