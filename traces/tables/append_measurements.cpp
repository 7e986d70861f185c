#include "traces/tables/append_measurements.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <locale>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/base/nan.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/gpu_catalog.hpp"

namespace corun::inline traces {
namespace {

/// Whether values of the feature are of one GPU type, whatever a job's rows were measured on.
bool names_gpu(std::string_view feature) {
  return feature.starts_with("solo_") && feature != "solo_rate";
}

constexpr std::string_view kFeaturesBegin = " {";

/// The name without what name_with_features() adds.
std::string_view plain(std::string_view name) {
  return name.ends_with('}') ? name.substr(0, name.rfind(kFeaturesBegin)) : name;
}

/// The campaign of the first row or group of each job.
std::vector<std::uint32_t> first_campaigns(const SpeedTable& table) {
  constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> first(table.jobs.size(), kNone);
  const auto add = [&](std::uint32_t job, std::uint32_t campaign) {
    if (first[job] == kNone) first[job] = campaign;
  };
  for (const SpeedTable::Row& row : table.rows) {
    add(row.a, row.campaign);
    add(row.b, row.campaign);
  }
  for (const SpeedTable::Group& group : table.groups) {
    for (const std::uint32_t job : group.jobs) add(job, group.campaign);
  }
  std::ranges::replace(first, kNone, 0U);
  return first;
}

/// The jobs of a campaign.
std::set<std::uint32_t> jobs_of(const SpeedTable& table, std::uint32_t campaign) {
  std::set<std::uint32_t> jobs;
  for (const SpeedTable::Row& row : table.rows) {
    if (row.campaign == campaign) jobs.insert({row.a, row.b});
  }
  for (const SpeedTable::Group& group : table.groups) {
    if (group.campaign == campaign) jobs.insert(group.jobs.begin(), group.jobs.end());
  }
  return jobs;
}

/// Where the features, jobs and campaigns of `more` stand in what it is appended to.
struct Places {
  std::vector<SpeedTable::Feature> features;  ///< of both
  std::vector<std::size_t> feature;           ///< of more's features
  std::vector<std::uint32_t> job;             ///< beyond the jobs of `to` for new ones
  std::vector<WorkloadKey> keys;              ///< of more's jobs, there
  std::vector<std::string> names;             ///< of more's jobs, there
  std::size_t told_apart = 0;           ///< new jobs that are another one than that of their name
  std::vector<std::uint32_t> campaign;  ///< beyond the campaigns of `to` for new ones
};

void place_features(const Measurements& to, const Measurements& more, Places& places) {
  places.features = to.speeds.features;
  for (const SpeedTable::Feature& feature : more.speeds.features) {
    const auto at = std::ranges::find(places.features, feature.name, &SpeedTable::Feature::name);
    places.feature.push_back(static_cast<std::size_t>(at - places.features.begin()));
    if (at == places.features.end()) {
      places.features.push_back(feature);
    } else if (at->scale != feature.scale) {
      throw std::logic_error("append: a feature has two scales");
    }
  }
}

void place_jobs(const Measurements& to, const Measurements& more, WorkloadKeys& keys,
                Places& places) {
  std::unordered_map<WorkloadKey, std::uint32_t> position;
  for (std::size_t i = 0; i < to.speeds.jobs.size(); ++i) {
    position.emplace(to.speeds.jobs[i], static_cast<std::uint32_t>(i));
  }
  const std::vector<std::uint32_t> campaigns = first_campaigns(to.speeds);
  const std::vector<std::uint32_t> more_campaigns = first_campaigns(more.speeds);
  const auto is_another = [&](std::size_t i, std::size_t at, bool same_campaign) {
    for (std::size_t f = 0; f < places.feature.size(); ++f) {
      if (places.feature[f] >= to.speeds.features.size()) continue;
      const double old = to.speeds.of(at)[places.feature[f]];
      const double found = more.speeds.of(i)[f];
      if (std::isnan(old) || std::isnan(found) || same_feature(old, found)) continue;
      if (same_campaign || names_gpu(more.speeds.features[f].name)) return true;
    }
    return false;
  };
  auto next = static_cast<std::uint32_t>(to.speeds.jobs.size());
  for (std::size_t i = 0; i < more.speeds.jobs.size(); ++i) {
    WorkloadKey key = more.speeds.jobs[i];
    std::string name = more.names[i];
    auto known = position.find(key);
    if (known != position.end() && known->second < to.names.size()) {
      const std::uint32_t at = known->second;
      if (to.names[at] != name) {
        throw std::logic_error("append: tables read with different WorkloadKeys");
      }
      const bool same_campaign =
          to.speeds.campaigns[campaigns[at]] == more.speeds.campaigns[more_campaigns[i]];
      if (is_another(i, at, same_campaign)) {
        name = name_with_features(name, more.speeds, i);
        key = keys.of(name);
        known = position.find(key);
        if (known == position.end()) ++places.told_apart;
      } else if (same_campaign && !to.families[at].empty() && !more.families[i].empty() &&
                 to.families[at] != more.families[i]) {
        throw InputError(more.source, "the family of job '" + printable(name) + "' is '" +
                                          printable(more.families[i]) + "', expected '" +
                                          printable(to.families[at]) + "' as in " + to.source +
                                          "; correct one of the two, or rename the job");
      }
    }
    if (known == position.end()) known = position.emplace(key, next++).first;
    places.job.push_back(known->second);
    places.keys.push_back(key);
    places.names.push_back(std::move(name));
  }
}

void place_campaigns(const Measurements& to, const Measurements& more, Places& places) {
  auto next = static_cast<std::uint32_t>(to.speeds.campaigns.size());
  for (std::uint32_t c = 0; c < more.speeds.campaigns.size(); ++c) {
    std::map<std::string_view, std::set<std::uint32_t>> by_name;
    for (const std::uint32_t job : jobs_of(more.speeds, c)) {
      by_name[plain(places.names[job])].insert(places.job[job]);
    }
    const auto has_others = [&](std::uint32_t d) {
      return std::ranges::any_of(jobs_of(to.speeds, d), [&](std::uint32_t job) {
        const auto named = by_name.find(plain(to.names[job]));
        return named != by_name.end() && !named->second.contains(job);
      });
    };
    std::uint32_t at = 0;
    while (at < to.speeds.campaigns.size() &&
           (to.speeds.campaigns[at] != more.speeds.campaigns[c] || to.forms[at] != more.forms[c] ||
            has_others(at))) {
      ++at;
    }
    places.campaign.push_back(at < to.speeds.campaigns.size() ? at : next++);
  }
}

}  // namespace

std::string name_with_features(std::string_view name, const SpeedTable& table, std::size_t job) {
  constexpr int kDigits = 6;  // fewer than files have, so that a rewritten file gives the same
  std::map<std::string_view, double> known;
  for (std::size_t f = 0; f < table.features.size(); ++f) {
    if (const double value = table.of(job)[f]; !std::isnan(value)) {
      known.emplace(table.features[f].name, value);
    }
  }
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << name << kFeaturesBegin << std::setprecision(kDigits);
  for (const auto& [feature, value] : known) {
    out << (feature == known.begin()->first ? "" : ", ") << feature << ' ' << value;
  }
  out << '}';
  return std::move(out).str();
}

void append(Measurements& to, const Measurements& more, WorkloadKeys& keys) {
  if (&to == &more) return append(to, Measurements(more), keys);
  if (to.speeds.jobs.empty()) {
    to = more;
    return;
  }
  Places places;
  place_features(to, more, places);
  place_jobs(to, more, keys, places);
  place_campaigns(to, more, places);

  const std::size_t old_width = to.speeds.features.size();
  const std::size_t width = places.features.size();
  std::vector<double> values(to.speeds.jobs.size() * width, kNaN);
  for (std::size_t i = 0; i < to.speeds.jobs.size(); ++i) {
    std::copy_n(to.speeds.of(i), old_width, values.data() + i * width);
  }
  to.speeds.features = places.features;
  to.speeds.values = std::move(values);
  for (std::size_t i = 0; i < places.job.size(); ++i) {
    const std::size_t at = places.job[i];
    if (at == to.names.size()) {
      to.speeds.jobs.push_back(places.keys[i]);
      to.names.push_back(places.names[i]);
      to.families.emplace_back();
      to.speeds.values.insert(to.speeds.values.end(), width, kNaN);
    }
    to.speeds.programs.resize(to.speeds.jobs.size(), 0);
    std::uint64_t& program = to.speeds.programs[at];
    if (program == 0) program = more.speeds.program_of(i);
    if (to.families[at].empty()) to.families[at] = more.families[i];
    for (std::size_t f = 0; f < places.feature.size(); ++f) {
      double& value = to.speeds.values[at * width + places.feature[f]];
      if (std::isnan(value)) value = more.speeds.of(i)[f];
    }
  }
  key_families(to);
  for (std::size_t c = 0; c < places.campaign.size(); ++c) {
    if (places.campaign[c] < to.speeds.campaigns.size()) continue;
    to.speeds.campaigns.push_back(more.speeds.campaigns[c]);
    to.forms.push_back(more.forms[c]);
  }
  for (SpeedTable::Row row : more.speeds.rows) {
    row.a = places.job[row.a];
    row.b = places.job[row.b];
    row.campaign = places.campaign[row.campaign];
    to.speeds.rows.push_back(row);
  }
  for (SpeedTable::Group group : more.speeds.groups) {
    for (std::uint32_t& job : group.jobs) job = places.job[job];
    group.campaign = places.campaign[group.campaign];
    to.speeds.groups.push_back(std::move(group));
  }
  for (const auto& [a, b] : more.misfits) to.misfits.push_back({places.job[a], places.job[b]});
  to.runs.insert(to.runs.end(), more.runs.begin(), more.runs.end());
  to.scored.insert(to.scored.end(), more.scored.begin(), more.scored.end());
  to.solo_s.insert(to.solo_s.end(), more.solo_s.begin(), more.solo_s.end());
  to.has_speeds = to.has_speeds || more.has_speeds;
  to.passed_over += more.passed_over;
  if (std::ranges::any_of(to.speeds.campaigns, [&](const SpeedTable::Campaign& campaign) {
        return campaign.gpu != to.speeds.campaigns.front().gpu;
      })) {
    to.gpu.clear();
  }
  if (sharing_of(to.sharing) != sharing_of(more.sharing)) to.sharing.clear();
  if (to.header == more.header && to.lines.empty()) {
    to.fields.insert(to.fields.end(), more.fields.begin(), more.fields.end());
  } else {
    to.header.clear();
    to.fields.clear();
    to.lines.clear();
  }
  to.notes.insert(to.notes.end(), more.notes.begin(), more.notes.end());
  if (places.told_apart > 0) {
    const std::string count = std::to_string(places.told_apart);
    to.notes.push_back(places.told_apart == 1
                           ? "1 job of " + more.source +
                                 " has other features than that of the same name in " + to.source +
                                 ": taken as another"
                           : count + " jobs of " + more.source +
                                 " have other features than those of the same names in " +
                                 to.source + ": taken as others");
  }
  to.source += ", " + more.source;
}

}  // namespace corun::inline traces
