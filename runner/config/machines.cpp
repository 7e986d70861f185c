#include "runner/config/machines.hpp"

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {
namespace {

std::vector<std::string> parts_of(const std::string& text, const char* separator) {
  std::vector<std::string> parts;
  boost::algorithm::split(parts, text, boost::algorithm::is_any_of(separator));
  return parts;
}

}  // namespace

std::vector<Machines> parse_machines(const std::string& text, const std::string& place) {
  constexpr std::int64_t kMost = 1'000'000;
  const auto refuse = [&](const std::string& found) {
    throw InputError(
        place, fmt::format("found '{}', expected NODESxGPUS, such as 4x8 for 4 nodes of 8 GPUs, or "
                           "with GPU types 4x8:V100-16GB+2x4:T4",
                           printable(found)));
  };
  std::vector<Machines> all;
  for (const std::string& part : parts_of(text, "+")) {
    const std::size_t colon = part.find(':');  // names of MIG slices have another one
    const std::vector<std::string> counts = parts_of(part.substr(0, colon), "x");
    const auto nodes = counts.size() == 2 ? parse_integer(counts[0]) : std::nullopt;
    const auto gpus = counts.size() == 2 ? parse_integer(counts[1]) : std::nullopt;
    if (!nodes || !gpus || *nodes < 1 || *gpus < 1 || *nodes > kMost || *gpus > kMost) refuse(text);
    const std::string type = colon == std::string::npos ? "" : part.substr(colon + 1);
    if (colon != std::string::npos && type.empty()) refuse(text);
    all.push_back({*nodes, *gpus, type});
  }
  for (const Machines& m : all) {
    if (m.gpu_type.empty() && all.size() > 1) refuse(text);
  }
  return all;
}

}  // namespace corun::inline runner
