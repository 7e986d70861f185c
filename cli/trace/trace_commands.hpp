#pragma once

#include <string>
#include <vector>

/// The commands of `corun trace`, each in a file of its own.
namespace corun::inline cli {

int trace_info_command(const std::vector<std::string>& arguments);
int trace_convert_command(const std::vector<std::string>& arguments);
int trace_cut_command(const std::vector<std::string>& arguments);
int trace_generate_command(const std::vector<std::string>& arguments);

}  // namespace corun::inline cli
