#pragma once

#include <string>
#include <vector>

/// The commands of `corun kb` except `eval`, each in a file of its own.
namespace corun::inline cli {

int kb_build_command(const std::vector<std::string>& arguments);
int kb_show_command(const std::vector<std::string>& arguments);
int kb_assign_command(const std::vector<std::string>& arguments);
int kb_update_command(const std::vector<std::string>& arguments);

}  // namespace corun::inline cli
