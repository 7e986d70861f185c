#pragma once

#include <string>
#include <vector>

/// The commands of `corun data`, each in a file of its own.
namespace corun::inline cli {

int data_list_command(const std::vector<std::string>& arguments);
int data_derive_command(const std::vector<std::string>& arguments);

}  // namespace corun::inline cli
