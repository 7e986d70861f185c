#include "traces/tables/profile_csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <ostream>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {
namespace {

constexpr NumberRule kEpochs{"a number of epochs", 0, 1e9, true};
constexpr NumberRule kProfileBatch{"a batch size", 0, 1e9, true};
constexpr NumberRule kAttribute{"a number"};
constexpr double kLargestAttribute = 1e100;  // squares stay finite

/// Fewer values than this may all be small by chance.

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// A column of the profile.
struct ProfileColumn {
  std::string_view name;  ///< in corun's own form
  std::optional<double> Profile::*field;
  NumberRule rule;
};
constexpr std::array<ProfileColumn, 4> kProfileColumns{{
    {"gpu_util_pct", &Profile::gpu_util_pct, kShare},
    {"mem_alloc_pct", &Profile::mem_alloc_pct, kReserved},
    {"mem_time_pct", &Profile::mem_time_pct, kShare},
    {"mem_used_mib", &Profile::mem_used_mib, kMib},
}};
constexpr std::size_t kFeatures = 3;  ///< the first ones: percentages, always written

/// Columns of job_csv.hpp and corun_csv.hpp that are not part of a solo profile.
constexpr std::array<std::string_view, 23> kJobAndCorunColumns{
    "submit_s",   "solo_s",          "gpus",     "priority",
    "cpu_milli",  "memory_mib",      "epoch_s",  "workload",
    "cluster",    "uncertainty",     "group",    "gpu",
    "sharing",    "session",         "corun_s",  "isd",
    "source",     "packing_label",   "gpu_type", "steps",
    "gpu_models", "virtual_cluster", "gpu_milli"};
constexpr std::array<std::string_view, 2> kFutureweiText{"ID", "Run_Env"};

/// Other common names of the sensitive columns, in lower case. As attributes they would be kept beside the
/// profile.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kSensitiveAliases{{
    {"model", "model"},
    {"dataset", "dataset"},
    {"epochs", "epochs"},
    {"batch_size", "batch_size"},
    {"epoch", "epochs"},
    {"num_epochs", "epochs"},
    {"bs", "batch_size"},
    {"batch", "batch_size"},
    {"batchsize", "batch_size"},
    {"batch-size", "batch_size"},
    {"model_name", "model"},
    {"data_set", "dataset"},
}};

/// The columns of a form; an empty name is a column that the form does not have.
struct ProfileForm {
  std::string_view expected;  ///< its required columns, for messages
  std::string_view job;       ///< empty: the name consists of model and batch size
  std::array<std::string_view, 4> profile;
  std::string_view imputed;
  bool zero_is_imputed = false;  ///< the flag says that a row is real
  std::string_view model;
  std::string_view dataset;
  std::string_view epochs;
  std::string_view batch_size;
  bool has_attributes = true;                     ///< other columns are attributes
  std::span<const std::string_view> passed_over;  ///< except these
};

constexpr ProfileForm kOwn{
    .expected = "job, gpu_util_pct, mem_alloc_pct, mem_time_pct",
    .job = "job",
    .profile = {"gpu_util_pct", "mem_alloc_pct", "mem_time_pct", "mem_used_mib"},
    .imputed = "imputed",
    .model = "model",
    .dataset = "dataset",
    .epochs = "epochs",
    .batch_size = "batch_size",
    .passed_over = kJobAndCorunColumns,
};
constexpr ProfileForm kFuturewei{
    .expected = "Model, BS, MGUP, MGMAP, MaGTSAMP",
    .job = "",
    .profile = {"MGUP", "MGMAP", "MaGTSAMP", ""},
    .imputed = "",
    .model = "Model",
    .dataset = "Dataset",
    .epochs = "Epoch",
    .batch_size = "BS",
    .passed_over = kFutureweiText,
};
constexpr ProfileForm kSamples{
    .expected = "job, bs, mgup_pct, mgmap_pct, magtsamp_pct",
    .job = "",
    .profile = {"mgup_pct", "mgmap_pct", "magtsamp_pct", ""},
    .imputed = "is_real",
    .zero_is_imputed = true,
    .model = "job",
    .dataset = "",
    .epochs = "",
    .batch_size = "bs",
    .has_attributes = false,
    .passed_over = {},
};

/// "bert_en_uncased_L-2_H-128_A-2" as "SmallBERT-L2-H128-A2"; other models by the table, and all others
/// unchanged.
std::string canonical_model(std::string_view raw) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNames{{
      {"Nasnet_Mobile", "NasnetMobile"},
      {"EfficientNet_v2", "EfficientNetV2"},
      {"Inception_v3", "InceptionV3"},
      {"Image Segmentation", "ImageSeg"},
      {"Reinforcement Learning", "RL-CartPole"},
  }};
  constexpr std::string_view kBert = "bert_en_uncased_";
  const std::string_view name = trimmed(raw);
  for (const auto& [theirs, ours] : kNames) {
    if (name == theirs) return std::string(ours);
  }
  const std::size_t bert = name.find(kBert);
  if (!name.starts_with("small_bert/") || bert == std::string_view::npos) return std::string(name);
  std::string result = "SmallBERT-";
  for (const char c : name.substr(bert + kBert.size())) {
    if (c != '-') result += c == '_' ? '-' : c;  // "L-2_H-128" is L2-H128
  }
  return result;
}

/// Reads one file of one of the forms.
class ProfileReader {
 public:
  explicit ProfileReader(CsvReader& csv) : csv_(csv), form_(recognise()) {}

  ProfileTable read(std::string source) {
    table_.source = std::move(source);
    find_columns();
    while (csv_.next()) add_row();
    if (table_.jobs.empty()) {
      throw InputError(csv_.name() + ":1:1",
                       "no rows after the header, expected one per job; add jobs");
    }
    check_units();
    return std::move(table_);
  }

 private:
  using Column = CsvReader::Column;

  /// Public forms have columns that corun's own form lacks; all other headers are taken as corun's own.
  const ProfileForm& recognise() const {
    if (find("job").empty() && !find("Model").empty()) return kFuturewei;
    if (find("gpu_util_pct").empty() && !find("mgup_pct").empty()) return kSamples;
    return kOwn;
  }

  /// The header's spelling of a column, with blanks; empty if there is none.
  std::string_view find(std::string_view name) const {
    if (name.empty()) return {};
    const auto& header = csv_.header();
    const auto it =
        std::ranges::find_if(header, [&](const std::string& raw) { return trimmed(raw) == name; });
    return it == header.end() ? std::string_view{} : *it;
  }

  std::optional<Column> optional_column(std::string_view name) {
    const std::string_view raw = find(name);
    if (raw.empty()) return std::nullopt;
    return csv_.add_column(raw);
  }

  Column required_column(std::string_view name) {
    if (const std::optional<Column> column = optional_column(name)) return *column;
    const std::vector<std::string_view> header(csv_.header().begin(), csv_.header().end());
    const std::string_view near = nearest(name, header);
    throw InputError(
        csv_.name() + ":1:1",
        "the header has no column '" + std::string(name) + "', expected at least " +
            std::string(form_.expected) + "; " +
            (near.empty() ? "add it" : "did you mean it by '" + printable(near) + "'?"));
  }

  void find_columns() {
    if (!form_.job.empty()) job_ = required_column(form_.job);
    const bool names_jobs = form_.job.empty();
    if (names_jobs) required_column(form_.model);
    if (names_jobs) required_column(form_.batch_size);
    for (std::size_t i = 0; i < kFeatures; ++i) required_column(form_.profile[i]);
    for (std::size_t i = 0; i < form_.profile.size(); ++i) {
      profile_[i] = optional_column(form_.profile[i]);
      if (profile_[i]) header_place_[i] = csv_.place(*profile_[i]);
    }
    imputed_ = optional_column(form_.imputed);
    model_ = optional_column(form_.model);
    dataset_ = optional_column(form_.dataset);
    epochs_ = optional_column(form_.epochs);
    batch_size_ = optional_column(form_.batch_size);
    for (const std::string& raw : csv_.header()) find_attribute(raw);
  }

  void find_attribute(const std::string& raw) {
    const std::string name(trimmed(raw));
    const Column column = csv_.add_column(raw);
    if (!names_.insert(name).second) {
      csv_.fail(column, "column '" + printable(name) +
                            "' is named a second time, blanks aside, expected each once; remove "
                            "one");
    }
    if (!is_attribute(name)) return;
    if (name.empty()) csv_.fail(column, "a column without a name, expected one; name or remove it");
    if (find_bad_text(name, false) < name.size()) {
      csv_.fail(column, "the name of column '" + printable(name) +
                            "' is broken, expected one line without tabs; correct it");
    }
    for (const auto& [alias, meant] : kSensitiveAliases) {
      if (lower_case(name) != alias) continue;
      csv_.fail(column, "column '" + name + "' would be an attribute of the profile, expected '" +
                            std::string(meant) + "', which is held apart; rename it");
    }
    attributes_.push_back(column);
    table_.attributes.push_back(name);
  }

  bool is_attribute(std::string_view name) const {
    if (!name.empty() && std::ranges::find(form_.profile, name) != form_.profile.end()) return true;
    if (!form_.has_attributes) return false;
    if (name.empty()) return true;  // not ignored: to be refused
    if (name.starts_with("solo_s@") || name.starts_with("mem_used_mib@")) return false;
    const std::array<std::string_view, 6> others{form_.job,     form_.imputed, form_.model,
                                                 form_.dataset, form_.epochs,  form_.batch_size};
    return std::ranges::find(others, name) == others.end() &&
           std::ranges::find(form_.passed_over, name) == form_.passed_over.end();
  }

  void add_row() {
    WorkloadOrigin origin;
    if (model_) origin.model = csv_.text(*model_);
    if (dataset_) origin.dataset = csv_.text(*dataset_);
    if (!job_) {  // texts of the public forms have blanks
      origin.model = canonical_model(origin.model);
      origin.dataset = trimmed(origin.dataset);
    }
    if (epochs_) origin.epochs = csv_.number(*epochs_, kEpochs);
    if (batch_size_) origin.batch_size = csv_.number(*batch_size_, kProfileBatch);
    table_.jobs.push_back(name(origin));
    table_.origins.push_back(std::move(origin));

    Profile profile;
    for (std::size_t i = 0; i < profile_.size(); ++i) {
      if (!profile_[i]) continue;
      profile.*kProfileColumns[i].field = csv_.number(*profile_[i], kProfileColumns[i].rule);
    }
    if (imputed_) {
      const std::optional<std::int64_t> flag = csv_.integer(*imputed_, kFlag);
      profile.imputed = flag && (*flag == 1) != form_.zero_is_imputed;
    }
    table_.profiles.push_back(profile);
    for (const Column column : attributes_) {
      const auto value = csv_.number(column, kAttribute);
      if (value && std::abs(*value) > kLargestAttribute) {
        csv_.refuse(column, "a number between -1e100 and 1e100");
      }
      table_.values.push_back(value.value_or(kMissing));
    }
  }

  std::string name(const WorkloadOrigin& origin) {
    std::string name;
    if (job_) {
      name = csv_.required_text(*job_, "the name of a job");
    } else {
      if (origin.model.empty()) csv_.refuse(*model_, "the name of a model");
      name = origin.model + "-" + csv_number(csv_.required_number(*batch_size_, kProfileBatch));
    }
    const auto [first, is_new] = line_of_.emplace(name, csv_.line());
    if (is_new) return name;
    if (job_) {
      csv_.refuse(*job_,
                  "names that differ, and line " + std::to_string(first->second) + " has this one",
                  "rename one of the two");
    }
    csv_.fail(*model_, "a second job '" + printable(name) + "' (first on line " +
                           std::to_string(first->second) +
                           "), expected each model and batch size once; remove one");
  }

  void check_units() const {
    for (std::size_t i = 0; i < kFeatures; ++i) {
      std::vector<double> known;
      for (const Profile& profile : table_.profiles) {
        const std::optional<double>& value = profile.*kProfileColumns[i].field;
        if (value) known.push_back(*value);
      }
      if (!looks_like_fractions(known)) continue;
      throw InputError(header_place_[i], "all " + std::to_string(known.size()) +
                                             " values of column '" + std::string(form_.profile[i]) +
                                             "' lie between 0 and 1, expected percentages: "
                                             "fractions? write percent");
    }
  }

  CsvReader& csv_;
  const ProfileForm& form_;
  ProfileTable table_;
  std::unordered_map<std::string, std::size_t> line_of_;
  std::optional<Column> job_;
  std::array<std::optional<Column>, 4> profile_;
  std::array<std::string, 4> header_place_;
  std::optional<Column> imputed_;
  std::optional<Column> model_;
  std::optional<Column> dataset_;
  std::optional<Column> epochs_;
  std::optional<Column> batch_size_;
  std::set<std::string> names_;  ///< of all columns, trimmed
  std::vector<Column> attributes_;
};

/// corun's name of an attribute that is a profile column in some form; empty for all others.
std::string_view own_name(std::string_view attribute) {
  for (const ProfileForm* form : {&kOwn, &kFuturewei, &kSamples}) {
    for (std::size_t i = 0; i < form->profile.size(); ++i) {
      if (!attribute.empty() && attribute == form->profile[i]) return kProfileColumns[i].name;
    }
  }
  return {};
}

/// A column of the own form: one of the profile, or an attribute by its position in the table.
struct Written {
  std::string name;
  const ProfileColumn* profile = nullptr;
  std::size_t attribute = 0;
};

std::vector<Written> written_columns(const ProfileTable& table) {
  std::vector<Written> columns;
  const auto is_there = [&](std::string_view name) {
    return std::ranges::find(columns, name, &Written::name) != columns.end();
  };
  for (std::size_t a = 0; a < table.attributes.size(); ++a) {
    const std::string& attribute = table.attributes[a];
    const std::string_view own = own_name(attribute);
    // A table of the own form may have MGUP beside gpu_util_pct: then they are two columns.
    const bool is_profile =
        !own.empty() &&
        (own == attribute || std::ranges::find(table.attributes, own) == table.attributes.end());
    const auto column = std::ranges::find(kProfileColumns, own, &ProfileColumn::name);
    if (is_profile && !is_there(own)) {
      columns.push_back({std::string(own), &*column, a});
    } else {
      columns.push_back({attribute, nullptr, a});
    }
  }
  for (std::size_t i = 0; i < kProfileColumns.size(); ++i) {
    const ProfileColumn& column = kProfileColumns[i];
    const bool is_known = std::ranges::any_of(
        table.profiles, [&](const Profile& p) { return (p.*column.field).has_value(); });
    if (is_there(column.name) || (i >= kFeatures && !is_known)) continue;
    columns.push_back({std::string(column.name), &column, 0});
  }
  return columns;
}

}  // namespace

ProfileTable read_profile_csv(const std::string& path) {
  CsvReader csv(path, {}, kAnyColumns);
  return ProfileReader(csv).read(std::filesystem::path(path).filename().string());
}

ProfileTable read_profile_csv(std::istream& in, const std::string& name) {
  CsvReader csv(in, name, {}, kAnyColumns);
  return ProfileReader(csv).read(name);
}

void write_profile_csv(std::ostream& out, const ProfileTable& table) {
  const std::size_t rows = table.jobs.size();
  const std::size_t width = table.attributes.size();
  if (table.profiles.size() != rows || table.origins.size() != rows ||
      table.values.size() != rows * width) {
    throw std::invalid_argument("write_profile_csv: the parts of the table differ in length");
  }
  const auto any = [&](const auto& is_known) {
    return std::ranges::any_of(table.origins, is_known);
  };
  const bool has_imputed = std::ranges::any_of(table.profiles, &Profile::imputed);
  const bool has_model = any([](const WorkloadOrigin& o) { return !o.model.empty(); });
  const bool has_dataset = any([](const WorkloadOrigin& o) { return !o.dataset.empty(); });
  const bool has_epochs = any([](const WorkloadOrigin& o) { return o.epochs.has_value(); });
  const bool has_batch = any([](const WorkloadOrigin& o) { return o.batch_size.has_value(); });
  const std::vector<Written> columns = written_columns(table);

  out << "job";
  for (const Written& column : columns) out << ',' << csv_text(column.name);
  out << (has_imputed ? ",imputed" : "") << (has_model ? ",model" : "")
      << (has_dataset ? ",dataset" : "") << (has_epochs ? ",epochs" : "")
      << (has_batch ? ",batch_size" : "") << '\n';
  for (std::size_t i = 0; i < rows; ++i) {
    const Profile& profile = table.profiles[i];
    const WorkloadOrigin& origin = table.origins[i];
    out << csv_text(table.jobs[i]);
    for (const Written& column : columns) {
      out << ','
          << (column.profile != nullptr ? csv_number(profile.*(column.profile->field))
                                        : csv_number(table.values[i * width + column.attribute]));
    }
    if (has_imputed) out << (profile.imputed ? ",1" : ",0");
    if (has_model) out << ',' << csv_text(origin.model);
    if (has_dataset) out << ',' << csv_text(origin.dataset);
    if (has_epochs) out << ',' << csv_number(origin.epochs);
    if (has_batch) out << ',' << csv_number(origin.batch_size);
    out << '\n';
  }
}

}  // namespace corun::inline traces
