#pragma once

#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/commands/cli.hpp"
#include "experiments/live/gpu/nvml.hpp"

/// The words of `corun live`, each in a file of its own; what they share.
namespace corun::live {

int probe_command(const std::vector<std::string>& arguments);
int profile_command(const std::vector<std::string>& arguments);
int solo_command(const std::vector<std::string>& arguments);
int corun_command(const std::vector<std::string>& arguments);
int run_command(const std::vector<std::string>& arguments);
int validate_command(const std::vector<std::string>& arguments);

/// --nvml and --record, and for words that run jobs --allow-others.
void add_live_options(CommandLine& command, bool runs_jobs);
/// The library that --nvml names, recorded if --record says so: in a new file, which is none of `outputs` and
/// not in `directory`, where the word keeps its results (empty: nowhere).
Nvml open_nvml(const boost::program_options::variables_map& values,
               std::vector<NamedFile> outputs = {}, const std::string& directory = "");

/// Rows of texts, the first of them the header, in aligned columns; the first column to the left.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// "-" where there is none, else with this many digits behind the point.
std::string shown(const std::optional<double>& value, int digits);

}  // namespace corun::live
