#include "cli/model/model_options.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/note.hpp"
#include "cli/option_values.hpp"
#include "evaluation/table_prediction.hpp"
#include "knowledge/effort.hpp"
#include "knowledge/model_file.hpp"
#include "knowledge/model_origin.hpp"
#include "knowledge/prefitted_model.hpp"
#include "models/interference/fits/effort.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "traces/tables/append_measurements.hpp"

namespace corun::inline cli {

std::optional<PapersScored> papers_named(const std::string& name) {
  if (name == "papers") return PapersScored::kAll;
  if (name == "papers-published") return PapersScored::kPublished;
  return std::nullopt;
}

Measurements read_pair_tables(const std::vector<std::string>& paths, const CommonOptions& common,
                              WorkloadKeys& keys, const std::vector<std::string>& groups) {
  Measurements all;
  std::set<std::string> read;
  const auto is_new = [&](const std::string& option, const std::string& path,
                          const std::string& file) {
    if (read.insert(file).second) return;
    throw InputError(option, "'" + printable(path) + "' is given twice; once is enough");
  };
  const auto add = [&](const std::string& option, const std::string& path,
                       std::initializer_list<FileKind> kinds, std::string_view what) {
    const std::string file =
        std::filesystem::weakly_canonical(find_input_file(path, common, option)).string();
    is_new(option, path, file);
    check_kind(file, kinds, what);
    const Measurements table = read_measurements(file, keys);
    if (!table.lines.empty() && !table.has_speeds) {
      throw InputError(path, "no norm is there, expected measured speeds; fill them in");
    }
    const bool has_speed = std::ranges::any_of(table.speeds.rows, [](const SpeedTable::Row& row) {
      return !std::isnan(row.speed_a) || !std::isnan(row.speed_b);
    });
    if (table.lines.empty() && !has_speed) {
      throw InputError(path,
                       "no measured speed, expected norm_a or norm_b in some rows; fill them in");
    }
    append(all, table, keys);
  };
  for (const std::string& path : paths) {
    if (const std::optional<PapersScored> papers = papers_named(path)) {
      is_new("--pairs", path, "papers");
      append(all, papers_pair_table(keys, *papers), keys);
    } else {
      add("--pairs", path, {FileKind::kPairs, FileKind::kGroups}, "a table of measured co-runs");
    }
  }
  for (const std::string& path : groups) {
    add("--groups", path, {FileKind::kGroups}, "a table of groups of jobs");
  }
  for (const std::string& text : all.notes) note(common, text);
  return all;
}

std::string find_fitted_model(const std::string& name, const CommonOptions& common) {
  return is_prefitted(name) ? name : find_input_file(name, common, "--model");
}

std::vector<NamedFile> as_inputs(const std::vector<std::string>& models) {
  std::vector<NamedFile> inputs;
  for (const std::string& path : models) {
    if (!is_prefitted(path)) inputs.push_back({"--model", path});
  }
  return inputs;
}

void note_origin(const std::string& path, const InterferenceModel& model, const SpeedTable& table,
                 const CommonOptions& common) {
  const JobsForModel jobs(model, table);
  const std::string told = told_of_origin(printable(path), model, jobs.jobs(), table.campaigns);
  if (!told.empty()) note(common, told);
}

void note_effort(std::string_view model, double effort, const CommonOptions& common) {
  if (const std::string told = told_of_effort(model, effort); !told.empty()) note(common, told);
}

void add_effort_option(boost::program_options::options_description_easy_init& add) {
  add("effort", boost::program_options::value<std::string>()->default_value("1"),
      "share of the work that a fit takes, 0.001 to 1; below 1 for trials, the model errs more");
}

double effort_option(const boost::program_options::variables_map& values) {
  return number_option(values, "effort", kLeastEffort, 1, "a share of the work");
}

ModelsAsked models_asked(const std::vector<std::string>& values, const CommonOptions& common) {
  ModelsAsked asked;
  const auto add = [&](const InterferenceModelEntry* entry) {
    if (std::ranges::find(asked.models, entry) == asked.models.end()) asked.models.push_back(entry);
  };
  const auto add_all = [&] {
    for (const InterferenceModelEntry& entry : interference_model_catalog()) add(&entry);
  };
  if (values.empty()) add_all();
  for (const std::string& value : values) {
    const InterferenceModelEntry* const entry = find_interference_model(value);
    std::error_code error;
    if (value == "all") {
      add_all();
    } else if (entry != nullptr) {
      add(entry);
    } else if (is_prefitted(value) || value.ends_with(".model") ||
               std::filesystem::exists(value, error)) {
      asked.files.push_back(find_fitted_model(value, common));
    } else {
      std::vector<std::string_view> known{"all", "default", kPrefitted};
      for (const InterferenceModelEntry& e : interference_model_catalog()) known.push_back(e.name);
      throw InputError("--model", "found '" + printable(value) +
                                      "', no model and no file: " + did_you_mean(value, known));
    }
  }
  return asked;
}

void note_fits(std::span<const InterferenceModelEntry* const> models, double effort,
               const CommonOptions& common) {
  const auto draws = std::ranges::find(models, true, &InterferenceModelEntry::draws);
  if (draws == models.end()) return;
  note_effort(models.size() == 1 ? (*draws)->name : "each model", effort, common);
}

std::vector<FittedModel> read_fitted_models(const std::vector<std::string>& files,
                                            const CommonOptions& common, WorkloadKeys& keys) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    names.push_back(keys.text(static_cast<WorkloadKey>(k)));
  }
  std::vector<FittedModel> fitted;
  for (const std::string& path : files) {
    ModelFile file = read_model_file(path, keys, names);
    const std::string name = printable(std::filesystem::path(path).filename().string());
    const std::set<std::string> seen(file.workloads.begin(), file.workloads.end());
    const auto known = std::ranges::count_if(
        names, [&](const std::string& job) { return seen.contains(workload_digest(job)); });
    if (known > 0) {
      note(common,
           fmt::format("{} was fitted on {} of these {} jobs: they are not held out of it, and "
                       "it errs more on others",
                       name, known, names.size()));
    }
    note_effort(name, file.model->effort(), common);
    fitted.push_back({name, std::move(file.model)});
  }
  return fitted;
}

ModelForTable read_model_for(const std::string& path, WorkloadKeys& keys, SpeedTable& table,
                             std::vector<std::string> names) {
  const std::size_t jobs = names.size();
  std::vector<std::string> all = names;
  for (std::size_t j = 0; j < jobs; ++j) all.push_back(name_with_features(names[j], table, j));
  ModelForTable read{read_model_file(path, keys, all), std::move(names)};
  const std::set<std::string> seen(read.file.workloads.begin(), read.file.workloads.end());
  for (std::size_t j = 0; j < jobs; ++j) {
    if (!seen.contains(workload_digest(all[jobs + j]))) continue;
    read.names[j] = all[jobs + j];
    table.jobs[j] = keys.of(read.names[j]);
  }
  return read;
}

std::string model_output_option(const boost::program_options::variables_map& values,
                                const CommonOptions& common, const std::string& command,
                                const std::string& example) {
  if (values.count("out") != 0 && common.output) {
    throw InputError("--out", "is another name of --output; give one of them");
  }
  if (values.count("out") == 0 && !common.output) {
    throw InputError(command, "needs a file to write; give --out " + example);
  }
  const std::string path =
      values.count("out") != 0 ? values["out"].as<std::string>() : *common.output;
  if (path == "-") {
    throw InputError("--out", "found '-', expected the name of a file; " + command +
                                  " writes no result to standard output; give --out " + example);
  }
  return checked_output_path(path, "--out");
}

}  // namespace corun::inline cli
