#include "traces/tables/measurements.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "sim/base/nan.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/input_file.hpp"
#include "traces/tables/corun_csv.hpp"
#include "traces/tables/faster_together.hpp"
#include "traces/tables/gavel_throughputs.hpp"
#include "traces/tables/group_table.hpp"
#include "traces/tables/lucid_pairs.hpp"
#include "traces/tables/measured_jobs.hpp"
#include "traces/trace_builder.hpp"

namespace corun::inline traces {
namespace {

constexpr NumberRule kRatePerSecond{"a rate per second", 0, 1e12};
constexpr NumberRule kSmShare{"a percentage of the SMs", 0, 100, true};

constexpr std::array<std::string_view, 2> kSides{"_a", "_b"};

struct FeatureColumn {
  std::string_view stem;  ///< of the columns, before _a and _b
  std::string_view name;  ///< of the feature
  FeatureScale scale;
  NumberRule rule;
};

/// A form of one row per pair.
struct PairTableForm {
  MeasurementForm form;
  std::span<const FeatureColumn> features;
  std::span<const FeatureColumn> extra;  ///< features of files that have their columns
  std::string_view family;               ///< stem of the columns
  bool needs_family = true;              ///< beside speeds
  bool by_gpu = false;                   ///< a column decides which of the features comes first
  std::string_view own_gpu = {};    ///< GPU type of a file without the column; empty: not known
  Sharing own = Sharing::kUnknown;  ///< mode of the data set that has the form's name
  bool has_imputed = false;         ///< speeds of kImputed
  std::string_view expected;
};

constexpr std::array<FeatureColumn, 3> kLucidExtra{
    {{"share", "sm_share_pct", FeatureScale::kLinear, kSmShare},
     {"l2_util", "l2_util_pct", FeatureScale::kLinear, kShare},
     {"solo_rate", "solo_rate", FeatureScale::kLog, kRatePerSecond}}};
constexpr std::array<FeatureColumn, 3> kLucidFeatures{
    {{"solo_gpu_util", "gpu_util_pct", FeatureScale::kLinear, kShare},
     {"solo_gmem_util", "mem_time_pct", FeatureScale::kLinear, kShare},
     {"solo_gmem_mib", "mem_used_mib", FeatureScale::kLog, kMib}}};
constexpr PairTableForm kLucid{
    .form = MeasurementForm::kLucid,
    .features = kLucidFeatures,
    .extra = kLucidExtra,
    .family = "model",
    .own_gpu = kLucidGpuType,
    .own = Sharing::kTimeSlicing,
    .has_imputed = true,
    .expected = "job_x, solo_gpu_util_x, solo_gmem_util_x, solo_gmem_mib_x",
};
constexpr std::array<FeatureColumn, 3> kGavelFeatures{
    {{"solo_v100", "solo_v100", FeatureScale::kLog, kRatePerSecond},
     {"solo_p100", "solo_p100", FeatureScale::kLog, kRatePerSecond},
     {"solo_k80", "solo_k80", FeatureScale::kLog, kRatePerSecond}}};
constexpr PairTableForm kGavel{
    .form = MeasurementForm::kGavel,
    .features = kGavelFeatures,
    .extra = {},
    .family = "family",
    .by_gpu = true,
    .own = Sharing::kMps,
    .expected = "gpu, job_x, solo_v100_x, solo_p100_x, solo_k80_x",
};
constexpr PairTableForm kSpeedPairs{
    .form = MeasurementForm::kSpeedPairs,
    .features = {},
    .extra = {},
    .family = "model",
    .needs_family = false,
    .expected = "job_x, norm_x",
};
constexpr std::string_view kNoProfiles =
    "speeds of pairs without profiles: nothing is known of a job that is in no row; columns "
    "solo_gpu_util_x, solo_gmem_util_x, solo_gmem_mib_x (x is a and b) would tell";
constexpr std::string_view kCorunExpected = "group, gpu, sharing, job, solo_s, corun_s";
constexpr std::array<std::string_view, 2> kImputed{"PPO", "TD3"};

/// The campaigns of a table while it is read.
class Campaigns {
 public:
  Campaigns(Measurements& table, MeasurementForm form) : table_(table), form_(form) {}

  /// The campaign of a row, new if no row before has it; nothing if there would be too many.
  std::optional<std::uint32_t> of(std::string_view gpu, Sharing sharing, std::string_view words) {
    std::vector<SpeedTable::Campaign>& all = table_.speeds.campaigns;
    const SpeedTable::Campaign campaign = campaign_on(gpu, sharing);
    const auto next = static_cast<std::uint32_t>(position_.size());
    const auto [known, is_new] = position_.emplace(std::pair(campaign.gpu, sharing), next);
    if (!is_new) return known->second;
    if (next == kMostCampaigns) return std::nullopt;
    if (next == 0) {
      all.clear();
      table_.forms.clear();
      table_.gpu = gpu;
      table_.sharing = words;
    }
    all.push_back(campaign);
    table_.forms.push_back(form_);
    if (campaign.gpu != all.front().gpu) table_.gpu.clear();
    if (sharing != all.front().sharing) table_.sharing.clear();
    return next;
  }

 private:
  Measurements& table_;
  MeasurementForm form_;
  std::map<std::pair<std::string, Sharing>, std::uint32_t> position_;
};

std::string joined(std::string_view stem, std::string_view side) {
  return std::string(stem).append(side);
}

bool has_any(const std::vector<std::string>& header, const PairTableForm& form) {
  return std::ranges::any_of(form.features, [&](const FeatureColumn& feature) {
    return std::ranges::any_of(kSides, [&](std::string_view side) {
      return std::ranges::find(header, joined(feature.stem, side)) != header.end();
    });
  });
}

/// One column of a form suffices: errors are then about the missing ones.
std::optional<MeasurementForm> form_of(const std::vector<std::string>& header) {
  if (has_any(header, kLucid)) return MeasurementForm::kLucid;
  if (has_any(header, kGavel)) return MeasurementForm::kGavel;
  const auto has = [&](std::string_view name) {
    return std::ranges::find(header, name) != header.end();
  };
  if (has("norm_a") || has("norm_b")) return MeasurementForm::kSpeedPairs;
  if (has("corun_s")) return MeasurementForm::kCoruns;
  if (!has("group") || !has("sharing")) return std::nullopt;
  if (has("solo_s")) return MeasurementForm::kCoruns;
  return has("job") ? std::optional(MeasurementForm::kGroups) : std::nullopt;
}

/// The form of an opened file; with a column `group` only, the reader of groups tells what is missing. InputError if it is
/// of none or of two.
MeasurementForm form_of(const CsvReader& csv) {
  const std::vector<std::string>& header = csv.header();
  const std::optional<MeasurementForm> form = form_of(header);
  const bool is_both = form == MeasurementForm::kLucid && has_any(header, kGavel);
  if (form && !is_both) return *form;
  if (!form && std::ranges::find(header, "group") != header.end()) return MeasurementForm::kGroups;
  throw InputError(
      csv.name() + ":1:1",
      std::string(is_both ? "the header has columns of Lucid's form and of Gavel's"
                          : "the header is of no table of measured co-runs") +
          ", expected at least one of these, x being a and b: (1) Lucid's " +
          std::string(kLucid.expected) + "; (2) Gavel's " + std::string(kGavel.expected) +
          "; (3) co-run measurements with " + std::string(kCorunExpected) +
          "; (4) groups with group, gpu, sharing, job; (5) pairs without profiles with " +
          std::string(kSpeedPairs.expected) +
          (is_both
               ? "; remove those of one form"
               : "; name another file or add them (of a table of rates: norm is the rate beside "
                 "the others over the rate alone)"));
}

/// Reads one file of one row per pair.
class PairTableReader {
 public:
  PairTableReader(CsvReader& csv, const PairTableForm& form, WorkloadKeys& keys)
      : csv_(csv), form_(form), keys_(keys), campaigns_(table_, form.form) {}

  Measurements read(std::string source) {
    table_.source = std::move(source);
    table_.header = csv_.header();
    find_columns();
    while (csv_.next()) add_row();
    if (table_.speeds.rows.empty()) {
      throw InputError(csv_.name() + ":1:1",
                       "no rows after the header, expected one per pair; add pairs");
    }
    check_units();
    table_.notes = faster_together_.notes(table_.speeds.rows.size());
    if (features_.empty()) {
      table_.notes.push_back(
          "speeds of pairs without profiles: nothing is known of a job that is in no row; "
          "columns " +
          std::string(kLucid.expected).substr(std::string_view("job_x, ").size()) +
          " (x is a and b) would tell");
    }
    key_families(table_);
    return std::move(table_);
  }

 private:
  using Column = CsvReader::Column;

  struct Feature {
    FeatureColumn what;
    std::array<Column, 2> columns;  ///< of a and b
    std::string header_place;
  };
  /// A value of a job in a campaign, and the line of the first row that has it.
  struct Known {
    double value = kNaN;
    std::size_t line = 0;
  };
  struct Side {
    Column job;
    std::optional<Column> family;
    std::optional<Column> speed;
  };

  std::optional<Column> optional_column(std::string_view name) {
    if (std::ranges::find(csv_.header(), name) == csv_.header().end()) return std::nullopt;
    return csv_.add_column(name);
  }

  Column required_column(const std::string& name, std::string_view why = "") {
    if (const std::optional<Column> column = optional_column(name)) return *column;
    std::vector<std::string_view> others;  // not columns of the other job or of another meaning
    for (const std::string& other : csv_.header()) {
      if (!is_known(other)) others.emplace_back(other);
    }
    const std::string_view near = nearest(name, others);
    throw InputError(
        csv_.name() + ":1:1",
        "the header has no column '" + name + "', expected at least " +
            std::string(form_.expected) + " for x = a and b" + std::string(why) + "; " +
            (near.empty() ? "add it" : "did you mean it by '" + printable(near) + "'?"));
  }

  bool is_known(std::string_view name) const {
    if (name == "gpu" || name == "failed" || name == "sharing") return true;
    if (name.size() < kSides[0].size()) return false;
    const std::string_view stem = name.substr(0, name.size() - kSides[0].size());
    if (name != joined(stem, kSides[0]) && name != joined(stem, kSides[1])) return false;
    return stem == "job" || stem == "norm" || stem == form_.family ||
           std::ranges::find(form_.features, stem, &FeatureColumn::stem) != form_.features.end() ||
           std::ranges::find(form_.extra, stem, &FeatureColumn::stem) != form_.extra.end();
  }

  void find_columns() {
    for (const std::string& name : csv_.header()) all_.push_back(csv_.add_column(name));
    for (std::size_t i = 0; i < kSides.size(); ++i) {
      sides_[i].speed = optional_column(joined("norm", kSides[i]));
    }
    if (sides_[0].speed.has_value() != sides_[1].speed.has_value()) {
      required_column(sides_[0].speed ? "norm_b" : "norm_a",
                      ", and the speeds of both jobs or of none");
    }
    table_.has_speeds = sides_[0].speed.has_value();
    for (std::size_t i = 0; i < kSides.size(); ++i) {
      sides_[i].job = required_column(joined("job", kSides[i]));
      const std::string family = joined(form_.family, kSides[i]);
      sides_[i].family = table_.has_speeds && form_.needs_family
                             ? required_column(family, ", and beside speeds the family")
                             : optional_column(family);
    }
    for (const FeatureColumn& what : form_.features) add_feature(what, "");
    for (const FeatureColumn& what : form_.extra) {
      if (std::ranges::none_of(kSides, [&](std::string_view side) {
            return std::ranges::find(csv_.header(), joined(what.stem, side)) != csv_.header().end();
          })) {
        continue;
      }
      add_feature(what, ", and " + std::string(what.stem) + " of both jobs or of none");
    }
    if (form_.by_gpu) {
      gpu_ = required_column("gpu");
      if (table_.has_speeds) failed_ = optional_column("failed");
    } else {
      name_features();
      gpu_ = optional_column("gpu");
    }
    sharing_ = optional_column("sharing");
  }

  void add_feature(const FeatureColumn& what, std::string_view why) {
    Feature feature{what, {}, {}};
    for (std::size_t i = 0; i < kSides.size(); ++i) {
      feature.columns[i] = required_column(joined(what.stem, kSides[i]), why);
    }
    feature.header_place = csv_.place(feature.columns[0]);
    features_.push_back(std::move(feature));
  }

  void name_features() {
    for (const Feature& feature : features_) {
      table_.speeds.features.push_back({std::string(feature.what.name), feature.what.scale});
    }
  }

  std::uint32_t campaign() {
    const std::string words(sharing_ ? csv_.text(*sharing_) : std::string_view());
    // Gavel's form always has a column `gpu`; in Lucid's it says that the rows are not Lucid's own.
    const bool is_own = !sharing_ && (form_.by_gpu || !gpu_);
    const std::optional<Sharing> sharing = is_own ? form_.own : sharing_of(words);
    if (!sharing) csv_.refuse(*sharing_, std::string(kSharingExpected), "correct it");
    const std::string gpu(gpu_ ? stated_gpu(csv_.text(*gpu_)) : form_.own_gpu);
    const std::optional<std::uint32_t> at = campaigns_.of(gpu, *sharing, words);
    if (!at) {
      csv_.refuse(
          gpu_ ? *gpu_ : *sharing_,
          "at most " + std::to_string(kMostCampaigns) + " GPU types with sharing modes in the file",
          "is the column something else? rename it");
    }
    return *at;
  }

  void check_gpu() {
    if (!form_.by_gpu) return;
    const std::string gpu(csv_.required_text(*gpu_, "v100, p100 or k80"));
    const auto own = std::ranges::find(features_, "solo_" + gpu,
                                       [](const Feature& f) { return std::string(f.what.stem); });
    if (own == features_.end()) csv_.refuse(*gpu_, "v100, p100 or k80", "correct it");
    if (table_.speeds.rows.empty()) {
      gpu_line_ = csv_.line();
      std::rotate(features_.begin(), own, own + 1);
      name_features();
    } else if (gpu != table_.gpu) {
      csv_.refuse(*gpu_, "'" + table_.gpu + "' as on line " + std::to_string(gpu_line_),
                  "write each GPU type's pairs to a file of its own");
    }
  }

  void add_row() {
    check_gpu();
    campaign_ = campaign();
    const bool has_failed = failed_ && csv_.integer(*failed_, kFlag).value_or(0) == 1;
    const std::uint32_t a = job(0);
    const std::uint32_t b = job(1);
    const SpeedTable::Row row{a, b, speed(0, has_failed), speed(1, has_failed), campaign_};
    table_.scored.push_back(!std::isnan(row.speed_a) && !std::isnan(row.speed_b));
    table_.speeds.rows.push_back(row);
    if (row.speed_a > kFasterTogether && row.speed_b > kFasterTogether) {
      faster_together_.add(csv_.place(*sides_[0].speed));
    }
    table_.solo_s.push_back({kNaN, kNaN});
    std::vector<std::string>& fields = table_.fields.emplace_back();
    fields.reserve(all_.size());
    for (const Column column : all_) fields.emplace_back(csv_.text(column));
  }

  /// The position in the table of the job of one side, updated with the values of this row.
  std::uint32_t job(std::size_t side) {
    const std::string_view name = csv_.required_text(sides_[side].job, "the name of a job");
    const WorkloadKey key = keys_.of(name);
    const auto next = static_cast<std::uint32_t>(table_.names.size());
    const auto [known, is_new] = position_.emplace(key, next);
    const std::uint32_t at = known->second;
    if (is_new) {
      table_.speeds.jobs.push_back(key);
      table_.names.emplace_back(name);
      table_.families.emplace_back();
      table_.speeds.values.insert(table_.speeds.values.end(), features_.size(), kNaN);
      family_lines_.push_back(0);
    }
    family(side, at);
    std::vector<Known>& known_here = known_[std::pair(campaign_, at)];
    known_here.resize(features_.size());
    for (std::size_t f = 0; f < features_.size(); ++f) value(f, side, at, known_here[f]);
    return at;
  }

  void family(std::size_t side, std::uint32_t at) {
    if (!sides_[side].family) return;
    const Column column = *sides_[side].family;
    const std::string_view found = table_.has_speeds && form_.needs_family
                                       ? csv_.required_text(column, "the family of a job")
                                       : csv_.text(column);
    if (found.empty()) return;
    std::string& family = table_.families[at];
    if (family.empty()) {
      family = found;
      family_lines_[at] = csv_.line();
    } else if (family != found) {
      csv_.refuse(column, as_before("'" + printable(family) + "'", at, family_lines_[at]),
                  "correct one of the two, or rename the job");
    }
  }

  void value(std::size_t f, std::size_t side, std::uint32_t at, Known& known) {
    const Feature& feature = features_[f];
    const Column column = feature.columns[side];
    const std::optional<double> found = csv_.number(column, feature.what.rule);
    if (!found || (feature.what.scale == FeatureScale::kLog && *found == 0)) return;
    if (std::isnan(known.value)) {
      known = {*found, csv_.line()};
      double& value = table_.speeds.values[at * features_.size() + f];
      if (std::isnan(value)) value = *found;
    } else if (!same_feature(known.value, *found)) {
      csv_.refuse(column, as_before(csv_number(known.value), at, known.line),
                  "correct one of the two, or rename the job");
    }
  }

  std::string as_before(const std::string& value, std::uint32_t job, std::size_t line) const {
    return value + ", which job '" + printable(table_.names[job]) + "' has on line " +
           std::to_string(line);
  }

  double speed(std::size_t side, bool has_failed) const {
    if (!sides_[side].speed) return kNaN;
    const Column column = *sides_[side].speed;
    const std::optional<double> found = csv_.number(column, kRelativeSpeed);
    if (!found || (has_failed && *found == 0)) return kNaN;
    if (*found > kFastestSpeed) {
      csv_.refuse(column, std::string(kRelativeSpeed.what),
                  "a percentage or a slowdown? write speed beside the other / speed alone");
    }
    if (*found == 0) {
      csv_.refuse(column, std::string(kRelativeSpeed.what),
                  form_.by_gpu ? "a pair that does not fit? write 1 in 'failed', or leave it empty"
                               : "a pair that does not fit? leave it empty");
    }
    if (*found < kSlowestSpeed) {
      csv_.refuse(
          column, std::string(kRelativeSpeed.what),
          *found < 0 ? "" : "a thousandfold slowdown is a job that does not run; leave it empty");
    }
    const bool is_imputed =
        form_.has_imputed &&
        std::ranges::find(kImputed, csv_.text(*sides_[side].family)) != kImputed.end();
    return is_imputed || has_failed ? kNaN : *found;
  }

  void check_units() const {
    for (std::size_t f = 0; f < features_.size(); ++f) {
      const std::string_view rule = features_[f].what.rule.what;
      if (rule != kShare.what && rule != kSmShare.what) continue;
      std::vector<double> known;
      for (std::size_t i = 0; i < table_.names.size(); ++i) {
        if (const double value = table_.speeds.of(i)[f]; !std::isnan(value)) known.push_back(value);
      }
      if (!looks_like_fractions(known)) continue;
      const std::string_view stem = features_[f].what.stem;
      const std::string columns =
          "'" + joined(stem, kSides[0]) + "' and '" + joined(stem, kSides[1]) + "'";
      throw InputError(features_[f].header_place,
                       "all " + std::to_string(known.size()) + " jobs have values of " + columns +
                           " between 0 and 1, expected percentages: fractions? write percent");
    }
  }

  CsvReader& csv_;
  const PairTableForm& form_;
  WorkloadKeys& keys_;
  Measurements table_;
  std::vector<Column> all_;  ///< in header order
  std::array<Side, 2> sides_{};
  std::vector<Feature> features_;
  std::optional<Column> gpu_;
  std::optional<Column> failed_;
  std::optional<Column> sharing_;
  std::size_t gpu_line_ = 0;
  std::unordered_map<WorkloadKey, std::uint32_t> position_;
  FasterTogether faster_together_;
  Campaigns campaigns_;
  std::uint32_t campaign_ = 0;  ///< of the current row
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Known>>
      known_;  ///< by campaign and job
  std::vector<std::size_t> family_lines_;
};

// corun's own co-runs.

struct ProfileFeature {
  std::string_view name;
  FeatureScale scale;
  std::optional<double> Profile::*field;
};
constexpr std::array<ProfileFeature, 4> kProfileFeatures{{
    {"gpu_util_pct", FeatureScale::kLinear, &Profile::gpu_util_pct},
    {"mem_alloc_pct", FeatureScale::kLinear, &Profile::mem_alloc_pct},
    {"mem_time_pct", FeatureScale::kLinear, &Profile::mem_time_pct},
    {"mem_used_mib", FeatureScale::kLog, &Profile::mem_used_mib},
}};

/// The mean of equal values is exactly that value.
struct Mean {
  double mean = kNaN;
  double count = 0;
  void add(double value) {
    count += 1;
    mean = count == 1 ? value : mean + (value - mean) / count;
  }
};
using ProfileMeans = std::array<Mean, kProfileFeatures.size()>;

/// Mean over sessions: a session has the same weight for any number of measurements.
std::map<WorkloadKey, ProfileMeans> mean_profiles(const CorunFile& file) {
  std::map<std::pair<WorkloadKey, std::string_view>, ProfileMeans> sessions;
  for (std::size_t i = 0; i < file.measurements.size(); ++i) {
    for (const CorunMember& member : file.measurements[i].members) {
      ProfileMeans& means = sessions[{member.workload, file.sessions[i]}];
      for (std::size_t f = 0; f < means.size(); ++f) {
        const std::optional<double>& value = member.profile.*kProfileFeatures[f].field;
        const bool is_log = kProfileFeatures[f].scale == FeatureScale::kLog;
        if (value && !(is_log && *value == 0)) means[f].add(*value);
      }
    }
  }
  std::map<WorkloadKey, ProfileMeans> jobs;
  for (const auto& [job_and_session, means] : sessions) {
    ProfileMeans& job = jobs[job_and_session.first];
    for (std::size_t f = 0; f < means.size(); ++f) {
      if (means[f].count > 0) job[f].add(means[f].mean);
    }
  }
  return jobs;
}

/// InputError at `place`, which names the group, for speeds that cannot be.
std::array<double, 2> checked_speeds(const CorunMeasurement& pair, const std::string& place) {
  const std::array<double, 2> speeds = speeds_of_pair(pair);
  for (std::size_t k = 0; k < speeds.size(); ++k) {
    if (speeds[k] > 0 && speeds[k] <= kFastestSpeed) continue;
    throw InputError(place, "found solo_s " + csv_number(pair.members[k].solo_s) + " and corun_s " +
                                csv_number(pair.members[k].corun_s) + ", which is a speed of " +
                                csv_number(speeds[k]) + " beside the other job, expected " +
                                std::string(kRelativeSpeed.what) +
                                "; correct the times or remove the group");
  }
  return speeds;
}

Measurements from_coruns(const CorunFile& file, const std::string& name, std::string source,
                         const WorkloadKeys& keys) {
  Measurements table;
  table.source = std::move(source);
  table.notes = file.notes;
  table.has_speeds = true;
  for (const ProfileFeature& feature : kProfileFeatures) {
    table.speeds.features.push_back({std::string(feature.name), feature.scale});
  }
  const std::map<WorkloadKey, ProfileMeans> profiles = mean_profiles(file);
  std::unordered_map<WorkloadKey, std::uint32_t> position;
  Campaigns campaigns(table, MeasurementForm::kCoruns);
  std::string words_of_unknown;
  std::string group_of_unknown;
  for (std::size_t i = 0; i < file.measurements.size(); ++i) {
    const CorunMeasurement& group = file.measurements[i];
    if (group.members.size() != 2) {
      ++table.passed_over;
      continue;
    }
    const std::string place = name + " group '" + printable(file.groups[i]) + "'";
    const std::optional<Sharing> sharing = sharing_of(group.sharing);
    if (!sharing && words_of_unknown.empty()) {
      words_of_unknown = group.sharing;
      group_of_unknown = file.groups[i];
    }
    if (!sharing && group.sharing != words_of_unknown) {
      throw InputError(place, "shared by '" + printable(group.sharing) + "', expected '" +
                                  printable(words_of_unknown) + "' as in group '" +
                                  printable(group_of_unknown) + "', or " +
                                  std::string(kSharingExpected) + "; correct it");
    }
    const std::optional<std::uint32_t> campaign = campaigns.of(
        stated_gpu(group.gpu_type), sharing.value_or(Sharing::kUnknown), group.sharing);
    if (!campaign) {
      throw InputError(place, "is on one more GPU type or sharing mode, expected at most " +
                                  std::to_string(kMostCampaigns) +
                                  " in a file; correct its columns");
    }
    const std::array<double, 2> speeds = checked_speeds(group, place);
    std::array<std::uint32_t, 2> jobs{};
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      const WorkloadKey key = group.members[k].workload;
      const auto next = static_cast<std::uint32_t>(table.names.size());
      const auto [known, is_new] = position.emplace(key, next);
      jobs[k] = known->second;
      if (!is_new) continue;
      table.speeds.jobs.push_back(key);
      table.names.push_back(keys.text(key));
      table.families.emplace_back();
      for (const Mean& mean : profiles.at(key)) table.speeds.values.push_back(mean.mean);
    }
    table.speeds.rows.push_back({jobs[0], jobs[1], speeds[0], speeds[1], *campaign});
    table.scored.push_back(true);
    table.solo_s.push_back({group.members[0].solo_s, group.members[1].solo_s});
  }
  if (table.speeds.rows.empty()) {
    throw InputError(name + ":1:1",
                     "all " + std::to_string(table.passed_over) +
                         " groups have more than two jobs, expected pairs; add groups of two");
  }
  return table;
}

/// Reads the opened file; `coruns` reads it again.
Measurements read_form(CsvReader& csv, std::string source, WorkloadKeys& keys, CorunsAs as,
                       Sharing plain, const std::function<CorunFile()>& coruns) {
  switch (form_of(csv)) {
    case MeasurementForm::kLucid:
      return PairTableReader(csv, kLucid, keys).read(std::move(source));
    case MeasurementForm::kGavel:
      return PairTableReader(csv, kGavel, keys).read(std::move(source));
    case MeasurementForm::kSpeedPairs:
      return PairTableReader(csv, kSpeedPairs, keys).read(std::move(source));
    case MeasurementForm::kGroups:
      return read_group_table(csv, std::move(source), keys, plain);
    default:
      break;
  }
  CorunFile file = coruns();
  if (as == CorunsAs::kSpeeds) return from_coruns(file, csv.name(), std::move(source), keys);
  Measurements table;
  table.source = std::move(source);
  table.has_speeds = true;
  table.runs = std::move(file.measurements);
  table.notes = std::move(file.notes);
  return table;
}

Measurements read(CsvReader& csv, std::string source, WorkloadKeys& keys, CorunsAs as,
                  Sharing plain, const std::function<CorunFile()>& coruns) {
  Measurements table = read_form(csv, std::move(source), keys, as, plain, coruns);
  if (std::string note = slow_speeds_note(table, keys); !note.empty()) {
    table.notes.push_back(std::move(note));
  }
  return table;
}

}  // namespace

void key_families(Measurements& table) {
  table.speeds.families.clear();
  for (const std::string& family : table.families) {
    table.speeds.families.push_back(opaque_key(family));
  }
}

bool Measurements::is_measured() const {
  const auto is_known = [](double speed) { return !std::isnan(speed); };
  return !runs.empty() || std::ranges::find(scored, true) != scored.end() ||
         std::ranges::any_of(speeds.groups, [&](const SpeedTable::Group& group) {
           return std::ranges::any_of(group.speeds, is_known);
         });
}

std::optional<MeasurementForm> measurement_form(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  try {
    const std::string head = first_bytes(path, "a table of measured co-runs");
    if (is_rates_head(head)) return MeasurementForm::kRates;
    return form_of(names_in(first_line(head), ','));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

Measurements read_measurements(const std::string& path, WorkloadKeys& keys, CorunsAs as,
                               Sharing plain) {
  CsvReader csv(path, {}, kAnyColumns);
  const auto coruns = [&] {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return read_corun_csv(path, keys);
    throw InputError(csv.name(),
                     "co-run measurements from a pipe, expected a file, which is read twice; save "
                     "them first");
  };
  return read(csv, std::filesystem::path(path).filename().string(), keys, as, plain, coruns);
}

Measurements read_measurements(std::istream& in, const std::string& name, WorkloadKeys& keys,
                               CorunsAs as) {
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::istringstream once(text);
  CsvReader csv(once, name, {}, kAnyColumns);
  const auto coruns = [&] {
    std::istringstream again(text);
    return read_corun_csv(again, name, keys);
  };
  return read(csv, name, keys, as, Sharing::kUnknown, coruns);
}

}  // namespace corun::inline traces
