#include "models/interference/ensemble.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

#include "models/interference/boosted_trees.hpp"
#include "models/interference/factor_model.hpp"
#include "models/interference/fits/few_speeds.hpp"
#include "models/interference/fits/observations.hpp"
#include "models/interference/gp_model.hpp"
#include "models/model_state.hpp"
#include "sim/base/half_width.hpp"
#include "sim/base/math.hpp"
#include "sim/base/parallel_for.hpp"

namespace corun::inline models {

namespace {

/// The least deviation of t that a member counts with.
constexpr double kLeastDeviation = 0.003;
constexpr double kNoBound = std::numeric_limits<double>::infinity();
constexpr const char* kTrees = "boosted trees";
/// The key of a bound in the saved state, which states it only if there is one.
constexpr const char* kWidestKey = "widest";

/// boosted-trees of a table, fitted when a prediction or the state is first asked for: only far jobs need it. Copies share the
/// fit; thread-safe.
class LazyTrees final : public InterferenceModel {
 public:
  /// std::invalid_argument as the fit.
  LazyTrees(const SpeedTable& table, const FitOptions& options)
      : later_(std::make_shared<Later>()) {
    later_->table = table;
    later_->options = options;
    later_->features = table.features;
    std::vector<bool> is_measured(table.jobs.size(), false);
    for (const Observation& o : observations_of(table, kTrees)) {
      is_measured[o.of] = is_measured[o.beside] = true;
    }
    for (std::size_t j = 0; j < table.jobs.size(); ++j) {
      check_features({table.of(j), table.features.size()}, table.features, kTrees);
      if (is_measured[j]) later_->workloads.push_back(table.jobs[j]);
    }
  }

  std::unique_ptr<InterferenceModel> clone() const override {
    return std::make_unique<LazyTrees>(*this);
  }
  const std::vector<SpeedTable::Feature>& features() const override { return later_->features; }
  const std::vector<WorkloadKey>& workloads() const override { return later_->workloads; }
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override {
    return later_->trees().predict(jobs, pairs);
  }
  double residual_sigma() const override { return later_->trees().residual_sigma(); }
  nlohmann::json save() const override { return later_->trees().save(); }

 private:
  struct Later {
    const BoostedTrees& trees() {
      std::call_once(fitted, [this] {
        model = std::make_unique<BoostedTrees>(BoostedTrees::fit(table, options));
        table = {};
      });
      return *model;
    }
    std::vector<SpeedTable::Feature> features;
    std::vector<WorkloadKey> workloads;
    std::once_flag fitted;
    SpeedTable table;  ///< until the fit
    FitOptions options;
    std::unique_ptr<BoostedTrees> model;
  };
  std::shared_ptr<Later> later_;
};

/// The families of the measured jobs, ascending.
std::vector<std::uint64_t> known_families(const SpeedTable& table) {
  std::set<std::uint64_t> families;
  for (const SpeedTable::Row& row : table.rows) {
    families.insert({table.family_of(row.a), table.family_of(row.b)});
  }
  families.erase(0);
  return {families.begin(), families.end()};
}

}  // namespace

EnsembleModel::EnsembleModel() {
  for (auto& remembered : remembered_) remembered = std::make_shared<RememberedPredictions>();
}

EnsembleModel::EnsembleModel(const EnsembleModel& other)
    : InterferenceModel(other),
      members_(other.members_),
      remembered_(other.remembered_),
      workloads_(other.workloads_),
      places_(other.places_),
      seen_(other.seen_),
      novelty_(other.novelty_),
      families_(other.families_),
      new_family_factor_(other.new_family_factor_),
      widest_(other.widest_),
      sigma_(other.sigma_),
      has_learnt_(other.has_learnt_) {
  for (auto& member : members_) {
    if (member->learns()) member = member->clone();
  }
}

EnsembleModel EnsembleModel::of(
    const std::array<std::shared_ptr<InterferenceModel>, kMembers>& members,
    const SpeedTable& table, const FitOptions& options) {
  EnsembleModel model;
  for (std::size_t m = 0; m < kMembers; ++m) {
    model.members_[m] = members[m]->learns() ? members[m]->clone() : members[m];
  }
  model.list_workloads();
  model.novelty_ = Novelty(table);
  model.families_ = known_families(table);
  model.new_family_factor_ = std::make_shared<NewFamilyFactor>(
      table, options, dynamic_cast<const GpModel&>(*members[1]).parameters());
  model.widest_ = constant_deviation_of_few(table);
  model.sigma_ = excess_scatter(model, table);
  model.set_effort(options.effort);
  return model;
}

EnsembleModel EnsembleModel::fit(const SpeedTable& table, const FitOptions& options) {
  const std::array<std::function<std::unique_ptr<InterferenceModel>()>, kMembers> fits{
      [&] { return std::make_unique<FactorModel>(FactorModel::fit(table, options)); },
      [&] { return std::make_unique<GpModel>(GpModel::fit(table, options)); },
      [&] { return std::make_unique<LazyTrees>(table, options); }};
  const auto policy = options.threads > 1 ? std::launch::async : std::launch::deferred;
  std::array<std::future<std::unique_ptr<InterferenceModel>>, kMembers> running;
  for (std::size_t m = 0; m < kMembers; ++m) running[m] = std::async(policy, fits[m]);
  std::array<std::shared_ptr<InterferenceModel>, kMembers> members;
  for (std::size_t m = 0; m < kMembers; ++m) members[m] = running[m].get();
  return of(members, table, options);
}

void EnsembleModel::list_workloads() {
  std::unordered_map<WorkloadKey, std::int32_t> place;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    place.emplace(workloads_[i], static_cast<std::int32_t>(i));
  }
  for (std::size_t m = 0; m < kMembers; ++m) {
    const std::vector<WorkloadKey>& theirs = members_[m]->workloads();
    for (std::size_t i = places_[m].size(); i < theirs.size(); ++i) {
      if (theirs[i] == kUnknownWorkload) {
        places_[m].push_back(-1);
        continue;
      }
      const auto [at, is_new] =
          place.emplace(theirs[i], static_cast<std::int32_t>(workloads_.size()));
      if (is_new) workloads_.push_back(theirs[i]);
      places_[m].push_back(at->second);
    }
  }
  seen_ = members_.front()->workloads();
  std::sort(seen_.begin(), seen_.end());
  while (!seen_.empty() && seen_.back() == kUnknownWorkload) seen_.pop_back();
}

EnsembleModel::Average EnsembleModel::average(const Mix& mix,
                                              std::span<const SpeedPrediction> members,
                                              double widest) {
  double sum = 0;  // of p_m, before division by it
  double t = 0;
  double variance = 0;
  std::size_t asked = 0;
  for (const double weight : mix.weight) {
    if (weight == 0) continue;
    const SpeedPrediction& p = members[asked++];
    const double deviation = std::max(kLeastDeviation, deviation_of(p));
    const double share = mix.by_deviation ? weight / (deviation * deviation) : weight;
    const double counted = std::min(deviation, widest);
    sum += share;
    t -= share * math::log(p.speed);
    variance += share * counted * counted;
  }
  return {t / sum, std::sqrt(mix.spread * variance / sum)};
}

double EnsembleModel::NewFamilyFactor::value() {
  std::call_once(computed_, [this] {
    if (table_ == nullptr) return;
    factor_ = new_family_factor(*table_, options_, of_gp_);
    table_.reset();
  });
  return factor_;
}

namespace {

/// The co-runs of families that are held out of a table, and the others.
struct HeldOutFamilies {
  SpeedTable rest;
  std::vector<PairQuery> asked;  ///< by jobs of the table
  std::vector<double> measured;  ///< t of each
};

/// Every `folds`-th of the families, from number `fold` on.
HeldOutFamilies hold_out_families(const SpeedTable& table,
                                  const std::vector<std::uint64_t>& families, std::size_t fold,
                                  std::size_t folds) {
  const std::vector<bool> judged = judged_jobs(table);
  const auto is_held = [&](std::uint32_t job) {
    const auto at = std::ranges::lower_bound(families, table.family_of(job));
    return table.family_of(job) != 0 &&
           static_cast<std::size_t>(at - families.begin()) % folds == fold;
  };
  HeldOutFamilies out;
  out.rest = table;
  out.rest.rows.clear();
  out.rest.groups.clear();
  for (const SpeedTable::Row& row : table.rows) {
    if (!is_held(row.a) && !is_held(row.b)) {
      out.rest.rows.push_back(row);
      continue;
    }
    const auto ask = [&](std::size_t of, std::size_t beside, double speed) {
      if (std::isnan(speed) || !judged[of]) return;
      out.asked.push_back({of, beside});
      out.measured.push_back(-math::log(speed));
    };
    ask(row.a, row.b, row.speed_a);
    ask(row.b, row.a, row.speed_b);
  }
  return out;
}

}  // namespace

double EnsembleModel::new_family_factor(const SpeedTable& table, const FitOptions& options,
                                        const std::vector<double>& of_gp) {
  constexpr std::size_t kFolds = 4;
  constexpr double kPriorFamilies = 4;
  constexpr double kNarrowest = 0.5;
  constexpr double kWidest = 4;
  const std::vector<std::uint64_t> families = known_families(table);
  if (families.size() < 3) return 1;
  const std::size_t folds = std::min(kFolds, families.size());
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < table.jobs.size(); ++j) {
    jobs.push_back({table.jobs[j], {table.of(j), table.features.size()}});
  }
  std::vector<std::vector<double>> ratios_of(folds);
  parallel_for(folds, options.threads, [&](std::size_t fold) {
    const HeldOutFamilies held = hold_out_families(table, families, fold, folds);
    if (held.asked.empty() || held.rest.rows.size() < kPriorFamilies) return;
    FitOptions one = options;
    one.threads = 1;
    std::array<std::vector<SpeedPrediction>, 2> said;
    try {
      said[0] = GpModel::fit_from(of_gp, held.rest, one).predict(jobs, held.asked);
      said[1] = BoostedTrees::fit(held.rest, one).predict(jobs, held.asked);
    } catch (const std::invalid_argument&) {  // nothing measured outside the fold
      return;
    }
    for (std::size_t q = 0; q < held.asked.size(); ++q) {
      const Average a = average(kFar, std::array{said[0][q], said[1][q]}, kNoBound);
      ratios_of[fold].push_back(std::fabs(held.measured[q] - a.log_slowdown) / a.deviation);
    }
  });
  std::vector<double> ratios;
  for (const std::vector<double>& of_fold : ratios_of) {
    ratios.insert(ratios.end(), of_fold.begin(), of_fold.end());
  }
  if (ratios.empty()) return 1;
  std::ranges::sort(ratios);
  const auto rank =
      static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(ratios.size() + 1)));
  const double quantile = ratios[std::min(rank, ratios.size()) - 1];
  const auto n = static_cast<double>(families.size());
  const double factor =
      math::exp(n / (n + kPriorFamilies) * math::log(std::max(quantile, 1e-3) / kHalfWidth90));
  return std::clamp(factor, kNarrowest, kWidest);
}

std::vector<SpeedPrediction> EnsembleModel::predict(std::span<const PairJob> jobs,
                                                    std::span<const PairQuery> pairs) const {
  std::vector<bool> is_unseen;
  std::vector<bool> is_far;
  std::vector<bool> is_of_new_family;
  for (const PairJob& job : jobs) {
    is_unseen.push_back(!std::ranges::binary_search(seen_, job.workload));
    const bool can_be_far = is_unseen.back() && !families_.empty();
    is_of_new_family.push_back(can_be_far && job.family != 0 &&
                               !std::ranges::binary_search(families_, job.family));
    is_far.push_back(is_of_new_family.back() ||
                     (can_be_far && novelty_.is_far(job.features, features())));
  }
  const auto mix_of = [&](const PairQuery& pair) -> const Mix& {
    if (is_far[pair.of] || is_far[pair.beside]) return kFar;
    return is_unseen[pair.of] || is_unseen[pair.beside] ? kUnseen : kMeasured;
  };
  for (const PairQuery& pair : pairs) {
    if (pair.of >= jobs.size() || pair.beside >= jobs.size()) {
      throw std::invalid_argument("ensemble: a pair is of a job that is not there");
    }
  }
  // Each member predicts only the pairs in which it has a weight.
  std::array<std::vector<SpeedPrediction>, kMembers> said;
  for (std::size_t m = 0; m < kMembers; ++m) {
    std::vector<PairQuery> asked;
    for (const PairQuery& pair : pairs) {
      if (mix_of(pair).weight[m] > 0) asked.push_back(pair);
    }
    said[m] = has_learnt_ && members_[m]->learns()
                  ? members_[m]->predict(jobs, asked)
                  : remembered_[m]->predict(*members_[m], jobs, asked);
  }
  std::array<std::size_t, kMembers> next{};
  std::vector<SpeedPrediction> out;
  out.reserve(pairs.size());
  for (const PairQuery& pair : pairs) {
    const Mix& mix = mix_of(pair);
    std::array<SpeedPrediction, kMembers> members;
    std::size_t count = 0;
    for (std::size_t m = 0; m < kMembers; ++m) {
      if (mix.weight[m] > 0) members[count++] = said[m][next[m]++];
    }
    const Average a = average(mix, {members.data(), count}, &mix == &kFar ? kNoBound : widest_);
    const bool is_new = is_of_new_family[pair.of] || is_of_new_family[pair.beside];
    out.push_back(
        normal_around(a.log_slowdown, a.deviation * (is_new ? new_family_factor_->value() : 1)));
  }
  return out;
}

std::vector<double> EnsembleModel::sample(std::span<const PairJob> jobs,
                                          std::span<const PairQuery> pairs,
                                          std::uint64_t draw) const {
  const std::vector<SpeedPrediction> expected = predict(jobs, pairs);
  const std::vector<SpeedPrediction> factors = members_.front()->predict(jobs, pairs);
  std::vector<double> drawn = members_.front()->sample(jobs, pairs, draw);
  for (std::size_t q = 0; q < drawn.size(); ++q) {
    drawn[q] =
        speed_of(math::log(factors[q].speed) - math::log(drawn[q]) - math::log(expected[q].speed));
  }
  return drawn;
}

void EnsembleModel::learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) {
  has_learnt_ = true;
  for (const auto& member : members_) {
    if (member->learns()) member->learn(a, b, speed_a, speed_b);
  }
  list_workloads();
}

nlohmann::json EnsembleModel::save() const {
  nlohmann::json members = nlohmann::json::object();
  for (std::size_t m = 0; m < kMembers; ++m) {
    members[std::string(kNames[m])] = {{"workloads", model_state::packed(places_[m])},
                                       {"state", members_[m]->save()}};
  }
  nlohmann::json families = nlohmann::json::array();
  for (const std::uint64_t family : families_) families.push_back(fmt::format("{:016x}", family));
  nlohmann::json state{{"members", std::move(members)},
                       {"novelty", novelty_.save()},
                       {"families", std::move(families)},
                       {"new_family_factor", new_family_factor_->value()},
                       {"sigma", sigma_}};
  if (widest_ < kNoBound) state[kWidestKey] = widest_;
  return state;
}

EnsembleModel EnsembleModel::load(const nlohmann::json& saved,
                                  std::vector<SpeedTable::Feature> features,
                                  std::vector<WorkloadKey> workloads) {
  using namespace model_state;
  const bool is_bounded = saved.is_object() && saved.contains(kWidestKey);
  map_of(saved, is_bounded ? 6 : 5, "the model");
  EnsembleModel model;
  const nlohmann::json& members = map_of(saved.at("members"), kMembers, "the members");
  const auto part = [&](std::size_t m, auto load) {
    const nlohmann::json& node = map_of(members.at(std::string(kNames[m])), 2, "a member");
    std::vector<WorkloadKey> keys;
    model.places_[m] = integers(node, "workloads");
    for (const std::int32_t at : model.places_[m]) {
      if (at < -1 || at >= std::ssize(workloads)) {
        throw std::invalid_argument("a member's workload is not among the model's");
      }
      keys.push_back(at < 0 ? kUnknownWorkload : workloads[static_cast<std::size_t>(at)]);
    }
    model.members_[m] = load(node.at("state"), features, std::move(keys));
  };
  part(0, [](const auto& state, auto f, auto keys) {
    return std::make_unique<FactorModel>(FactorModel::load(state, f, std::move(keys)));
  });
  part(1, [](const auto& state, auto f, auto keys) {
    return std::make_unique<GpModel>(GpModel::load(state, f, std::move(keys)));
  });
  part(2, [](const auto& state, auto f, auto keys) {
    return std::make_unique<BoostedTrees>(BoostedTrees::load(state, f, std::move(keys)));
  });
  model.novelty_ = Novelty::load(saved.at("novelty"), features);
  for (const nlohmann::json& node : list_of(saved.at("families"), "families")) {
    const std::string text = text_of(node, "families");
    std::uint64_t family = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), family, 16);
    const bool is_key =
        error == std::errc() && end == text.data() + text.size() && text.size() == 16;
    if (!is_key || (!model.families_.empty() && family <= model.families_.back())) {
      throw std::invalid_argument("a family is not 16 hexadecimal digits above the one before");
    }
    model.families_.push_back(family);
  }
  const double factor = number_of(saved.at("new_family_factor"), "new_family_factor");
  if (!(factor > 0) || factor > 100) {
    throw std::invalid_argument("the factor of new families is not possible");
  }
  model.new_family_factor_ = std::make_shared<NewFamilyFactor>(factor);
  if (is_bounded) model.widest_ = number_of(saved.at(kWidestKey), kWidestKey);
  if (!(model.widest_ > 0)) {
    throw std::invalid_argument("the bound of the deviation is not possible");
  }
  model.sigma_ = number_of(saved.at("sigma"), "sigma");
  if (model.sigma_ < 0 || model.sigma_ > 1e3) {
    throw std::invalid_argument("the scatter around the model is not possible");
  }
  model.workloads_ = std::move(workloads);
  model.list_workloads();
  return model;
}

}  // namespace corun::inline models
