#include "runner/config/start_costs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

std::vector<StartCost> parse_start_costs(const std::string& text, const std::string& place) {
  constexpr double kMostSeconds = 1e9;
  std::vector<StartCost> all;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string_view part = trimmed(std::string_view(text).substr(from, to - from));
    const std::size_t at = part.rfind('=');
    const auto seconds =
        at == std::string_view::npos ? std::nullopt : parse_number(trimmed(part.substr(at + 1)));
    if (at == 0 || !seconds || !(*seconds >= 0 && *seconds <= kMostSeconds)) {
      throw InputError(place, "found '" + printable(part) +
                                  "', expected WORKLOAD=SECONDS from 0 to 1e9, joined by commas, "
                                  "such as ResNet-50=14.4,LM=31");
    }
    const std::string name(trimmed(part.substr(0, at)));
    if (std::ranges::find(all, name, &StartCost::name) != all.end()) {
      throw InputError(place,
                       "'" + printable(name) + "' has two costs, expected one; remove one of them");
    }
    all.push_back({name, *seconds});
    from = to + 1;
  }
  return all;
}

std::string text_of(const std::vector<StartCost>& costs) {
  std::string text;
  for (const StartCost& cost : costs) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", cost.name, cost.seconds);
  }
  return text;
}

const StartCost* find_start_cost(const std::vector<StartCost>& costs, std::string_view workload) {
  for (const std::string_view name : {workload, workload.substr(0, workload.find_first_of("/|"))}) {
    const auto found = std::ranges::find(costs, name, &StartCost::name);
    if (found != costs.end()) return &*found;
  }
  return nullptr;
}

}  // namespace corun::inline runner
