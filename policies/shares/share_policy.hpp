#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "policies/shares/mersenne_twister.hpp"
#include "policies/shares/share_problem.hpp"
#include "policies/shares/share_rounds.hpp"

/// Policies that answer with shares of time (share_problem.hpp), and the rounds that turn these into decisions
/// (share_rounds.hpp). A policy of this kind writes a ShareRule; SharePolicy does the rest:
///
///   at the end of a round    the time that units received is reckoned; new shares are asked for where they are due;
///                            units that go on keep their GPUs, others are preempted, and start on the lowest free GPUs of
///                            their type, larger gangs first
///   rates                    steps_per_s (else 1 second of work per second) times the speed on the type, of estimates; a
///                            type of which nothing is known runs at GpuType::speed; pairs: times the belief's speeds
///   steps left               estimated steps less those that the job should have done in its rounds
///
/// A gang that no GPU type can hold has no shares: it runs on GPUs of several types, before all others, oldest first.
///
/// With `control.mode: rounds` every pass is the end of a round. Else a round lasts `round_s`: a GPU whose job ends in
/// between idles to the end of the round, unless nothing runs any more.
namespace corun::inline policies {

/// Which shares the jobs get.
class ShareRule {
 public:
  virtual ~ShareRule() = default;
  /// Called once, before shares(). The GPU types, in the order of the problem's columns, and the rounds' times [s].
  virtual void begin(std::span<const GpuType> types, double round_s, double reset_s) {
    static_cast<void>(types), static_cast<void>(round_s), static_cast<void>(reset_s);
  }
  /// Called when new shares are due. The jobs are in the order of their arrival. No x: all shares 0.
  virtual Shares shares(const ShareProblem& problem) = 0;
};

struct SharePolicyOptions {
  bool aware =
      true;  ///< of different rates on types; else each job has its rate on the reference type everywhere
  bool pairs = false;  ///< jobs of equal gangs may share GPUs
  bool fill = true;    ///< jobs without a share run on GPUs that are left
  /// A job that comes to an idle cluster before new shares are due waits for the next arrival, as in Gavel; else it
  /// gets its shares at once. Not a parameter.
  bool idle_waits = false;
  bool drawn_order =
      false;  ///< types are filled in a drawn order, else in the order of the cluster
  Duration reset = std::chrono::seconds{1920};
  Duration round = std::chrono::seconds{360};
  std::optional<std::uint32_t> seed;  ///< nothing: that of the replication
  /// A job's deadline: so many times its run time alone on the reference type after its submission; 0: none.
  double slo = 0;
};

/// The parameters of the rounds, which all policies of this kind have.
const ParametersOf<SharePolicyOptions>& share_round_parameters();
/// The same, and those of programs: which rates, and whether pairs share.
const ParametersOf<SharePolicyOptions>& share_parameters();

/// The belief of share_parameters(): only where pairs share.
PolicyNeeds share_policy_needs(const Parameters& parameters);
/// What all policies of this kind have in common.
PolicyTraits share_policy_traits(bool needs_estimates);

class SharePolicy final : public Policy {
 public:
  /// `round` is PolicyContext::round; the belief is there if pairs are permitted.
  SharePolicy(std::unique_ptr<ShareRule> rule, std::unique_ptr<Belief> belief,
              SharePolicyOptions options, Duration round, std::uint32_t seed);

  const Belief* belief() const override { return belief_.get(); }
  void corun_ended(const EpisodeOutcome& outcome) override {
    if (belief_ != nullptr) belief_->learn(outcome);
  }
  void probe_ended(const ProbeOutcome& outcome) override {
    if (belief_ != nullptr) belief_->learn_probe(outcome);
  }
  void arrived(const JobView& job, Time now) override;
  void departed(JobId job, LogKind how, Time now) override;
  void decide(const ClusterView& view, std::vector<Decision>& out) override;

 private:
  struct Known {
    JobView view;
    std::vector<double> rates;  ///< by type [steps/s]
    double alone = 1;           ///< on the reference type [steps/s]
    double left = 0;            ///< steps
    double left_at_reset = 0;
    double isolated_s = 0;
    double isolated_rate = 0;  ///< at the last reset
  };
  struct Running {
    ShareRounds::Placed placed;
    double steps_a = 0, steps_b = 0;
    double end_s = 0;  ///< expected
    std::vector<GpuId> gpus;
  };

  void begin(const ClusterView& view);
  void add_new(const ClusterView& view);
  void reckon(Time now);
  void new_shares(double now_s);
  ShareProblem problem(double now_s) const;
  void append_units(ShareProblem& problem, std::span<const ShareRounds::Job> jobs) const;
  UnitRates rates_of(std::uint32_t a, std::uint32_t b, std::size_t type) const;
  std::vector<std::uint32_t> draw_order();
  void place_wide(const ClusterView& view);
  bool is_wide(const Running& r) const { return r.placed.type == types_.size(); }
  void choose_round(const ClusterView& view);
  void place(const ClusterView& view, std::vector<Decision>& out);
  double progress(std::uint32_t job, double rate, double& steps) const;

  std::unique_ptr<ShareRule> rule_;
  std::unique_ptr<Belief> belief_;
  SharePolicyOptions options_;
  bool engine_rounds_;
  double round_s_;
  MersenneTwister types_order_;
  std::vector<GpuType> types_;            ///< by GpuType::id
  std::vector<std::vector<GpuId>> gpus_;  ///< by type, ascending
  std::optional<ShareRounds> rounds_;
  std::map<std::uint32_t, Known> jobs_;
  std::vector<std::uint32_t> wide_;  ///< gangs that no type can hold, oldest first
  std::vector<JobView> new_;
  std::vector<std::uint32_t> gone_;
  std::vector<Running> running_;
  Time round_start_{0};
  double clock_s_ = 0;  ///< of round_start_, without its rounding to nanoseconds
  bool idle_ = true;    ///< the last round ran nothing
  std::size_t last_pass_ = static_cast<std::size_t>(-1);
  mutable std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<UnitRates>> pair_rates_;
};

}  // namespace corun::inline policies
