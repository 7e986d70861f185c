#include "knowledge/corun_learning.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/checksum.hpp"
#include "traces/csv_reader.hpp"
#include "traces/input_file.hpp"
#include "traces/paper_workloads.hpp"
#include "traces/tables/corun_csv.hpp"
#include "traces/tables/measurements.hpp"

namespace corun::inline knowledge {

namespace {

/// SHA-256 of what was measured: the same for copies of a file with other line ends, columns, names of groups
/// and sources, or another order of the groups.
std::string sha256_of_rows(const std::vector<CorunMeasurement>& rows, const WorkloadKeys& keys) {
  std::vector<std::string> groups;
  for (const CorunMeasurement& row : rows) {
    std::vector<std::string> members;
    for (const CorunMember& m : row.members) {
      members.push_back(
          fmt::format("{},{},{},{},{},{},{}\n", csv_text(keys.text(m.workload)),
                      csv_number(m.profile.gpu_util_pct), csv_number(m.profile.mem_alloc_pct),
                      csv_number(m.profile.mem_time_pct), csv_number(m.profile.mem_used_mib),
                      csv_number(m.solo_s), csv_number(m.corun_s)));
    }
    std::ranges::sort(members);
    groups.push_back(fmt::format("{},{}\n{}", csv_text(row.gpu_type), csv_text(row.sharing),
                                 fmt::join(members, "")));
  }
  std::ranges::sort(groups);
  return sha256_of_text(fmt::format("{}", fmt::join(groups, "\n")));
}

}  // namespace

bool is_corun_table(std::string_view name) { return name == "jrs" || name == "prirect"; }

CorunTable read_corun_table(const std::string& name_or_path) {
  WorkloadKeys keys;
  CorunTable table;
  table.source.name = name_or_path;
  if (is_corun_table(name_or_path)) {
    table.rows =
        paper_measurements(keys, name_or_path == "jrs" ? kJrsKnowledgeBase : kPrirectKnowledgeBase);
  } else {
    const std::optional<MeasurementForm> form = measurement_form(name_or_path);
    if (form && *form != MeasurementForm::kCoruns) {
      throw InputError(shown_path(name_or_path),
                       "is a table of co-runs without run times, expected co-run measurements with "
                       "solo_s and corun_s; fit a model to it: corun model fit");
    }
    CorunFile file = read_corun_csv(name_or_path, keys);
    table.rows = std::move(file.measurements);
    table.notes = std::move(file.notes);
    table.source.sha256 = sha256_of_file(name_or_path);
  }
  table.source.rows_sha256 = sha256_of_rows(table.rows, keys);
  std::set<std::string> measured_on;
  for (const CorunMeasurement& row : table.rows) {
    measured_on.insert(row.gpu_type + " " + row.sharing);
  }
  table.source.measured_on = fmt::format("{}", fmt::join(measured_on, ", "));
  return table;
}

std::vector<std::string> learn_table(KnowledgeFile& file, const CorunTable& table) {
  for (const KnowledgeSource& known : file.sources) {
    if (!same_source(known, table.source)) continue;
    return {fmt::format("{} is already in (as {}): left out, a co-run counts once",
                        printable(table.source.name), printable(known.name))};
  }
  const LearntRows learnt = learn_rows(file.kb, table.rows, Labels::kFromProfile);
  if (learnt.pairs == 0) {
    throw InputError(table.source.name,
                     "no pair of two profiled jobs among its groups: nothing to learn");
  }
  std::vector<std::string> notes = table.notes;
  if (!file.sources.empty() && file.sources.front().measured_on != table.source.measured_on) {
    notes.push_back(fmt::format("{} was measured on {}, {} on {}: their costs are combined",
                                printable(table.source.name), printable(table.source.measured_on),
                                printable(file.sources.front().name),
                                printable(file.sources.front().measured_on)));
  }
  if (learnt.larger_groups > 0) {
    notes.push_back(fmt::format("{}: {} groups of more than two jobs skipped",
                                printable(table.source.name), learnt.larger_groups));
  }
  if (learnt.without_profile > 0) {
    notes.push_back(fmt::format("{}: {} pairs with a job without profile skipped",
                                printable(table.source.name), learnt.without_profile));
  }
  file.sources.push_back(table.source);
  file.sources.back().pairs = learnt.pairs;
  return notes;
}

std::vector<std::string> merge_knowledge(KnowledgeFile& file, const KnowledgeFile& other,
                                         const std::string& other_name) {
  if (!(file.kb.clustering() == other.kb.clustering())) {
    throw InputError(other_name,
                     "its clusters are others than the file's: what it learnt says nothing of "
                     "these; build both with the same --like or --centres");
  }
  if (file.kb.decay() != other.kb.decay()) {
    throw InputError(other_name,
                     fmt::format("its decay is {}, the file's {}: expected the same",
                                 csv_number(other.kb.decay()), csv_number(file.kb.decay())));
  }
  std::int64_t sourced = 0;
  for (const KnowledgeSource& source : other.sources) {
    sourced += source.pairs;
    for (const KnowledgeSource& own : file.sources) {
      if (same_source(own, source)) {
        throw InputError(other_name, "both have learnt from " + printable(source.name) +
                                         ": its co-runs would count twice");
      }
    }
  }
  std::vector<std::string> notes;
  if (other.kb.pairs_observed() > sourced) {
    notes.push_back(fmt::format("{}: {} of its co-runs name no source; they may be counted twice",
                                printable(other_name), other.kb.pairs_observed() - sourced));
  }
  file.kb.merge(other.kb);
  file.sources.insert(file.sources.end(), other.sources.begin(), other.sources.end());
  return notes;
}

}  // namespace corun::inline knowledge
