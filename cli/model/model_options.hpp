#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.hpp"
#include "evaluation/pair_evaluation.hpp"
#include "knowledge/model_file.hpp"
#include "traces/tables/measurements.hpp"

/// Tables and files named by the flags of `corun model`.
namespace corun::inline cli {

/// The scored pairs if a value of --pairs names the papers' tables; empty for a file.
std::optional<PapersScored> papers_named(const std::string& name);

/// Tables of any form, joined in order, then those of groups; "papers" names those of the papers. InputError for a table
/// given twice, for groups without a measured speed, and as the readers.
Measurements read_pair_tables(const std::vector<std::string>& paths, const CommonOptions& common,
                              WorkloadKeys& keys, const std::vector<std::string>& groups = {});

/// The path of a fitted model: `prefitted` (knowledge/prefitted_model.hpp), or find_input_file(), also its InputError.
std::string find_fitted_model(const std::string& name, const CommonOptions& common);
/// The same as inputs of a command; the model that comes with corun is no file.
std::vector<NamedFile> as_inputs(const std::vector<std::string>& models);

/// Notes where the model of this path was measured, for the jobs and the campaigns of a table: told_of_origin().
void note_origin(const std::string& path, const InterferenceModel& model, const SpeedTable& table,
                 const CommonOptions& common);

/// Notes that a model is of an effort below 1 (knowledge/effort.hpp). Nothing for 1.
void note_effort(std::string_view model, double effort, const CommonOptions& common);
/// --effort, the same for all commands that fit.
void add_effort_option(boost::program_options::options_description_easy_init& add);
double effort_option(const boost::program_options::variables_map& values);

/// The values of --model: models of the catalogue, and files of `corun model fit`.
struct ModelsAsked {
  std::vector<const InterferenceModelEntry*> models;  ///< each once
  std::vector<std::string> files;                     ///< find_fitted_model()
};

/// The models of these values; all of the catalogue for none or "all". InputError at --model for a
/// value that is neither a name nor a file.
ModelsAsked models_asked(const std::vector<std::string>& values, const CommonOptions& common);

/// A note if these models, some of which draw, are to be fitted at an effort below 1.
void note_fits(std::span<const InterferenceModelEntry* const> models, double effort,
               const CommonOptions& common);

/// Reads the fitted models. `keys` knows the jobs that they will be asked for; a note says how many
/// of these a model has seen, another one of its effort. InputError as read_model_file().
std::vector<FittedModel> read_fitted_models(const std::vector<std::string>& files,
                                            const CommonOptions& common, WorkloadKeys& keys);

/// A fitted model, read for the jobs of one table.
struct ModelForTable {
  ModelFile file;
  std::vector<std::string> names;  ///< of the table's jobs, as the model may know them
};

/// Reads the model. A job that shares its name with another one of other features (append()) is found
/// again where the table has the same features of it: it gets the key of its name with features. InputError as
/// read_model_file().
ModelForTable read_model_for(const std::string& path, WorkloadKeys& keys, SpeedTable& table,
                             std::vector<std::string> names);

/// The path of --out or its synonym --output, checked for writing. InputError if both are given;
/// InputError that begins with `command` and recommends `example` if neither is given.
std::string model_output_option(const boost::program_options::variables_map& values,
                                const CommonOptions& common, const std::string& command,
                                const std::string& example);

}  // namespace corun::inline cli
