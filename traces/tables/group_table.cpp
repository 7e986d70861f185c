#include "traces/tables/group_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/base/nan.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"
#include "traces/gpu_catalog.hpp"

namespace corun::inline traces {
namespace {

constexpr std::size_t kMostMembers = 64;
constexpr double kSlicesOfGpu = 7;
constexpr std::string_view kRequired = "group, gpu, sharing, job";

constexpr NumberRule kSoloRate{"a rate per second", 0, 1e12};
constexpr IntegerRule kProcesses{"a number of equal processes", 2,
                                 static_cast<std::int64_t>(kMostMembers)};
constexpr NumberRule kSlices{"a number of compute slices", 1, kSlicesOfGpu};

struct GroupFeature {
  std::string_view column;
  std::string_view name;
  FeatureScale scale;
  NumberRule rule;
  double factor = 1;
};
constexpr std::array<GroupFeature, 6> kGroupFeatures{{
    {"solo_gpu_util", "gpu_util_pct", FeatureScale::kLinear, kShare},
    {"solo_gmem_util", "mem_time_pct", FeatureScale::kLinear, kShare},
    {"solo_gmem_mib", "mem_used_mib", FeatureScale::kLog, kMib},
    {"l2_util", "l2_util_pct", FeatureScale::kLinear, kShare},
    {"mig_slices", "sm_share_pct", FeatureScale::kLinear, kSlices, 100 / kSlicesOfGpu},
    {"solo_rate", "solo_rate", FeatureScale::kLog, kSoloRate},
}};

class GroupTableReader {
 public:
  GroupTableReader(CsvReader& csv, WorkloadKeys& keys, Sharing plain)
      : csv_(csv), keys_(keys), plain_(plain) {}

  Measurements read(std::string source) {
    table_.source = std::move(source);
    table_.header = csv_.header();
    find_columns();
    while (csv_.next()) add_line();
    if (groups_.empty()) {
      throw InputError(csv_.name() + ":1:1",
                       "no rows after the header, expected groups of jobs; add some");
    }
    for (const Group& group : groups_) {
      if (group.jobs.size() > 1) continue;
      throw InputError(group.place, "group '" + printable(group.name) +
                                        "' has one job, expected two or more; add its other "
                                        "members, or a column k of equal processes");
    }
    place_groups();
    key_families(table_);
    table_.forms.assign(table_.speeds.campaigns.size(), MeasurementForm::kGroups);
    const Sharing sharing = table_.speeds.sharing();
    if (sharing != Sharing::kUnknown) {
      table_.sharing = kSharingNames[static_cast<std::size_t>(sharing)];
    }
    return std::move(table_);
  }

 private:
  using Column = CsvReader::Column;
  struct Group {
    std::string name;
    std::string place;
    std::string sharing_words;
    std::size_t line = 0;
    Sharing sharing = Sharing::kUnknown;
    std::string gpu;
    std::uint32_t campaign = 0;
    std::vector<std::uint32_t> jobs;
    std::vector<double> speeds;
  };

  bool has(std::string_view name) const {
    return std::ranges::find(csv_.header(), name) != csv_.header().end();
  }
  std::optional<Column> optional_column(std::string_view name) {
    if (!has(name)) return std::nullopt;
    return csv_.add_column(name);
  }
  Column required_column(std::string_view name) {
    if (const auto column = optional_column(name)) return *column;
    const std::vector<std::string_view> header(csv_.header().begin(), csv_.header().end());
    const std::string_view near = nearest(name, header);
    throw InputError(
        csv_.name() + ":1:1",
        "the header has no column '" + std::string(name) + "', expected at least " +
            std::string(kRequired) + "; " +
            (near.empty() ? "add it" : "did you mean it by '" + printable(near) + "'?"));
  }

  void find_columns() {
    for (const std::string& name : csv_.header()) all_.push_back(csv_.add_column(name));
    group_ = required_column("group");
    gpu_ = required_column("gpu");
    sharing_ = required_column("sharing");
    job_ = required_column("job");
    count_ = optional_column("k");
    speed_ = optional_column("norm");
    family_ = optional_column("model");
    batch_ = optional_column("bs");
    for (const GroupFeature& feature : kGroupFeatures) {
      table_.speeds.features.push_back({std::string(feature.name), feature.scale});
      features_.push_back(optional_column(feature.column));
    }
    table_.speeds.features.push_back({std::string(kMpsFeature), FeatureScale::kLinear});
  }

  void add_line() {
    const std::size_t at = group_of_line();
    Group& group = groups_[at];
    std::size_t copies = 1;
    if (count_) {
      const auto found = csv_.integer(*count_, kProcesses);
      if (!found) csv_.refuse(*count_, std::string(kProcesses.what));
      copies = static_cast<std::size_t>(*found);
    }
    if (group.jobs.size() + copies > kMostMembers) {
      csv_.fail(*group_, "group '" + printable(group.name) +
                             "' has more than 64 jobs, expected at "
                             "most that; give each group a name of its own");
    }
    const std::uint32_t job = job_of_line(group);
    const double speed = speed_of_line();
    place_.push_back({at, group.jobs.size(), false});
    group.jobs.insert(group.jobs.end(), copies, job);
    group.speeds.insert(group.speeds.end(), copies, speed);
    std::vector<std::string>& fields = table_.fields.emplace_back();
    for (const Column column : all_) fields.emplace_back(csv_.text(column));
  }

  std::size_t group_of_line() {
    const std::string name(csv_.required_text(*group_, "the name of a group"));
    const std::string words(csv_.text(*sharing_));
    const std::string gpu(stated_gpu(csv_.text(*gpu_)));
    const auto [known, is_new] = group_at_.emplace(name, groups_.size());
    if (is_new) {
      const std::optional<Sharing> sharing = sharing_of(words);
      if (!sharing) csv_.refuse(*sharing_, std::string(kSharingExpected), "correct it");
      groups_.push_back({name,
                         csv_.place(*group_),
                         words,
                         csv_.line(),
                         *sharing,
                         gpu,
                         campaign(gpu, *sharing),
                         {},
                         {}});
      return known->second;
    }
    const Group& group = groups_[known->second];
    if (count_) {
      csv_.fail(*group_, "group '" + printable(name) + "' stands on line " +
                             std::to_string(group.line) +
                             ", too, expected each group once beside a column k; rename one");
    }
    if (gpu != group.gpu) {
      csv_.refuse(*gpu_,
                  "'" + printable(group.gpu) + "', as on line " + std::to_string(group.line) +
                      " of the same group",
                  "correct one of the two");
    }
    if (words != group.sharing_words) {
      csv_.refuse(*sharing_,
                  "'" + printable(group.sharing_words) + "', as on line " +
                      std::to_string(group.line) + " of the same group",
                  "correct one of the two");
    }
    return known->second;
  }

  std::uint32_t job_of_line(const Group& group) {
    std::string name(csv_.required_text(*job_, "the name of a job"));
    if (group.sharing != Sharing::kUnknown && group.sharing != plain_) {
      name += " (" + group.sharing_words + ")";
    }
    const WorkloadKey key = keys_.of(name);
    const auto next = static_cast<std::uint32_t>(table_.names.size());
    const auto [known, is_new] = position_.emplace(key, next);
    const std::uint32_t at = known->second;
    const std::size_t width = table_.speeds.features.size();
    if (is_new) {
      table_.speeds.jobs.push_back(key);
      table_.names.push_back(name);
      table_.families.emplace_back();
      table_.speeds.programs.push_back(0);
      table_.speeds.values.insert(table_.speeds.values.end(), width, kNaN);
      if (group.sharing != Sharing::kUnknown) {
        table_.speeds.values.back() = group.sharing == Sharing::kMps ? 1 : 0;
      }
    }
    if (family_ && table_.families[at].empty()) table_.families[at] = csv_.text(*family_);
    if (table_.speeds.programs[at] == 0) table_.speeds.programs[at] = program_of_line();
    std::vector<double>& known_here = known_[std::pair(group.campaign, at)];
    known_here.resize(features_.size(), kNaN);
    for (std::size_t f = 0; f < features_.size(); ++f) {
      if (!features_[f]) continue;
      const std::optional<double> found = csv_.number(*features_[f], kGroupFeatures[f].rule);
      if (!found || (kGroupFeatures[f].scale == FeatureScale::kLog && *found == 0)) continue;
      const double scaled = *found * kGroupFeatures[f].factor;
      double& value = table_.speeds.values[at * width + f];
      if (std::isnan(value)) value = scaled;
      double& here = known_here[f];
      if (std::isnan(here)) {
        here = scaled;
      } else if (std::fabs(here - scaled) > kFeatureTolerance * std::fabs(here)) {
        csv_.refuse(*features_[f],
                    csv_number(here / kGroupFeatures[f].factor) + ", which job '" +
                        printable(name) + "' has in a row before",
                    "correct one of the two, or rename the job");
      }
    }
    return at;
  }

  /// A key of the model and the batch size; 0 if one of the two is not stated.
  std::uint64_t program_of_line() {
    if (!family_ || !batch_) return 0;
    const std::string model(csv_.text(*family_));
    const std::string batch(csv_.text(*batch_));
    return model.empty() || batch.empty() ? 0 : opaque_key(model + '\n' + batch);
  }

  double speed_of_line() {
    if (!speed_) return kNaN;
    const std::optional<double> found = csv_.number(*speed_, kRelativeSpeed);
    if (!found) return kNaN;
    if (*found > kFastestSpeed) {
      csv_.refuse(*speed_, std::string(kRelativeSpeed.what),
                  "a percentage or a slowdown? write speed in the group / speed alone");
    }
    if (*found < kSlowestSpeed) {
      csv_.refuse(*speed_, std::string(kRelativeSpeed.what),
                  "a group that does not fit? leave it empty");
    }
    table_.has_speeds = true;
    return *found;
  }

  void place_groups() {
    std::vector<Measurements::Line> places;
    for (const Group& group : groups_) {
      if (group.jobs.size() == 2) {
        places.push_back({table_.speeds.rows.size(), 0, true});
        table_.speeds.rows.push_back(
            {group.jobs[0], group.jobs[1], group.speeds[0], group.speeds[1], group.campaign});
        table_.scored.push_back(!std::isnan(group.speeds[0]) && !std::isnan(group.speeds[1]));
        table_.solo_s.push_back({kNaN, kNaN});
      } else {
        places.push_back({table_.speeds.groups.size(), 0, false});
        table_.speeds.groups.push_back({group.jobs, group.speeds, group.sharing, group.campaign});
      }
    }
    for (const Measurements::Line& line : place_) {
      table_.lines.push_back({places[line.group].group, line.member, places[line.group].is_pair});
    }
  }

  /// The position of the campaign, new if no group before has it.
  std::uint32_t campaign(const std::string& gpu, Sharing sharing) {
    std::vector<SpeedTable::Campaign>& all = table_.speeds.campaigns;
    const SpeedTable::Campaign wanted = campaign_on(gpu, sharing);
    if (groups_.empty()) {
      all.clear();
      table_.gpu = gpu;
    } else if (wanted.gpu != all.front().gpu) {
      table_.gpu.clear();
    }
    const auto at = static_cast<std::uint32_t>(std::ranges::find(all, wanted) - all.begin());
    if (at == kMostCampaigns) {
      csv_.refuse(
          *gpu_,
          "at most " + std::to_string(kMostCampaigns) + " GPU types with sharing modes in the file",
          "is the column something else? rename it");
    }
    if (at == all.size()) all.push_back(wanted);
    return at;
  }

  CsvReader& csv_;
  WorkloadKeys& keys_;
  Sharing plain_;
  Measurements table_;
  std::vector<Column> all_;
  std::optional<Column> group_, gpu_, sharing_, job_, count_, speed_, family_, batch_;
  std::vector<std::optional<Column>> features_;  ///< of kGroupFeatures
  std::vector<Group> groups_;
  std::vector<Measurements::Line> place_;  ///< of the lines, in groups_
  std::unordered_map<std::string, std::size_t> group_at_;
  std::unordered_map<WorkloadKey, std::uint32_t> position_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>>
      known_;  ///< values of the features, by campaign and job
};

}  // namespace

Measurements read_group_table(CsvReader& csv, std::string source, WorkloadKeys& keys,
                              Sharing plain) {
  return GroupTableReader(csv, keys, plain).read(std::move(source));
}

}  // namespace corun::inline traces
