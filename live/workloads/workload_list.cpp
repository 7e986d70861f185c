#include "live/workloads/workload_list.hpp"

#include <fmt/format.h>

#include "live/workloads/recipe.hpp"

namespace corun::live {

Json workload_list_json() {
  Json json{{"workloads", Json::array()}};
  for (const Recipe& r : workload_recipes()) {
    json["workloads"].push_back({{"name", r.name},
                                 {"stands_for", r.stands_for},
                                 {"memory_mib", r.memory_mib},
                                 {"steps", r.steps}});
  }
  return json;
}

std::string workload_list_csv() {
  std::string text = "name,memory_mib,steps,stands_for\n";
  for (const Recipe& r : workload_recipes()) {
    text += fmt::format("{},{:g},{},\"{}\"\n", r.name, r.memory_mib, r.steps, r.stands_for);
  }
  return text;
}

std::string workload_list_table() {
  std::string text = "workload        MiB   steps  stands for\n";
  for (const Recipe& r : workload_recipes()) {
    text += fmt::format("{:<12} {:>6g} {:>7}  {}\n", r.name, r.memory_mib, r.steps, r.stands_for);
  }
  return text;
}

}  // namespace corun::live
