#include "models/interference/groups/campaign_groups.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "models/interference/fits/observations.hpp"
#include "models/interference/groups/group_rules.hpp"
#include "models/model_state.hpp"

namespace corun::inline models {

namespace {

constexpr const char* kGroups = "groups";

/// By campaign, the group it belongs to; numbered in the order of their first campaigns. Campaigns without rows: none.
class Grouping {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  explicit Grouping(const SpeedTable& table) : root_(table.campaigns.size()) {
    std::iota(root_.begin(), root_.end(), 0);
    std::vector<bool> has_rows(root_.size(), false);
    // The first campaign that has a job or a known feature.
    std::vector<std::size_t> job(table.jobs.size(), kNone);
    std::vector<std::size_t> feature(table.features.size(), kNone);
    for (const SpeedTable::Row& row : table.rows) {
      if (std::isnan(row.speed_a) && std::isnan(row.speed_b)) continue;
      has_rows[row.campaign] = true;
      for (const std::uint32_t j : {row.a, row.b}) {
        join(row.campaign, job[j]);
        for (std::size_t f = 0; f < feature.size(); ++f) {
          if (!std::isnan(table.of(j)[f])) join(row.campaign, feature[f]);
        }
      }
    }
    of_.assign(root_.size(), kNone);
    std::vector<std::size_t> number(root_.size(), kNone);
    for (std::size_t c = 0; c < root_.size(); ++c) {
      if (!has_rows[c]) continue;
      std::size_t& group = number[find(c)];
      if (group == kNone) group = count_++;
      of_[c] = group;
    }
  }

  std::size_t count() const { return count_; }
  std::size_t of(std::size_t campaign) const { return of_[campaign]; }

 private:
  std::size_t find(std::size_t c) {
    while (root_[c] != c) c = root_[c] = root_[root_[c]];
    return c;
  }
  void join(std::size_t campaign, std::size_t& first) {
    if (first == kNone) first = campaign;
    const std::size_t a = find(campaign);
    const std::size_t b = find(first);
    root_[std::max(a, b)] = std::min(a, b);
  }

  std::vector<std::size_t> root_;
  std::vector<std::size_t> of_;
  std::size_t count_ = 0;
};

/// The rows of one group with its campaigns, its jobs, and the features that are known of these.
SpeedTable rows_of(const SpeedTable& table, const Grouping& grouping, std::size_t group,
                   std::vector<std::int32_t>& features) {
  SpeedTable out;
  out.campaigns.clear();
  std::vector<std::uint32_t> campaign(table.campaigns.size(), 0);
  for (std::size_t c = 0; c < campaign.size(); ++c) {
    if (grouping.of(c) != group) continue;
    campaign[c] = static_cast<std::uint32_t>(out.campaigns.size());
    out.campaigns.push_back(table.campaigns[c]);
  }
  std::unordered_map<std::uint32_t, std::uint32_t> position;
  std::vector<std::uint32_t> jobs;
  const auto job = [&](std::uint32_t at) {
    const auto [known, is_new] = position.emplace(at, static_cast<std::uint32_t>(jobs.size()));
    if (is_new) jobs.push_back(at);
    return known->second;
  };
  for (const SpeedTable::Row& row : table.rows) {
    if (grouping.of(row.campaign) != group) continue;
    const std::uint32_t a = job(row.a);
    out.rows.push_back({a, job(row.b), row.speed_a, row.speed_b, campaign[row.campaign]});
  }
  for (std::size_t f = 0; f < table.features.size(); ++f) {
    if (std::ranges::all_of(jobs, [&](std::uint32_t j) { return std::isnan(table.of(j)[f]); })) {
      continue;
    }
    features.push_back(static_cast<std::int32_t>(f));
    out.features.push_back(table.features[f]);
  }
  for (const std::uint32_t j : jobs) {
    out.jobs.push_back(table.jobs[j]);
    if (!table.families.empty()) out.families.push_back(table.families[j]);
    for (const std::int32_t f : features) {
      out.values.push_back(table.of(j)[static_cast<std::size_t>(f)]);
    }
  }
  return out;
}

/// A model of the campaigns of one group.
CampaignModel fit_group(const ModelKind& kind, const SpeedTable& table, const FitOptions& options) {
  if (table.campaigns.size() > 1) return CampaignModel::fit(kind, table, options);
  std::shared_ptr<InterferenceModel> model = kind.fit(table, options);
  model->set_groups(learnt_groups(*model, table));
  std::uint64_t rows = 0;
  for (const SpeedTable::Row& row : table.rows) {
    rows += std::isnan(row.speed_a) ? 0 : 1;
    rows += std::isnan(row.speed_b) ? 0 : 1;
  }
  return CampaignModel(model, rows);
}

}  // namespace

std::unique_ptr<InterferenceModel> CampaignGroups::fit(const ModelKind& kind,
                                                       const SpeedTable& table,
                                                       const FitOptions& options) {
  check_table(table, kGroups);
  const Grouping grouping(table);
  if (grouping.count() < 2) {
    return std::make_unique<CampaignModel>(CampaignModel::fit(kind, table, options));
  }
  std::unique_ptr<CampaignGroups> model(new CampaignGroups());
  model->features_ = table.features;
  std::string refused;
  for (std::size_t g = 0; g < grouping.count(); ++g) {
    Group group;
    const SpeedTable rows = rows_of(table, grouping, g, group.features);
    try {
      group.model = std::make_shared<CampaignModel>(fit_group(kind, rows, options));
    } catch (const std::invalid_argument& e) {
      if (refused.empty()) refused = e.what();
      continue;
    }
    model->groups_of_.push_back(std::move(group));
  }
  if (model->groups_of_.empty()) throw std::invalid_argument(refused);
  model->set_effort(model->groups_of_.front().model->effort());
  model->list_workloads();
  return model;
}

std::unique_ptr<CampaignGroups> CampaignGroups::on(const SpeedTable::Campaign& campaign,
                                                   std::span<const WorkloadKey> jobs) const {
  auto copy = std::make_unique<CampaignGroups>(*this);
  for (Group& group : copy->groups_of_) group.model = group.model->on(campaign, jobs);
  Groups learnt = copy->groups();
  learnt.campaign = campaign;
  if (contradicts(learnt.saturations.campaign, campaign)) learnt.saturations = {};
  copy->set_groups(std::move(learnt));
  return copy;
}

std::vector<MeasuredCampaign> CampaignGroups::campaigns() const {
  std::vector<MeasuredCampaign> all;
  for (const Group& group : groups_of_) {
    for (const MeasuredCampaign& campaign : group.model->campaigns()) all.push_back(campaign);
  }
  return all;
}

std::unique_ptr<InterferenceModel> CampaignGroups::clone() const {
  auto copy = std::make_unique<CampaignGroups>(*this);
  for (Group& group : copy->groups_of_) {
    if (!group.model->learns()) continue;
    auto own = std::make_shared<CampaignModel>(*group.model);
    own->separate();
    group.model = std::move(own);
  }
  return copy;
}

std::vector<std::size_t> CampaignGroups::known_of(const PairJob& job) const {
  std::vector<std::size_t> known;
  for (std::size_t g = 0; g < groups_of_.size(); ++g) {
    const bool is_measured =
        job.workload != kUnknownWorkload && std::ranges::binary_search(sorted_[g], job.workload);
    const auto count = std::ranges::count_if(groups_of_[g].features, [&](std::int32_t f) {
      const auto at = static_cast<std::size_t>(f);
      return at < job.features.size() && !std::isnan(job.features[at]);
    });
    known.push_back(is_measured ? features_.size() + 1 : static_cast<std::size_t>(count));
  }
  return known;
}

std::size_t CampaignGroups::group_of(const PairJob& a, const PairJob& b) const {
  std::vector<std::size_t> known = known_of(a);
  const std::vector<std::size_t> of_b = known_of(b);
  for (std::size_t g = 0; g < known.size(); ++g) known[g] += of_b[g];
  return static_cast<std::size_t>(std::ranges::max_element(known) - known.begin());
}

const CampaignModel& CampaignGroups::group_of(std::span<const PairJob> jobs) const {
  std::vector<std::size_t> count(groups_of_.size(), 0);
  for (const PairJob& job : jobs) ++count[group_of(job, job)];
  return *groups_of_[static_cast<std::size_t>(std::ranges::max_element(count) - count.begin())]
              .model;
}

std::vector<double> CampaignGroups::values_for(const Group& group, const PairJob& job) const {
  if (job.features.empty() && job.workload != kUnknownWorkload) return {};
  if (job.features.size() != features_.size()) {
    throw std::invalid_argument("groups: a job has another number of features than the model");
  }
  std::vector<double> values;
  for (const std::int32_t f : group.features) {
    values.push_back(job.features[static_cast<std::size_t>(f)]);
  }
  return values;
}

std::vector<SpeedPrediction> CampaignGroups::predict(std::span<const PairJob> jobs,
                                                     std::span<const PairQuery> pairs) const {
  std::vector<std::vector<std::size_t>> known;
  for (const PairJob& job : jobs) known.push_back(known_of(job));
  std::vector<std::vector<std::size_t>> places(groups_of_.size());
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    std::size_t best = 0;
    const auto of = [&](std::size_t g) {
      return known[pairs[q].of][g] + known[pairs[q].beside][g];
    };
    for (std::size_t g = 1; g < groups_of_.size(); ++g) {
      if (of(g) > of(best)) best = g;
    }
    places[best].push_back(q);
  }
  std::vector<SpeedPrediction> out(pairs.size());
  for (std::size_t g = 0; g < groups_of_.size(); ++g) {
    if (places[g].empty()) continue;
    const Group& group = groups_of_[g];
    std::vector<std::vector<double>> values;
    std::vector<PairJob> here;
    for (const PairJob& job : jobs) {
      values.push_back(values_for(group, job));
      here.push_back({job.workload, values.back(), job.family});
    }
    std::vector<PairQuery> queries;
    for (const std::size_t q : places[g]) queries.push_back(pairs[q]);
    const std::vector<SpeedPrediction> speeds = group.model->predict(here, queries);
    for (std::size_t p = 0; p < places[g].size(); ++p) out[places[g][p]] = speeds[p];
  }
  return out;
}

double CampaignGroups::residual_sigma() const {
  double squares = 0;
  for (const Group& group : groups_of_) {
    squares += group.model->residual_sigma() * group.model->residual_sigma();
  }
  return std::sqrt(squares / static_cast<double>(groups_of_.size()));
}

bool CampaignGroups::learns() const {
  return std::ranges::any_of(groups_of_, [](const Group& g) { return g.model->learns(); });
}

void CampaignGroups::learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) {
  const Group& group = groups_of_[group_of(a, b)];
  if (!group.model->learns()) return;
  const std::vector<double> values_a = values_for(group, a);
  const std::vector<double> values_b = values_for(group, b);
  group.model->learn({a.workload, values_a, a.family}, {b.workload, values_b, b.family}, speed_a,
                     speed_b);
  list_workloads();
}

void CampaignGroups::list_workloads() {
  std::unordered_map<WorkloadKey, std::int32_t> place;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    place.emplace(workloads_[i], static_cast<std::int32_t>(i));
  }
  sorted_.assign(groups_of_.size(), {});
  for (std::size_t g = 0; g < groups_of_.size(); ++g) {
    Group& group = groups_of_[g];
    const std::vector<WorkloadKey>& theirs = group.model->workloads();
    for (std::size_t i = group.places.size(); i < theirs.size(); ++i) {
      if (theirs[i] == kUnknownWorkload) {
        group.places.push_back(-1);
        continue;
      }
      const auto [at, is_new] =
          place.emplace(theirs[i], static_cast<std::int32_t>(workloads_.size()));
      if (is_new) workloads_.push_back(theirs[i]);
      group.places.push_back(at->second);
    }
    for (const WorkloadKey key : theirs) {
      if (key != kUnknownWorkload) sorted_[g].push_back(key);
    }
    std::ranges::sort(sorted_[g]);
  }
}

nlohmann::json CampaignGroups::save() const {
  nlohmann::json groups = nlohmann::json::array();
  for (const Group& group : groups_of_) {
    groups.push_back({{"features", model_state::packed(group.features)},
                      {"workloads", model_state::packed(group.places)},
                      {"state", group.model->save()}});
  }
  return {{kGroups, std::move(groups)}};
}

bool CampaignGroups::is_state(const nlohmann::json& saved) {
  return saved.is_object() && saved.size() == 1 && saved.contains(kGroups);
}

CampaignGroups CampaignGroups::load(const ModelKind& kind, const nlohmann::json& saved,
                                    std::vector<SpeedTable::Feature> features,
                                    std::vector<WorkloadKey> workloads) {
  using namespace model_state;
  CampaignGroups model;
  model.features_ = std::move(features);
  const nlohmann::json& groups = list_of(saved.at(kGroups), kGroups);
  if (groups.empty()) throw std::invalid_argument("no group is listed");
  const auto checked = [](const nlohmann::json& node, const char* key, std::int32_t least,
                          std::size_t most) {
    std::vector<std::int32_t> places = integers(node, key);
    for (const std::int32_t at : places) {
      if (at < least || at >= static_cast<std::int64_t>(most)) {
        throw std::invalid_argument("a group's feature or workload is not among the model's");
      }
    }
    return places;
  };
  for (const nlohmann::json& node : groups) {
    map_of(node, 3, "a group");
    Group group;
    group.features = checked(node, "features", 0, model.features_.size());
    group.places = checked(node, "workloads", -1, workloads.size());
    std::vector<SpeedTable::Feature> theirs;
    for (const std::int32_t f : group.features) {
      theirs.push_back(model.features_[static_cast<std::size_t>(f)]);
    }
    std::vector<WorkloadKey> keys;
    for (const std::int32_t at : group.places) {
      keys.push_back(at < 0 ? kUnknownWorkload : workloads[static_cast<std::size_t>(at)]);
    }
    group.model = std::make_shared<CampaignModel>(
        CampaignModel::load(kind, node.at("state"), theirs, std::move(keys)));
    model.groups_of_.push_back(std::move(group));
  }
  model.workloads_ = std::move(workloads);
  model.list_workloads();
  return model;
}

}  // namespace corun::inline models
