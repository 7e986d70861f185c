#pragma once

#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "cli/cli.hpp"
#include "live/gpu/nvml.hpp"
#include "live/jobs/live_config.hpp"
#include "support/atomic_file.hpp"

/// The options shared by the words of `corun live`.
namespace corun::live {

/// Adds --nvml and --record, and --allow-others if the word runs jobs.
void add_live_options(CommandLine& command, bool runs_jobs);

/// The library of --nvml, recorded into the file of --record if given. That file must be new, none
/// of `outputs` and not in `directory`, the word's directory of results (empty: none); else
/// InputError.
Nvml open_nvml(const boost::program_options::variables_map& values,
               std::vector<NamedFile> outputs = {}, const std::string& directory = "");

/// The value of CONFIG; InputError if it is missing.
std::string config_path(const CommandLine& command,
                        const boost::program_options::variables_map& values);

/// The configuration of this file with --set, and with --output as its directory of results. InputError as
/// read_live_config().
LiveConfig load_live_config(const std::string& path, const CommonOptions& common);

/// Makes the directory of results if missing; InputError if that fails.
void make_results_directory(const LiveConfig& config, const CommonOptions& common);

}  // namespace corun::live
