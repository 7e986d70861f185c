#include "live/jobs/co_runners.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/csv_reader.hpp"

namespace corun::live {

std::string co_runner_names(const CoRunners& members, const LiveConfig& config) {
  std::string name;
  for (const std::size_t w : members) name += (name.empty() ? "" : "+") + config.workloads[w].name;
  return name;
}

bool has_service(const CoRunners& members, const LiveConfig& config) {
  return std::ranges::any_of(members, [&](std::size_t w) { return config.workloads[w].serves(); });
}

std::vector<CoRunners> all_pairs(std::size_t workloads) {
  std::vector<CoRunners> pairs;
  for (std::size_t a = 0; a < workloads; ++a) {
    for (std::size_t b = a + 1; b < workloads; ++b) pairs.push_back({a, b});
  }
  return pairs;
}

std::vector<CoRunners> parse_pairs(const std::string& text, const LiveConfig& config,
                                   const std::string& place) {
  std::vector<std::string_view> known;
  for (const LiveWorkload& w : config.workloads) known.push_back(w.name);
  std::vector<CoRunners> sets;
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    CoRunners co_runners;
    std::istringstream names(item);
    for (std::string name; std::getline(names, name, '+');) {
      const auto at = std::find(known.begin(), known.end(), name);
      if (at == known.end()) {
        throw InputError(place,
                         "no workload '" + printable(name) + "': " + did_you_mean(name, known));
      }
      co_runners.push_back(static_cast<std::size_t>(at - known.begin()));
    }
    if (co_runners.size() < 2) {
      throw InputError(place, "found '" + printable(item) +
                                  "', expected workloads that run together, e.g. gemm+stream");
    }
    sets.push_back(std::move(co_runners));
  }
  if (sets.empty()) throw InputError(place, "names no workload, expected e.g. gemm+stream");
  return sets;
}

std::vector<CoRunners> read_pair_list(const std::string& path, const LiveConfig& config) {
  std::vector<std::string_view> known;
  for (const LiveWorkload& w : config.workloads) known.push_back(w.name);
  CsvReader csv(path, {{"job_a", true}, {"job_b", true}}, kAnyColumns);
  const std::array<CsvReader::Column, 2> columns{csv.column("job_a"), csv.column("job_b")};
  std::vector<CoRunners> sets;
  std::set<std::pair<std::size_t, std::size_t>> seen;
  while (csv.next()) {
    CoRunners pair;
    for (const CsvReader::Column column : columns) {
      const std::string_view name = csv.required_text(column, "the name of a workload");
      const auto at = std::find(known.begin(), known.end(), name);
      if (at == known.end()) {
        csv.fail(column, "no workload '" + printable(name) +
                             "' in the configuration: " + did_you_mean(name, known));
      }
      pair.push_back(static_cast<std::size_t>(at - known.begin()));
    }
    if (!seen.insert(std::minmax(pair[0], pair[1])).second) {
      csv.fail(columns[0], "the pair " + printable(co_runner_names(pair, config)) +
                               " is listed twice; remove one of the rows");
    }
    sets.push_back(std::move(pair));
  }
  if (sets.empty()) throw InputError(csv.name(), "lists no pair, expected a row for each");
  return sets;
}

std::vector<CoRunners> balanced_order(std::vector<CoRunners> sets, int repeats,
                                      std::uint64_t seed) {
  Rng(seed, Stream::kLiveOrder).shuffle(std::span(sets));
  std::vector<CoRunners> order;
  for (int r = 0; r < repeats; ++r) {
    order.insert(order.end(), sets.begin(), sets.end());
    std::reverse(sets.begin(), sets.end());
  }
  return order;
}

}  // namespace corun::live
