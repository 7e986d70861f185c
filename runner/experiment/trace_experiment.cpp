#include "runner/experiment/trace_experiment.hpp"

#include "runner/inputs/file_kind.hpp"
#include "support/output_file.hpp"
#include "traces/catalog.hpp"

namespace corun::inline runner {

bool is_job_trace(const std::string& path, bool with_columns) {
  if (format_of_name(path) == "yaml") return false;
  const FileKind kind = kind_of_file(path).kind;
  if (kind == FileKind::kJobs || kind == FileKind::kProfiles) return true;
  const bool csv =
      path.ends_with(".csv") || path.ends_with(".csv.gz") || path.ends_with(".csv.zst");
  return kind == FileKind::kUnknown && (csv || with_columns);
}

std::vector<Override> trace_overrides(const std::string& path, bool with_columns,
                                      const std::string& place) {
  const bool known = !with_columns && kind_of_file(path).kind == FileKind::kJobs;
  const std::string source(known ? recognise_trace(path).name : "csv");
  return {typed_word("workload.source", source, place), typed_text("workload.path", path, place)};
}

}  // namespace corun::inline runner
