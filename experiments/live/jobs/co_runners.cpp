#include "experiments/live/jobs/co_runners.hpp"

#include <algorithm>
#include <span>
#include <sstream>
#include <string_view>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::live {

std::string co_runner_names(const CoRunners& members, const LiveConfig& config) {
  std::string name;
  for (const std::size_t w : members) name += (name.empty() ? "" : "+") + config.workloads[w].name;
  return name;
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
