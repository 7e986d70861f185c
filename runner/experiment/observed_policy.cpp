#include "runner/experiment/observed_policy.hpp"

#include <algorithm>
#include <chrono>

#include "models/knowledge/cluster_mean_belief.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

void ObservedPolicy::decide(const ClusterView& view, std::vector<Decision>& out) {
  const auto stopped = [&] { return observation_.stop != nullptr && observation_.stop->load(); };
  if (stopped()) throw Interrupted{};
  try {
    if (observation_.time_decisions) {
      decide_timed(view, out);
    } else {
      inner_.decide(view, out);
    }
  } catch (
      const PolicyError&) {  // a policy that waits for another program gives up when the run is stopped
    if (stopped()) throw Interrupted{};
    throw;
  }
  if (out.empty()) return;
  if (const auto bound = inner_.plan_quality()) run_.losses.add(bound->cost, bound->least);
}

void ObservedPolicy::decide_timed(const ClusterView& view, std::vector<Decision>& out) {
  const auto start = std::chrono::steady_clock::now();
  inner_.decide(view, out);
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run_.decide_s += took;
  run_.longest_decision_s = std::max(run_.longest_decision_s, took);
  if (view.pass() != pass_) end_of_pass();
  pass_ = view.pass();
  pass_s_ += took;
}

void ObservedPolicy::end_of_pass() {
  if (pass_ > 0) run_.pass_times.add(pass_s_);
  pass_s_ = 0;
}

void ObservedPolicy::corun_ended(const EpisodeOutcome& outcome) {
  inner_.corun_ended(outcome);
  show_learned(outcome.end);
}

void ObservedPolicy::probe_ended(const ProbeOutcome& outcome) {
  inner_.probe_ended(outcome);
  show_learned(outcome.end);
}

void ObservedPolicy::show_learned(Time at) {
  if (!observation_.on_learned) return;
  const Belief* belief = inner_.belief();
  const KnowledgeBase* kb = belief == nullptr ? nullptr : knowledge_base_of(*belief);
  if (kb != nullptr) observation_.on_learned(at, *kb);
}

}  // namespace corun::inline runner
