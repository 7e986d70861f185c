#pragma once

#include <string>
#include <vector>

#include "traces/trace.hpp"

namespace corun::test {

/// "2 jobs without GPUs (the first on line 3)", for each reason.
inline std::vector<std::string> texts(const Trace& trace) {
  std::vector<std::string> all;
  for (const LeftOut& left_out : trace.left_out) all.push_back(text_of(left_out));
  return all;
}

}  // namespace corun::test
