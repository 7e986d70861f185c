#include "runner/experiment/trace_experiment.hpp"

#include <string_view>

#include <fmt/format.h>

#include "runner/config/config_writer.hpp"
#include "runner/inputs/file_kind.hpp"
#include "support/output_file.hpp"

namespace corun::inline runner {

bool is_job_trace(const std::string& path, bool with_columns) {
  if (format_of_name(path) == "yaml") return false;
  const FileKind kind = kind_of_file(path).kind;
  if (kind == FileKind::kJobs || kind == FileKind::kProfiles) return true;
  const bool csv =
      path.ends_with(".csv") || path.ends_with(".csv.gz") || path.ends_with(".csv.zst");
  return kind == FileKind::kUnknown && (csv || with_columns);
}

std::vector<KeyOverride> trace_overrides(const std::string& path, bool with_columns) {
  const FoundKind found = kind_of_file(path);
  const bool known = found.kind == FileKind::kJobs && !with_columns;
  const std::string_view format = known ? found.format : "csv";
  return {{"TRACE", fmt::format("workload.source={}", format)},
          {"TRACE", "workload.path=" + yaml_word(path)}};
}

InputError with_flag(const InputError& error, const std::vector<KeyOverride>& overrides) {
  const std::string_view text = error.what();
  for (const KeyOverride& option : overrides) {
    const std::string place = "--set " + option.text + ": ";
    if (text.starts_with(place)) {
      return {option.flag, std::string(text.substr(place.size()))};
    }
  }
  return error;
}

}  // namespace corun::inline runner
