#include "live/jobs/solo_csv.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "live/jobs/profile_fields.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"

namespace corun::live {

std::string solo_csv(std::span<const SoloRow> rows) {
  std::string text = fmt::format("job,solo_s,solo_sd_s,runs,{},gpu_type\n", kProfileFields);
  for (const SoloRow& row : rows) {
    text += fmt::format("{},{},{},{},{},{}\n", csv_text(row.job), csv_number(row.solo_s),
                        csv_number(row.sd_s), row.runs, profile_fields(row.profile),
                        csv_text(row.gpu_type));
  }
  return text;
}

std::vector<SoloRow> read_solo_csv(const std::string& path) {
  CsvReader csv(path,
                {{"job", true},
                 {"solo_s", true},
                 {"solo_sd_s"},
                 {"runs"},
                 {"gpu_util_pct"},
                 {"mem_alloc_pct"},
                 {"mem_time_pct"},
                 {"mem_used_mib"},
                 {"packing_label"},
                 {"gpu_type"}},
                {.ignore_unknown = true});
  const NumberRule seconds{"a number of seconds", 0, 9e7, true};
  const NumberRule spread{"a number of seconds", 0, 9e7};
  const NumberRule share{"a percentage", 0, 100};
  const NumberRule reserved{"a percentage", 0, 1000};
  const NumberRule mib{"a number of MiB", 0, 1e12};
  std::vector<SoloRow> rows;
  while (csv.next()) {
    SoloRow row;
    row.job = csv.required_text(csv.column("job"), "the name of a workload");
    row.solo_s = csv.required_number(csv.column("solo_s"), seconds);
    row.sd_s = csv.number(csv.column("solo_sd_s"), spread).value_or(0);
    row.runs = static_cast<int>(
        csv.integer(csv.column("runs"), {"a number of runs", 1, 1'000'000}).value_or(1));
    row.profile.gpu_util_pct = csv.number(csv.column("gpu_util_pct"), share);
    row.profile.mem_alloc_pct = csv.number(csv.column("mem_alloc_pct"), reserved);
    row.profile.mem_time_pct = csv.number(csv.column("mem_time_pct"), share);
    row.profile.mem_used_mib = csv.number(csv.column("mem_used_mib"), mib);
    if (const auto label = csv.integer(csv.column("packing_label"), kPackingLabelRule)) {
      row.profile.packing_label = static_cast<int>(*label);
    }
    row.gpu_type = csv.text(csv.column("gpu_type"));
    if (!rows.empty() && row.gpu_type != rows.front().gpu_type) {
      csv.refuse(csv.column("gpu_type"), "the GPU type of the rows before",
                 "give the times on other types in workload.solo_times");
    }
    if (find_solo(rows, row.job) != nullptr) {
      csv.refuse(csv.column("job"), "each workload once", "remove one of the rows");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

const SoloRow* find_solo(std::span<const SoloRow> rows, const std::string& workload) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const SoloRow& r) { return r.job == workload; });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace corun::live
