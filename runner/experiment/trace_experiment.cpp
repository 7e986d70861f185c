#include "runner/experiment/trace_experiment.hpp"

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

std::vector<Override> trace_overrides(const std::string& path, bool with_columns) {
  const FoundKind found = kind_of_file(path);
  const bool known = found.kind == FileKind::kJobs && !with_columns;
  return {typed_word("workload.source", std::string(known ? found.format : "csv"), "TRACE"),
          typed_text("workload.path", path, "TRACE")};
}

}  // namespace corun::inline runner
