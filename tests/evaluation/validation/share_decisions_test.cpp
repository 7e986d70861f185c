#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "evaluation/validation/authors_simulator.hpp"
#include "evaluation/validation/share_policy.hpp"
#include "tests/helpers/public_data.hpp"

/// The share policies beside the decisions of the authors' simulated runs. Before each round, the state is what the
/// authors' own choices led to.
namespace corun::share_decisions_test {
namespace {

constexpr const char* kStudy = "realruns/shockwave";
constexpr double kHalfRoundS = 60;
constexpr double kResetS = 1000;

struct Agreement {
  std::size_t rounds = 0;  ///< in which the same jobs run
  double overlap = 0;      ///< jobs that both choose, over those that either chooses, all rounds
};

/// Gavel's rounds as in its simulator: shares are computed only when the times received begin anew.
Agreement compare(const RoundWorkload& workload, const RoundRun& run) {
  const AuthorsRun authors = simulate_as_authors(workload, run.rounds);
  const auto policy = make_share_policy(run.policy);
  struct Job {
    double received_s = kHalfRoundS;
    double owed_s = 0;
    double share = 0;
  };
  std::map<std::size_t, Job> active;
  std::size_t arrived = 0;
  double last_reset = 0;
  double total = 0;
  bool changed = false;
  Agreement agreement;
  std::size_t both = 0;
  std::size_t either = 0;
  for (std::size_t k = 0; k < run.rounds.size(); ++k) {
    const double now = k == 0 ? 0 : authors.round_end_s[k - 1];
    for (; arrived < workload.jobs.size() && workload.jobs[arrived].arrival_s <= now; ++arrived) {
      active[arrived] = {};
      changed = true;
    }
    changed |= std::erase_if(active, [&](const auto& entry) {
                 return run.rounds_of[entry.first].back() < k;
               }) > 0;
    if (changed && (last_reset == 0 || now - last_reset >= kResetS)) {
      total = 0;
      std::vector<SharedJob> jobs;
      for (auto& [j, job] : active) {
        job.owed_s += job.share * (now - last_reset) - (job.received_s - kHalfRoundS);
        job.received_s = kHalfRoundS;
        total += kHalfRoundS;
        const AuthorsState& state = authors.states[k][j];
        jobs.push_back({j, workload.jobs[j].gpus, now - workload.jobs[j].arrival_s,
                        std::max(state.steps_left, 1e-9), state.steps_per_s});
      }
      const std::vector<double> x = policy->shares(jobs, 32);
      for (std::size_t at = 0; at < jobs.size(); ++at) active[jobs[at].job].share = x[at];
      last_reset = now;
      changed = false;
    }
    std::vector<std::size_t> order;
    for (const auto& [j, job] : active) order.push_back(j);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      const auto key = [&](const Job& job) {
        return std::tuple(job.share / (job.received_s / total), job.owed_s, job.share);
      };
      return key(active[a]) > key(active[b]);
    });
    std::vector<std::size_t> chosen;
    int free = 32;
    for (const std::size_t j : order) {
      if (active[j].share <= 0 || workload.jobs[j].gpus > free) continue;
      free -= workload.jobs[j].gpus;
      chosen.push_back(j);
    }
    std::vector<std::size_t> theirs;
    for (const Placed& placed : run.rounds[k]) theirs.push_back(placed.job);
    std::ranges::sort(chosen);
    std::ranges::sort(theirs);
    std::vector<std::size_t> common;
    std::ranges::set_intersection(chosen, theirs, std::back_inserter(common));
    both += common.size();
    either += chosen.size() + theirs.size() - common.size();
    agreement.rounds += chosen == theirs ? 1 : 0;
    for (const std::size_t j : theirs) {
      active[j].received_s += authors.states[k][j].run_s;
      total += authors.states[k][j].run_s;
    }
  }
  agreement.overlap = static_cast<double>(both) / static_cast<double>(either);
  return agreement;
}

/// A program with many optima does not say who runs, and so max-min alone can be expected to agree everywhere.
TEST(ShareDecisions, AgreeWithTheAuthorsSimulatedRuns) {
  const std::string directory = test::public_data(kStudy);
  if (!test::has_public_data(std::string(kStudy) + "/trace.csv")) {
    GTEST_SKIP() << test::not_checked(kStudy);
  }
  const RoundWorkload workload = read_round_workload(directory);
  const std::map<std::string, double> least{{"max-min", 0.99},
                                            {"allox", 0.96},
                                            {"max-throughput", 0.86},
                                            {"finish-time-fairness", 0.8},
                                            {"min-makespan", 0.76}};
  for (const auto& [policy, overlap] : least) {
    const RoundRun run = read_round_run(directory, "simulated/" + policy, workload);
    const Agreement agreement = compare(workload, run);
    EXPECT_GE(agreement.overlap, overlap)
        << policy << ", " << agreement.rounds << " of " << run.rounds.size() << " rounds are equal";
    if (policy == "max-min") EXPECT_GE(agreement.rounds, 272U) << "of 276";
    RecordProperty(policy, std::to_string(agreement.overlap));
  }
}

}  // namespace
}  // namespace corun::share_decisions_test
