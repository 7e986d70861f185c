#include "runner/inputs/observed_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "sim/rng.hpp"

namespace corun::inline runner {

SpeedTable observed_pairs(const SpeedTable& table, double share, std::uint64_t seed) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (!std::isnan(table.rows[r].speed_a) || !std::isnan(table.rows[r].speed_b)) rows.push_back(r);
  }
  Rng(seed, Stream::kKnownPairs).shuffle(std::span(rows));
  rows.resize(static_cast<std::size_t>(std::llround(share * static_cast<double>(rows.size()))));
  std::ranges::sort(rows);

  std::vector<bool> is_known(table.jobs.size());
  for (const std::size_t r : rows) {
    is_known[table.rows[r].a] = true;
    is_known[table.rows[r].b] = true;
  }
  SpeedTable known;
  known.campaigns = table.campaigns;
  known.features = table.features;
  std::vector<std::uint32_t> place(table.jobs.size());
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    if (!is_known[i]) continue;
    place[i] = static_cast<std::uint32_t>(known.jobs.size());
    known.jobs.push_back(table.jobs[i]);
    if (!table.families.empty()) known.families.push_back(table.families[i]);
    known.values.insert(known.values.end(), table.of(i), table.of(i) + table.features.size());
  }
  for (const std::size_t r : rows) {
    SpeedTable::Row row = table.rows[r];
    row.a = place[row.a];
    row.b = place[row.b];
    known.rows.push_back(row);
  }
  return known;
}

}  // namespace corun::inline runner
