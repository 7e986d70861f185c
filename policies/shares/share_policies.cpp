#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "policies/shares/allox.hpp"
#include "policies/shares/fifo_shares.hpp"
#include "policies/shares/gandiva.hpp"
#include "policies/shares/max_min.hpp"
#include "policies/shares/max_throughput.hpp"
#include "policies/shares/share_policy.hpp"

/// The policies that answer with shares: `max-min`, `max-min-water-filling`, `finish-time-fairness`, `makespan`,
/// `max-throughput`, `isolated`, `allox`, `gandiva` and `fifo-by-type`, all after Gavel (Narayanan et al., OSDI 2020,
/// and its published simulator). docs/policies.md has the equations.
namespace corun::inline policies {

namespace {

/// A rule that is one function of the problem and of the last basis.
template <typename Function>
class ProgramRule final : public ShareRule {
 public:
  explicit ProgramRule(Function function) : function_(std::move(function)) {}
  Shares shares(const ShareProblem& problem) override { return function_(problem, &basis_); }

 private:
  Function function_;
  ProgramBasis basis_;
};

template <typename Function>
std::unique_ptr<ShareRule> program_rule(Function function) {
  return std::make_unique<ProgramRule<Function>>(std::move(function));
}

/// AlloX: jobs that have started keep their type; the others are matched to the GPUs that are left.
class AlloXRule final : public ShareRule {
 public:
  Shares shares(const ShareProblem& problem) override {
    Shares shares;
    shares.x.assign(problem.units.size() * problem.types(), 0.0);
    std::map<std::uint64_t, std::size_t> kept;
    std::vector<int> free = problem.gpus;
    ShareProblem waiting{problem.gpus, {}, {}, {}};
    std::vector<std::size_t> place;
    const auto start = [&](std::size_t job, std::size_t type) {
      kept[problem.jobs[job].id] = type;
      free[type] -= problem.jobs[job].gpus;
      shares.x[job * problem.types() + type] = 1;
    };
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      if (const auto at = types_.find(problem.jobs[j].id); at != types_.end()) start(j, at->second);
    }
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      if (kept.contains(problem.jobs[j].id)) continue;
      if (problem.jobs[j].gpus > 1) {
        start_gang(problem, j, free, start);
        continue;
      }
      waiting.units.push_back({static_cast<std::uint32_t>(place.size()), std::nullopt});
      waiting.jobs.push_back(problem.jobs[j]);
      for (std::size_t t = 0; t < problem.types(); ++t) {
        waiting.rates.push_back(problem.rate(j, t));
      }
      place.push_back(j);
    }
    for (const AlloXStart& s : allox_starts(waiting, free)) start(place[s.job], s.type);
    types_ = std::move(kept);
    return shares;
  }

 private:
  /// A gang, of which AlloX knows none, goes in the order of arrival to the type on which it is fastest, and holds the
  /// free GPUs there until there are enough.
  template <typename Start>
  static void start_gang(const ShareProblem& problem, std::size_t job, std::vector<int>& free,
                         Start&& start) {
    std::optional<std::size_t> fastest;
    for (std::size_t t = 0; t < problem.types(); ++t) {
      if (!(problem.rate(job, t).a > 0)) continue;
      if (!fastest || problem.rate(job, t).a > problem.rate(job, *fastest).a) fastest = t;
    }
    if (!fastest) return;
    if (free[*fastest] >= problem.jobs[job].gpus) {
      start(job, *fastest);
    } else {
      free[*fastest] = 0;
    }
  }

  std::map<std::uint64_t, std::size_t> types_;  ///< of started jobs
};

class GandivaRule final : public ShareRule {
 public:
  explicit GandivaRule(std::uint32_t seed) : gandiva_(seed) {}
  Shares shares(const ShareProblem& problem) override { return gandiva_.assign(problem); }

 private:
  GandivaShares gandiva_;
};

class FifoRule final : public ShareRule {
 public:
  explicit FifoRule(FifoOptions options) : fifo_(options) {}
  Shares shares(const ShareProblem& problem) override { return fifo_.assign(problem); }

 private:
  FifoShares fifo_;
};

struct MaxThroughputOptions : SharePolicyOptions {
  std::vector<double> prices;
};

struct FifoByTypeOptions : SharePolicyOptions {
  FifoOptions fifo;
};

std::uint32_t seed_of(const SharePolicyOptions& options, const PolicyContext& context) {
  return options.seed.value_or(static_cast<std::uint32_t>(context.seed));
}

/// An entry whose rule follows from the options, which it may complete, and the seed.
template <typename Options>
PolicyEntry share_entry(std::string_view name, std::string_view description,
                        const ParametersOf<Options>& parameters,
                        std::unique_ptr<ShareRule> (*rule)(Options&, std::uint32_t),
                        bool needs_estimates) {
  PolicyEntry entry;
  entry.name = name;
  entry.description = description;
  entry.parameters = parameters.specs();
  entry.make = [&parameters, rule](PolicyContext c) -> std::unique_ptr<Policy> {
    Options options = parameters.read(c.parameters);
    const std::uint32_t seed = seed_of(options, c);
    std::unique_ptr<ShareRule> shares = rule(options, seed);
    return std::make_unique<SharePolicy>(std::move(shares), std::move(c.belief), options, c.round,
                                         seed);
  };
  entry.traits = share_policy_traits(needs_estimates);
  return entry;
}

/// With a belief where pairs share.
PolicyEntry with_pairs(PolicyEntry entry) {
  entry.needs_with = share_policy_needs;
  return entry;
}

}  // namespace

PolicyEntry max_min_entry() {
  return with_pairs(share_entry<SharePolicyOptions>(
      "max-min", "Gavel's max-min fairness: the least weighted share of time, at the jobs' rates",
      share_parameters(),
      +[](SharePolicyOptions&, std::uint32_t) {
        return program_rule([](const ShareProblem& p, ProgramBasis* b) { return max_min(p, b); });
      },
      false));
}

PolicyEntry max_min_water_filling_entry() {
  return with_pairs(share_entry<SharePolicyOptions>(
      "max-min-water-filling",
      "max-min fairness, then again among the jobs whose share can still rise", share_parameters(),
      +[](SharePolicyOptions&, std::uint32_t) {
        return program_rule(
            [](const ShareProblem& p, ProgramBasis* b) { return water_filling(p, b).shares; });
      },
      false));
}

PolicyEntry finish_time_fairness_entry() {
  return with_pairs(share_entry<SharePolicyOptions>(
      "finish-time-fairness",
      "Themis in Gavel's form: the least worst JCT over that on an equal share", share_parameters(),
      +[](SharePolicyOptions&, std::uint32_t) {
        return program_rule([](const ShareProblem& p, ProgramBasis* b) {
          // Gavel divides rates by the weights where jobs share, and ignores weights elsewhere.
          if (!p.packed()) return finish_time_fairness(p, b);
          ShareProblem weighted = p;
          for (std::size_t u = 0; u < p.units.size(); ++u) {
            for (std::size_t t = 0; t < p.types(); ++t) {
              UnitRates& rates = weighted.rates[u * p.types() + t];
              rates.a /= p.jobs[p.units[u].a].weight;
              if (p.units[u].b) rates.b /= p.jobs[*p.units[u].b].weight;
            }
          }
          return finish_time_fairness(weighted, b);
        });
      },
      true));
}

PolicyEntry makespan_entry() {
  return with_pairs(share_entry<SharePolicyOptions>(
      "makespan", "Gavel's least makespan: shares with which all jobs end soonest",
      share_parameters(),
      +[](SharePolicyOptions&, std::uint32_t) {
        return program_rule(
            [](const ShareProblem& p, ProgramBasis* b) { return min_makespan(p, b).shares; });
      },
      true));
}

PolicyEntry max_throughput_entry() {
  static const auto parameters =
      ParametersOf<MaxThroughputOptions>()
          .with(share_parameters())
          .number("prices", &MaxThroughputOptions::prices,
                  {1e-6, 1e9,
                   "of a GPU for an hour, by type in the order of the cluster: the sum is then of "
                   "steps per unit of money; []: of steps"})
          .only_where(gpus_are_of_several_types)
          .number("slo", &SharePolicyOptions::slo,
                  {0, 1e6,
                   "deadline of each job: so many times its estimated run time after its "
                   "submission; 0: none"});
  return with_pairs(share_entry<MaxThroughputOptions>(
      "max-throughput", "Gavel's greatest sum of steps per second, also per price, with deadlines",
      parameters,
      +[](MaxThroughputOptions& o, std::uint32_t) {
        return program_rule([prices = o.prices](const ShareProblem& p, ProgramBasis* b) {
          std::vector<double> by_type = prices;
          if (!by_type.empty()) by_type.resize(p.types(), by_type.back());
          return max_throughput(p, by_type, b);
        });
      },
      true));
}

PolicyEntry isolated_entry() {
  return share_entry<SharePolicyOptions>(
      "isolated", "an equal share of each GPU type for every job, in rounds (Gavel's baseline)",
      share_round_parameters(),
      +[](SharePolicyOptions& o, std::uint32_t) {
        o.idle_waits = true;
        return program_rule([](const ShareProblem& p, ProgramBasis*) { return equal_shares(p); });
      },
      false);
}

PolicyEntry allox_entry() {
  return share_entry<SharePolicyOptions>(
      "allox", "AlloX in Gavel's form: least mean JCT by matching jobs to GPUs and positions",
      share_round_parameters(),
      +[](SharePolicyOptions& o, std::uint32_t) -> std::unique_ptr<ShareRule> {
        o.idle_waits = true;
        return std::make_unique<AlloXRule>();
      },
      true);
}

PolicyEntry gandiva_entry() {
  // It draws its pairs.
  static const auto parameters = ParametersOf<SharePolicyOptions>()
                                     .with(share_round_parameters())
                                     .only_where("seed", jobs_share);
  PolicyEntry entry = share_entry<SharePolicyOptions>(
      "gandiva", "Gandiva in Gavel's form: random pairs, kept while they are worth it", parameters,
      +[](SharePolicyOptions& o, std::uint32_t seed) -> std::unique_ptr<ShareRule> {
        o.pairs = true;
        o.idle_waits = true;
        return std::make_unique<GandivaRule>(seed);
      },
      false);
  entry.needs = PolicyNeeds::kBelief;
  return entry;
}

PolicyEntry fifo_by_type_entry() {
  static const auto parameters =
      ParametersOf<FifoByTypeOptions>()
          .with(share_round_parameters())
          .choice(
              "choice", [](FifoByTypeOptions& o) -> FifoTypes& { return o.fifo.types; },
              {{"drawn", FifoTypes::kDrawn},
               {"fastest", FifoTypes::kFastest},
               {"packed", FifoTypes::kPacked}},
              "the GPU type of a job: drawn of those with free GPUs and kept; the fastest of "
              "them, anew with new shares; packed: as fastest, then pairs")
          .number("threshold", [](FifoByTypeOptions& o) -> double& { return o.fifo.threshold; },
                  {0, 2, "two jobs share only where their speeds add up to more than this"})
          .only_where([](const ParameterContext& c) {
            return c.parameters.choice("choice") == "packed" ? jobs_share(c)
                                                             : "choice is not packed";
          })
          .choice(
              "gangs", [](FifoByTypeOptions& o) -> bool& { return o.fifo.overcommits_gangs; },
              {{"fit", false}, {"overcommit", true}},
              "fit: a gang that finds too few GPUs lets all behind it wait; overcommit: GPUs of "
              "ended "
              "jobs go on before those of running ones are counted, as in Gavel's simulator")
          .only_where(some_jobs_are_gangs)
          .only_where("seed", [](const ParameterContext& c) -> std::string {
            if (c.gpu_types < 2) return gpus_are_of_several_types(c);
            const bool draws = c.parameters.choice("type_order") == "drawn" ||
                               c.parameters.choice("choice") == "drawn";
            return draws ? "" : "nothing is drawn";
          });
  PolicyEntry entry = share_entry<FifoByTypeOptions>(
      "fifo-by-type", "Gavel's FIFO over several GPU types, in rounds", parameters,
      +[](FifoByTypeOptions& o, std::uint32_t seed) -> std::unique_ptr<ShareRule> {
        o.fill = false;
        o.idle_waits = true;
        o.pairs = o.fifo.types == FifoTypes::kPacked;
        o.fifo.seed = seed;
        return std::make_unique<FifoRule>(o.fifo);
      },
      false);
  entry.needs_with = [](const Parameters& p) {
    return p.choice("choice") == "packed" ? PolicyNeeds::kBelief : PolicyNeeds::kNothing;
  };
  return entry;
}

}  // namespace corun::inline policies
