#include "models/interference/groups/campaigns.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "models/interference/fits/moments.hpp"
#include "models/interference/fits/observations.hpp"
#include "models/interference/groups/campaign_groups.hpp"
#include "models/model_state.hpp"
#include "sim/base/math.hpp"

namespace corun::inline models {

namespace {

constexpr const char* kCampaigns = "campaigns";
/// Correlation of the t of two campaigns, and the deviation of its prior.
constexpr double kCorrelation = 0.7;
constexpr double kCorrelationDeviation = 0.35;
/// Deviations between campaigns of the level and of the logarithm of the scale, and the number of campaigns that they
/// weigh.
constexpr double kLevelDeviation = 0.25;
constexpr double kLogScaleDeviation = 0.6;
constexpr double kPriorCampaigns = 4;
constexpr double kOtherModeDistance = 4;
/// Directions that the prior of the noise around a line weighs.
constexpr double kPriorRows = 4;
constexpr double kLeastVariance = 1e-6;

/// Log ratio of two figures; 0 if one is not known.
double log_ratio(double a, double b) { return a > 0 && b > 0 ? math::log(a) - math::log(b) : 0; }

double squared(double x) { return x * x; }

std::vector<PairJob> jobs_of(const SpeedTable& table) {
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < table.jobs.size(); ++j) {
    jobs.push_back({table.jobs[j], {table.of(j), table.features.size()}, table.family_of(j)});
  }
  return jobs;
}

/// The rows of one campaign and their jobs.
SpeedTable rows_of(const SpeedTable& table, std::size_t campaign) {
  SpeedTable out;
  out.features = table.features;
  out.campaigns = {table.campaigns[campaign]};
  std::unordered_map<std::uint32_t, std::uint32_t> position;
  const auto job = [&](std::uint32_t at) {
    const auto [known, is_new] = position.emplace(at, static_cast<std::uint32_t>(out.jobs.size()));
    if (is_new) {
      out.jobs.push_back(table.jobs[at]);
      if (!table.families.empty()) out.families.push_back(table.families[at]);
      out.values.insert(out.values.end(), table.of(at), table.of(at) + table.features.size());
    }
    return known->second;
  };
  for (const SpeedTable::Row& row : table.rows) {
    if (row.campaign != campaign) continue;
    const std::uint32_t a = job(row.a);
    out.rows.push_back({a, job(row.b), row.speed_a, row.speed_b});
  }
  return out;
}

std::vector<double> log_slowdowns(const SpeedTable& table) {
  std::vector<double> out;
  for (const SpeedTable::Row& row : table.rows) {
    for (const double speed : {row.speed_a, row.speed_b}) {
      if (!std::isnan(speed)) out.push_back(-math::log(speed));
    }
  }
  return out;
}

}  // namespace

bool contradicts(const SpeedTable::Campaign& a, const SpeedTable::Campaign& b) {
  return (!a.gpu.empty() && !b.gpu.empty() && a.gpu != b.gpu) ||
         (a.sharing != Sharing::kUnknown && b.sharing != Sharing::kUnknown &&
          a.sharing != b.sharing);
}

CampaignModel::Line CampaignModel::regression(std::span<const double> z,
                                              std::span<const double> t) {
  const auto n = static_cast<double>(t.size());
  double mean_z = 0;
  double mean_t = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    mean_z += z[i] / n;
    mean_t += t[i] / n;
  }
  double zz = 0;
  double zt = 0;
  double tt = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    zz += squared(z[i] - mean_z);
    zt += (z[i] - mean_z) * (t[i] - mean_t);
    tt += squared(t[i] - mean_t);
  }
  const double deviation = log_slowdown_moments({t.begin(), t.end()}).deviation;
  const double spread_z = std::sqrt(std::max(zz / n, 1e-12));
  // The prior of the slope is the correlation times the ratio of the deviations.
  const double slope = kCorrelation * deviation / spread_z;
  const double slope_precision = squared(spread_z / (kCorrelationDeviation * deviation));
  const double prior_noise = (1 - squared(kCorrelation)) * squared(deviation);
  Line line;
  line.noise_variance = prior_noise;
  for (int step = 0; step < 3; ++step) {
    const double precision = slope_precision + zz / line.noise_variance;
    line.scale = (slope_precision * slope + zt / line.noise_variance) / precision;
    line.scale_variance = 1 / precision;
    const double squares = tt - 2 * line.scale * zt + squared(line.scale) * zz;
    line.noise_variance = std::max(
        kLeastVariance, (std::max(0.0, squares) + kPriorRows * prior_noise) / (n + kPriorRows));
  }
  // Intercept at z = 0 of a line through the means.
  const double at_mean = line.noise_variance / n;
  line.level = mean_t - line.scale * mean_z;
  line.level_variance = at_mean + squared(mean_z) * line.scale_variance;
  line.covariance = -mean_z * line.scale_variance;
  return line;
}

CampaignModel CampaignModel::fit(const ModelKind& kind, const SpeedTable& table,
                                 const FitOptions& options) {
  check_table(table, kCampaigns);
  CampaignModel model;
  std::vector<SpeedTable> tables;
  std::vector<std::size_t> part_of(table.campaigns.size(), kNew);
  double all = 0;
  for (std::size_t c = 0; c < table.campaigns.size(); ++c) {
    SpeedTable rows = rows_of(table, c);
    const std::vector<double> t = log_slowdowns(rows);
    if (t.empty()) continue;
    const Moments moments = log_slowdown_moments(t);
    part_of[c] = model.parts_.size();
    model.parts_.push_back(
        {table.campaigns[c], {}, moments.mean, moments.deviation, t.size(), nullptr});
    tables.push_back(std::move(rows));
    all += static_cast<double>(t.size());
  }
  if (model.parts_.empty())
    throw std::invalid_argument(std::string(kCampaigns) + ": no measured speed");
  model.mean_ = 0;
  model.deviation_ = 0;
  for (const Part& part : model.parts_) {
    model.mean_ += part.mean * static_cast<double>(part.rows) / all;
    model.deviation_ += part.deviation * static_cast<double>(part.rows) / all;
  }
  SpeedTable standardised = table;
  standardised.campaigns.assign(1, {});
  standardised.groups.clear();
  for (SpeedTable::Row& row : standardised.rows) {
    const std::size_t at = part_of[row.campaign];
    row.campaign = 0;
    if (at == kNew) continue;
    const Part& part = model.parts_[at];
    for (double* const speed : {&row.speed_a, &row.speed_b}) {
      if (std::isnan(*speed)) continue;
      const double z = (-math::log(*speed) - part.mean) / part.deviation;
      *speed = speed_of(model.mean_ + model.deviation_ * z);
    }
  }
  model.shared_ = kind.fit(standardised, options);
  model.set_effort(model.shared_->effort());
  for (std::size_t c = 0; c < tables.size(); ++c) {
    const SpeedTable& rows = tables[c];
    Part& part = model.parts_[c];
    try {
      part.own = kind.fit(rows, options);
    } catch (const std::invalid_argument&) {
      part.own = nullptr;
    }
    std::vector<PairQuery> queries;
    std::vector<double> t;
    for (const SpeedTable::Row& row : rows.rows) {
      if (!std::isnan(row.speed_a)) {
        queries.push_back({row.a, row.b});
        t.push_back(-math::log(row.speed_a));
      }
      if (!std::isnan(row.speed_b)) {
        queries.push_back({row.b, row.a});
        t.push_back(-math::log(row.speed_b));
      }
    }
    std::vector<double> z;
    for (const SpeedPrediction& p : model.shared_->predict(jobs_of(rows), queries)) {
      z.push_back((-math::log(p.speed) - model.mean_) / model.deviation_);
    }
    part.line = regression(z, t);
  }
  model.list_workloads();
  return model;
}

CampaignModel::CampaignModel(const std::shared_ptr<const InterferenceModel>& model,
                             std::uint64_t rows)
    : InterferenceModel(*model), shared_(model->clone()) {
  const Groups& learnt = model->groups();
  mean_ = learnt.level;
  deviation_ = learnt.spread;
  Line line;
  line.level = mean_;
  line.scale = deviation_;
  parts_.push_back({learnt.campaign, line, mean_, deviation_, rows, nullptr});
  list_workloads();
}

CampaignModel::Line CampaignModel::of_new(const SpeedTable::Campaign& campaign) const {
  std::vector<double> weight;
  double sum = 0;
  double level = 0;
  double log_scale = 0;
  for (const Part& part : parts_) {
    const SpeedTable::Campaign& theirs = part.campaign;
    const bool other_mode = theirs.sharing != campaign.sharing &&
                            theirs.sharing != Sharing::kUnknown &&
                            campaign.sharing != Sharing::kUnknown;
    const double distance = squared(log_ratio(theirs.bandwidth_gbs, campaign.bandwidth_gbs)) +
                            squared(log_ratio(theirs.fp32_tflops, campaign.fp32_tflops)) +
                            (other_mode ? kOtherModeDistance : 0);
    weight.push_back(math::exp(-std::min(distance, 100.0) / 2));
    sum += weight.back();
    level += weight.back() * part.mean;
    log_scale += weight.back() * math::log(part.deviation);
  }
  level /= sum;
  log_scale /= sum;
  double level_squares = kPriorCampaigns * squared(kLevelDeviation);
  double scale_squares = kPriorCampaigns * squared(kLogScaleDeviation);
  for (std::size_t c = 0; c < parts_.size(); ++c) {
    level_squares += weight[c] * squared(parts_[c].mean - level);
    scale_squares += weight[c] * squared(math::log(parts_[c].deviation) - log_scale);
  }
  const double more = 1 + 1 / std::max(sum, 1e-3);
  const double deviation = math::exp(log_scale);
  Line line;
  line.level = level;
  line.scale = kCorrelation * deviation;
  line.level_variance = more * level_squares / (kPriorCampaigns + sum);
  line.scale_variance = squared(line.scale) * more * scale_squares / (kPriorCampaigns + sum);
  line.noise_variance = (1 - squared(kCorrelation)) * squared(deviation);
  return line;
}

std::unique_ptr<CampaignModel> CampaignModel::on(const SpeedTable::Campaign& campaign,
                                                 std::span<const WorkloadKey> jobs) const {
  auto copy = std::make_unique<CampaignModel>(*this);
  const std::unordered_set<WorkloadKey> asked(jobs.begin(), jobs.end());
  const auto known = [&](const Part& part) {
    const bool is_only = parts_.size() == 1;  // then the shared part is its own
    if (part.own == nullptr && !is_only) return std::ptrdiff_t{0};
    const InterferenceModel& measured = part.own != nullptr ? *part.own : *shared_;
    return std::ranges::count_if(measured.workloads(), [&](WorkloadKey key) {
      return key != kUnknownWorkload && asked.contains(key);
    });
  };
  copy->current_ = kNew;
  for (std::size_t c = 0; c < parts_.size(); ++c) {
    if (contradicts(parts_[c].campaign, campaign)) continue;
    if (copy->current_ != kNew) {
      const Part& best = parts_[copy->current_];
      const bool is_better =
          std::pair(known(parts_[c]), parts_[c].rows) > std::pair(known(best), best.rows);
      if (!is_better) continue;
    }
    copy->current_ = c;
  }
  const bool is_other_data_set =
      copy->current_ != kNew && !jobs.empty() && known(parts_[copy->current_]) == 0;
  if (is_other_data_set) copy->current_ = kNew;
  if (copy->current_ == kNew) copy->new_ = of_new(campaign);
  Groups groups = copy->groups();
  groups.campaign = campaign;
  if (contradicts(groups.saturations.campaign, campaign)) groups.saturations = {};
  copy->set_groups(std::move(groups));
  return copy;
}

std::unique_ptr<InterferenceModel> CampaignModel::clone() const {
  auto copy = std::make_unique<CampaignModel>(*this);
  copy->separate();
  return copy;
}

void CampaignModel::separate() {
  if (shared_->learns()) shared_ = shared_->clone();
  for (Part& part : parts_) {
    if (part.own != nullptr && part.own->learns()) part.own = part.own->clone();
  }
}

std::vector<MeasuredCampaign> CampaignModel::campaigns() const {
  std::vector<MeasuredCampaign> all;
  for (const Part& part : parts_) all.push_back({part.campaign, part.rows});
  return all;
}

std::vector<SpeedPrediction> CampaignModel::predict(std::span<const PairJob> jobs,
                                                    std::span<const PairQuery> pairs) const {
  std::vector<SpeedPrediction> out = shared_->predict(jobs, pairs);
  const InterferenceModel* const alone = own();
  std::vector<SpeedPrediction> own_out;
  if (alone != nullptr) own_out = alone->predict(jobs, pairs);
  const Line& l = line();
  for (std::size_t q = 0; q < out.size(); ++q) {
    const double z = (-math::log(out[q].speed) - mean_) / deviation_;
    const double sd_z = deviation_of(out[q]) / deviation_;
    double t = l.level + l.scale * z;
    double variance = l.level_variance + 2 * z * l.covariance + squared(z) * l.scale_variance;
    // The noise around the line of a campaign with rows has the errors of z in it; that of one without has none.
    const double error = squared(l.scale * sd_z);
    variance += current_ == kNew ? l.noise_variance + error : std::max(l.noise_variance, error);
    variance = std::max(variance, kLeastVariance);
    if (alone != nullptr) {
      const double own_variance = std::max(kLeastVariance, squared(deviation_of(own_out[q])));
      const double own_t = -math::log(own_out[q].speed);
      t = (t / variance + own_t / own_variance) / (1 / variance + 1 / own_variance);
      variance = std::min(variance, own_variance);
    }
    out[q] = normal_around(t, std::sqrt(variance));
  }
  return out;
}

double CampaignModel::residual_sigma() const {
  const InterferenceModel* const alone = own();
  return alone != nullptr ? alone->residual_sigma() : shared_->residual_sigma();
}

bool CampaignModel::learns() const {
  const InterferenceModel* const alone = own();
  return shared_->learns() || (alone != nullptr && alone->learns());
}

void CampaignModel::learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) {
  InterferenceModel* const alone = own();
  if (alone != nullptr && alone->learns()) alone->learn(a, b, speed_a, speed_b);
  if (shared_->learns()) {
    const Line& l = line();
    const auto standardised = [&](double speed) {
      if (std::isnan(speed)) return speed;
      if (!(speed > 0) || !std::isfinite(speed)) {
        throw std::invalid_argument("campaigns: a speed is not above 0 and finite");
      }
      // A co-run tells z through the line; a line that is nearly flat tells nothing.
      const double scale = std::max(l.scale, 0.1 * deviation_);
      return speed_of(mean_ + deviation_ * (-math::log(speed) - l.level) / scale);
    };
    shared_->learn(a, b, standardised(speed_a), standardised(speed_b));
  }
  list_workloads();
}

void CampaignModel::list_workloads() {
  std::unordered_map<WorkloadKey, std::int32_t> place;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    place.emplace(workloads_[i], static_cast<std::int32_t>(i));
  }
  places_.resize(parts_.size() + 1);
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const InterferenceModel* const part = p < parts_.size() ? parts_[p].own.get() : shared_.get();
    if (part == nullptr) continue;
    const std::vector<WorkloadKey>& theirs = part->workloads();
    for (std::size_t i = places_[p].size(); i < theirs.size(); ++i) {
      if (theirs[i] == kUnknownWorkload) {
        places_[p].push_back(-1);
        continue;
      }
      const auto [at, is_new] =
          place.emplace(theirs[i], static_cast<std::int32_t>(workloads_.size()));
      if (is_new) workloads_.push_back(theirs[i]);
      places_[p].push_back(at->second);
    }
  }
}

nlohmann::json CampaignModel::save() const {
  nlohmann::json parts = nlohmann::json::array();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    const Line& l = part.line;
    parts.push_back({{"gpu", part.campaign.gpu},
                     {"sharing", static_cast<int>(part.campaign.sharing)},
                     {"rows", part.rows},
                     {"numbers", model_state::packed(std::vector<double>{
                                     part.campaign.bandwidth_gbs, part.campaign.fp32_tflops,
                                     part.mean, part.deviation, l.level, l.scale, l.level_variance,
                                     l.covariance, l.scale_variance, l.noise_variance})},
                     {"workloads", model_state::packed(places_[p])},
                     {"own", part.own == nullptr ? nlohmann::json() : part.own->save()}});
  }
  return {{"campaigns", std::move(parts)},
          {"workloads", model_state::packed(places_.back())},
          {"mean", mean_},
          {"deviation", deviation_},
          {"shared", shared_->save()}};
}

bool CampaignModel::is_state(const nlohmann::json& saved) {
  return saved.is_object() && saved.contains("campaigns") && saved.contains("shared");
}

CampaignModel CampaignModel::load(const ModelKind& kind, const nlohmann::json& saved,
                                  const std::vector<SpeedTable::Feature>& features,
                                  std::vector<WorkloadKey> workloads) {
  using namespace model_state;
  map_of(saved, 5, "the model");
  CampaignModel model;
  model.mean_ = number_of(saved.at("mean"), "mean");
  model.deviation_ = number_of(saved.at("deviation"), "deviation");
  if (!(model.deviation_ > 0)) throw std::invalid_argument("a deviation is not above 0");
  const auto part_of = [&](const nlohmann::json& places, const nlohmann::json& state,
                           std::vector<std::int32_t>& out) {
    std::vector<WorkloadKey> keys;
    out = integers(places, "workloads");
    for (const std::int32_t at : out) {
      if (at < -1 || at >= std::ssize(workloads)) {
        throw std::invalid_argument("a part's workload is not among the model's");
      }
      keys.push_back(at < 0 ? kUnknownWorkload : workloads[static_cast<std::size_t>(at)]);
    }
    return kind.load(state, features, std::move(keys));
  };
  const nlohmann::json& parts = list_of(saved.at("campaigns"), "campaigns");
  if (parts.empty()) throw std::invalid_argument("no campaign is listed");
  for (const nlohmann::json& node : parts) {
    map_of(node, 6, "a campaign");
    Part part;
    part.campaign.gpu = text_of(node.at("gpu"), "gpu");
    part.campaign.sharing = static_cast<Sharing>(
        whole_of(node.at("sharing"), "sharing", 0, static_cast<std::int64_t>(kSharings) - 1));
    part.rows =
        static_cast<std::uint64_t>(whole_of(node.at("rows"), "rows", 1, std::int64_t{1} << 40));
    const std::vector<double> n = finite_doubles(node, "numbers", 10);
    part.campaign.bandwidth_gbs = n[0];
    part.campaign.fp32_tflops = n[1];
    part.mean = n[2];
    part.deviation = n[3];
    part.line = {n[4], n[5], n[6], n[7], n[8], n[9]};
    const bool is_possible =
        n[0] >= 0 && n[1] >= 0 && n[3] > 0 && n[6] >= 0 && n[8] >= 0 && n[9] >= 0;
    if (!is_possible) throw std::invalid_argument("the figures of a campaign are not possible");
    std::vector<std::int32_t>& places = model.places_.emplace_back();
    if (node.at("own").is_null()) {
      places = integers(node, "workloads");
      if (!places.empty()) throw std::invalid_argument("a campaign without a fit has workloads");
    } else {
      part.own = part_of(node, node.at("own"), places);
    }
    model.parts_.push_back(std::move(part));
  }
  model.places_.emplace_back();
  model.shared_ = part_of(saved, saved.at("shared"), model.places_.back());
  model.workloads_ = std::move(workloads);
  model.list_workloads();
  return model;
}

std::shared_ptr<const InterferenceModel> on_campaign(std::shared_ptr<const InterferenceModel> model,
                                                     const SpeedTable::Campaign& campaign,
                                                     std::span<const WorkloadKey> jobs) {
  if (const auto* const several = dynamic_cast<const CampaignModel*>(model.get())) {
    return several->on(campaign, jobs);
  }
  if (const auto* const groups = dynamic_cast<const CampaignGroups*>(model.get())) {
    return groups->on(campaign, jobs);
  }
  if (!contradicts(model->groups().campaign, campaign)) return model;
  return CampaignModel(model).on(campaign, jobs);
}

}  // namespace corun::inline models
