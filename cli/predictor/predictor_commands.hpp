#pragma once

#include <string>
#include <vector>

#include "cli/cli.hpp"

/// `corun predictor fit | apply | eval`, one file each.
namespace corun::inline cli {

int predictor_fit_command(const std::vector<std::string>& arguments);
int predictor_apply_command(const std::vector<std::string>& arguments);
int predictor_eval_command(const std::vector<std::string>& arguments);

}  // namespace corun::inline cli
