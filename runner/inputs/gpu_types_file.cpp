#include "runner/inputs/gpu_types_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/yaml_tree.hpp"
#include "support/yaml_values.hpp"

namespace corun::inline runner {
namespace {

using Kind = YamlNode::Kind;

struct WholeKey {
  const char* name;
  int GpuSpec::*value;
};
constexpr std::array<WholeKey, 4> kWhole{{{"sms", &GpuSpec::sms},
                                          {"cuda_cores", &GpuSpec::cuda_cores},
                                          {"tensor_cores", &GpuSpec::tensor_cores},
                                          {"threads_per_sm", &GpuSpec::threads_per_sm}}};

struct RealKey {
  const char* name;
  double GpuSpec::*value;
};
constexpr std::array<RealKey, 6> kReal{{{"memory_mib", &GpuSpec::memory_mib},
                                        {"bandwidth_gbs", &GpuSpec::bandwidth_gbs},
                                        {"memory_clock_mhz", &GpuSpec::memory_clock_mhz},
                                        {"boost_mhz", &GpuSpec::boost_mhz},
                                        {"fp32_tflops", &GpuSpec::fp32_tflops},
                                        {"l2_mib", &GpuSpec::l2_mib}}};

constexpr std::size_t kMostTypes = 1000;
constexpr Within<std::int64_t> kCountRange{0, 1'000'000'000};
constexpr Within<double> kFigureRange{1e-6, 1e12};

std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> keys{"name", "aliases", "architecture"};
  for (const WholeKey& key : kWhole) keys.emplace_back(key.name);
  for (const RealKey& key : kReal) keys.emplace_back(key.name);
  return keys;
}

/// A name of a type: on one line, and without the signs that separate types and nodes in
/// cluster.machines.
std::string read_name(const YamlValue& at) {
  const std::string text = read_text(at);
  if (text.size() > 100 || text.find_first_of("+|,\n\t") != std::string::npos) {
    at.refuse("a name of at most 100 characters without '+', '|' and ','");
  }
  return text;
}

OwnGpuType read_type(const YamlNode& map, const std::string& place) {
  if (map.kind != Kind::kMap) {
    YamlValue{map, place}.refuse("a map, {name: NAME, memory_mib: MIB, ...}");
  }
  for (const YamlNode& child : map.children) {
    const std::vector<std::string_view> known = known_keys();
    if (std::ranges::find(known, child.key) != known.end()) continue;
    throw InputError(child.key_place(), "unknown key '" + printable(child.key) +
                                            "': " + did_you_mean(child.key, known));
  }
  const auto value = [&](const char* key) {
    const YamlNode* node = map.find(key);
    return node == nullptr || node->kind == Kind::kNull ? nullptr : node;
  };
  for (const char* key : {"name", "memory_mib"}) {
    if (value(key) != nullptr) continue;
    throw InputError(map.place(), fmt::format("{} has no {}, expected name and memory_mib of each "
                                              "GPU type; add it",
                                              place, key));
  }
  OwnGpuType type;
  type.place = map.place();
  type.spec.name = read_name({*value("name"), place + ".name"});
  if (const YamlNode* node = value("architecture")) {
    type.spec.architecture = read_text({*node, place + ".architecture"});
  }
  if (const YamlNode* node = value("aliases")) {
    const YamlValue aliases{*node, place + ".aliases"};
    if (node->kind != Kind::kSequence) aliases.refuse("a list of names");
    for (const YamlNode& alias : node->children) {
      type.aliases.push_back(read_name({alias, aliases.key}));
    }
  }
  for (const WholeKey& key : kWhole) {
    if (const YamlNode* node = value(key.name)) {
      type.spec.*key.value =
          static_cast<int>(read_number<std::int64_t>({*node, place + "." + key.name}, kCountRange));
    }
  }
  for (const RealKey& key : kReal) {
    if (const YamlNode* node = value(key.name)) {
      type.spec.*key.value = read_number<double>({*node, place + "." + key.name}, kFigureRange);
    }
  }
  return type;
}

}  // namespace

std::vector<OwnGpuType> read_gpu_types(const std::string& path) {
  const YamlNode list = read_yaml_file(path);
  const YamlValue all{list, "GPU types"};
  if (list.kind != Kind::kSequence || list.children.empty()) {
    all.refuse("a list of GPU types, - {name: NAME, memory_mib: MIB, ...}");
  }
  if (list.children.size() > kMostTypes) {
    throw InputError(list.place(), fmt::format("found {} GPU types, expected at most {}",
                                               list.children.size(), kMostTypes));
  }
  std::vector<OwnGpuType> types;
  for (const YamlNode& child : list.children) {
    types.push_back(read_type(child, fmt::format("type {}", types.size() + 1)));
  }
  GpuTypes{types};  // refuses names that stand for two
  return types;
}

}  // namespace corun::inline runner
