#pragma once

#include <string>

#include "support/json.hpp"

/// Output of `corun live workload --list`: the table of built-in workloads (recipe.hpp).
namespace corun::live {

/// {"workloads": [{"name", "stands_for", "memory_mib", "steps"}]}.
Json workload_list_json();
std::string workload_list_csv();
std::string workload_list_table();

}  // namespace corun::live
