#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "traces/csv_reader.hpp"
#include "traces/profile_csv.hpp"

/// The public data that tests read where it is present.
namespace corun {

/// The folder in the environment variable CORUN_DATA, else shared/data beside the checkout.
inline std::filesystem::path data_folder() {
  const char* set = std::getenv("CORUN_DATA");
  if (set != nullptr && *set != '\0') return set;
  return std::filesystem::path(CORUN_SOURCE_DIR).parent_path() / "shared" / "data";
}

/// What tests of generation need of the Futurewei mini-ML Workload Dataset: who, batch size, profile.
inline ProfileTable read_data_set(const std::filesystem::path& path) {
  CsvReader csv(path.string(),
                {{"ID", true},
                 {"Model", true},
                 {"BS", true},
                 {"MGUP", true},
                 {"MGMAP", true},
                 {"MaGTSAMP", true}},
                {',', true});
  const NumberRule rule{"a number", 0, 1e6, false};
  ProfileTable table;
  table.source = path.filename().string();
  while (csv.next()) {
    table.jobs.push_back("job " + std::string(csv.text(csv.column("ID"))));
    Profile profile;
    profile.gpu_util_pct = csv.number(csv.column("MGUP"), rule);
    profile.mem_alloc_pct = csv.number(csv.column("MGMAP"), rule);
    profile.mem_time_pct = csv.number(csv.column("MaGTSAMP"), rule);
    table.profiles.push_back(profile);
    WorkloadOrigin origin;
    origin.model = csv.text(csv.column("Model"));
    origin.batch_size = csv.number(csv.column("BS"), rule);
    table.origins.push_back(std::move(origin));
  }
  return table;
}

}  // namespace corun
