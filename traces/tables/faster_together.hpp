#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace corun::inline traces {

/// Jobs that share a GPU do not all gain by it: where each of them ran that much faster together than alone
/// (solo time / co-run time, or rate together / rate alone), the table is doubtful. Less is noise of the
/// measurements: in Lucid's public table, the noisiest, both jobs of 37 pairs gained, by 17 % at most.
inline constexpr double kFasterTogether = 1.25;

/// Counts such co-runs of a file.
class FasterTogether {
 public:
  /// `place`: FILE:LINE:COLUMN.
  void add(const std::string& place) {
    if (count_++ == 0) first_ = place;
  }
  /// One line for the user, if there was any; `all`: the co-runs of the file.
  std::vector<std::string> notes(std::size_t all) const;

 private:
  std::size_t count_ = 0;
  std::string first_;
};

}  // namespace corun::inline traces
