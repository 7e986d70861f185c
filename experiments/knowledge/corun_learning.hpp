#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/knowledge/knowledge_file.hpp"
#include "sim/measurement.hpp"

/// What a knowledge base learns: tables of measured co-runs, and other knowledge bases.
namespace corun {

struct CorunTable {
  KnowledgeSource source;  ///< its `pairs` are counted when it is learnt
  std::vector<CorunMeasurement> rows;
};

/// Whether `name` is one of the papers' tables: jrs (II and III) or prirect (III and IV).
bool is_corun_table(std::string_view name);
CorunTable read_corun_table(const std::string& name_or_path);

/// Learns a table of co-runs, by the profiles of its jobs; one that is in already is left out. Gives
/// what the user should know, a line each. InputError when nothing in it can be learnt.
std::vector<std::string> learn_table(KnowledgeFile& file, const CorunTable& table);

/// Takes all that `other` has learnt into `file`; notes as learn_table(). InputError, naming
/// `other_name`, when clusters or decay differ or both have learnt from the same file.
std::vector<std::string> merge_knowledge(KnowledgeFile& file, const KnowledgeFile& other,
                                         const std::string& other_name);

}  // namespace corun
