#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "sim/belief.hpp"
#include "sim/ids.hpp"

/// Answers the questions of an external policy about pairs of jobs, from its belief
/// (docs/external-policy.md).
namespace corun::inline policies {

class ExternalPairs {
 public:
  /// Pairs in one turn, which is one call of Policy::decide().
  static constexpr std::size_t kMost = 1'000'000;
  /// Questions for pairs in one turn: a second or so of dialogue, however many pairs each has.
  static constexpr int kMostQuestions = 10'000;

  /// `in_system`: the jobs that the policy has seen and that have not ended. Both must outlive this.
  ExternalPairs(const Belief& belief, const std::unordered_set<JobId>& in_system)
      : belief_(belief), in_system_(in_system) {}

  void new_turn() {
    left_ = kMost;
    questions_ = 0;
  }

  /// `asked` is a list of pairs, [[3, 5], [3, 7]]. The reply is one line: {"pairs": [...]} with the
  /// expected costs in the order of `asked`; numbers that are not finite are null. Throws ExternalError
  /// if `asked` is not such a list, is empty or names other jobs than those in the system, and if there
  /// are more than kMost pairs, or kMostQuestions calls, in one turn.
  std::string reply(const nlohmann::ordered_json& asked);

 private:
  JobId job(const nlohmann::ordered_json& number) const;

  const Belief& belief_;
  const std::unordered_set<JobId>& in_system_;
  std::size_t left_ = kMost;  ///< pairs that this turn may still ask for
  int questions_ = 0;         ///< of this turn
};

}  // namespace corun::inline policies
