#include "runner/replay/left_out_table.hpp"

#include <fmt/format.h>

namespace corun::inline runner {

std::string left_out_table(std::span<const LeftOut> left_out) {
  if (left_out.empty()) return "";
  std::string out = fmt::format("\n{:>10}  {:>10}  {}\n", "left out", "first line", "reason");
  for (const LeftOut& l : left_out) {
    out += fmt::format("{:>10}  {:>10}  {}\n", l.rows,
                       l.first_line == 0 ? "-" : std::to_string(l.first_line), l.reason);
  }
  return out;
}

}  // namespace corun::inline runner
