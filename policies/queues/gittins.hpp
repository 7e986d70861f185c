#pragma once

#include <vector>

/// The Gittins index of a job of unknown service (Gu et al., "Tiresias", NSDI 2019, section 3.2): how likely the job
/// ends within the next quantum of service, over the service that it is expected to take in it, given the service a
/// that it has attained and the distribution of the services S of jobs:
///
///   index(a) = P(S - a <= quantum | S > a) / E[min(S - a, quantum) | S > a]     [1 / GPU s]
///
/// 0 for an a that no job of the distribution exceeds. The distribution is a sample, such as the services of
/// past jobs.
namespace corun::inline policies {

enum class GittinsFormula : unsigned char {
  kDefinition,
  /// The table of Tiresias' simulator. Between two neighbours of the sample the index is that of the upper one less 1
  /// GPU s. It departs from the definition: E adds up services S whole, not S - a; and the largest of the sample never
  /// ends within a quantum. P and E are rounded to 5 decimals, the index to 10 (4 of its millionfold).
  kSimulator,
};

class GittinsIndex {
 public:
  /// `services` [GPU s] in any order; none: the index is 0 everywhere.
  GittinsIndex(std::vector<double> services, double quantum, GittinsFormula formula);

  /// `attained` in GPU s.
  double at(double attained) const;

 private:
  double of(double attained) const;

  std::vector<double> services_;  ///< ascending
  std::vector<double> sums_;      ///< of the first 0, 1, 2, ... of them
  double quantum_;
  GittinsFormula formula_;
  std::vector<double> table_;  ///< kSimulator: by place of the first service above the attained one
};

}  // namespace corun::inline policies
