#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/commands/cli.hpp"
#include "experiments/evaluation/pair_evaluation.hpp"
#include "traces/pair_table.hpp"

/// Tables and models that the flags of `corun model` name.
namespace corun {

/// What of the papers' tables a name of --pairs scores; nothing for the name of a file.
std::optional<PapersScored> papers_named(const std::string& name);

/// Tables of pairs, one after the other; "papers" are those of the papers.
PairTable read_pair_tables(const std::vector<std::string>& paths, const CommonOptions& common,
                           WorkloadKeys& keys);

/// --out, or --output, which is the same flag by the name that all commands have; a file that can be
/// written. InputError that begins with `command` where there is neither; `example` is what to give.
std::string model_output_option(const boost::program_options::variables_map& values,
                                const CommonOptions& common, const std::string& command,
                                const std::string& example);

}  // namespace corun
