#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/time.hpp"

/// Traces of requests to a service. Two forms, recognised by their headers; other columns, such as numbers of tokens, are
/// not read:
///
///   arrival_s   required; [s], ascending. The shared form of Azure's LLM inference traces (Patel et al., "Splitwise",
///               ISCA 2024) and of Mooncake's (Qin et al., "Mooncake", FAST 2025)
///   TIMESTAMP   required; dates, ascending: Azure's published files. The first request arrives at 0
namespace corun::inline traces {

struct RequestTrace {
  std::vector<Time> arrivals;  ///< ascending, from 0 on; not empty
  std::string source;          ///< the file's name
};

/// InputError "FILE:LINE:COLUMN: ..." for anything else: a missing column, a time that is absent, negative, above
/// kMaxTimeSeconds or before the one above it, a file without requests or with more than 2^31.
RequestTrace read_request_trace(const std::string& path);
/// The same from a stream; `name` stands for the file in messages.
RequestTrace read_request_trace(std::istream& in, const std::string& name);

}  // namespace corun::inline traces
