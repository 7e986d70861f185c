#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "predictors/catalog.hpp"
#include "predictors/tables/job_table.hpp"
#include "support/atomic_file.hpp"

/// Options that the words of `corun predictor` share. All throw InputError that begins with the flag.
namespace corun::inline cli {

/// Adds --gpu-types.
void add_gpu_types_option(CommandLine& command);
/// Adds the file to the inputs, which no output may be.
GpuTypes gpu_types_option(const boost::program_options::variables_map& values,
                          const CommonOptions& common, std::vector<NamedFile>& inputs);

Target target_option(const boost::program_options::variables_map& values,
                     const std::string& command);

/// The predictors named by --kind, in order; `all`: every one that predicts the target.
std::vector<const PredictorEntry*> kinds_option(const boost::program_options::variables_map& values,
                                                Target target);

/// Adds --constants.
void add_constants_option(CommandLine& command);
/// "depth=3,length=2" in place of the usual constants. Only those of `parts` have an effect; others are refused.
PhysicsConstants constants_option(const boost::program_options::variables_map& values,
                                  std::span<const PhysicsPart> parts);

/// The value of an option that must be given.
std::string needed_option(const boost::program_options::variables_map& values,
                          const std::string& key, const std::string& command,
                          const std::string& example);

/// "3 rows have no prediction: ..." if there are such rows; `columns`: what they lack.
void note_missing(const CommonOptions& common, std::size_t missing, std::size_t rows,
                  const std::vector<std::string>& columns);

}  // namespace corun::inline cli
