#pragma once

#include <iosfwd>
#include <string>

#include "models/knowledge/knowledge_base.hpp"

/// A knowledge base as a readable file: `belief: {initial: FILE}` reads it.
///
///   metric,cluster,partner,count,mean,variance
///   isd,0,1,12,0.052,0.0011      ISD of a job of cluster 0 beside one of cluster 1
///   ps,0,1,12,0.338,0.0090       PS of the two together; cluster <= partner
///
/// Means and variances of fractions; pairs that are not listed were never observed.
namespace corun {

/// Throws InputError "FILE:LINE:COLUMN: ...".
KnowledgeBase read_knowledge_csv(const std::string& path, int clusters);
KnowledgeBase read_knowledge_csv(std::istream& in, const std::string& name, int clusters);

}  // namespace corun
