#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "policies/catalog.hpp"
#include "policies/groups/candidate_graph.hpp"
#include "policies/groups/group_policy.hpp"
#include "policies/groups/recommender_parameters.hpp"
#include "policies/parameters_of.hpp"
#include "policies/placement.hpp"

/// incremental-matching: a minimum-cost matching of a long queue that is kept from pass to pass and
/// repaired after changes, in place of a new matching in each pass (min-slowdown, balance).
///
/// A waiting job keeps its co-runner, its price (sparse_matching.hpp) and its `candidates`: the cheapest
/// co-runners at the prices of the time of the search. In a pass with empty GPUs
///   1. jobs that have left the queue are forgotten, and their co-runners are without one;
///   2. co-runners are searched anew, among the whole queue, first for new jobs, then for jobs whose costs
///      are older than the belief's latest learning, then for jobs not yet searched for kSearches times
///      with this belief (prices settle in between): for as many jobs as make `rescore_budget` pairs, but
///      at least as many as the empty GPUs can take;
///   3. these jobs, their candidates, all jobs without a co-runner and the co-runners of all of these are
///      matched anew over the known candidates, which include their present pairs: at the stored costs,
///      the whole matching never gets worse by this;
///   4. the cheapest pairs of the queue start.
/// The budget bounds the work per pass, the clock does not: the same seed gives the same results. A job
/// that has not been searched for waits without a co-runner, and starts only if no pair is left.
namespace corun::inline policies {

namespace {

constexpr int kSearches = 3;
constexpr std::size_t kBlock = 16;

struct Options {
  CostRule rule;
  std::size_t candidates = 8;
  std::size_t rescore_budget = 1'000'000;  ///< pairs
  std::size_t window = 10'000;
};

class IncrementalMatching final : public GroupPolicy {
 public:
  IncrementalMatching(Options options, PolicyContext context)
      : GroupPolicy(context.plan_once), options_(options), belief_(std::move(context.belief)) {}

  std::vector<Group> plan(const ClusterView& view, std::span<const JobId> waiting, std::uint64_t,
                          std::size_t wanted) override {
    Queue& queue = queues_[ask_of(view.job(waiting.front()))];
    bring_in(waiting, queue);
    std::vector<Group> groups;
    if (view.max_jobs_per_gpu(kPair) < kPair) {
      for (const JobId j : waiting.first(std::min(wanted, waiting.size()))) {
        groups.push_back({.jobs = {j}});
      }
      return groups;
    }
    rematch(choose_rows(queue, wanted), queue);
    std::vector<std::tuple<double, JobId, JobId>> pairs;
    for (std::size_t i = 0; i < queue.jobs.size(); ++i) {
      const Kept& kept = queue.kept[i];
      if (kept.mate != kNoJob && queue.jobs[i] < kept.mate) {
        pairs.emplace_back(kept.mate_cost, queue.jobs[i], kept.mate);
      }
    }
    const auto end = pairs.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, pairs.size()));
    std::partial_sort(pairs.begin(), end, pairs.end());
    for (auto at = pairs.begin(); at != end; ++at) {
      std::array<JobId, kPair> jobs{std::get<1>(*at), std::get<2>(*at)};
      sort_by_submission(view, jobs);
      groups.push_back({.jobs = {jobs[0], jobs[1]}, .expected = belief_->pair(jobs[0], jobs[1])});
    }
    for (std::size_t i = 0; i < queue.jobs.size() && groups.size() < wanted; ++i) {
      if (queue.kept[i].mate == kNoJob) groups.push_back({.jobs = {queue.jobs[i]}});
    }
    return groups;
  }

  std::optional<JobId> co_runner(const ClusterView&, JobId resident,
                                 std::span<const JobId> waiting) override {
    std::vector<JobId> jobs{resident};
    jobs.insert(jobs.end(), waiting.begin(), waiting.end());
    const std::uint32_t first = 0;
    const std::vector<CoRunner> best = belief_->top_co_runners(
        {.jobs = jobs, .k = 1, .rows = std::span(&first, 1)}, options_.rule);
    return jobs[best.front().position];
  }

  std::size_t window() const override { return options_.window; }
  const Belief* belief() const override { return belief_.get(); }
  void corun_ended(const EpisodeOutcome& outcome) override {
    belief_->learn(outcome);
    ++learnt_;
  }
  void probe_ended(const ProbeOutcome& outcome) override {
    belief_->learn_probe(outcome);
    ++learnt_;
  }

 private:
  struct Candidate {
    JobId job;
    double cost;
  };
  /// State of a waiting job.
  struct Kept {
    double price = 0;
    JobId mate = kNoJob;
    double mate_cost = 0;
    std::vector<Candidate> candidates;
    std::uint64_t learnt = 0;  ///< `learnt_` of the policy at the last search
    int searches = 0;          ///< since the belief last learnt; 0: a new job
  };
  struct Queue {
    std::vector<JobId> jobs;  ///< ascending
    std::vector<Kept> kept;   ///< of each
    std::optional<std::uint32_t> position(JobId job) const {
      const auto at = std::ranges::lower_bound(jobs, job);
      if (at == jobs.end() || *at != job) return std::nullopt;
      return static_cast<std::uint32_t>(at - jobs.begin());
    }
  };

  /// Step 1.
  static void bring_in(std::span<const JobId> waiting, Queue& queue) {
    Queue next;
    next.jobs.assign(waiting.begin(), waiting.end());
    std::ranges::sort(next.jobs);
    next.kept.resize(next.jobs.size());
    std::size_t old = 0;
    for (std::size_t i = 0; i < next.jobs.size(); ++i) {
      while (old < queue.jobs.size() && queue.jobs[old] < next.jobs[i]) ++old;
      if (old < queue.jobs.size() && queue.jobs[old] == next.jobs[i]) {
        next.kept[i] = std::move(queue.kept[old]);
      }
    }
    for (Kept& kept : next.kept) {
      if (kept.mate != kNoJob && !next.position(kept.mate)) kept.mate = kNoJob;
    }
    queue = std::move(next);
  }

  /// Step 2: positions, ascending.
  std::vector<std::uint32_t> choose_rows(const Queue& queue, std::size_t wanted) const {
    const std::size_t n = queue.jobs.size();
    std::vector<std::tuple<bool, std::uint64_t, int, std::uint32_t>> due;
    for (std::uint32_t i = 0; i < n; ++i) {
      const Kept& kept = queue.kept[i];
      if (kept.searches == kSearches && kept.learnt == learnt_) continue;
      due.emplace_back(kept.searches > 0, kept.learnt, kept.searches, i);
    }
    const std::size_t affordable = options_.rescore_budget / std::max<std::size_t>(n - 1, 1);
    const std::size_t count = std::min(due.size(), std::max(affordable, kPair * wanted));
    std::partial_sort(due.begin(), due.begin() + static_cast<std::ptrdiff_t>(count), due.end());
    std::vector<std::uint32_t> rows;
    for (std::size_t d = 0; d < count; ++d) rows.push_back(std::get<3>(due[d]));
    std::ranges::sort(rows);
    return rows;
  }

  /// Searches co-runners of these jobs.
  void search(std::span<const std::uint32_t> rows, Queue& queue) const {
    std::vector<double> prices;
    for (const Kept& kept : queue.kept) prices.push_back(kept.price);
    const std::vector<CoRunner> found = belief_->top_co_runners(
        {.jobs = queue.jobs, .k = options_.candidates, .rows = rows, .prices = prices},
        options_.rule);
    const std::size_t each = found.size() / rows.size();
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Kept& kept = queue.kept[rows[r]];
      kept.searches = kept.learnt == learnt_ ? kept.searches + 1 : 1;
      kept.learnt = learnt_;
      kept.candidates.clear();
      for (std::size_t c = r * each; c < (r + 1) * each; ++c) {
        const std::uint32_t at = found[c].position;
        kept.candidates.push_back({queue.jobs[at], found[c].cost + prices[at]});
      }
      if (kept.mate == kNoJob) continue;
      const auto [low, high] = std::minmax(queue.jobs[rows[r]], kept.mate);
      kept.mate_cost = bounded_cost(objective_cost(options_.rule, belief_->pair(low, high)));
      queue.kept[*queue.position(kept.mate)].mate_cost = kept.mate_cost;
    }
  }

  /// Step 3.
  void rematch(const std::vector<std::uint32_t>& rows, Queue& queue) const {
    if (rows.empty()) return;
    search(rows, queue);
    // Number of each participant in the small problem, by position in the queue.
    constexpr std::uint32_t kOutside = 0xffffffff;
    std::vector<std::uint32_t> number(queue.jobs.size(), kOutside);
    std::vector<std::uint32_t> members;
    const auto take = [&](std::uint32_t i) {
      if (number[i] != kOutside) return;
      number[i] = 0;
      members.push_back(i);
    };
    const auto take_with_mate = [&](std::uint32_t i) {
      take(i);
      if (queue.kept[i].mate != kNoJob) take(*queue.position(queue.kept[i].mate));
    };
    for (const std::uint32_t row : rows) {
      take_with_mate(row);
      for (const Candidate& c : queue.kept[row].candidates) take_with_mate(*queue.position(c.job));
    }
    for (std::uint32_t i = 0; i < queue.jobs.size(); ++i) {
      if (queue.kept[i].mate == kNoJob && queue.kept[i].searches > 0) take(i);
    }
    std::ranges::sort(members);
    std::vector<JobId> jobs;
    for (std::uint32_t m = 0; m < members.size(); ++m) {
      number[members[m]] = m;
      jobs.push_back(queue.jobs[members[m]]);
    }

    CandidateGraph graph(members.size());
    std::vector<std::uint32_t> single;
    for (std::uint32_t m = 0; m < members.size(); ++m) {
      const Kept& kept = queue.kept[members[m]];
      if (kept.mate == kNoJob) {
        single.push_back(m);
      } else {
        graph.add(m, number[*queue.position(kept.mate)], kept.mate_cost);
      }
    }
    graph.add_blocks(*belief_, jobs, options_.rule, single, kBlock);
    // Present costs before older ones: the first cost given for a pair counts.
    for (const bool now : {true, false}) {
      for (std::uint32_t m = 0; m < members.size(); ++m) {
        const Kept& kept = queue.kept[members[m]];
        if ((kept.learnt == learnt_) != now) continue;
        for (const Candidate& c : kept.candidates) {
          const auto at = queue.position(c.job);
          if (at && number[*at] != kOutside) graph.add(m, number[*at], c.cost);
        }
      }
    }
    const PricedMatching matching = graph.match();
    for (std::uint32_t m = 0; m < members.size(); ++m) {
      Kept& kept = queue.kept[members[m]];
      kept.price = matching.price[m];
      if (matching.co_runner[m] >= members.size()) kept.mate = kNoJob;
    }
    for (const MatchEdge& e : graph.edges()) {
      if (matching.co_runner[e.a] != e.b) continue;
      Kept& a = queue.kept[members[e.a]];
      Kept& b = queue.kept[members[e.b]];
      a.mate = jobs[e.b];
      b.mate = jobs[e.a];
      a.mate_cost = b.mate_cost = e.cost;
    }
  }

  Options options_;
  std::unique_ptr<Belief> belief_;
  std::uint64_t learnt_ = 0;  ///< number of episodes that the belief was told of
  std::map<GpuAsk, Queue> queues_;
};

const ParametersOf<Options>& incremental_matching_parameters() {
  static const auto all = [] {
    ParametersOf<Options> parameters;
    add_objective(parameters, [](Options& o) -> Objective& { return o.rule.objective; });
    parameters
        .number(
            "risk", [](Options& o) -> double& { return o.rule.risk; }, kRiskText)
        .only_where(jobs_share)
        .number("candidates", &Options::candidates,
                {1, 1000, "candidate co-runners that are kept per waiting job"})
        .number("rescore_budget", &Options::rescore_budget,
                {0, 1e12,
                 "pairs scored per scheduling pass; always enough to fill the GPUs that are empty"})
        .number("window", &Options::window,
                {2, 1e6, "waiting jobs that are kept matched, the oldest"})
        .only_where(jobs_exceed_window);
    return parameters;
  }();
  return all;
}

}  // namespace

PolicyEntry incremental_matching_entry() {
  return {.name = "incremental-matching",
          .description = "minimum-cost matching of a long queue, kept between passes and repaired",
          .needs = PolicyNeeds::kBelief,
          .parameters = incremental_matching_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            const Options options = incremental_matching_parameters().read(c.parameters);
            return std::make_unique<IncrementalMatching>(options, std::move(c));
          },
          .traits = {.plans_groups = true}};
}

}  // namespace corun::inline policies
