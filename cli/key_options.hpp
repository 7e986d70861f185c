#pragma once

#include <span>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "cli/cli.hpp"
#include "runner/config/config_overrides.hpp"
#include "traces/csv_reader.hpp"

/// Options of `corun replay` that stand for keys of the configuration.
namespace corun::inline cli {

/// Adds --columns, --policies, --gpus, --cluster and --replications.
void add_key_options(CommandLine& command);

/// The --columns option alone, for commands that take no configuration, and its columns; none if it was not
/// given. InputError that begins with the flag.
void add_columns_option(CommandLine& command);
/// The same with --states and --strict.
void add_log_options(CommandLine& command);
std::vector<RenamedColumn> columns_option(const boost::program_options::variables_map& values);

/// The overrides of the options. InputError that begins with the flag, also if one of `set` (--set) gives the same
/// key.
std::vector<Override> key_overrides(const boost::program_options::variables_map& values,
                                    std::span<const Override> set);

}  // namespace corun::inline cli
