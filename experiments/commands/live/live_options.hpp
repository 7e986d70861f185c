#pragma once

#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/commands/cli.hpp"
#include "experiments/live/gpu/nvml.hpp"
#include "experiments/live/jobs/live_config.hpp"

/// The options that words of `corun live` share.
namespace corun::live {

/// --nvml and --record, and for words that run jobs --allow-others.
void add_live_options(CommandLine& command, bool runs_jobs);

/// The library that --nvml names, recorded if --record says so: in a new file, which is none of `outputs` and
/// not in `directory`, where the word keeps its results (empty: nowhere).
Nvml open_nvml(const boost::program_options::variables_map& values,
               std::vector<NamedFile> outputs = {}, const std::string& directory = "");

/// What stands for CONFIG; InputError where nothing does.
std::string config_path(const CommandLine& command,
                        const boost::program_options::variables_map& values);

/// The configuration in this file, with --set, and with --output as its directory of results.
LiveConfig load_live_config(const std::string& path, const CommonOptions& common);

/// Makes the directory of results where it is not there.
void make_results_directory(const LiveConfig& config, const CommonOptions& common);

}  // namespace corun::live
