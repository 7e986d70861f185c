#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "knowledge/knowledge_file.hpp"
#include "sim/measurement.hpp"

/// Learning of a knowledge base from tables of measured co-runs and from other knowledge bases.
namespace corun::inline knowledge {

struct CorunTable {
  KnowledgeSource source;  ///< `pairs` is counted by learn_table()
  std::vector<CorunMeasurement> rows;
  std::vector<std::string> notes = {};  ///< of what is doubtful in the file
};

/// Whether `name` is one of the papers' tables: "jrs" (JRS Tables II and III) or "prirect" (PriRecT
/// Tables III and IV).
bool is_corun_table(std::string_view name);
/// The paper's table of that name, else a file of co-runs. InputError as read_corun_csv().
CorunTable read_corun_table(const std::string& name_or_path);

/// Learns the pairs of a table, clustered by the profiles of their jobs. A table that `file` has
/// learnt already is left out. Returns notes for the user, one line each. InputError if no pair of
/// the table can be learnt.
std::vector<std::string> learn_table(KnowledgeFile& file, const CorunTable& table);

/// Adds all that `other` has learnt to `file`; returns notes as learn_table(). InputError, naming
/// `other_name`, if clusters or decay differ or both have learnt from the same source.
std::vector<std::string> merge_knowledge(KnowledgeFile& file, const KnowledgeFile& other,
                                         const std::string& other_name);

}  // namespace corun::inline knowledge
