#include "runner/inputs/file_kind.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "knowledge/model_file.hpp"
#include "runner/config/config_keys.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/catalog.hpp"
#include "traces/input_file.hpp"
#include "traces/tables/measurements.hpp"
#include "traces/tables/solo_table.hpp"

namespace corun::inline runner {

namespace {

/// The words before ':' of the lines that are not indented.
std::vector<std::string_view> top_keys(std::string_view text) {
  std::vector<std::string_view> keys;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || line.find_first_of(" \t#'\"{,") < colon) continue;
    keys.push_back(line.substr(0, colon));
  }
  return keys;
}

FileKind kind_of_yaml(std::string_view text) {
  const std::vector<std::string_view> found = top_keys(text);
  if (std::ranges::find(found, "kind") != found.end()) return FileKind::kKnowledgeBase;
  if (std::ranges::find(found, "sweep") != found.end()) return FileKind::kSweep;
  Config any;
  const std::vector<ConfigKey> keys = config_keys(any);
  const std::vector<std::string_view> known = names_below(keys, "");
  const bool is_config = std::ranges::any_of(
      found, [&](std::string_view key) { return std::ranges::find(known, key) != known.end(); });
  return is_config ? FileKind::kConfiguration : FileKind::kUnknown;
}

struct KindText {
  FileKind kind;
  std::string_view is;
  std::string_view use;  ///< with the path for {0}
};

constexpr KindText kTexts[] = {
    {FileKind::kNvidiaSmi, "a log of nvidia-smi, samples of one GPU",
     "make one row of it per job (docs/formats.md, Table of profiles): gpu_util_pct is the largest "
     "utilization.gpu, "
     "mem_time_pct the mean of utilization.memory, mem_used_mib the largest memory.used"},
    {FileKind::kConfiguration, "a configuration", "run it: corun replay {0}"},
    {FileKind::kSweep, "a sweep", "run it: corun sweep {0}"},
    {FileKind::kJobs, "a job trace", "run it: corun replay {0}"},
    {FileKind::kPairs, "a table of pairs of jobs",
     "set world.path or belief.initial to it, or give it to corun model as --pairs: corun model "
     "fit --pairs {0} --out MODEL"},
    {FileKind::kGroups, "a table of groups of jobs",
     "set world.path or belief.initial to it, or give it to corun model as --groups: corun model "
     "fit --groups {0} --out MODEL"},
    {FileKind::kRates, "Gavel's rates of pairs",
     "set world.path or belief.initial to it, or make tables of pairs of it: corun data derive "
     "gavel "
     "--from {0} --out DIR"},
    {FileKind::kSoloTimes, "a table of solo times by GPU type",
     "draw jobs from it: corun replay --set workload.source=solo-table --set workload.path={0}"},
    {FileKind::kProfiles, "a table of profiles",
     "recommend pairs of its jobs: corun recommend --queue {0}"},
    {FileKind::kKnowledgeBase, "a knowledge base",
     "set belief.initial to it, or show it: corun kb show {0}"},
    {FileKind::kModel, "a fitted model",
     "set world.path or belief.initial to it, or judge it: corun model eval --model {0}"},
    {FileKind::kHdf5, "an HDF5 file, as corun writes results",
     "show it: corun report {0} -o page.html; a sweep's also by corun sweep --answers {0}"},
};

}  // namespace

FoundKind kind_of_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  TraceHead head{path, {}};
  try {
    head.text = first_bytes(path, "a file");
  } catch (const InputError&) {
    return {};
  }
  if (head.text.starts_with("\x89HDF\r\n")) return {FileKind::kHdf5};
  if (first_line(head.text).find("utilization.gpu") != std::string_view::npos) {
    return {FileKind::kNvidiaSmi};
  }
  if (has_model_header(path)) return {FileKind::kModel};
  for (const TraceEntry& entry : trace_catalog()) {
    if (entry.looks_like != nullptr && entry.looks_like(head)) return {FileKind::kJobs, entry.name};
  }
  if (const std::optional<MeasurementForm> form = measurement_form(path)) {
    return {*form == MeasurementForm::kGroups  ? FileKind::kGroups
            : *form == MeasurementForm::kRates ? FileKind::kRates
                                               : FileKind::kPairs};
  }
  if (looks_like_solo_table(head)) return {FileKind::kSoloTimes};
  if (has_columns(head, {"job", "gpu_util_pct", "mem_alloc_pct", "mem_time_pct"})) {
    return {FileKind::kProfiles};
  }
  return {kind_of_yaml(head.text)};
}

void refuse_gpu_samples(const std::string& path) {
  const FoundKind found = kind_of_file(path);
  if (found.kind == FileKind::kNvidiaSmi)
    check_kind(path, {FileKind::kProfiles}, "a table of profiles");
}

void check_kind(const std::string& path, std::initializer_list<FileKind> expected,
                std::string_view what) {
  const FileKind kind = kind_of_file(path).kind;
  if (kind == FileKind::kUnknown || std::ranges::find(expected, kind) != expected.end()) return;
  const auto* const text = std::ranges::find(kTexts, kind, &KindText::kind);
  throw InputError(shown_path(path),
                   fmt::format("is {}, expected {}; {}", text->is, what,
                               fmt::format(fmt::runtime(text->use), shown_path(path))));
}

}  // namespace corun::inline runner
