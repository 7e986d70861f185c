#include "models/interference/factors/fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include "models/interference/factors/axes.hpp"
#include "models/interference/factors/basis.hpp"
#include "models/interference/factors/refuse.hpp"
#include "models/interference/fits/effort.hpp"
#include "models/interference/fits/gibbs_chain.hpp"
#include "models/interference/fits/moments.hpp"
#include "models/interference/fits/observations.hpp"
#include "sim/base/parallel_for.hpp"

namespace corun::inline models::factors {

namespace {

void check_options(const FactorOptions& o) {
  if (o.chains.empty()) refuse("no chains");
  for (const FactorChain& c : o.chains) {
    if (c.rank < 1 || c.rank > kMostRank) {
      refuse("rank " + std::to_string(c.rank) + ", expected 1 to " + std::to_string(kMostRank));
    }
    if (!(c.spread > 0) || c.spread > 1e6) refuse("spread is not above 0 and at most 1e6");
  }
  if (o.burn_in < 0 || o.sweeps <= o.burn_in) refuse("sweeps are not more than the burn-in");
  if (o.keep_every < 1) refuse("keep_every is below 1");
  if (o.widen_every < 1) refuse("widen_every is below 1");
  if (!o.chains.front().predicts ||
      !std::is_sorted(o.chains.begin(), o.chains.end(),
                      [](const auto& a, const auto& b) { return a.predicts && !b.predicts; })) {
    refuse("chains that predict do not stand first");
  }
  if (!(o.freedom > 2) || !std::isfinite(o.freedom)) refuse("freedom is not above 2 and finite");
  if (o.chains_per_kind < 0) refuse("chains_per_kind is below 0");
  if (o.threads < 1) refuse("threads are below 1");
}

/// Chains per kind such that all predicting chains together do about the same work for few rows and for many; with more than
/// four the error hardly falls.
int chains_for(std::size_t rows) {
  constexpr std::size_t kRowsOfAll = 2000;
  return static_cast<int>(std::clamp<std::size_t>(kRowsOfAll / rows, 1, 4));
}

struct Seen {
  std::vector<std::size_t> jobs;  ///< positions in the table of the jobs with a row
  std::vector<GibbsChain::Observation> observations;  ///< by positions in `jobs`
};

/// Targets are t, not yet standardised.
Seen seen_in(const SpeedTable& table) {
  constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> place(table.jobs.size(), kNowhere);
  Seen out;
  const auto see = [&](std::uint32_t job) {
    if (place[job] == kNowhere) {
      place[job] = out.jobs.size();
      out.jobs.push_back(job);
    }
    return static_cast<Eigen::Index>(place[job]);
  };
  for (const Observation& o : observations_of(table, kName)) {
    const Eigen::Index i = see(o.of);
    out.observations.push_back({i, see(o.beside), o.log_slowdown, 1});
  }
  return out;
}

/// From t to r.
void standardise_targets(std::vector<GibbsChain::Observation>& observations, FactorState& state) {
  std::vector<double> t;
  t.reserve(observations.size());
  for (const GibbsChain::Observation& o : observations) t.push_back(o.target);
  const Moments of = log_slowdown_moments(t);
  state.target_mean = of.mean;
  state.target_deviation = std::max(kLeastSlownessDeviation, of.deviation);
  for (GibbsChain::Observation& o : observations) {
    o.target = (o.target - state.target_mean) / state.target_deviation;
  }
}

void describe_jobs(const SpeedTable& table, const std::vector<std::size_t>& jobs,
                   FactorState& state) {
  const auto features = [&](std::size_t job) {
    return std::span<const double>(table.of(job), table.features.size());
  };
  std::vector<std::vector<double>> raw;
  for (const std::size_t job : jobs) {
    raw.push_back(expand_features(features(job), state.features, kName));
  }
  learn_standardisation(raw, state);
  for (const std::size_t job : jobs) {
    state.keys.push_back(table.jobs[job]);
    const auto z = standardised(state, features(job));
    state.inducing_points.insert(state.inducing_points.end(), z.begin(), z.end());
  }
  learn_kernel(state);
}

/// phi of the seen jobs, one row per job.
Eigen::MatrixXd basis_matrix(const FactorState& state) {
  const std::size_t width = state.mean.size();
  Eigen::MatrixXd basis(static_cast<Eigen::Index>(state.keys.size()),
                        static_cast<Eigen::Index>(1 + width + kernel_features(state)));
  for (Eigen::Index i = 0; i < basis.rows(); ++i) {
    const auto row = basis_of(
        state,
        std::span(state.inducing_points).subspan(static_cast<std::size_t>(i) * width, width));
    for (Eigen::Index c = 0; c < basis.cols(); ++c) {
      basis(i, c) = row[static_cast<std::size_t>(c)];
    }
  }
  return basis;
}

void draw_samples(const std::vector<GibbsChain::Observation>& observations,
                  const FactorOptions& options, FactorState& state) {
  const Axes axes(basis_matrix(state));
  const int per_kind = steps_at(
      options.effort,
      options.chains_per_kind > 0 ? options.chains_per_kind : chains_for(observations.size()), 1);
  // All chains of a kind together keep as many samples as a single chain would.
  const int every = options.keep_every * per_kind;
  FactorOptions predicting = options;
  predicting.burn_in = steps_at(options.effort, options.burn_in, 1);
  predicting.sweeps = steps_at(options.effort, options.sweeps,
                               predicting.burn_in + FactorOptions::kLeastSamples * every);
  const int kept = 1 + (predicting.sweeps - 1 - predicting.burn_in) / every;
  FactorOptions widening = predicting;
  widening.sweeps = predicting.burn_in + (kept * per_kind - 1) * options.widen_every + 1;
  std::vector<FactorChain> chains;
  for (const FactorChain& chain : options.chains) {
    chains.insert(chains.end(), chain.predicts ? static_cast<std::size_t>(per_kind) : 1, chain);
  }
  std::vector<std::vector<FactorSample>> samples(chains.size());
  parallel_for(chains.size(), options.threads, [&](std::size_t c) {
    const bool predicts = chains[c].predicts;
    samples[c] = GibbsChain(axes, observations, chains[c], predicts ? predicting : widening, c)
                     .run(predicts ? every : options.widen_every);
  });
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (FactorSample& s : samples[c]) state.samples.push_back(std::move(s));
    if (chains[c].predicts) state.predicting = state.samples.size();
  }
}

}  // namespace

FactorState fit(const SpeedTable& table, const FactorOptions& options) {
  check_options(options);
  if (table.features.size() > kMostFeatures) {
    refuse(std::to_string(table.features.size()) + " features, at most " +
           std::to_string(kMostFeatures) + " are possible");
  }
  FactorState state;
  state.features = table.features;
  state.freedom = options.freedom;
  Seen seen = seen_in(table);
  standardise_targets(seen.observations, state);
  describe_jobs(table, seen.jobs, state);
  draw_samples(seen.observations, options, state);
  return state;
}

}  // namespace corun::inline models::factors
