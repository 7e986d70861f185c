#pragma once

#include <string>
#include <vector>

/// The words of `corun live`, each in its file live_WORD_command.cpp (`solo` and `corun` share
/// live_measure_command.cpp). Each returns the program's exit code.
namespace corun::live {

int probe_command(const std::vector<std::string>& arguments);
int profile_command(const std::vector<std::string>& arguments);
int solo_command(const std::vector<std::string>& arguments);
int corun_command(const std::vector<std::string>& arguments);
int run_command(const std::vector<std::string>& arguments);
int validate_command(const std::vector<std::string>& arguments);

}  // namespace corun::live
